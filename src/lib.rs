//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.

pub mod app;
pub mod beat;
pub mod child;
pub mod cli;
pub mod commands;
pub mod deadline;
pub mod exit;
pub mod exposition;
pub mod game_server;
pub mod hook;
pub mod http;
pub mod local_sdk;
pub mod logging;
pub mod machine;
pub mod probe;
pub mod proto;
pub(crate) mod reaper;
pub mod resolve;
pub mod runtime;
pub mod scrape;
pub mod sdk;
pub mod settings;
pub mod signal;
pub(crate) mod sys;
pub(crate) mod terminal;
pub mod worker;
