//! Counters and the List as they are set: up to nine sources, numbered from the second on, what they are published as,
//! and what cannot be meant together.
//!
//! `AGONES_SHIM_COUNTER_METRIC` is the first Counter's, `AGONES_SHIM_COUNTER_2_METRIC` the second's. The rows of the
//! table are written once; the numbers are put into their names here.

use std::borrow::Cow;

use super::draft::Draft;
use super::parse::{Error, Reading};
use super::row::Setting;
use super::table::SETTINGS;
use super::values::{one_of, quote};
use super::{CounterSettings, JsonSource, QueryTarget, Source, query};
use crate::query::protocol::{Names, those_that};

/// So many Counters can be published. One digit, so that a number is no part of a longer one.
pub(super) const COUNTERS: usize = 9;

/// Said once in help and README, instead of eight times each row.
pub(super) const FURTHER: (&str, &str) = (
    "AGONES_SHIM_COUNTER_2_NAME",
    "A second Counter, and so on to 9: every setting of the first, with the number in its name",
);

/// The beginning of the names that can be numbered.
const PREFIX: &str = "AGONES_SHIM_COUNTER_";

/// The name of the Counter.
pub(super) const NAME: &str = "AGONES_SHIM_COUNTER_NAME";
/// One of its sources: a metrics page ...
pub(super) const METRICS_URL: &str = "AGONES_SHIM_COUNTER_METRICS_URL";
/// ... and the metric on it.
pub(super) const METRIC: &str = "AGONES_SHIM_COUNTER_METRIC";
/// The other source: a server to be asked.
pub(super) const QUERY: &str = "AGONES_SHIM_COUNTER_QUERY";
/// Or a page in JSON ...
pub(super) const JSON_URL: &str = "AGONES_SHIM_COUNTER_JSON_URL";
/// ... the place of the value on it ...
pub(super) const JSON_COUNT: &str = "AGONES_SHIM_COUNTER_JSON_COUNT";
/// ... that of its maximum ...
pub(super) const JSON_CAPACITY: &str = "AGONES_SHIM_COUNTER_JSON_CAPACITY";
/// ... and what the page wants to be asked with.
pub(super) const JSON_HEADER: &str = "AGONES_SHIM_COUNTER_JSON_HEADER";
/// Or a program.
pub(super) const EXEC: &str = "AGONES_SHIM_COUNTER_EXEC";
/// The sources: the variables that make up each.
const SOURCES: [&[&str]; 4] = [&[METRICS_URL, METRIC], &[QUERY], &[JSON_URL, JSON_COUNT], &[EXEC]];
/// The server's maximum becomes the Counter's capacity.
pub(super) const CAPACITY: &str = "AGONES_SHIM_COUNTER_CAPACITY";
/// Whether bots count.
pub(super) const BOTS: &str = "AGONES_SHIM_COUNTER_BOTS";
/// What a metric means that is not there.
pub(super) const MISSING: &str = "AGONES_SHIM_COUNTER_MISSING";
/// The name of the List.
pub(super) const LIST_NAME: &str = "AGONES_SHIM_LIST_NAME";

/// One row for each variable that there is, numbers included, in the order of messages: all of the first Counter, then
/// all of the second.
pub(super) fn variables() -> impl Iterator<Item = (&'static Setting, usize)> {
    let (head, tail) = SETTINGS.split_at(last_numbered().map_or(0, |last| last + 1));
    let numbered = (2..=COUNTERS).flat_map(|number| {
        SETTINGS.iter().filter(|setting| setting.is_numbered()).map(move |setting| (setting, number))
    });
    head.iter().map(|setting| (setting, 1)).chain(numbered).chain(tail.iter().map(|setting| (setting, 1)))
}

fn last_numbered() -> Option<usize> {
    SETTINGS.iter().rposition(Setting::is_numbered)
}

/// The row behind which the numbered ones belong.
pub(super) fn is_last_numbered(setting: &Setting) -> bool {
    last_numbered().is_some_and(|last| SETTINGS[last].variable == setting.variable)
}

impl Setting {
    /// There is one of it for each Counter.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        self.variable.starts_with(PREFIX)
    }

    /// Its variable for this Counter; the first one's has no number.
    #[must_use]
    pub fn variable_of(&self, number: usize) -> Cow<'static, str> {
        numbered(self.variable, number)
    }
}

fn numbered_str(variable: &str, number: usize) -> String {
    match variable.strip_prefix(PREFIX) {
        Some(rest) if number > 1 => format!("{PREFIX}{number}_{rest}"),
        _ => variable.to_owned(),
    }
}

