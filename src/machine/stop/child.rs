//! The child's side of the way out: one step after the other, until nothing of it is left.
//!
//! The order is that of [`Step`]. Each step waits for the one before to be through or out of time, and the end of the
//! game ends them all. Impatience goes one step on, and never to SIGKILL: a save is cut short by
//! `AGONES_SHIM_STOP_TIMEOUT_SECS` alone, or where the shim gives up.

use std::time::{Duration, Instant};

use super::super::timers::{Timer, Timers};
use super::super::{Config, Effect, Effects, GroupMember, Notice, ProcessEnd};
use super::group;
use crate::settings::StopScope;

/// How long the child has on the paths that give up, where nothing else is set.
const GIVE_UP_STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// A process that SIGKILL does not end within this time is not waited for.
const LEAVE_AFTER_KILL: Duration = Duration::from_secs(2);
/// A warning names what is still running this long after the stop signal. Docker kills after 10 s, Kubernetes after 30.
const MARKS: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(10), Duration::from_secs(30), Duration::from_secs(60)];
/// How long what the leader leaves behind may take to end by itself, and how often it is then checked.
const REST_INTERVAL: Duration = Duration::from_secs(5);
/// Dead of the stop signal so soon, nobody has saved anything.
const AT_ONCE: Duration = Duration::from_millis(200);

/// The order of a stop: what is being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Shutdown() to have had its one attempt, so that nobody is placed on the server any more.
    Shutdown,
    /// The stop hook to end. It was started together with Shutdown().
    Hook,
    /// The game to end after the line on its stdin, or the line's time to be over.
    Line,
    /// The game to end after the stop signal; SIGKILL, where it has a time.
    Signal,
    /// The kernel to carry out SIGKILL.
    Kill,
}

/// What is left of the child.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Life {
    Running,
    /// It has ended; its group may not be empty.
    Ended(ProcessEnd),
    /// Nothing of its group is left, or nothing is waited for.
    Gone(Option<ProcessEnd>),
}

/// What the steps before the child's own have come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) shutdown_lets_pass: bool,
    pub(super) hook_has_ended: bool,
}

/// How it begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    /// Sidecar, or a wrapper whose child was never started.
    None,
    Running,
    Ended(ProcessEnd),
}

/// The child on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChildStop {
    step: Step,
    life: Life,
    /// Nobody's grace period ends it: it gets SIGKILL after a time in any case.
    gives_up: bool,
    /// The step of the hook, or of the line, is over before its time.
    skipped: Option<Step>,
    /// When the stop signal was sent.
    told: Option<Instant>,
    /// It died of it within [`AT_ONCE`].
    died_at_once: bool,
    /// Of [`MARKS`], these have passed.
    marks: usize,
    /// The group is being listed.
    listing: bool,
    /// The leader has just ended: the next list says what it leaves behind.
    names_rest: bool,
    /// When to look whether what is left of the group has been told at all.
    rest_due: Option<Instant>,
}

impl ChildStop {
    pub(super) fn new(
        now: Instant,
        child: Child,
        gives_up: bool,
        config: &Config,
        timers: &mut Timers,
        out: &mut Effects,
    ) -> Self {
        let life = match child {
            Child::None => Life::Gone(None),
            Child::Running => Life::Running,
            // The child alone was to be stopped, and it has ended.
            Child::Ended(end) if config.stop_scope == StopScope::Child => Life::Gone(Some(end)),
            Child::Ended(end) => Life::Ended(end),
        };
        let mut stop = Self {
            step: Step::Shutdown,
            life,
            gives_up,
            skipped: None,
            told: None,
            died_at_once: false,
            marks: 0,
            listing: false,
            names_rest: false,
            rest_due: None,
        };
        if let Life::Ended(_) = life {
            // Its own end: what it leaves behind cannot play on.
            out.push(Effect::TerminateGroup);
            stop.step = Step::Signal;
            stop.told = Some(now);
            timers.set(Timer::Kill, now + config.stop_timeout.unwrap_or(GIVE_UP_STOP_TIMEOUT));
            stop.ask_for_rest(timers, out);
            stop.rest_due = None;
        }
        stop
    }

    /// It has not ended, as far as is known.
    pub(super) fn is_running(&self) -> bool {
        self.life == Life::Running
    }

