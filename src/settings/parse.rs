//! An environment in, settings or all errors out.
//!
//! One function a command, so that none asks for what it does not use: a
//! setting that the command does not read is no error to it. The environment is
//! passed in; the only reader of the process's own is main.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use super::draft::Draft;
use super::table::{self, Default, Reader, Setting};
use super::values::quote;
use super::{LogSettings, ProbeSettings, SdkSettings, Settings, StatusSettings, counter, filter, judge};

/// What a variable's value is wrong about. Shown as `VARIABLE: "value" is not ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The variable.
    pub variable: String,
    /// Value, what is wrong with it, and what is allowed.
    pub message: String,
}

/// What works, but will not have been meant. Shown like an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The variable.
    pub variable: String,
    /// Value and what it leads to.
    pub message: String,
}

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// All of them, in the table's order; never empty.
    pub errors: Vec<Error>,
    /// A misspelt name is often what an error comes from.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.message)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.message)
    }
}

/// One line each: the errors, then the warnings marked as such.
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.errors.iter().map(Error::to_string);
        let warnings = self.warnings.iter().map(|warning| format!("warning: {warning}"));
        let lines: Vec<String> = errors.chain(warnings).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Rejected {}

/// What a command gets: its settings and the warnings, or everything wrong.
pub type Parsed<T> = Result<(T, Vec<Warning>), Rejected>;

/// A name and a value; neither needs to be UTF-8.
pub type Variable = (OsString, OsString);

/// For the sidecar.
///
/// # Errors
///
/// Every wrong variable that a sidecar reads, and a missing readiness probe.
pub fn sidecar(environment: impl IntoIterator<Item = Variable>) -> Parsed<Settings> {
    Reading::of(Reader::Sidecar, environment).finish(Draft::settings)
}

/// For the wrapper.
///
/// # Errors
///
/// Every wrong variable that the wrapper reads, and a missing readiness probe.
pub fn wrapper(environment: impl IntoIterator<Item = Variable>) -> Parsed<Settings> {
    Reading::of(Reader::Wrapper, environment).finish(Draft::settings)
}

/// For `agones-shim probe`.
///
/// # Errors
///
/// Every wrong variable that it reads, and the lack of any probe.
pub fn probe(environment: impl IntoIterator<Item = Variable>) -> Parsed<ProbeSettings> {
    Reading::of(Reader::Probe, environment).finish(Draft::probe)
}

/// For `agones-shim sdk`.
///
/// # Errors
///
/// Every wrong variable that it reads.
pub fn sdk(environment: impl IntoIterator<Item = Variable>) -> Parsed<SdkSettings> {
    Reading::of(Reader::Sdk, environment).finish(Draft::sdk_call)
}

/// For `agones-shim local-sdk`, whose own options are arguments.
///
/// # Errors
///
/// Every wrong variable that it reads.
pub fn local_sdk(environment: impl IntoIterator<Item = Variable>) -> Parsed<LogSettings> {
    Reading::of(Reader::LocalSdk, environment).finish(Draft::log)
}

/// For `agones-shim status`.
///
/// # Errors
///
/// Every wrong variable that it reads.
pub fn status(environment: impl IntoIterator<Item = Variable>) -> Parsed<StatusSettings> {
    Reading::of(Reader::Status, environment).finish(Draft::status)
}

/// What came out of an environment, before it is known to be good.
pub(super) struct Reading {
    pub draft: Draft,
    /// The values that are set, as they may be shown.
    pub shown: BTreeMap<Cow<'static, str>, String>,
    /// `RUST_LOG` decides what is logged.
    pub is_rust_log: bool,
    pub errors: Vec<Error>,
    pub warnings: Vec<Warning>,
}

