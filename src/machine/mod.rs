//! The life cycle: events in, effects out, the clock passed in.
//!
//! Everything that is decided is decided here, and nothing else happens here:
//! no clock, no environment, no I/O, no logging (a log line is an effect). The
//! files beside this one are one subject each: `link` (the SDK server comes
//! and goes), `claim` (the way to Ready), `health` (liveness and beats),
//! `publish` with `counter` and `list`, `metadata` (labels and annotations),
//! `watch` (allocations and their hook), `retire` (idle and old servers),
//! `stop` (the way out).

pub mod catalogue;
mod claim;
mod config;
mod counter;
mod effect;
mod event;
mod health;
mod hold;
mod link;
mod list;
mod metadata;
mod notice;
mod phase;
mod publish;
mod retire;
mod snapshot;
mod stop;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod tests;
mod timers;
mod variables;
mod watch;

use std::time::{Duration, Instant};

pub use config::{Config, Publishes};
pub use effect::{Call, Effect};
pub use event::{Answer, CallError, CallErrorKind, Event, ProbeReport, ProcessEnd, Reading};
pub use notice::{Notice, seconds};
pub use phase::Phase;
pub use snapshot::{CounterSnapshot, HealthCounts, ListSnapshot, Round, Snapshot, StopSnapshot, View};

use self::claim::{Claim, Seen};
use self::health::Health;
use self::hold::Child;
use self::link::Link;
use self::metadata::Metadata;
use self::publish::Publication;
use self::retire::Retire;
use self::snapshot::SeenAt;
use self::stop::Stop;
use self::timers::{Timer, Timers};
use self::watch::Watch;
use crate::exit::ExitReason;
use crate::sdk::game_server::GameServer;
use crate::settings::SdkMode;

/// How often a line says what is being waited for.
const WAIT_REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Effects of one step, in the order in which they are to be performed.
pub type Effects = Vec<Effect>;

/// The life cycle of one shim.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    config: Config,
    started: Instant,
    phase: Phase,
    timers: Timers,
    /// The call under way and when it began: one at a time, so that an event
    /// never waits for more than one.
    call: Option<(Call, Instant)>,
    link: Link,
    claim: Claim,
    seen: Seen,
    health: Health,
    /// One a source, in the order of the settings.
    publications: Vec<Publication>,
    metadata: Metadata,
    watch: Watch,
    retire: Retire,
    stop: Option<Stop>,
    /// The game server as it was last seen, if ever.
    game_server: Option<GameServer>,
    /// Lines seen that the log probe waits for.
    lines: u32,
    /// Why readiness failed last, for the line that says so.
    last_failure: String,
    /// Wrapper: the child's life.
    child: Child,
    /// It has been Ready once.
    was_ready: bool,
    /// For those who look from outside.
    seen_at: SeenAt,
}

impl Machine {
    /// A machine that has not started: the first step is [`Machine::start`].
    #[must_use]
    pub fn new(config: Config, now: Instant) -> Self {
        Self {
            publications: config.publishes.iter().map(Publication::new).collect(),
            metadata: Metadata::new(&config),
            watch: Watch::default(),
            retire: Retire::default(),
            config,
            started: now,
            phase: Phase::Waiting,
            timers: Timers::default(),
            call: None,
            link: Link::default(),
            claim: Claim::Idle,
            seen: Seen::default(),
            health: Health::default(),
            stop: None,
            game_server: None,
            lines: 0,
            last_failure: "no readiness round has ended yet".into(),
            child: Child::None,
            was_ready: false,
            seen_at: SeenAt::default(),
        }
    }

    /// The first effects: look at the game and, beside it, for the SDK server.
    pub fn start(&mut self, now: Instant, out: &mut Effects) {
        out.push(Effect::SetHealthInterval(self.health_interval()));
        self.start_game(out);
        if let Some(timeout) = self.config.ready_timeout {
            self.timers.set(Timer::ReadyTimeout, now + timeout);
        }
        self.timers.set(Timer::WaitReport, now + WAIT_REPORT_INTERVAL);
        if self.config.sdk == SdkMode::Off {
            out.push(Effect::Log(Notice::SdkOff));
        } else {
            self.timers.set(Timer::Connect, now);
            self.timers.set(Timer::SdkConnectTimeout, now + self.config.sdk_connect_timeout);
        }
        self.watch_begin(now);
        self.step(now, Event::Tick, out);
    }

    /// A machine with this one's settings and its child, and nothing else of
    /// it: what takes over after a bug in it.
    #[must_use]
    pub fn take_over(&self, now: Instant) -> Self {
        Self { child: self.child, ..Self::new(self.config.clone(), now) }
    }

