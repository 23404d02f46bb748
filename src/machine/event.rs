//! What can happen: past facts, reported by the edges and never judged there.

use std::time::{Duration, Instant};

use crate::exit::{ExitReason, ProcessEnd};
use crate::sdk::call::Answer;

/// Every input of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// SIGTERM, SIGINT or SIGHUP arrived (each one is an event of its own) at this time: it may be heard a call's
    /// deadline later.
    StopRequested(Instant),
    /// Readiness probes: a round in which all passed.
    ReadinessPassed(Vec<ProbeReport>),
    /// Readiness probes: not yet, and why. Reported when the reasons change,
    /// not once a round.
    ReadinessFailed(Vec<ProbeReport>),
    /// A liveness round has ended, passed or not.
    LivenessChecked(Vec<ProbeReport>),
    /// The health interval is over.
    HealthDue,
    /// A source of counts was read.
    Scraped {
        /// Which, in the order of the settings.
        source: usize,
        /// What it said, or why there is no reading.
        outcome: Result<Reading, String>,
    },
    /// This many more lines were written that match `AGONES_SHIM_READY_LOG`, or have
    /// `AGONES_SHIM_READY_TEXT` in them.
    LinesSeen(u32),
    /// More lines were written that do not match `AGONES_SHIM_READY_LOG`; reported at most once in 5 s.
    LinesPassed {
        /// How many.
        lines: u32,
        /// The beginning of the last of them.
        last: String,
        /// The first that has the pattern in it as plain text.
        plain: Option<PlainLine>,
    },
    /// The call that was under way has ended.
    Answered(Answer),
    /// Wrapper: the child's program runs.
    ChildStarted {
        /// Its process number.
        pid: i32,
    },
    /// Wrapper: the child has ended.
    ChildEnded {
        /// How.
        end: ProcessEnd,
        /// Its group had the terminal, so that Ctrl-C and Ctrl-\\ went to it and not to the shim.
        held_terminal: bool,
    },
    /// Wrapper: the child could not be started; the line that says why is written.
    ChildNotStarted(ExitReason),
    /// Wrapper: no process of the child's group is left.
    GroupEmpty,
    /// Wrapper: who is left of the child's group, as far as /proc shows it.
    GroupListed(Vec<GroupMember>),
    /// Wrapper: the line was written to the game's stdin, or why not.
    StopLineWritten(Result<(), String>),
    /// The stop hook has ended or was ended.
    HookEnded(Result<(), String>),
    /// The hook of allocations has ended or was ended.
    AllocatedHookEnded(Result<(), String>),
    /// A thread died: a bug.
    ThreadDied {
        /// Its name.
        thread: &'static str,
        /// What it said.
        message: String,
    },
    /// The status endpoint wants to know how things stand, the GameServer too where `game_server` says so. The runtime
    /// answers.
    StatusAsked {
        /// Somebody will see what is known of the GameServer.
        game_server: bool,
    },
    /// A deadline of [`super::Machine::next_deadline`] has passed.
    Tick,
}

/// A line that has a regular expression in it as plain text, and does not match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainLine {
    /// Its beginning.
    pub line: String,
    /// The expression that would match.
    pub write: String,
}

/// What a source of counts said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The count.
    pub count: u64,
    /// It stands for the metric's absence.
    pub missing: bool,
    /// The most there can be; `None` where it does not tell.
    pub capacity: Option<u64>,
    /// Somebody was there since the last reading, whatever the count is by now.
    pub busy: bool,
    /// The players' names as they came; `None` where it does not tell.
    pub names: Option<Vec<String>>,
}

/// How a probe of a round went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// The probe, as `tcp 127.0.0.1:7777` or `http http://...`.
    pub probe: String,
    /// The reason, where it failed: `connection refused`, `timed out after 2s`, `HTTP 503`.
    pub outcome: Result<(), String>,
    /// How long it took.
    pub took: Duration,
}

/// A living process of the child's group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Its number.
    pub pid: i32,
    /// Its name, as the kernel has it: at most 15 bytes.
    pub name: String,
    /// The signals that it ignores, as bits: signal 1 is the lowest.
    pub ignored: u64,
}

impl GroupMember {
    /// The signal does nothing to it.
    #[must_use]
    pub fn ignores(&self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.ignored >> (signal - 1) & 1 == 1
    }
}