    /// Nothing of it is left, or nothing is waited for.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.life, Life::Gone(_))
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<ProcessEnd> {
        match self.life {
            Life::Ended(end) => Some(end),
            Life::Gone(end) => end,
            Life::Running => None,
        }
    }

    /// Takes every step whose time has come.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        before: Before,
        config: &Config,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        if self.is_gone() {
            return;
        }
        if self.step == Step::Shutdown && before.shutdown_lets_pass {
            self.step = Step::Hook;
        }
        if self.step == Step::Hook && (before.hook_has_ended || self.skipped == Some(Step::Hook)) {
            self.step = Step::Line;
            match config.stop_line {
                // There is nobody to read it.
                Some(_) if !self.is_running() => self.skipped = Some(Step::Line),
                Some(time) => {
                    out.push(Effect::WriteStopLine);
                    timers.set(Timer::StopLine, now + self.line_time(time, config));
                    self.set_kill_where_giving_up(now, config, timers);
                }
                None => self.skipped = Some(Step::Line),
            }
        }
        if self.step == Step::Line && self.skipped == Some(Step::Line) {
            self.step = Step::Signal;
            self.told = Some(now);
            timers.cancel(Timer::StopLine);
            if let Some(signal) = &config.stop_signal {
                out.push(Effect::SendStopSignal);
                out.push(Effect::Log(Notice::StopSignalSent { signal: signal.to_string() }));
            }
            if let Some(timeout) = config.stop_timeout.filter(|_| !self.gives_up) {
                timers.set(Timer::Kill, now + timeout);
            }
            self.set_kill_where_giving_up(now, config, timers);
            self.plan_look(timers);
        }
    }

    /// Somebody is impatient, or has asked for a stop where one had begun by itself: one step on. The last one before
    /// SIGKILL is repeated instead.
    pub(super) fn step_on(&mut self, is_repeated: bool, config: &Config, out: &mut Effects) {
        match self.step {
            Step::Hook | Step::Line if is_repeated => self.skipped = Some(self.step),
            Step::Signal if config.stop_signal.is_some() && !self.is_gone() => out.push(Effect::SendStopSignal),
            // What Shutdown() is waited for is decided there.
            Step::Shutdown | Step::Hook | Step::Line | Step::Signal | Step::Kill => {}
        }
    }

    /// The line was written, and its time begins; or it could not be, and there is nothing to wait for.
    pub(super) fn line_written(
        &mut self,
        now: Instant,
        outcome: Result<(), String>,
        config: &Config,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        match outcome {
            Ok(()) => {
                let within = self.line_time(config.stop_line.unwrap_or_default(), config);
                out.push(Effect::Log(Notice::StopLineWritten { within }));
                if self.step == Step::Line {
                    timers.set(Timer::StopLine, now + within);
                }
            }
            Err(reason) => {
                out.push(Effect::Log(Notice::StopLineFailed { reason }));
                self.line_due();
            }
        }
    }

    /// The line's time is over, and the game has not ended.
    pub(super) fn line_timed_out(&mut self, config: &Config, out: &mut Effects) {
        if self.step == Step::Line && self.is_running() && config.stop_signal.is_some() {
            let after = self.line_time(config.stop_line.unwrap_or_default(), config);
            out.push(Effect::Log(Notice::StopLineTimedOut { after }));
        }
        self.line_due();
    }

    /// The line is not waited for any longer.
    fn line_due(&mut self) {
        if self.step == Step::Line {
            self.skipped = Some(Step::Line);
        }
    }

    pub(super) fn ended(
        &mut self,
        now: Instant,
        end: ProcessEnd,
        config: &Config,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        let since_told = self.told.filter(|_| self.step == Step::Signal).map(|told| now - told);
        let of_signal = config.stop_signal.as_ref().is_some_and(|signal| end == ProcessEnd::Signaled(signal.number));
        self.died_at_once = of_signal && since_told.is_some_and(|time| time <= AT_ONCE);
        match self.life {
            Life::Gone(_) => self.life = Life::Gone(Some(end)),
            _ if config.stop_scope == StopScope::Child => self.set_gone(now, Some(end), config, out),
            _ => {
                self.life = Life::Ended(end);
                self.rest_due = Some(now + REST_INTERVAL);
                self.ask_for_rest(timers, out);
            }
        }
    }

    pub(super) fn group_empty(&mut self, now: Instant, config: &Config, out: &mut Effects) {
        if !self.is_gone() {
            self.set_gone(now, self.end(), config, out);
        }
    }

    /// Who is left. `now` is when it was heard, so that a deadline which passed meanwhile counts.
    pub(super) fn listed(
        &mut self,
        now: Instant,
        members: &[GroupMember],
        config: &Config,
        timers: &mut Timers,
        out: &mut Effects,
    ) {
        self.listing = false;
        if self.is_gone() {
            return;
        }
        let left = group::describe(members, config);
        if std::mem::take(&mut self.names_rest) && !members.is_empty() {
            out.push(Effect::Log(Notice::RestOfGroup { left: left.clone() }));
        }
        let passed = self.told.map_or(0, |told| MARKS.iter().filter(|mark| told + **mark <= now).count());
        if passed > self.marks && self.step == Step::Signal {
            let after = MARKS[passed - 1];
            let signal = config.stop_signal.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
            out.push(Effect::Log(Notice::GameStillThere { after, signal, left: left.clone() }));
        }
        self.marks = self.marks.max(passed);
        if self.rest_due.is_some_and(|due| due <= now) {
            let not_told = if self.step == Step::Signal { group::not_told(members, config) } else { Vec::new() };
            self.rest_due = if not_told.is_empty() {
                Some(now + REST_INTERVAL)
            } else {
                out.push(Effect::TerminateMembers(not_told));
                out.push(Effect::Log(Notice::RestTerminated { left }));
                None
            };
        }
        self.plan_look(timers);
    }

    pub(super) fn look_due(&mut self, out: &mut Effects) {
        if !self.is_gone() && !std::mem::replace(&mut self.listing, true) {
            out.push(Effect::ListGroup);
        }
    }

    pub(super) fn kill_due(&mut self, now: Instant, config: &Config, timers: &mut Timers, out: &mut Effects) {
        if self.is_gone() {
            return;
        }
        let after = self.told.map_or(Duration::ZERO, |told| now - told);
        out.push(Effect::Log(match config.stop_timeout {
            Some(_) => Notice::Killed { after },
            None => Notice::KilledGivingUp { after },
        }));
        out.push(Effect::Kill);
        self.step = Step::Kill;
        timers.set(Timer::Leave, now + LEAVE_AFTER_KILL);
    }

    pub(super) fn leave_due(&mut self) {
        self.life = Life::Gone(self.end());
    }

    fn set_gone(&mut self, now: Instant, end: Option<ProcessEnd>, config: &Config, out: &mut Effects) {
        self.life = Life::Gone(end);
        // With a group that saves on behind a shell, the shell's death says nothing; and where a line was to make it save,
        // the signal is not how it saves.
        let at_once = self.told.is_some_and(|told| now - told <= AT_ONCE);
        if let Some(signal) =
            config.stop_signal.as_ref().filter(|_| self.died_at_once && at_once && config.stop_line.is_none())
        {
            out.push(Effect::Log(Notice::DiedOfStopSignal { signal: signal.to_string() }));
        }
    }

    /// Line and signal share the time that there is where nobody else's grace period ends it.
    fn line_time(&self, time: Duration, config: &Config) -> Duration {
        if self.gives_up { time.min(config.stop_timeout.unwrap_or(GIVE_UP_STOP_TIMEOUT) / 2) } else { time }
    }

    fn set_kill_where_giving_up(&self, now: Instant, config: &Config, timers: &mut Timers) {
        if self.gives_up && !timers.is_set(Timer::Kill) {
            timers.set(Timer::Kill, now + config.stop_timeout.unwrap_or(GIVE_UP_STOP_TIMEOUT));
        }
    }

    fn ask_for_rest(&mut self, timers: &mut Timers, out: &mut Effects) {
        self.names_rest = true;
        self.look_due(out);
        self.plan_look(timers);
    }

    fn plan_look(&self, timers: &mut Timers) {
        let mark = self.told.zip(MARKS.get(self.marks)).map(|(told, mark)| told + *mark);
        if let Some(due) = [mark, self.rest_due].into_iter().flatten().min() {
            timers.set(Timer::GroupLook, due);
        }
    }
}
