//! What the integration tests are made of: the real binary under a deadline, and the worlds it meets.
//!
//! Nothing here sleeps to wait for a state, and nothing here knows how the shim works inside: it sees
//! lines, calls, connections and exit codes, each with the instant at which it came.
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

pub mod browser;
pub mod client;
pub mod docker;
pub mod elf;
pub mod game;
pub mod game_process;
pub mod held_exec;
pub mod listener;
pub mod local_sdk;
pub mod maps;
pub mod output;
pub mod ports;
pub mod proc;
pub mod proxy;
pub mod pty;
pub mod query_game;
pub mod report;
pub mod scratch;
pub mod scripted_sdk;
pub mod shim;
pub mod specimen;
pub mod stand_in;
pub mod stand_in_net;
pub mod wait;

mod self_tests;

pub use game::{Game, Reply};
pub use ports::Port;
pub use proxy::{Mode, Proxy};
pub use scratch::Scratch;
pub use scripted_sdk::{Answer, Applies, ScriptedSdk};
pub use shim::{Shim, shim};
pub use wait::{millis, secs};
