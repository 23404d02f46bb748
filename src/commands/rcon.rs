//! `agones-shim rcon URL COMMAND...`: one command over a game's remote console, and its answer on stdout.
//!
//! The password comes from the environment or a file, never from an argument, which every process of the host could
//! read. It starts no other process, so there is nobody to inherit it.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::time::Duration;

use super::args::Usage;
use super::output::{refused, say};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::net::deadline::Deadline;
use crate::net::resolve::Resolver;
use crate::rcon::{self, Failure, Protocol, Target};
use crate::settings::pattern::pattern;
use crate::settings::text::plain::{LONGEST_PASSWORD, password as password_of};
use crate::settings::{self, Pattern, Secret, Variable, quote, seconds};

const PASSWORD: &str = settings::rcon::PASSWORD.name();
const PASSWORD_FILE: &str = settings::rcon::PASSWORD_FILE.name();
/// Connect to last byte. As long as a stop hook has; a command that saves a world may need more.
const TIMEOUT: Duration = Duration::from_secs(5);
/// No protocol takes longer ones.
const LONGEST_COMMAND: usize = 4000;

pub(super) static COMMAND: Command = Command {
    name: "rcon",
    arguments: "URL COMMAND...",
    summary: "one command over a game's remote console, and its answer",
    words: &[
        ("--match REGEX", "prints the groups of the first match, blank separated, instead of the answer"),
        ("--timeout SECONDS", "from the first connect to the last byte, 5 s unless set"),
    ],
    details: &[
        "URL is source://, telnet://, quake3://, quake://, webrcon:// or battleye://, then HOST:PORT; no HOST is loopback.",
        "The password is in AGONES_SHIM_RCON_PASSWORD or in the file AGONES_SHIM_RCON_PASSWORD_FILE.",
    ],
    reads: Reads::Nothing,
    run: |args, environment| run(&args, &environment),
};

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    target: Target,
    command: String,
    pattern: Option<Pattern>,
    timeout: Duration,
}

/// Runs it.
fn run(args: &[OsString], environment: &[Variable]) -> Result<ExitReason, Usage> {
    let request = parse(args).map_err(|wrong| Usage::new(format!("rcon: {wrong}")))?;
    Ok(asked(&request, environment))
}

fn asked(request: &Request, environment: &[Variable]) -> ExitReason {
    let password = match password(environment, request.target.protocol) {
        Ok(password) => password,
        Err(wrong) => {
            say(&wrong);
            return ExitReason::Config;
        }
    };
    let target = &request.target;
    let deadline = Deadline::after(request.timeout);
    let addresses = Resolver::new().addresses(&target.host, target.port, deadline).map_err(Failure::Unanswered);
    let answer =
        addresses.and_then(|addresses| rcon::run(target, &addresses, &request.command, password.as_ref(), deadline));
    let (reason, exit) = match answer {
        Ok(answer) => return show(request, without(password.as_ref(), answer)),
        Err(Failure::Unanswered(reason)) => (reason, ExitReason::GameServerGone),
        Err(Failure::Refused(reason)) => (reason, ExitReason::Rejected),
    };
    say(&format!("rcon: {target}: {reason}"));
    exit
}

/// A game that lists its variables lists its password with them (ioquake3 does), and what a hook writes is in the Pod's
/// log. Shorter ones than this are words of any answer.
fn without(password: Option<&Secret>, answer: Vec<u8>) -> Vec<u8> {
    const SHORTEST: usize = 4;
    let Some(Secret(password)) = password.filter(|password| password.0.len() >= SHORTEST) else { return answer };
    let mut shown = Vec::with_capacity(answer.len());
    let mut rest = answer.as_slice();
    while let Some((&byte, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(password.as_bytes()) {
            shown.extend_from_slice(b"***");
            rest = behind;
        } else {
            shown.push(byte);
            rest = behind;
        }
    }
    shown
}

/// The answer, or the groups of the first match in it.
fn show(request: &Request, mut answer: Vec<u8>) -> ExitReason {
    if let Some(pattern) = &request.pattern {
        let text = String::from_utf8_lossy(&answer);
        let Some(groups) = pattern.groups(&text) else {
            let begin: String = text.trim().chars().take(120).collect();
            say(&format!("rcon: {}: no match for {pattern} in the answer {begin:?}", request.target));
            return ExitReason::NoMatch;
        };
        answer = groups.join(" ").into_bytes();
    }
    if answer.last().is_some_and(|&byte| byte != b'\n') {
        answer.push(b'\n');
    }
    // A game's answer has names of players in it, who may have put there what a terminal would act on.
    if io::stdout().is_terminal() {
        let text = String::from_utf8_lossy(&answer);
        let is_plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        answer = text.chars().filter(is_plain).collect::<String>().into_bytes();
    }
    print(&answer)
}

/// Text on stdout. Whoever closes it early has read enough.
fn print(text: &[u8]) -> ExitReason {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => refused("cannot write the answer", &error),
        _ => ExitReason::Stopped,
    }
}

