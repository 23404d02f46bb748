//! The name of each log line, and the part of a server's life that it belongs to.
//!
//! The name is the line's `id` in JSON, its anchor in docs/messages.md, and what `agones-shim explain` takes. Alerts match
//! on it: an id is never changed, whatever happens to the message or to the variant.

use super::Notice;

/// A part of a server's life; messages are documented by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Settings.
    Start,
    /// From the first probe to Ready.
    Readiness,
    /// The link to it.
    Sdk,
    /// Beats and liveness.
    Health,
    /// Counters and the List.
    Counters,
    /// Labels, allocations, idle and old servers.
    Metadata,
    /// The way out.
    Stop,
    /// The child of the wrapper.
    Game,
    /// Status endpoint, systemd, logging, bugs.
    Insight,
}

impl Stage {
    /// In the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Readiness,
        Self::Sdk,
        Self::Health,
        Self::Counters,
        Self::Metadata,
        Self::Stop,
        Self::Game,
        Self::Insight,
    ];

    /// Its heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Readiness => "Until Ready",
            Self::Sdk => "SDK server",
            Self::Health => "Liveness and beats",
            Self::Counters => "Counters and List",
            Self::Metadata => "Labels, allocation, idle and old servers",
            Self::Stop => "Stop",
            Self::Game => "The game's process",
            Self::Insight => "Status endpoint, systemd, logging, bugs",
        }
    }
}

