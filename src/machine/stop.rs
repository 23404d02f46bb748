//! The way out: why, and how Shutdown(), the hook and the child come to their ends.
//!
//! The order is Shutdown(), the hook, the line, the signal, SIGKILL (`child`). Leaving right after Shutdown() loses it,
//! so the shim stays until the GameServer shows it (`shutdown`). The reason that came first gives the exit code
//! (`reason`). Stop signals are counted here and nowhere else.

mod child;
mod group;
mod reason;
mod shutdown;

use std::time::{Duration, Instant};

use self::child::{Before, Child, ChildStop};
pub use self::reason::StopReason;
use self::shutdown::Shutdown;
use super::{Call, Effect, Effects, GroupMember, Machine, Notice, Phase, ProcessEnd, StopSnapshot, Timer, held_start};
use crate::exit::ExitReason;
use crate::sdk::call::CallError;
use crate::sdk::game_server::GameServer;
use crate::settings::SdkMode;

/// One cause may well send two signals: systemd's `SendSIGHUP=`, a terminal that closes, coreutils' timeout. What comes
/// so soon after one that counted is the same request.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// A game whose stdin has an end leaves within this time of its start, if that is what it leaves for.
const STDIN_READ: Duration = Duration::from_secs(10);

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

/// A stop on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stop {
    began: Instant,
    /// Why it began.
    first: StopReason,
    /// The strongest reason so far.
    reason: StopReason,
    shutdown: Shutdown,
    hook_running: bool,
    child: ChildStop,
    /// The child's exec has failed meanwhile, for this.
    never_ran: Option<ExitReason>,
    /// The last stop signal that was a request of its own.
    signaled: Option<Instant>,
}

impl Stop {
    /// Beats go on while the game saves, and on the way to a confirmed Shutdown().
    pub(super) fn may_beat(&self, wrapper: bool, alive: Option<bool>) -> bool {
        let lives = if wrapper { self.child.is_running() } else { alive != Some(false) };
        lives && !self.first.counts_game_as_gone()
    }

    /// Shutdown() is not through yet, and somebody waits for it.
    pub(super) fn has_something_to_deliver(&self) -> bool {
        self.shutdown.is_urgent()
    }

    /// Shutdown() is to be called now.
    pub(super) fn calls_shutdown(&self) -> bool {
        self.shutdown.calls_now()
    }

    pub(super) fn snapshot(&self, now: Instant) -> StopSnapshot {
        StopSnapshot {
            reason: self.reason,
            age: now.saturating_duration_since(self.began),
            shutdown: self.shutdown.progress(),
            hook_running: self.hook_running,
        }
    }

    fn before_child(&self) -> Before {
        Before { shutdown_lets_pass: self.shutdown.lets_pass(), hook_has_ended: !self.hook_running }
    }
}

impl Machine {
    /// A stop signal came `at` that time; it is heard `now`, which may be a call's deadline later.
    pub(super) fn stop_requested(&mut self, now: Instant, at: Instant, out: &mut Effects) {
        if self.stop.is_none() {
            self.begin_stop(now, StopReason::Signal, out);
        }
        let Self { stop: Some(stop), config, timers, .. } = self else { return };
        stop.reason = stop.reason.max(StopReason::Signal);
        let last = stop.signaled;
        if last.is_some_and(|last| at.saturating_duration_since(last) < SAME_REQUEST) {
            return;
        }
        stop.signaled = Some(at);
        if stop.first == StopReason::Signal && last.is_none() {
            return;
        }
        // The first signal on a way out that began by itself is nobody's impatience.
        let is_repeated = last.is_some();
        if is_repeated {
            stop.shutdown.stop_waiting(timers, out);
        }
        stop.child.step_on(is_repeated, config, out);
        self.advance_child(now, out);
    }

    /// Begins the way out, unless it has begun: then the reason that came first gives the exit code.
    pub(super) fn begin_stop(&mut self, now: Instant, reason: StopReason, out: &mut Effects) {
        if let Some(stop) = &mut self.stop {
            stop.reason = stop.reason.max(reason);
            return;
        }
        self.phase = Phase::Stopping;
        self.timers.cancel_all();
        self.health.beat_wanted = false;
        self.readiness.stop();
        self.self_allocation.stop();
        out.push(Effect::StopProbing);
        self.end_allocated_hook(out);
        out.push(Effect::Log(Notice::Stopping { reason }));
        let child = match self.child {
            held_start::Child::None | held_start::Child::Held { .. } => Child::None,
            held_start::Child::Ended(end) => Child::Ended(end),
            held_start::Child::Started => Child::Running,
        };
        // Nobody's game has to be saved that has ended or was never started.
        let has_game = !matches!(self.child, held_start::Child::Held { .. } | held_start::Child::Ended(_));
        let hook = self.config.stop_hook && has_game;
        if hook {
            out.push(Effect::StartStopHook(reason));
            out.push(Effect::Log(Notice::HookStarted));
        }
        let bound = reason.wants_shutdown() && self.config.sdk != SdkMode::Off;
        let bound = bound.then_some(self.config.shutdown_timeout);
        if bound.is_some() && !self.link.up {
            self.link.attempt_due = true;
        }
        self.stop = Some(Stop {
            began: now,
            first: reason,
            reason,
            shutdown: Shutdown::new(now, bound, &mut self.timers),
            hook_running: hook,
            child: ChildStop::new(now, child, reason.gives_up(), &self.config, &mut self.timers, out),
            never_ran: None,
            signaled: None,
        });
        self.advance_child(now, out);
    }

