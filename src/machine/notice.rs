//! Every line that the machine can log, as data: level, message and fields
//! are looked up here and nowhere else.
//!
//! Messages say what happened and, where somebody has to act, what to change.

use std::time::Duration;

use log::Level;

use super::StopReason;
use crate::exit::ProcessEnd;

/// A log line of the machine.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each variant is described by its own message, and its fields by their keys")]
pub enum Notice {
    Started { version: &'static str, mode: &'static str, sdk: String, readiness: String },
    Waiting { reason: String },
    LineIsPlain { line: String, write: String },
    SecondShim { sdk: String, pid: Option<i32> },
    WaitingReason { reason: String },
    StillWaiting { waiting_for: String, waited: Duration, last_failure: String },
    Served { after: Duration, sdk: String },
    SdkConnected { name: String, state: String, attempts: u32 },
    SdkAttemptFailed { error: String },
    SdkLost { error: String },
    SdkBack { restarted: bool, away: Duration },
    SdkUnanswered { call: &'static str, error: String },
    SdkAnswers { call: &'static str },
    ProbeOnly { waited: Duration, error: String },
    SdkRequired { waited: Duration, error: String },
    SdkOff,
    SdkOffInKubernetes,
    NoBeats { waited: Duration, error: String },
    ForeignGameServer { name: String, hostname: String },
    IntervalNotBelowPeriod { interval: Duration, period: Duration },
    Adopted { state: String },
    ReadyCalled { state: String },
    ReadyFailed { error: String },
    ReadyUnanswered { error: String },
    ReadyOverdue { state: String, after: Duration },
    ReadyAgain { state: String, after: Duration },
    AllocationAtRisk { after: Duration },
    AllocateFailed { error: String },
    Ready { state: String, after: Duration },
    ReadyProbeOnly { after: Duration },
    ReadyImpossible { state: String },
    StateUnknown { state: String },
    ReadyTimedOut { timeout: Duration, reason: String },
    LivenessFailed { reason: String, round: u32, threshold: u32 },
    LivenessRecovered { rounds: u32 },
    LivenessLost { rounds: u32, reason: String },
    HealthDisabled,
    BeatRejected { error: String },
    BeatsResumed,
    CounterSet { name: String, count: i64 },
    CounterClamped { name: String, reading: u64, capacity: i64 },
    CounterRejected { name: String, error: String },
    CounterWorks { name: String, count: i64 },
    ScrapeFailed { name: String, reason: String },
    ScrapeWorks { name: String, reading: u64 },
    MetricMissing { name: String },
    ListFull { name: String, names: usize, capacity: i64 },
    ListRejected { name: String, error: String },
    ListWorks { name: String },
    NamesMissing { name: String },
    NamesBack { name: String },
    MetadataSet { kind: &'static str, key: String },
    MetadataRejected { kind: &'static str, key: String, error: String },
    MetadataWorks { kind: &'static str, key: String },
    Allocated { name: String },
    AllocatedHookEnded,
    AllocatedHookFailed { reason: String },
    Occupied,
    SelfAllocated { after: Duration },
    SelfAllocateFailed { error: String },
    AllocateOverdue { state: String, after: Duration },
    KeptForOthers { reason: String },
    GivenBack { empty_for: Duration },
    Idle { empty_for: Duration },
    TooOld { ready_for: Duration },
    Stopping { reason: StopReason },
    StopRepeated,
    ShutdownAcknowledged { after: Duration },
    ShutdownFailed { error: String },
    ShutdownAgain { state: String },
    ShutdownConfirmed { state: String, after: Duration },
    ShutdownPointless { state: String },
    ShutdownSdkLeft { refused_for: Duration },
    ShutdownUndelivered { timeout: Duration, acknowledged: bool, last: String },
    ShutdownNoSdk { error: String },
    HookEnded,
    HookFailed { reason: String },
    StopLineWritten,
    StopLineFailed { reason: String },
    StopSignalSent { signal: String },
    SignalRefused { signal: String },
    DiedOfStopSignal { signal: String },
    RestOfGroup { left: String },
    RestTerminated { left: String },
    GameStillThere { after: Duration, signal: String, left: String },
    Killed { after: Duration },
    KilledGivingUp { after: Duration },
    ChildNotStarted { error: String },
    ChildEnded { end: ProcessEnd },
    EndedBeforeReady { stdin_ends: bool },
    StartedWithoutAddress { waited: Duration },
    ArgumentsNotFilled { names: String },
    ThreadDied { thread: &'static str, message: String },
    StatusServed { addr: String },
    StatusNotServed { addr: String, error: String },
    StatusFailed { message: String },
    NotifyUnusable { error: String },
    NotSubreaper { error: String },
    WatchdogTooShort { watchdog: Duration, needed: Duration },
}

/// Values of a line's fields, in the order in which they are written.
pub type Fields = Vec<(&'static str, String)>;

impl Notice {
    /// Level, message and fields.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one table, one arm a message")]
    pub fn render(&self) -> (Level, &'static str, Fields) {
        use Level::{Debug, Error, Info, Warn};
        match self {
            Self::Started { version, mode, sdk, readiness } => (
                Info,
                "agones-shim has started",
                vec![
                    ("version", (*version).into()),
                    ("mode", (*mode).into()),
                    ("sdk", sdk.clone()),
                    ("readiness", readiness.clone()),
                ],
            ),
            Self::Waiting { reason } => (Info, "waiting for the game server", vec![("reason", reason.clone())]),
            Self::WaitingReason { reason } => {
                (Info, "the game server is not ready for another reason now", vec![("reason", reason.clone())])
            }
            Self::LineIsPlain { line, write } => (
                Warn,
                "a line has AGONES_SHIM_READY_LOG as plain text, but as a regular expression that does not match it",
                vec![("line", line.clone()), ("write", write.clone())],
            ),
            Self::SecondShim { sdk, pid } => (
                Warn,
                "ANOTHER AGONES-SHIM HAS THIS SDK SERVER: both send Ready(), beats and Shutdown() for one GameServer, so that \
                 the stop of one ends the game of the other; run one of them, as wrapper or as sidecar",
                vec![
                    ("sdk", sdk.clone()),
                    ("pid", pid.map_or("that of another container".to_owned(), |pid| pid.to_string())),
                ],
            ),
            Self::StillWaiting { waiting_for, waited, last_failure } => (
                Warn,
                "still waiting",
                vec![
                    ("for", waiting_for.clone()),
                    ("waited", seconds(*waited)),
                    ("last_failure", last_failure.clone()),
                ],
            ),
            Self::Served { after, sdk } => (
                Info,
                "the game server is up: every readiness probe has passed",
                vec![("after", seconds(*after)), ("sdk", sdk.clone())],
            ),
            Self::SdkConnected { name, state, attempts } => (
                Info,
                "connected to the SDK server",
                vec![("gameserver", name.clone()), ("state", state.clone()), ("attempts", attempts.to_string())],
            ),
            Self::SdkAttemptFailed { error } => {
                (Debug, "the SDK server cannot be reached yet", vec![("error", error.clone())])
            }
            Self::SdkLost { error } => {
                (Warn, "the SDK server is lost, trying again every second", vec![("error", error.clone())])
            }
            Self::SdkBack { restarted, away } => {
                (Info, "the SDK server is back", vec![("restarted", restarted.to_string()), ("away", seconds(*away))])
            }
            Self::SdkUnanswered { call, error } => (
                Warn,
                "the SDK server is there and leaves a call unanswered, trying again; beats go on (it holds calls while \
                 its API server is slow or away)",
                vec![("call", (*call).into()), ("error", error.clone())],
            ),
            Self::SdkAnswers { call } => {
                (Info, "the SDK server answers its calls again", vec![("call", (*call).into())])
            }
            Self::ProbeOnly { waited, error } => (
                Warn,
                "NO AGONES SDK SERVER: running probe-only, nothing is reported to Agones; still trying every second \
                 (set AGONES_SHIM_SDK=off where there is none, AGONES_SHIM_SDK=required where there must be one)",
                vec![("waited", seconds(*waited)), ("error", error.clone())],
            ),
            Self::SdkRequired { waited, error } => (
                Error,
                "no SDK server within AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS, and AGONES_SHIM_SDK=required",
                vec![("waited", seconds(*waited)), ("error", error.clone())],
            ),
            Self::SdkOff => (Info, "AGONES_SHIM_SDK=off: running probe-only, nothing is reported to Agones", vec![]),
            Self::SdkOffInKubernetes => (
                Warn,
                "AGONES_SHIM_SDK=off inside Kubernetes: no Ready() and no beat is sent, so Agones will call this GameServer \
                 Unhealthy and delete it unless something else sends them",
                vec![],
            ),
            Self::NoBeats { waited, error } => (
                Warn,
                "NO BEAT REACHES AGONES: the SDK server cannot be reached. Agones calls the GameServer Unhealthy when no beat \
                 has come spec.health.initialDelaySeconds + periodSeconds x failureThreshold after the game's start (20 s by \
                 default)",
                vec![("waited", seconds(*waited)), ("error", error.clone())],
            ),
            Self::ForeignGameServer { name, hostname } => (
                Warn,
                "THIS IS PROBABLY ANOTHER POD'S SDK SERVER: its GameServer is not named like this Pod \
                 (with hostNetwork, Pods of one node share port 9357: give each its own spec.sdkServer.grpcPort, and set POD_NAME \
                 by the downward API, since the hostname is the node's there; or drop hostNetwork)",
                vec![("gameserver", name.clone()), ("hostname", hostname.clone())],
            ),
            Self::IntervalNotBelowPeriod { interval, period } => (
                Warn,
                "beats come no faster than Agones expects them, so the GameServer may turn Unhealthy: set \
                 AGONES_SHIM_HEALTH_INTERVAL_SECS below spec.health.periodSeconds, or unset it",
                vec![("interval", seconds(*interval)), ("period", seconds(*period))],
            ),
            Self::Adopted { state } => (
                Info,
                "the GameServer has been Ready before: beats depend on the liveness probes from now on",
                vec![("state", state.clone())],
            ),
            Self::ReadyCalled { state } => (Info, "calling Ready()", vec![("state", state.clone())]),
            Self::ReadyFailed { error } => (Warn, "Ready() failed, trying again", vec![("error", error.clone())]),
            Self::ReadyUnanswered { error } => (
                Warn,
                "no answer to Ready(): the SDK server may have it all the same, so it is not called again, waiting for it to \
                 show",
                vec![("error", error.clone())],
            ),
            Self::ReadyOverdue { state, after } => (
                Warn,
                "Ready() is with the SDK server but does not show: waiting for it, for a second one could undo an allocation",
                vec![("state", state.clone()), ("after", seconds(*after))],
            ),
            Self::ReadyAgain { state, after } => (
                Warn,
                "the SDK server that had Ready() is gone and it does not show, calling it again",
                vec![("state", state.clone()), ("after", seconds(*after))],
            ),
            Self::AllocationAtRisk { after } => (
                Warn,
                "allocated while Ready() was on its way, which would undo the allocation: calling Allocate() to keep it",
                vec![("after", seconds(*after))],
            ),
            Self::AllocateFailed { error } => (
                Warn,
                "Allocate() failed and is not repeated: the GameServer may have fallen back to Ready with a match on it",
                vec![("error", error.clone())],
            ),
            Self::Ready { state, after } => {
                (Info, "the GameServer is ready", vec![("state", state.clone()), ("after", seconds(*after))])
            }
            Self::ReadyProbeOnly { after } => {
                (Info, "ready, with no SDK server to tell", vec![("after", seconds(*after))])
            }
            Self::ReadyImpossible { state } => (
                Warn,
                "not calling Ready(): this GameServer is at its end and Agones will not take it back",
                vec![("state", state.clone())],
            ),
            Self::StateUnknown { state } => (
                Warn,
                "not calling Ready(): the SDK server reports a state that is none before Ready",
                vec![("state", state.clone())],
            ),
            Self::ReadyTimedOut { timeout, reason } => (
                Error,
                "the game server did not become ready within AGONES_SHIM_READY_TIMEOUT_SECS, leaving",
                vec![("timeout", seconds(*timeout)), ("reason", reason.clone())],
            ),
            Self::LivenessFailed { reason, round, threshold } => (
                Warn,
                "liveness failed, withholding beats",
                vec![("reason", reason.clone()), ("round", round.to_string()), ("threshold", threshold.to_string())],
            ),
            Self::LivenessRecovered { rounds } => {
                (Info, "liveness is back", vec![("failed_rounds", rounds.to_string())])
            }
            Self::LivenessLost { rounds, reason } => (
                Error,
                "the game server is gone: AGONES_SHIM_LIVE_FAILURE_THRESHOLD rounds of liveness have failed in a row, \
                 leaving without Shutdown() so that Agones replaces it as Unhealthy",
                vec![("failed_rounds", rounds.to_string()), ("reason", reason.clone())],
            ),
            Self::HealthDisabled => (
                Error,
                "spec.health.disabled is set: Agones does not watch beats, so nothing will replace this server",
                vec![],
            ),
            Self::BeatRejected { error } => (Warn, "the SDK server rejects beats", vec![("error", error.clone())]),
            Self::BeatsResumed => (Info, "beats are accepted again", vec![]),
            Self::CounterSet { name, count } => {
                (Debug, "counter set", vec![("counter", name.clone()), ("count", count.to_string())])
            }
            Self::CounterClamped { name, reading, capacity } => (
                Warn,
                "the reading is above the Counter's capacity, the capacity is reported instead: raise \
                 spec.counters.<name>.capacity, or the game's own maximum where that is published",
                vec![("counter", name.clone()), ("reading", reading.to_string()), ("capacity", capacity.to_string())],
            ),
            Self::CounterRejected { name, error } => (
                Warn,
                "the SDK server rejects the Counter, trying once a minute: declare it in the GameServer's spec.counters \
                 and see that the feature gate CountsAndLists is on (Agones 1.43 and later: by default)",
                vec![("counter", name.clone()), ("error", error.clone())],
            ),
            Self::CounterWorks { name, count } => {
                (Info, "the Counter is accepted", vec![("counter", name.clone()), ("count", count.to_string())])
            }
            Self::ScrapeFailed { name, reason } => (
                Warn,
                "no reading for the Counter, it keeps its value: see the settings of its source, as \
                 AGONES_SHIM_COUNTER_METRICS_URL or AGONES_SHIM_COUNTER_LOG",
                vec![("counter", name.clone()), ("reason", reason.clone())],
            ),
            Self::ScrapeWorks { name, reading } => (
                Info,
                "the Counter has a reading again",
                vec![("counter", name.clone()), ("reading", reading.to_string())],
            ),
            Self::MetricMissing { name } => (
                Info,
                "the metric is not there, which counts as 0 with AGONES_SHIM_COUNTER_MISSING=zero: if players are on, see \
                 that AGONES_SHIM_COUNTER_METRIC is spelt as the page has it",
                vec![("counter", name.clone())],
            ),
            Self::ListFull { name, names, capacity } => (
                Warn,
                "the List is full, not all names are on it: raise spec.lists.<name>.capacity (1000 at most)",
                vec![("list", name.clone()), ("names", names.to_string()), ("capacity", capacity.to_string())],
            ),
            Self::ListRejected { name, error } => (
                Warn,
                "the SDK server rejects the List, trying once a minute: declare it in the GameServer's spec.lists and \
                 see that the feature gate CountsAndLists is on (Agones 1.43 and later: by default)",
                vec![("list", name.clone()), ("error", error.clone())],
            ),
            Self::ListWorks { name } => (Info, "the List is accepted", vec![("list", name.clone())]),
            Self::NamesMissing { name } => (
                Warn,
                "the server answers without its players' names, the List keeps its values",
                vec![("list", name.clone())],
            ),
            Self::NamesBack { name } => (Info, "the server names its players again", vec![("list", name.clone())]),
            Self::MetadataSet { kind, key } => {
                (Debug, "label or annotation set", vec![("kind", (*kind).into()), ("key", key.clone())])
            }
            Self::MetadataRejected { kind, key, error } => (
                Warn,
                "the SDK server rejects a label or an annotation, trying once a minute: see AGONES_SHIM_LABELS and \
                 AGONES_SHIM_ANNOTATIONS",
                vec![("kind", (*kind).into()), ("key", key.clone()), ("error", error.clone())],
            ),
            Self::MetadataWorks { kind, key } => {
                (Info, "the label or annotation is accepted", vec![("kind", (*kind).into()), ("key", key.clone())])
            }
            Self::Allocated { name } => {
                (Info, "the GameServer was allocated, running the hook", vec![("gameserver", name.clone())])
            }
            Self::AllocatedHookEnded => (Info, "the hook of the allocation has ended", vec![]),
            Self::AllocatedHookFailed { reason } => {
                (Warn, "the hook of the allocation failed, going on all the same", vec![("reason", reason.clone())])
            }
            Self::Occupied => {
                (Info, "Ready with players on (AGONES_SHIM_ALLOCATE_ON_PLAYERS): calling Allocate()", vec![])
            }
            Self::SelfAllocated { after } => {
                (Info, "the GameServer shows Allocated, by its players", vec![("after", seconds(*after))])
            }
            Self::SelfAllocateFailed { error } => (
                Warn,
                "Allocate() failed with players on, trying again every 5 s: until then a Fleet may remove this server",
                vec![("error", error.clone())],
            ),
            Self::AllocateOverdue { state, after } => (
                Warn,
                "Allocate() is with the SDK server but does not show: waiting for it, until then a Fleet may remove this \
                 server with its players",
                vec![("state", state.clone()), ("after", seconds(*after))],
            ),
            Self::KeptForOthers { reason } => (
                Info,
                "this allocation may be somebody else's, so AGONES_SHIM_EMPTY_READY_SECS does not give it back",
                vec![("reason", reason.clone())],
            ),
            Self::GivenBack { empty_for } => (
                Info,
                "allocated by its players and empty for AGONES_SHIM_EMPTY_READY_SECS: calling Ready()",
                vec![("empty_for", seconds(*empty_for))],
            ),
            Self::Idle { empty_for } => (
                Info,
                "Allocated and empty for AGONES_SHIM_IDLE_SHUTDOWN_SECS: calling Shutdown()",
                vec![("empty_for", seconds(*empty_for))],
            ),
            Self::TooOld { ready_for } => (
                Info,
                "Ready and not allocated for AGONES_SHIM_MAX_AGE_SECS: calling Shutdown()",
                vec![("ready_for", seconds(*ready_for))],
            ),
            Self::Stopping { reason } => (Info, "stopping", vec![("reason", reason.to_string())]),
            Self::StopRepeated => (Warn, "stop signal repeated: not waiting for Shutdown() any longer", vec![]),
            Self::ShutdownAcknowledged { after } => (
                Info,
                "Shutdown() is acknowledged, staying until the GameServer shows it",
                vec![("after", seconds(*after))],
            ),
            Self::ShutdownFailed { error } => (Warn, "Shutdown() failed, trying again", vec![("error", error.clone())]),
            Self::ShutdownAgain { state } => {
                (Info, "Shutdown() does not show yet, calling it again", vec![("state", state.clone())])
            }
            Self::ShutdownConfirmed { state, after } => {
                (Info, "Shutdown() has landed", vec![("state", state.clone()), ("after", seconds(*after))])
            }
            Self::ShutdownPointless { state } => (
                Warn,
                "not waiting for Shutdown(): a GameServer in this state ignores it",
                vec![("state", state.clone())],
            ),
            Self::ShutdownSdkLeft { refused_for } => (
                Warn,
                "the SDK server has left after acknowledging Shutdown(), not waiting for it to show",
                vec![("refused_for", seconds(*refused_for))],
            ),
            Self::ShutdownUndelivered { timeout, acknowledged, last } => (
                Error,
                "Shutdown() was not confirmed within AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS: the GameServer may end Unhealthy",
                vec![
                    ("timeout", seconds(*timeout)),
                    ("acknowledged", acknowledged.to_string()),
                    ("last", last.clone()),
                ],
            ),
            Self::ShutdownNoSdk { error } => {
                (Info, "no SDK server was ever reached: Shutdown() is not waited for", vec![("error", error.clone())])
            }
            Self::HookEnded => (Info, "the stop hook has ended", vec![]),
            Self::HookFailed { reason } => {
                (Warn, "the stop hook failed, stopping all the same", vec![("reason", reason.clone())])
            }
            Self::StopLineWritten => (Info, "the stop line was written to the game server's stdin", vec![]),
            Self::StopLineFailed { reason } => (
                Warn,
                "the stop line could not be written to the game server's stdin, sending the stop signal",
                vec![("reason", reason.clone())],
            ),
            Self::StopSignalSent { signal } => {
                (Info, "the stop signal was sent to the game server", vec![("signal", signal.clone())])
            }
            Self::SignalRefused { signal } => (
                Warn,
                "the game server runs as another user, whom the shim may not signal",
                vec![("signal", signal.clone())],
            ),
            Self::DiedOfStopSignal { signal } => (
                Info,
                "the game server has died of the stop signal at once, without a handler that could have saved anything: \
                 many games save on another signal (AGONES_SHIM_STOP_SIGNAL) or on a command (AGONES_SHIM_STOP_LINE, AGONES_SHIM_STOP_HOOK)",
                vec![("signal", signal.clone())],
            ),
            Self::RestOfGroup { left } => (
                Info,
                "the game server's first process has ended, waiting for what is left of its group",
                vec![("left", left.clone())],
            ),
            Self::RestTerminated { left } => (
                Warn,
                "what is left of the game server's group ignores the stop signal (a shell's background jobs ignore SIGINT), \
                 sending SIGTERM: see AGONES_SHIM_STOP_SIGNAL, or start the game with exec",
                vec![("left", left.clone())],
            ),
            Self::GameStillThere { after, signal, left } => (
                Warn,
                "the game server has not ended: whoever stops this container kills it when the grace period is over (Docker: \
                 10 s, Kubernetes: terminationGracePeriodSeconds); if it does not save, see AGONES_SHIM_STOP_SIGNAL and \
                 AGONES_SHIM_STOP_HOOK",
                vec![("after", seconds(*after)), ("signal", signal.clone()), ("left", left.clone())],
            ),
            Self::Killed { after } => (
                Warn,
                "the game server is still there after AGONES_SHIM_STOP_TIMEOUT_SECS, sending SIGKILL",
                vec![("after", seconds(*after))],
            ),
            Self::KilledGivingUp { after } => (
                Warn,
                "the game server is still there, sending SIGKILL: this is no stop that somebody asked for, and \
                 AGONES_SHIM_STOP_TIMEOUT_SECS sets no time for it",
                vec![("after", seconds(*after))],
            ),
            Self::ChildNotStarted { error } => {
                (Error, "the game server could not be started", vec![("error", error.clone())])
            }
            Self::ChildEnded { end } => (Info, "the game server has ended", vec![("end", end.to_string())]),
            Self::EndedBeforeReady { stdin_ends: true } => (
                Warn,
                "the game server has ended with 0 before it was ready: its stdin has an end here, and many games leave when \
                 they read it (AGONES_SHIM_STOP_LINE, set to the game's own stop command, keeps it open; so do docker run -i and stdin: true)",
                vec![],
            ),
            Self::EndedBeforeReady { stdin_ends: false } => (
                Warn,
                "the game server has ended with 0 before it was ready: its own log says why, or its arguments made it do \
                 something else than serve",
                vec![],
            ),
            Self::StartedWithoutAddress { waited } => (
                Warn,
                "the GameServer's address is not known within AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS: starting the game \
                 without the AGONES_GAMESERVER_ variables",
                vec![("waited", seconds(*waited))],
            ),
            Self::ArgumentsNotFilled { names } => (
                Warn,
                "a $(AGONES_GAMESERVER_...) in the game's arguments is not known and stays as it is",
                vec![("names", names.clone())],
            ),
            Self::ThreadDied { thread, message } => (
                Error,
                "BUG: a thread of agones-shim has died, leaving with exit code 70; please report this line",
                vec![("thread", (*thread).into()), ("panic", message.clone())],
            ),
            Self::StatusServed { addr } => (Info, "the status endpoint is open", vec![("addr", addr.clone())]),
            Self::StatusNotServed { addr, error } => (
                Error,
                "the status endpoint cannot be opened, trying again every second: change AGONES_SHIM_STATUS_ADDR or \
                 whatever has its port",
                vec![("addr", addr.clone()), ("error", error.clone())],
            ),
            Self::StatusFailed { message } => (
                Error,
                "BUG: the status endpoint has failed and begins anew; please report this line",
                vec![("panic", message.clone())],
            ),
            Self::NotifyUnusable { error } => {
                (Warn, "NOTIFY_SOCKET cannot be used: systemd is told nothing", vec![("error", error.clone())])
            }
            Self::NotSubreaper { error } => (
                Warn,
                "this system knows no child subreapers: what the game server leaves behind goes to PID 1",
                vec![("error", error.clone())],
            ),
            Self::WatchdogTooShort { watchdog, needed } => (
                Warn,
                "systemd's watchdog may end agones-shim before it can tell that the game server is gone: raise WatchdogSec=",
                vec![("watchdog", seconds(*watchdog)), ("above", seconds(*needed))],
            ),
        }
    }
}

impl std::fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// Seconds as people write them: `2s`, `0.5s`, `1.234s`.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) {
        return format!("{}s", millis / 1000);
    }
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    format!("{}s", text.trim_end_matches('0'))
}
