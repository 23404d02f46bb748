//! argv -> [`Command`], with lexopt over an iterator.
//!
//! Reads no environment and starts nothing. What stands behind `--` is the
//! game's own and stays untouched, whatever its bytes.

use std::ffi::{OsStr, OsString};
use std::fmt;

use lexopt::{Arg, Parser};

use crate::settings::{StatusAddr, nearest, status_addr};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `agones-shim`
    Sidecar,
    /// `agones-shim -- PROGRAM ARG...`
    Wrapper {
        /// Program and arguments, never empty.
        argv: Vec<OsString>,
    },
    /// `agones-shim local-sdk ...`
    LocalSdk {
        /// As they stand: src/local_sdk/options.rs reads them.
        args: Vec<OsString>,
    },
    /// `agones-shim check`
    Check,
    /// `agones-shim sdk CALL [ARG...]`
    Sdk(SdkCall),
    /// `agones-shim probe`
    Probe,
    /// `agones-shim rcon URL COMMAND...`
    Rcon {
        /// As they stand: src/commands/rcon.rs reads them.
        args: Vec<OsString>,
    },
    /// `agones-shim status [ADDR] [--watch]`
    Status {
        /// Instead of `AGONES_SHIM_STATUS_ADDR`.
        addr: Option<StatusAddr>,
        /// Show it again and again.
        watch: bool,
    },
    /// `--help`, `-h`
    Help,
    /// `--version`, `-V`
    Version,
}

/// One call of `agones-shim sdk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SdkCall {
    /// Ready()
    Ready,
    /// One beat.
    Health,
    /// Shutdown()
    Shutdown,
    /// Allocate()
    Allocate,
    /// Reserve(), for so many seconds; 0 is for ever.
    Reserve(i64),
    /// `GetGameServer()`
    GameServer,
    /// `SetLabel()`
    Label {
        /// Without the prefix that Agones puts in front.
        key: String,
        /// What the server accepts is its own affair.
        value: String,
    },
    /// `SetAnnotation()`
    Annotation {
        /// Without the prefix that Agones puts in front.
        key: String,
        /// What the server accepts is its own affair.
        value: String,
    },
    /// Reads a Counter, or sets its count.
    Counter {
        /// Its name.
        name: String,
        /// The new count, at least 0; `None` reads it.
        value: Option<i64>,
    },
}

impl SdkCall {
    /// As it is written on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Health => "health",
            Self::Shutdown => "shutdown",
            Self::Allocate => "allocate",
            Self::Reserve(_) => "reserve",
            Self::GameServer => "gameserver",
            Self::Label { .. } => "label",
            Self::Annotation { .. } => "annotation",
            Self::Counter { .. } => "counter",
        }
    }
}

/// An argument is wrong: exit 64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The commands that have a name.
const COMMANDS: [&str; 6] = ["local-sdk", "check", "sdk", "probe", "rcon", "status"];

/// The calls of `sdk`, with what each takes.
const CALLS: [(&str, &str); 9] = [
    ("ready", ""),
    ("health", ""),
    ("shutdown", ""),
    ("allocate", ""),
    ("reserve", " SECONDS"),
    ("gameserver", ""),
    ("label", " KEY VALUE"),
    ("annotation", " KEY VALUE"),
    ("counter", " NAME [VALUE]"),
];

/// Reads the arguments, without the program's own name.
///
/// # Errors
///
/// The first argument that makes no sense, with what would.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Usage> {
    let args: Vec<OsString> = args.into_iter().collect();
    // lexopt would drop the `--`, which is what tells a wrapper from a command.
    if args.first().is_some_and(|first| first == "--") {
        let own = args[1..].to_vec();
        return if own.is_empty() { Err(no_program()) } else { Ok(Command::Wrapper { argv: own }) };
    }
    let mut parser = Parser::from_args(args);
    match next(&mut parser)? {
        None => Ok(Command::Sidecar),
        Some(Argument::Option(option)) => {
            let command = match option.as_str() {
                "-h" | "--help" => Command::Help,
                "-V" | "--version" => Command::Version,
                _ => return Err(unknown_option(&option, &["--help", "--version"])),
            };
            nothing_more(&mut parser, &option, command)
        }
        Some(Argument::Value(name)) => named(&name, parser),
    }
}

fn named(name: &OsStr, mut parser: Parser) -> Result<Command, Usage> {
    let rest = |mut parser: Parser| parser.raw_args().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    match name.to_str() {
        Some("local-sdk") => Ok(Command::LocalSdk { args: rest(parser) }),
        Some("check") => nothing_more(&mut parser, "check", Command::Check),
        Some("probe") => nothing_more(&mut parser, "probe", Command::Probe),
        Some("rcon") => Ok(Command::Rcon { args: rest(parser) }),
        Some("sdk") => sdk(&rest(parser)),
        Some("status") => status(&mut parser),
        _ => Err(unknown_command(name)),
    }
}

fn status(parser: &mut Parser) -> Result<Command, Usage> {
    let mut addr = None;
    let mut watch = false;
    while let Some(argument) = next(parser)? {
        match argument {
            Argument::Option(option) => match option.as_str() {
                "--watch" | "-w" => watch = true,
                "--help" | "-h" => return Ok(Command::Help),
                _ => return Err(unknown_option(&option, &["--watch", "--help"])),
            },
            Argument::Value(value) if addr.is_none() => {
                let text = utf8(&value)?;
                addr = Some(status_addr(text).map_err(|wrong| Usage(format!("status: {text:?} {wrong}")))?);
            }
            Argument::Value(value) => return Err(extra("status ADDR", &value)),
        }
    }
    Ok(Command::Status { addr, watch })
}

