//! What no value alone can be wrong about: settings that need each other, values
//! that work and will not have been meant, names that are none of ours.
//!
//! Speaks about an environment that `parse.rs` has read; changes nothing.

use std::ffi::OsStr;
use std::time::Duration;

use super::parse::{Error, Reading, Warning};
use super::table::{self, Reader, SETTINGS};
use super::values::{is_digits, quote, shown_name};
use super::{SdkMode, StatusAddr, counter, suggest};

/// Taken in every game server Pod by Agones' SDK server (AGONES.md section 1).
const TAKEN_PORTS: [u16; 3] = [9357, 9358, 8080];

/// Kubernetes gives a Pod 30 s to end, Docker a container 10 s: a hook longer
/// than this leaves the game no time to save.
const LONG_HOOK: Duration = Duration::from_secs(20);

/// Probes that tell whether the game server began, and not whether it lives now.
const BEGINNINGS: [&str; 2] = [table::READY_LOG, table::READY_FILE];

/// The variables of the probes that tell whether it lives.
fn living() -> impl Iterator<Item = &'static str> {
    table::READINESS.into_iter().filter(|variable| !BEGINNINGS.contains(variable)).chain(table::LIVENESS)
}

/// The beginning of all names that are ours.
const PREFIX: &str = "AGONES_SHIM_";

/// Set by the shim itself in the environment of its hooks, or read by `agones-shim rcon` there.
const OWN: [&str; 4] =
    ["AGONES_SHIM_STOP_REASON", "AGONES_SHIM_CHILD_PID", "AGONES_SHIM_RCON_PASSWORD", "AGONES_SHIM_RCON_PASSWORD_FILE"];

/// Everything about the settings together.
pub(super) fn together(reader: Reader, reading: &Reading) -> (Vec<Error>, Vec<Warning>) {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    errors.extend(no_probe(reader, reading));
    if reader.is_shim() {
        errors.extend(counter::together(reading));
        errors.extend(idle_without_counter(reading));
        errors.extend(log_without_line(reading));
        if reader == Reader::Sidecar {
            errors.extend(unreadable_log(reading));
            errors.extend(lifeless(reading));
        }
        warnings.extend(any_line(reading));
        warnings.extend(without_shell(reading));
        warnings.extend(nobody_to_tell(reading));
        warnings.extend(long_hook(reading));
        warnings.extend(taken_port(reading));
    }
    (errors, warnings)
}

fn no_probe(reader: Reader, reading: &Reading) -> Option<Error> {
    let is_any_set = |variables: &[&str]| variables.iter().any(|variable| reading.is_set(variable));
    let has_readiness = is_any_set(&table::READINESS);
    if reader.is_shim() && !has_readiness {
        let also = table::READINESS[1..].join(" or ");
        return Some(error(
            table::READY_TCP,
            format!("is not set, nor is {also}: at least one readiness probe is required (write the game's port)"),
        ));
    }
    if reader == Reader::Probe && !living().any(|variable| reading.is_set(variable)) {
        return Some(error(
            table::LIVE_TCP,
            "is not set, nor is any other probe: there is nothing to probe (write the game's port)".into(),
        ));
    }
    None
}

fn log_without_line(reading: &Reading) -> Vec<Error> {
    if reading.is_set(table::READY_LOG) {
        return Vec::new();
    }
    let set = [table::READY_LOG_COUNT, table::READY_LOG_FILE].into_iter().filter(|variable| reading.is_set(variable));
    let message = format!("is set, but {} is not: there is no line to wait for (set it too)", table::READY_LOG);
    set.map(|variable| error(variable, message.clone())).collect()
}

fn unreadable_log(reading: &Reading) -> Option<Error> {
    let is_unreadable = reading.draft.ready_log.is_some() && !reading.is_set(table::READY_LOG_FILE);
    let message = format!(
        "is set, but {} is not: a sidecar cannot read what the game writes to its stdout (write the path of its log)",
        table::READY_LOG_FILE
    );
    is_unreadable.then(|| error(table::READY_LOG, message))
}

/// Nothing would ever notice that the game has died.
fn lifeless(reading: &Reading) -> Option<Error> {
    let draft = &reading.draft;
    let only = [(draft.ready_log.is_some(), table::READY_LOG), (draft.ready_file.is_some(), table::READY_FILE)];
    let (_, only) = only.into_iter().find(|(is_good, _)| *is_good)?;
    let message = "tells that the game server has begun and nothing of its end, so that a sidecar would beat for a \
                   dead game: set a liveness probe too (AGONES_SHIM_LIVE_TCP, AGONES_SHIM_LIVE_EXEC, ...)";
    let is_lifeless = !living().any(|variable| reading.is_set(variable));
    is_lifeless.then(|| error(only, message.into()))
}

fn any_line(reading: &Reading) -> Option<Warning> {
    reading.draft.ready_log.as_ref().filter(|pattern| pattern.is_match(b""))?;
    let shown = quote(reading.shown.get(table::READY_LOG)?);
    let message = format!("{shown} matches every line, the first one too (write what only that line has)");
    Some(warning(table::READY_LOG, message))
}

fn without_shell(reading: &Reading) -> Vec<Warning> {
    let draft = &reading.draft;
    let commands = [
        (table::READY_EXEC, &draft.ready_exec, "program"),
        (table::LIVE_EXEC, &draft.live_exec, "program"),
        (table::ALLOCATED_HOOK, &draft.allocated_hook, "hook"),
        (table::STOP_HOOK, &draft.stop_hook, "hook"),
    ];
    let shells = commands.into_iter().filter_map(|(variable, words, what)| {
        let c = words.as_ref()?.shell?;
        let message = format!(
            "{c} is passed on as it stands, since no shell runs the {what} (put it in quotes, or write sh -c '...')"
        );
        Some(warning(variable, message))
    });
    shells.collect()
}

