//! The machine as it stands, for whoever looks at it from outside: the status
//! page, the metrics and systemd. Times are ages, counted from the clock that
//! was passed in.
//!
//! Nothing here changes the machine, and nothing in the machine depends on it.

use std::time::{Duration, Instant};

use super::held_start::Child;
use super::{Machine, Phase, ProbeReport, StopReason};
use crate::sdk::game_server::GameServer;
use crate::settings::SdkMode;

/// Everything that can be seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The game is the shim's child.
    pub wrapper: bool,
    /// Since the start.
    pub uptime: Duration,
    /// Where in its life the shim is.
    pub phase: Phase,
    /// Since that began.
    pub phase_age: Duration,
    /// What is being waited for, and why it has not come.
    pub waiting: Option<Waiting>,
    /// The connection to the SDK server.
    pub link: LinkSnapshot,
    /// The GameServer as it was last seen, and how long ago.
    pub game_server: Option<(GameServer, Duration)>,
    /// The last readiness round that brought news.
    pub readiness: Option<Round>,
    /// The last liveness round.
    pub liveness: Option<Round>,
    /// Liveness and beats.
    pub health: HealthSnapshot,
    /// The Counters that are configured.
    pub counters: Vec<CounterSnapshot>,
    /// The List, where one is configured.
    pub list: Option<ListSnapshot>,
    /// The way out, once it has begun.
    pub stop: Option<StopSnapshot>,
    /// Wrapper: `held`, `running` or `ended`.
    pub child: Option<&'static str>,
}

/// What the shim waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// As it completes "waiting for".
    pub what: &'static str,
    /// What was last heard about it.
    pub last_failure: String,
}

/// The connection to the SDK server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSnapshot {
    /// Whether there has to be one.
    pub mode: SdkMode,
    /// It is there.
    pub up: bool,
    /// Nothing is waited for: the shim runs without.
    pub probe_only: bool,
    /// Since it came or went; since the start where it never came.
    pub age: Duration,
    /// Attempts to connect, the successful ones included.
    pub attempts: u32,
    /// How often it came back after it was lost.
    pub restarts: u64,
    /// Why it is not there.
    pub last_error: Option<String>,
}

/// One round of probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Since it ended.
    pub age: Duration,
    /// One of each probe that has run.
    pub reports: Vec<ProbeReport>,
}

/// Liveness and beats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthSnapshot {
    /// Beats depend on liveness.
    pub watching: bool,
    /// How the last liveness round ended.
    pub alive: Option<bool>,
    /// Failed liveness rounds in a row.
    pub failed_rounds: u32,
    /// Failed rounds that mean that the game server is gone.
    pub threshold: u32,
    /// Between beats, and between liveness rounds.
    pub interval: Duration,
    /// What was counted.
    pub counts: HealthCounts,
    /// Since the last confirmed beat.
    pub last_beat_age: Option<Duration>,
}

/// Liveness rounds and beats since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthCounts {
    /// Liveness rounds in which every probe passed.
    pub rounds_passed: u64,
    /// Liveness rounds in which one failed.
    pub rounds_failed: u64,
    /// Beats that the SDK server has confirmed.
    pub sent: u64,
    /// Beats that were due and not sent, because the game server was not alive.
    pub withheld: u64,
    /// Beats that were due and did not arrive: refused, unanswered, or the SDK server was lost.
    pub failed: u64,
}

/// One Counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSnapshot {
    /// Its name.
    pub name: String,
    /// The last good reading.
    pub reading: Option<u64>,
    /// What the SDK server took last.
    pub sent: Option<i64>,
    /// Its upper bound, once known.
    pub capacity: Option<i64>,
    /// Why there is no reading, or why the SDK server does not take it.
    pub error: Option<String>,
}

/// The List. It tells how many names there are, never who: that is for Agones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSnapshot {
    /// Its name.
    pub name: String,
    /// Names in the last good reading.
    pub names: Option<usize>,
    /// Values that it holds.
    pub values: Option<usize>,
    /// As many as it takes.
    pub capacity: Option<i64>,
    /// Why there are no names, or why the SDK server does not take them.
    pub error: Option<String>,
}

/// The way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopSnapshot {
    /// The strongest so far.
    pub reason: StopReason,
    /// Since it began.
    pub age: Duration,
    /// `none` where none is called, `calling`, `confirming` or `done`.
    pub shutdown: &'static str,
    /// The stop hook runs.
    pub hook_running: bool,
}

/// The few facts that systemd is told, cheap enough for every turn of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Where in its life the shim is.
    pub phase: Phase,
    /// Liveness rounds passed since the start.
    pub rounds_passed: u64,
    /// How long the game server may be silent until it counts as gone, and one round more.
    pub patience: Duration,
}

impl Machine {
    /// The machine as it stands.
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        let age = |at: Instant| now.saturating_duration_since(at);
        let round = |round: &Option<(Instant, Vec<ProbeReport>)>| {
            round.as_ref().map(|(at, reports)| Round { age: age(*at), reports: reports.clone() })
        };
        let waiting = self.waiting_for().map(|(what, last_failure)| Waiting { what, last_failure });
        Snapshot {
            wrapper: self.config.wrapper,
            uptime: age(self.started),
            phase: self.phase,
            phase_age: age(self.seen_at.phase.unwrap_or(self.started)),
            waiting,
            link: self.link_snapshot(now),
            game_server: self.game_server.clone().map(|seen| (seen, age(self.seen_at.game_server.unwrap_or(now)))),
            readiness: round(&self.seen_at.readiness),
            liveness: round(&self.seen_at.liveness),
            health: HealthSnapshot {
                watching: self.health.watching,
                alive: self.health.alive,
                failed_rounds: self.health.failed_rounds,
                threshold: self.failure_threshold(),
                interval: self.health_interval(),
                counts: self.health.counts,
                last_beat_age: self.health.last_beat.map(age),
            },
            counters: self
                .publications
                .iter()
                .filter_map(|source| Some(source.counter.as_ref()?.snapshot(source.failure())))
                .collect(),
            list: self.publications.iter().find_map(|source| Some(source.list.as_ref()?.snapshot(source.failure()))),
            stop: self.stop.as_ref().map(|stop| stop.snapshot(now)),
            child: match self.child {
                Child::None => None,
                Child::Held { .. } => Some("held"),
                Child::Started => Some("running"),
                Child::Ended(_) => Some("ended"),
            },
        }
    }

    /// What systemd is told.
    #[must_use]
    pub fn view(&self) -> View {
        View {
            phase: self.phase,
            rounds_passed: self.health.counts.rounds_passed,
            patience: self.health_interval().saturating_mul(self.failure_threshold().saturating_add(1)),
        }
    }

    fn link_snapshot(&self, now: Instant) -> LinkSnapshot {
        let link = &self.link;
        LinkSnapshot {
            mode: self.config.sdk,
            up: link.up,
            probe_only: self.is_probe_only(),
            age: now.saturating_duration_since(link.changed.unwrap_or(self.started)),
            attempts: link.attempts,
            restarts: link.restarts,
            last_error: (!link.up && !link.last_error.is_empty()).then(|| link.last_error.clone()),
        }
    }
}

/// When what can be seen was seen. No decision depends on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenAt {
    pub(super) phase: Option<Instant>,
    pub(super) game_server: Option<Instant>,
    pub(super) readiness: Option<(Instant, Vec<ProbeReport>)>,
    pub(super) liveness: Option<(Instant, Vec<ProbeReport>)>,
}
