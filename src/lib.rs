//! agones-shim as a library, so that tests, benches and fuzz targets reach its core.
//!
//! ```text
//!  probe   beat   scrape   reaper (signals, child)   hook   status   watch, relay (lines)
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
mod exit;
mod game;
mod insight;
#[cfg(feature = "local-sdk")]
mod local_sdk;
mod log_lines;
mod machine;
mod net;
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
pub use game::signal::block as block_signals;
