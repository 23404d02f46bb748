//! The threads "scrape", one a source of counts: each reads its page, asks its server or runs its program, at once and
//! then at every interval, and reports what it read.
//!
//! It judges nothing: whether a failure matters, what is sent and when, is the machine's business. It ends when its
//! handle is dropped, after the scrape that is under way.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::game::child::Launcher;
use crate::machine::{Event, Reading};
use crate::net::deadline::Deadline;
use crate::net::http;
use crate::net::resolve::Resolver;
use crate::page::exposition::{Cause, MAX_READING, NoReading, Selector, Sum};
use crate::page::json;
use crate::probe::exec::Program;
use crate::query::{self, Wanted};
use crate::settings::{CounterSettings, HttpTarget, JsonSource, QueryTarget, Source};
use crate::worker::Worker;

/// One scrape takes at most this long, and never longer than the interval.
const LONGEST: Duration = Duration::from_secs(10);

/// A metrics text of this size has some 200,000 series: something is broken.
const BODY_CAP: usize = 16 * 1024 * 1024;

/// A page in JSON is in memory as a whole.
const PAGE_CAP: usize = 2 * 1024 * 1024;

/// The text format, which everything that speaks OpenMetrics speaks too.
const ACCEPT: &str = "text/plain;version=0.0.4;q=1,text/plain;q=0.5,*/*;q=0.1";

/// The running thread. There is nothing to tell it; dropping the handle stops it.
pub type Scrape = Worker<Infallible>;

/// Starts reading the source of this number, at once. One that runs a program needs a launcher.
///
/// # Errors
///
/// When the system refuses a thread.
pub fn spawn(
    source: usize,
    settings: &CounterSettings,
    launcher: Option<Launcher>,
    events: Sender<Event>,
) -> io::Result<Scrape> {
    let settings = settings.clone();
    Worker::spawn("scrape", events, move |handle, events| run(source, &settings, launcher.as_ref(), events, handle))
}

/// Scrapes until the other end of `handle` or of `events` has gone.
fn run(
    source: usize,
    settings: &CounterSettings,
    launcher: Option<&Launcher>,
    events: &Sender<Event>,
    handle: &Receiver<Infallible>,
) {
    let mut resolver = Resolver::new();
    let mut program = Program::default();
    let mut due = Instant::now();
    loop {
        let outcome = scrape(settings, launcher, &mut program, &mut resolver);
        if events.send(Event::Scraped { source, outcome }).is_err() {
            return;
        }
        due = next(due, Instant::now(), settings.interval);
        match handle.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(never) => match never {},
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One reading.
///
/// # Errors
///
/// The reason for people why there is none.
pub fn scrape(
    settings: &CounterSettings,
    launcher: Option<&Launcher>,
    program: &mut Program,
    resolver: &mut Resolver,
) -> Result<Reading, String> {
    let deadline = Deadline::after(LONGEST.min(settings.interval));
    match &settings.source {
        Source::Metrics { url, metric, missing_is_zero } => get(url, metric, *missing_is_zero, resolver, deadline),
        Source::Query { target, bots } => {
            ask(target, Wanted { names: settings.list.is_some(), bots: *bots }, resolver, deadline)
        }
        Source::Json(source) => page(source, resolver, deadline),
        Source::Exec(argv) => {
            let launcher = launcher.ok_or("nothing to start it with")?;
            program.run(launcher, argv, deadline).and_then(|line| printed(&line))
        }
        // Their lines come by themselves: `tally` reads them.
        Source::Lines(_) => Err("it is counted by lines".into()),
    }
}

/// What the program prints: how many there are, and how many there may be.
fn printed(line: &str) -> Result<Reading, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |word: &&str| {
        let number = word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<u64>().ok()).flatten();
        number.filter(|number| *number <= MAX_READING)
    };
    let numbers: Option<Vec<u64>> = words.iter().map(number).collect();
    match numbers.as_deref() {
        Some(&[count]) => Ok(Reading { count, ..Reading::default() }),
        Some(&[count, most]) => Ok(Reading { count, capacity: Some(most), ..Reading::default() }),
        _ if words.is_empty() => Err("it has printed nothing (print COUNT, or COUNT CAPACITY)".into()),
        _ => Err("its last line is not COUNT, or COUNT CAPACITY, in digits".into()),
    }
}

