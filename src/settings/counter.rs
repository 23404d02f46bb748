//! Counters and the List: up to nine sources of readings, numbered from the second on, what they are published as, and
//! what cannot be meant together.

use std::borrow::Cow;
use std::time::Duration;

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Fact, Series, Setting, Shown, Subject};
use super::text::pattern::{Pattern, pattern};
use super::text::plain::{counter_name, list_name, one_line, one_of, quote, seconds, switch, word};
use super::text::target::{Header, HttpTarget, QueryTarget};
use super::text::words::{self, Words};
use super::text::{query, url};
use super::{LOGIN, game_log, readiness};
use crate::page::exposition::Selector;
use crate::page::json::Pointer;
use crate::query::protocol::{Names, those_that};

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
    .common("Counter to publish, declared in the spec");

static METRICS_URL: Setting<HttpTarget> = Setting::one("AGONES_SHIM_COUNTER_METRICS_URL", "URL", url::http)
    .help("Where its value is read: a Prometheus text endpoint, `http://` only")
    .shown(Shown::Url)
    .numbered(&COUNTERS)
    .common("Prometheus page to read it from");

// Its errors begin with the quoted text themselves.
static METRIC: Setting<Selector> =
    Setting::several("AGONES_SHIM_COUNTER_METRIC", "METRIC", |text| text.parse().map_err(|wrong| vec![wrong]))
        .help("Metric to read: `name` or `name{label=\"value\",...}`, all series that match are summed")
        .numbered(&COUNTERS)
        .common(r#"metric on that page: name{label="value"}"#);

static MISSING: Setting<bool> = Setting::one("AGONES_SHIM_COUNTER_MISSING", "ACTION", |text| {
    word(text, &[("keep", false), ("zero", true)])
})
.help("What a metrics page without the metric means: `keep` the last value, or `zero` where the game drops a series when nobody is there")
.default("keep")
.numbered(&COUNTERS);

static QUERY: Setting<QueryTarget> = Setting::one("AGONES_SHIM_COUNTER_QUERY", "QUERY", counted)
    .help("Where the value is read instead: a server that is asked how many play, `protocol://host:port`, as `a2s://:27015`")
    .numbered(&COUNTERS)
    .common("or the query that tells how many play");

static JSON_URL: Setting<HttpTarget> = Setting::one("AGONES_SHIM_COUNTER_JSON_URL", "URL", url::http)
    .help("Where the value is read instead: a page in JSON, `http://` only")
    .shown(Shown::Url)
    .numbered(&COUNTERS);

static JSON_COUNT: Setting<Pointer> = Setting::one("AGONES_SHIM_COUNTER_JSON_COUNT", "POINTER", str::parse)
    .help("Place of the value on the page, as a JSON pointer: `/players/online`. An array or object counts its length")
    .numbered(&COUNTERS);

static JSON_CAPACITY: Setting<Pointer> = Setting::one("AGONES_SHIM_COUNTER_JSON_CAPACITY", "POINTER", str::parse)
    .help("Place of the most that it can be, which becomes the Counter's capacity")
    .numbered(&COUNTERS);

static JSON_HEADER: Setting<Header> = Setting::one("AGONES_SHIM_COUNTER_JSON_HEADER", "HEADER", url::header)
    .help("Header sent with the request for the page, `Name: value`; never shown")
    .shown(Shown::Secret)
    .numbered(&COUNTERS);

static EXEC: Setting<Words> = Setting::one("AGONES_SHIM_COUNTER_EXEC", "COMMAND", words::split)
    .help("Program that prints the value instead: its last line is `COUNT`, or `COUNT CAPACITY`, and it exits 0. Written like `AGONES_SHIM_READY_EXEC`")
    .shown(Shown::Command)
    .numbered(&COUNTERS);

static LOG: Setting<Pattern> = Setting::one("AGONES_SHIM_COUNTER_LOG", "REGEX", counting_pattern)
    .help(r"Regular expression whose first group is the value, in a line that the game writes: `^Players: (\d+)`. Without `^` in front, players can write such lines in chat")
    .numbered(&COUNTERS);

static JOIN_LOG: Setting<Pattern> = Setting::one("AGONES_SHIM_COUNTER_JOIN_LOG", "REGEX", pattern)
    .help(r"Regular expression of lines that say that a player has come: `^(\S+) joined$`. With a group for who it is, each counts once. A value by `AGONES_SHIM_COUNTER_LOG` wins")
    .numbered(&COUNTERS);

static LEAVE_LOG: Setting<Pattern> = Setting::one("AGONES_SHIM_COUNTER_LEAVE_LOG", "REGEX", pattern)
    .help("The same of lines that say that a player has gone, with a group where `AGONES_SHIM_COUNTER_JOIN_LOG` has one: `^(\\S+) left$`")
    .numbered(&COUNTERS);

static CAPACITY: Setting<bool> = Setting::one("AGONES_SHIM_COUNTER_CAPACITY", "SWITCH", switch)
    .help("`1` makes the most players that the queried server takes the Counter's capacity")
    .default("0")
    .numbered(&COUNTERS);

static BOTS: Setting<bool> = Setting::one("AGONES_SHIM_COUNTER_BOTS", "SWITCH", switch)
    .help("`0` leaves bots out of the count, where the query's answer tells them: a2s and quake3")
    .default("1")
    .numbered(&COUNTERS);

static INTERVAL: Setting<Duration> = Setting::one("AGONES_SHIM_COUNTER_INTERVAL_SECS", "SECONDS", seconds)
    .help("Time between readings, which is also the longest that one may take if it is below 10; of lines, the least between two changes")
    .default("30")
    .numbered(&COUNTERS);

static LIST_NAME: Setting<String> = Setting::one("AGONES_SHIM_LIST_NAME", "NAME", list_name)
    .help("List that holds the names of the players that `AGONES_SHIM_COUNTER_QUERY` or `AGONES_SHIM_COUNTER_JOIN_LOG` finds, and nothing else; must exist in the spec");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Counters and List",
    rows: &[
        &NAME,
        &METRICS_URL,
        &METRIC,
        &MISSING,
        &QUERY,
        &JSON_URL,
        &JSON_COUNT,
        &JSON_CAPACITY,
        &JSON_HEADER,
        &EXEC,
        &LOG,
        &JOIN_LOG,
        &LEAVE_LOG,
        &CAPACITY,
        &BOTS,
        &INTERVAL,
        &LIST_NAME,
    ],
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
    Query {
        /// Which, and in what protocol.
        target: QueryTarget,
        /// Bots count as players.
        bots: bool,
    },
    /// A page in JSON.
    Json(JsonSource),
    /// A program and its arguments, never empty: it prints how many, and how many there may be.
    Exec(Vec<String>),
    /// Lines that the game writes.
    Lines(LineSource),
}

