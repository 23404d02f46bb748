//! The SDK server comes late, goes, and comes back.
//!
//! Connecting runs beside the probes and never in front of them. The connect
//! timeout is a timer here, never the deadline of a call.

use std::time::{Duration, Instant};

use super::event::{Answer, CallError, CallErrorKind};
use super::hold::Child;
use super::publish::Publication;
use super::stop::{Stop, StopReason};
use super::{Effect, Effects, Machine, Notice, Phase, Timer};
use crate::sdk::game_server::{GameServer, State};
use crate::settings::SdkMode;

/// Between the beginnings of two attempts, so that a server is found within 2 s of appearing.
const CONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// The same while Shutdown() has to be delivered.
const CONNECT_INTERVAL_STOPPING: Duration = Duration::from_millis(200);
/// A hostname has at most so many characters.
const HOSTNAME_MAX: usize = 63;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Link {
    pub(super) up: bool,
    /// It was up once.
    pub(super) ever: bool,
    /// The connect timeout has passed without it.
    pub(super) given_up: bool,
    pub(super) attempt_due: bool,
    pub(super) attempts: u32,
    pub(super) lost_at: Option<Instant>,
    /// When it came or went.
    pub(super) changed: Option<Instant>,
    /// How often it came back.
    pub(super) restarts: u64,
    pub(super) last_error: String,
}

impl Answer {
    /// The error, if it means that the connection is of no more use.
    pub(super) fn broken_link(&self) -> Option<&CallError> {
        let connecting = matches!(self, Self::Connected(_));
        self.error().filter(|error| !connecting && error.kind != CallErrorKind::Rejected)
    }
}

impl Machine {
    /// There is no SDK server to wait for any more: Served is as good as Ready.
    pub(super) fn is_probe_only(&self) -> bool {
        self.config.sdk == SdkMode::Off || (self.link.given_up && !self.link.up)
    }

    pub(super) fn connected(
        &mut self,
        now: Instant,
        began: Instant,
        outcome: Result<GameServer, CallError>,
        out: &mut Effects,
    ) {
        self.link.attempts = self.link.attempts.saturating_add(1);
        let game_server = match outcome {
            Ok(game_server) => game_server,
            Err(error) => {
                let urgent = self.stop.as_ref().is_some_and(Stop::has_something_to_deliver);
                let interval = if urgent { CONNECT_INTERVAL_STOPPING } else { CONNECT_INTERVAL };
                self.timers.set(Timer::Connect, (began + interval).max(now));
                if self.link.last_error != error.message {
                    self.link.last_error.clone_from(&error.message);
                    out.push(Effect::Log(Notice::SdkAttemptFailed { error: error.message.clone() }));
                }
                if self.stop.is_some() {
                    self.shutdown_connect_failed(now, &error, out);
                }
                return;
            }
        };
        self.link.up = true;
        self.link.changed = Some(now);
        self.timers.cancel(Timer::Connect);
        if !matches!(self.child, Child::Held { .. }) {
            self.timers.cancel(Timer::SdkConnectTimeout);
        }
        let state = game_server.state.as_str().to_owned();
        if self.link.ever {
            let away = self.link.lost_at.take().map_or(Duration::ZERO, |lost| now - lost);
            self.link.restarts = self.link.restarts.saturating_add(1);
            out.push(Effect::Log(Notice::SdkBack { state, away }));
        } else {
            self.link.ever = true;
            let (name, attempts) = (game_server.name.clone(), self.link.attempts);
            out.push(Effect::Log(Notice::SdkConnected { name, state, attempts }));
            self.check_pod(&game_server, out);
        }
        self.retire_reconnected();
        self.look_at(now, &game_server, out);
        self.hold_looked(now, &game_server, out);
        self.beat_at_once();
        if self.stop.is_some() {
            self.shutdown_connected(now, &game_server, out);
        } else {
            self.claim_connected(&game_server, out);
        }
    }

    pub(super) fn link_lost(&mut self, now: Instant, error: &CallError, out: &mut Effects) {
        self.link.up = false;
        self.link.lost_at = Some(now);
        self.link.changed = Some(now);
        self.link.last_error.clone_from(&error.message);
        self.timers.set(Timer::Connect, now);
        out.push(Effect::Log(Notice::SdkLost { error: error.message.clone() }));
        self.claim_disconnected();
        self.publications.iter_mut().for_each(Publication::forget);
        self.metadata.compare_again();
    }

    pub(super) fn sdk_connect_timed_out(&mut self, now: Instant, out: &mut Effects) {
        self.hold_timed_out(now, out);
        if self.link.ever {
            return;
        }
        let (waited, error) = (now - self.started, self.link.last_error.clone());
        if self.config.sdk == SdkMode::Required {
            out.push(Effect::Log(Notice::SdkRequired { waited, error }));
            self.begin_stop(now, StopReason::NoSdk, out);
            return;
        }
        self.link.given_up = true;
        out.push(Effect::Log(Notice::ProbeOnly { waited, error }));
        if self.phase == Phase::Served {
            self.enter_ready(out, Notice::ReadyProbeOnly { after: waited });
        }
    }

    /// Learns what every look at the GameServer teaches, whoever asked for it.
    pub(super) fn look_at(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        self.seen_at.game_server = Some(now);
        let first = self.game_server.is_none();
        let before = self.health_interval();
        self.publications.iter_mut().for_each(|publication| publication.learn(game_server));
        self.claim_learn(game_server);
        self.watch_looked(now, game_server, out);
        // Agones' own local mode starts in Ready, which says nothing about the game there.
        let starts_ready = game_server.local_mode && game_server.state == State::Ready;
        let adopt =
            !self.health.watching && self.stop.is_none() && game_server.state.is_ready_or_later() && !starts_ready;
        self.game_server = Some(game_server.clone());
        let interval = self.health_interval();
        if interval != before {
            out.push(Effect::SetHealthInterval(interval));
        }
        if first {
            let period = game_server.health.period.filter(|_| !game_server.health.disabled);
            if let (Some(interval), Some(period)) = (self.config.health_interval, period)
                && interval >= period
            {
                out.push(Effect::Log(Notice::IntervalNotBelowPeriod { interval, period }));
            }
        }
        if adopt {
            out.push(Effect::Log(Notice::Adopted { state: game_server.state.as_str().into() }));
            self.watch_liveness(false, out);
        }
    }

    /// With hostNetwork, the SDK server on loopback may be another Pod's.
    fn check_pod(&self, game_server: &GameServer, out: &mut Effects) {
        let Some(hostname) = &self.config.pod_hostname else { return };
        let cut = |name: &str| name.chars().take(HOSTNAME_MAX).collect::<String>();
        if cut(hostname) != cut(&game_server.name) {
            let (name, hostname) = (game_server.name.clone(), hostname.clone());
            out.push(Effect::Log(Notice::ForeignGameServer { name, hostname }));
        }
    }
}
