//! All integration tests in one binary, so that gRPC links once.

mod corpus;
mod proto;
