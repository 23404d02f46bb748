//! What is to be done: imperatives, performed in order by the runtime.

use std::time::Duration;

use super::StopReason;
use super::notice::Notice;
use crate::exit::ExitReason;
use crate::sdk::call::Call;

/// One thing for the runtime to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write a log line.
    Log(Notice),
    /// Make an SDK call; answered by [`super::Event::Answered`]. At most one a
    /// step, and none while one is under way.
    Call(Call),
    /// Run readiness rounds until one has passed.
    AwaitReadiness,
    /// Run one liveness round.
    CheckLiveness,
    /// Run no more rounds.
    StopProbing,
    /// Tell the log probe how many lines were seen so far.
    ReportLines(u32),
    /// Look for no more lines.
    StopWatching,
    /// Report [`super::Event::HealthDue`] this often, first one interval from now.
    SetHealthInterval(Duration),
    /// Read every source of counts now and at its interval.
    StartScraping,
    /// Wrapper: start the child with these variables besides; answered by
    /// [`super::Event::ChildStarted`] or [`super::Event::ChildNotStarted`].
    StartChild(Vec<(String, String)>),
    /// Wrapper: send the stop signal to the child (its group, or alone).
    SendStopSignal,
    /// Wrapper: send SIGTERM to what is left of the child's group.
    TerminateGroup,
    /// Wrapper: send SIGTERM to these of the child's group.
    TerminateMembers(Vec<i32>),
    /// Wrapper: send SIGKILL to the child (its group, or alone).
    Kill,
    /// Wrapper: tell who is left of the child's group; answered by [`super::Event::GroupListed`].
    ListGroup,
    /// Wrapper: write the line to the game's stdin; answered by [`super::Event::StopLineWritten`] within a deadline.
    WriteStopLine,
    /// Start the stop hook with this value of `AGONES_SHIM_STOP_REASON`; answered by [`super::Event::HookEnded`].
    StartStopHook(StopReason),
    /// Start the hook of allocations with these variables; answered by [`super::Event::AllocatedHookEnded`].
    StartAllocatedHook(Vec<(String, String)>),
    /// Send SIGTERM to the hook of allocations.
    EndAllocatedHook,
    /// Leave. Nothing follows.
    Exit(ExitReason),
}
