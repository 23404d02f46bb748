//! Sources of what is counted.

pub mod exposition;
pub mod fuzz;
pub mod json;
pub mod scrape;
pub mod tally;
