//! An environment in, settings or all errors out.
//!
//! One function a command, so that none asks for what it does not use: a
//! setting that the command does not read is no error to it. The environment is
//! passed in; the only reader of the process's own is main.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::time::Duration;

use super::draft::Draft;
use super::table::{self, COUNTER, Default, Reader, SETTINGS, Setting};
use super::values::quote;
use super::{LogSettings, ProbeSettings, SdkSettings, Settings, StatusAddr, StatusSettings, filter, suggest};

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

/// Taken in every game server Pod by Agones' SDK server (AGONES.md section 1).
const TAKEN_PORTS: [u16; 3] = [9357, 9358, 8080];

/// Kubernetes gives a Pod 30 s to end, Docker a container 10 s: a hook longer
/// than this leaves the game no time to save.
const LONG_HOOK: Duration = Duration::from_secs(20);

/// What came out of an environment, before it is known to be good.
pub(super) struct Reading {
    pub draft: Draft,
    /// The values that are set, as they may be shown.
    pub shown: BTreeMap<&'static str, String>,
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
        for setting in SETTINGS {
            if let Default::Text(text) = setting.default {
                // Cannot fail: a test over the table proves each default good.
                let _ = (setting.parse)(&mut reading.draft, text);
            }
            let value = variables.get(OsStr::new(setting.variable)).filter(|_| reader.reads(setting));
            if let Some(value) = value {
                reading.read(setting, value);
            }
        }
        if reader == Reader::Check || SETTINGS.iter().any(|row| row.variable == table::LOG && reader.reads(row)) {
            reading.read_rust_log(variables.get(OsStr::new("RUST_LOG")));
        }
        reading.judge_together(reader);
        // Commands that a kubelet or a hook runs every few seconds would say it
        // every few seconds.
        if matches!(reader, Reader::Sidecar | Reader::Wrapper | Reader::Check) {
            reading.warnings.extend(variables.iter().filter_map(|(name, value)| unknown(name, value)));
        }
        reading
    }

    fn read(&mut self, setting: &'static Setting, value: &OsStr) {
        let variable = setting.variable;
        let shown = setting.shown(&value.to_string_lossy());
        let wrong = match value.to_str() {
            Some(text) => (setting.parse)(&mut self.draft, text).err().unwrap_or_default(),
            None => vec![format!("{} is not UTF-8 text", quote(&shown))],
        };
        self.shown.insert(variable, shown);
        self.errors.extend(wrong.into_iter().map(|message| Error { variable: variable.into(), message }));
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
                self.shown.insert(table::LOG, text.into_owned());
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

    fn error(&mut self, variable: &str, message: String) {
        self.errors.push(Error { variable: variable.into(), message });
    }

    fn warn(&mut self, variable: &str, message: String) {
        self.warnings.push(Warning { variable: variable.into(), message });
    }

    /// What no value alone can be wrong about.
    fn judge_together(&mut self, reader: Reader) {
        let is_shim = matches!(reader, Reader::Sidecar | Reader::Wrapper | Reader::Check);
        let has_readiness = self.is_set(table::READY_TCP) || self.is_set(table::READY_HTTP);
        let has_liveness = has_readiness || self.is_set(table::LIVE_TCP) || self.is_set(table::LIVE_HTTP);
        if is_shim && !has_readiness {
            let also = table::READY_HTTP;
            self.error(
                table::READY_TCP,
                format!("is not set, nor is {also}: at least one readiness probe is required (write the game's port)"),
            );
        }
        if reader == Reader::Probe && !has_liveness {
            self.error(
                table::LIVE_TCP,
                "is not set, nor is any other probe: nothing to do (write the game's port)".into(),
            );
        }
        if !is_shim {
            return;
        }
        let set: Vec<&str> = COUNTER.into_iter().filter(|variable| self.is_set(variable)).collect();
        if !set.is_empty() {
            for missing in COUNTER.into_iter().filter(|variable| !set.contains(variable)) {
                let are = if set.len() == 1 { "is" } else { "are" };
                self.error(
                    missing,
                    format!("is not set, but {} {are} (set all three for a Counter, or none)", set.join(" and ")),
                );
            }
        }
        self.judge_hook();
        self.judge_status_port();
    }

    fn judge_hook(&mut self) {
        let Some(words) = &self.draft.stop_hook else { return };
        if let Some(c) = words.shell {
            self.warn(
                table::STOP_HOOK,
                format!("{c} is passed on as it stands, since no shell runs the hook (put it in quotes, or write sh -c '...')"),
            );
        }
        if self.draft.stop_hook_timeout.is_some_and(|timeout| timeout > LONG_HOOK) {
            let shown = self.shown.get(table::STOP_HOOK_TIMEOUT).map(|text| quote(text)).unwrap_or_default();
            self.warn(
                table::STOP_HOOK_TIMEOUT,
                format!("{shown} may be longer than the way out: Kubernetes kills after 30 s, Docker after 10 s, unless told otherwise"),
            );
        }
    }

    fn judge_status_port(&mut self) {
        let Some(StatusAddr::AllAddresses(port) | StatusAddr::Host(_, port)) = self.draft.status_addr else { return };
        if TAKEN_PORTS.contains(&port.get()) {
            let shown = self.shown.get(table::STATUS_ADDR).map(|text| quote(text)).unwrap_or_default();
            self.warn(
                table::STATUS_ADDR,
                format!(
                    "{shown} will not work in a game server's Pod: Agones' SDK server has port {port} (write 9360)"
                ),
            );
        }
    }

    pub fn finish<T>(self, settings: fn(&Draft) -> Option<T>) -> Parsed<T> {
        if !self.errors.is_empty() {
            return Err(Rejected { errors: self.errors, warnings: self.warnings });
        }
        let settings = settings(&self.draft).expect("each row with a default has left a value: tested over the table");
        Ok((settings, self.warnings))
    }
}

