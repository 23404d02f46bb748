//! Log lines on stderr: `key=value` text or JSON with Agones' own keys.
//!
//! env_logger filters, the format is ours. The lines are written by a thread
//! of their own behind a bounded queue: a full stderr pipe must neither stall
//! a beat nor a stop, so lines are dropped then, and counted. A closed one is
//! ignored.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime};

use env_logger::{Target, WriteStyle};
use log::kv::{Error, Key, Value, VisitSource};
use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::log_line::ID;
use crate::machine::catalogue;
use crate::settings::{LogFormat, LogSettings, Variable};

/// Lines that wait for a slow stderr; each has some 200 bytes.
const QUEUE: usize = 1024;
/// How long leaving waits for them.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// Agones' name for who wrote a line.
const SOURCE: &str = "agones-shim";

/// Writes out what is queued; kept until the process leaves.
#[derive(Debug)]
pub struct Flusher(SyncSender<Item>);

impl Flusher {
    /// Waits until every line so far is written, for half a second at most.
    pub fn flush(&self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        let (done, written) = channel();
        let mut item = Item::Flush(done);
        while let Err(TrySendError::Full(back)) = self.0.try_send(item) {
            if Instant::now() >= deadline {
                return;
            }
            item = back;
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = written.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    Flush(Sender<()>),
}

/// Starts logging for the whole process. Levels have colours on a terminal, unless the environment has `NO_COLOR`.
///
/// # Errors
/// The system refuses a thread.
pub fn start(settings: &LogSettings, environment: &[Variable]) -> io::Result<Flusher> {
    let (queue, items) = sync_channel(QUEUE);
    Builder::new().name("log".into()).spawn(move || write_lines(&items))?;
    let json = match settings.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    };
    // https://no-color.org: present and not empty, whatever it says. A terminal that can do nothing says so by TERM.
    let has = |name: &str, value: &dyn Fn(&str) -> bool| {
        environment.iter().any(|(known, is)| known == name && is.to_str().is_none_or(value))
    };
    let plain = has("NO_COLOR", &|value| !value.is_empty()) || has("TERM", &|value| value == "dumb");
    let coloured = !plain && io::stderr().is_terminal();
    let logger = env_logger::Builder::new()
        .parse_filters(&settings.filter)
        .write_style(WriteStyle::Never)
        .target(Target::Pipe(Box::new(Queue { items: queue.clone(), dropped: 0, json })))
        .format(move |buffer, record| {
            let line = if json { json_line(&stamp(), record) } else { text_line(&stamp(), record, coloured) };
            buffer.write_all(line.as_bytes())
        })
        .build();
    log::set_max_level(logger.filter());
    // It fails where somebody else has set a logger: then that one writes.
    let _ = log::set_boxed_logger(Box::new(Ours { logger, named: named(&settings.filter) }));
    grpcio::redirect_log();
    // The default hook would write to stderr by itself, and a full pipe would hold up the way out of a bug.
    std::panic::set_hook(Box::new(
        |panic| log::error!(id = catalogue::PANIC; "panic: {}", one_line(&panic.to_string())),
    ));
    Ok(Flusher(queue))
}

/// `debug` is for what agones-shim does: lines of the libraries it uses come only where the filter names them, as in
/// `ureq=debug`, or wants all there is, as in `trace`; their warnings are everybody's.
///
/// gRPC's C core logs without a target and calls a refused connection an
/// error: its lines come with `grpc=trace` only.
struct Ours {
    logger: env_logger::Logger,
    /// The filter's modules.
    named: Vec<String>,
}

impl Ours {
    fn wants(&self, target: &str, level: Level) -> bool {
        level <= Level::Warn
            || is_in(target, env!("CARGO_CRATE_NAME"))
            || self.named.iter().any(|name| is_in(target, name))
    }
}

impl Log for Ours {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wants(metadata.target(), metadata.level()) && self.logger.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if record.target().is_empty() {
            if self.wants("grpc", Level::Trace) {
                self.logger.log(&record.to_builder().target("grpc").level(Level::Trace).build());
            }
        } else if self.wants(record.target(), record.level()) {
            self.logger.log(record);
        }
    }

    fn flush(&self) {
        self.logger.flush();
    }
}

/// The modules that a filter names, its levels left out; `trace` by itself names them all.
fn named(filter: &str) -> Vec<String> {
    let directives = filter.split('/').next().unwrap_or_default().split(',');
    let names = directives.filter_map(|directive| directive.split('=').next()).map(str::trim);
    let names = names.map(|name| if name.eq_ignore_ascii_case("trace") { "" } else { name });
    names.filter(|name| name.parse::<LevelFilter>().is_err()).map(str::to_owned).collect()
}

/// A target of this module, as env_logger takes it: by how it begins.
fn is_in(target: &str, module: &str) -> bool {
    target.starts_with(module)
}

fn write_lines(items: &Receiver<Item>) {
    let mut stderr = io::stderr();
    while let Ok(item) = items.recv() {
        match item {
            // Whoever reads the log is gone: that is no reason to stop working.
            Item::Line(line) => drop(stderr.write_all(&line)),
            Item::Flush(done) => drop(done.send(())),
        }
    }
}