impl Reading {
    pub fn of(reader: Reader, environment: impl IntoIterator<Item = Variable>) -> Self {
        let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
        for (name, value) in environment {
            // An empty variable counts as unset. Of two with one name the first
            // counts, as for getenv(3).
            if !value.is_empty() {
                variables.entry(name).or_insert(value);
            }
        }
        let mut reading = Self {
            draft: Draft::default(),
            shown: BTreeMap::new(),
            is_rust_log: false,
            errors: Vec::new(),
            warnings: Vec::new(),
        };
        for (setting, number) in counter::variables() {
            let variable = setting.variable_of(number);
            if let Default::Text(text) = setting.default {
                let parsed = (setting.parse)(reading.draft.of_mut(number), text);
                debug_assert_eq!(parsed, Ok(()), "the default of {variable}");
            }
            match variables.get(OsStr::new(&*variable)) {
                Some(value) if reader.reads(setting) => reading.read(setting, number, value),
                // A value that somebody cares about, though this mode does not.
                Some(value) if reader == Reader::Sidecar => reading.pass_over(setting, value),
                _ => {}
            }
        }
        // Every command logs.
        reading.read_rust_log(variables.get(OsStr::new("RUST_LOG")));
        let (errors, warnings) = judge::together(reader, &reading);
        reading.errors.extend(errors);
        reading.warnings.extend(warnings);
        let row = |error: &Error| {
            counter::variables().position(|(setting, number)| setting.variable_of(number) == error.variable)
        };
        reading.errors.sort_by_cached_key(row);
        // Commands that a kubelet or a hook runs every few seconds would say it
        // every few seconds.
        if reader.is_shim() {
            reading.warnings.extend(variables.iter().filter_map(|(name, value)| judge::unknown(name, value)));
        }
        reading
    }

    fn read(&mut self, setting: &'static Setting, number: usize, value: &OsStr) {
        let variable = setting.variable_of(number);
        let wrong = parsed(setting, self.draft.of_mut(number), value);
        let errors = wrong.into_iter().map(|message| Error { variable: variable.clone().into(), message });
        self.errors.extend(errors);
        self.shown.insert(variable, setting.shown(&value.to_string_lossy()));
    }

    /// Warns where the wrapper would not take the value.
    fn pass_over(&mut self, setting: &'static Setting, value: &OsStr) {
        let wrong = parsed(setting, &mut Draft::default(), value);
        self.warnings.extend(wrong.into_iter().map(|message| Warning {
            variable: setting.variable.into(),
            message: format!("{message}; a sidecar does not read it"),
        }));
    }

    /// `RUST_LOG` may be meant for the game, in a syntax of its own: what
    /// cannot be read in it is no reason not to start.
    fn read_rust_log(&mut self, value: Option<&OsString>) {
        let Some(value) = value.filter(|_| !self.is_set(table::LOG)) else { return };
        let text = value.to_string_lossy();
        match value.to_str().ok_or_else(|| "is not UTF-8 text".into()).and_then(filter::checked) {
            Ok(filter) => {
                self.draft.log = Some(filter);
                self.is_rust_log = true;
                self.shown.insert(table::LOG.into(), text.into_owned());
            }
            Err(wrong) => {
                let message = format!("{} {wrong}; it is ignored", quote(&text));
                self.warnings.push(Warning { variable: "RUST_LOG".into(), message });
            }
        }
    }

    pub fn is_set(&self, variable: &str) -> bool {
        self.shown.contains_key(variable)
    }

    pub fn finish<T>(self, settings: fn(&Draft) -> Option<T>) -> Parsed<T> {
        if !self.errors.is_empty() {
            return Err(Rejected { errors: self.errors, warnings: self.warnings });
        }
        let settings = settings(&self.draft).expect("each row with a default has left a value: tested over the table");
        Ok((settings, self.warnings))
    }
}

/// Everything that is wrong with a value.
fn parsed(setting: &Setting, draft: &mut Draft, value: &OsStr) -> Vec<String> {
    match value.to_str() {
        Some(text) => (setting.parse)(draft, text).err().unwrap_or_default(),
        None => vec![format!("{} is not UTF-8 text", quote(&setting.shown(&value.to_string_lossy())))],
    }
}

#[cfg(test)]
mod tests;
