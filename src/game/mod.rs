//! Everything about processes: the game, the hooks, the programs of probes,
//! and the signals that this process gets.

pub mod child;
pub(crate) mod group;
pub mod hook;
pub(crate) mod reaper;
pub mod relay;
pub mod signal;
pub(crate) mod sys;
pub(crate) mod terminal;
