//! Shutdown(): called, called again, confirmed.
//!
//! Two things that are kept apart: whether it still has to be *delivered*, and whether somebody still *waits* for it.
//! Every bound ends the waiting. What is not delivered goes on being tried for as long as the shim is there anyway,
//! behind a game that saves for minutes, say.

use std::time::{Duration, Instant};

use super::super::timers::{Timer, Timers};
use super::super::{Call, Effect, Effects, Notice};
use crate::sdk::call::{CallError, CallErrorKind};
use crate::sdk::game_server::GameServer;

/// Between looks at the GameServer while Shutdown() is on its way.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// After a Shutdown() that was rejected.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// An acknowledged Shutdown() that does not show by then is called again: it is harmless.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Once connections have been refused for this long after an acknowledgement, the SDK server has left.
const LEFT_AFTER: Duration = Duration::from_secs(2);
/// The first two, where nobody waits any more.
const UNHURRIED_INTERVAL: Duration = Duration::from_secs(1);
/// The third, where nobody waits any more.
const UNHURRIED_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// An acknowledgement that comes when nobody waits any more would be lost by leaving at once (measured: it takes the SDK
/// server half a second to write it). So much is waited for it all the same.
const LATE_WAIT: Duration = Duration::from_secs(2);

/// Shutdown() on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shutdown {
    began: Instant,
    /// It is called on this way out.
    is_wanted: bool,
    delivery: Delivery,
    wait: Wait,
    /// It has had its one attempt: a call was answered, or nobody was there to be called.
    attempted: bool,
    /// Somebody has come since the last attempt.
    just_connected: bool,
    /// The SDK server that is there, or was there last, has acknowledged it.
    acknowledged: bool,
    /// An error of it has been named in a warning.
    warned: bool,
    /// How the last attempt went.
    last: String,
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq)]
enum Delivery {
    /// It is to be called as soon as there is a connection.
    Call,
    /// It is called again at the next step.
    Retry,
    /// Acknowledged; the state is looked at until it shows.
    Confirming { called: Instant, look: bool, refused_since: Option<Instant> },
    /// It shows, or it is not wanted, or the GameServer would ignore it.
    Done,
}

/// For how long leaving waits for it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    /// `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`.
    Bound,
    /// For what was acknowledged when the waiting was over: [`LATE_WAIT`].
    Late,
    /// Not at all, once it has had its one attempt.
    Over,
}

impl Shutdown {
    /// `bound` is the time it has; `None` where it is not wanted.
    pub(super) fn new(now: Instant, bound: Option<Duration>, timers: &mut Timers) -> Self {
        if let Some(bound) = bound {
            timers.set(Timer::ShutdownBound, now + bound);
        }
        Self {
            began: now,
            is_wanted: bound.is_some(),
            delivery: if bound.is_some() { Delivery::Call } else { Delivery::Done },
            wait: if bound.is_some() { Wait::Bound } else { Wait::Over },
            attempted: bound.is_none(),
            just_connected: false,
            acknowledged: false,
            warned: false,
            last: String::new(),
        }
    }

    /// Nothing after it in the order of a stop has to wait for it.
    pub(super) fn lets_pass(&self) -> bool {
        self.attempted || self.wait == Wait::Over
    }

    /// The shim may leave, as far as this is concerned.
    pub(super) fn lets_leave(&self) -> bool {
        self.delivery == Delivery::Done || self.wait == Wait::Over && self.attempted
    }

    /// Somebody waits for it.
    pub(super) fn is_urgent(&self) -> bool {
        self.delivery != Delivery::Done && self.wait != Wait::Over
    }

