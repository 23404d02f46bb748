//! The way out: Shutdown() delivered and confirmed, the hook, the child.
//!
//! Leaving right after Shutdown() loses it, so the shim stays until the
//! GameServer shows it. The reason that came first gives the exit code.

use std::time::{Duration, Instant};

use super::claim::Claim;
use super::event::{CallError, CallErrorKind};
use super::{Call, Effect, Effects, Machine, Notice, Phase, ProcessEnd, StopSnapshot, Timer};
use crate::exit::ExitReason;
use crate::sdk::game_server::GameServer;
use crate::settings::{SdkMode, StopScope};

/// Between looks at the GameServer while Shutdown() is on its way.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// After a Shutdown() that was rejected.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// An acknowledged Shutdown() that does not show by then is called again: it is harmless.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Connections refused for so long after an acknowledgement: the SDK server has left.
const LEFT_AFTER: Duration = Duration::from_secs(2);
/// How long the child has on the paths that give up, where nothing else is set.
const GIVE_UP_STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// A process that SIGKILL does not end within this time is not waited for.
const LEAVE_AFTER_KILL: Duration = Duration::from_secs(2);

/// How a game ends when its console stops it: by itself, or of HUP, INT or QUIT, directly or through a shell.
const ASKED_FOR: [ProcessEnd; 7] = [
    ProcessEnd::Exited(0),
    ProcessEnd::Signaled(1),
    ProcessEnd::Exited(128 + 1),
    ProcessEnd::Signaled(2),
    ProcessEnd::Signaled(3),
    ProcessEnd::Exited(128 + 2),
    ProcessEnd::Exited(128 + 3),
];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    began: Instant,
    reason: &'static str,
    /// The exit code, where it is not the child's own.
    exit: Option<ExitReason>,
    shutdown: Delivery,
    /// Shutdown() has had its one attempt in front of the stop signal.
    attempted: bool,
    hook_running: bool,
    /// It began with a stop signal, or one has come since.
    signaled: bool,
    child: Child,
    /// An error of Shutdown() has been named in a warning.
    warned: bool,
    last: String,
}

/// How far Shutdown() has come.
#[derive(Clone, Debug, PartialEq)]
enum Delivery {
    /// It is to be called as soon as there is a connection.
    Call,
    /// It is called again at the next step.
    Retry,
    /// Acknowledged; the state is looked at until it shows.
    Confirming { called: Instant, look: bool, refused_since: Option<Instant> },
    /// Delivered, not wanted or given up.
    Done,
}

/// How far the child has come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Child {
    /// It runs and has not been told.
    Running,
    /// The stop signal was sent.
    Told,
    /// It has ended; its group may not be empty.
    Ended(ProcessEnd),
    /// Nothing of its group is left, or nothing is waited for.
    Gone(Option<ProcessEnd>),
}

impl Stop {
    /// Beats go on while the game saves, and on the way to a confirmed Shutdown().
    pub(super) fn may_beat(&self, wrapper: bool, alive: Option<bool>) -> bool {
        // Giving up means that the game is gone: no beats for it.
        let given_up = matches!(self.exit, Some(ExitReason::GameServerGone | ExitReason::NoSdk));
        let running = matches!(self.child, Child::Running | Child::Told);
        !given_up && if wrapper { running } else { alive != Some(false) }
    }

    /// Shutdown() is not through yet.
    pub(super) fn has_something_to_deliver(&self) -> bool {
        self.shutdown != Delivery::Done
    }

    pub(super) fn snapshot(&self, now: Instant) -> StopSnapshot {
        StopSnapshot {
            reason: self.reason,
            age: now.saturating_duration_since(self.began),
            shutdown: match self.shutdown {
                Delivery::Call | Delivery::Retry => "calling",
                Delivery::Confirming { .. } => "confirming",
                Delivery::Done => "done",
            },
            hook_running: self.hook_running,
        }
    }

    fn child_end(&self) -> Option<ProcessEnd> {
        match self.child {
            Child::Ended(end) => Some(end),
            Child::Gone(end) => end,
            Child::Running | Child::Told => None,
        }
    }
}

