//! The commands that end by themselves: everything but the sidecar and the wrapper.

use std::io::{self, Write};

use crate::app::{reject, say};
use crate::cli::{Command, Usage};
use crate::exit::ExitReason;
use crate::local_sdk;
use crate::settings::parse::Variable;
use crate::settings::{check, help};

/// Runs one.
#[must_use]
pub fn run(command: Result<Command, Usage>, environment: Vec<Variable>) -> ExitReason {
    match command {
        Err(usage) => {
            say(&usage.to_string());
            ExitReason::Usage
        }
        Ok(Command::Help) => print(&help::help()),
        Ok(Command::Version) => print(&help::version()),
        Ok(Command::Check) => match check::check(environment) {
            Ok(text) => print(&text),
            Err(rejected) => reject(&rejected),
        },
        Ok(Command::LocalSdk { args }) => local_sdk::run(args),
        Ok(other) => {
            say(&format!("{other:?} is not there yet"));
            ExitReason::Usage
        }
    }
}

/// Text on stdout. Whoever closes it early has read enough.
fn print(text: &str) -> ExitReason {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitReason::Stopped
}
