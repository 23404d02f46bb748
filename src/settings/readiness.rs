//! What has to pass before Ready().

use std::time::Duration;

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{AnySetting, Default, Fact, Setting, Shown, Subject};
use super::text::address::ports;
use super::text::pattern::{Pattern, pattern, texts};
use super::text::plain::{lines, paths, seconds, seconds_or_zero, unless_zero};
use super::text::target::{HttpTarget, LogTarget, Probe, QueryTarget, TcpTarget};
use super::text::words::Words;
use super::text::{query, url, words};
use super::{game_log, liveness, probes};

pub(super) static TCP: Setting<Vec<TcpTarget>> = Setting::several("AGONES_SHIM_READY_TCP", "PORTS", ports)
    .help("Ports that must accept: `8085`, `host:8085`, `[::1]:8085`, several with commas. A bare port means loopback, IPv4 or IPv6, whichever accepts")
    .common("ports that must accept: 7777, or host:port");

pub(super) static HTTP: Setting<Vec<HttpTarget>> = Setting::several("AGONES_SHIM_READY_HTTP", "URLS", url::list)
    .help("`http://` URLs that must answer 2xx, several with commas. At least one readiness probe of any kind is required")
    .shown(Shown::Urls)
    .common("URLs that must answer 2xx");

pub(super) static QUERY: Setting<Vec<QueryTarget>> = Setting::several("AGONES_SHIM_READY_QUERY", "QUERIES", query::list)
    .help("Queries that must be answered: `a2s://:27015`, `minecraft://host:25565`, `udp://:7777/HEX`; also bedrock, quake3, quake, teeworlds, mumble. No host means loopback")
    .common("server queries that must be answered: a2s://:27015");

pub(super) static TEXT: Setting<Pattern> = Setting::one("AGONES_SHIM_READY_TEXT", "TEXT", texts)
    .help(r"Plain text that a line of the game must have in it: its stdout and stderr, or `AGONES_SHIM_GAME_LOG_FILE`. `\n` separates alternatives, `\\` is one backslash")
    .common("text that a line of the game must contain");

pub(super) static LOG: Setting<Pattern> = Setting::one("AGONES_SHIM_READY_LOG", "REGEX", pattern)
    .help("Regular expression that a line must match, in place of `AGONES_SHIM_READY_TEXT`");

static LOG_COUNT: Setting<std::num::NonZeroU32> = Setting::one("AGONES_SHIM_READY_LOG_COUNT", "LINES", lines)
    .help("Number of lines that must match `AGONES_SHIM_READY_LOG`, or have `AGONES_SHIM_READY_TEXT` in them")
    .default("1");

pub(super) static FILE: Setting<Vec<String>> = Setting::several("AGONES_SHIM_READY_FILE", "PATHS", paths).help(
    "Files that must exist, several with commas. One left by an earlier run counts too: remove it when the game starts",
);

pub(super) static EXEC: Setting<Words> = Setting::one("AGONES_SHIM_READY_EXEC", "COMMAND", words::split)
    .help("Program that must exit 0 within the probe timeout; its process group is killed after. Arguments split like a shell's words, no shell needed")
    .shown(Shown::Command);

static INTERVAL: Setting<Duration> = Setting::one("AGONES_SHIM_READY_INTERVAL_SECS", "SECONDS", seconds)
    .help(
        "Time between readiness rounds. Adaptive is 0.05 s while refused, growing with the time waited to 0.5 s, 1 s once something answers but not yet well",
    )
    .otherwise(Default::Words("adaptive"));

static TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_READY_TIMEOUT_SECS", "SECONDS", seconds_or_zero)
    .help("Exit 69 if not ready within this time; 0 is never")
    .default("0")
    .common("exit 69 if not ready within this time");

pub(super) static SUBJECT: Subject = Subject {
    heading: "Readiness",
    rows: &[&TCP, &HTTP, &QUERY, &TEXT, &LOG, &LOG_COUNT, &FILE, &EXEC, &INTERVAL, &TIMEOUT],
    given: &[],
    check,
    facts,
};

/// What of them also tells whether the server lives, and is read by commands that look at that alone.
pub(super) const LIVING: &[&dyn AnySetting] = &[&TCP, &HTTP, &QUERY, &EXEC];
/// Those that tell that the game has begun, and nothing of now.
pub(super) const BEGUN: &[&dyn AnySetting] = &[&TEXT, &LOG, &FILE];

/// The variables of readiness probes of all kinds.
fn variables() -> [&'static str; 7] {
    [TCP.name(), HTTP.name(), QUERY.name(), TEXT.name(), LOG.name(), FILE.name(), EXEC.name()]
}

