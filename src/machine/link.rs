//! The SDK server comes late, goes, and comes back.
//!
//! Connecting runs beside the probes and never in front of them. The connect
//! timeout is a timer here, never the deadline of a call.
//!
//! A connection is proven by a beat, and is lost when it ends or when a beat
//! gets no answer. Any other call that comes late is that call's failure and
//! nothing else: the SDK server holds them while its API server is slow.

use std::time::{Duration, Instant};

use super::held_start::Child;
use super::publish::Publication;
use super::stop::{Stop, StopReason};
use super::{Call, Effect, Effects, Machine, Notice, Phase, Timer};
use crate::sdk::call::{Answer, CallError, CallErrorKind, Peer};
use crate::sdk::game_server::{GameServer, State};
use crate::settings::SdkMode;

/// Between the beginnings of two attempts, so that a server is found within 2 s of appearing.
const CONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// The same while nobody listens yet, for as long as two containers of a Pod may start apart: a refused attempt costs
/// microseconds.
const CONNECT_INTERVAL_EARLY: Duration = Duration::from_millis(250);
const EARLY: Duration = Duration::from_secs(60);
/// The same while Shutdown() has to be delivered.
const CONNECT_INTERVAL_STOPPING: Duration = Duration::from_millis(200);
/// Between attempts to read the GameServer of a new connection.
const LOOK_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Longest hostname, in characters.
const HOSTNAME_MAX: usize = 63;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Link {
    pub(super) up: bool,
    /// It was up once.
    pub(super) ever: bool,
    /// The connect timeout has passed without it.
    given_up: bool,
    /// Which SDK server this is: counts those whose connection has ended. One that is merely slow is still the same,
    /// and has what it was sent.
    pub(super) generation: u64,
    pub(super) attempt_due: bool,
    pub(super) attempts: u32,
    lost_at: Option<Instant>,
    /// When it came or went.
    pub(super) changed: Option<Instant>,
    /// How often it came back.
    pub(super) restarts: u64,
    pub(super) last_error: String,
    /// The GameServer has not been read on this connection.
    pub(super) unread: bool,
    /// It is to be read when no more urgent call is waiting.
    look: bool,
    /// When it was last to be read because somebody asked how things stand.
    status_look: Option<Instant>,
    /// The first beat waits for that: a shim that was restarted must not beat for a game that is dead.
    beat_after_look: bool,
    /// This call got no answer, and a warning has said so.
    unanswered: Option<&'static str>,
}

impl Answer {
    /// The error, if it means that the connection is of no more use.
    pub(super) fn broken_link(&self) -> Option<&CallError> {
        self.error().filter(|error| match error.kind {
            CallErrorKind::Unavailable => !matches!(self, Self::Connected(_)),
            CallErrorKind::DeadlineExceeded => matches!(self, Self::Health(_)),
            CallErrorKind::Rejected => false,
        })
    }
}

impl Machine {
    /// There is no SDK server to wait for any more: Served is as good as Ready.
    pub(super) fn is_probe_only(&self) -> bool {
        self.config.sdk == SdkMode::Off || (self.link.given_up && !self.link.up)
    }

    /// The beat that proves a connection, where one may be sent. Before the GameServer was ever seen, none may: it may
    /// be that of a game that has died. On the way out Shutdown() comes first.
    pub(super) fn connect_call(&mut self) -> Option<Call> {
        let beat = self.game_server.is_some() && self.is_alive() && self.stop.is_none();
        std::mem::take(&mut self.link.attempt_due).then_some(Call::Connect { beat })
    }

    pub(super) fn connected(
        &mut self,
        now: Instant,
        call: Option<&Call>,
        began: Instant,
        outcome: Result<Peer, CallError>,
        out: &mut Effects,
    ) {
        let beat = call == Some(&Call::Connect { beat: true });
        self.link.attempts = self.link.attempts.saturating_add(1);
        let peer = match outcome {
            Ok(peer) => peer,
            Err(error) => return self.connect_failed(now, began, &error, out),
        };
        self.link.up = true;
        self.link.given_up = false;
        self.link.changed = Some(now);
        self.link.unread = true;
        self.link.look = true;
        self.timers.cancel(Timer::Connect);
        if !matches!(self.child, Child::Held { .. }) {
            self.timers.cancel(Timer::SdkConnectTimeout);
        }
        if std::mem::replace(&mut self.link.ever, true) {
            let away = self.link.lost_at.take().map_or(Duration::ZERO, |lost| now - lost);
            self.link.restarts = self.link.restarts.saturating_add(1);
            out.push(Effect::Log(Notice::SdkBack { restarted: peer == Peer::New, away }));
        }
        if peer == Peer::New {
            self.link.generation = self.link.generation.saturating_add(1);
            self.readiness.met_new_server(now);
            self.publications.iter_mut().for_each(Publication::forget);
            self.metadata.compare_again();
        }
        self.self_shutdown_reconnected();
        if beat {
            self.beat_answered(now, Ok(()), out);
        } else if self.game_server.is_some() || self.stop.is_some() {
            self.beat_at_once();
        } else {
            self.link.beat_after_look = true;
        }
        self.shutdown_connected();
    }

