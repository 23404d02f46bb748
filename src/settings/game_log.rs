//! Where the game writes its lines: to its output, or to a file that is read in place of it, for readiness and for counting.

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Setting, Subject};
use super::text::plain::{path, switch};
use super::{counter, readiness};

pub(super) static FILE: Setting<String> = Setting::one("AGONES_SHIM_GAME_LOG_FILE", "PATH", path)
    .help("File that the game logs to, read in place of its stdout and stderr; it may come late, be rotated or truncated. What is in it when a wrapper starts is passed over")
    .formerly("AGONES_SHIM_READY_LOG_FILE");

static RELAY: Setting<bool> = Setting::one("AGONES_SHIM_GAME_LOG_RELAY", "SWITCH", switch)
    .help("`1` writes the lines of that file to stdout too")
    .default("0");

pub(super) static SUBJECT: Subject =
    Subject { heading: "The game's log", rows: &[&FILE, &RELAY], given: &[], check, facts };

/// The file that the game logs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GameLogSettings {
    /// Where it is; `None` is the child's stdout and stderr.
    pub file: Option<String>,
    /// Its lines go to stdout too.
    pub relay: bool,
}

impl GameLogSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self { file: values.get(&FILE), relay: values.or_default(&RELAY) }
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    let settings = GameLogSettings::new(values);
    let is_file_set = values.is_set(FILE.name());
    if settings.relay && !is_file_set {
        findings.error(RELAY.name(), format!("\"1\" needs a file to pass on (set {})", FILE.name()));
    }
    if is_file_set && !settings.relay && !readiness::is_line_set(values) && !counter::is_any_line_set(values) {
        let message = format!(
            "is set, but nothing is looked for in it (set {} or a COUNTER_LOG, or {}=1)",
            readiness::TEXT.name(),
            RELAY.name()
        );
        findings.error(FILE.name(), message);
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let GameLogSettings { file, relay } = GameLogSettings::new(values);
    let relayed = if relay { ", passed on to stdout" } else { "" };
    file.map(|file| ("the game's log", format!("{file}{relayed}"))).into_iter().collect()
}
