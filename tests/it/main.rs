//! All integration tests in one binary, so that gRPC links once.

mod local_sdk;
mod proto;
