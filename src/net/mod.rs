//! Connections with deadlines: HTTP, names, time left.

pub mod deadline;
mod host;
pub mod http;
pub mod resolve;

pub use host::Host;
