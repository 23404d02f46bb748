//! All integration tests in one binary, so that gRPC links once.

mod corpus;
#[path = "../support/mod.rs"]
mod support;

mod local_sdk;
mod logs;
mod notify;
mod proto;
mod sdk_command;
mod status;
mod status_hostile;
