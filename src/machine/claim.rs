//! The way to Ready: a fresh readiness round, a look at the state, the call,
//! and looks until Agones shows it.
//!
//! Ready() while Allocated would put a second match on a running one, so a
//! state before Ready, read immediately before, is its only cause.

use std::time::{Duration, Instant};

use super::event::CallError;
use super::{Call, Effect, Effects, Machine, Notice, Phase, Timer};
use crate::sdk::game_server::{GameServer, State};

/// Between looks while Ready() is on its way: it shows after the SDK server's batch time of 0.5 s.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Between looks at a GameServer that cannot become Ready as it is, and after an error.
const SLOW_LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// After a call that failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// An acknowledged Ready() that has not shown by then is called again.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

/// How far the claim to Ready has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Claim {
    /// Nothing to do: not served yet, or no SDK server.
    #[default]
    Idle,
    /// A readiness round is under way that has to pass first.
    AwaitingRound,
    /// The state is to be read.
    Look,
    /// The next look is a matter of time, and begins with a readiness round.
    Pausing,
    /// Ready() is to be called: the state was read just now and allows it.
    Call,
    /// Ready() was acknowledged, or another did it: looks until it shows.
    Confirming { since: Instant, look: bool },
    /// Agones has it.
    Confirmed,
}

/// What the looks have shown so far, and what has been said about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// A state before Ready.
    pub(super) before_ready: bool,
    /// Ready() was called once in Agones' own local mode.
    pub(super) local_mode_served: bool,
    /// The state that a warning has named.
    pub(super) warned: Option<State>,
    /// The last call's error.
    pub(super) error: Option<String>,
}

impl Machine {
    pub(super) fn next_claim_call(&mut self) -> Option<Call> {
        match &mut self.claim {
            Claim::Look | Claim::Confirming { look: true, .. } => Some(Call::GetGameServer),
            Claim::Call => Some(Call::Ready),
            _ => None,
        }
    }

    /// A look or a connection has shown this.
    pub(super) fn claim_learn(&mut self, game_server: &GameServer) {
        self.seen.before_ready |= game_server.state.is_before_ready();
    }

    pub(super) fn claim_connected(&mut self, game_server: &GameServer, out: &mut Effects) {
        let settled = self.claim == Claim::Confirmed && !game_server.state.is_before_ready();
        if self.phase >= Phase::Served && !settled {
            self.claim_begin(out);
        }
    }

    pub(super) fn claim_disconnected(&mut self) {
        self.timers.cancel(Timer::Claim);
        if self.claim != Claim::Confirmed {
            self.claim = Claim::Idle;
        }
    }

    /// The game may have died since the last round, so every try begins with one.
    fn claim_begin(&mut self, out: &mut Effects) {
        self.claim = Claim::AwaitingRound;
        out.push(Effect::AwaitReadiness);
    }

    pub(super) fn claim_round_passed(&mut self) {
        let may = matches!(self.claim, Claim::Idle | Claim::AwaitingRound);
        if self.link.up && may {
            self.claim = Claim::Look;
        }
    }

    pub(super) fn claim_due(&mut self, out: &mut Effects) {
        match &mut self.claim {
            Claim::Confirming { look, .. } => *look = true,
            Claim::Pausing => self.claim_begin(out),
            _ => {}
        }
    }

    fn claim_pause(&mut self, now: Instant, pause: Duration) {
        self.claim = Claim::Pausing;
        self.timers.set(Timer::Claim, now + pause);
    }

