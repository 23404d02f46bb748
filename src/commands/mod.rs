//! What can be asked of agones-shim: one table, one file a command.
//!
//! **A new command** is its file with a `static COMMAND` and its place in [`COMMANDS`], and a test. Help, completions,
//! the man page and suggestions follow from it.

mod args;
mod check;
mod completion;
mod docs;
mod explain;
mod help;
mod install;
#[cfg(feature = "local-sdk")]
mod local_sdk;
mod man;
mod output;
mod probe;
mod rcon;
mod run;
mod sdk;
mod status;

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use crate::exit::ExitReason;
use crate::game::signals::Blocked;
use crate::settings::Variable;
use crate::settings::engine::row::AnySetting;
use args::{Asked, Usage};
pub use docs::{exit_code_table, markdown};
pub use help::{all as help_all, short as help_short, version};
use output::{print, say};

/// In the order of help.
const COMMANDS: &[&Command] = &[
    &check::COMMAND,
    &probe::COMMAND,
    &sdk::COMMAND,
    &rcon::COMMAND,
    &status::COMMAND,
    &install::COMMAND,
    #[cfg(feature = "local-sdk")]
    &local_sdk::COMMAND,
    &explain::COMMAND,
    &completion::COMMAND,
    &man::COMMAND,
    &help::COMMAND,
];

/// Something that has a name, does one thing and ends. The sidecar and the wrapper have none: they are run.rs.
struct Command {
    name: &'static str,
    /// What may stand behind the name, for help.
    arguments: &'static str,
    /// In one line of the help of all.
    summary: &'static str,
    /// The words and options that it takes, each with what it means.
    words: &'static [(&'static str, &'static str)],
    /// What else there is to say, in paragraphs.
    details: &'static [&'static str],
    /// The settings that it reads.
    reads: Reads,
    run: fn(Vec<OsString>, Vec<Variable>) -> Result<ExitReason, Usage>,
}

/// Which settings a command reads.
#[derive(Clone, Copy)]
enum Reads {
    Nothing,
    /// On behalf of the sidecar and the wrapper.
    All,
    /// These, and what is logged.
    Some(&'static [&'static [&'static dyn AnySetting]]),
}

impl Reads {
    fn reads(self, setting: &dyn AnySetting) -> bool {
        let variable = setting.row().variable;
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Some(settings) => settings.iter().copied().flatten().any(|read| read.row().variable == variable),
        }
    }
}

fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().copied().find(|command| command.name == name)
}

/// Does what these arguments, without the program's own name, ask for.
#[must_use]
pub fn main(signals: Blocked, args: impl IntoIterator<Item = OsString>, environment: Vec<Variable>) -> ExitReason {
    let asked = match args::parse(args) {
        Ok(Asked::Sidecar) => return run::sidecar(signals, environment),
        Ok(Asked::Wrapper { argv }) => return run::wrapper(signals, environment, &argv),
        other => other,
    };
    signals.release();
    let done = asked.and_then(|asked| match asked {
        Asked::ShortHelp => Ok(print(&help::short())),
        Asked::Help => Ok(print(&help::all())),
        Asked::HelpOf(command) => Ok(print(&help::of(command))),
        Asked::Version => Ok(print(&help::version())),
        Asked::Named { command, args } => (command.run)(args, environment),
        Asked::Sidecar | Asked::Wrapper { .. } => unreachable!("run above"),
    });
    done.unwrap_or_else(|usage| {
        say(&usage.to_string());
        ExitReason::Usage
    })
}
