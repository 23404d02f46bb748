//! An environment in; values, and everything that is wrong with them, out.
//!
//! A setting that the command does not read is no error to it. The environment is passed in; the only reader of the
//! process's own is main.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use super::row::{self, AnySetting, Default, Row, Setting, Shown};
use super::unknown;
use crate::settings::SUBJECTS;
use crate::settings::text::plain::quote;

/// What a variable's value is wrong about. Shown as `VARIABLE: "value" is not ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// The variable.
    pub variable: String,
    /// Value, what is wrong with it, and what is allowed.
    pub message: String,
}

/// What works, but will not have been meant. Shown like an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Warning {
    /// The variable.
    pub variable: String,
    /// Value and what it leads to.
    pub message: String,
}

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// All of them, in the order of the settings; never empty.
    pub errors: Vec<Error>,
    /// A misspelt name is often what an error comes from.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is wrong with no variable alone.
        if self.variable.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.variable, self.message)
        }
    }
}

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

/// What a command gets: its settings and the warnings, or everything wrong.
pub(crate) type Parsed<T> = Result<(T, Vec<Warning>), Rejected>;

/// A name and a value; neither needs to be UTF-8.
pub type Variable = (OsString, OsString);

/// Who reads the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All but what concerns the child.
    Sidecar,
    /// All.
    Wrapper,
    /// All, on behalf of either.
    Check,
}

/// Errors and warnings, as they are found.
#[derive(Debug, std::default::Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<Error>,
    pub(crate) warnings: Vec<Warning>,
}

impl Findings {
    pub(crate) fn error(&mut self, variable: impl Into<String>, message: impl Into<String>) {
        self.errors.push(Error { variable: variable.into(), message: message.into() });
    }

    pub(crate) fn warn(&mut self, variable: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Warning { variable: variable.into(), message: message.into() });
    }

    /// In the order of the settings; what is about no setting comes first.
    fn sort(&mut self) {
        let places: BTreeMap<String, usize> = row::variables()
            .zip(1..)
            .map(|((setting, number), place)| (setting.row().variable_of(number).into_owned(), place))
            .collect();
        let place = |variable: &String| places.get(variable).copied().unwrap_or_default();
        self.errors.sort_by_key(|error| place(&error.variable));
        self.warnings.sort_by_key(|warning| place(&warning.variable));
    }
}

/// The values that are set.
#[derive(Debug, std::default::Default)]
pub(crate) struct Values {
    set: BTreeMap<String, Given>,
}

#[derive(Debug)]
struct Given {
    /// `None` where it is wrong.
    text: Option<String>,
    /// As it may be shown.
    shown: String,
    /// The variable that it came from, where it is not the setting's own.
    from: Option<&'static str>,
}

impl Values {
    /// The variable has a value, though perhaps one that is wrong.
    pub(crate) fn is_set(&self, variable: &str) -> bool {
        self.set.contains_key(variable)
    }

    /// One of them is.
    pub(crate) fn is_any_set(&self, variables: &[&str]) -> bool {
        variables.iter().any(|variable| self.is_set(variable))
    }

    /// The value, else the default; `None` where there is neither. A wrong value counts as none.
    pub(crate) fn get<T>(&self, setting: &Setting<T>) -> Option<T> {
        self.get_numbered(setting, 1)
    }

    /// The same with this number in its name.
    pub(crate) fn get_numbered<T>(&self, setting: &Setting<T>, number: usize) -> Option<T> {
        debug_assert!(row::is_setting(setting.name()), "{} is in no subject's rows", setting.name());
        let given = self.set.get(&*setting.name_of(number)).and_then(|given| given.text.as_deref());
        let default = match setting.row().default {
            Default::Text(text) => Some(text),
            _ => None,
        };
        setting.parse(given.or(default)?).ok()
    }

    /// The value of a setting that has a default.
    pub(crate) fn or_default<T>(&self, setting: &Setting<T>) -> T {
        self.or_default_numbered(setting, 1)
    }

    /// The same with this number in its name.
    pub(crate) fn or_default_numbered<T>(&self, setting: &Setting<T>, number: usize) -> T {
        self.get_numbered(setting, number).expect("it has a default, and each default parses: tested over all rows")
    }

    /// What is set, as it may be shown.
    pub(crate) fn shown(&self, variable: &str) -> Option<&str> {
        self.set.get(variable).map(|given| given.shown.as_str())
    }

    /// The same in quotes, for messages; `""` where nothing is set.
    pub(crate) fn quoted(&self, variable: &str) -> String {
        quote(self.shown(variable).unwrap_or_default())
    }

    /// The other program's variable that the value came from.
    pub(super) fn source(&self, variable: &str) -> Option<&'static str> {
        self.set.get(variable)?.from
    }

    /// Reads a value; says what is wrong with it.
    fn take(
        &mut self,
        setting: &dyn AnySetting,
        variable: &str,
        value: &OsStr,
        from: Option<&'static str>,
    ) -> Vec<String> {
        let wrong = wrong(setting, value);
        let text = value.to_str().filter(|_| wrong.is_empty()).map(str::to_owned);
        if from.is_none() || text.is_some() {
            let shown = setting.row().shown(&value.to_string_lossy());
            self.set.insert(variable.to_owned(), Given { text, shown, from });
        }
        wrong
    }
}

/// Reads every setting and checks all of them together.
pub(crate) fn whole(mode: Mode, environment: impl IntoIterator<Item = Variable>) -> Parsed<Values> {
    let (values, findings) = found(mode, environment, &Unknown::default());
    accepted(values, findings)
}

