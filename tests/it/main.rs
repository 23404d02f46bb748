//! All integration tests in one binary, so that gRPC links once.

mod addresses;
mod corpus;
mod counter;
mod host;
mod link;
mod liveness;
mod local_sdk;
mod proto;
mod readiness;
mod scene;
mod stop;
#[path = "../support/mod.rs"]
mod support;
