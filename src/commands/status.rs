//! `agones-shim status`: what `/status` says, as a person wants to read it.
//!
//! It takes any version's page: what is missing there is not shown here.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU16;
use std::time::Duration;

use serde_json::Value;

use super::args::{Argument, Arguments, Usage, utf8};
use super::output::{reject, say};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::net::deadline::Deadline;
use crate::net::http;
use crate::net::resolve::Resolver;
use crate::settings::{Host, HttpTarget, StatusAddr, Variable, insight, status_addr};

/// The endpoint itself waits for 3 s at most.
const TIMEOUT: Duration = Duration::from_secs(5);
const BODY_CAP: usize = 1024 * 1024;
/// Between two looks.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

pub(super) static COMMAND: Command = Command {
    name: "status",
    arguments: "[ADDR] [--watch] [--json]",
    summary: "shows what the status endpoint says",
    words: &[("--watch", "again and again, each second (-w)"), ("--json", "the whole answer, for programs")],
    details: &["ADDR is where the endpoint of the running shim listens: 9360, or 127.0.0.1:9360."],
    reads: Reads::Some(insight::STATUS),
    run: |args, environment| Ok(run(&parse(args)?, environment)),
};

/// What to show, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Instead of `AGONES_SHIM_STATUS_ADDR`.
    pub addr: Option<StatusAddr>,
    pub watch: bool,
    pub json: bool,
}

pub(super) fn parse(args: Vec<OsString>) -> Result<Options, Usage> {
    let mut options = Options { addr: None, watch: false, json: false };
    let mut arguments = Arguments::new(args);
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Option(option) if option == "--watch" || option == "-w" => options.watch = true,
            Argument::Option(option) if option == "--json" => options.json = true,
            Argument::Value(value) if options.addr.is_none() => {
                let text = utf8(&value)?;
                let addr = status_addr(text).map_err(|wrong| Usage::new(format!("status: {text:?} {wrong}")))?;
                options.addr = Some(addr);
            }
            other => return Err(Usage::unexpected(&COMMAND, &other)),
        }
    }
    Ok(options)
}

/// The address given, else that of the environment.
fn run(options: &Options, environment: Vec<Variable>) -> ExitReason {
    let addr = match &options.addr {
        Some(addr) => Some(addr.clone()),
        None => match insight::read_status_endpoint(environment) {
            Ok((addr, _)) => addr,
            Err(rejected) => return reject(&rejected),
        },
    };
    let Some(addr) = addr else {
        say("status: no address (write agones-shim status 9360, or set AGONES_SHIM_STATUS_ADDR)");
        return ExitReason::Usage;
    };
    let show_page = |page: &Value| if options.json { format!("{page}\n") } else { render(page) };
    let mut resolver = Resolver::new();
    if !options.watch {
        return match look(&addr, &mut resolver) {
            // Whoever closes it early has read enough.
            Ok(page) => show(&show_page(&page)).map_or(ExitReason::Stopped, |()| ExitReason::Stopped),
            Err(error) => {
                say(&format!("status: {error}"));
                ExitReason::GameServerGone
            }
        };
    }
    let redraws = io::stdout().is_terminal() && !options.json;
    loop {
        let page = match look(&addr, &mut resolver) {
            Ok(page) => show_page(&page),
            // A program reads pages; what keeps one from coming is for people.
            Err(error) if options.json => {
                say(&format!("status: {error}"));
                String::new()
            }
            Err(error) => format!("{error}\n"),
        };
        // Home, then each line to its end and the rest of the screen are cleared: that does not flicker.
        let text = match page {
            page if redraws => format!("\x1b[H{}\x1b[J", page.replace('\n', "\x1b[K\n")),
            page if options.json => page,
            page => page + "\n",
        };
        if show(&text).is_err() {
            return ExitReason::Stopped;
        }
        std::thread::sleep(WATCH_INTERVAL);
    }
}

fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn look(addr: &StatusAddr, resolver: &mut Resolver) -> Result<Value, String> {
    let target = target(addr);
    let url = &target.url;
    let deadline = Deadline::after(TIMEOUT);
    let addresses = resolver.addresses(&target.host, target.port, deadline)?;
    let mut body = Vec::new();
    let response = http::get(&target, &addresses, deadline, &[], BODY_CAP, |chunk| body.extend_from_slice(chunk))
        .map_err(|failure| format!("{url}: {}", failure.reason))?;
    if !response.is_success() {
        return Err(format!("{url}: {}", response.describe()));
    }
    serde_json::from_slice(&body).map_err(|error| format!("{url}: not a status page: {error}"))
}

/// Where an endpoint can be reached that listens there.
fn target(addr: &StatusAddr) -> HttpTarget {
    let (host, port): (Host, NonZeroU16) = match addr {
        StatusAddr::AllAddresses(port) => (Host::Loopback, *port),
        StatusAddr::Host(Host::Ip(ip), port) if ip.is_unspecified() => (Host::Loopback, *port),
        StatusAddr::Host(host, port) => (host.clone(), *port),
    };
    HttpTarget { url: format!("http://{host}:{port}/status"), credentials: None, host, port }
}

/// One screen.
fn render(page: &Value) -> String {
    let mut out = Lines(String::new());
    let beats = &page["beats"];
    let health = &page["health"];
    let sdk = &page["sdk"];
    let phase = [word(&page["phase"]), since(&page["phase_seconds"], "for ")];
    out.line("phase", &phase);
    out.line("waiting for", &[word(&page["waiting_for"]), after("last: ", &page["last_failure"])]);
    out.line(
        "shim",
        &[
            word(&page["version"]),
            word(&page["mode"]),
            since(&page["uptime_seconds"], "up for "),
            after("child ", &page["child"]),
        ],
    );
    let link = match (sdk["mode"].as_str(), sdk["up"].as_bool(), sdk["probe_only"].as_bool()) {
        (Some("off"), ..) => "off".to_owned(),
        (_, Some(true), _) => "connected".to_owned(),
        (.., Some(true)) => "not there, running probe-only".to_owned(),
        _ => "not there".to_owned(),
    };
    out.line(
        "sdk",
        &[
            word(&sdk["endpoint"]),
            link,
            since(&sdk["seconds"], "for "),
            counted(&sdk["restarts"], "restart"),
            word(&sdk["last_error"]),
        ],
    );
    let game_server = &page["gameserver"];
    out.line(
        "gameserver",
        &[
            word(&game_server["name"]),
            word(&game_server["state"]),
            if game_server["deleting"] == true { "being deleted".to_owned() } else { String::new() },
            since(&game_server["seconds"], "read ").map_suffix(" ago"),
        ],
    );
    for kind in ["readiness", "liveness"] {
        let age = since(&page[kind]["seconds"], "").map_suffix(" ago");
        for probe in list(&page[kind]["probes"]) {
            let outcome = if probe["passed"] == true { "passed".to_owned() } else { word(&probe["reason"]) };
            out.line(kind, &[word(&probe["probe"]), outcome, age.clone()]);
        }
    }
    if health["failed_rounds"].as_u64() > Some(0) {
        let of = format!("{} of {} failed rounds", word(&health["failed_rounds"]), word(&health["threshold"]));
        out.line("", &[of]);
    }
    out.line(
        "beats",
        &[
            after("sent ", &beats["sent"]),
            after("withheld ", &beats["withheld"]),
            after("failed ", &beats["failed"]),
            since(&beats["interval_seconds"], "every "),
            since(&beats["last_sent_seconds"], "last ").map_suffix(" ago"),
        ],
    );
    published(&mut out, page);
    let stop = &page["stop"];
    out.line(
        "stop",
        &[
            word(&stop["reason"]),
            since(&stop["seconds"], "for "),
            after("Shutdown() ", &stop["shutdown"]),
            if stop["hook_running"] == true { "hook runs".to_owned() } else { String::new() },
        ],
    );
    for call in list(&page["calls"]) {
        let outcomes = ["ok", "timeout", "unavailable", "rejected"];
        let counts = outcomes.into_iter().filter(|outcome| call[outcome].as_u64() > Some(0));
        let counts: Vec<String> = counts.map(|outcome| format!("{outcome} {}", call[outcome])).collect();
        let calls: u64 = outcomes.into_iter().filter_map(|outcome| call[outcome].as_u64()).sum();
        #[allow(clippy::cast_precision_loss, reason = "a mean for people")]
        let mean = call["seconds"].as_f64().map(|sum| format!("{:.1} ms", sum * 1000.0 / calls.max(1) as f64));
        out.line(
            "call",
            &[word(&call["method"]), counts.join(", "), mean.unwrap_or_default(), word(&call["last_error"])],
        );
    }
    out.0
}

