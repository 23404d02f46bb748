//! Readiness: rounds of the game's probes until one passes, then the way to
//! Ready: a look at the GameServer, the call, and looks until Agones shows it.
//!
//! Ready() takes a GameServer out of Allocated, with a match on it. So its
//! cause is a state before Ready, read immediately before; and an SDK server
//! that may still have one in its queue never gets a second. The one other cause
//! is an allocation of the shim's own that is empty (`self_allocation.rs`).

use std::time::{Duration, Instant};

use super::event::PlainLine;
use super::{Call, Effect, Effects, Machine, Notice, Phase, ProbeReport, StopReason, Timer, failures};
use crate::sdk::call::{CallError, CallErrorKind};
use crate::sdk::game_server::{GameServer, State};

/// Between looks while Ready() is on its way: it shows after the SDK server's batch time of 0.5 s.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Between looks at a GameServer that cannot become Ready as it is, and after an error.
const SLOW_LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// After a call that failed, and between looks once Ready() is overdue.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// An acknowledged Ready() that has not shown by then is overdue, and a warning says so.
const OVERDUE_AFTER: Duration = Duration::from_secs(10);
/// Between such warnings.
const OVERDUE_WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// The SDK server writes a state this long after the call for it. What shows sooner was asked for by somebody else.
const BATCH_TIME: Duration = Duration::from_millis(500);
/// An allocation that shows this soon after an own Ready() is about to be undone by it: the batch time, and the write.
const ALLOCATION_AT_RISK: Duration = Duration::from_millis(600);
/// An earlier process, or an earlier SDK server, may have left a Ready() on its way: by then it shows.
const FIRST_READY_AFTER: Duration = Duration::from_secs(1);
/// A look that took this long was held up, most likely by a write that it does not show yet.
const HELD_UP: Duration = Duration::from_millis(250);
/// Between lines that name another reason why the game is not ready.
const REASON_INTERVAL: Duration = Duration::from_secs(5);

/// How far the way to Ready has come.
#[derive(Clone, Debug, Default, PartialEq)]
enum Step {
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
    /// Ready() is on its way, or another called it: looks until it shows.
    Confirming { look: bool },
    /// Allocate() is to be called: the state was read just now, and an own Ready() is about to undo it.
    KeepAllocation {
        /// `last-allocated` of it.
        over: String,
    },
    /// Agones has it.
    Confirmed,
}

/// A Ready() that the SDK server has, or may have.
#[derive(Clone, Debug, PartialEq)]
struct Sent {
    /// Of the link, when it was called: while this lasts, so does the server that has it.
    generation: u64,
    at: Instant,
    /// When a warning is due that it does not show.
    warn_at: Instant,
    /// Allocate() was called to make up for it: once, for a second could undo another's state as well.
    allocation_kept: bool,
    /// `last-allocated` of the shim's own allocation that it gives back.
    gives_back: Option<String>,
}

/// What readiness has come to, and what was said about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Readiness {
    step: Step,
    sent: Option<Sent>,
    /// No Ready() before this time, which a new SDK server has set.
    not_before: Option<Instant>,
    /// The Ready() to be called gives this allocation back.
    gives_back: Option<String>,
    /// The last look was held up.
    held_up: bool,
    /// The GameServer was seen in a state before Ready.
    seen_before_ready: bool,
    /// Ready() was called once in Agones' own local mode.
    local_mode_served: bool,
    /// The state that a warning has named.
    warned: Option<State>,
    /// The last call's error, until one succeeds.
    error: Option<String>,
    /// Lines seen that the log probe waits for.
    lines: u32,
    /// Lines that do not match, and the last of them.
    passed: (u32, String),
    /// A warning has shown one that has the pattern as plain text.
    warned_of_plain: bool,
    /// Why the last round failed.
    last_failure: String,
    /// The reason that a line has named, and when.
    logged: Option<(Instant, String)>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self {
            step: Step::Idle,
            sent: None,
            not_before: None,
            gives_back: None,
            held_up: false,
            seen_before_ready: false,
            local_mode_served: false,
            warned: None,
            error: None,
            lines: 0,
            passed: (0, String::new()),
            warned_of_plain: false,
            last_failure: "no readiness round has ended yet".into(),
            logged: None,
        }
    }
}