    /// `none` where it is not called, `calling`, `confirming` or `done`.
    pub(super) fn progress(&self) -> &'static str {
        match self.delivery {
            _ if !self.is_wanted => "none",
            Delivery::Call | Delivery::Retry => "calling",
            Delivery::Confirming { .. } => "confirming",
            Delivery::Done => "done",
        }
    }

    /// Impatience ends the waiting, never the trying; the one attempt is made in any case.
    pub(super) fn stop_waiting(&mut self, timers: &mut Timers, out: &mut Effects) {
        if self.is_urgent() {
            self.wait = Wait::Over;
            timers.cancel(Timer::ShutdownBound);
            out.push(Effect::Log(Notice::StopRepeated));
        }
    }

    /// `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS` is over, or the time of a late acknowledgement.
    pub(super) fn bound_passed(&mut self, timeout: Duration, link_up: bool, out: &mut Effects) {
        let was = std::mem::replace(&mut self.wait, Wait::Over);
        if self.delivery == Delivery::Done {
            return;
        }
        // Nobody there: the attempts so far were the attempt. Somebody there, if only just now: one call is made in any
        // case.
        self.attempted = !link_up || self.attempted && !self.just_connected;
        if was == Wait::Bound {
            let acknowledged = matches!(self.delivery, Delivery::Confirming { .. });
            let last = if self.last.is_empty() { "no answer".to_owned() } else { self.last.clone() };
            out.push(Effect::Log(Notice::ShutdownUndelivered { timeout, acknowledged, last }));
        }
    }

    pub(super) fn next_call(&mut self) -> Option<Call> {
        match &mut self.delivery {
            Delivery::Call => Some(Call::Shutdown),
            Delivery::Confirming { look, .. } => std::mem::take(look).then_some(Call::GetGameServer),
            Delivery::Retry | Delivery::Done => None,
        }
    }

    /// `never`: no SDK server was ever reached.
    pub(super) fn connect_failed(&mut self, now: Instant, never: bool, error: &CallError, out: &mut Effects) {
        (self.attempted, self.just_connected) = (true, false);
        self.last.clone_from(&error.message);
        let is_urgent = self.is_urgent();
        match &mut self.delivery {
            // The one attempt is over.
            Delivery::Call if never && is_urgent => {
                self.wait = Wait::Over;
                out.push(Effect::Log(Notice::ShutdownNoSdk { error: error.message.clone() }));
            }
            Delivery::Confirming { refused_since, .. } if error.kind == CallErrorKind::Unavailable => {
                let refused_for = now - *refused_since.get_or_insert(now);
                if refused_for >= LEFT_AFTER && is_urgent {
                    self.wait = Wait::Over;
                    out.push(Effect::Log(Notice::ShutdownSdkLeft { refused_for }));
                }
            }
            Delivery::Confirming { refused_since, .. } => *refused_since = None,
            Delivery::Call | Delivery::Retry | Delivery::Done => {}
        }
    }

    /// The SDK server is there, for the first time or again: whatever it knew, call it. Nothing is read before, which
    /// may hang.
    pub(super) fn connected(&mut self) {
        self.acknowledged = false;
        self.just_connected = true;
        if self.delivery != Delivery::Done {
            self.delivery = Delivery::Call;
        }
    }

    /// It is to be called now.
    pub(super) fn calls_now(&self) -> bool {
        self.delivery == Delivery::Call
    }

    pub(super) fn answered(
        &mut self,
        now: Instant,
        link_up: bool,
        outcome: Result<(), CallError>,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        (self.attempted, self.just_connected) = (true, false);
        if self.delivery == Delivery::Done {
            return;
        }
        match outcome {
            Ok(()) => {
                if !matches!(self.delivery, Delivery::Confirming { .. }) && !self.warned {
                    out.push(Effect::Log(Notice::ShutdownAcknowledged { after: now - self.began }));
                }
                self.delivery = Delivery::Confirming { called: now, look: true, refused_since: None };
                let is_news = !std::mem::replace(&mut self.acknowledged, true);
                if self.wait == Wait::Over && is_news {
                    self.wait = Wait::Late;
                    timers.set(Timer::ShutdownBound, now + LATE_WAIT);
                }
            }
            Err(error) => {
                self.last.clone_from(&error.message);
                if !std::mem::replace(&mut self.warned, true) {
                    out.push(Effect::Log(Notice::ShutdownFailed { error: error.message }));
                }
                if link_up {
                    self.delivery = Delivery::Retry;
                    timers.set(Timer::ShutdownStep, now + self.pace(RETRY_INTERVAL, UNHURRIED_INTERVAL));
                } else {
                    self.delivery = Delivery::Call;
                }
            }
        }
    }

    pub(super) fn looked(
        &mut self,
        now: Instant,
        outcome: Result<GameServer, CallError>,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        let Delivery::Confirming { called, .. } = self.delivery else { return };
        match outcome {
            Ok(game_server) if game_server.is_condemned() => return self.landed(now, &game_server, timers, out),
            Ok(game_server) if now - called >= self.pace(AGAIN_AFTER, UNHURRIED_AGAIN_AFTER) => {
                let state = game_server.state.as_str().into();
                out.push(Effect::Log(Notice::ShutdownAgain { state }));
                self.delivery = Delivery::Call;
                return;
            }
            Ok(game_server) => self.last = format!("state {}", game_server.state.as_str()),
            Err(error) => self.last = error.message,
        }
        timers.set(Timer::ShutdownStep, now + self.pace(LOOK_INTERVAL, UNHURRIED_INTERVAL));
    }

    pub(super) fn step_due(&mut self) {
        match &mut self.delivery {
            Delivery::Confirming { look, .. } => *look = true,
            Delivery::Retry => self.delivery = Delivery::Call,
            Delivery::Call | Delivery::Done => {}
        }
    }

    fn landed(&mut self, now: Instant, game_server: &GameServer, timers: &mut Timers, out: &mut Effects) {
        self.delivery = Delivery::Done;
        timers.cancel(Timer::ShutdownBound);
        let state = game_server.state.as_str().to_owned();
        out.push(Effect::Log(if game_server.is_ending() {
            let state = if game_server.deleting { format!("{state}, being deleted") } else { state };
            Notice::ShutdownConfirmed { state, after: now - self.began }
        } else {
            Notice::ShutdownPointless { state }
        }));
    }

    fn pace(&self, urgent: Duration, unhurried: Duration) -> Duration {
        if self.is_urgent() { urgent } else { unhurried }
    }
}
