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

pub mod beat;
pub mod commands;
pub mod counter;
pub mod exit;
pub mod game;
pub mod insight;
pub mod local_sdk;
pub mod log_lines;
pub mod machine;
pub mod net;
pub mod probe;
pub mod query;
pub mod rcon;
pub mod runtime;
pub mod sdk;
pub mod settings;
pub mod worker;