/// The beginning of all names that are ours.
const PREFIX: &str = "AGONES_SHIM_";

/// Set by the shim itself in the environment of its hook.
const OWN: [&str; 1] = ["AGONES_SHIM_STOP_REASON"];

/// A variable that looks like a setting and is none.
fn unknown(name: &OsStr, value: &OsStr) -> Option<Warning> {
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
    // A name may have anything in it but = and NUL.
    let shown = quote(&name);
    Some(Warning { variable: shown[1..shown.len()].trim_end_matches('"').to_owned(), message })
}

/// Kubernetes sets these in every Pod of a namespace that has a Service called
/// agones-shim, or agones-shim-SOMETHING: `..._SERVICE_HOST`,
/// `..._SERVICE_PORT[_NAME]`, `..._PORT`, `..._PORT_<n>_TCP[_PROTO|_PORT|_ADDR]`.
pub(super) fn is_injected(name: &str, value: &str) -> bool {
    let Some(rest) = name.strip_prefix("AGONES_SHIM") else { return false };
    if rest.ends_with("_SERVICE_HOST") || rest.ends_with("_SERVICE_PORT") || rest.contains("_SERVICE_PORT_") {
        return true;
    }
    if rest.ends_with("_PORT") {
        // The Service's own name may be longer, and then this could also be
        // somebody's idea of a setting: only the value tells.
        return rest == "_PORT"
            || ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme))
            || is_injected_port(rest);
    }
    is_injected_port(rest)
}

/// `..._PORT_<n>_TCP` and the three that are made from it.
fn is_injected_port(rest: &str) -> bool {
    rest.match_indices("_PORT_").any(|(at, mark)| {
        let mut parts = rest[at + mark.len()..].split('_');
        parts.next().is_some_and(super::values::is_digits)
            && matches!(parts.next(), Some("TCP" | "UDP" | "SCTP"))
            && matches!(parts.next(), None | Some("PROTO" | "PORT" | "ADDR"))
            && parts.next().is_none()
    })
}

#[cfg(test)]
mod tests;
