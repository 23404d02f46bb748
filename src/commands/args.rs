//! argv, with lexopt over an iterator: who is asked, and the words that it gets.
//!
//! Reads no environment and starts nothing. What stands behind `--` is the
//! game's own and stays untouched, whatever its bytes.

use std::ffi::{OsStr, OsString};
use std::fmt;

use lexopt::{Arg, Parser};

use super::{COMMANDS, Command, find};
use crate::settings::nearest;

/// What is to be done.
pub(super) enum Asked {
    /// `agones-shim`
    Sidecar,
    /// `agones-shim -- PROGRAM ARG...`
    Wrapper {
        /// Program and arguments, never empty.
        argv: Vec<OsString>,
    },
    /// `agones-shim NAME ...`
    Named {
        command: &'static Command,
        /// As they stand behind the name.
        args: Vec<OsString>,
    },
    /// `-h`
    ShortHelp,
    /// `--help`
    Help,
    /// `agones-shim NAME --help`
    HelpOf(&'static Command),
    /// `--version`, `-V`
    Version,
}

/// An argument is wrong: exit 64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Usage(String);

impl Usage {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// An argument that this command does not take.
    pub(super) fn unexpected(command: &Command, argument: &Argument) -> Self {
        match argument {
            Argument::Option(option) => {
                let known = command.words.iter().map(|(word, _)| *word).filter(|word| word.starts_with("--"));
                unknown_option(option, known.chain(["--help"]))
            }
            Argument::Value(value) => extra(command.name, value),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the arguments, without the program's own name.
///
/// # Errors
///
/// The first argument that makes no sense, with what would.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Asked, Usage> {
    let args: Vec<OsString> = args.into_iter().collect();
    // lexopt would drop the `--`, which is what tells a wrapper from a command.
    if args.first().is_some_and(|first| first == "--") {
        let own = args[1..].to_vec();
        return if own.is_empty() { Err(no_program()) } else { Ok(Asked::Wrapper { argv: own }) };
    }
    let mut arguments = Arguments::new(args);
    let asked = match arguments.next()? {
        None => return Ok(Asked::Sidecar),
        Some(Argument::Value(name)) => return named(&name, arguments.rest()),
        Some(Argument::Option(option)) => match option.as_str() {
            "-h" => (option, Asked::ShortHelp),
            "--help" => (option, Asked::Help),
            "-V" | "--version" => (option, Asked::Version),
            _ => return Err(unknown_option(&option, ["--help", "--version"])),
        },
    };
    match (arguments.next()?, asked) {
        (None, (_, asked)) => Ok(asked),
        (Some(Argument::Option(option)), _) if option == "--help" => Ok(Asked::Help),
        (Some(Argument::Option(option)), _) => Err(unknown_option(&option, ["--help"])),
        (Some(Argument::Value(value)), (option, _)) => Err(extra(&option, &value)),
    }
}

fn named(name: &OsStr, args: Vec<OsString>) -> Result<Asked, Usage> {
    let Some(command) = name.to_str().and_then(find) else { return Err(unknown_command(name)) };
    // In the first place alone: further on it may be the value of a label. The local SDK server has help of its own.
    let wants_help = args.first().is_some_and(|first| first == "--help" || first == "-h");
    if wants_help && command.name != "local-sdk" {
        return Ok(Asked::HelpOf(command));
    }
    Ok(Asked::Named { command, args })
}

/// One argument, in a form that outlives the parser's borrow.
pub(super) enum Argument {
    /// With its dashes.
    Option(String),
    Value(OsString),
}

/// What stands behind a command's name.
pub(super) struct Arguments(Parser);

impl Arguments {
    pub(super) fn new(args: Vec<OsString>) -> Self {
        Self(Parser::from_args(args))
    }

    pub(super) fn next(&mut self) -> Result<Option<Argument>, Usage> {
        if self.0.try_raw_args().is_some_and(|args| args.peek().is_some_and(|next| next == "--")) {
            return Err(Usage("-- comes first, or not at all (write agones-shim -- PROGRAM ARG...)".into()));
        }
        match self.0.next() {
            Ok(None) => Ok(None),
            Ok(Some(Arg::Short(c))) => Ok(Some(Argument::Option(format!("-{c}")))),
            Ok(Some(Arg::Long(name))) => Ok(Some(Argument::Option(format!("--{name}")))),
            Ok(Some(Arg::Value(value))) => Ok(Some(Argument::Value(value))),
            Err(error) => Err(Usage(error.to_string())),
        }
    }

    /// What belongs to the option before it: `-f FILE`, `-fFILE`, `--file=FILE`.
    pub(super) fn value(&mut self, option: &str) -> Result<OsString, Usage> {
        self.0.value().map_err(|_| Usage(format!("{option} needs a value behind it (--help shows which)")))
    }

    fn rest(mut self) -> Vec<OsString> {
        self.0.raw_args().map(Iterator::collect).unwrap_or_default()
    }
}

/// For a command that takes no arguments.
pub(super) fn nothing(command: &Command, args: Vec<OsString>) -> Result<(), Usage> {
    match Arguments::new(args).next()? {
        None => Ok(()),
        Some(argument) => Err(Usage::unexpected(command, &argument)),
    }
}

fn no_program() -> Usage {
    Usage(
        "-- without a program (write agones-shim -- PROGRAM ARG...; an ENTRYPOINT in a Dockerfile drops the CMD of the image \
         below: write its words out)"
            .into(),
    )
}

fn extra(before: &str, value: &OsStr) -> Usage {
    Usage(format!("{before} takes no further argument, but was given {}", quoted(value)))
}

fn unknown_option<'a>(option: &str, known: impl IntoIterator<Item = &'a str>) -> Usage {
    let option = option.escape_debug();
    Usage(match nearest(&option.to_string(), known) {
        Some(near) => format!("unknown option {option} (did you mean {near}?)"),
        None => format!("unknown option {option} (--help lists what there is; options of a game go behind --)"),
    })
}

pub(super) fn unknown_command(name: &OsStr) -> Usage {
    let shown = name.to_string_lossy();
    let is_path = shown.contains('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    // A name that a shell would take apart is shown in quotes.
    let program = if shown.chars().all(plain) { shown.to_string() } else { quoted(name) };
    let name = quoted(name);
    let wrapper = format!("to run it as the game, write agones-shim -- {program}");
    Usage(match nearest(&shown, COMMANDS.iter().map(|command| command.name)).filter(|_| !is_path) {
        Some(near) => format!("unknown command {name} (did you mean {near}? {wrapper})"),
        None => format!("unknown command {name} ({wrapper})"),
    })
}

/// In quotes, with escapes for bytes that are no text and for what a terminal
/// would act on.
#[expect(clippy::unnecessary_debug_formatting, reason = "the escapes are wanted")]
pub(super) fn quoted(arg: &OsStr) -> String {
    format!("{arg:?}")
}

pub(super) fn utf8(arg: &OsStr) -> Result<&str, Usage> {
    arg.to_str().ok_or_else(|| Usage(format!("the argument {} is not UTF-8 text", quoted(arg))))
}
