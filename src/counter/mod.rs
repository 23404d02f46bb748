//! Sources of what is counted.

pub mod exposition;
pub mod json;
pub mod scrape;
