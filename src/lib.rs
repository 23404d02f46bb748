//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.

pub mod deadline;
pub mod exit;
pub mod exposition;
pub mod game_server;
pub mod http;
pub mod machine;
pub mod proto;
pub mod resolve;
pub mod scrape;
pub mod settings;
