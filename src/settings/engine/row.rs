//! What a setting is made of, and what a subject is: settings that stand under one heading and are checked together.
//!
//! Nothing in this folder knows the name of a setting: they are in the subjects' own files, one folder up.

use std::borrow::Cow;

use super::read::{Findings, Mode, Values};
use crate::settings::SUBJECTS;
use crate::settings::text::plain::quote;
use crate::settings::text::{url, words};

/// One setting: an environment variable, all that help says about it, and the type of its value.
pub(crate) struct Setting<T: 'static> {
    row: Row,
    parse: Parse<T>,
}

/// What of a setting does not depend on its type.
pub(crate) struct Row {
    /// Its environment variable.
    pub variable: &'static str,
    /// What to write, in one word.
    pub value: &'static str,
    /// What holds where it is not set.
    pub default: Default,
    /// What it does, its unit, and what 0 means where 0 is allowed.
    pub help: &'static str,
    /// How its value is shown.
    pub shown: Shown,
    /// A sidecar does not read it.
    pub wrapper_only: bool,
    /// What it is in a few words, where the short help has it.
    pub common: Option<&'static str>,
    /// Another program's variable that counts where this one is not set. What is wrong in it is a warning.
    pub instead: Option<&'static str>,
    /// Its name until it got this one: an error.
    pub formerly: Option<&'static str>,
    /// There is one of it for each number.
    pub series: Option<&'static Series>,
}

/// What holds where a variable is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    /// This text, as if the variable had it.
    Text(&'static str),
    /// Something that has no text of its own, in words.
    Words(&'static str),
    /// The same, for all settings with these words together: setting one of them replaces it.
    Shared(&'static str),
    /// Nothing: what it would switch on is off.
    Nothing,
}

impl Default {
    /// As help and the README show it.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Text(text) | Self::Words(text) | Self::Shared(text) => text,
            Self::Nothing => "-",
        }
    }
}

/// How a value may be shown. A password never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// As it stands.
    Whole,
    /// A URL, without user and password.
    Url,
    /// Several of them, with commas.
    Urls,
    /// A command line: its program.
    Command,
    /// Not at all.
    Secret,
}

/// Settings that come several times, apart by a number in their names: `PREFIX_NAME` is the first one's, `PREFIX_2_NAME`
/// the second's. The rows are written once.
pub(crate) struct Series {
    /// The beginning of the names, up to where the number goes.
    pub prefix: &'static str,
    /// How many there may be. One digit, so that a number is no part of a longer one.
    pub last: usize,
    /// What is numbered, in the plural.
    pub what: &'static str,
    /// A variable with a number, for help ...
    pub example: &'static str,
    /// ... and what help says of it, instead of eight times each row.
    pub help: &'static str,
}

enum Parse<T> {
    /// One value; the error is a predicate, to be put behind the quoted value.
    One(fn(&str) -> Result<T, String>),
    /// Several, or one whose errors quote what they are about themselves.
    Several(fn(&str) -> Result<T, Vec<String>>),
}

/// Settings that stand under one heading.
pub(crate) struct Subject {
    /// The heading.
    pub heading: &'static str,
    /// In the order of help and README.
    pub rows: &'static [&'static dyn AnySetting],
    /// Variables that the shim itself gives to programs that it starts: not settings, and not unknown either.
    pub given: &'static [&'static str],
    /// What no value alone can be wrong about: settings that need each other, values that work and will not have been meant.
    pub check: fn(Mode, &Values, &mut Findings),
    /// What follows from the values, for people.
    pub facts: fn(&Values) -> Vec<Fact>,
}