    /// When [`Event::Tick`] has to come, if nothing else does before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// Takes one event; appends what follows from it.
    pub fn step(&mut self, now: Instant, event: Event, out: &mut Effects) {
        if self.phase == Phase::Gone {
            return;
        }
        let before = self.phase;
        self.take_event(now, event, out);
        while let Some(timer) = self.timers.take_due(now) {
            self.fire(now, timer, out);
        }
        self.leave_if_done(out);
        if self.phase != Phase::Gone
            && self.call.is_none()
            && let Some(call) = self.next_call()
        {
            self.call = Some((call.clone(), now));
            out.push(Effect::Call(call));
        }
        if self.phase != before {
            self.seen_at.phase = Some(now);
        }
    }

    fn take_event(&mut self, now: Instant, event: Event, out: &mut Effects) {
        match event {
            Event::Tick | Event::StatusAsked => {}
            Event::StopRequested => self.stop_requested(now, out),
            Event::ReadinessPassed(reports) => {
                self.readiness_passed(now, out);
                self.seen_at.readiness = Some((now, reports));
            }
            Event::ReadinessFailed(reports) => {
                self.readiness_failed(&reports, out);
                self.seen_at.readiness = Some((now, reports));
            }
            Event::LivenessChecked(reports) => {
                self.liveness_checked(now, &reports, out);
                self.seen_at.liveness = Some((now, reports));
            }
            Event::HealthDue => self.health_due(out),
            Event::Scraped { source, outcome } => self.scraped(now, source, outcome, out),
            Event::LinesSeen(lines) => self.lines_seen(lines, out),
            Event::Answered(answer) => self.answered(now, answer, out),
            Event::ChildEnded { end, held_terminal } => self.child_ended(now, end, held_terminal, out),
            Event::ChildNotStarted(reason) => self.child_not_started(reason, out),
            Event::GroupEmpty => self.group_empty(),
            Event::HookEnded(outcome) => self.hook_ended(now, outcome, out),
            Event::AllocatedHookEnded(outcome) => self.allocated_hook_ended(outcome, out),
            Event::ThreadDied { thread, message } => self.thread_died(now, thread, message, out),
        }
    }

    fn answered(&mut self, now: Instant, answer: Answer, out: &mut Effects) {
        let (call, began) = self.call.take().map_or((None, now), |(call, began)| (Some(call), began));
        if let Some(error) = answer.broken_link() {
            self.link_lost(now, error, out);
        }
        match answer {
            Answer::Connected(outcome) => self.connected(now, began, outcome, out),
            Answer::GameServer(outcome) => {
                let looked = outcome.is_ok();
                match &outcome {
                    Ok(game_server) => {
                        self.look_at(now, game_server, out);
                        self.hold_looked(now, game_server, out);
                    }
                    Err(_) => self.hold_failed(now),
                }
                if self.stop.is_some() {
                    self.shutdown_looked(now, outcome, out);
                } else {
                    self.claim_looked(now, outcome, out);
                }
                if looked {
                    self.retire_if_due(now, out);
                }
            }
            Answer::Ready(outcome) => self.ready_answered(now, outcome, out),
            Answer::Shutdown(outcome) => self.shutdown_answered(now, outcome, out),
            Answer::Health(outcome) => self.beat_answered(now, outcome, out),
            Answer::GetCounter(outcome) => self.counter_answered(now, call, outcome.map(Some), out),
            Answer::UpdateCounter(outcome) => self.counter_answered(now, call, outcome.map(|()| None), out),
            Answer::GetList(outcome) => self.list_answered(now, call, outcome.map(Some), out),
            Answer::AddListValue(outcome) | Answer::RemoveListValue(outcome) => {
                self.list_answered(now, call, outcome.map(|()| None), out);
            }
            Answer::SetLabel(outcome) | Answer::SetAnnotation(outcome) => self.metadata_answered(now, outcome, out),
        }
    }

    fn fire(&mut self, now: Instant, timer: Timer, out: &mut Effects) {
        match timer {
            Timer::Connect => self.link.attempt_due = true,
            Timer::SdkConnectTimeout => self.sdk_connect_timed_out(now, out),
            Timer::ReadyTimeout => self.ready_timed_out(now, out),
            Timer::WaitReport => self.report_wait(now, out),
            Timer::Claim => self.claim_due(out),
            Timer::Hold => self.hold_due(),
            Timer::PublishRetry => self.publish_retry_due(),
            Timer::MetadataRetry => self.metadata_retry_due(),
            Timer::Watch => self.watch_due(now),
            Timer::ShutdownStep => self.shutdown_step_due(),
            Timer::ShutdownBound => self.shutdown_bound(out),
            Timer::Kill => self.kill_due(now, out),
            Timer::Leave => self.leave_due(),
        }
    }