impl Machine {
    pub(super) fn stop_requested(&mut self, now: Instant, out: &mut Effects) {
        let Some(stop) = &mut self.stop else {
            return self.begin_stop(now, "signal", None, true, out);
        };
        // The first signal on a way out that began by itself is nobody's impatience.
        let repeated = std::mem::replace(&mut stop.signaled, true);
        if repeated {
            stop.attempted = true;
            if stop.shutdown != Delivery::Done {
                stop.shutdown = Delivery::Done;
                out.push(Effect::Log(Notice::StopRepeated));
            }
        }
        match stop.child {
            // The signal thread has sent a repeated one to the child already.
            Child::Running | Child::Told if repeated => self.child_told(now),
            Child::Told => out.push(Effect::SendStopSignal),
            _ => {}
        }
    }

    /// Begins the way out, unless it has begun: `exit` is `None` where the child's own end gives the code.
    pub(super) fn begin_stop(
        &mut self,
        now: Instant,
        reason: &'static str,
        exit: Option<ExitReason>,
        shutdown: bool,
        out: &mut Effects,
    ) {
        if self.stop.is_some() {
            return;
        }
        self.phase = Phase::Stopping;
        self.timers.cancel_all();
        self.health.beat_wanted = false;
        self.claim = Claim::Idle;
        out.push(Effect::StopProbing);
        self.end_allocated_hook(out);
        out.push(Effect::Log(Notice::Stopping { reason }));
        let shutdown = shutdown && self.config.sdk != SdkMode::Off;
        let (child, child_ended) = match self.child {
            super::Child::None | super::Child::Held { .. } => (Child::Gone(None), false),
            super::Child::Ended(end) => (Child::Ended(end), true),
            super::Child::Started => (Child::Running, false),
        };
        let hook = self.config.stop_hook && !child_ended;
        self.stop = Some(Stop {
            began: now,
            reason,
            exit,
            shutdown: if shutdown { Delivery::Call } else { Delivery::Done },
            attempted: !shutdown,
            hook_running: hook,
            signaled: reason == "signal",
            child,
            warned: false,
            last: String::new(),
        });
        if shutdown {
            self.timers.set(Timer::ShutdownBound, now + self.config.shutdown_timeout);
        }
        if !self.link.up && self.config.sdk != SdkMode::Off && shutdown {
            self.link.attempt_due = true;
        }
        if hook {
            out.push(Effect::StartStopHook(reason));
        }
        if child_ended {
            out.push(Effect::TerminateGroup);
            self.timers.set(Timer::Kill, now + self.config.stop_timeout.unwrap_or(GIVE_UP_STOP_TIMEOUT));
        }
        self.tell_child(now, out);
    }

    /// Sends the stop signal once Shutdown() has had its attempt and the hook has ended.
    fn tell_child(&mut self, now: Instant, out: &mut Effects) {
        let ready = |stop: &Stop| stop.child == Child::Running && stop.attempted && !stop.hook_running;
        if self.stop.as_ref().is_some_and(ready) {
            out.push(Effect::SendStopSignal);
            out.push(Effect::Log(Notice::StopSignalSent));
            self.child_told(now);
        }
    }

    fn child_told(&mut self, now: Instant) {
        let Some(stop) = &mut self.stop else { return };
        if stop.child == Child::Running {
            stop.child = Child::Told;
            // An orderly stop leaves the bound to the orchestrator; giving up must end by itself.
            let default = stop.exit.filter(|exit| *exit != ExitReason::Stopped).map(|_| GIVE_UP_STOP_TIMEOUT);
            if let Some(timeout) = self.config.stop_timeout.or(default) {
                self.timers.set(Timer::Kill, now + timeout);
            }
        }
    }

    pub(super) fn next_stop_call(&mut self) -> Option<Call> {
        match &mut self.stop.as_mut()?.shutdown {
            Delivery::Call => Some(Call::Shutdown),
            Delivery::Confirming { look, .. } => std::mem::take(look).then_some(Call::GetGameServer),
            Delivery::Retry | Delivery::Done => None,
        }
    }

