//! The local SDK server, the real binary, over gRPC and HTTP.
//! Timing and rules in all their cases are unit tests of its pure state; here are the wire, the edges and bad input.

mod client;
mod command;
mod drain;
mod grpc;
mod health;
mod hostile;
mod http;
