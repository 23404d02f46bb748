//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod allocated;
mod cli;
mod compare;
mod corpus;
mod counter;
mod counter_query;
mod demo;
mod deny;
mod docker;
mod examples;
mod faults;
mod games;
mod host;
mod idle;
mod labels;
mod link;
mod list;
mod liveness;
mod local_sdk;
mod logs;
mod notify;
mod page;
mod query;
mod quiet;
mod readiness;
mod readme;
mod ready_file_exec;
mod ready_log;
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
