//! The way out: Shutdown(), the stop hook, and how the wrapper stops its child.

use std::fmt;
use std::time::Duration;

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Setting, Shown, Subject};
use super::text::plain::{self, list, seconds, seconds_or_zero, unless_zero, word};
use super::text::signal::signal_or_none;
use super::text::words::{self, Words};

/// Kubernetes gives a Pod 30 s to end, Docker a container 10 s: a hook longer
/// than this leaves the game no time to save.
const LONG_HOOK: Duration = Duration::from_secs(20);

static SHUTDOWN_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Time for delivering and confirming Shutdown()")
    .default("8");

static SIGNAL: Setting<Option<StopSignal>> = Setting::one("AGONES_SHIM_STOP_SIGNAL", "SIGNAL", signal_or_none)
    .help("Wrapper: what the child is stopped with, as `TERM`, `SIGINT`, `15` or `RTMIN+3`; `none`: by the stop line or the stop hook alone")
    .default("TERM")
    .wrapper_only()
    .common("the wrapper's stop signal for the game: INT");

static OK_CODES: Setting<Vec<u8>> = Setting::several("AGONES_SHIM_STOP_OK_CODES", "CODES", |text| {
    list(text, |items, index| plain::exit_code(items[index]), |items, index| items[index].to_owned())
})
.help("Wrapper: exit codes of the child that count as 0 when a stop was asked for, as `143,130` (every JVM ends a clean stop with 143); 128+n is its death of signal n")
.wrapper_only();

static LINE: Setting<Vec<String>> = Setting::one("AGONES_SHIM_STOP_LINE", "LINE", plain::console_lines)
    .help(r"Wrapper: line for the game's console at stop, before the signal: `stop`; `\n` separates lines, `\\` is one backslash")
    .wrapper_only()
    .common("line for the game's console that stops it: quit");

static LINE_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_STOP_LINE_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Wrapper: time that the game has to end after the stop line; then the stop signal is sent")
    .default("30")
    .wrapper_only();

static TTY: Setting<bool> = Setting::one("AGONES_SHIM_TTY", "SWITCH", |text| word(text, &[("0", false), ("1", true)]))
    .help("Wrapper: `1` gives the game a pseudo-terminal of its own: no block buffering, a console that works, text from Wine")
    .default("0")
    .wrapper_only();

static SCOPE: Setting<StopScope> = Setting::one("AGONES_SHIM_STOP_SCOPE", "SCOPE", |text| {
    word(text, &[("group", StopScope::Group), ("child", StopScope::Child)])
})
.help("Wrapper: the stop signal goes to the child's process `group` (a shell entrypoint passes nothing on) or to the `child` alone: its helpers are never touched")
.default("group")
.wrapper_only();

static TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_STOP_TIMEOUT_SECS", "SECONDS", seconds_or_zero)
    .help("Wrapper: SIGKILL to the child (see `AGONES_SHIM_STOP_SCOPE`) this long after the stop signal; 0 is never: the orchestrator's own grace period decides")
    .default("0")
    .wrapper_only();

static HUP: Setting<Hup> =
    Setting::one("AGONES_SHIM_HUP", "ACTION", |text| word(text, &[("stop", Hup::Stop), ("pass", Hup::Pass)]))
        .help("Wrapper: what SIGHUP does, `stop`, or `pass` it on to the child")
        .default("stop")
        .wrapper_only();

static HOOK: Setting<Words> = Setting::one("AGONES_SHIM_STOP_HOOK", "COMMAND", words::split)
    .help("Program run at stop, before the stop signal, to save over a remote console, for example. Arguments split like a shell's words, no shell needed")
    .shown(Shown::Command)
    .common("program that is run at stop, before the signal");

static HOOK_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Time that the stop hook may take")
    .default("5");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Stop",
    rows: &[
        &SHUTDOWN_TIMEOUT,
        &SIGNAL,
        &OK_CODES,
        &SCOPE,
        &TIMEOUT,
        &HUP,
        &LINE,
        &LINE_TIMEOUT,
        &TTY,
        &HOOK,
        &HOOK_TIMEOUT,
    ],
    given: &["AGONES_SHIM_STOP_REASON", "AGONES_SHIM_CHILD_PID"],
    check,
    facts,
};

