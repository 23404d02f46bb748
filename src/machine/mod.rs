//! The life cycle: events in, effects out, the clock passed in.
//!
//! Everything that is decided is decided here, and nothing else happens here:
//! no clock, no environment, no I/O, no logging (a log line is an effect). The
//! files beside this one are one subject each: `link` (the SDK server comes
//! and goes), `readiness` (from the first round to Ready), `health` (liveness and beats),
//! `publish` with `counter` and `list`, `metadata` (labels and annotations),
//! `read_back` (what was published is believed once it shows),
//! `allocation` (allocations and their hook), `self_allocation` (players allocate a server, and it is given back),
//! `self_shutdown` (idle and old servers),
//! `stop` (the way out).

mod allocation;
pub mod catalogue;
mod config;
mod counter;
mod effect;
mod event;
mod health;
mod held_start;
mod link;
mod list;
mod metadata;
mod notice;
mod phase;
mod publish;
mod read_back;
mod readiness;
mod self_allocation;
mod self_shutdown;
mod snapshot;
mod stop;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod tests;
mod timers;
mod variables;

use std::time::{Duration, Instant};

pub use crate::exit::ProcessEnd;
pub use config::{Config, Publishes};
pub use effect::Effect;
pub use event::{Event, GroupMember, PlainLine, ProbeReport, Reading};
pub use notice::{Description, Notice};
pub use phase::Phase;
pub use snapshot::{CounterSnapshot, HealthCounts, ListSnapshot, Round, Snapshot, StopSnapshot, View};

pub(crate) use self::variables::address_names;

use self::allocation::Allocation;
use self::health::Health;
use self::held_start::Child;
use self::link::Link;
use self::metadata::Metadata;
use self::publish::Publication;
use self::readiness::Readiness;
use self::self_allocation::SelfAllocation;
use self::self_shutdown::SelfShutdown;
use self::snapshot::SeenAt;
use self::stop::Stop;
pub use self::stop::StopReason;
use self::timers::{Timer, Timers};
#[cfg(any(test, fuzzing))]
use crate::exit::ExitReason;
use crate::sdk::call::{Answer, Call};
use crate::sdk::game_server::GameServer;
use crate::settings::SdkMode;

/// How often a line says what is being waited for.
const WAIT_REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Inside Kubernetes, an SDK server that is missing for this long at the start is warned about: by default Agones waits
/// some 15 s for the first beat.
const NO_BEATS_AFTER: Duration = Duration::from_secs(3);

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
    readiness: Readiness,
    health: Health,
    /// One a source, in the order of the settings.
    publications: Vec<Publication>,
    metadata: Metadata,
    allocation: Allocation,
    self_allocation: SelfAllocation,
    self_shutdown: SelfShutdown,
    stop: Option<Stop>,
    /// The game server as it was last seen, if ever.
    game_server: Option<GameServer>,
    /// Wrapper: the child's life.
    child: Child,
    /// It has been Ready once.
    was_ready: bool,
    /// Read by snapshots only.
    seen_at: SeenAt,
}

impl Machine {
    /// A machine that has not started: the first step is [`Machine::start`].
    #[must_use]
    pub fn new(config: Config, now: Instant) -> Self {
        Self {
            publications: config.publishes.iter().map(Publication::new).collect(),
            metadata: Metadata::new(&config),
            allocation: Allocation::default(),
            self_allocation: SelfAllocation::default(),
            self_shutdown: SelfShutdown::default(),
            config,
            started: now,
            phase: Phase::Waiting,
            timers: Timers::default(),
            call: None,
            link: Link::default(),
            readiness: Readiness::default(),
            health: Health::default(),
            stop: None,
            game_server: None,
            child: Child::None,
            was_ready: false,
            seen_at: SeenAt::default(),
        }
    }

