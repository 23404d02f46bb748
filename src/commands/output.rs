//! What commands say, and where: answers on stdout, everything else on stderr, where there is no log.

use std::io::{self, Write};

use crate::exit::ExitReason;
use crate::settings::Rejected;

/// Text on stdout. Whoever closes it early has read enough.
pub(super) fn print(text: &str) -> ExitReason {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitReason::Stopped
}

/// A line for people where there is no log: each of its lines names the program.
pub(super) fn say(text: &str) {
    let lines: String = text.lines().flat_map(|line| ["agones-shim: ", line, "\n"]).collect();
    // A closed stderr is no reason to fail.
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// Every error of the environment on stderr, before anything was done.
pub(super) fn reject(rejected: &Rejected) -> ExitReason {
    say(&rejected.to_string());
    ExitReason::Config
}

/// What the system does not give.
pub(super) fn refused(what: &str, error: &io::Error) -> ExitReason {
    say(&format!("{what}: {error}"));
    ExitReason::System
}
