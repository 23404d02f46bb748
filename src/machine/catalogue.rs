//! Every message that the log can hold, with what to do about it: docs/messages.md and `agones-shim explain` are made
//! from this.
//!
//! Levels, texts and fields come from the rows that are logged, ids from `message_id`; only the remedies are written here,
//! and the compiler asks for one for each.

use std::fmt::Write;
use std::time::Duration;

use log::Level;

use super::message_id::Stage;
use super::{Notice, ProcessEnd, StopReason};

/// A message and its paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name: `id` in JSON.
    pub id: &'static str,
    /// Where it is documented.
    pub stage: Stage,
    /// Info, warn, error; debug is not documented.
    pub level: Level,
    /// As it is logged.
    pub text: &'static str,
    /// The keys of its fields.
    pub fields: Vec<&'static str>,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: &'static str,
}

/// The id of a warning about a setting.
pub const SETTING_WARNING: &str = "setting-warning";
/// The id of the error where an image's entrypoint was given a command of the shim.
pub const COMMAND_AS_PROGRAM: &str = "command-as-program";
/// The id of the warning about output that nobody reads.
pub const OUTPUT_LOST: &str = "output-lost";
/// The id of the warning about log lines that nobody reads.
pub const LINES_DROPPED: &str = "lines-dropped";
/// The id of a panic.
pub const PANIC: &str = "panic";

/// Lines that do not come from the machine.
const OTHERS: [(&str, Stage, Level, &str, &str); 5] = [
    (
        SETTING_WARNING,
        Stage::Start,
        Level::Warn,
        "VARIABLE: VALUE ...",
        "The line says what the value leads to and what to write instead. `agones-shim check` shows the same before the start.",
    ),
    (
        COMMAND_AS_PROGRAM,
        Stage::Start,
        Level::Error,
        "NAME is a command of agones-shim: write agones-shim NAME, without -- (docker run --entrypoint)",
        "The image's entrypoint ends in `--`, so the words after the image are the game's. Run a command of the shim with \
         `docker run --entrypoint /agones-shim IMAGE NAME`.",
    ),
    (
        OUTPUT_LOST,
        Stage::Game,
        Level::Warn,
        "the game's last output is lost: whatever reads it has stopped reading",
        "See what reads the container's stdout and stderr: it has read nothing for 3 s after the game's end.",
    ),
    (
        LINES_DROPPED,
        Stage::Insight,
        Level::Warn,
        "stderr was full: N log lines were dropped",
        "Whatever reads the log is too slow or has stopped. The shim itself was not held up.",
    ),
    (
        PANIC,
        Stage::Insight,
        Level::Error,
        "panic: ...",
        "A bug in agones-shim: please report the line. It is followed by `thread-died` or `status-failed`, which say what \
         comes of it.",
    ),
];

/// Every message of level info and above, in the order of a life.
#[must_use]
pub fn catalogue() -> Vec<Message> {
    let own = samples().into_iter().map(|notice| {
        let (level, text, fields) = notice.render();
        let (stage, id) = notice.place();
        let fields = fields.into_iter().map(|(key, _)| key).collect();
        Message { id, stage, level, text, fields, remedy: notice.remedy() }
    });
    let others = OTHERS.map(|(id, stage, level, text, remedy)| {
        let fields = Vec::new();
        Message { id, stage, level, text, fields, remedy }
    });
    own.chain(others).filter(|message| message.level <= Level::Info).collect()
}

/// The level as JSON lines have it.
#[must_use]
pub const fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warn => "warning",
        Level::Info => "info",
        Level::Debug | Level::Trace => "debug",
    }
}