impl Readiness {
    /// Agones shows the GameServer Ready, or later.
    pub(super) fn is_confirmed(&self) -> bool {
        self.step == Step::Confirmed
    }

    /// Why the last round failed.
    #[cfg(test)]
    pub(super) fn last_failure(&self) -> &str {
        &self.last_failure
    }

    /// The way out begins: nothing more is called on the way to Ready.
    pub(super) fn stop(&mut self) {
        self.step = Step::Idle;
    }

    /// A look has just shown the shim's own allocation, of this `last-allocated`, and it is empty. Whether Ready() is
    /// called.
    pub(super) fn give_back(&mut self, now: Instant, last_allocated: String) -> bool {
        let may = self.is_confirmed() && self.not_before.is_none_or(|at| at <= now);
        if may {
            self.step = Step::Call;
            self.gives_back = Some(last_allocated);
        }
        may
    }

    pub(super) fn next_call(&self) -> Option<Call> {
        match &self.step {
            Step::Look | Step::Confirming { look: true } => Some(Call::GetGameServer),
            Step::Call => Some(Call::Ready),
            Step::KeepAllocation { .. } => Some(Call::Allocate),
            _ => None,
        }
    }

    /// The next call changes the state that a look has just shown: nothing may come between.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.step, Step::Call | Step::KeepAllocation { .. })
    }

    /// It decides by the next look.
    pub(super) fn wants_look(&self) -> bool {
        !matches!(self.step, Step::Idle | Step::Confirmed)
    }

    /// Handles every GetGameServer reply.
    pub(super) fn learn(&mut self, game_server: &GameServer) {
        self.seen_before_ready |= game_server.state.is_before_ready();
    }

    /// The link is up, to an SDK server that was not there before.
    pub(super) fn met_new_server(&mut self, now: Instant) {
        self.not_before = Some(now + FIRST_READY_AFTER);
    }

    /// The link is lost; what is on its way stays so.
    pub(super) fn disconnected(&mut self) {
        if self.step != Step::Confirmed {
            self.step = Step::Idle;
        }
    }

    /// The server that has an own Ready() is there.
    fn is_queued(&self, generation: u64) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.generation == generation)
    }

    fn warn_once(&mut self, state: &State, notice: Notice, out: &mut Effects) {
        if self.warned.as_ref() != Some(state) {
            self.warned = Some(state.clone());
            out.push(Effect::Log(notice));
        }
    }
}

/// The game's side: lines, rounds, the deadline.
impl Machine {
    pub(super) fn lines_seen(&mut self, lines: u32, out: &mut Effects) {
        if self.readiness.lines >= self.config.ready_lines {
            return;
        }
        self.readiness.lines = self.readiness.lines.saturating_add(lines);
        out.push(Effect::ReportLines(self.readiness.lines));
        if self.readiness.lines >= self.config.ready_lines {
            out.push(Effect::StopWatching);
        }
    }

    /// Nothing follows from them; they tell a pattern that is wrong from a game that writes nothing.
    pub(super) fn lines_passed(&mut self, lines: u32, last: String, plain: Option<PlainLine>, out: &mut Effects) {
        let readiness = &mut self.readiness;
        readiness.passed = (readiness.passed.0.saturating_add(lines), last);
        if let Some(PlainLine { line, write }) = plain
            && !std::mem::replace(&mut readiness.warned_of_plain, true)
        {
            out.push(Effect::Log(Notice::LineIsPlain { line, write }));
        }
    }