/// What has to pass before Ready().
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadinessSettings {
    /// All must pass in one round before the game server counts as served.
    pub probes: Vec<Probe>,
    /// Time between readiness rounds; `None` is adaptive.
    pub interval: Option<Duration>,
    /// Exit 69 if not ready within this time; `None` is never.
    pub timeout: Option<Duration>,
}

impl ReadinessSettings {
    pub(crate) fn new(values: &Values) -> Self {
        let line = values.get(&TEXT).or_else(|| values.get(&LOG)).map(|pattern| {
            let (count, file) = (values.or_default(&LOG_COUNT), values.get(&game_log::FILE));
            Probe::Log(LogTarget { pattern, count, file })
        });
        let probes = probes(values.get(&TCP), Probe::Tcp)
            .chain(probes(values.get(&HTTP), Probe::Http))
            .chain(probes(values.get(&QUERY), Probe::Query))
            .chain(line)
            .chain(probes(values.get(&FILE), Probe::File))
            .chain(values.get(&EXEC).map(|words| Probe::Exec(words.argv)))
            .collect();
        Self { probes, interval: values.get(&INTERVAL), timeout: unless_zero(values.or_default(&TIMEOUT)) }
    }

    /// What the log probe waits for, if there is one.
    pub(crate) fn log_probe(&self) -> Option<&LogTarget> {
        self.probes.iter().find_map(|probe| if let Probe::Log(target) = probe { Some(target) } else { None })
    }
}

/// A line is waited for.
pub(super) fn is_line_set(values: &Values) -> bool {
    values.is_any_set(&[TEXT.name(), LOG.name()])
}

fn check(mode: Mode, values: &Values, findings: &mut Findings) {
    if !values.is_any_set(&variables()) {
        findings.error("", format!("no readiness probe is set: for example {}=7777 (agones-shim --help)", TCP.name()));
    }
    if values.is_set(LOG_COUNT.name()) && !is_line_set(values) {
        let message = "is set, but neither AGONES_SHIM_READY_TEXT nor AGONES_SHIM_READY_LOG is: there is no line to wait for (set one of them)";
        findings.error(LOG_COUNT.name(), message);
    }
    if values.is_set(TEXT.name()) && values.is_set(LOG.name()) {
        let message = format!("is set, but {} too: a line is told by one of them (unset the other)", TEXT.name());
        findings.error(LOG.name(), message);
    }
    if mode == Mode::Sidecar {
        beside_a_sidecar(values, findings);
    }
    if values.get(&LOG).is_some_and(|pattern| pattern.is_match(b"")) {
        let message = "matches every line, the first one too (write what only that line has)";
        findings.warn(LOG.name(), format!("{} {message}", values.quoted(LOG.name())));
    }
    if let Some((wrong, remedy)) = values.get(&LOG).and_then(|pattern| pattern.slip()) {
        findings.warn(LOG.name(), format!("{} {wrong} ({remedy})", values.quoted(LOG.name())));
    }
    words::warn(values, &EXEC, "program", findings);
}

/// What is wrong with a line that a sidecar is to look for.
pub(super) fn no_output() -> String {
    format!(
        "is set, but {} is not: a sidecar cannot read what the game writes to its stdout (write the path of its log)",
        game_log::FILE.name()
    )
}

/// A sidecar sees no output, and nothing but a probe tells it that the game has died.
fn beside_a_sidecar(values: &Values, findings: &mut Findings) {
    for line in [TEXT.name(), LOG.name()].into_iter().filter(|line| values.is_set(line)) {
        if !values.is_set(game_log::FILE.name()) {
            findings.error(line, no_output());
        }
    }
    let has = |setting: &Setting<Pattern>| (values.get(setting).is_some(), setting.name());
    let only = [has(&TEXT), has(&LOG), (values.get(&FILE).is_some(), FILE.name())];
    if let Some((_, only)) = only.into_iter().find(|(is_good, _)| *is_good).filter(|_| !liveness::is_any_set(values)) {
        findings.error(
            only,
            "tells that the game server has begun and nothing of its end, so that a sidecar would beat for a dead game: \
             set a liveness probe too (AGONES_SHIM_LIVE_TCP, AGONES_SHIM_LIVE_EXEC, ...)",
        );
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = ReadinessSettings::new(values);
    let rounds = match settings.interval {
        Some(time) => format!("every {time:?}"),
        None => "every 50ms while refused, every 1s once something answers".into(),
    };
    let mut facts = vec![
        ("readiness", liveness::listed(&settings.probes)),
        ("readiness rounds", rounds),
        ("waiting for readiness", settings.timeout.map_or("for ever".into(), |time| format!("for {time:?}"))),
    ];
    if settings.log_probe().is_some_and(|target| target.file.is_none()) {
        let file = game_log::FILE.name();
        facts.push(("as a sidecar", format!("refused: it cannot read the game's stdout (set {file})")));
    }
    facts
}
