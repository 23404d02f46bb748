//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod cli;
mod compare;
mod corpus;
mod counter;
mod counter_query;
mod demo;
mod docker;
mod examples;
mod games;
mod host;
mod link;
mod list;
mod liveness;
mod local_sdk;
mod logs;
mod notify;
mod proto;
mod query;
mod quiet;
mod readiness;
mod readme;
mod real_server;
mod scene;
mod sdk_command;
mod signals;
mod static_file;
mod status;
mod status_hostile;
mod stop;
mod terminal;
mod whole;
mod wrapper;
mod wrapper_sdk;
