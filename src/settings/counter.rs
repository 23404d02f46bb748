//! Counters and the List: up to nine sources of readings, numbered from the second on, what they are published as, and
//! what cannot be meant together.

use std::time::Duration;

use super::LOGIN;
use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Series, Setting, Shown, Subject};
use super::text::plain::{counter_name, list_name, one_line, quote, seconds, switch, word};
use super::text::target::{HttpTarget, Protocol, QueryTarget};
use super::text::{query, url};
use crate::counter::exposition::Selector;

/// `AGONES_SHIM_COUNTER_METRIC` is the first Counter's, `AGONES_SHIM_COUNTER_2_METRIC` the second's.
static COUNTERS: Series = Series {
    prefix: "AGONES_SHIM_COUNTER_",
    last: 9,
    what: "Counters",
    example: "AGONES_SHIM_COUNTER_2_NAME",
    help: "A second Counter, and so on to 9: every setting of the first, with the number in its name",
};

pub(super) static NAME: Setting<String> = Setting::one("AGONES_SHIM_COUNTER_NAME", "NAME", counter_name)
    .help("Counter to publish; must exist in the GameServer's spec")
    .numbered(&COUNTERS)
    .common();

static METRICS_URL: Setting<HttpTarget> = Setting::one("AGONES_SHIM_COUNTER_METRICS_URL", "URL", url::http)
    .help("Where its value is read: a Prometheus text endpoint, `http://` only")
    .shown(Shown::Url)
    .numbered(&COUNTERS)
    .common();

// Its errors begin with the quoted text themselves.
static METRIC: Setting<Selector> =
    Setting::several("AGONES_SHIM_COUNTER_METRIC", "METRIC", |text| text.parse().map_err(|wrong| vec![wrong]))
        .help("Metric to read: `name` or `name{label=\"value\",...}`, all series that match are summed")
        .numbered(&COUNTERS)
        .common();

static MISSING: Setting<bool> = Setting::one("AGONES_SHIM_COUNTER_MISSING", "ACTION", |text| {
    word(text, &[("keep", false), ("zero", true)])
})
.help("What a metrics page without the metric means: `keep` the last value, or `zero` where the game drops a series when nobody is there")
.default("keep")
.numbered(&COUNTERS);

static QUERY: Setting<QueryTarget> = Setting::one("AGONES_SHIM_COUNTER_QUERY", "QUERY", counted)
    .help("Where the value is read instead: a server that is asked how many play, `protocol://host:port`, as `a2s://:27015`")
    .numbered(&COUNTERS)
    .common();

static CAPACITY: Setting<bool> = Setting::one("AGONES_SHIM_COUNTER_CAPACITY", "SWITCH", switch)
    .help("`1` makes the most players that the queried server takes the Counter's capacity")
    .default("0")
    .numbered(&COUNTERS);

static INTERVAL: Setting<Duration> = Setting::one("AGONES_SHIM_COUNTER_INTERVAL_SECS", "SECONDS", seconds)
    .help("Time between readings, which is also the longest that one may take if it is below 10")
    .default("30")
    .numbered(&COUNTERS);

static LIST_NAME: Setting<String> = Setting::one("AGONES_SHIM_LIST_NAME", "NAME", list_name)
    .help("List that holds the names of the players that `AGONES_SHIM_COUNTER_QUERY` finds, and nothing else; must exist in the spec");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Counters and List",
    rows: &[&NAME, &METRICS_URL, &METRIC, &MISSING, &QUERY, &CAPACITY, &INTERVAL, &LIST_NAME],
    given: &[],
    check,
    facts,
};

/// A source of readings, and what they are published as: a Counter, a List or both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CounterSettings {
    /// Name of the Counter in the GameServer spec; `None` where the List is all.
    pub name: Option<String>,
    /// Where its value is read.
    pub source: Source,
    /// The source's maximum becomes the Counter's capacity.
    pub publish_capacity: bool,
    /// Time between readings.
    pub interval: Duration,
    /// Name of the List in the GameServer spec that gets the players' names.
    pub list: Option<String>,
}

/// Where a Counter's value is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// A Prometheus text endpoint.
    Metrics {
        /// Where it is.
        url: HttpTarget,
        /// Which series to sum.
        metric: Selector,
        /// A text without any of them means 0.
        missing_is_zero: bool,
    },
    /// A server that says how many players it has.
    Query(QueryTarget),
}

impl CounterSettings {
    /// Every source with what it is published as, in the order of their numbers.
    pub(crate) fn all(values: &Values) -> Vec<Self> {
        numbers().filter_map(|number| Self::new(values, number)).collect()
    }

    fn new(values: &Values, number: usize) -> Option<Self> {
        let source = match values.get_numbered(&QUERY, number) {
            Some(target) => Source::Query(target),
            None => Source::Metrics {
                url: values.get_numbered(&METRICS_URL, number)?,
                metric: values.get_numbered(&METRIC, number)?,
                missing_is_zero: values.or_default_numbered(&MISSING, number),
            },
        };
        Some(Self {
            name: values.get_numbered(&NAME, number),
            source,
            publish_capacity: values.or_default_numbered(&CAPACITY, number),
            interval: values.or_default_numbered(&INTERVAL, number),
            list: values.get(&LIST_NAME).filter(|_| number == 1),
        })
    }
}

fn numbers() -> std::ops::RangeInclusive<usize> {
    1..=COUNTERS.last
}

/// Something is read, whichever Counter it is for.
pub(super) fn is_any_source_set(values: &Values) -> bool {
    numbers().any(|number| values.is_any_set(&[&METRICS_URL.name_of(number), &QUERY.name_of(number)]))
}

