//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod cli;
mod compare;
mod corpus;
mod counter;
mod demo;
mod deny;
mod docker;
mod examples;
mod faults;
mod host;
mod link;
mod liveness;
mod local_sdk;
mod logs;
mod notify;
mod proto;
mod quiet;
mod readiness;
mod readme;
mod real_server;
mod scene;
mod sdk_command;
mod security;
mod signals;
mod static_file;
mod status;
mod status_hostile;
mod stop;
mod terminal;
mod whole;
mod wrapper;
mod wrapper_sdk;