/// What it is about, and how it is.
pub(crate) type Fact = (&'static str, String);

/// A setting of any type.
pub(crate) trait AnySetting: Sync {
    fn row(&self) -> &Row;
    /// Everything that is wrong with a text, the text itself included.
    fn errors(&self, text: &str) -> Vec<String>;
}

impl<T> Setting<T> {
    /// A setting with one value. `parse` says what is wrong as a predicate.
    pub(crate) const fn one(variable: &'static str, value: &'static str, parse: fn(&str) -> Result<T, String>) -> Self {
        Self { row: Row::new(variable, value), parse: Parse::One(parse) }
    }

    /// A setting with several values, each of which can be wrong; an error quotes the value it is about.
    pub(crate) const fn several(
        variable: &'static str,
        value: &'static str,
        parse: fn(&str) -> Result<T, Vec<String>>,
    ) -> Self {
        Self { row: Row::new(variable, value), parse: Parse::Several(parse) }
    }

    pub(crate) const fn help(mut self, help: &'static str) -> Self {
        self.row.help = help;
        self
    }

    /// What holds where it is not set, as a value.
    pub(crate) const fn default(mut self, text: &'static str) -> Self {
        self.row.default = Default::Text(text);
        self
    }

    /// What holds where it is not set.
    pub(crate) const fn otherwise(mut self, default: Default) -> Self {
        self.row.default = default;
        self
    }

    pub(crate) const fn shown(mut self, shown: Shown) -> Self {
        self.row.shown = shown;
        self
    }

    pub(crate) const fn wrapper_only(mut self) -> Self {
        self.row.wrapper_only = true;
        self
    }

    pub(crate) const fn common(mut self, gist: &'static str) -> Self {
        self.row.common = Some(gist);
        self
    }

    pub(crate) const fn or_variable(mut self, variable: &'static str) -> Self {
        self.row.instead = Some(variable);
        self
    }

    pub(crate) const fn formerly(mut self, variable: &'static str) -> Self {
        self.row.formerly = Some(variable);
        self
    }

    pub(crate) const fn numbered(mut self, series: &'static Series) -> Self {
        self.row.series = Some(series);
        self
    }

    /// Its variable.
    pub(crate) const fn name(&self) -> &'static str {
        self.row.variable
    }

    /// Its variable with this number; the first one has none.
    pub(crate) fn name_of(&self, number: usize) -> Cow<'static, str> {
        self.row.variable_of(number)
    }

    pub(super) fn parse(&self, text: &str) -> Result<T, Vec<String>> {
        match self.parse {
            Parse::One(parse) => parse(text).map_err(|wrong| vec![format!("{} {wrong}", quote(&self.row.shown(text)))]),
            Parse::Several(parse) => parse(text),
        }
    }
}

impl<T> AnySetting for Setting<T> {
    fn row(&self) -> &Row {
        &self.row
    }

    fn errors(&self, text: &str) -> Vec<String> {
        self.parse(text).err().unwrap_or_default()
    }
}

impl Row {
    const fn new(variable: &'static str, value: &'static str) -> Self {
        Self {
            variable,
            value,
            default: Default::Nothing,
            help: "",
            shown: Shown::Whole,
            wrapper_only: false,
            common: None,
            instead: None,
            formerly: None,
            series: None,
        }
    }

    /// A value as it may be shown.
    pub(crate) fn shown(&self, text: &str) -> String {
        match self.shown {
            Shown::Whole => text.to_owned(),
            Shown::Url => url::shown(text),
            Shown::Urls => url::shown_list(text),
            Shown::Command => words::shown(text),
            Shown::Secret => "***".to_owned(),
        }
    }

    /// Its variable with this number; the first one has none.
    pub(crate) fn variable_of(&self, number: usize) -> Cow<'static, str> {
        let Some(series) = self.series.filter(|_| number > 1) else { return self.variable.into() };
        let rest = self.variable.strip_prefix(series.prefix).unwrap_or(self.variable);
        format!("{}{number}_{rest}", series.prefix).into()
    }
}

/// All settings, in the order of help and README.
pub(crate) fn rows() -> impl Iterator<Item = &'static dyn AnySetting> {
    SUBJECTS.iter().flat_map(|subject| subject.rows.iter().copied())
}

/// The same without their types.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    rows().map(AnySetting::row)
}

/// The row is the last of its series: help explains the numbers after it.
pub(super) fn last_of_series(row: &Row) -> Option<&'static Series> {
    let series = row.series?;
    let is_of_it = |setting: &&dyn AnySetting| setting.row().series.is_some_and(|other| other.prefix == series.prefix);
    let last = rows().filter(is_of_it).last()?;
    (last.row().variable == row.variable).then_some(series)
}

/// Each variable that there is, numbers included, in the order of messages: all of the first of a series, then all of the
/// second, where the series ends.
pub(crate) fn variables() -> impl Iterator<Item = (&'static dyn AnySetting, usize)> {
    rows().flat_map(|setting| {
        let series = last_of_series(setting.row());
        let numbers = series.map_or(2..2, |series| 2..series.last + 1);
        let further = numbers.flat_map(move |number| {
            let of_it = move |setting: &&dyn AnySetting| {
                setting.row().series.zip(series).is_some_and(|(one, other)| one.prefix == other.prefix)
            };
            rows().filter(of_it).map(move |setting| (setting, number))
        });
        std::iter::once((setting, 1)).chain(further)
    })
}

/// There is a setting of this name, with a number in it or without.
#[must_use]
pub fn is_setting(variable: &str) -> bool {
    variables().any(|(setting, number)| setting.row().variable_of(number) == variable)
}
