//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod proto;
