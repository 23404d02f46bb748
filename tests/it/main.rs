//! All integration tests in one binary, so that gRPC links once.

mod cli;
mod addresses;
mod corpus;
mod counter;
mod host;
mod link;
mod liveness;
mod proto;
mod readiness;
mod scene;
mod stop;
#[path = "../support/mod.rs"]
mod support;

mod local_sdk;
mod proto;
