//! Connections with deadlines: HTTP, names, time left.

pub mod deadline;
mod host;
pub mod http;
pub mod resolve;
mod target;

pub use host::Host;
pub use target::{Header, HttpTarget, Secret};
