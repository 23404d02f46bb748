//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.
//!
//! ```text
//!  probe   beat   scrape   reaper (signals, child)   hook   status   watch, output (lines) -> tally
//!    |       |       |        |                        |       |       |
//!    +-------+-------+--- events (mpsc) --------------+-------+-------+
//!                             |
//!                     runtime: the one loop        <- the state thread
//!                             |
//!              machine: event in, effects out      <- pure
//!                             |
//!        log, SDK calls, commands to the threads, exit
//! ```
//!
//! Phases follow each other and none comes back:
//!
//! ```text
//! Waiting --every readiness probe passed--> Served --Agones shows it--> Ready
//!    |                                         |                          |
//!    +------------ a stop, or giving up -------+--------------------------+
//!                             |
//!                         Stopping --Shutdown() confirmed, hook and child through--> Gone
//! ```
//!
//! The rooms, from the ground up. Each imports only from those above it in this table, so there is no circle
//! (tests/it/rooms.rs holds that):
//!
//! | room | holds |
//! |---|---|
//! | `exit` | exit codes |
//! | `duration` | durations as people read them |
//! | `net` | names, deadlines, HTTP as a client |
//! | `page` | pages that a count is read from: metrics, JSON |
//! | `query` | game server queries |
//! | `settings` | the environment, read: one file a subject, an engine that knows none, the forms of values |
//! | `sdk` | the SDK client, its calls, and the messages on the wire |
//! | `machine` | every decision: events in, effects out |
//! | `log_line` | writes a line of the machine |
//! | `manifest` | manifests: the reader, and what of them `check -f` finds wrong |
//! | `worker` | a thread with an inbox |
//! | `beat` | the clock of beats |
//! | `log_lines` | lines of a file or of an output |
//! | `rcon` | remote consoles, for `agones-shim rcon` |
//! | `game` | processes: child, hooks, signals, terminal |
//! | `probe` | readiness and liveness rounds |
//! | `counter` | sources of readings |
//! | `insight` | logs, status endpoint, service manager |
//! | `runtime` | the one loop |
//! | `local_sdk` | the local SDK server; shares the wire messages and the reader of manifests, and is a feature |
//! | `commands` | the table of commands, one file each |
//! | `testing` | the door for tests, benches and fuzz targets |
//!
//! Invariants, which reviews and tests hold the code to:
//!
//! 1. The machine is pure. Every decision is in it; edges only observe and obey.
//! 2. One thread owns the machine and the SDK client. No mutex, no shared
//!    flag: events in, stop by dropped sender.
//! 3. Every blocking call has a named deadline; a timeout error says which one.
//! 4. An effect that can fail answers with an event. The machine never assumes success.
//! 5. Nothing ends the shim, once a child runs, but the child's end or a stop
//!    that was carried out; giving up (69, 70, 75) is carried out as a stop.
//! 6. Threads are named after their file; a panic in one becomes an event.
//!
//! In scope: the life cycle, the signals, Counters and a List, labels, what
//! follows from an allocation or from none. Out of scope: anything about one
//! game, traffic, restarts, TLS.

mod beat;
mod commands;
mod counter;
mod duration;
mod exit;
mod game;
mod insight;
#[cfg(feature = "local-sdk")]
mod local_sdk;
mod log_line;
mod log_lines;
mod machine;
#[cfg_attr(not(feature = "local-sdk"), allow(dead_code, reason = "the local SDK server reads more than check -f"))]
mod manifest;
mod net;
mod page;
mod probe;
mod query;
mod rcon;
mod runtime;
mod sdk;
mod settings;
#[doc(hidden)]
pub mod testing;
mod worker;

pub use commands::main;
pub use game::signals::block as block_signals;
pub use sdk::quiet::strip_environment;

/// Ends the process; what is still in a buffer is lost. Nothing else runs: the destructors of gRPC's C++ would run beside
/// its threads, which use what they destroy.
pub fn exit(reason: exit::ExitReason) -> ! {
    game::sys::exit(reason.code())
}