/// The way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StopSettings {
    /// Bound on delivering and confirming Shutdown().
    pub shutdown_timeout: Duration,
    /// What the child is stopped with; `None` is `none`.
    pub signal: Option<StopSignal>,
    /// Who gets the stop signal.
    pub scope: StopScope,
    /// SIGKILL to the child's group this long after the stop signal; `None` is never.
    pub timeout: Option<Duration>,
    /// What SIGHUP does.
    pub hup: Hup,
    /// What is written to the child's stdin before the stop signal, if anything.
    pub line: Option<StopLine>,
    /// Exit codes of the child that count as 0 where a stop was asked for.
    pub ok_codes: Vec<u8>,
    /// The child gets a pseudo-terminal.
    pub tty: bool,
    /// Program run at stop, if any.
    pub hook: Option<Hook>,
}

/// What a game's console is told at stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StopLine {
    /// Without their ends.
    pub lines: Vec<String>,
    /// Time that the child has to end after them.
    pub timeout: Duration,
}

/// A signal number that can be sent, real-time ones included, with the name it was given by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StopSignal {
    /// The kernel's number, 1 to 64.
    pub number: i32,
    /// `SIGTERM`, `SIGINT`, `SIGRTMIN+3`, ...
    pub name: String,
}

impl fmt::Display for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// `AGONES_SHIM_HUP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hup {
    /// SIGHUP is a stop signal.
    Stop,
    /// SIGHUP goes to the child.
    Pass,
}

/// `AGONES_SHIM_STOP_SCOPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopScope {
    /// The child's process group.
    Group,
    /// The child alone.
    Child,
}

/// A program run at stop, or at an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    /// Program and arguments, never empty.
    pub argv: Vec<String>,
    /// Ended after this long.
    pub timeout: Duration,
    /// The variable that says so.
    pub timeout_variable: &'static str,
}

impl Hook {
    pub(super) fn new(values: &Values, command: &Setting<Words>, timeout: &Setting<Duration>) -> Option<Self> {
        let Words { argv, .. } = values.get(command)?;
        Some(Self { argv, timeout: values.or_default(timeout), timeout_variable: timeout.name() })
    }
}

impl StopSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            shutdown_timeout: values.or_default(&SHUTDOWN_TIMEOUT),
            signal: values.or_default(&SIGNAL),
            scope: values.or_default(&SCOPE),
            timeout: unless_zero(values.or_default(&TIMEOUT)),
            hup: values.or_default(&HUP),
            line: values.get(&LINE).map(|lines| StopLine { lines, timeout: values.or_default(&LINE_TIMEOUT) }),
            ok_codes: values.get(&OK_CODES).unwrap_or_default(),
            tty: values.or_default(&TTY),
            hook: Hook::new(values, &HOOK, &HOOK_TIMEOUT),
        }
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    if values.or_default(&SIGNAL).is_none() && !values.is_any_set(&[LINE.name(), HOOK.name()]) {
        let message = format!(
            "\"none\" and no {} or {}: nothing but Shutdown() tells the game to stop",
            LINE.name(),
            HOOK.name()
        );
        findings.warn(SIGNAL.name(), message);
    }
    words::warn(values, &HOOK, "hook", findings);
    if values.get(&HOOK).is_some() && values.or_default(&HOOK_TIMEOUT) > LONG_HOOK {
        let message = "may be too long: Kubernetes kills a Pod 30 s after the stop, Docker a container after 10 s, unless told otherwise";
        findings.warn(HOOK_TIMEOUT.name(), format!("{} {message}", values.quoted(HOOK_TIMEOUT.name())));
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = StopSettings::new(values);
    let line = settings.line.as_ref().map_or(String::new(), |line| format!("a line, {:?} later ", line.timeout));
    let signal = settings.signal.as_ref().map_or("no signal".into(), |signal| format!("{signal} ({})", signal.number));
    let scope = match settings.scope {
        StopScope::Group => "its process group",
        StopScope::Child => "the child alone",
    };
    let kill = settings.timeout.map_or("and never kills".into(), |time| format!("SIGKILL after {time:?}"));
    let hup = match settings.hup {
        Hup::Stop => "",
        Hup::Pass => "; passes SIGHUP on",
    };
    let codes = match settings.ok_codes.as_slice() {
        [] => String::new(),
        codes => format!("; its exit codes {codes:?} count as 0 then"),
    };
    vec![
        ("the wrapper stops the game with", format!("{line}{signal} to {scope}, {kill}{codes}{hup}")),
        ("stop hook", hook_fact(settings.hook.as_ref())),
    ]
}

/// A hook without its arguments, which may hold a password.
pub(super) fn hook_fact(hook: Option<&Hook>) -> String {
    let Some(hook) = hook else { return "none".into() };
    let arguments = match hook.argv.len() - 1 {
        0 => "no arguments".to_owned(),
        1 => "an argument".to_owned(),
        count => format!("{count} arguments"),
    };
    format!("\"{}\" with {arguments}, for at most {:?}", words::shown_program(&hook.argv), hook.timeout)
}
