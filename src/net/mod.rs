//! Connections with deadlines: HTTP, names, time left.

pub mod deadline;
pub mod http;
pub mod resolve;
