//! What can happen: past facts, reported by the edges and never judged there.

use std::time::{Duration, Instant};

use crate::exit::{ExitReason, ProcessEnd};
use crate::sdk::game_server::{Counter, GameServer, List};

/// Everything the machine ever hears.
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
    /// So many more lines were written that match `AGONES_SHIM_READY_LOG`, or have
    /// `AGONES_SHIM_READY_TEXT` in them.
    LinesSeen(u32),
    /// So many more lines were written that do not match `AGONES_SHIM_READY_LOG`: told at most once in 5 s.
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
    /// So many.
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
    /// Its name, as the kernel has it: 15 bytes at the most.
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

/// How the one call under way has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To [`super::Call::Connect`].
    Connected(Result<Peer, CallError>),
    /// To [`super::Call::GetGameServer`].
    GameServer(Result<GameServer, CallError>),
    /// To [`super::Call::Ready`].
    Ready(Result<(), CallError>),
    /// To [`super::Call::Allocate`].
    Allocate(Result<(), CallError>),
    /// To [`super::Call::Shutdown`].
    Shutdown(Result<(), CallError>),
    /// To [`super::Call::Health`].
    Health(Result<(), CallError>),
    /// To [`super::Call::GetCounter`].
    GetCounter(Result<Counter, CallError>),
    /// To [`super::Call::UpdateCounter`].
    UpdateCounter(Result<(), CallError>),
    /// To [`super::Call::GetList`].
    GetList(Result<List, CallError>),
    /// To [`super::Call::AddListValue`].
    AddListValue(Result<(), CallError>),
    /// To [`super::Call::RemoveListValue`].
    RemoveListValue(Result<(), CallError>),
    /// To [`super::Call::SetLabel`].
    SetLabel(Result<(), CallError>),
    /// To [`super::Call::SetAnnotation`].
    SetAnnotation(Result<(), CallError>),
}

impl Answer {
    /// The error, where the call failed.
    #[must_use]
    pub fn error(&self) -> Option<&CallError> {
        match self {
            Self::Connected(outcome) => outcome.as_ref().err(),
            Self::GameServer(outcome) => outcome.as_ref().err(),
            Self::Ready(outcome)
            | Self::Allocate(outcome)
            | Self::Shutdown(outcome)
            | Self::Health(outcome)
            | Self::UpdateCounter(outcome)
            | Self::AddListValue(outcome)
            | Self::RemoveListValue(outcome)
            | Self::SetLabel(outcome)
            | Self::SetAnnotation(outcome) => outcome.as_ref().err(),
            Self::GetCounter(outcome) => outcome.as_ref().err(),
            Self::GetList(outcome) => outcome.as_ref().err(),
        }
    }

    /// The call's name, as Agones has it.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Connected(_) => "Connect",
            Self::GameServer(_) => "GetGameServer",
            Self::Ready(_) => "Ready",
            Self::Allocate(_) => "Allocate",
            Self::Shutdown(_) => "Shutdown",
            Self::Health(_) => "Health",
            Self::GetCounter(_) => "GetCounter",
            Self::UpdateCounter(_) => "UpdateCounter",
            Self::GetList(_) => "GetList",
            Self::AddListValue(_) => "AddListValue",
            Self::RemoveListValue(_) => "RemoveListValue",
            Self::SetLabel(_) => "SetLabel",
            Self::SetAnnotation(_) => "SetAnnotation",
        }
    }

    /// The answer in a few words, for a log line.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::GameServer(Ok(game_server)) => {
                let deleting = if game_server.deleting { ", being deleted" } else { "" };
                format!("state {}{deleting}", game_server.state.as_str())
            }
            Self::GetCounter(Ok(counter)) => format!("count {} of {}", counter.count, counter.capacity),
            Self::GetList(Ok(list)) => format!("{} values of {}", list.values.len(), list.capacity),
            _ => self.error().map_or_else(|| "ok".to_owned(), |error| error.message.clone()),
        }
    }
}

/// Who answers a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The first SDK server, or another: the connection before this one had ended. What the one before had
    /// acknowledged and not yet written is lost.
    New,
    /// The one of before, whose connection is still open: it was slow, and has everything that it was told.
    Same,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// What can be decided on.
    pub kind: CallErrorKind,
    /// For people, with the deadline's name where one passed.
    pub message: String,
}

/// No finer than this: codes differ between Agones' versions, and Counters and Lists answer UNKNOWN whatever is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    /// Nothing listens, or the connection broke.
    Unavailable,
    /// The deadline passed: silent, frozen or slow.
    DeadlineExceeded,
    /// The server answered and refused.
    Rejected,
}