impl Notice {
    /// The name of the line.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.place().1
    }

    /// Stage and name.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one table, one line a message")]
    pub fn place(&self) -> (Stage, &'static str) {
        use Stage::{Counters, Game, Health, Insight, Metadata, Readiness, Sdk, Start, Stop};
        match self {
            Self::Started { .. } => (Start, "started"),
            Self::SdkOff => (Start, "sdk-off"),
            Self::SdkOffInKubernetes => (Start, "sdk-off-in-kubernetes"),
            Self::Waiting { .. } => (Readiness, "waiting"),
            Self::WaitingReason { .. } => (Readiness, "waiting-reason"),
            Self::LineIsPlain { .. } => (Readiness, "line-is-plain"),
            Self::SecondShim { .. } => (Sdk, "second-shim"),
            Self::StillWaiting { .. } => (Readiness, "still-waiting"),
            Self::Served { .. } => (Readiness, "game-up"),
            Self::Adopted { .. } => (Readiness, "adopted"),
            Self::ReadyCalled { .. } => (Readiness, "ready-called"),
            Self::ReadyFailed { .. } => (Readiness, "ready-failed"),
            Self::ReadyUnanswered { .. } => (Readiness, "ready-unanswered"),
            Self::ReadyOverdue { .. } => (Readiness, "ready-overdue"),
            Self::ReadyAgain { .. } => (Readiness, "ready-again"),
            Self::AllocationAtRisk { .. } => (Readiness, "allocation-at-risk"),
            Self::AllocateFailed { .. } => (Readiness, "allocate-failed"),
            Self::Ready { .. } => (Readiness, "ready"),
            Self::ReadyProbeOnly { .. } => (Readiness, "ready-probe-only"),
            Self::ReadyImpossible { .. } => (Readiness, "ready-impossible"),
            Self::StateUnknown { .. } => (Readiness, "state-unknown"),
            Self::ReadyTimedOut { .. } => (Readiness, "ready-timeout"),
            Self::SdkConnected { .. } => (Sdk, "sdk-connected"),
            Self::SdkAttemptFailed { .. } => (Sdk, "sdk-attempt-failed"),
            Self::SdkLost { .. } => (Sdk, "sdk-lost"),
            Self::SdkBack { .. } => (Sdk, "sdk-back"),
            Self::SdkUnanswered { .. } => (Sdk, "sdk-unanswered"),
            Self::SdkAnswers { .. } => (Sdk, "sdk-answers"),
            Self::ProbeOnly { .. } => (Sdk, "no-sdk"),
            Self::SdkRequired { .. } => (Sdk, "sdk-required"),
            Self::NoBeats { .. } => (Sdk, "no-beats"),
            Self::ForeignGameServer { .. } => (Sdk, "foreign-gameserver"),
            Self::IntervalNotBelowPeriod { .. } => (Health, "interval-too-long"),
            Self::LivenessFailed { .. } => (Health, "liveness-failed"),
            Self::LivenessRecovered { .. } => (Health, "liveness-back"),
            Self::LivenessLost { .. } => (Health, "liveness-lost"),
            Self::HealthDisabled => (Health, "health-disabled"),
            Self::BeatRejected { .. } => (Health, "beats-rejected"),
            Self::BeatsResumed => (Health, "beats-accepted"),
            Self::CounterSet { .. } => (Counters, "counter-set"),
            Self::CounterClamped { .. } => (Counters, "counter-clamped"),
            Self::CounterRejected { .. } => (Counters, "counter-rejected"),
            Self::CounterWorks { .. } => (Counters, "counter-accepted"),
            Self::ScrapeFailed { .. } => (Counters, "counter-unread"),
            Self::ScrapeWorks { .. } => (Counters, "counter-read"),
            Self::MetricMissing { .. } => (Counters, "metric-missing"),
            Self::ListFull { .. } => (Counters, "list-full"),
            Self::ListRejected { .. } => (Counters, "list-rejected"),
            Self::ListWorks { .. } => (Counters, "list-accepted"),
            Self::NamesMissing { .. } => (Counters, "names-missing"),
            Self::NamesBack { .. } => (Counters, "names-back"),
            Self::MetadataSet { .. } => (Metadata, "metadata-set"),
            Self::MetadataRejected { .. } => (Metadata, "metadata-rejected"),
            Self::MetadataWorks { .. } => (Metadata, "metadata-accepted"),
            Self::Allocated { .. } => (Metadata, "allocated"),
            Self::AllocatedHookEnded => (Metadata, "allocated-hook-ended"),
            Self::AllocatedHookFailed { .. } => (Metadata, "allocated-hook-failed"),
            Self::ArgumentsNotFilled { .. } => (Game, "arguments-not-filled"),
            Self::Occupied => (Metadata, "occupied"),
            Self::SelfAllocated { .. } => (Metadata, "self-allocated"),
            Self::SelfAllocateFailed { .. } => (Metadata, "self-allocate-failed"),
            Self::AllocateOverdue { .. } => (Metadata, "allocate-overdue"),
            Self::KeptForOthers { .. } => (Metadata, "kept-for-others"),
            Self::GivenBack { .. } => (Metadata, "given-back"),
            Self::Idle { .. } => (Metadata, "idle"),
            Self::TooOld { .. } => (Metadata, "too-old"),
            Self::Stopping { .. } => (Stop, "stopping"),
            Self::StopRepeated => (Stop, "stop-repeated"),
            Self::ShutdownAcknowledged { .. } => (Stop, "shutdown-acknowledged"),
            Self::ShutdownFailed { .. } => (Stop, "shutdown-failed"),
            Self::ShutdownAgain { .. } => (Stop, "shutdown-again"),
            Self::ShutdownConfirmed { .. } => (Stop, "shutdown-landed"),
            Self::ShutdownPointless { .. } => (Stop, "shutdown-ignored"),
            Self::ShutdownSdkLeft { .. } => (Stop, "shutdown-sdk-left"),
            Self::ShutdownUndelivered { .. } => (Stop, "shutdown-unconfirmed"),
            Self::ShutdownNoSdk { .. } => (Stop, "shutdown-no-sdk"),
            Self::HookEnded => (Stop, "stop-hook-ended"),
            Self::HookFailed { .. } => (Stop, "stop-hook-failed"),
            Self::StopLineWritten => (Stop, "stop-line-written"),
            Self::StopLineFailed { .. } => (Stop, "stop-line-failed"),
            Self::StopSignalSent { .. } => (Stop, "stop-signal-sent"),
            Self::SignalRefused { .. } => (Stop, "signal-refused"),
            Self::DiedOfStopSignal { .. } => (Stop, "died-of-stop-signal"),
            Self::RestOfGroup { .. } => (Stop, "rest-of-group"),
            Self::RestTerminated { .. } => (Stop, "rest-terminated"),
            Self::GameStillThere { .. } => (Stop, "game-still-there"),
            Self::Killed { .. } => (Stop, "killed"),
            Self::KilledGivingUp { .. } => (Stop, "killed-giving-up"),
            Self::ChildNotStarted { .. } => (Game, "game-not-started"),
            Self::ChildEnded { .. } => (Game, "game-ended"),
            Self::EndedBeforeReady { .. } => (Game, "game-ended-before-ready"),
            Self::StartedWithoutAddress { .. } => (Game, "no-address"),
            Self::NotSubreaper { .. } => (Game, "not-subreaper"),
            Self::ThreadDied { .. } => (Insight, "thread-died"),
            Self::StatusServed { .. } => (Insight, "status-open"),
            Self::StatusNotServed { .. } => (Insight, "status-not-open"),
            Self::StatusFailed { .. } => (Insight, "status-failed"),
            Self::NotifyUnusable { .. } => (Insight, "notify-unusable"),
            Self::WatchdogTooShort { .. } => (Insight, "watchdog-too-short"),
        }
    }
}
