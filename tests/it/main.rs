//! All integration tests in one binary, so that gRPC links once.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod cli;
mod compare;
mod corpus;
mod counter;
mod demo;
mod docker;
mod host;
mod link;
mod liveness;
mod local_sdk;
mod proto;
mod quiet;
mod readiness;
mod readme;
mod scene;
mod signals;
mod static_file;
mod stop;
mod terminal;
mod wrapper;
