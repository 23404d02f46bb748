//! `--help`, `-h`, `--version`, and the help of each command: from the tables of commands and settings.

use std::ffi::OsString;

use super::args::{Argument, Arguments, Usage};
use super::output::print;
use super::{COMMANDS, Command, Reads, find};
use crate::exit::{ExitReason, ProcessEnd};
use crate::settings::engine::help::{columns, common, settings, wrap};

pub(super) static COMMAND: Command = Command {
    name: "help",
    arguments: "[COMMAND]",
    summary: "this text, or the help of a command",
    words: &[],
    details: &[],
    reads: Reads::Nothing,
    run: |args, _| run(args),
};

/// The first words of help, and all of `--version`.
const NAME_AND_VERSION: &str = concat!("agones-shim ", env!("CARGO_PKG_VERSION"));

const EXAMPLE: &str = "
Example:
  AGONES_SHIM_READY_TCP=7777 agones-shim -- ./server --port 7777
  AGONES_SHIM_READY_TCP=7777 AGONES_SHIM_SDK=off AGONES_SHIM_LOG=debug agones-shim
";

fn run(args: Vec<OsString>) -> Result<ExitReason, Usage> {
    let mut arguments = Arguments::new(args);
    let name = match arguments.next()? {
        None => return Ok(print(&all())),
        Some(Argument::Value(name)) => name,
        Some(option) => return Err(Usage::unexpected(&COMMAND, &option)),
    };
    if let Some(more) = arguments.next()? {
        return Err(Usage::unexpected(&COMMAND, &more));
    }
    let Some(command) = name.to_str().and_then(find) else { return Err(super::args::unknown_command(&name)) };
    if command.name == "local-sdk" {
        // Its help is its own.
        return (command.run)(vec!["--help".into()], Vec::new());
    }
    Ok(print(&of(command)))
}

/// Exit codes with their meaning; what a child gave is the last.
pub(super) fn exit_codes() -> Vec<(String, &'static str)> {
    let code = |reason: ExitReason| reason.code().to_string();
    let child = ExitReason::Child(ProcessEnd::Signaled(0)).code();
    vec![
        (code(ExitReason::Stopped), "stopped as asked (wrapper: the child's own 0)"),
        (code(ExitReason::NoMatch), "rcon --match: no match in the answer"),
        (code(ExitReason::Usage), "bad argument"),
        (code(ExitReason::BadManifest), "check -f: a manifest has errors"),
        (
            code(ExitReason::GameServerGone),
            "the game server is gone: readiness deadline, or liveness; rcon: no answer in time",
        ),
        (code(ExitReason::Bug), "a bug in agones-shim"),
        (code(ExitReason::System), "the system refused: threads, signals, fork"),
        (code(ExitReason::CannotInstall), "install: the directory does not take the file"),
        (code(ExitReason::NoSdk), "AGONES_SHIM_SDK=required and no SDK; sdk CALL: no answer in time"),
        (code(ExitReason::Rejected), "sdk CALL: the SDK server refused; rcon: the game refused the password"),
        (code(ExitReason::Config), "bad environment"),
        (code(ExitReason::NotExecutable), "wrapper: PROGRAM cannot be executed"),
        (code(ExitReason::NotFound), "wrapper: PROGRAM was not found"),
        (
            format!("{child}+n"),
            "wrapper: the child died of signal n (137: its grace period was over); others are its own",
        ),
    ]
}

/// What `--version` prints.
#[must_use]
pub fn version() -> String {
    format!("{NAME_AND_VERSION}\n")
}

/// What `--help` prints.
#[must_use]
pub fn all() -> String {
    let mut text = head();
    text += EXAMPLE;
    text += "\nSettings are environment variables. An empty one counts as unset.\n";
    wrap(&mut text, "Times are in seconds from 0.001 to ten years, decimals allowed. Lists are comma separated.", 0);
    text += &settings(|_| true);
    text += "\nExit codes:\n";
    let codes = exit_codes();
    columns(&mut text, &codes);
    text
}

/// What `-h` prints.
#[must_use]
pub fn short() -> String {
    let mut text = head();
    text += EXAMPLE;
    text += "\nThe settings that most need, as environment variables; --help has all of them, and more on each:\n";
    text += &common();
    text
}

/// How to call it, and for what.
fn head() -> String {
    let mut text = format!("{NAME_AND_VERSION}: {}.\n\nUsage:\n", env!("CARGO_PKG_DESCRIPTION"));
    let mut rows = vec![
        ("agones-shim".to_owned(), "sidecar: runs beside the game, in its Pod or on its host"),
        ("agones-shim -- PROGRAM [ARG...]".to_owned(), "wrapper: the game's entrypoint, runs it as its child"),
    ];
    rows.extend(COMMANDS.iter().map(|command| (brief(command), command.summary)));
    rows.push(("agones-shim --version".to_owned(), "the version"));
    columns(&mut text, &rows);
    text
}

pub(super) fn usage(command: &Command) -> String {
    format!("agones-shim {} {}", command.name, command.arguments).trim_end().to_owned()
}

/// Without its options, which its own help has.
pub(super) fn brief(command: &Command) -> String {
    let usage = usage(command);
    usage.split(' ').filter(|word| !word.starts_with("[--")).collect::<Vec<_>>().join(" ")
}

/// The help of one command.
pub(super) fn of(command: &Command) -> String {
    let mut text = format!("{}: {}\n", usage(command), command.summary);
    if !command.words.is_empty() {
        text.push('\n');
        let words: Vec<(String, &str)> = command.words.iter().map(|(word, help)| ((*word).to_owned(), *help)).collect();
        columns(&mut text, &words);
    }
    for details in command.details {
        text.push('\n');
        wrap(&mut text, details, 0);
    }
    match command.reads {
        Reads::Nothing => {}
        Reads::All => text += "\nSettings: all of them (agones-shim --help).\n",
        Reads::Some(_) => text += &settings(|setting| command.reads.reads(setting)),
    }
    text
}