/// Lines that the game writes, and what they say of the number of players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineSource {
    /// The first group is the number.
    pub count: Option<Pattern>,
    /// One has come, one has gone; both have a group for who it is, or neither.
    pub moves: Option<(Pattern, Pattern)>,
}

impl LineSource {
    /// Players are told apart.
    pub(crate) fn has_names(&self) -> bool {
        self.moves.as_ref().is_some_and(|(join, _)| join.has_groups())
    }

    fn shown(&self) -> String {
        let moves = self.moves.as_ref().map(|(join, leave)| {
            let what = if join.has_groups() { "players" } else { "lines" };
            format!("the number of {what} by {join} less those by {leave}")
        });
        let count = self.count.as_ref().map(|count| format!("the number in lines like {count}"));
        [moves, count].into_iter().flatten().collect::<Vec<_>>().join(", and ")
    }
}

/// A page in JSON, and where on it the numbers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonSource {
    /// Where it is.
    pub url: HttpTarget,
    /// The value.
    pub count: Pointer,
    /// The most that it can be.
    pub capacity: Option<Pointer>,
    /// Sent with the request.
    pub header: Option<Header>,
}

impl CounterSettings {
    /// Every source with what it is published as, in the order of their numbers.
    pub(crate) fn all(values: &Values) -> Vec<Self> {
        numbers().filter_map(|number| Self::new(values, number)).collect()
    }

