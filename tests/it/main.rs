//! All integration tests in one binary, so that gRPC links once.

mod compare;
mod corpus;
#[path = "../support/mod.rs"]
mod support;

mod local_sdk;
mod proto;
mod signals;
mod terminal;
mod wrapper;
mod wrapper_sdk;
