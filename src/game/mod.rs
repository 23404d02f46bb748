//! Everything about processes: the game, the hooks, the programs of probes,
//! and the signals that this process gets.
//!
//! `reaper` is the one thread that forks, signals and reaps; `child` has the
//! handles that ask it, `spawn` says what a program is started with and
//! `start_error` why it could not be. `stdio` owns the game's stdin, outputs
//! and terminal; `job_control` is about the shim's own terminal. `hook` bounds
//! the hooks, `arguments` fills in what the child's have of the GameServer,
//! `signals` waits for the signals of this process. All `unsafe` is in `sys`.

pub(crate) mod arguments;
pub mod child;
pub(crate) mod group;
pub mod hook;
pub(crate) mod job_control;
pub(crate) mod reaper;
pub mod signals;
pub(crate) mod spawn;
pub mod start_error;
pub(crate) mod stdio;
pub(crate) mod sys;
