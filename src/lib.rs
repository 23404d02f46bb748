//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.

pub mod exit;
pub mod exposition;
pub mod game_server;
pub mod local_sdk;
pub mod machine;
pub mod proto;
pub mod settings;