    /// Which call is made next, the most urgent first. Ready() stands before
    /// the beat because the state that allows it was read immediately before.
    fn next_call(&mut self) -> Option<Call> {
        if self.config.sdk == SdkMode::Off {
            return None;
        }
        if !self.link.up {
            return std::mem::take(&mut self.link.attempt_due).then_some(Call::Connect);
        }
        self.next_stop_call()
            .or_else(|| self.next_hold_call())
            .or_else(|| self.next_claim_call())
            .or_else(|| self.next_beat())
            .or_else(|| self.next_watch_call())
            .or_else(|| self.next_metadata_call())
            .or_else(|| self.next_publish_call())
    }

    /// Once a minute: what is being waited for, and why it has not come.
    fn report_wait(&mut self, now: Instant, out: &mut Effects) {
        let Some((waiting_for, last_failure)) = self.waiting_for() else { return };
        let waited = now - self.started;
        out.push(Effect::Log(Notice::StillWaiting { waiting_for: waiting_for.into(), waited, last_failure }));
        self.timers.set(Timer::WaitReport, now + WAIT_REPORT_INTERVAL);
    }

    /// What is being waited for, and why it has not come.
    fn waiting_for(&self) -> Option<(&'static str, String)> {
        Some(match self.phase {
            Phase::Waiting if matches!(self.child, Child::Held { .. }) => {
                ("the GameServer's address before the start of the game", self.link.last_error.clone())
            }
            Phase::Waiting => ("the readiness probes", self.last_failure.clone()),
            Phase::Served if !self.link.up => ("the SDK server", self.link.last_error.clone()),
            Phase::Served => ("Agones to show Ready", self.claim_failure()),
            Phase::Ready | Phase::Stopping | Phase::Gone => return None,
        })
    }

    fn lines_seen(&mut self, lines: u32, out: &mut Effects) {
        if self.lines >= self.config.ready_lines {
            return;
        }
        self.lines = self.lines.saturating_add(lines);
        out.push(Effect::ReportLines(self.lines));
        if self.lines >= self.config.ready_lines {
            out.push(Effect::StopWatching);
        }
    }

    fn readiness_failed(&mut self, reports: &[ProbeReport], out: &mut Effects) {
        let first = self.phase == Phase::Waiting && self.health.readiness_failures == 0;
        self.health.readiness_failures = self.health.readiness_failures.saturating_add(1);
        self.last_failure = failures(reports);
        if first {
            out.push(Effect::Log(Notice::Waiting { reason: self.last_failure.clone() }));
        }
    }

    fn readiness_passed(&mut self, now: Instant, out: &mut Effects) {
        if self.stop.is_some() {
            return;
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Served;
            self.timers.cancel(Timer::ReadyTimeout);
            out.push(Effect::Log(Notice::Served { after: now - self.started }));
            self.watch_liveness(self.config.liveness_is_readiness, out);
            if self.is_probe_only() {
                self.enter_ready(out, Notice::ReadyProbeOnly { after: now - self.started });
            }
        }
        self.claim_round_passed();
    }

    fn ready_timed_out(&mut self, now: Instant, out: &mut Effects) {
        // A GameServer that has been Ready before may have players on it: liveness decides there.
        if self.phase != Phase::Waiting || self.health.watching {
            return;
        }
        let timeout = self.config.ready_timeout.unwrap_or_default();
        out.push(Effect::Log(Notice::ReadyTimedOut { timeout, reason: self.last_failure.clone() }));
        self.begin_stop(now, "readiness", Some(ExitReason::GameServerGone), false, out);
    }

    fn enter_ready(&mut self, out: &mut Effects, notice: Notice) {
        if self.phase == Phase::Served {
            self.phase = Phase::Ready;
            self.was_ready = true;
            self.timers.cancel(Timer::WaitReport);
            out.push(Effect::Log(notice));
            if !self.publications.is_empty() {
                out.push(Effect::StartScraping);
            }
        }
    }

    fn thread_died(&mut self, now: Instant, thread: &'static str, message: String, out: &mut Effects) {
        out.push(Effect::Log(Notice::ThreadDied { thread, message }));
        self.begin_stop(now, "bug", Some(ExitReason::Bug), true, out);
    }
}

/// The reasons of a round, for one line.
fn failures(reports: &[ProbeReport]) -> String {
    let reasons = reports.iter().filter_map(|report| {
        let reason = report.outcome.as_ref().err()?;
        Some(format!("{}: {reason}", report.probe))
    });
    reasons.collect::<Vec<_>>().join("; ")
}