fn numbered(variable: &'static str, number: usize) -> Cow<'static, str> {
    match variable.strip_prefix(PREFIX) {
        Some(rest) if number > 1 => format!("{PREFIX}{number}_{rest}").into(),
        _ => variable.into(),
    }
}

/// A name that looks numbered, as its number and the name without: `COUNTER_2_NAME` is 2 and `COUNTER_NAME`.
pub(super) fn without_number(variable: &str) -> Option<(&str, String)> {
    let (number, rest) = variable.strip_prefix(PREFIX)?.split_once('_')?;
    super::values::is_digits(number).then(|| (number, format!("{PREFIX}{rest}")))
}

impl Draft {
    /// Every source with what it is published as, in the order of their numbers.
    pub(super) fn counters(&self) -> Option<Vec<CounterSettings>> {
        let all = std::iter::once(self).chain(&self.further);
        all.filter(|draft| draft.has_source()).map(Self::counter).collect()
    }

    fn has_source(&self) -> bool {
        self.counter_query.is_some()
            || self.counter_url.is_some()
            || self.counter_json_url.is_some()
            || self.counter_exec.is_some()
    }

    fn source(&self) -> Option<Source> {
        if let Some(target) = &self.counter_query {
            return Some(Source::Query { target: target.clone(), bots: self.counter_bots? });
        }
        if let Some(words) = &self.counter_exec {
            return Some(Source::Exec(words.argv.clone()));
        }
        if let Some(url) = &self.counter_json_url {
            return Some(Source::Json(JsonSource {
                url: url.clone(),
                count: self.counter_json_count.clone()?,
                capacity: self.counter_json_capacity.clone(),
                header: self.counter_json_header.clone(),
            }));
        }
        Some(Source::Metrics {
            url: self.counter_url.clone()?,
            metric: self.counter_metric.clone()?,
            missing_is_zero: self.counter_missing_is_zero?,
        })
    }

    fn counter(&self) -> Option<CounterSettings> {
        let source = self.source()?;
        Some(CounterSettings {
            name: self.counter_name.clone(),
            // Whoever says where a maximum is, or prints one, wants it published.
            publish_capacity: self.counter_capacity?
                || self.counter_json_capacity.is_some()
                || self.counter_exec.is_some(),
            source,
            interval: self.counter_interval?,
            list: self.list_name.clone(),
        })
    }
}

/// A server that says how many players it has.
pub(super) fn counted(text: &str) -> Result<QueryTarget, String> {
    let target = query::target(text)?;
    if target.protocol.counts {
        Ok(target)
    } else {
        Err("does not say how many players there are (write a protocol that does, as a2s://:27015)".into())
    }
}

/// Everything that is wrong with Counters and the List together.
pub(super) fn together(reading: &Reading) -> Vec<Error> {
    let mut errors = Vec::new();
    for number in 1..=COUNTERS {
        errors.extend(incomplete(reading, number));
        errors.extend(misplaced(reading, number));
    }
    errors.extend(same_name(&reading.draft));
    errors.extend(list_without_names(reading));
    errors
}

/// All sources in words: `URL with METRIC, QUERY, ... or EXEC`.
fn sources(number: usize) -> String {
    let source = |variables: &[&str]| {
        let names: Vec<String> = variables.iter().map(|variable| numbered_str(variable, number)).collect();
        names.join(" with ")
    };
    let all = SOURCES.map(source);
    one_of(&all.each_ref().map(String::as_str))
}

/// A Counter has a name and one source.
fn incomplete(reading: &Reading, number: usize) -> Vec<Error> {
    let is_set = |variable: &str| reading.is_set(&numbered_str(variable, number));
    let are_set = |variables: &[&str]| {
        let set: Vec<String> = variables
            .iter()
            .filter(|variable| is_set(variable))
            .map(|variable| numbered_str(variable, number))
            .collect();
        format!("{} {}", set.join(" and "), if set.len() == 1 { "is" } else { "are" })
    };
    let sources = sources(number);
    let mut errors = Vec::new();
    let set: Vec<&[&'static str]> =
        SOURCES.into_iter().filter(|source| source.iter().any(|variable| is_set(variable))).collect();
    if let [others @ .., last] = set.as_slice()
        && !others.is_empty()
    {
        let others = are_set(&others.concat());
        let variable = last.iter().find(|variable| is_set(variable)).unwrap_or(&last[0]);
        errors.push(error(variable, number, format!("is set, but {others} too (a Counter has one source: {sources})")));
    }
    let only_a_list = number == 1 && reading.is_set(LIST_NAME);
    let mut wanted: Vec<&'static str> = match set.as_slice() {
        [source] => source.to_vec(),
        [] if is_set(NAME) => SOURCES[0].to_vec(),
        [] => return errors,
        // Which of them is meant, and so what it lacks, is not known.
        _ => Vec::new(),
    };
    if !(only_a_list && wanted == [QUERY]) {
        wanted.insert(0, NAME);
    }
    let all: Vec<&str> = std::iter::once(NAME).chain(SOURCES.concat()).collect();
    let message = format!("is not set, but {} (a Counter has a name and a source: {sources})", are_set(&all));
    let missing = wanted.into_iter().filter(|variable| !is_set(variable));
    errors.extend(missing.map(|variable| error(variable, number, message.clone())));
    errors
}

/// What is about the other source.
fn misplaced(reading: &Reading, number: usize) -> Vec<Error> {
    let Some(draft) = reading.draft.of(number) else { return Vec::new() };
    let [name, url, query] = [NAME, METRICS_URL, QUERY].map(|variable| numbered(variable, number));
    let mut errors = Vec::new();
    let [json_url, json_capacity, exec] = [JSON_URL, JSON_CAPACITY, EXEC].map(|variable| numbered(variable, number));
    let tells_capacity = [&query, &json_capacity, &exec].iter().any(|variable| reading.is_set(variable));
    if draft.counter_capacity == Some(true) && !(tells_capacity && reading.is_set(&name)) {
        let message = format!("\"1\" needs {query}, whose answer has the capacity, and {name} (write 0, or unset it)");
        errors.push(error(CAPACITY, number, message));
    }
    if draft.counter_bots == Some(false) {
        let message = match &draft.counter_query {
            Some(target) if target.protocol.tells_bots => None,
            Some(target) => Some(format!(
                "\"0\" cannot be done with {}: its answer does not tell bots from players ({} do; write 1, or unset it)",
                target.protocol.name,
                those_that(|protocol| protocol.tells_bots)
            )),
            None if reading.is_set(&query) => None,
            None => Some(format!("\"0\" needs {query}, whose answer tells bots from players (write 1, or unset it)")),
        };
        errors.extend(message.map(|message| error(BOTS, number, message)));
    }
    for variable in [JSON_CAPACITY, JSON_HEADER] {
        if reading.is_set(&numbered(variable, number)) && !reading.is_set(&json_url) {
            errors.push(error(variable, number, format!("is about a page in JSON, so it needs {json_url}")));
        }
    }
    if draft.counter_missing_is_zero == Some(true) && !reading.is_set(&url) {
        let message = format!("\"zero\" is about a metric, so it needs {url} (write keep, or unset it)");
        errors.push(error(MISSING, number, message));
    }
    errors
}

/// Two sources of one Counter would overwrite each other.
fn same_name(draft: &Draft) -> Vec<Error> {
    let names: Vec<_> =
        (1..=COUNTERS).map(|number| draft.of(number).and_then(|draft| draft.counter_name.as_ref())).collect();
    let repeats = names.iter().enumerate().filter_map(|(place, name)| {
        let (name, first) = ((*name)?, names.iter().position(|other| other == name)?);
        let message =
            format!("{} is the name of {} too (a Counter has one source)", quote(name), numbered(NAME, first + 1));
        (first < place).then(|| error(NAME, place + 1, message))
    });
    repeats.collect()
}

fn list_without_names(reading: &Reading) -> Option<Error> {
    let name = reading.draft.list_name.as_ref()?;
    let all = || those_that(|protocol| protocol.names == Names::All);
    let wrong = match &reading.draft.counter_query {
        Some(target) => match target.protocol.names {
            Names::All => return None,
            Names::Sample => format!(
                "cannot be filled: {}'s answer names a dozen players at random ({} name all)",
                target.protocol.name,
                all()
            ),
            Names::Nobody => {
                format!("cannot be filled: {}'s answer has no names in it ({} have them)", target.protocol.name, all())
            }
        },
        None if reading.is_set(QUERY) => return None,
        None => format!("needs {QUERY}: the names come with its answer (write a2s://:27015)"),
    };
    Some(error(LIST_NAME, 1, format!("{} {wrong}", quote(name))))
}

fn error(variable: &'static str, number: usize, message: String) -> Error {
    Error { variable: numbered(variable, number).into_owned(), message }
}
