//! Every line that the machine can log: one row a message, and nothing of it anywhere else.
//!
//! A row is the variant with its fields, the part of a server's life that it belongs to, its level, its id, the fields
//! as they are logged (`key = value` where the key is another), the text, and what to do about it where there is
//! something to do. Texts say what happened and, where somebody has to act, what to change. An id is never changed:
//! alerts match on it.
//!
//! docs/messages.md and `agones-shim explain` are made from the rows.

mod row;

use std::time::Duration;

use log::Level::{Debug, Error, Info, Warn};

use self::row::Stage::{Counters, Game, Health, Insight, Metadata, Readiness, Sdk, Start, Stop};
use self::row::{Field, notices, value};
use super::StopReason;
use crate::exit::ProcessEnd;

pub use self::row::{Description, Stage};

notices! {
    Started { version: &'static str, mode: &'static str, sdk: String, readiness: String } =>
        Start, Info, "started", [version, mode, sdk, readiness],
        "agones-shim has started";
    Waiting { reason: String } =>
        Readiness, Info, "waiting", [reason],
        "waiting for the game server",
        "Normal while the game loads. If it lasts: compare the probe in `reason` with what the game listens on.";
    LineIsPlain { line: String, write: String } =>
        Readiness, Warn, "line-is-plain", [line, write],
        "a line has AGONES_SHIM_READY_LOG as plain text, but as a regular expression that does not match it",
        "Set `AGONES_SHIM_READY_TEXT` to the text in place of `AGONES_SHIM_READY_LOG`, or that to what `write` says.";
    SecondShim { sdk: String, pid: Option<i32> } =>
        Sdk, Warn, "second-shim", [sdk, pid = pid.map_or("that of another container".to_owned(), |pid| pid.to_string())],
        "ANOTHER AGONES-SHIM HAS THIS SDK SERVER: both send Ready(), beats and Shutdown() for one GameServer, so \
         that the stop of one ends the game of the other; run one of them, as wrapper or as sidecar",
        "Take one of the two out of the Pod: the sidecar, where the game starts through the wrapper.";
    WaitingReason { reason: String } =>
        Readiness, Info, "waiting-reason", [reason],
        "the game server is not ready for another reason now",
        "`reason` is the new failure.";
    StillWaiting { waiting_for: String, waited: Duration, last_failure: String } =>
        Readiness, Warn, "still-waiting", [for = waiting_for, waited, last_failure],
        "still waiting",
        "See `for` and `last_failure`. A probe: is it the right port or URL, and did the game start? The SDK server: \
         is the container there, and is this its port?";
    Served { after: Duration, sdk: String } =>
        Readiness, Info, "game-up", [after, sdk],
        "the game server is up: every readiness probe has passed";
    SdkConnected { name: String, state: String, attempts: u32 } =>
        Sdk, Info, "sdk-connected", [gameserver = name, state, attempts],
        "connected to the SDK server";
    SdkAttemptFailed { error: String } =>
        Sdk, Debug, "sdk-attempt-failed", [error],
        "the SDK server cannot be reached yet";
    GivenUp { state: String } =>
        Health, Warn, "gameserver-given-up", [state],
        "Agones has given this GameServer up and deletes it; the game goes on until its Pod is stopped",
        "Unhealthy: beats stayed away, or a container failed (`kubectl describe gameserver`). Shutdown, or being \
         deleted: somebody asked for it: a scale-down, `kubectl delete`, another shim.";
    SdkLost { error: String } =>
        Sdk, Warn, "sdk-lost", [error],
        "the SDK server is lost, trying again every second",
        "None if it comes back soon: the SDK server was restarted. Else look at the container \
         agones-gameserver-sidecar.";
    SdkBack { restarted: bool, away: Duration } =>
        Sdk, Info, "sdk-back", [restarted, away],
        "the SDK server is back";
    SdkUnanswered { call: &'static str, error: String } =>
        Sdk, Warn, "sdk-unanswered", [call, error],
        "the SDK server is there and leaves a call unanswered, trying again; beats go on (it holds calls while its \
         API server is slow or away)",
        "Look at the cluster's API server and at the SDK server's log; a control plane that is upgraded does this \
         for a minute. The GameServer stays healthy meanwhile, and what is published comes late.";
    SdkAnswers { call: &'static str } =>
        Sdk, Info, "sdk-answers", [call],
        "the SDK server answers its calls again";
    ProbeOnly { waited: Duration, error: String } =>
        Sdk, Warn, "no-sdk", [waited, error],
        "NO AGONES SDK SERVER: running probe-only, nothing is reported to Agones; still trying every second (set \
         AGONES_SHIM_SDK=off where there is none, AGONES_SHIM_SDK=required where there must be one)",
        "Outside a cluster: set `AGONES_SHIM_SDK=off`. Inside: the Pod has no SDK server, or it is on another port \
         than `AGONES_SDK_GRPC_PORT` says.";
    SdkRequired { waited: Duration, error: String } =>
        Sdk, Error, "sdk-required", [waited, error],
        "no SDK server within AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS, and AGONES_SHIM_SDK=required",
        "A wrapper's game was not started. Start the SDK server first, raise `AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS`, or set `AGONES_SHIM_SDK=auto`.";
    SdkOff =>
        Start, Info, "sdk-off", [],
        "AGONES_SHIM_SDK=off: running probe-only, nothing is reported to Agones",
        "As configured. Unset `AGONES_SHIM_SDK` to use Agones.";
    SdkOffInKubernetes =>
        Start, Warn, "sdk-off-in-kubernetes", [],
        "AGONES_SHIM_SDK=off inside Kubernetes: no Ready() and no beat is sent, so Agones will call this GameServer \
         Unhealthy and delete it unless something else sends them",
        "Unset `AGONES_SHIM_SDK` if this is a GameServer's Pod and nothing else speaks to Agones for it.";
    NoBeats { waited: Duration, error: String } =>
        Sdk, Warn, "no-beats", [waited, error],
        "NO BEAT REACHES AGONES: the SDK server cannot be reached. Agones calls the GameServer Unhealthy when no \
         beat has come spec.health.initialDelaySeconds + periodSeconds x failureThreshold after the game's start (20 \
         s by default)",
        "Is the container agones-gameserver-sidecar there and running, and is this its port? A slow start of it is \
         harmless if `spec.health.initialDelaySeconds` allows for it.";
    ForeignGameServer { name: String, hostname: String } =>
        Sdk, Warn, "foreign-gameserver", [gameserver = name, hostname],
        "THIS IS PROBABLY ANOTHER POD'S SDK SERVER: its GameServer is not named like this Pod (with hostNetwork, \
         Pods of one node share port 9357: give each its own spec.sdkServer.grpcPort, and set POD_NAME by the \
         downward API, since the hostname is the node's there; or drop hostNetwork)",
        "Give each Pod with hostNetwork a port of its own for the SDK server (`spec.sdkServer.grpcPort` of the \
         GameServer) and its name as `POD_NAME` (downward API, `metadata.name`), or drop hostNetwork. Until then the \
         wrong GameServer may be set Ready or shut down.";
    IntervalNotBelowPeriod { interval: Duration, period: Duration } =>
        Health, Warn, "interval-too-long", [interval, period],
        "beats come no faster than Agones expects them, so the GameServer may turn Unhealthy: set \
         AGONES_SHIM_HEALTH_INTERVAL_SECS below spec.health.periodSeconds, or unset it",
        "Set `AGONES_SHIM_HEALTH_INTERVAL_SECS` to half of `spec.health.periodSeconds`, or unset it.";
    Adopted { state: String } =>
        Readiness, Info, "adopted", [state],
        "the GameServer has been Ready before: beats depend on the liveness probes from now on",
        "None: the shim was restarted beside a running game and does not call Ready() again.";
    ReadyCalled { state: String } =>
        Readiness, Info, "ready-called", [state],
        "calling Ready()";
    ReadyFailed { error: String } =>
        Readiness, Warn, "ready-failed", [error],
        "Ready() failed, trying again",
        "None at first: it is tried again. If it lasts, `error` is what the SDK server says.";
    ReadyUnanswered { error: String } =>
        Readiness, Warn, "ready-unanswered", [error],
        "no answer to Ready(): the SDK server may have it all the same, so it is not called again, waiting for it to \
         show",
        "None if Ready shows soon. Else look at the SDK server: it stands still, for lack of CPU or of an API server.";
    ReadyOverdue { state: String, after: Duration } =>
        Readiness, Warn, "ready-overdue", [state, after],
        "Ready() is with the SDK server but does not show: waiting for it, for a second one could undo an allocation",
        "Look at the log of agones-gameserver-sidecar: it cannot write the GameServer, for lack of rights or of an \
         API server. Where it hangs, restart that container: Ready() is called again then.";
    ReadyAgain { state: String, after: Duration } =>
        Readiness, Warn, "ready-again", [state, after],
        "the SDK server that had Ready() is gone and it does not show, calling it again",
        "Find out why the SDK server was restarted: the log of agones-gameserver-sidecar's last run.";
    AllocationAtRisk { after: Duration } =>
        Readiness, Warn, "allocation-at-risk", [after],
        "allocated while Ready() was on its way, which would undo the allocation: calling Allocate() to keep it",
        "None: a Ready() of a shim that was restarted had been late.";
    AllocateFailed { error: String } =>
        Readiness, Warn, "allocate-failed", [error],
        "Allocate() failed and is not repeated: the GameServer may have fallen back to Ready with a match on it",
        "Look at the GameServer's state: if it is Ready while a match runs, delete it when the match is over.";
    Ready { state: String, after: Duration } =>
        Readiness, Info, "ready", [state, after],
        "the GameServer is ready";
    ReadyProbeOnly { after: Duration } =>
        Readiness, Info, "ready-probe-only", [after],
        "ready, with no SDK server to tell",
        "None if that is meant; else see \"NO AGONES SDK SERVER\".";
    ReadyImpossible { state: String } =>
        Readiness, Warn, "ready-impossible", [state],
        "not calling Ready(): this GameServer is at its end and Agones will not take it back",
        "Find out why it got there: `kubectl describe gameserver`. Agones replaces it; with `agones-shim local-sdk`, \
         the page's button and `POST /local/reset` make a new one.";
    StateUnknown { state: String } =>
        Readiness, Warn, "state-unknown", [state],
        "not calling Ready(): the SDK server reports a state that is none before Ready",
        "This version of Agones has a state that agones-shim does not know: please report it.";
    ReadyTimedOut { timeout: Duration, reason: String } =>
        Readiness, Error, "ready-timeout", [timeout, reason],
        "the game server did not become ready within AGONES_SHIM_READY_TIMEOUT_SECS, leaving",
        "Raise `AGONES_SHIM_READY_TIMEOUT_SECS` if the game needs longer; else see `reason`.";
    LivenessFailed { reason: String, round: u32, threshold: u32 } =>
        Health, Warn, "liveness-failed", [reason, round, threshold],
        "liveness failed, withholding beats",
        "See `reason`. A game that only stalls for a while (saving, loading a map) wants a longer \
         `AGONES_SHIM_PROBE_TIMEOUT_SECS` or a higher `AGONES_SHIM_LIVE_FAILURE_THRESHOLD`.";
    LivenessRecovered { rounds: u32 } =>
        Health, Info, "liveness-back", [failed_rounds = rounds],
        "liveness is back";
    LivenessLost { rounds: u32, reason: String } =>
        Health, Error, "liveness-lost", [failed_rounds = rounds, reason],
        "the game server is gone: AGONES_SHIM_LIVE_FAILURE_THRESHOLD rounds of liveness have failed in a row, \
         leaving without Shutdown() so that Agones replaces it as Unhealthy",
        "The game died or hangs: its own log says why. Agones replaces the GameServer.";
    HealthDisabled =>
        Health, Error, "health-disabled", [],
        "spec.health.disabled is set: Agones does not watch beats, so nothing will replace this server",
        "Remove `spec.health.disabled`, or delete the GameServer yourself.";
    BeatRejected { error: String } =>
        Health, Warn, "beats-rejected", [error],
        "the SDK server rejects beats",
        "See `error`. An SDK server that rejects Health is usually about to stop.";
    BeatsResumed =>
        Health, Info, "beats-accepted", [],
        "beats are accepted again";
    CounterSet { name: String, count: i64 } =>
        Counters, Debug, "counter-set", [counter = name, count],
        "counter set";
    CounterClamped { name: String, reading: u64, capacity: i64 } =>
        Counters, Warn, "counter-clamped", [counter = name, reading, capacity],
        "the reading is above the Counter's capacity, the capacity is reported instead: raise \
         spec.counters.<name>.capacity, or the game's own maximum where that is published",
        "Raise `spec.counters.NAME.capacity` (or, with `AGONES_SHIM_COUNTER_CAPACITY=1`, the game's own maximum), or \
         see whether the metric counts something else.";
    CounterRejected { name: String, error: String } =>
        Counters, Warn, "counter-rejected", [counter = name, error],
        "the SDK server rejects the Counter, trying once a minute: declare it in the GameServer's spec.counters and \
         see that the feature gate CountsAndLists is on (Agones 1.43 and later: by default)",
        "Declare the Counter in `spec.counters` under exactly this name; Agones before 1.43 needs the feature gate \
         CountsAndLists.";
    CounterWorks { name: String, count: i64 } =>
        Counters, Info, "counter-accepted", [counter = name, count],
        "the Counter is accepted";
    ScrapeFailed { name: String, reason: String } =>
        Counters, Warn, "counter-unread", [counter = name, reason],
        "no reading for the Counter, it keeps its value: see the settings of its source, AGONES_SHIM_COUNTER_METRIC \
         and its like",
        "See `reason`, and ask the source by hand: `curl` the URL of `AGONES_SHIM_COUNTER_METRICS_URL` or \
         `AGONES_SHIM_COUNTER_JSON_URL` and look for the metric or the pointer; run the program of \
         `AGONES_SHIM_COUNTER_EXEC`; check that the game answers queries on the port of `AGONES_SHIM_COUNTER_QUERY`; \
         compare `AGONES_SHIM_COUNTER_LOG` with the lines that the game writes.";
    ScrapeWorks { name: String, reading: u64 } =>
        Counters, Info, "counter-read", [counter = name, reading],
        "the Counter has a reading again";
    MetricMissing { name: String } =>
        Counters, Info, "metric-missing", [counter = name],
        "the metric is not there, which counts as 0 with AGONES_SHIM_COUNTER_MISSING=zero: if players are on, see \
         that AGONES_SHIM_COUNTER_METRIC is spelt as the page has it",
        "None while nobody plays. Else compare `AGONES_SHIM_COUNTER_METRIC` with the page, labels included.";
    ListFull { name: String, names: usize, capacity: i64 } =>
        Counters, Warn, "list-full", [list = name, names, capacity],
        "the List is full, not all names are on it: raise spec.lists.<name>.capacity (1000 at most)",
        "Raise `spec.lists.NAME.capacity` to what the game takes. Who is on the List stays on it while they play.";
    ListRejected { name: String, error: String } =>
        Counters, Warn, "list-rejected", [list = name, error],
        "the SDK server rejects the List, trying once a minute: declare it in the GameServer's spec.lists and see \
         that the feature gate CountsAndLists is on (Agones 1.43 and later: by default)",
        "Declare the List in `spec.lists` under exactly this name; Agones before 1.43 needs the feature gate \
         CountsAndLists.";
    ListWorks { name: String } =>
        Counters, Info, "list-accepted", [list = name],
        "the List is accepted";
    NamesMissing { name: String } =>
        Counters, Warn, "names-missing", [list = name],
        "the server answers without its players' names, the List keeps its values",
        "Some games hide their players unless told otherwise: look for a setting of the game's own.";
    NamesBack { name: String } =>
        Counters, Info, "names-back", [list = name],
        "the server names its players again";
    MetadataSet { kind: &'static str, key: String } =>
        Metadata, Debug, "metadata-set", [kind, key],
        "label or annotation set";
    MetadataRejected { kind: &'static str, key: String, error: String } =>
        Metadata, Warn, "metadata-rejected", [kind, key, error],
        "the SDK server rejects a label or an annotation, trying once a minute: see AGONES_SHIM_LABELS and \
         AGONES_SHIM_ANNOTATIONS",
        "See `error`: correct the key or the value, or update an Agones that does not know the call.";
    MetadataWorks { kind: &'static str, key: String } =>
        Metadata, Info, "metadata-accepted", [kind, key],
        "the label or annotation is accepted";
    Allocated { name: String } =>
        Metadata, Info, "allocated", [gameserver = name],
        "the GameServer was allocated, running the hook";
    AllocatedHookEnded =>
        Metadata, Info, "allocated-hook-ended", [],
        "the hook of the allocation has ended";
    AllocatedHookFailed { reason: String } =>
        Metadata, Warn, "allocated-hook-failed", [reason],
        "the hook of the allocation failed, going on all the same",
        "See `reason`: run the hook by hand; raise `AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS` if it needs longer.";
    Occupied =>
        Metadata, Info, "occupied", [],
        "Ready with players on (AGONES_SHIM_ALLOCATE_ON_PLAYERS): calling Allocate()";
    SelfAllocated { after: Duration } =>
        Metadata, Info, "self-allocated", [after],
        "the GameServer shows Allocated, by its players";
    SelfAllocateFailed { error: String } =>
        Metadata, Warn, "self-allocate-failed", [error],
        "Allocate() failed with players on, trying again every 5 s: until then a Fleet may remove this server",
        "See `error`: the SDK server refuses the call; its own log says why.";
    AllocateOverdue { state: String, after: Duration } =>
        Metadata, Warn, "allocate-overdue", [state, after],
        "Allocate() is with the SDK server but does not show: waiting for it, until then a Fleet may remove this \
         server with its players",
        "See the SDK server's log: it cannot write, most likely because its API server is slow or refuses it.";
    KeptForOthers { reason: String } =>
        Metadata, Info, "kept-for-others", [reason],
        "this allocation may be somebody else's, so AGONES_SHIM_EMPTY_READY_SECS does not give it back",
        "None: whoever allocated it ends it. If nobody does, call Shutdown() on it, and a Fleet replaces it.";
    GivenBack { empty_for: Duration } =>
        Metadata, Info, "given-back", [empty_for],
        "allocated by its players and empty for AGONES_SHIM_EMPTY_READY_SECS: calling Ready()";
    Idle { empty_for: Duration } =>
        Metadata, Info, "idle", [empty_for],
        "Allocated and empty for AGONES_SHIM_IDLE_SHUTDOWN_SECS: calling Shutdown()",
        "As configured. If there were players: does the Counter's source count them?";
    TooOld { ready_for: Duration } =>
        Metadata, Info, "too-old", [ready_for],
        "Ready and not allocated for AGONES_SHIM_MAX_AGE_SECS: calling Shutdown()",
        "As configured: a Fleet replaces it if it is needed.";
    Stopping { reason: StopReason } =>
        Stop, Info, "stopping", [reason],
        "stopping";
    StopRepeated =>
        Stop, Warn, "stop-repeated", [],
        "stop signal repeated: not waiting for Shutdown() any longer",
        "None: a second signal asked for it. Agones may call the GameServer Unhealthy.";
    ShutdownAcknowledged { after: Duration } =>
        Stop, Info, "shutdown-acknowledged", [after],
        "Shutdown() is acknowledged, staying until the GameServer shows it";
    ShutdownFailed { error: String } =>
        Stop, Warn, "shutdown-failed", [error],
        "Shutdown() failed, trying again",
        "None at first: it is tried again until `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`.";
    ShutdownAgain { state: String } =>
        Stop, Info, "shutdown-again", [state],
        "Shutdown() does not show yet, calling it again";
    ShutdownConfirmed { state: String, after: Duration } =>
        Stop, Info, "shutdown-landed", [state, after],
        "Shutdown() has landed";
    ShutdownPointless { state: String } =>
        Stop, Warn, "shutdown-ignored", [state],
        "not waiting for Shutdown(): a GameServer in this state ignores it",
        "None: Agones replaces such a GameServer anyway.";
    ShutdownSdkLeft { refused_for: Duration } =>
        Stop, Warn, "shutdown-sdk-left", [refused_for],
        "the SDK server has left after acknowledging Shutdown(), not waiting for it to show",
        "If the GameServer ends Unhealthy: the SDK server's container must outlive this one (Agones 1.56 and later \
         see to that).";
    ShutdownUndelivered { timeout: Duration, acknowledged: bool, last: String } =>
        Stop, Error, "shutdown-unconfirmed", [timeout, acknowledged, last],
        "Shutdown() was not confirmed within AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS: the GameServer may end Unhealthy",
        "Raise `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`, and the Pod's grace period with it; `last` is what came last.";
    ShutdownNoSdk { error: String } =>
        Stop, Info, "shutdown-no-sdk", [error],
        "no SDK server was ever reached: Shutdown() is not waited for",
        "None outside a cluster. Inside: see \"NO AGONES SDK SERVER\".";
    HookStarted =>
        Stop, Info, "stop-hook-started", [],
        "the stop hook was started",
        "None, unless exit code 137 follows and no stop-hook-ended: then the hook had the whole grace period.";
    HookEnded =>
        Stop, Info, "stop-hook-ended", [],
        "the stop hook has ended";
    HookFailed { reason: String } =>
        Stop, Warn, "stop-hook-failed", [reason],
        "the stop hook failed, stopping all the same",
        "See `reason`: run the hook by hand; raise `AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS` if it needs longer.";
    StopLineWritten { within: Duration } =>
        Stop, Info, "stop-line-written", [within],
        "the stop line was written to the game server's stdin",
        "None, unless exit code 137 follows and no game-ended: then the save takes longer than the grace period of the \
         Pod or the container.";
    StopLineTimedOut { after: Duration } =>
        Stop, Warn, "stop-line-timed-out", [after],
        "the game server has not ended in time after the stop line, and the stop signal may cut its save short \
         (AGONES_SHIM_STOP_LINE_TIMEOUT_SECS gives it longer, AGONES_SHIM_STOP_SIGNAL=none all the time there is)",
        "Raise `AGONES_SHIM_STOP_LINE_TIMEOUT_SECS` above the longest save, and the grace period above that; or see \
         whether the game reads its console at all.";
    StopLineFailed { reason: String } =>
        Stop, Warn, "stop-line-failed", [reason],
        "the stop line could not be written to the game server's stdin, sending the stop signal",
        "See `reason`: does the game read its stdin?";
    StopSignalSent { signal: String } =>
        Stop, Info, "stop-signal-sent", [signal],
        "the stop signal was sent to the game server";
    SignalRefused { signal: String } =>
        Stop, Warn, "signal-refused", [signal],
        "the game server runs as another user, whom the shim may not signal",
        "Start both as one user: `runAsUser` in place of `gosu` or `su-exec`, or that in front of the shim. Or add the \
         capability KILL to the container.";
    DiedOfStopSignal { signal: String } =>
        Stop, Info, "died-of-stop-signal", [signal],
        "the game server has died of the stop signal at once, without a handler that could have saved anything: many \
         games save on another signal (AGONES_SHIM_STOP_SIGNAL) or on a command (AGONES_SHIM_STOP_LINE, \
         AGONES_SHIM_STOP_HOOK)",
        "None if it has nothing to save. Else set `AGONES_SHIM_STOP_SIGNAL` to the signal on which it saves (often \
         `INT`), or save in `AGONES_SHIM_STOP_HOOK`.";
    RestOfGroup { left: String } =>
        Stop, Info, "rest-of-group", [left],
        "the game server's first process has ended, waiting for what is left of its group";
    RestTerminated { left: String } =>
        Stop, Warn, "rest-terminated", [left],
        "some of what is left of the game server's group ignores the stop signal (a shell's background jobs ignore \
         SIGINT), sending SIGTERM to it: see AGONES_SHIM_STOP_SIGNAL, or start the game with exec",
        "Start the game with `exec`, or in the foreground of its script; or set `AGONES_SHIM_STOP_SIGNAL` to one \
         that it does not ignore.";
    GameStillThere { after: Duration, signal: String, left: String } =>
        Stop, Warn, "game-still-there", [after, signal, left],
        "the game server has not ended: whoever stops this container kills it when the grace period is over (Docker: \
         10 s, Kubernetes: terminationGracePeriodSeconds); if it does not save, see AGONES_SHIM_STOP_SIGNAL and \
         AGONES_SHIM_STOP_HOOK",
        "None while it saves: give it as long as that takes. Else see `left`: one that ignores the signal wants \
         another one in `AGONES_SHIM_STOP_SIGNAL`, or a command in `AGONES_SHIM_STOP_HOOK`. Exit code 137 of the \
         container means that the grace period was over.";
    Killed { after: Duration } =>
        Stop, Warn, "killed", [after],
        "the game server is still there after AGONES_SHIM_STOP_TIMEOUT_SECS, sending SIGKILL",
        "Raise `AGONES_SHIM_STOP_TIMEOUT_SECS`, or set `AGONES_SHIM_STOP_SIGNAL` to the signal on which the game \
         saves and leaves.";
    KilledGivingUp { after: Duration } =>
        Stop, Warn, "killed-giving-up", [after],
        "the game server is still there, sending SIGKILL: this is no stop that somebody asked for, and \
         AGONES_SHIM_STOP_TIMEOUT_SECS sets no time for it",
        "See why the shim gave up, in the lines before. `AGONES_SHIM_STOP_TIMEOUT_SECS` gives the game longer than \
         10 s.";
    ChildNotStarted { error: String } =>
        Game, Error, "game-not-started", [error],
        "the game server could not be started",
        "`error` says which: correct what stands behind `--` (an absolute path, or a name in PATH; the file needs \
         its x bit, its interpreter and libraries), or give the system what it lacks (pipes, threads, \
         pseudo-terminals).";
    ChildEnded { end: ProcessEnd, asked: bool } =>
        Game, if *asked || *end == ProcessEnd::Exited(0) { Info } else { Warn }, "game-ended", [end],
        "the game server has ended",
        "None after a stop. A warning where it ended by itself with another code than 0: its own log says why.";
    EndedBeforeReady { stdin_ends: bool } =>
        Game, Warn, "game-ended-before-ready", [],
        if *stdin_ends {
            "the game server has ended with 0 before it was ready: its stdin has an end here, and many games leave \
             when they read it (AGONES_SHIM_STOP_LINE, set to the game's own stop command, keeps it open; so do \
             docker run -i and stdin: true)"
        } else {
            "the game server has ended with 0 before it was ready: its own log says why, or its arguments made it do \
             something else than serve"
        },
        "Hold its stdin open: `AGONES_SHIM_STOP_LINE` with the game's stop command, `docker run -i`, or `stdin: \
         true` of the container. Else see the game's own log, and its arguments.";
    EndedAtOnce =>
        Game, Warn, "game-ended-at-once", [],
        "the game server has ended with 0 within seconds of its start: its stdin has an end here, and many games \
         leave when they read it (AGONES_SHIM_STOP_LINE, set to the game's own stop command, keeps it open; so do \
         docker run -i and stdin: true)",
        "Hold its stdin open: `AGONES_SHIM_STOP_LINE` with the game's stop command, `docker run -i`, or `stdin: \
         true` of the container. Else see the game's own log, and its arguments.";
    StoppedByKeyboard =>
        Stop, Info, "stopped-by-keyboard", [],
        "Ctrl-C went to the game itself, as on any terminal, and it has ended of it: no hook, line or signal of a \
         stop was used; to see the stop that a Pod's end brings, send SIGTERM to agones-shim from another terminal",
        "None. `kill` with the shim's process number, or `docker stop`, goes through the steps of a stop.";
    StartedWithoutAddress { waited: Duration } =>
        Game, Warn, "no-address", [waited],
        "the GameServer's address is not known within AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS: starting the game \
         without the AGONES_GAMESERVER_ variables",
        "Raise `AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS`, or unset `AGONES_SHIM_WAIT_FOR_SDK` where there is no Agones.";
    ArgumentsNotFilled { names: String } =>
        Game, Warn, "arguments-not-filled", [names],
        "a $(AGONES_GAMESERVER_...) in the game's arguments is not known and stays as it is",
        "Name, address, port, and `PORT_` with the name of a port in `spec.ports`, in capitals, are known with an \
         SDK server; a literal `$(` is written `$$(`.";
    ThreadDied { thread: &'static str, message: String } =>
        Insight, Error, "thread-died", [thread, panic = message],
        "BUG: a thread of agones-shim has died, leaving with exit code 70; please report this line",
        "A bug in agones-shim: please report the line.";
    StatusServed { addr: String } =>
        Insight, Info, "status-open", [addr],
        "the status endpoint is open";
    StatusNotServed { addr: String, error: String } =>
        Insight, Error, "status-not-open", [addr, error],
        "the status endpoint cannot be opened, trying again every second: change AGONES_SHIM_STATUS_ADDR or whatever \
         has its port",
        "Change `AGONES_SHIM_STATUS_ADDR`: containers of one Pod share their ports, and Agones has 8080, 9357 and \
         9358.";
    StatusFailed { message: String } =>
        Insight, Error, "status-failed", [panic = message],
        "BUG: the status endpoint has failed and begins anew; please report this line",
        "A bug in agones-shim: please report the line. The life cycle is not affected.";
    NotifyUnusable { error: String } =>
        Insight, Warn, "notify-unusable", [error],
        "NOTIFY_SOCKET cannot be used: systemd is told nothing",
        "Run it with `Type=notify` under systemd, or unset `NOTIFY_SOCKET`.";
    NotSubreaper { error: String } =>
        Game, Warn, "not-subreaper", [error],
        "this system knows no child subreapers: what the game server leaves behind goes to PID 1",
        "None where PID 1 reaps; else make agones-shim PID 1.";
    WatchdogTooShort { watchdog: Duration, needed: Duration } =>
        Insight, Warn, "watchdog-too-short", [watchdog, above = needed],
        "systemd's watchdog may end agones-shim before it can tell that the game server is gone: raise WatchdogSec=",
        "Raise `WatchdogSec=` above what `above` says.";
}