    fn connect_failed(&mut self, now: Instant, began: Instant, error: &CallError, out: &mut Effects) {
        let urgent = self.stop.as_ref().is_some_and(Stop::has_something_to_deliver);
        let refused = error.kind == CallErrorKind::Unavailable;
        let interval = if urgent {
            CONNECT_INTERVAL_STOPPING
        } else if !self.link.ever && refused && now - self.started < EARLY {
            CONNECT_INTERVAL_EARLY
        } else {
            CONNECT_INTERVAL
        };
        self.timers.set(Timer::Connect, (began + interval).max(now));
        if self.link.last_error != error.message {
            self.link.last_error.clone_from(&error.message);
            out.push(Effect::Log(Notice::SdkAttemptFailed { error: error.message.clone() }));
        }
        if self.stop.is_some() {
            self.shutdown_connect_failed(now, error, out);
        }
    }

    pub(super) fn link_lost(&mut self, now: Instant, error: &CallError, out: &mut Effects) {
        self.link.up = false;
        self.link.look = false;
        self.link.unanswered = None;
        self.link.lost_at = Some(now);
        self.link.changed = Some(now);
        self.link.last_error.clone_from(&error.message);
        self.timers.set(Timer::Connect, now);
        out.push(Effect::Log(Notice::SdkLost { error: error.message.clone() }));
        self.timers.cancel(Timer::ReadyLook);
        self.readiness.disconnected();
    }

    /// Says once that a call is left without an answer, and once that it is answered again. Ready() and Shutdown() have
    /// lines of their own.
    pub(super) fn note_unanswered(&mut self, answer: &Answer, out: &mut Effects) {
        if matches!(answer, Answer::Connected(_) | Answer::Health(_) | Answer::Ready(_) | Answer::Shutdown(_)) {
            return;
        }
        let failed = |error: &&CallError| {
            error.kind == CallErrorKind::DeadlineExceeded || matches!(answer, Answer::GameServer(_))
        };
        let call = answer.method();
        match answer.error().filter(failed) {
            Some(error) if self.link.up && self.link.unanswered.is_none() => {
                self.link.unanswered = Some(call);
                out.push(Effect::Log(Notice::SdkUnanswered { call, error: error.message.clone() }));
            }
            None if self.link.unanswered == Some(call) => {
                self.link.unanswered = None;
                out.push(Effect::Log(Notice::SdkAnswers { call }));
            }
            _ => {}
        }
    }

    pub(super) fn next_link_look(&mut self) -> Option<Call> {
        (std::mem::take(&mut self.link.look) && self.stop.is_none()).then_some(Call::GetGameServer)
    }

    /// Reads the GameServer when no more urgent call is waiting. With the link down, its return brings a look anyway.
    pub(super) fn look_soon(&mut self) {
        self.link.look = self.link.up;
    }

    /// Somebody will see what is known of the GameServer: it is read where that is a health interval old, and no sooner
    /// again than after another, whatever came of it.
    pub(super) fn look_for_status(&mut self, now: Instant) {
        let interval = self.health_interval();
        let is_old = |at: Option<Instant>| at.is_none_or(|at| now - at >= interval);
        if self.link.up && self.stop.is_none() && is_old(self.seen_at.game_server) && is_old(self.link.status_look) {
            self.link.status_look = Some(now);
            self.look_soon();
        }
    }

    fn look_again_later(&mut self, now: Instant) {
        if self.stop.is_none() {
            let again = now + LOOK_RETRY_INTERVAL;
            if self.link.unread {
                self.timers.set(Timer::Look, again);
            }
            self.read_back_later(again);
        }
    }