fn published(out: &mut Lines, page: &Value) {
    // Versions that know one Counter have no list of them.
    let counters = page["counters"].as_array().map_or(std::slice::from_ref(&page["counter"]), Vec::as_slice);
    for counter in counters {
        out.line(
            "counter",
            &[
                word(&counter["name"]),
                after("read ", &counter["reading"]),
                after("sent ", &counter["sent"]),
                after("capacity ", &counter["capacity"]),
                word(&counter["error"]),
            ],
        );
    }
    let names = &page["list"];
    out.line(
        "list",
        &[
            word(&names["name"]),
            after("names ", &names["names"]),
            after("holds ", &names["values"]),
            after("capacity ", &names["capacity"]),
            word(&names["error"]),
        ],
    );
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Text and numbers as they stand; nothing for what is not there. Control characters are the terminal's, not a peer's.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => String::new(),
    }
}

fn after(prefix: &str, value: &Value) -> String {
    let word = word(value);
    if word.is_empty() { word } else { format!("{prefix}{word}") }
}

fn counted(value: &Value, what: &str) -> String {
    match value.as_u64() {
        None | Some(0) => String::new(),
        Some(1) => format!("1 {what}"),
        Some(count) => format!("{count} {what}s"),
    }
}

/// `0.3s`, `42s`, `5m 10s`, `3h 2m`, `2d 4h`.
fn since(value: &Value, prefix: &str) -> String {
    let Some(seconds) = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0) else {
        return String::new();
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and it is not negative")]
    let whole = seconds as u64;
    let age = match whole {
        0..10 => format!("{seconds:.1}s"),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m {}s", whole / 60, whole % 60),
        3600..86_400 => format!("{}h {}m", whole / 3600, whole / 60 % 60),
        _ => format!("{}d {}h", whole / 86_400, whole / 3600 % 24),
    };
    format!("{prefix}{age}")
}

/// A suffix for what is there.
trait Suffix {
    fn map_suffix(self, suffix: &str) -> String;
}

impl Suffix for String {
    fn map_suffix(self, suffix: &str) -> String {
        if self.is_empty() { self } else { self + suffix }
    }
}

struct Lines(String);

impl Lines {
    /// A name and what there is to say; nothing where there is nothing.
    fn line(&mut self, name: &str, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        if !words.is_empty() {
            self.0 += &format!("{name:<12} {}\n", words.join("  "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_people_do() {
        for (seconds, wanted) in [
            ("0", "0.0s"),
            ("9.94", "9.9s"),
            ("59.9", "59s"),
            ("310", "5m 10s"),
            ("10920", "3h 2m"),
            ("187200", "2d 4h"),
            ("1e300", "213503982334601d 7h"),
            ("-1", ""),
            ("null", ""),
        ] {
            assert_eq!(since(&serde_json::from_str(seconds).expect("JSON"), ""), wanted, "{seconds}");
        }
    }

    #[test]
    fn a_page_of_another_version_or_none_at_all_is_shown_as_far_as_it_goes() {
        assert_eq!(render(&Value::Null), "sdk          not there\n");
        let page = serde_json::from_str(r#"{"phase":"ready\u001b[2J","phase_seconds":5,"new":[1]}"#).expect("JSON");
        assert_eq!(render(&page), "phase        ready [2J  for 5.0s\nsdk          not there\n");
    }

    #[test]
    fn what_listens_everywhere_is_reached_by_loopback() {
        for (addr, url) in [
            ("9360", "http://localhost:9360/status"),
            ("0.0.0.0:9360", "http://localhost:9360/status"),
            ("[::]:9360", "http://localhost:9360/status"),
            ("10.0.0.7:9360", "http://10.0.0.7:9360/status"),
            ("[::1]:9360", "http://[::1]:9360/status"),
        ] {
            assert_eq!(target(&crate::settings::status_addr(addr).expect("an address")).url, url);
        }
    }
}