    /// Why the last round failed, and what the game has written where a line of it is waited for.
    pub(super) fn not_ready_because(&self) -> String {
        let Readiness { lines, passed: (passed, last), last_failure, .. } = &self.readiness;
        match (*passed, *lines) {
            _ if *lines >= self.config.ready_lines => last_failure.clone(),
            (0, 0) => format!("{last_failure} (no line yet)"),
            (0, _) => last_failure.clone(),
            (1, 0) => format!("{last_failure} (1 line, which does not match: {last:?})"),
            (passed, 0) => format!("{last_failure} ({passed} lines, none matches, last: {last:?})"),
            (passed, _) => format!("{last_failure} ({passed} other lines, last: {last:?})"),
        }
    }

    pub(super) fn readiness_failed(&mut self, now: Instant, reports: &[ProbeReport], out: &mut Effects) {
        self.readiness.last_failure = failures(reports);
        if self.stop.is_none() {
            self.log_reason(now, out);
        }
    }

    /// Names the reason where it is another one than the last line's, at most once in [`REASON_INTERVAL`].
    pub(super) fn log_reason(&mut self, now: Instant, out: &mut Effects) {
        let reason = self.readiness.last_failure.clone();
        match &self.readiness.logged {
            None => out.push(Effect::Log(Notice::Waiting { reason: reason.clone() })),
            Some((_, logged)) if *logged == reason => return,
            Some((at, _)) if now < *at + REASON_INTERVAL => {
                return self.timers.set(Timer::Reason, *at + REASON_INTERVAL);
            }
            Some(_) => out.push(Effect::Log(Notice::WaitingReason { reason: reason.clone() })),
        }
        self.readiness.logged = Some((now, reason));
    }

    pub(super) fn readiness_passed(&mut self, now: Instant, out: &mut Effects) {
        if self.stop.is_some() {
            return;
        }
        self.timers.cancel(Timer::Reason);
        if let Some((_, reason)) = &mut self.readiness.logged {
            reason.clear();
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Served;
            self.timers.cancel(Timer::ReadyTimeout);
            let sdk = self.link_in_words();
            out.push(Effect::Log(Notice::Served { after: now - self.started, sdk }));
            self.watch_liveness(now, self.config.liveness_is_readiness, out);
            if self.is_probe_only() {
                self.enter_ready(out, Notice::ReadyProbeOnly { after: now - self.started });
            }
        }
        if self.link.up && matches!(self.readiness.step, Step::Idle | Step::AwaitingRound) {
            self.readiness.step = Step::Look;
        }
    }

    pub(super) fn ready_timed_out(&mut self, now: Instant, out: &mut Effects) {
        // A GameServer that has been Ready before may have players on it: liveness decides there.
        if self.phase != Phase::Waiting || self.health.watching {
            return;
        }
        let timeout = self.config.ready_timeout.unwrap_or_default();
        let reason = self.not_ready_because();
        out.push(Effect::Log(Notice::ReadyTimedOut { timeout, reason }));
        self.begin_stop(now, StopReason::Readiness, out);
    }
}

/// Agones' side: looks, the call, and what it comes to.
impl Machine {
    pub(super) fn readiness_connected(&mut self, game_server: &GameServer, out: &mut Effects) {
        let settled = self.readiness.is_confirmed() && !game_server.state.is_before_ready();
        if self.phase < Phase::Served || settled {
            return;
        }
        if self.readiness.is_queued(self.link.generation) {
            self.readiness.step = Step::Confirming { look: true };
        } else {
            self.await_round(out);
        }
    }

    /// The game may have died since the last round, so every try begins with one.
    fn await_round(&mut self, out: &mut Effects) {
        self.readiness.step = Step::AwaitingRound;
        out.push(Effect::AwaitReadiness);
    }

    pub(super) fn next_look_due(&mut self, out: &mut Effects) {
        match &mut self.readiness.step {
            Step::Confirming { look } => *look = true,
            Step::Pausing => self.await_round(out),
            _ => {}
        }
    }

    fn pause_until(&mut self, at: Instant) {
        self.readiness.step = Step::Pausing;
        self.timers.set(Timer::ReadyLook, at);
    }

