//! Why the shim leaves, and the exit code that says so.

use std::fmt;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// With an exit code.
    Exited(u8),
    /// Of a signal.
    Signaled(i32),
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// Why the shim leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// Stopped as asked.
    Stopped,
    /// `rcon --match`: the answer has no match in it.
    NoMatch,
    /// An argument is wrong.
    Usage,
    /// A variable is wrong.
    Config,
    /// `check -f`: a manifest has errors.
    BadManifest,
    /// The game server is gone, or never came: readiness deadline or liveness; `rcon`: no answer in time.
    GameServerGone,
    /// A bug here.
    Bug,
    /// The system refused: threads, signals, fork.
    System,
    /// `install`: the directory does not take the file.
    CannotInstall,
    /// `AGONES_SHIM_SDK=required` and no SDK server, or `sdk CALL` without an answer in time.
    NoSdk,
    /// `sdk CALL`: the SDK server rejected the call; `rcon`: the game rejected the password.
    Rejected,
    /// The child's program could not be executed.
    NotExecutable,
    /// The child's program was not found.
    NotFound,
    /// The child's own end.
    Child(ProcessEnd),
}

impl ExitReason {
    /// The exit code, as README and `--help` list them. The codes from 64 on
    /// are those of sysexits(3); 126, 127 and 128+n are the shell's.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Stopped => 0,
            Self::NoMatch => 1,
            Self::Usage => 64,
            Self::BadManifest => 65,
            Self::GameServerGone => 69,
            Self::Bug => 70,
            Self::System => 71,
            Self::CannotInstall => 73,
            Self::NoSdk => 75,
            Self::Rejected => 76,
            Self::Config => 78,
            Self::NotExecutable => 126,
            Self::NotFound => 127,
            Self::Child(ProcessEnd::Exited(code)) => code,
            Self::Child(ProcessEnd::Signaled(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}