/// A server that says how many players it has.
fn counted(text: &str) -> Result<QueryTarget, String> {
    match query::target(text)? {
        QueryTarget { protocol: Protocol::Udp(_), .. } => {
            Err("does not say how many players there are (write a protocol that does, as a2s://:27015)".into())
        }
        target => Ok(target),
    }
}

/// The protocols whose answers name every player. Minecraft's names a dozen of them at random, and what a plugin likes.
fn names_players(protocol: &Protocol) -> bool {
    matches!(protocol, Protocol::A2s | Protocol::Quake3 | Protocol::Quake | Protocol::Teeworlds)
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    for number in numbers() {
        check_sources(values, number, findings);
        check_other_source(values, number, findings);
    }
    check_names(values, findings);
    check_list(values, findings);
}

/// A Counter has a name and one source.
fn check_sources(values: &Values, number: usize, findings: &mut Findings) {
    let (name, url) = (&*NAME.name_of(number), &*METRICS_URL.name_of(number));
    let (metric, query) = (&*METRIC.name_of(number), &*QUERY.name_of(number));
    let is_set = |variable: &str| values.is_set(variable);
    let are_set = |variables: &[&str]| {
        let set: Vec<&str> = variables.iter().copied().filter(|variable| is_set(variable)).collect();
        format!("{} {}", set.join(" and "), if set.len() == 1 { "is" } else { "are" })
    };
    if is_set(query) && (is_set(url) || is_set(metric)) {
        let others = are_set(&[url, metric]);
        let message = format!("is set, but {others} too (a Counter has one source: {url} with {metric}, or {query})");
        findings.error(query, message);
    }
    let is_only_a_list = number == 1 && is_set(LIST_NAME.name());
    let missing: &[&str] = match (is_set(query), is_set(url), is_set(metric)) {
        (true, ..) if is_set(name) || is_only_a_list => &[],
        (true, ..) => &[name],
        (false, false, false) if !is_set(name) => &[],
        _ => &[name, url, metric],
    };
    let set = are_set(&[name, url, metric, query]);
    for variable in missing.iter().filter(|variable| !is_set(variable)) {
        findings.error(
            *variable,
            format!("is not set, but {set} (a Counter has a name and a source: {url} with {metric}, or {query})"),
        );
    }
}

/// What is about the other source.
fn check_other_source(values: &Values, number: usize, findings: &mut Findings) {
    let (name, url, query) = (NAME.name_of(number), METRICS_URL.name_of(number), QUERY.name_of(number));
    if values.or_default_numbered(&CAPACITY, number) && !(values.is_set(&query) && values.is_set(&name)) {
        let message = format!("\"1\" needs {query}, whose answer has the capacity, and {name} (write 0, or unset it)");
        findings.error(CAPACITY.name_of(number), message);
    }
    if values.or_default_numbered(&MISSING, number) && !values.is_set(&url) {
        let message = format!("\"zero\" is about a metric, so it needs {url} (write keep, or unset it)");
        findings.error(MISSING.name_of(number), message);
    }
}

/// Two sources of one Counter would overwrite each other.
fn check_names(values: &Values, findings: &mut Findings) {
    let names: Vec<Option<String>> = numbers().map(|number| values.get_numbered(&NAME, number)).collect();
    for (place, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        let first = names.iter().position(|other| other.as_ref() == Some(name)).unwrap_or(place);
        if first < place {
            let other = NAME.name_of(first + 1);
            let message = format!("{} is the name of {other} too (a Counter has one source)", quote(name));
            findings.error(NAME.name_of(place + 1), message);
        }
    }
}

fn check_list(values: &Values, findings: &mut Findings) {
    let Some(name) = values.get(&LIST_NAME) else { return };
    let wrong = match values.get(&QUERY) {
        Some(target) if names_players(&target.protocol) => return,
        Some(target) if target.protocol == Protocol::Minecraft => {
            "cannot be filled: minecraft's answer names a dozen players at random (a2s, quake3, quake and teeworlds name all)"
                .to_owned()
        }
        Some(target) => format!(
            "cannot be filled: {}'s answer has no names in it (a2s, quake3, quake and teeworlds have them)",
            target.protocol.name()
        ),
        None if values.is_set(QUERY.name()) => return,
        None => format!("needs {}: the names come with its answer (write a2s://:27015)", QUERY.name()),
    };
    findings.error(LIST_NAME.name(), format!("{} {wrong}", quote(&name)));
}

fn facts(values: &Values) -> Vec<Fact> {
    let mut facts = Vec::new();
    for CounterSettings { name, source, publish_capacity, interval, list } in CounterSettings::all(values) {
        let (count, whose) = match &source {
            Source::Metrics { url, metric, missing_is_zero } => {
                let login = if url.credentials.is_some() { LOGIN } else { "" };
                let zero = if *missing_is_zero { ", 0 where there is none," } else { "" };
                (format!("the sum of {}{zero} at {url}{login}", one_line(&metric.to_string())), String::new())
            }
            Source::Query(target) => (format!("the number of players at {target}"), target.to_string()),
        };
        let capacity = if publish_capacity { ", its capacity the most that it takes" } else { "" };
        if let Some(name) = name {
            facts.push(("Counter", format!("{name:?} is {count}{capacity}, read every {interval:?}")));
        }
        if let Some(list) = list {
            facts.push(("List", format!("{list:?} has the names of the players at {whose}, read every {interval:?}")));
        }
    }
    if !facts.iter().any(|(fact, _)| *fact == "Counter") {
        facts.insert(0, ("Counter", "none".into()));
    }
    facts
}
