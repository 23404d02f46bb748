//! What no value alone can be wrong about: settings that need each other, values
//! that work and will not have been meant, names that are none of ours.
//!
//! Speaks about an environment that `parse.rs` has read; changes nothing.

use std::ffi::OsStr;
use std::time::Duration;

use super::parse::{Error, Reading, Warning};
use super::suggest;
use super::table::{self, COUNTER, Reader, SETTINGS};
use super::values::{is_digits, quote, shown_name};
use super::{SdkMode, StatusAddr};

/// Taken in every game server Pod by Agones' SDK server (AGONES.md section 1).
const TAKEN_PORTS: [u16; 3] = [9357, 9358, 8080];

/// Kubernetes gives a Pod 30 s to end, Docker a container 10 s: a hook longer
/// than this leaves the game no time to save.
const LONG_HOOK: Duration = Duration::from_secs(20);

/// The beginning of all names that are ours.
const PREFIX: &str = "AGONES_SHIM_";

/// Set by the shim itself in the environment of its hooks.
const OWN: [&str; 2] = ["AGONES_SHIM_STOP_REASON", "AGONES_SHIM_CHILD_PID"];

/// Everything about the settings together.
pub(super) fn together(reader: Reader, reading: &Reading) -> (Vec<Error>, Vec<Warning>) {
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    errors.extend(no_probe(reader, reading));
    if reader.is_shim() {
        errors.extend(half_a_counter(reading));
        errors.extend(idle_without_counter(reading));
        warnings.extend(hook_without_shell(reading));
        warnings.extend(nobody_to_tell(reading));
        warnings.extend(long_hook(reading));
        warnings.extend(taken_port(reading));
    }
    (errors, warnings)
}

fn no_probe(reader: Reader, reading: &Reading) -> Option<Error> {
    let has_readiness = reading.is_set(table::READY_TCP) || reading.is_set(table::READY_HTTP);
    let has_liveness = reading.is_set(table::LIVE_TCP) || reading.is_set(table::LIVE_HTTP);
    if reader.is_shim() && !has_readiness {
        let also = table::READY_HTTP;
        return Some(error(
            table::READY_TCP,
            format!("is not set, nor is {also}: at least one readiness probe is required (write the game's port)"),
        ));
    }
    if reader == Reader::Probe && !has_readiness && !has_liveness {
        return Some(error(
            table::LIVE_TCP,
            "is not set, nor is any other probe: there is nothing to probe (write the game's port)".into(),
        ));
    }
    None
}

fn half_a_counter(reading: &Reading) -> Vec<Error> {
    let (set, missing): (Vec<&str>, Vec<&str>) = COUNTER.into_iter().partition(|variable| reading.is_set(variable));
    if set.is_empty() {
        return Vec::new();
    }
    let are = if set.len() == 1 { "is" } else { "are" };
    let message = format!("is not set, but {} {are} (set all three for a Counter, or none)", set.join(" and "));
    missing.into_iter().map(|variable| error(variable, message.clone())).collect()
}

/// Emptiness is read from the Counter's source.
fn idle_without_counter(reading: &Reading) -> Option<Error> {
    reading.draft.idle_shutdown.filter(|time| !time.is_zero())?;
    let shown = quote(reading.shown.get(table::IDLE_SHUTDOWN)?);
    (!COUNTER.iter().any(|variable| reading.is_set(variable))).then(|| {
        error(
            table::IDLE_SHUTDOWN,
            format!("{shown} needs a Counter to tell that nobody is there (set {})", COUNTER[0]),
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

fn hook_without_shell(reading: &Reading) -> Vec<Warning> {
    let hooks = [(table::ALLOCATED_HOOK, &reading.draft.allocated_hook), (table::STOP_HOOK, &reading.draft.stop_hook)];
    let operators = hooks.into_iter().filter_map(|(variable, hook)| Some((variable, hook.as_ref()?.shell?)));
    operators
        .map(|(variable, c)| {
            let message = format!(
                "{c} is passed on as it stands, since no shell runs the hook (put it in quotes, or write sh -c '...')"
            );
            warning(variable, message)
        })
        .collect()
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
    let is_known = SETTINGS.iter().any(|setting| setting.variable == name) || OWN.contains(&name.as_ref());
    if is_known || is_injected(&name, &value.to_string_lossy()) {
        return None;
    }
    let known = SETTINGS.iter().filter_map(|setting| setting.variable.strip_prefix(PREFIX));
    let message = match suggest::nearest(rest, known) {
        Some(near) => format!("is not a setting (did you mean {PREFIX}{near}?)"),
        None => "is not a setting (--help lists them all)".into(),
    };
    Some(warning(&shown_name(&name), message))
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