    fn new(values: &Values, number: usize) -> Option<Self> {
        let source = source(values, number)?;
        // Whoever says where a maximum is, or prints one, wants it published.
        let tells_capacity = matches!(&source, Source::Exec(_) | Source::Json(JsonSource { capacity: Some(_), .. }));
        Some(Self {
            name: values.get_numbered(&NAME, number),
            publish_capacity: tells_capacity || values.or_default_numbered(&CAPACITY, number),
            source,
            interval: values.or_default_numbered(&INTERVAL, number),
            list: values.get(&LIST_NAME).filter(|_| number == 1),
        })
    }
}

fn source(values: &Values, number: usize) -> Option<Source> {
    if let Some(target) = values.get_numbered(&QUERY, number) {
        return Some(Source::Query { target, bots: values.or_default_numbered(&BOTS, number) });
    }
    if let Some(words) = values.get_numbered(&EXEC, number) {
        return Some(Source::Exec(words.argv));
    }
    let moves = values.get_numbered(&JOIN_LOG, number).zip(values.get_numbered(&LEAVE_LOG, number));
    let lines = LineSource { count: values.get_numbered(&LOG, number), moves };
    if lines.count.is_some() || lines.moves.is_some() {
        return Some(Source::Lines(lines));
    }
    if let Some(url) = values.get_numbered(&JSON_URL, number) {
        return Some(Source::Json(JsonSource {
            url,
            count: values.get_numbered(&JSON_COUNT, number)?,
            capacity: values.get_numbered(&JSON_CAPACITY, number),
            header: values.get_numbered(&JSON_HEADER, number),
        }));
    }
    Some(Source::Metrics {
        url: values.get_numbered(&METRICS_URL, number)?,
        metric: values.get_numbered(&METRIC, number)?,
        missing_is_zero: values.or_default_numbered(&MISSING, number),
    })
}

/// The sources of this Counter: the variables that make up each.
fn sources(number: usize) -> [Vec<Cow<'static, str>>; 6] {
    [
        vec![METRICS_URL.name_of(number), METRIC.name_of(number)],
        vec![QUERY.name_of(number)],
        vec![JSON_URL.name_of(number), JSON_COUNT.name_of(number)],
        vec![EXEC.name_of(number)],
        vec![LOG.name_of(number)],
        vec![JOIN_LOG.name_of(number), LEAVE_LOG.name_of(number)],
    ]
}

fn numbers() -> std::ops::RangeInclusive<usize> {
    1..=COUNTERS.last
}

/// Something is read, whichever Counter it is for.
pub(super) fn is_any_source_set(values: &Values) -> bool {
    numbers().any(|number| sources(number).iter().any(|source| values.is_set(&source[0])))
}

/// Something is counted by lines.
pub(super) fn is_any_line_set(values: &Values) -> bool {
    numbers().any(|number| values.is_any_set(&lines(number).each_ref().map(|name| &**name)))
}

fn lines(number: usize) -> [Cow<'static, str>; 3] {
    [LOG.name_of(number), JOIN_LOG.name_of(number), LEAVE_LOG.name_of(number)]
}

/// A pattern with a group for a number.
fn counting_pattern(text: &str) -> Result<Pattern, String> {
    let pattern = pattern(text)?;
    if pattern.has_groups() {
        Ok(pattern)
    } else {
        Err(r"has no group for the number of players (write (\d+) where it stands)".into())
    }
}

/// A server that says how many players it has.
fn counted(text: &str) -> Result<QueryTarget, String> {
    let target = query::target(text)?;
    if target.protocol.counts {
        Ok(target)
    } else {
        Err("does not say how many players there are (write a protocol that does, as a2s://:27015)".into())
    }
}

fn check(mode: Mode, values: &Values, findings: &mut Findings) {
    for number in numbers() {
        check_lines(mode, values, number, findings);
        check_sources(values, number, findings);
        check_other_source(values, number, findings);
    }
    check_names(values, findings);
    check_list(values, findings);
}