    pub(super) fn claim_looked(&mut self, now: Instant, outcome: Result<GameServer, CallError>, out: &mut Effects) {
        // Somebody else's look decides too when it comes between a decision and its call.
        if !matches!(self.claim, Claim::Look | Claim::Call | Claim::Confirming { .. }) {
            return;
        }
        let game_server = match outcome {
            Ok(game_server) => game_server,
            Err(error) => {
                self.seen.error = Some(error.message);
                if self.link.up {
                    self.claim_pause(now, RETRY_INTERVAL);
                }
                return;
            }
        };
        if game_server.is_condemned() {
            let state = if game_server.deleting { "being deleted" } else { game_server.state.as_str() };
            self.warn_once(&game_server.state, Notice::ReadyImpossible { state: state.into() }, out);
            return self.claim_pause(now, SLOW_LOOK_INTERVAL);
        }
        match &game_server.state {
            State::Ready if self.local_mode_starts(&game_server) => {
                self.seen.local_mode_served = true;
                self.claim_call(&State::Ready, out);
            }
            state if state.is_ready_or_later() => self.claim_confirmed(now, state, out),
            State::RequestReady => self.keep_looking(now),
            state if state.is_before_ready() => self.claim_or_wait(now, state, out),
            state => {
                let notice = Notice::StateUnknown { state: state.as_str().into() };
                self.warn_once(state, notice, out);
                self.claim_pause(now, SLOW_LOOK_INTERVAL);
            }
        }
    }

    /// Agones' own local mode starts in Ready: one Ready() is called there, so
    /// that a developer sees it come.
    fn local_mode_starts(&self, game_server: &GameServer) -> bool {
        game_server.local_mode
            && !self.seen.before_ready
            && !self.seen.local_mode_served
            && !matches!(self.claim, Claim::Confirming { .. })
    }

    fn claim_call(&mut self, state: &State, out: &mut Effects) {
        self.claim = Claim::Call;
        out.push(Effect::Log(Notice::ReadyCalled { state: state.as_str().into() }));
    }

    fn claim_or_wait(&mut self, now: Instant, state: &State, out: &mut Effects) {
        let Claim::Confirming { since, .. } = self.claim else {
            return self.claim_call(state, out);
        };
        let after = now - since;
        if after < AGAIN_AFTER {
            return self.keep_looking(now);
        }
        out.push(Effect::Log(Notice::ReadyAgain { state: state.as_str().into(), after }));
        self.claim_begin(out);
    }

    fn keep_looking(&mut self, now: Instant) {
        let since = if let Claim::Confirming { since, .. } = self.claim { since } else { now };
        self.claim = Claim::Confirming { since, look: false };
        let slow = now - since >= AGAIN_AFTER;
        self.timers.set(Timer::Claim, now + if slow { RETRY_INTERVAL } else { LOOK_INTERVAL });
    }

    fn claim_confirmed(&mut self, now: Instant, state: &State, out: &mut Effects) {
        self.claim = Claim::Confirmed;
        let notice = Notice::Ready { state: state.as_str().into(), after: now - self.started };
        if self.phase == Phase::Served {
            self.enter_ready(out, notice);
        } else {
            // Probe-only so far, or a GameServer that was new after a loss: Agones knows it now.
            out.push(Effect::Log(notice));
        }
    }

    pub(super) fn ready_answered(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        if self.stop.is_some() {
            return;
        }
        match outcome {
            Ok(()) => {
                self.claim = Claim::Confirming { since: now, look: false };
                self.timers.set(Timer::Claim, now + LOOK_INTERVAL);
            }
            Err(error) => {
                out.push(Effect::Log(Notice::ReadyFailed { error: error.message.clone() }));
                self.seen.error = Some(error.message);
                if self.link.up {
                    self.claim_pause(now, RETRY_INTERVAL);
                }
            }
        }
    }

    pub(super) fn claim_failure(&self) -> String {
        let state = self.game_server.as_ref().map_or("unknown", |game_server| game_server.state.as_str());
        match &self.seen.error {
            Some(error) => format!("state {state}, last error: {error}"),
            None if self.claim == Claim::AwaitingRound => format!("state {state}, {}", self.last_failure),
            None => format!("state {state}"),
        }
    }

    fn warn_once(&mut self, state: &State, notice: Notice, out: &mut Effects) {
        if self.seen.warned.as_ref() != Some(state) {
            self.seen.warned = Some(state.clone());
            out.push(Effect::Log(notice));
        }
    }
}
