//! What follows from an allocation, or from none: the hook, idle servers, age.

use std::time::Duration;

use super::counter;
use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Setting, Shown, Subject};
use super::sdk::warn_if_off;
use super::stop::{Hook, hook_fact};
use super::text::plain::{seconds, seconds_or_zero, unless_zero};
use super::text::words::{self, Words};

static HOOK: Setting<Words> = Setting::one("AGONES_SHIM_ALLOCATED_HOOK", "COMMAND", words::split)
    .help("Program run once for each allocation, with `AGONES_GAMESERVER_*` in its environment; written like `AGONES_SHIM_STOP_HOOK`")
    .shown(Shown::Command);

static HOOK_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Time that this hook may take")
    .default("5");

static IDLE_SHUTDOWN: Setting<Duration> = Setting::one("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "SECONDS", seconds_or_zero)
    .help("Shutdown() once Allocated and empty for this long, by at least three readings of the Counter; 0 is never")
    .default("0")
    .common();

static MAX_AGE: Setting<Duration> = Setting::one("AGONES_SHIM_MAX_AGE_SECS", "SECONDS", seconds_or_zero)
    .help("Shutdown() once Ready and not allocated for this long, varied by a tenth at random; 0 is never")
    .default("0");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Allocation, idle servers, age",
    rows: &[&HOOK, &HOOK_TIMEOUT, &IDLE_SHUTDOWN, &MAX_AGE],
    given: &[],
    check,
    facts,
};

/// What follows from an allocation, or from none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AllocationSettings {
    /// Program run when the GameServer is allocated, if any.
    pub hook: Option<Hook>,
    /// Shutdown() once Allocated and empty for so long; `None` is never.
    pub idle_shutdown: Option<Duration>,
    /// Shutdown() once Ready and not allocated for so long; `None` is never.
    pub max_age: Option<Duration>,
}

impl AllocationSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            hook: Hook::new(values, &HOOK, &HOOK_TIMEOUT),
            idle_shutdown: unless_zero(values.or_default(&IDLE_SHUTDOWN)),
            max_age: unless_zero(values.or_default(&MAX_AGE)),
        }
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    words::warn(values, &HOOK, "hook", findings);
    warn_if_off(values, &[HOOK.name(), IDLE_SHUTDOWN.name(), MAX_AGE.name()], findings);
    // Emptiness is read from a Counter's source, whichever Counter that is.
    if AllocationSettings::new(values).idle_shutdown.is_some() && !counter::is_any_source_set(values) {
        findings.error(
            IDLE_SHUTDOWN.name(),
            format!(
                "{} needs a Counter to tell that nobody is there (set {})",
                values.quoted(IDLE_SHUTDOWN.name()),
                counter::NAME.name()
            ),
        );
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = AllocationSettings::new(values);
    let after =
        |time: Option<Duration>, more: &str| time.map_or("never".into(), |time| format!("after {time:?}{more}"));
    vec![
        ("hook at each allocation", hook_fact(settings.hook.as_ref())),
        ("Shutdown() of a server that is Allocated and empty", after(settings.idle_shutdown, "")),
        (
            "Shutdown() of a server that is Ready and not allocated",
            after(settings.max_age, ", a tenth more or less by chance"),
        ),
    ]
}