/// docs/messages.md, from its first heading of a stage on.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::new();
    let all = catalogue();
    for stage in Stage::ALL {
        let _ = write!(out, "\n## {}\n", stage.heading());
        for message in all.iter().filter(|message| message.stage == stage) {
            let Message { id, level, text, fields, remedy, .. } = message;
            let _ = write!(out, "\n### {id}\n\n{}: `{text}`\n", severity(*level));
            if !fields.is_empty() {
                let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
                let _ = write!(out, "\nFields: {}\n", fields.join(", "));
            }
            if !remedy.is_empty() {
                let _ = write!(out, "\n{remedy}\n");
            }
        }
    }
    out
}

impl Notice {
    /// What to do about it; empty where there is nothing to do.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one table, one arm a message")]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Started { .. }
            | Self::Served { .. }
            | Self::SdkConnected { .. }
            | Self::SdkAttemptFailed { .. }
            | Self::SdkBack { .. }
            | Self::SdkAnswers { .. }
            | Self::ReadyCalled { .. }
            | Self::Ready { .. }
            | Self::LivenessRecovered { .. }
            | Self::BeatsResumed
            | Self::CounterSet { .. }
            | Self::CounterWorks { .. }
            | Self::ScrapeWorks { .. }
            | Self::ListWorks { .. }
            | Self::NamesBack { .. }
            | Self::MetadataSet { .. }
            | Self::MetadataWorks { .. }
            | Self::Allocated { .. }
            | Self::AllocatedHookEnded
            | Self::Occupied
            | Self::SelfAllocated { .. }
            | Self::GivenBack { .. }
            | Self::Stopping { .. }
            | Self::ShutdownAcknowledged { .. }
            | Self::ShutdownAgain { .. }
            | Self::ShutdownConfirmed { .. }
            | Self::HookEnded
            | Self::StopLineWritten
            | Self::StopSignalSent { .. }
            | Self::RestOfGroup { .. }
            | Self::StatusServed { .. } => "",
            Self::Waiting { .. } => {
                "Normal while the game loads. If it lasts: compare the probe in `reason` with what the game listens on."
            }
            Self::WaitingReason { .. } => "`reason` is the new failure.",
            Self::LineIsPlain { .. } => {
                "Set `AGONES_SHIM_READY_TEXT` to the text in place of `AGONES_SHIM_READY_LOG`, or that to what `write` says."
            }
            Self::SecondShim { .. } => {
                "Take one of the two out of the Pod: the sidecar, where the game starts through the wrapper."
            }
            Self::StillWaiting { .. } => {
                "See `for` and `last_failure`. A probe: is it the right port or URL, and did the game start? The SDK \
                 server: is the container there, and is this its port?"
            }
            Self::SdkUnanswered { .. } => {
                "Look at the cluster's API server and at the SDK server's log; a control plane that is upgraded does \
                 this for a minute. The GameServer stays healthy meanwhile, and what is published comes late."
            }
            Self::SdkLost { .. } => {
                "None if it comes back soon: the SDK server was restarted. Else look at the container agones-gameserver-sidecar."
            }
            Self::ProbeOnly { .. } => {
                "Outside a cluster: set `AGONES_SHIM_SDK=off`. Inside: the Pod has no SDK server, or it is on another \
                 port than `AGONES_SDK_GRPC_PORT` says."
            }
            Self::SdkRequired { .. } => {
                "Start the SDK server first, raise `AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS`, or set `AGONES_SHIM_SDK=auto`."
            }
            Self::SdkOffInKubernetes => {
                "Unset `AGONES_SHIM_SDK` if this is a GameServer's Pod and nothing else speaks to Agones for it."
            }
            Self::NoBeats { .. } => {
                "Is the container agones-gameserver-sidecar there and running, and is this its port? A slow start of it is \
                 harmless if `spec.health.initialDelaySeconds` allows for it."
            }
            Self::SdkOff => "As configured. Unset `AGONES_SHIM_SDK` to use Agones.",
            Self::ForeignGameServer { .. } => {
                "Give each Pod with hostNetwork a port of its own for the SDK server (`spec.sdkServer.grpcPort` of the \
                 GameServer) and its name as `POD_NAME` (downward API, `metadata.name`), or drop hostNetwork. Until then \
                 the wrong GameServer may be set Ready or shut down."
            }
            Self::IntervalNotBelowPeriod { .. } => {
                "Set `AGONES_SHIM_HEALTH_INTERVAL_SECS` to half of `spec.health.periodSeconds`, or unset it."
            }
            Self::Adopted { .. } => {
                "None: the shim was restarted beside a running game and does not call Ready() again."
            }
            Self::ReadyFailed { .. } => {
                "None at first: it is tried again. If it lasts, `error` is what the SDK server says."
            }
            Self::ReadyUnanswered { .. } => {
                "None if Ready shows soon. Else look at the SDK server: it stands still, for lack of CPU or of an API server."
            }
            Self::ReadyOverdue { .. } => {
                "Look at the log of agones-gameserver-sidecar: it cannot write the GameServer, for lack of rights or of an API \
                 server. Where it hangs, restart that container: Ready() is called again then."
            }
            Self::AllocationAtRisk { .. } => "None: a Ready() of a shim that was restarted had been late.",
            Self::AllocateFailed { .. } => {
                "Look at the GameServer's state: if it is Ready while a match runs, delete it when the match is over."
            }
            Self::ReadyAgain { .. } => {
                "Find out why the SDK server was restarted: the log of agones-gameserver-sidecar's last run."
            }
            Self::ReadyProbeOnly { .. } => "None if that is meant; else see \"NO AGONES SDK SERVER\".",
            Self::ReadyImpossible { .. } => {
                "Find out why it got there: `kubectl describe gameserver`. Agones replaces it."
            }
            Self::StateUnknown { .. } => {
                "This version of Agones has a state that agones-shim does not know: please report it."
            }
            Self::ReadyTimedOut { .. } => {
                "Raise `AGONES_SHIM_READY_TIMEOUT_SECS` if the game needs longer; else see `reason`."
            }
            Self::LivenessFailed { .. } => {
                "See `reason`. A game that only stalls for a while (saving, loading a map) wants a longer \
                 `AGONES_SHIM_PROBE_TIMEOUT_SECS` or a higher `AGONES_SHIM_LIVE_FAILURE_THRESHOLD`."
            }
            Self::LivenessLost { .. } => {
                "The game died or hangs: its own log says why. Agones replaces the GameServer."
            }
            Self::HealthDisabled => "Remove `spec.health.disabled`, or delete the GameServer yourself.",
            Self::BeatRejected { .. } => "See `error`. An SDK server that rejects Health is usually about to stop.",
            Self::CounterClamped { .. } => {
                "Raise `spec.counters.NAME.capacity` (or, with `AGONES_SHIM_COUNTER_CAPACITY=1`, the game's own maximum), \
                 or see whether the metric counts something else."
            }
            Self::CounterRejected { .. } => {
                "Declare the Counter in `spec.counters` under exactly this name; Agones before 1.43 needs the feature gate \
                 CountsAndLists."
            }
            Self::ScrapeFailed { .. } => {
                "See `reason`, and ask the source by hand: `curl` the URL of `AGONES_SHIM_COUNTER_METRICS_URL` or \
                 `AGONES_SHIM_COUNTER_JSON_URL` and look for the metric or the pointer; run the program of \
                 `AGONES_SHIM_COUNTER_EXEC`; check that the game answers queries on the port of `AGONES_SHIM_COUNTER_QUERY`; compare \
                 `AGONES_SHIM_COUNTER_LOG` with the lines that the game writes."
            }
            Self::MetricMissing { .. } => {
                "None while nobody plays. Else compare `AGONES_SHIM_COUNTER_METRIC` with the page, labels included."
            }
            Self::ListFull { .. } => {
                "Raise `spec.lists.NAME.capacity` to what the game takes. Who is on the List stays on it while they play."
            }
            Self::ListRejected { .. } => {
                "Declare the List in `spec.lists` under exactly this name; Agones before 1.43 needs the feature gate \
                 CountsAndLists."
            }
            Self::NamesMissing { .. } => {
                "Some games hide their players unless told otherwise: look for a setting of the game's own."
            }
            Self::MetadataRejected { .. } => {
                "See `error`: correct the key or the value, or update an Agones that does not know the call."
            }
            Self::AllocatedHookFailed { .. } => {
                "See `reason`: run the hook by hand; raise `AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS` if it needs longer."
            }
            Self::SelfAllocateFailed { .. } => "See `error`: the SDK server refuses the call; its own log says why.",
            Self::AllocateOverdue { .. } => {
                "See the SDK server's log: it cannot write, most likely because its API server is slow or refuses it."
            }
            Self::KeptForOthers { .. } => {
                "None: whoever allocated it ends it. If nobody does, call Shutdown() on it, and a Fleet replaces it."
            }
            Self::Idle { .. } => "As configured. If there were players: does the Counter's source count them?",
            Self::TooOld { .. } => "As configured: a Fleet replaces it if it is needed.",
            Self::StopRepeated => "None: a second signal asked for it. Agones may call the GameServer Unhealthy.",
            Self::ShutdownFailed { .. } => {
                "None at first: it is tried again until `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`."
            }
            Self::ShutdownPointless { .. } => "None: Agones replaces such a GameServer anyway.",
            Self::ShutdownSdkLeft { .. } => {
                "If the GameServer ends Unhealthy: the SDK server's container must outlive this one (Agones 1.56 and later \
                 see to that)."
            }
            Self::ShutdownUndelivered { .. } => {
                "Raise `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`, and the Pod's grace period with it; `last` is what came last."
            }
            Self::ShutdownNoSdk { .. } => "None outside a cluster. Inside: see \"NO AGONES SDK SERVER\".",
            Self::HookFailed { .. } => {
                "See `reason`: run the hook by hand; raise `AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS` if it needs longer."
            }
            Self::StopLineFailed { .. } => "See `reason`: does the game read its stdin?",
            Self::DiedOfStopSignal { .. } => {
                "None if it has nothing to save. Else set `AGONES_SHIM_STOP_SIGNAL` to the signal on which it saves (often \
                 `INT`), or save in `AGONES_SHIM_STOP_HOOK`."
            }
            Self::RestTerminated { .. } => {
                "Start the game with `exec`, or in the foreground of its script; or set `AGONES_SHIM_STOP_SIGNAL` to one that \
                 it does not ignore."
            }
            Self::SignalRefused { .. } => {
                "Start both as one user: `runAsUser` in place of `gosu` or `su-exec`, or that in front of the shim. Or add the \
                 capability KILL to the container."
            }
            Self::GameStillThere { .. } => {
                "None while it saves: give it as long as that takes. Else see `left`: one that ignores the signal wants \
                 another one in `AGONES_SHIM_STOP_SIGNAL`, or a command in `AGONES_SHIM_STOP_HOOK`. Exit code 137 of the \
                 container means that the grace period was over."
            }
            Self::KilledGivingUp { .. } => {
                "See why the shim gave up, in the lines before. `AGONES_SHIM_STOP_TIMEOUT_SECS` gives the game longer than 10 s."
            }
            Self::Killed { .. } => {
                "Raise `AGONES_SHIM_STOP_TIMEOUT_SECS`, or set `AGONES_SHIM_STOP_SIGNAL` to the signal on which the game saves \
                 and leaves."
            }
            Self::ChildNotStarted { .. } => {
                "`error` says which: correct what stands behind `--` (an absolute path, or a name in PATH; the file needs its x bit, \
                 its interpreter and libraries), or give the system what it lacks (pipes, threads, pseudo-terminals)."
            }
            Self::ChildEnded { .. } => "None after a stop; else the game's own log says why.",
            Self::EndedBeforeReady { .. } => {
                "Hold its stdin open: `AGONES_SHIM_STOP_LINE` with the game's stop command, `docker run -i`, or `stdin: true` \
                 of the container. Else see the game's own log, and its arguments."
            }
            Self::StartedWithoutAddress { .. } => {
                "Raise `AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS`, or unset `AGONES_SHIM_WAIT_FOR_SDK` where there is no Agones."
            }
            Self::ArgumentsNotFilled { .. } => {
                "Name, address, port, and `PORT_` with the name of a port in `spec.ports`, in capitals, are known with an SDK \
                 server; a literal `$(` is written `$$(`."
            }
            Self::ThreadDied { .. } => "A bug in agones-shim: please report the line.",
            Self::StatusNotServed { .. } => {
                "Change `AGONES_SHIM_STATUS_ADDR`: containers of one Pod share their ports, and Agones has 8080, 9357 and 9358."
            }
            Self::StatusFailed { .. } => {
                "A bug in agones-shim: please report the line. The life cycle is not affected."
            }
            Self::NotifyUnusable { .. } => "Run it with `Type=notify` under systemd, or unset `NOTIFY_SOCKET`.",
            Self::NotSubreaper { .. } => "None where PID 1 reaps; else make agones-shim PID 1.",
            Self::WatchdogTooShort { .. } => "Raise `WatchdogSec=` above what `above` says.",
        }
    }
}