/// A Counter has a name and one source.
fn check_sources(values: &Values, number: usize, findings: &mut Findings) {
    let name = NAME.name_of(number);
    let sources = sources(number);
    let is_set = |variable: &str| values.is_set(variable);
    let are_set = |variables: &[&str]| {
        let set: Vec<&str> = variables.iter().copied().filter(|variable| is_set(variable)).collect();
        format!("{} {}", set.join(" and "), if set.len() == 1 { "is" } else { "are" })
    };
    let in_words = sources.each_ref().map(|source| source.join(" with "));
    let in_words = one_of(&in_words.each_ref().map(String::as_str));
    let has_some = |source: &Vec<Cow<str>>| source.iter().any(|variable| is_set(variable));
    // A number in a line goes with joins and leaves.
    let is_besides = |place: usize| place == 4 && has_some(&sources[5]);
    let set = sources.iter().enumerate().filter(|(place, source)| has_some(source) && !is_besides(*place));
    let set: Vec<&Vec<Cow<str>>> = set.map(|(_, source)| source).collect();
    if let [others @ .., last] = set.as_slice()
        && !others.is_empty()
    {
        let others: Vec<&str> = others.iter().flat_map(|source| source.iter().map(|variable| &**variable)).collect();
        let variable = last.iter().find(|variable| is_set(variable)).unwrap_or(&last[0]);
        let message = format!("is set, but {} too (a Counter has one source: {in_words})", are_set(&others));
        findings.error(variable.clone(), message);
    }
    let mut wanted: Vec<&str> = match set.as_slice() {
        [source] => source.iter().map(|variable| &**variable).collect(),
        [] if is_set(&name) => sources[0].iter().map(|variable| &**variable).collect(),
        [] => return,
        // Which of them is meant, and so what it lacks, is not known.
        _ => Vec::new(),
    };
    let has_names = wanted == [QUERY.name()] || wanted == [JOIN_LOG.name(), LEAVE_LOG.name()];
    let is_only_a_list = number == 1 && is_set(LIST_NAME.name()) && has_names;
    if !is_only_a_list {
        wanted.insert(0, &name);
    }
    let all: Vec<&str> = std::iter::once(&*name).chain(sources.iter().flatten().map(|variable| &**variable)).collect();
    let message = format!("is not set, but {} (a Counter has a name and a source: {in_words})", are_set(&all));
    for variable in wanted.into_iter().filter(|variable| !is_set(variable)) {
        findings.error(variable.to_owned(), message.clone());
    }
}

/// What is about lines.
fn check_lines(mode: Mode, values: &Values, number: usize, findings: &mut Findings) {
    let set = lines(number).into_iter().filter(|variable| values.is_set(variable));
    if mode == Mode::Sidecar && !values.is_set(game_log::FILE.name()) {
        set.for_each(|variable| findings.error(variable, readiness::no_output()));
    }
    let (join, leave) = (JOIN_LOG.name_of(number), LEAVE_LOG.name_of(number));
    let Some((joins, leaves)) = values.get_numbered(&JOIN_LOG, number).zip(values.get_numbered(&LEAVE_LOG, number))
    else {
        return;
    };
    if joins.has_groups() != leaves.has_groups() {
        let (with, without) = if joins.has_groups() { (&join, &leave) } else { (&leave, &join) };
        let message = format!(
            "has no group that says who it is, and {with} has one (write one in both, as ^(\\S+) joined, or (?:...) in neither)"
        );
        findings.error(without.clone(), format!("{} {message}", values.quoted(without)));
    }
    for (variable, pattern) in [(join, joins), (leave, leaves)] {
        if pattern.is_match(b"") {
            let message = format!("{} matches every line (write what only such lines have)", values.quoted(&variable));
            findings.warn(variable, message);
        }
    }
}