/// The end of env_logger's pipe: never blocks.
struct Queue {
    items: SyncSender<Item>,
    dropped: usize,
    json: bool,
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.dropped > 0 {
            let message = format_args!("stderr was full: {} log lines were dropped", self.dropped);
            let id = (ID, catalogue::LINES_DROPPED);
            let record = Record::builder().level(Level::Warn).args(message).key_values(&id).build();
            let notice = if self.json { json_line(&stamp(), &record) } else { text_line(&stamp(), &record, false) };
            if self.items.try_send(Item::Line(notice.into_bytes())).is_ok() {
                self.dropped = 0;
            }
        }
        if self.items.try_send(Item::Line(line.to_vec())).is_err() {
            self.dropped += 1;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text_line(stamp: &str, record: &Record<'_>, coloured: bool) -> String {
    let level = record.level();
    let (colour, plain) = if coloured { (colour(level), "\x1b[0m") } else { ("", "") };
    let mut line = format!("{stamp} {colour}{level:<5}{plain} {}", one_line(&record.args().to_string()));
    let mut fields = TextFields(&mut line);
    // Visiting our own fields cannot fail: no visitor here returns an error.
    let _ = record.key_values().visit(&mut fields);
    line.push('\n');
    line
}

/// Red, yellow, green, and what is less is dim.
fn colour(level: Level) -> &'static str {
    match level {
        Level::Error => "\x1b[1;31m",
        Level::Warn => "\x1b[33m",
        Level::Info => "\x1b[32m",
        Level::Debug | Level::Trace => "\x1b[2m",
    }
}

struct TextFields<'a>(&'a mut String);

impl<'kvs> VisitSource<'kvs> for TextFields<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        if key.as_str() == ID {
            return Ok(());
        }
        let value = value.to_string();
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '"' && c != '=';
        *self.0 += &if !value.is_empty() && value.chars().all(plain) {
            format!(" {key}={value}")
        } else {
            format!(" {key}={value:?}")
        };
        Ok(())
    }
}

fn json_line(stamp: &str, record: &Record<'_>) -> String {
    let severity = catalogue::severity(record.level());
    let message = json_string(&record.args().to_string());
    let mut line =
        format!("{{\"time\":\"{stamp}\",\"severity\":\"{severity}\",\"source\":\"{SOURCE}\",\"message\":{message}");
    let _ = record.key_values().visit(&mut JsonFields(&mut line));
    line += "}\n";
    line
}

struct JsonFields<'a>(&'a mut String);

impl<'kvs> VisitSource<'kvs> for JsonFields<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        *self.0 += &format!(",{}:{}", json_string(key.as_str()), json_string(&value.to_string()));
        Ok(())
    }
}

/// A JSON string with its quotes.
#[must_use]
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// One event is one line, whatever a peer put into it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Now, as RFC 3339 in UTC with milliseconds: the one place that looks at the wall clock.
#[allow(clippy::disallowed_methods, reason = "log stamps are what the wall clock is for")]
fn stamp() -> String {
    rfc3339(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

fn rfc3339(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let millis = since_epoch.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Days since 1970-01-01 as a date of the Gregorian calendar. Years are
/// counted from March, so that the leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    // 0000-03-01 is 719,468 days before; an era of 400 years has 146,097.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_dates() {
        for (seconds, stamp) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Duration::from_secs(seconds)), stamp);
        }
        assert_eq!(rfc3339(Duration::from_millis(1_700_000_000_042)), "2023-11-14T22:13:20.042Z");
    }

    fn lines(fields: &[(&str, &str)]) -> (String, String) {
        let message = format_args!("stopping\nnow");
        let record = Record::builder().level(Level::Warn).args(message).key_values(&fields).build();
        (text_line("T", &record, false), json_line("T", &record))
    }

    #[test]
    fn a_filter_names_modules_and_a_level_names_none() {
        assert_eq!(named("debug"), [""; 0]);
        assert_eq!(named("trace"), [""], "everything");
        assert_eq!(named("warn, ureq=debug,agones_shim::probe/debug"), ["ureq", "agones_shim::probe"]);
    }

    #[test]
    fn levels_have_colours_where_they_are_wanted() {
        let record = Record::builder().level(Level::Warn).args(format_args!("slow")).build();
        assert_eq!(text_line("T", &record, true), "T \x1b[33mWARN \x1b[0m slow\n");
    }

    #[test]
    fn text_quotes_what_is_not_one_word() {
        let (text, _) = lines(&[
            ("id", "stopping"),
            ("reason", "connection refused"),
            ("port", "7777"),
            ("empty", ""),
            ("odd", "a=b\n"),
        ]);
        assert_eq!(text, "T WARN  stopping now reason=\"connection refused\" port=7777 empty=\"\" odd=\"a=b\\n\"\n");
    }

    #[test]
    fn json_has_agones_own_keys_and_escapes() {
        let (_, json) = lines(&[("id", "stopping"), ("reason", "say \"hi\"\\\u{1}\u{7f}é")]);
        assert_eq!(
            json,
            "{\"time\":\"T\",\"severity\":\"warning\",\"source\":\"agones-shim\",\"message\":\"stopping\\nnow\",\
             \"id\":\"stopping\",\"reason\":\"say \\\"hi\\\"\\\\\\u0001\\u007fé\"}\n"
        );
    }

    #[test]
    fn a_full_queue_drops_lines_and_says_so_when_it_has_room() {
        let (queue, items) = sync_channel(1);
        let mut pipe = Queue { items: queue, dropped: 0, json: false };
        for line in ["a", "b", "c"] {
            assert_eq!(pipe.write(line.as_bytes()).expect("never fails"), 1);
        }
        assert_eq!(pipe.dropped, 2);
        let next = |items: &Receiver<Item>| match items.try_recv() {
            Ok(Item::Line(line)) => String::from_utf8(line).expect("text"),
            other => panic!("no line: {other:?}"),
        };
        assert_eq!(next(&items), "a");
        pipe.write_all(b"d").expect("never fails");
        assert!(next(&items).contains("2 log lines were dropped"));
        assert_eq!(pipe.dropped, 1, "the notice took the one place");
    }
}
