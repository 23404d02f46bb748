//! Lines that the game writes, to its output or to a file.

pub mod lines;
pub mod passed;
pub mod watch;
