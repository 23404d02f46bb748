//! What has to go on passing, and the beats that follow from it.

use std::num::NonZeroU32;
use std::time::Duration;

use super::engine::read::{self, Findings, Mode, Parsed, Values, Variable};
use super::engine::row::{AnySetting, Default, Fact, Setting, Shown, Subject};
use super::insight::LOGS;
use super::readiness::{self, ReadinessSettings};
use super::text::address::ports;
use super::text::plain::{rounds, seconds};
use super::text::target::{HttpTarget, Probe, QueryTarget, TcpTarget};
use super::text::words::Words;
use super::text::{query, url, words};
use super::{LOGIN, probes};

/// Unset, whatever of the readiness set tells that the server lives.
const READINESS_SET: Default = Default::Shared("readiness set");

static TCP: Setting<Vec<TcpTarget>> = Setting::several("AGONES_SHIM_LIVE_TCP", "PORTS", ports)
    .help("Liveness probes, written like `AGONES_SHIM_READY_TCP`. Setting any liveness probe replaces the whole default set")
    .otherwise(READINESS_SET)
    .common("liveness, where it is not by the readiness probes");

static HTTP: Setting<Vec<HttpTarget>> = Setting::several("AGONES_SHIM_LIVE_HTTP", "URLS", url::list)
    .help("Liveness probes, written like `AGONES_SHIM_READY_HTTP`. Setting any liveness probe replaces the whole default set")
    .otherwise(READINESS_SET)
    .shown(Shown::Urls);

static QUERY: Setting<Vec<QueryTarget>> = Setting::several("AGONES_SHIM_LIVE_QUERY", "QUERIES", query::list)
    .help("Liveness probes, written like `AGONES_SHIM_READY_QUERY`. Setting any liveness probe replaces the whole default set")
    .otherwise(READINESS_SET);

static EXEC: Setting<Words> = Setting::one("AGONES_SHIM_LIVE_EXEC", "COMMAND", words::split)
    .help("Program that must exit 0, written like `AGONES_SHIM_READY_EXEC`. Setting any liveness probe replaces the whole default set")
    .otherwise(READINESS_SET)
    .shown(Shown::Command);

static FAILURE_THRESHOLD: Setting<NonZeroU32> = Setting::one("AGONES_SHIM_LIVE_FAILURE_THRESHOLD", "ROUNDS", rounds)
    .help("Failed liveness rounds in a row that mean the server is gone: exit 69. Unset, the smallest number from 3 on that lasts as long as Agones' own patience")
    .otherwise(Default::Words("3 or more"));

static PROBE_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_PROBE_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Time that one probe may take, connect to last byte, readiness and liveness alike")
    .default("2");

static HEALTH_INTERVAL: Setting<Duration> = Setting::one("AGONES_SHIM_HEALTH_INTERVAL_SECS", "SECONDS", seconds)
    .help("Time between beats, and between liveness rounds. Unset, the smaller of 5 s and half of the GameServer's own `health.periodSeconds`")
    .otherwise(Default::Words("5 or less"));

pub(super) static SUBJECT: Subject = Subject {
    heading: "Liveness and health",
    rows: &[&TCP, &HTTP, &QUERY, &EXEC, &FAILURE_THRESHOLD, &PROBE_TIMEOUT, &HEALTH_INTERVAL],
    given: &[],
    check,
    facts,
};

/// What one liveness round needs.
pub(crate) const ROUND: &[&[&dyn AnySetting]] = &[readiness::LIVING, readiness::BEGUN, LIVING, &[&PROBE_TIMEOUT], LOGS];
/// The probes of this subject.
const LIVING: &[&dyn AnySetting] = &[&TCP, &HTTP, &QUERY, &EXEC];

/// A probe is set that tells whether the server lives.
pub(super) fn is_any_set(values: &Values) -> bool {
    readiness::LIVING.iter().chain(LIVING).any(|setting| values.is_set(setting.row().variable))
}

