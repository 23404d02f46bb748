//! Lines that the game writes, to its output or to a file: what is looked for in them, and what it comes to.

pub mod counted;
pub mod lines;
pub mod passed;
pub mod relay;
pub mod watch;