    /// Every look ends here, whoever asked for it: one that comes between a decision and its call decides anew.
    pub(super) fn readiness_looked(
        &mut self,
        now: Instant,
        began: Instant,
        outcome: Result<GameServer, CallError>,
        out: &mut Effects,
    ) {
        let readiness = &mut self.readiness;
        if matches!(readiness.step, Step::Idle | Step::AwaitingRound | Step::Pausing | Step::Confirmed) {
            return;
        }
        let game_server = match outcome {
            Ok(game_server) => game_server,
            Err(error) => {
                readiness.error = Some(error.message);
                if self.link.up {
                    self.look_failed(now);
                }
                return;
            }
        };
        readiness.error = None;
        let held_up = std::mem::replace(&mut readiness.held_up, now - began >= HELD_UP);
        if game_server.is_condemned() {
            let state = game_server.state_in_words();
            readiness.warn_once(&game_server.state, Notice::ReadyImpossible { state: state.into() }, out);
            return self.pause_until(now + SLOW_LOOK_INTERVAL);
        }
        match &game_server.state {
            State::Ready if self.local_mode_starts(&game_server) => self.call_ready(now, &game_server, out),
            state if state.is_ready_or_later() => self.shows_ready_or_later(now, &game_server, out),
            State::RequestReady => self.keep_looking(now, LOOK_INTERVAL),
            state if state.is_before_ready() => {
                if self.readiness.held_up && !held_up {
                    return self.pause_until(now + LOOK_INTERVAL);
                }
                self.shows_before_ready(now, &game_server, out);
            }
            state => {
                let notice = Notice::StateUnknown { state: state.as_str().into() };
                self.readiness.warn_once(state, notice, out);
                self.pause_until(now + SLOW_LOOK_INTERVAL);
            }
        }
    }

    fn look_failed(&mut self, now: Instant) {
        if self.readiness.is_queued(self.link.generation) {
            self.keep_looking(now, RETRY_INTERVAL);
        } else {
            self.pause_until(now + RETRY_INTERVAL);
        }
    }

    /// Agones' own local mode starts in Ready: one Ready() is called there, so
    /// that a developer sees it come.
    fn local_mode_starts(&self, game_server: &GameServer) -> bool {
        let readiness = &self.readiness;
        game_server.local_mode
            && !readiness.seen_before_ready
            && !readiness.local_mode_served
            && !matches!(readiness.step, Step::Confirming { .. })
    }

    fn call_ready(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        if let Some(at) = self.readiness.not_before.filter(|at| now < *at) {
            return self.pause_until(at);
        }
        self.readiness.step = Step::Call;
        self.readiness.local_mode_served |= game_server.local_mode && game_server.state == State::Ready;
        out.push(Effect::Log(Notice::ReadyCalled { state: game_server.state.as_str().into() }));
    }

    fn shows_before_ready(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        let state = game_server.state.as_str();
        if self.readiness.is_queued(self.link.generation) {
            return self.does_not_show(now, state, out);
        }
        if matches!(self.readiness.step, Step::Confirming { .. }) {
            return self.await_round(out);
        }
        if let Some(sent) = self.readiness.sent.take() {
            out.push(Effect::Log(Notice::ReadyAgain { state: state.into(), after: now - sent.at }));
        }
        self.call_ready(now, game_server, out);
    }

    /// Ready() is with a server that is there, and waits.
    fn does_not_show(&mut self, now: Instant, state: &str, out: &mut Effects) {
        if let Some(sent) = self.readiness.sent.as_mut().filter(|sent| now >= sent.warn_at) {
            sent.warn_at = now + OVERDUE_WARNING_INTERVAL;
            out.push(Effect::Log(Notice::ReadyOverdue { state: state.into(), after: now - sent.at }));
        }
        self.keep_looking(now, LOOK_INTERVAL);
    }