/// What is not known of an environment that a manifest declares.
#[derive(Debug, std::default::Default)]
pub(crate) struct Unknown {
    /// Variables that have a value, whatever it is.
    pub values: Vec<String>,
    /// There may be more variables, so that nothing can be said to be missing.
    pub names: bool,
}

/// The same as far as anything is known: what is not is set, and neither right nor wrong.
pub(crate) fn found(
    mode: Mode,
    environment: impl IntoIterator<Item = Variable>,
    unknown: &Unknown,
) -> (Values, Findings) {
    let variables = collected(environment);
    let reads = |row: &Row| mode != Mode::Sidecar || !row.wrapper_only;
    let (mut values, mut findings) = read(reads, &variables);
    for variable in &unknown.values {
        let given = Given { text: None, shown: "(unknown)".to_owned(), from: None };
        values.set.insert(variable.clone(), given);
    }
    if mode == Mode::Sidecar {
        // Somebody cares about the value, though this mode does not: what the wrapper would not take is worth a warning.
        for setting in row::rows().filter(|setting| !reads(setting.row())) {
            let variable = setting.row().variable;
            let Some(value) = variables.get(OsStr::new(variable)) else { continue };
            let wrong = wrong(setting, value);
            if wrong.is_empty() {
                let remedy = "start the game with agones-shim -- PROGRAM, or unset it";
                findings
                    .warn(variable, format!("is set, but a sidecar has no child that it could be about ({remedy})"));
            }
            for message in wrong {
                findings.warn(variable, format!("{message}; a sidecar does not read it"));
            }
        }
    }
    let is_former = |name: &OsStr| row::all().find(|row| row.formerly.is_some_and(|former| name == former));
    for (name, row) in variables.keys().filter_map(|name| Some((name, is_former(name)?))) {
        findings.error(name.to_string_lossy(), format!("is called {} now (rename it)", row.variable));
    }
    if !unknown.names {
        for subject in SUBJECTS {
            (subject.check)(mode, &values, &mut findings);
        }
    }
    findings.sort();
    let others = variables.iter().filter(|(name, _)| is_former(name).is_none());
    findings.warnings.extend(others.filter_map(|(name, value)| unknown::unknown(name, value)));
    (values, findings)
}

/// Reads these settings alone, for a command that does one thing; `check` says what it lacks. Names that are no settings
/// are not spoken of: such a command may run every few seconds.
pub(crate) fn some(
    settings: &[&[&'static dyn AnySetting]],
    check: fn(&Values, &mut Findings),
    environment: impl IntoIterator<Item = Variable>,
) -> Parsed<Values> {
    let reads = |row: &Row| settings.iter().copied().flatten().any(|setting| setting.row().variable == row.variable);
    let (values, mut findings) = read(reads, &collected(environment));
    check(&values, &mut findings);
    findings.sort();
    accepted(values, findings)
}

/// An empty variable counts as unset. Of two with one name the first counts, as for getenv(3).
fn collected(environment: impl IntoIterator<Item = Variable>) -> BTreeMap<OsString, OsString> {
    let mut variables = BTreeMap::new();
    for (name, value) in environment {
        if !value.is_empty() {
            variables.entry(name).or_insert(value);
        }
    }
    variables
}

fn read(reads: impl Fn(&Row) -> bool, variables: &BTreeMap<OsString, OsString>) -> (Values, Findings) {
    let (mut values, mut findings) = (Values::default(), Findings::default());
    for (setting, number) in row::variables().filter(|(setting, _)| reads(setting.row())) {
        let variable = setting.row().variable_of(number);
        if let Some(value) = variables.get(OsStr::new(&*variable)) {
            let wrong = values.take(setting, &variable, value, None);
            match kept_quotes(setting, value) {
                Some(message) if wrong.is_empty() => findings.warn(&*variable, message),
                Some(message) => findings.error(&*variable, message),
                None => wrong.into_iter().for_each(|message| findings.error(&*variable, message)),
            }
        } else if let Some((other, value)) =
            setting.row().instead.and_then(|other| Some((other, variables.get(OsStr::new(other))?)))
        {
            // It may be meant for the game, in a syntax of its own: what is wrong in it is no reason not to start.
            for message in values.take(setting, &variable, value, Some(other)) {
                findings.warn(other, format!("{message}; it is ignored"));
            }
        }
    }
    (values, findings)
}

/// Everything that is wrong with a value.
fn wrong(setting: &dyn AnySetting, value: &OsStr) -> Vec<String> {
    match value.to_str() {
        Some(text) => setting.errors(text),
        None => vec![format!("{} is not UTF-8 text", quote(&setting.row().shown(&value.to_string_lossy())))],
    }
}

/// A good value between quotes: of an env file, where they mean nothing and become a part of it. A command line is split
/// like a shell's, which takes them away.
fn kept_quotes(setting: &dyn AnySetting, value: &OsStr) -> Option<String> {
    let (row, text) = (setting.row(), value.to_str()?);
    let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.strip_prefix(mark)?.strip_suffix(mark).filter(|inner| !inner.contains(mark))?;
    let is_meant = row.shown == Shown::Command || inner.is_empty() || !setting.errors(inner).is_empty();
    (!is_meant).then(|| {
        let shown = row.shown(inner);
        let remedy = format!("docker's --env-file keeps them; write {shown}");
        let whole = quote(&format!("{mark}{shown}{mark}"));
        format!("{whole} has quotes around it, which are a part of the value here ({remedy})")
    })
}

fn accepted(values: Values, findings: Findings) -> Parsed<Values> {
    let Findings { errors, warnings } = findings;
    if errors.is_empty() { Ok((values, warnings)) } else { Err(Rejected { errors, warnings }) }
}
