//! The SDK client: one call at a time, each with a deadline.
//!
//! It blocks, and it is owned by the state thread alone. It has no retry
//! policy, keeps no state but the connection and decides nothing. gRPC's
//! threads do not exist before something listens on the SDK server's port, so
//! that a shim without Agones stays small.

pub mod call;
mod channel;
mod client;
pub mod game_server;
pub mod json;
pub mod once;
pub(crate) mod other_shim;
pub mod proto;
pub mod quiet;
pub mod stats;
mod wait;

use self::call::{Answer, Call};

pub use self::client::GrpcSdk;

/// What the state thread asks of an SDK server.
pub trait Sdk {
    /// Makes a call and waits for its end, which comes by its deadline at the latest.
    fn call(&mut self, call: &Call) -> Answer;
}
