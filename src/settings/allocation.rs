//! What follows from an allocation, or from none: the hook, players that allocate, idle servers, age.

use std::time::Duration;

use super::counter;
use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Setting, Shown, Subject};
use super::sdk::warn_if_off;
use super::stop::{Hook, hook_fact};
use super::text::plain::{seconds, seconds_or_zero, switch, unless_zero};
use super::text::words::{self, Words};

static HOOK: Setting<Words> = Setting::one("AGONES_SHIM_ALLOCATED_HOOK", "COMMAND", words::split)
    .help("Program run once for each allocation, with `AGONES_GAMESERVER_*` in its environment; written like `AGONES_SHIM_STOP_HOOK`")
    .shown(Shown::Command);

static HOOK_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Time that this hook may take")
    .default("5");

static ON_PLAYERS: Setting<bool> = Setting::one("AGONES_SHIM_ALLOCATE_ON_PLAYERS", "SWITCH", switch)
    .help("`1` calls Allocate() once the server is Ready and the Counter read above 0, so that no Fleet removes it with its players")
    .default("0");

static EMPTY_READY: Setting<Duration> = Setting::one("AGONES_SHIM_EMPTY_READY_SECS", "SECONDS", seconds_or_zero)
    .help("Ready() again once a server that players allocated was read as empty, three times or more, for so long; never on another's allocation; 0 is never")
    .default("0");

static IDLE_SHUTDOWN: Setting<Duration> = Setting::one("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "SECONDS", seconds_or_zero)
    .help("Shutdown() once Allocated and empty for this long, by at least three readings of the Counter; 0 is never")
    .default("0")
    .common("Shutdown() once Allocated and empty for so long");

static MAX_AGE: Setting<Duration> = Setting::one("AGONES_SHIM_MAX_AGE_SECS", "SECONDS", seconds_or_zero)
    .help("Shutdown() once Ready and not allocated for this long, varied by a tenth at random; 0 is never")
    .default("0");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Allocation, idle servers, age",
    rows: &[&HOOK, &HOOK_TIMEOUT, &ON_PLAYERS, &EMPTY_READY, &IDLE_SHUTDOWN, &MAX_AGE],
    given: &[],
    check,
    facts,
};

/// What follows from an allocation, or from none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AllocationSettings {
    /// Program run when the GameServer is allocated, if any.
    pub hook: Option<Hook>,
    /// Allocate() once Ready with players on.
    pub on_players: bool,
    /// How long the shim's own allocation is empty before Ready(); `None` is never.
    pub empty_ready: Option<Duration>,
    /// How long it is Allocated and empty before Shutdown(); `None` is never.
    pub idle_shutdown: Option<Duration>,
    /// How long it is Ready and not allocated before Shutdown(); `None` is never.
    pub max_age: Option<Duration>,
}

impl AllocationSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            hook: Hook::new(values, &HOOK, &HOOK_TIMEOUT),
            on_players: values.or_default(&ON_PLAYERS),
            empty_ready: unless_zero(values.or_default(&EMPTY_READY)),
            idle_shutdown: unless_zero(values.or_default(&IDLE_SHUTDOWN)),
            max_age: unless_zero(values.or_default(&MAX_AGE)),
        }
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    words::warn(values, &HOOK, "hook", findings);
    warn_if_off(
        values,
        &[HOOK.name(), ON_PLAYERS.name(), EMPTY_READY.name(), IDLE_SHUTDOWN.name(), MAX_AGE.name()],
        findings,
    );
    let settings = AllocationSettings::new(values);
    // Who is there is read from a Counter's source, whichever Counter that is.
    let is_counted = counter::is_any_source_set(values);
    let needing = [
        (settings.idle_shutdown.is_some(), IDLE_SHUTDOWN.name(), "that nobody is there"),
        (settings.on_players, ON_PLAYERS.name(), "that players are on"),
        (settings.empty_ready.is_some(), EMPTY_READY.name(), "that nobody is there"),
    ];
    for (_, name, what) in needing.into_iter().filter(|(is_set, ..)| *is_set && !is_counted) {
        let value = values.quoted(name);
        findings.error(name, format!("{value} needs a Counter to tell {what} (set {})", counter::NAME.name()));
    }
    if settings.empty_ready.is_none() {
        return;
    }
    let value = values.quoted(EMPTY_READY.name());
    if !settings.on_players {
        let message =
            format!("{value} gives back what players have allocated, and nothing else (set {}=1)", ON_PLAYERS.name());
        findings.error(EMPTY_READY.name(), message);
    }
    if settings.idle_shutdown.is_some() {
        let message = format!(
            "{value} makes an empty server Ready again, and {} shuts it down: set one of them",
            IDLE_SHUTDOWN.name()
        );
        findings.error(EMPTY_READY.name(), message);
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = AllocationSettings::new(values);
    let after =
        |time: Option<Duration>, more: &str| time.map_or("never".into(), |time| format!("after {time:?}{more}"));
    vec![
        ("hook at each allocation", hook_fact(settings.hook.as_ref())),
        ("Allocate() of a server that is Ready with players on", if settings.on_players { "yes" } else { "no" }.into()),
        ("Ready() of a server that players allocated and left", after(settings.empty_ready, "")),
        ("Shutdown() of a server that is Allocated and empty", after(settings.idle_shutdown, "")),
        (
            "Shutdown() of a server that is Ready and not allocated",
            after(settings.max_age, ", a tenth more or less by chance"),
        ),
    ]
}
