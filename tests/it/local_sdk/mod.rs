//! The local SDK server, the real binary, over gRPC and HTTP.

mod grpc;
mod server;