/// Values of labels may begin with a dash, so nothing here is an option but
/// `--help` in the call's place.
fn sdk(args: &[OsString]) -> Result<Command, Usage> {
    let calls = CALLS.map(|(call, _)| call);
    let Some((call, args)) = args.split_first() else {
        return Err(Usage(format!("sdk needs a call (write one of {})", calls.join(", "))));
    };
    if call == "--help" || call == "-h" {
        return Ok(Command::Help);
    }
    let call = utf8(call)?;
    let args: Vec<&str> = args.iter().map(|arg| utf8(arg)).collect::<Result<_, _>>()?;
    let call = match (call, args.as_slice()) {
        ("ready", []) => SdkCall::Ready,
        ("health", []) => SdkCall::Health,
        ("shutdown", []) => SdkCall::Shutdown,
        ("allocate", []) => SdkCall::Allocate,
        ("gameserver", []) => SdkCall::GameServer,
        ("reserve", [seconds]) => SdkCall::Reserve(whole_number("sdk reserve", seconds, "seconds, 0 for ever")?),
        ("label", [key, value]) => SdkCall::Label { key: (*key).to_owned(), value: (*value).to_owned() },
        ("annotation", [key, value]) => SdkCall::Annotation { key: (*key).to_owned(), value: (*value).to_owned() },
        ("counter", [name]) => SdkCall::Counter { name: (*name).to_owned(), value: None },
        ("counter", [name, value]) => {
            let value = Some(whole_number("sdk counter", value, "at least 0")?);
            SdkCall::Counter { name: (*name).to_owned(), value }
        }
        (call, args) => {
            let Some((call, takes)) = CALLS.iter().find(|(known, _)| *known == call) else {
                let listed = calls.join(", ");
                return Err(Usage(match nearest(call, calls) {
                    Some(near) => format!("sdk: unknown call {call:?} (write {near})"),
                    None => format!("sdk: unknown call {call:?} (write one of {listed})"),
                }));
            };
            let given = args.len();
            let s = if given == 1 { "" } else { "s" };
            return Err(Usage(format!("sdk {call} was given {given} argument{s} (write sdk {call}{takes})")));
        }
    };
    Ok(Command::Sdk(call))
}

/// A whole number that fits the wire.
fn whole_number(place: &str, text: &str, wanted: &str) -> Result<i64, Usage> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_digits { text.parse().ok() } else { None };
    number.ok_or_else(|| Usage(format!("{place}: {text:?} is not a whole number ({wanted})")))
}

/// One argument, in a form that outlives the parser's borrow.
enum Argument {
    /// With its dashes.
    Option(String),
    Value(OsString),
}

fn next(parser: &mut Parser) -> Result<Option<Argument>, Usage> {
    if parser.try_raw_args().is_some_and(|args| args.peek().is_some_and(|next| next == "--")) {
        return Err(Usage("-- comes first, or not at all (write agones-shim -- PROGRAM ARG...)".into()));
    }
    match parser.next() {
        Ok(None) => Ok(None),
        Ok(Some(Arg::Short(c))) => Ok(Some(Argument::Option(format!("-{c}")))),
        Ok(Some(Arg::Long(name))) => Ok(Some(Argument::Option(format!("--{name}")))),
        Ok(Some(Arg::Value(value))) => Ok(Some(Argument::Value(value))),
        Err(error) => Err(Usage(error.to_string())),
    }
}

/// The command, if it was the last argument; `--help` behind it wins.
fn nothing_more(parser: &mut Parser, before: &str, command: Command) -> Result<Command, Usage> {
    match next(parser)? {
        None => Ok(command),
        Some(Argument::Option(option)) if option == "--help" || option == "-h" => Ok(Command::Help),
        Some(Argument::Option(option)) => Err(unknown_option(&option, &["--help"])),
        Some(Argument::Value(value)) => Err(extra(before, &value)),
    }
}

fn no_program() -> Usage {
    Usage("-- without a program (write agones-shim -- PROGRAM ARG...)".into())
}

fn extra(before: &str, value: &OsStr) -> Usage {
    Usage(format!("{before} takes no further argument, but was given {}", quoted(value)))
}

fn unknown_option(option: &str, known: &[&str]) -> Usage {
    let option = option.escape_debug();
    Usage(match nearest(&option.to_string(), known.iter().copied()) {
        Some(near) => format!("unknown option {option} (did you mean {near}?)"),
        None => format!("unknown option {option} (--help lists what there is; options of a game go behind --)"),
    })
}

fn unknown_command(name: &OsStr) -> Usage {
    let shown = name.to_string_lossy();
    let is_path = shown.contains('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    // A name that a shell would take apart is shown in quotes.
    let program = if shown.chars().all(plain) { shown.to_string() } else { quoted(name) };
    let name = quoted(name);
    let wrapper = format!("to run it as the game, write agones-shim -- {program}");
    Usage(match nearest(&shown, COMMANDS).filter(|_| !is_path) {
        Some(near) => format!("unknown command {name} (did you mean {near}? {wrapper})"),
        None if shown == "help" => "unknown command \"help\" (write agones-shim --help)".into(),
        None => format!("unknown command {name} ({wrapper})"),
    })
}

/// In quotes, with escapes for bytes that are no text and for what a terminal
/// would act on.
#[expect(clippy::unnecessary_debug_formatting, reason = "the escapes are wanted")]
fn quoted(arg: &OsStr) -> String {
    format!("{arg:?}")
}

fn utf8(arg: &OsStr) -> Result<&str, Usage> {
    arg.to_str().ok_or_else(|| Usage(format!("the argument {} is not UTF-8 text", quoted(arg))))
}

#[cfg(test)]
mod tests;