    fn advance_child(&mut self, now: Instant, out: &mut Effects) {
        let Self { stop: Some(stop), config, timers, .. } = self else { return };
        let before = stop.before_child();
        stop.child.advance(now, before, config, timers, out);
    }

    pub(super) fn next_stop_call(&mut self) -> Option<Call> {
        self.stop.as_mut()?.shutdown.next_call()
    }

    pub(super) fn shutdown_connect_failed(&mut self, now: Instant, error: &CallError, out: &mut Effects) {
        let never = !self.link.ever;
        if let Some(stop) = &mut self.stop {
            stop.shutdown.connect_failed(now, never, error, out);
        }
        self.advance_child(now, out);
    }

    pub(super) fn shutdown_connected(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.shutdown.connected();
        }
    }

    pub(super) fn shutdown_answered(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        let Self { stop: Some(stop), timers, link, .. } = self else { return };
        stop.shutdown.answered(now, link.up, outcome, timers, out);
        self.advance_child(now, out);
    }

    pub(super) fn shutdown_looked(&mut self, now: Instant, outcome: Result<GameServer, CallError>, out: &mut Effects) {
        let Self { stop: Some(stop), timers, .. } = self else { return };
        stop.shutdown.looked(now, outcome, timers, out);
    }

    pub(super) fn hook_ended(&mut self, now: Instant, outcome: Result<(), String>, out: &mut Effects) {
        out.push(Effect::Log(match outcome {
            Ok(()) => Notice::HookEnded,
            Err(reason) => Notice::HookFailed { reason },
        }));
        if let Some(stop) = &mut self.stop {
            stop.hook_running = false;
        }
        self.advance_child(now, out);
    }

    pub(super) fn stop_line_written(&mut self, now: Instant, outcome: Result<(), String>, out: &mut Effects) {
        let Self { stop: Some(stop), config, timers, .. } = self else { return };
        stop.child.line_written(now, outcome, config, timers, out);
        self.advance_child(now, out);
    }

    pub(super) fn child_ended(&mut self, now: Instant, end: ProcessEnd, held_terminal: bool, out: &mut Effects) {
        // Ctrl-C, or a console's quit, reached the game by itself: that is a stop that somebody asked for.
        let by_keyboard = held_terminal && ASKED_FOR.contains(&end);
        out.push(Effect::Log(Notice::ChildEnded { end, asked: self.stop.is_some() || by_keyboard }));
        self.child = held_start::Child::Ended(end);
        let Self { stop, config, timers, .. } = self;
        if let Some(stop) = stop {
            return stop.child.ended(now, end, config, timers, out);
        }
        let stdin_ends = self.config.stdin_ends;
        if end == ProcessEnd::Exited(0) && self.phase == Phase::Waiting {
            out.push(Effect::Log(Notice::EndedBeforeReady { stdin_ends }));
        } else if end == ProcessEnd::Exited(0) && stdin_ends && now - self.started < STDIN_READ {
            out.push(Effect::Log(Notice::EndedAtOnce));
        }
        if by_keyboard {
            if matches!(end, ProcessEnd::Signaled(2) | ProcessEnd::Exited(130)) {
                out.push(Effect::Log(Notice::StoppedByKeyboard));
            }
            self.begin_stop(now, StopReason::Signal, out);
            if let Some(stop) = &mut self.stop {
                stop.signaled = Some(now);
            }
        } else if end == ProcessEnd::Exited(0) && self.was_ready {
            self.begin_stop(now, StopReason::ChildExited, out);
        } else {
            self.leave(ExitReason::Child(end), out);
        }
    }

    /// The code is that of its failed start, where nothing else came first.
    pub(super) fn child_never_ran(&mut self, reason: ExitReason) {
        if let Some(stop) = &mut self.stop {
            stop.child.leave_due();
            stop.never_ran = Some(reason);
        }
    }

    pub(super) fn group_empty(&mut self, now: Instant, out: &mut Effects) {
        let Self { stop: Some(stop), config, .. } = self else { return };
        stop.child.group_empty(now, config, out);
    }

    pub(super) fn group_listed(&mut self, now: Instant, members: &[GroupMember], out: &mut Effects) {
        let Self { stop: Some(stop), config, timers, .. } = self else { return };
        stop.child.listed(now, members, config, timers, out);
    }

    /// A timer of the way out has fired.
    pub(super) fn stop_timer_due(&mut self, now: Instant, timer: Timer, out: &mut Effects) {
        let Self { stop: Some(stop), config, timers, link, .. } = self else { return };
        match timer {
            Timer::ShutdownStep => stop.shutdown.step_due(),
            Timer::ShutdownBound => stop.shutdown.bound_passed(config.shutdown_timeout, link.up, out),
            Timer::StopLine => stop.child.line_timed_out(config, out),
            Timer::GroupLook => stop.child.look_due(out),
            Timer::Kill => stop.child.kill_due(now, config, timers, out),
            Timer::Leave => stop.child.leave_due(),
            _ => {}
        }
        self.advance_child(now, out);
    }

    /// Leaves when Shutdown(), the hook and the child are through.
    pub(super) fn leave_if_done(&mut self, out: &mut Effects) {
        let Some(stop) = &self.stop else { return };
        if stop.child.is_gone() && stop.shutdown.lets_leave() && !stop.hook_running {
            let never_ran = stop.never_ran.filter(|_| !stop.first.gives_up());
            let exit = || stop.first.exit(stop.child.end(), &self.config.stop_ok_codes);
            self.leave(never_ran.unwrap_or_else(exit), out);
        }
    }

    pub(super) fn leave(&mut self, reason: ExitReason, out: &mut Effects) {
        self.phase = Phase::Gone;
        self.timers.cancel_all();
        out.push(Effect::Exit(reason));
    }
}