    /// Ready, Allocated or Reserved: by an own Ready(), unless it shows too soon for that.
    fn shows_ready_or_later(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        let queued = self.readiness.is_queued(self.link.generation) && !game_server.local_mode;
        if let Some(sent) = self.readiness.sent.as_mut().filter(|_| queued) {
            let age = now - sent.at;
            if game_server.state == State::Allocated {
                if sent.gives_back.as_deref() == Some(game_server.last_allocated()) {
                    return self.does_not_show(now, "Allocated", out);
                }
                if age < ALLOCATION_AT_RISK && !std::mem::replace(&mut sent.allocation_kept, true) {
                    self.readiness.step = Step::KeepAllocation { over: game_server.last_allocated().to_owned() };
                    return out.push(Effect::Log(Notice::AllocationAtRisk { after: age }));
                }
            } else if age < BATCH_TIME {
                return self.keep_looking(now, LOOK_INTERVAL);
            }
        }
        self.ready_confirmed(now, &game_server.state, out);
    }

    fn keep_looking(&mut self, now: Instant, interval: Duration) {
        self.readiness.step = Step::Confirming { look: false };
        let overdue = self.readiness.sent.as_ref().is_none_or(|sent| now - sent.at >= OVERDUE_AFTER);
        self.timers.set(Timer::ReadyLook, now + if overdue { RETRY_INTERVAL } else { interval });
    }

    fn ready_confirmed(&mut self, now: Instant, state: &State, out: &mut Effects) {
        self.readiness.step = Step::Confirmed;
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
        let gives_back = self.readiness.gives_back.take();
        let error = match outcome {
            Ok(()) => None,
            // It may be in the queue of a server that stands still.
            Err(error) if error.kind == CallErrorKind::DeadlineExceeded => {
                out.push(Effect::Log(Notice::ReadyUnanswered { error: error.message.clone() }));
                Some(error.message)
            }
            Err(error) => {
                out.push(Effect::Log(Notice::ReadyFailed { error: error.message.clone() }));
                self.readiness.error = Some(error.message);
                if gives_back.is_some() {
                    // It stays Allocated, and is decided anew.
                    self.readiness.step = Step::Confirmed;
                    self.self_allocation.pause(now);
                } else if self.link.up {
                    self.pause_until(now + RETRY_INTERVAL);
                }
                return;
            }
        };
        let (generation, warn_at) = (self.link.generation, now + OVERDUE_AFTER);
        self.readiness.sent = Some(Sent { generation, at: now, warn_at, allocation_kept: false, gives_back });
        self.readiness.error = error;
        if self.link.up {
            self.keep_looking(now, LOOK_INTERVAL);
        }
    }

    pub(super) fn allocate_answered(
        &mut self,
        now: Instant,
        began: Instant,
        outcome: Result<(), CallError>,
        out: &mut Effects,
    ) {
        if self.self_allocate_answered(now, began, &outcome, out) {
            return;
        }
        // Without an answer it may be in the queue all the same.
        let refused = outcome.as_ref().is_err_and(|error| error.kind != CallErrorKind::DeadlineExceeded);
        if let Step::KeepAllocation { over } = &self.readiness.step
            && !refused
        {
            self.expect_own_allocation(over.clone());
        }
        if let Err(error) = outcome {
            out.push(Effect::Log(Notice::AllocateFailed { error: error.message }));
        }
        if self.stop.is_none() && self.link.up {
            self.ready_confirmed(now, &State::Allocated, out);
        }
    }

    /// Why Ready does not show, as far as that is known.
    pub(super) fn unconfirmed_because(&self) -> String {
        let state = self.game_server.as_ref().map_or("unknown", |game_server| game_server.state.as_str());
        let readiness = &self.readiness;
        match &readiness.error {
            Some(error) => format!("state {state}, last error: {error}"),
            None if readiness.step == Step::AwaitingRound => format!("state {state}, {}", readiness.last_failure),
            None => format!("state {state}"),
        }
    }
}