/// Emptiness is read from the Counter's source.
fn idle_without_counter(reading: &Reading) -> Option<Error> {
    reading.draft.idle_shutdown.filter(|time| !time.is_zero())?;
    let shown = quote(reading.shown.get(table::IDLE_SHUTDOWN)?);
    let sources = [counter::METRICS_URL, counter::QUERY];
    (!sources.iter().any(|variable| reading.is_set(variable))).then(|| {
        error(
            table::IDLE_SHUTDOWN,
            format!("{shown} needs a Counter to tell that nobody is there (set {})", counter::NAME),
        )
    })
}

/// What concerns Agones alone, with Agones switched off.
fn nobody_to_tell(reading: &Reading) -> Vec<Warning> {
    let off = reading.draft.sdk == Some(SdkMode::Off);
    let variables = [table::LABELS, table::ANNOTATIONS, table::ALLOCATED_HOOK, table::IDLE_SHUTDOWN, table::MAX_AGE];
    let set = variables.into_iter().filter(|variable| off && reading.is_set(variable));
    set.map(|variable| warning(variable, "has no effect with AGONES_SHIM_SDK=off".into())).collect()
}

fn long_hook(reading: &Reading) -> Option<Warning> {
    reading.draft.stop_hook.as_ref()?;
    reading.draft.stop_hook_timeout.filter(|&timeout| timeout > LONG_HOOK)?;
    let shown = quote(reading.shown.get(table::STOP_HOOK_TIMEOUT)?);
    let message = format!(
        "{shown} may be too long: Kubernetes kills a Pod 30 s after the stop, Docker a container after 10 s, unless told otherwise"
    );
    Some(warning(table::STOP_HOOK_TIMEOUT, message))
}

fn taken_port(reading: &Reading) -> Option<Warning> {
    let (StatusAddr::AllAddresses(port) | StatusAddr::Host(_, port)) = reading.draft.status_addr.as_ref()?;
    if !TAKEN_PORTS.contains(&port.get()) {
        return None;
    }
    let shown = quote(reading.shown.get(table::STATUS_ADDR)?);
    let message =
        format!("{shown} cannot work in a game server's Pod: Agones' SDK server listens on {port} there (write 9360)");
    Some(warning(table::STATUS_ADDR, message))
}

fn error(variable: &str, message: String) -> Error {
    Error { variable: variable.into(), message }
}

fn warning(variable: &str, message: String) -> Warning {
    Warning { variable: variable.into(), message }
}

/// A variable that looks like a setting and is none.
pub(super) fn unknown(name: &OsStr, value: &OsStr) -> Option<Warning> {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix(PREFIX)?;
    let is_known = table::is_setting(&name) || OWN.contains(&name.as_ref());
    if is_known || is_injected(&name, &value.to_string_lossy()) {
        return None;
    }
    Some(warning(&shown_name(&name), format!("is not a setting ({})", meant(&name, rest))))
}

/// What somebody who wrote this name will have meant. A number in it stays, if it is one of ours.
fn meant(name: &str, rest: &str) -> String {
    let near = |rest: &str| {
        let known = SETTINGS.iter().filter_map(|setting| setting.variable.strip_prefix(PREFIX));
        suggest::nearest(rest, known).and_then(|near| SETTINGS.iter().find(|row| row.variable[PREFIX.len()..] == *near))
    };
    let numbered = counter::without_number(name).and_then(|(number, plain)| {
        let setting = near(&plain[PREFIX.len()..]).filter(|setting| setting.is_numbered())?;
        let number: usize = number.parse().unwrap_or(usize::MAX);
        Some(match number {
            0..=counter::COUNTERS => format!("did you mean {}?", setting.variable_of(number)),
            _ => format!("Counters are numbered from 2 to {}", counter::COUNTERS),
        })
    });
    numbered.unwrap_or_else(|| match near(rest) {
        Some(setting) => format!("did you mean {}?", setting.variable),
        None => "--help lists them all".into(),
    })
}

/// Kubernetes sets these in every Pod of a namespace that has a Service called
/// agones-shim, or agones-shim-SOMETHING: `..._SERVICE_HOST`,
/// `..._SERVICE_PORT[_NAME]`, `..._PORT`, `..._PORT_<n>_TCP[_PROTO|_PORT|_ADDR]`.
pub(super) fn is_injected(name: &str, value: &str) -> bool {
    let Some(rest) = name.strip_prefix("AGONES_SHIM") else { return false };
    // Where the Service's own name is longer, `..._PORT` could also be somebody's
    // idea of a setting: only the value tells.
    let is_address = || ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    rest == "_PORT"
        || rest.ends_with("_SERVICE_HOST")
        || rest.ends_with("_SERVICE_PORT")
        || rest.contains("_SERVICE_PORT_")
        || is_injected_port(rest)
        || (rest.ends_with("_PORT") && is_address())
}

/// `..._PORT_<n>_TCP` and the three that are made from it.
fn is_injected_port(rest: &str) -> bool {
    rest.match_indices("_PORT_").any(|(at, mark)| {
        let mut parts = rest[at + mark.len()..].split('_');
        parts.next().is_some_and(is_digits)
            && matches!(parts.next(), Some("TCP" | "UDP" | "SCTP"))
            && matches!(parts.next(), None | Some("PROTO" | "PORT" | "ADDR"))
            && parts.next().is_none()
    })
}
