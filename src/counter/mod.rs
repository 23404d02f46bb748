//! Sources of what is counted.

pub mod fuzz;
pub mod scrape;
pub mod tally;