/// What is about the other source.
fn check_other_source(values: &Values, number: usize, findings: &mut Findings) {
    let (name, url, query) = (NAME.name_of(number), METRICS_URL.name_of(number), QUERY.name_of(number));
    let json_url = JSON_URL.name_of(number);
    let tells_capacity = values.is_any_set(&[&query, &JSON_CAPACITY.name_of(number), &EXEC.name_of(number)]);
    if values.or_default_numbered(&CAPACITY, number) && !(tells_capacity && values.is_set(&name)) {
        let message = format!("\"1\" needs {query}, whose answer has the capacity, and {name} (write 0, or unset it)");
        findings.error(CAPACITY.name_of(number), message);
    }
    if !values.or_default_numbered(&BOTS, number)
        && let Some(message) = bots_untold(values, number)
    {
        findings.error(BOTS.name_of(number), message);
    }
    for variable in [JSON_CAPACITY.name_of(number), JSON_HEADER.name_of(number)] {
        if values.is_set(&variable) && !values.is_set(&json_url) {
            findings.error(variable, format!("is about a page in JSON, so it needs {json_url}"));
        }
    }
    if values.or_default_numbered(&MISSING, number) && !values.is_set(&url) {
        let message = format!("\"zero\" is about a metric, so it needs {url} (write keep, or unset it)");
        findings.error(MISSING.name_of(number), message);
    }
}

/// Why bots cannot be left out.
fn bots_untold(values: &Values, number: usize) -> Option<String> {
    let query = QUERY.name_of(number);
    match values.get_numbered(&QUERY, number) {
        Some(target) if target.protocol.tells_bots => None,
        Some(target) => Some(format!(
            "\"0\" cannot be done with {}: its answer does not tell bots from players ({} do; write 1, or unset it)",
            target.protocol.name,
            those_that(|protocol| protocol.tells_bots)
        )),
        None if values.is_set(&query) => None,
        None => Some(format!("\"0\" needs {query}, whose answer tells bots from players (write 1, or unset it)")),
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
    let all = || those_that(|protocol| protocol.names == Names::All);
    if let (Some(joins), false) = (values.get(&JOIN_LOG), values.is_set(QUERY.name())) {
        if !joins.has_groups() {
            let message = format!(
                "{} cannot be filled: {} has no group for the name (write ^(\\S+) joined)",
                quote(&name),
                JOIN_LOG.name()
            );
            findings.error(LIST_NAME.name(), message);
        }
        return;
    }
    let wrong = match values.get(&QUERY).map(|target| target.protocol) {
        Some(protocol) => match protocol.names {
            Names::All => return,
            Names::Sample => format!(
                "cannot be filled: {}'s answer names a dozen players at random ({} name all)",
                protocol.name,
                all()
            ),
            Names::Nobody => {
                format!("cannot be filled: {}'s answer has no names in it ({} have them)", protocol.name, all())
            }
        },
        None if values.is_any_set(&[QUERY.name(), JOIN_LOG.name()]) => return,
        None => format!(
            "needs {}: the names come with its answer (write a2s://:27015), or {}",
            QUERY.name(),
            JOIN_LOG.name()
        ),
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
            Source::Query { target, bots } => {
                let who = if *bots { "players" } else { "players without the bots" };
                (format!("the number of {who} at {target}"), format!("at {target}"))
            }
            Source::Json(JsonSource { url, count, header, .. }) => {
                let login = if url.credentials.is_some() { LOGIN } else { "" };
                let header = header.as_ref().map(|header| format!(", asked with the header {}: ***", header.name));
                (format!("{count} of the page {url}{login}{}", header.unwrap_or_default()), String::new())
            }
            Source::Exec(argv) => (format!("what \"{}\" prints", words::shown_program(argv)), String::new()),
            Source::Lines(lines) => (lines.shown(), "by the game's lines".into()),
        };
        let capacity = if publish_capacity { ", its capacity the most that it takes" } else { "" };
        if let Some(name) = name {
            facts.push(("Counter", format!("{name:?} is {count}{capacity}, read every {interval:?}")));
        }
        if let Some(list) = list {
            facts.push(("List", format!("{list:?} has the names of the players {whose}, read every {interval:?}")));
        }
    }
    if !facts.iter().any(|(fact, _)| *fact == "Counter") {
        facts.insert(0, ("Counter", "none".into()));
    }
    facts
}
