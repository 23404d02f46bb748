//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod demo;
mod docker;
mod proto;
mod static_file;
