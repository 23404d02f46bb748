//! `agones-shim sdk CALL`: one SDK call. Its answer goes to stdout as the JSON that Agones' HTTP gateway would have given.

use std::ffi::OsString;

use super::args::{Usage, utf8};
use super::output::{print, reject, say};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::insight::logging;
use crate::sdk::call::CallErrorKind;
use crate::sdk::json;
use crate::sdk::once::{self, Reply, SdkCall};
use crate::settings::{SdkSettings, Variable, nearest, sdk};

pub(super) static COMMAND: Command = Command {
    name: "sdk",
    arguments: "CALL [ARG...]",
    summary: "one SDK call, from a hook or a shell",
    words: &[
        ("ready", "the game server is ready to be allocated"),
        ("health", "one beat"),
        ("shutdown", "the game server ends"),
        ("allocate", "allocates it to itself"),
        ("reserve SECONDS", "reserves it for this long; 0 is for ever"),
        ("gameserver", "prints the GameServer"),
        ("label KEY VALUE", "sets a label; Agones puts agones.dev/sdk- in front of the key"),
        ("annotation KEY VALUE", "sets an annotation, likewise"),
        ("counter NAME [VALUE]", "prints a Counter, or sets its count"),
    ],
    details: &["Answers are printed as JSON. Exit 75: no answer in time; 76: the SDK server refused."],
    reads: Reads::Some(sdk::CALL),
    run: |args, environment| Ok(make(&parse(&args)?, &environment)),
};

fn make(call: &SdkCall, environment: &[Variable]) -> ExitReason {
    let (settings, log) = match SdkSettings::read(environment.to_vec()) {
        Ok((settings, _)) => settings,
        Err(rejected) => return reject(&rejected),
    };
    // Without a logger of ours, gRPC's C core writes lines of its own to stderr.
    let log = logging::start(&log, environment);
    let reason = match once::call(&settings, call) {
        Ok(Reply::Empty) => ExitReason::Stopped,
        Ok(Reply::GameServer(game_server)) => print(&(json::game_server(&game_server) + "\n")),
        Ok(Reply::Counter(counter)) => print(&(json::counter(&counter) + "\n")),
        Err(error) => {
            say(&format!("sdk {}: {}", call.name(), error.message));
            match error.kind {
                CallErrorKind::Rejected => ExitReason::Rejected,
                CallErrorKind::Unavailable | CallErrorKind::DeadlineExceeded => ExitReason::NoSdk,
            }
        }
    };
    // A system that refuses the log's thread has not kept the call from being made.
    if let Ok(log) = log {
        log.flush();
    }
    reason
}

/// The calls by name, with what each takes.
fn calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMAND.words.iter().map(|(form, _)| form.split_once(' ').unwrap_or((form, "")))
}

/// Values of labels may begin with a dash, so nothing here is an option.
pub(super) fn parse(args: &[OsString]) -> Result<SdkCall, Usage> {
    let listed = || calls().map(|(call, _)| call).collect::<Vec<_>>().join(", ");
    let Some((call, args)) = args.split_first() else {
        return Err(Usage::new(format!("sdk needs a call (write one of {})", listed())));
    };
    let call = utf8(call)?;
    let args: Vec<&str> = args.iter().map(|arg| utf8(arg)).collect::<Result<_, _>>()?;
    Ok(match (call, args.as_slice()) {
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
            let Some((call, takes)) = calls().find(|(known, _)| *known == call) else {
                return Err(Usage::new(match nearest(call, calls().map(|(call, _)| call)) {
                    Some(near) => format!("sdk: unknown call {call:?} (write {near})"),
                    None => format!("sdk: unknown call {call:?} (write one of {})", listed()),
                }));
            };
            let (given, s) = (args.len(), if args.len() == 1 { "" } else { "s" });
            let form = format!("sdk {call} {takes}");
            return Err(Usage::new(format!("sdk {call} was given {given} argument{s} (write {})", form.trim_end())));
        }
    })
}

/// A whole number that fits the wire.
fn whole_number(place: &str, text: &str, wanted: &str) -> Result<i64, Usage> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_digits { text.parse().ok() } else { None };
    number.ok_or_else(|| Usage::new(format!("{place}: {text:?} is not a whole number ({wanted})")))
}
