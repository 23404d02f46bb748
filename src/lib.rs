//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.

pub mod child;
pub mod exit;
pub mod exposition;
pub mod game_server;
pub mod hook;
pub mod machine;
pub mod proto;
pub(crate) mod reaper;
pub mod settings;
pub mod signal;
pub(crate) mod sys;
pub(crate) mod terminal;