    pub(super) fn shutdown_connect_failed(&mut self, now: Instant, error: &CallError, out: &mut Effects) {
        let never = !self.link.ever;
        let Some(stop) = &mut self.stop else { return };
        stop.last.clone_from(&error.message);
        match &mut stop.shutdown {
            // It was never reached: the one attempt is over.
            Delivery::Call if never => {
                stop.shutdown = Delivery::Done;
                out.push(Effect::Log(Notice::ShutdownNoSdk { error: error.message.clone() }));
            }
            Delivery::Confirming { refused_since, .. } => {
                if error.kind == CallErrorKind::Unavailable {
                    let refused_for = now - *refused_since.get_or_insert(now);
                    if refused_for >= LEFT_AFTER {
                        stop.shutdown = Delivery::Done;
                        out.push(Effect::Log(Notice::ShutdownSdkLeft { refused_for }));
                    }
                } else {
                    *refused_since = None;
                }
            }
            _ => {}
        }
        self.shutdown_attempted(now, out);
    }

    /// The SDK server is there, for the first time or again: whatever it knew, call it.
    pub(super) fn shutdown_connected(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        let Some(stop) = &mut self.stop else { return };
        match stop.shutdown {
            Delivery::Done => {}
            Delivery::Confirming { .. } if game_server.is_ending() => self.shutdown_landed(now, game_server, out),
            _ => stop.shutdown = Delivery::Call,
        }
    }

    pub(super) fn shutdown_answered(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        let link_up = self.link.up;
        let Some(stop) = &mut self.stop else { return };
        if stop.shutdown != Delivery::Done {
            match outcome {
                Ok(()) => {
                    if !matches!(stop.shutdown, Delivery::Confirming { .. }) && !stop.warned {
                        out.push(Effect::Log(Notice::ShutdownAcknowledged { after: now - stop.began }));
                    }
                    stop.shutdown = Delivery::Confirming { called: now, look: true, refused_since: None };
                }
                Err(error) => {
                    stop.last.clone_from(&error.message);
                    if !std::mem::replace(&mut stop.warned, true) {
                        out.push(Effect::Log(Notice::ShutdownFailed { error: error.message }));
                    }
                    if link_up {
                        stop.shutdown = Delivery::Retry;
                        self.timers.set(Timer::ShutdownStep, now + RETRY_INTERVAL);
                    } else {
                        stop.shutdown = Delivery::Call;
                    }
                }
            }
        }
        self.shutdown_attempted(now, out);
    }

    fn shutdown_attempted(&mut self, now: Instant, out: &mut Effects) {
        if let Some(stop) = &mut self.stop {
            stop.attempted = true;
        }
        self.tell_child(now, out);
    }

    pub(super) fn shutdown_looked(&mut self, now: Instant, outcome: Result<GameServer, CallError>, out: &mut Effects) {
        let Some(stop) = &mut self.stop else { return };
        let Delivery::Confirming { called, .. } = stop.shutdown else { return };
        match outcome {
            Ok(game_server) if game_server.is_condemned() => self.shutdown_landed(now, &game_server, out),
            Ok(game_server) if now - called >= AGAIN_AFTER => {
                let state = game_server.state.as_str().into();
                out.push(Effect::Log(Notice::ShutdownAgain { state }));
                stop.shutdown = Delivery::Call;
            }
            Ok(game_server) => {
                stop.last = format!("state {}", game_server.state.as_str());
                self.timers.set(Timer::ShutdownStep, now + LOOK_INTERVAL);
            }
            Err(error) => {
                stop.last = error.message;
                self.timers.set(Timer::ShutdownStep, now + LOOK_INTERVAL);
            }
        }
    }

    fn shutdown_landed(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        let Some(stop) = &mut self.stop else { return };
        stop.shutdown = Delivery::Done;
        self.timers.cancel(Timer::ShutdownBound);
        let state = game_server.state.as_str().to_owned();
        out.push(Effect::Log(if game_server.is_ending() {
            let state = if game_server.deleting { format!("{state}, being deleted") } else { state };
            Notice::ShutdownConfirmed { state, after: now - stop.began }
        } else {
            Notice::ShutdownPointless { state }
        }));
    }