/// What has to go on passing, and the beats that follow from it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LivenessSettings {
    /// All must pass in a round for a beat to go out. Already resolved: the readiness set where nothing else was set.
    pub probes: Vec<Probe>,
    /// Failed rounds in a row that mean the server is gone; `None` derives it from Agones' own patience.
    pub failure_threshold: Option<NonZeroU32>,
    /// One probe, connect to last byte.
    pub probe_timeout: Duration,
    /// Time between beats, and between rounds; `None` derives it from the GameServer.
    pub interval: Option<Duration>,
}

impl LivenessSettings {
    pub(crate) fn new(values: &Values) -> Self {
        let own: Vec<Probe> = probes(values.get(&TCP), Probe::Tcp)
            .chain(probes(values.get(&HTTP), Probe::Http))
            .chain(probes(values.get(&QUERY), Probe::Query))
            .chain(values.get(&EXEC).map(|words| Probe::Exec(words.argv)))
            .collect();
        let of_readiness = || ReadinessSettings::new(values).probes.into_iter().filter(Probe::tells_life).collect();
        Self {
            probes: if own.is_empty() { of_readiness() } else { own },
            failure_threshold: values.get(&FAILURE_THRESHOLD),
            probe_timeout: values.or_default(&PROBE_TIMEOUT),
            interval: values.get(&HEALTH_INTERVAL),
        }
    }

    /// For a command that makes one round.
    ///
    /// # Errors
    ///
    /// Every wrong variable that it reads, and the lack of any probe. None at all are left where what is set tells that the
    /// game has begun: then the wrapper's child lives or the container does not.
    pub(crate) fn read(environment: impl IntoIterator<Item = Variable>) -> Parsed<Self> {
        read::some(ROUND, check_round, environment).map(|(values, warnings)| (Self::new(&values), warnings))
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    words::warn(values, &EXEC, "program", findings);
}

fn check_round(values: &Values, findings: &mut Findings) {
    if !is_any_set(values) && !readiness::BEGUN.iter().any(|setting| values.is_set(setting.row().variable)) {
        let message = "is not set, nor is any other probe: there is nothing to probe (write the game's port)";
        findings.error(TCP.name(), message);
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let (readiness, settings) = (ReadinessSettings::new(values), LivenessSettings::new(values));
    let liveness = if settings.probes.is_empty() {
        "the child's own life".into()
    } else if settings.probes == readiness.probes {
        "the readiness set".into()
    } else {
        listed(&settings.probes)
    };
    let beats = match settings.interval {
        Some(time) => format!("every {time:?}"),
        None => "every 5s, or half of the GameServer's health.periodSeconds where that is less".into(),
    };
    let gone = match settings.failure_threshold {
        Some(rounds) => format!("{rounds} failed rounds"),
        None => "as many failed rounds as last as long as Agones' own patience, at least 3".into(),
    };
    let mut facts = vec![("liveness", liveness), ("beats", beats), ("the server is gone after", gone)];
    let is_readable = readiness.log_probe().is_none_or(|target| target.file.is_some());
    if settings.probes.is_empty() && is_readable {
        let why = "refused: nothing tells it that the game has died (set an AGONES_SHIM_LIVE_ probe)";
        facts.push(("as a sidecar", why.into()));
    }
    facts
}

/// Probes, with a mark where a password goes with one.
pub(super) fn listed(probes: &[Probe]) -> String {
    let shown = probes.iter().map(|probe| match probe {
        Probe::Http(target) if target.credentials.is_some() => format!("{probe}{LOGIN}"),
        Probe::Log(target) => {
            let lines = if target.count.get() == 1 { "line" } else { "lines" };
            let place = target.file.as_deref().unwrap_or("the child's stdout and stderr");
            format!("{probe} ({} {lines} of {place})", target.count)
        }
        _ => probe.to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}
