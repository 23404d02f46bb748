//! The page of `agones-shim check`: what follows from the settings, or every error in them.
//!
//! A pure function from an environment to text; the command prints it. Passwords are `***`.

use std::fmt::Write;

use super::read::{self, Mode, Rejected, Values, Variable};
use super::row::{self, Default, Row};
use crate::settings::SUBJECTS;
use crate::settings::text::plain::one_line;

/// What `check` has to say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// First what follows from the values together, then the warnings, then `NAME=value` and where it came from.
    pub text: String,
    /// Something works that will not have been meant.
    pub has_warnings: bool,
}

/// The page. `all` shows the settings that are not set too.
///
/// # Errors
///
/// Everything that is wrong with any setting, for every command.
pub(crate) fn page(environment: impl IntoIterator<Item = Variable>, all: bool) -> Result<Page, Rejected> {
    let (values, warnings) = read::whole(Mode::Check, environment)?;
    let mut text = String::new();
    for (name, fact) in SUBJECTS.iter().flat_map(|subject| (subject.facts)(&values)) {
        let _ = writeln!(text, "{name}: {fact}");
    }
    text.push('\n');
    for warning in &warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if !warnings.is_empty() {
        text.push('\n');
    }
    let mut left_out = 0;
    for (setting, number) in row::variables() {
        let row = setting.row();
        let variable = row.variable_of(number);
        // Of those that may follow the first of a series, the ones that there are.
        if number > 1
            && !row::variables().any(|(other, of)| of == number && values.is_set(&other.row().variable_of(of)))
        {
            continue;
        }
        match values.shown(&variable) {
            Some(shown) => {
                let source = values.source(&variable).unwrap_or("set");
                let _ = writeln!(text, "{variable}={} ({source})", one_line(shown));
            }
            None if all => text += &format!("{variable}={}\n", default(row, &values)),
            None => left_out += 1,
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "and {left_out} settings that are not set (agones-shim check --all shows them)");
    }
    Ok(Page { text, has_warnings: !warnings.is_empty() })
}

fn default(row: &Row, values: &Values) -> String {
    let is_replaced = || {
        let same = row::all().filter(|other| other.default == row.default);
        same.into_iter().any(|other| values.is_set(other.variable))
    };
    match row.default {
        Default::Text(default) => format!("{default} (default)"),
        Default::Words(default) => format!(" (default: {default})"),
        Default::Shared(default) if !is_replaced() => format!(" (default: {default})"),
        Default::Shared(_) | Default::Nothing => " (unset)".into(),
    }
}