fn page(source: &JsonSource, resolver: &mut Resolver, deadline: Deadline) -> Result<Reading, String> {
    let JsonSource { url, count, capacity, header } = source;
    let addresses = resolver.addresses(&url.host, url.port, deadline)?;
    let mut headers = vec![("Accept", "application/json,*/*;q=0.1")];
    headers.extend(header.as_ref().map(|header| (header.name.as_str(), header.value.0.as_str())));
    let mut page = Vec::new();
    let response = http::get(url, &addresses, deadline, &headers, PAGE_CAP, |chunk| page.extend_from_slice(chunk))
        .map_err(|failure| failure.reason)?;
    if response.status != 200 {
        return Err(response.describe());
    }
    if !response.complete {
        return Err(format!("the page is more than {} MiB", PAGE_CAP >> 20));
    }
    let count = json::read(&page, count)?;
    // As with a query that does not tell it: a maximum that cannot be read changes nothing.
    let capacity = capacity.as_ref().and_then(|capacity| json::read(&page, capacity).ok());
    Ok(Reading { count, capacity, ..Reading::default() })
}

fn ask(target: &QueryTarget, wanted: Wanted, resolver: &mut Resolver, deadline: Deadline) -> Result<Reading, String> {
    let addresses = resolver.addresses(&target.host, target.port, deadline)?;
    let answer = query::ask(target, &addresses, wanted, deadline).map_err(|failure| failure.reason)?;
    let count = answer.players.ok_or("the answer does not say how many players there are")?;
    Ok(Reading { count, capacity: answer.capacity, names: answer.names, ..Reading::default() })
}

fn get(
    url: &HttpTarget,
    metric: &Selector,
    missing_is_zero: bool,
    resolver: &mut Resolver,
    deadline: Deadline,
) -> Result<Reading, String> {
    let addresses = resolver.addresses(&url.host, url.port, deadline)?;
    let mut sum = Sum::new(metric);
    if missing_is_zero {
        sum = sum.strict();
    }
    let mut last = None;
    let feed = |chunk: &[u8]| {
        last = chunk.last().copied().or(last);
        sum.feed(chunk);
    };
    let response = http::get(url, &addresses, deadline, &[("Accept", ACCEPT)], BODY_CAP, feed)
        .map_err(|failure| failure.reason)?;
    if response.status != 200 {
        return Err(response.describe());
    }
    if !response.complete {
        return Err(format!("the metrics are more than {} MiB", BODY_CAP >> 20));
    }
    // A number that was cut is a smaller number.
    if !response.framed && last.is_some_and(|byte| byte != b'\n') {
        return Err("the answer has no length and ends inside a line, so it may have been cut".into());
    }
    match sum.finish() {
        Ok(count) => Ok(Reading { count, ..Reading::default() }),
        // That nothing is there says something only of a text that is known to be whole.
        Err(NoReading { cause: Cause::NotFound | Cause::OtherLabels { .. }, .. })
            if missing_is_zero && response.framed =>
        {
            Ok(Reading { missing: true, ..Reading::default() })
        }
        Err(reason) if missing_is_zero && !response.framed => {
            Err(format!("{reason}, and the answer has no length, so it may have been cut"))
        }
        Err(reason) => Err(reason.to_string()),
    }
}

/// The first point after `now` that is a whole number of intervals after `due`: scrapes that were missed are not made
/// up for, and the rhythm stays.
fn next(due: Instant, now: Instant, interval: Duration) -> Instant {
    let missed = now.saturating_duration_since(due).as_nanos() / interval.as_nanos().max(1);
    due + interval.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX - 1) + 1)
}

#[cfg(test)]
mod tests;