fn parse(args: &[OsString]) -> Result<Request, String> {
    let args: Vec<&str> =
        args.iter().map(|arg| arg.to_str().ok_or("an argument is not UTF-8 text")).collect::<Result<_, _>>()?;
    let mut args = args.into_iter();
    let (mut found, mut timeout) = (None, TIMEOUT);
    let url = loop {
        let arg = args.next().ok_or("no URL (write agones-shim rcon source://:25575 list)")?;
        if !arg.starts_with('-') {
            break arg;
        }
        let (option, joined) = arg.split_once('=').map_or((arg, None), |(option, value)| (option, Some(value)));
        let mut value = |what: &str| joined.or_else(|| args.next()).ok_or(format!("{option} needs {what}"));
        match option {
            "--match" => {
                let text = value("a regular expression, as --match '([0-9]+) players'")?;
                found = Some(pattern(text).map_err(|wrong| format!("--match: {} {wrong}", quote(text)))?);
            }
            "--timeout" => {
                let text = value("a number of seconds, as --timeout 5")?;
                timeout = seconds(text).map_err(|wrong| format!("--timeout: {} {wrong}", quote(text)))?;
            }
            // Not what stands behind it: somebody may have tried --password.
            _ => return Err(format!("{} is not --match, --timeout or --help, in front of the URL", quote(option))),
        }
    };
    let target = rcon::url::target(url)?;
    let command = args.collect::<Vec<_>>().join(" ");
    if command.trim().is_empty() {
        return Err("no command behind the URL (write agones-shim rcon source://:25575 list)".into());
    }
    if command.chars().any(char::is_control) {
        return Err("the command has a control character in it (one command is one line)".into());
    }
    if command.len() > LONGEST_COMMAND {
        return Err(format!("the command is longer than {LONGEST_COMMAND} bytes"));
    }
    Ok(Request { target, command, pattern: found, timeout })
}

/// From the environment; the messages show nothing of it.
fn password(environment: &[Variable], protocol: Protocol) -> Result<Option<Secret>, String> {
    let value = |name: &str| {
        // An empty variable counts as unset.
        environment.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value)
    };
    let (name, text) = match (value(PASSWORD), value(PASSWORD_FILE)) {
        (Some(_), Some(_)) => return Err(format!("{PASSWORD_FILE}: {}", settings::rcon::both_set())),
        (Some(text), None) => {
            (PASSWORD, text.to_str().map(str::to_owned).ok_or(format!("{PASSWORD}: is not UTF-8 text"))?)
        }
        (None, Some(path)) => (PASSWORD_FILE, file(path)?),
        (None, None) if protocol.needs_password() => {
            return Err(format!(
                "{PASSWORD}: not set, and {} has no console without a password (or set {PASSWORD_FILE})",
                protocol.name()
            ));
        }
        (None, None) => return Ok(None),
    };
    let wrong = |wrong: String| format!("{name}: the password {wrong}");
    let password = password_of(&text).map_err(wrong)?;
    rcon::check(protocol, &text).map_err(|why| wrong(why.to_owned()))?;
    Ok(Some(password))
}

/// The one line of a file, without its end.
fn file(path: &OsStr) -> Result<String, String> {
    let shown = quote(&path.to_string_lossy());
    let mut bytes = Vec::new();
    // A byte more than fits, for the message.
    let most = LONGEST_PASSWORD as u64 + 3;
    std::fs::File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| format!("{PASSWORD_FILE}: {shown} cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{PASSWORD_FILE}: {shown} is not UTF-8 text"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}
