//! Why a stop began, and the exit code that follows from it.

use std::fmt;

use super::ProcessEnd;
use crate::exit::ExitReason;

/// Why the shim is on its way out, from the weakest reason to the strongest: a child that has ended needs no stop, what
/// this shim does by itself gives way to what somebody asked for, and giving up gives way to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// Wrapper: the child ended by itself with 0 after it had been Ready.
    ChildExited,
    /// `AGONES_SHIM_IDLE_SHUTDOWN_SECS`.
    Idle,
    /// `AGONES_SHIM_MAX_AGE_SECS`.
    Age,
    /// A stop signal, or a console's Ctrl-C.
    Signal,
    /// `AGONES_SHIM_READY_TIMEOUT_SECS`.
    Readiness,
    /// Liveness has failed too often.
    Liveness,
    /// `AGONES_SHIM_SDK=required` and no SDK server.
    NoSdk,
    /// A thread died.
    Bug,
}

impl StopReason {
    /// As it stands in the log, in `/status` and in `AGONES_SHIM_STOP_REASON`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChildExited => "exit",
            Self::Idle => "idle",
            Self::Age => "age",
            Self::Signal => "signal",
            Self::Readiness => "readiness",
            Self::Liveness => "liveness",
            Self::NoSdk => "sdk",
            Self::Bug => "bug",
        }
    }

    /// A crash must not look like a clean end, and without an SDK server there is nobody to tell.
    pub(in crate::machine) fn wants_shutdown(self) -> bool {
        !self.counts_game_as_gone()
    }

    /// No Shutdown() and no beats.
    pub(super) fn counts_game_as_gone(self) -> bool {
        matches!(self, Self::Readiness | Self::Liveness | Self::NoSdk)
    }

    /// Nobody asked for an end and nobody's grace period ends it: it has to end by itself.
    pub(super) fn gives_up(self) -> bool {
        self >= Self::Readiness
    }

    /// What the shim leaves with, where the child ended like this (`None`: there was none, or it is left behind).
    /// `ok_codes` are those of `AGONES_SHIM_STOP_OK_CODES`.
    pub(super) fn exit(self, end: Option<ProcessEnd>, ok_codes: &[u8]) -> ExitReason {
        match self {
            Self::ChildExited => end.map_or(ExitReason::Stopped, ExitReason::Child),
            Self::Signal => match end.map(ExitReason::Child) {
                Some(child) if !ok_codes.contains(&child.code()) => child,
                _ => ExitReason::Stopped,
            },
            Self::Idle | Self::Age => ExitReason::Stopped,
            Self::Readiness | Self::Liveness => ExitReason::GameServerGone,
            Self::NoSdk => ExitReason::NoSdk,
            Self::Bug => ExitReason::Bug,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_code_whatever_the_child_s() {
        use StopReason::{Age, Bug, ChildExited, Idle, Liveness, NoSdk, Readiness, Signal};
        for (reason, code) in [
            (ChildExited, 143),
            (Idle, 0),
            (Age, 0),
            (Signal, 143),
            (Readiness, 69),
            (Liveness, 69),
            (NoSdk, 75),
            (Bug, 70),
        ] {
            assert_eq!(reason.exit(Some(ProcessEnd::Signaled(15)), &[]).code(), code, "{reason}");
        }
    }

    #[test]
    fn codes_that_count_as_0_count_where_a_stop_was_asked_for_and_nowhere_else() {
        let ok = [143, 130];
        for end in [ProcessEnd::Exited(143), ProcessEnd::Signaled(15), ProcessEnd::Exited(130), ProcessEnd::Exited(0)] {
            assert_eq!(StopReason::Signal.exit(Some(end), &ok).code(), 0, "{end}");
        }
        assert_eq!(StopReason::Signal.exit(Some(ProcessEnd::Signaled(9)), &ok).code(), 137);
        assert_eq!(StopReason::Liveness.exit(Some(ProcessEnd::Exited(143)), &ok).code(), 69);
        assert_eq!(StopReason::Bug.exit(Some(ProcessEnd::Exited(143)), &ok).code(), 70);
    }
}