    /// The first effects: look at the game and, beside it, for the SDK server.
    pub fn start(&mut self, now: Instant, out: &mut Effects) {
        out.push(Effect::SetHealthInterval(self.health_interval()));
        self.start_game(now, out);
        self.timers.set(Timer::WaitReport, now + WAIT_REPORT_INTERVAL);
        if self.config.sdk == SdkMode::Off {
            let in_kubernetes = self.config.pod_name.is_some();
            out.push(Effect::Log(if in_kubernetes { Notice::SdkOffInKubernetes } else { Notice::SdkOff }));
        } else {
            self.timers.set(Timer::Connect, now);
            self.timers.set(Timer::SdkConnectTimeout, now + self.config.sdk_connect_timeout);
            if self.config.pod_name.is_some() {
                self.timers.set(Timer::NoBeats, now + NO_BEATS_AFTER);
            }
        }
        self.allocation_looks_begin(now);
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
            // The runtime tells the hooks of the child's number; nothing else follows from its start.
            Event::Tick | Event::ChildStarted { .. } | Event::StatusAsked { game_server: false } => {}
            Event::StatusAsked { game_server: true } => self.look_for_status(now),
            Event::StopRequested(at) => self.stop_requested(now, at, out),
            Event::ReadinessPassed(reports) => {
                self.readiness_passed(now, out);
                self.seen_at.readiness = Some((now, reports));
            }
            Event::ReadinessFailed(reports) => {
                self.readiness_failed(now, &reports, out);
                self.seen_at.readiness = Some((now, reports));
            }
            Event::LivenessChecked(reports) => {
                self.liveness_checked(now, &reports, out);
                self.seen_at.liveness = Some((now, reports));
            }
            Event::HealthDue => self.health_due(now, out),
            Event::Scraped { source, outcome } => self.scraped(now, source, outcome, out),
            Event::LinesSeen(lines) => self.lines_seen(lines, out),
            Event::LinesPassed { lines, last, plain } => self.lines_passed(lines, last, plain, out),
            Event::Answered(answer) => self.answered(now, answer, out),
            Event::ChildEnded { end, held_terminal } => self.child_ended(now, end, held_terminal, out),
            Event::ChildNotStarted(reason) => self.child_not_started(reason, out),
            Event::GroupEmpty => self.group_empty(now, out),
            Event::GroupListed(members) => self.group_listed(now, &members, out),
            Event::StopLineWritten(outcome) => self.stop_line_written(now, outcome, out),
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
        self.note_unanswered(&answer, out);
        match answer {
            Answer::Connected(outcome) => self.connected(now, call.as_ref(), began, outcome, out),
            Answer::GameServer(outcome) => self.game_server_answered(now, began, outcome, out),
            Answer::Ready(outcome) => self.ready_answered(now, outcome, out),
            Answer::Allocate(outcome) => self.allocate_answered(now, began, outcome, out),
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
            Timer::NoBeats => self.no_beats_due(now, out),
            Timer::Reason => self.log_reason(now, out),
            Timer::WaitReport => self.report_wait(now, out),
            Timer::ReadyLook => self.next_look_due(out),
            Timer::AddressLook => self.held_start_look_due(),
            Timer::Look | Timer::ReadBack | Timer::SelfAllocationLook => self.look_soon(),
            Timer::PublishRetry => self.publish_retry_due(now, out),
            Timer::MetadataRetry => self.metadata_retry_due(),
            Timer::AllocationLook => self.allocation_look_due(now),
            Timer::ShutdownStep
            | Timer::ShutdownBound
            | Timer::StopLine
            | Timer::GroupLook
            | Timer::Kill
            | Timer::Leave => self.stop_timer_due(now, timer, out),
        }
    }

    /// Which call is made next, the most urgent first. A beat waits for nothing but Shutdown(), and for a Ready() or
    /// Allocate() whose cause was read immediately before: whatever else hangs, it hangs once, and then comes the beat.
    fn next_call(&mut self) -> Option<Call> {
        if self.config.sdk == SdkMode::Off {
            return None;
        }
        if !self.link.up {
            return self.connect_call();
        }
        let urgent = self.readiness.is_urgent()
            || self.self_allocation.is_urgent()
            || self.stop.as_ref().is_some_and(Stop::calls_shutdown);
        let beat = if urgent { None } else { self.next_beat() };
        beat.or_else(|| self.next_stop_call())
            .or_else(|| self.next_held_start_call())
            .or_else(|| self.readiness.next_call())
            .or_else(|| self.self_allocation.next_call())
            .or_else(|| self.next_beat())
            .or_else(|| self.next_link_look())
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
                let what = if self.link.ever {
                    "the GameServer's address before the start of the game"
                } else {
                    "the SDK server before the start of the game"
                };
                (what, self.link.last_error.clone())
            }
            Phase::Waiting => ("the readiness probes", self.not_ready_because()),
            Phase::Served if !self.link.up => ("the SDK server", self.link.last_error.clone()),
            Phase::Served => ("Agones to show Ready", self.unconfirmed_because()),
            Phase::Ready | Phase::Stopping | Phase::Gone => return None,
        })
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
        self.begin_stop(now, StopReason::Bug, out);
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