/// One of each.
#[allow(clippy::too_many_lines, reason = "one of each")]
fn samples() -> Vec<Notice> {
    use Notice as N;
    let text = String::new;
    let time = Duration::ZERO;
    vec![
        N::Started { version: "", mode: "", sdk: text(), readiness: text() },
        N::Waiting { reason: text() },
        N::LineIsPlain { line: text(), write: text() },
        N::SecondShim { sdk: text(), pid: None },
        N::WaitingReason { reason: text() },
        N::StillWaiting { waiting_for: text(), waited: time, last_failure: text() },
        N::Served { after: time, sdk: text() },
        N::SdkConnected { name: text(), state: text(), attempts: 0 },
        N::SdkAttemptFailed { error: text() },
        N::SdkLost { error: text() },
        N::SdkBack { restarted: true, away: time },
        N::SdkUnanswered { call: "", error: text() },
        N::SdkAnswers { call: "" },
        N::ProbeOnly { waited: time, error: text() },
        N::SdkRequired { waited: time, error: text() },
        N::SdkOff,
        N::SdkOffInKubernetes,
        N::NoBeats { waited: time, error: text() },
        N::ForeignGameServer { name: text(), hostname: text() },
        N::IntervalNotBelowPeriod { interval: time, period: time },
        N::Adopted { state: text() },
        N::ReadyCalled { state: text() },
        N::ReadyFailed { error: text() },
        N::ReadyUnanswered { error: text() },
        N::ReadyOverdue { state: text(), after: time },
        N::ReadyAgain { state: text(), after: time },
        N::AllocationAtRisk { after: time },
        N::AllocateFailed { error: text() },
        N::Ready { state: text(), after: time },
        N::ReadyProbeOnly { after: time },
        N::ReadyImpossible { state: text() },
        N::StateUnknown { state: text() },
        N::ReadyTimedOut { timeout: time, reason: text() },
        N::LivenessFailed { reason: text(), round: 0, threshold: 0 },
        N::LivenessRecovered { rounds: 0 },
        N::LivenessLost { rounds: 0, reason: text() },
        N::HealthDisabled,
        N::BeatRejected { error: text() },
        N::BeatsResumed,
        N::CounterSet { name: text(), count: 0 },
        N::CounterClamped { name: text(), reading: 0, capacity: 0 },
        N::CounterRejected { name: text(), error: text() },
        N::CounterWorks { name: text(), count: 0 },
        N::ScrapeFailed { name: text(), reason: text() },
        N::ScrapeWorks { name: text(), reading: 0 },
        N::MetricMissing { name: text() },
        N::ListFull { name: text(), names: 0, capacity: 0 },
        N::ListRejected { name: text(), error: text() },
        N::ListWorks { name: text() },
        N::NamesMissing { name: text() },
        N::NamesBack { name: text() },
        N::MetadataSet { kind: "", key: text() },
        N::MetadataRejected { kind: "", key: text(), error: text() },
        N::MetadataWorks { kind: "", key: text() },
        N::Allocated { name: text() },
        N::AllocatedHookEnded,
        N::AllocatedHookFailed { reason: text() },
        N::Occupied,
        N::SelfAllocated { after: time },
        N::SelfAllocateFailed { error: text() },
        N::AllocateOverdue { state: text(), after: time },
        N::KeptForOthers { reason: text() },
        N::GivenBack { empty_for: time },
        N::Idle { empty_for: time },
        N::TooOld { ready_for: time },
        N::Stopping { reason: StopReason::Signal },
        N::StopRepeated,
        N::ShutdownAcknowledged { after: time },
        N::ShutdownFailed { error: text() },
        N::ShutdownAgain { state: text() },
        N::ShutdownConfirmed { state: text(), after: time },
        N::ShutdownPointless { state: text() },
        N::ShutdownSdkLeft { refused_for: time },
        N::ShutdownUndelivered { timeout: time, acknowledged: false, last: text() },
        N::ShutdownNoSdk { error: text() },
        N::HookEnded,
        N::HookFailed { reason: text() },
        N::StopLineWritten,
        N::StopLineFailed { reason: text() },
        N::StopSignalSent { signal: text() },
        N::SignalRefused { signal: text() },
        N::DiedOfStopSignal { signal: text() },
        N::RestOfGroup { left: text() },
        N::RestTerminated { left: text() },
        N::GameStillThere { after: time, signal: text(), left: text() },
        N::Killed { after: time },
        N::KilledGivingUp { after: time },
        N::ChildNotStarted { error: text() },
        N::ChildEnded { end: ProcessEnd::Exited(0) },
        N::EndedBeforeReady { stdin_ends: true },
        N::StartedWithoutAddress { waited: time },
        N::ArgumentsNotFilled { names: text() },
        N::ThreadDied { thread: "", message: text() },
        N::StatusServed { addr: text() },
        N::StatusNotServed { addr: text(), error: text() },
        N::StatusFailed { message: text() },
        N::NotifyUnusable { error: text() },
        N::NotSubreaper { error: text() },
        N::WatchdogTooShort { watchdog: time, needed: time },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_is_missing() {
        let source = include_str!("notice.rs");
        let (_, body) = source.split_once("pub enum Notice {\n").expect("the enum");
        let (body, _) = body.split_once("\n}").expect("its end");
        let is_variant = |line: &&str| line.starts_with("    ") && line.as_bytes()[4].is_ascii_uppercase();
        let name = |line: &str| line.trim().split([' ', ',']).next().unwrap_or_default().to_owned();
        let declared: Vec<String> = body.lines().filter(is_variant).map(name).collect();
        let sampled: Vec<String> = samples().iter().map(|notice| name(&format!("{notice:?}"))).collect();
        assert_eq!(sampled, declared);
    }

    #[test]
    fn ids_are_words_that_name_one_message_each() {
        let mut ids: Vec<&str> = samples().iter().map(Notice::id).chain(OTHERS.map(|other| other.0)).collect();
        let all = ids.len();
        for id in &ids {
            let is_plain = id.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(is_plain, "{id}");
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn every_warning_and_error_says_what_to_do() {
        for message in catalogue() {
            assert!(message.level == Level::Info || !message.remedy.is_empty(), "{message:?}");
        }
    }

    #[test]
    fn messages_can_be_told_apart() {
        let mut texts: Vec<&str> = catalogue().into_iter().map(|message| message.text).collect();
        let all = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), all);
    }
}