    /// Handles every GetGameServer answer.
    pub(super) fn game_server_answered(
        &mut self,
        now: Instant,
        began: Instant,
        outcome: Result<GameServer, CallError>,
        out: &mut Effects,
    ) {
        self.link.look = false;
        let mut first = false;
        if let Ok(game_server) = &outcome {
            first = std::mem::take(&mut self.link.unread);
            if self.game_server.is_none() {
                let (name, attempts) = (game_server.name.clone(), self.link.attempts);
                let state = game_server.state.as_str().to_owned();
                out.push(Effect::Log(Notice::SdkConnected { name, state, attempts }));
                self.check_pod(game_server, out);
            }
            self.look_at(now, game_server, out);
            self.held_start_looked(now, game_server, out);
            self.read_back(now, game_server);
        } else {
            self.held_start_look_failed(now);
            self.look_again_later(now);
            self.self_allocation_look_failed(now);
        }
        if std::mem::take(&mut self.link.beat_after_look) {
            self.beat_at_once();
        }
        let looked = outcome.is_ok();
        if self.stop.is_some() {
            self.shutdown_looked(now, outcome, out);
        } else {
            match outcome {
                Ok(game_server) if first && !self.readiness.wants_look() => {
                    self.readiness_connected(&game_server, out);
                }
                outcome => self.readiness_looked(now, began, outcome, out),
            }
        }
        if looked {
            self.shut_down_if_due(now, out);
            self.self_allocate_if_due(now, out);
        }
    }

    pub(super) fn sdk_connect_timed_out(&mut self, now: Instant, out: &mut Effects) {
        if self.link.ever {
            return self.held_start_timed_out(now, out);
        }
        let (waited, error) = (now - self.started, self.link.last_error.clone());
        if self.config.sdk == SdkMode::Required {
            out.push(Effect::Log(Notice::SdkRequired { waited, error }));
            self.begin_stop(now, StopReason::NoSdk, out);
            return;
        }
        self.held_start_timed_out(now, out);
        self.link.given_up = true;
        out.push(Effect::Log(Notice::ProbeOnly { waited, error }));
        if self.phase == Phase::Served {
            self.enter_ready(out, Notice::ReadyProbeOnly { after: waited });
        }
    }

    /// Inside Kubernetes, before Agones loses its patience: nothing reaches it.
    pub(super) fn no_beats_due(&mut self, now: Instant, out: &mut Effects) {
        if !self.link.ever {
            let (waited, error) = (now - self.started, self.link.last_error.clone());
            out.push(Effect::Log(Notice::NoBeats { waited, error }));
        }
    }

    /// How the link stands, for a line about something else.
    pub(super) fn link_in_words(&self) -> String {
        match &self.link {
            _ if self.config.sdk == SdkMode::Off => "off".into(),
            link if link.up => "connected".into(),
            link if link.last_error.is_empty() => "not connected yet".into(),
            link => format!("not connected: {}", link.last_error),
        }
    }

    /// Handles what every GetGameServer reply may change.
    pub(super) fn look_at(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        self.seen_at.game_server = Some(now);
        let first = self.game_server.is_none();
        let before = self.health_interval();
        self.publications.iter_mut().for_each(|publication| publication.learn(game_server));
        self.readiness.learn(game_server);
        self.allocation_looked(now, game_server, out);
        // Agones' own local mode starts in Ready, which says nothing about the game there.
        let starts_ready = game_server.local_mode && game_server.state == State::Ready;
        // A wrapper's game has just been started, whatever was there before it: its liveness counts from its first
        // passed readiness round on.
        let adopt = !self.config.wrapper
            && !self.health.watching
            && self.stop.is_none()
            && game_server.state.is_ready_or_later()
            && !starts_ready;
        let is_over = |seen: &GameServer| seen.deleting || seen.state.is_final();
        let is_news = is_over(game_server) && !self.game_server.as_ref().is_some_and(is_over);
        if is_news && self.phase == Phase::Ready && self.stop.is_none() {
            out.push(Effect::Log(Notice::GivenUp { state: game_server.state_in_words().into() }));
        }
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
            self.watch_liveness(now, false, out);
        }
    }

    /// With hostNetwork, the SDK server on loopback may be another Pod's.
    fn check_pod(&self, game_server: &GameServer, out: &mut Effects) {
        let Some(hostname) = &self.config.pod_name else { return };
        let cut = |name: &str| name.chars().take(HOSTNAME_MAX).collect::<String>();
        if cut(hostname) != cut(&game_server.name) {
            let (name, hostname) = (game_server.name.clone(), hostname.clone());
            out.push(Effect::Log(Notice::ForeignGameServer { name, hostname }));
        }
    }
}