    pub(super) fn shutdown_step_due(&mut self) {
        let Some(stop) = &mut self.stop else { return };
        match &mut stop.shutdown {
            Delivery::Confirming { look, .. } => *look = true,
            Delivery::Retry => stop.shutdown = Delivery::Call,
            Delivery::Call | Delivery::Done => {}
        }
    }

    pub(super) fn shutdown_bound(&mut self, out: &mut Effects) {
        let timeout = self.config.shutdown_timeout;
        let Some(stop) = &mut self.stop else { return };
        if stop.shutdown != Delivery::Done {
            let acknowledged = matches!(stop.shutdown, Delivery::Confirming { .. });
            let last = if stop.last.is_empty() { "no answer".to_owned() } else { stop.last.clone() };
            out.push(Effect::Log(Notice::ShutdownUndelivered { timeout, acknowledged, last }));
            stop.shutdown = Delivery::Done;
            stop.attempted = true;
        }
    }

    pub(super) fn hook_ended(&mut self, now: Instant, outcome: Result<(), String>, out: &mut Effects) {
        out.push(Effect::Log(match outcome {
            Ok(()) => Notice::HookEnded,
            Err(reason) => Notice::HookFailed { reason },
        }));
        if let Some(stop) = &mut self.stop {
            stop.hook_running = false;
        }
        self.tell_child(now, out);
    }

    pub(super) fn child_ended(&mut self, now: Instant, end: ProcessEnd, held_terminal: bool, out: &mut Effects) {
        out.push(Effect::Log(Notice::ChildEnded { end }));
        self.child = super::Child::Ended(end);
        if let Some(stop) = &mut self.stop {
            stop.child = match stop.child {
                Child::Gone(_) => Child::Gone(Some(end)),
                _ if self.config.stop_scope == StopScope::Child => Child::Gone(Some(end)),
                _ => Child::Ended(end),
            };
            return;
        }
        // Ctrl-C, or a console's quit, reached the game by itself: that is a stop that somebody asked for.
        let asked = held_terminal && ASKED_FOR.contains(&end);
        if asked || end == ProcessEnd::Exited(0) && self.was_ready {
            let reason = if asked { "signal" } else { "exit" };
            self.begin_stop(now, reason, Some(ExitReason::Child(end)), true, out);
        } else {
            self.leave(ExitReason::Child(end), out);
        }
    }

    /// The code is that of its failed start, where nothing else came first.
    pub(super) fn child_never_ran(&mut self, reason: ExitReason) {
        if let Some(stop) = &mut self.stop {
            stop.child = Child::Gone(None);
            stop.exit.get_or_insert(reason);
        }
    }

    pub(super) fn group_empty(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.child = Child::Gone(stop.child_end());
        }
    }

    pub(super) fn kill_due(&mut self, now: Instant, out: &mut Effects) {
        let Some(stop) = &self.stop else { return };
        if !matches!(stop.child, Child::Gone(_)) {
            out.push(Effect::Log(Notice::Killed { timeout: now - stop.began }));
            out.push(Effect::KillGroup);
            self.timers.set(Timer::Leave, now + LEAVE_AFTER_KILL);
        }
    }

    pub(super) fn leave_due(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.child = Child::Gone(stop.child_end());
        }
    }

    /// Leaves when Shutdown(), the hook and the child are through.
    pub(super) fn leave_if_done(&mut self, out: &mut Effects) {
        let Some(stop) = &self.stop else { return };
        if let (Delivery::Done, false, Child::Gone(end)) = (&stop.shutdown, stop.hook_running, stop.child) {
            let reason = stop.exit.or(end.map(ExitReason::Child)).unwrap_or(ExitReason::Stopped);
            self.leave(reason, out);
        }
    }

    pub(super) fn leave(&mut self, reason: ExitReason, out: &mut Effects) {
        self.phase = Phase::Gone;
        self.timers.cancel_all();
        out.push(Effect::Exit(reason));
    }
}
