//! Variables that look like settings and are none: misspelt ones, and those that Kubernetes injects.

use std::ffi::OsStr;

use super::read::Warning;
use super::row::{self, Row};
use super::suggest;
use crate::settings::SUBJECTS;
use crate::settings::text::plain::{is_digits, shown_name};

/// The beginning of all names that are ours.
const PREFIX: &str = "AGONES_SHIM_";

/// Somebody wants a shim in this environment.
pub(crate) fn is_ours(name: &str, value: &str) -> bool {
    name.starts_with(PREFIX) && !is_injected(name, value)
}

/// A variable that looks like a setting and is none.
pub(super) fn unknown(name: &OsStr, value: &OsStr) -> Option<Warning> {
    let name = name.to_string_lossy();
    let rest = name.strip_prefix(PREFIX)?;
    let is_given = SUBJECTS.iter().any(|subject| subject.given.contains(&name.as_ref()));
    if is_given || row::is_setting(&name) || is_injected(&name, &value.to_string_lossy()) {
        return None;
    }
    let message = format!("is not a setting ({})", meant(&name, rest));
    Some(Warning { variable: shown_name(&name), message })
}

/// What somebody who wrote this name will have meant. A number in it stays, if it is one of ours.
fn meant(name: &str, rest: &str) -> String {
    let near = |rest: &str| -> Option<&'static Row> {
        let known = || row::all();
        let near = suggest::nearest_name(rest, known().filter_map(|row| row.variable.strip_prefix(PREFIX)))?;
        known().find(|row| row.variable.strip_prefix(PREFIX) == Some(near))
    };
    let numbered = without_number(name).and_then(|(number, plain)| {
        let row = near(&plain[PREFIX.len()..])?;
        let series = row.series?;
        let number: usize = number.parse().unwrap_or(usize::MAX);
        Some(if number <= series.last {
            format!("did you mean {}?", row.variable_of(number))
        } else {
            format!("{} are numbered from 2 to {}", series.what, series.last)
        })
    });
    numbered.unwrap_or_else(|| match near(rest) {
        Some(row) => format!("did you mean {}?", row.variable),
        None => "--help lists them all".into(),
    })
}

/// A name that looks numbered, as its number and the name without.
fn without_number(variable: &str) -> Option<(&str, String)> {
    row::rows().filter_map(|setting| setting.row().series).find_map(|series| {
        let (number, rest) = variable.strip_prefix(series.prefix)?.split_once('_')?;
        is_digits(number).then(|| (number, format!("{}{rest}", series.prefix)))
    })
}

/// Kubernetes sets these in every Pod of a namespace that has a Service called
/// agones-shim, or agones-shim-SOMETHING: `..._SERVICE_HOST`,
/// `..._SERVICE_PORT[_NAME]`, `..._PORT`, `..._PORT_<n>_TCP[_PROTO|_PORT|_ADDR]`.
pub(crate) fn is_injected(name: &str, value: &str) -> bool {
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
