//! What the shim was told, after every variable has been read and understood.
//!
//! One file a subject: its rows (variable, default, help, how the value is read), the typed section that comes out, what
//! cannot be meant together, and what `check` says of it. **A new setting** is a `static` and its place in `rows` there,
//! a field of the section, and a test; help, README, `check` and suggestions follow from the row.
//!
//! `engine/` reads rows, whichever they are; `text/` are the forms of values. Nothing here reads the process's own
//! environment: it is passed in.

mod allocation;
pub(crate) mod counter;
pub(crate) mod engine;
pub(crate) mod fuzz;
mod game_log;
pub(crate) mod insight;
pub(crate) mod liveness;
pub(crate) mod metadata;
pub(crate) mod rcon;
mod readiness;
pub(crate) mod sdk;
mod stop;
pub(crate) mod text;

#[cfg(test)]
mod tests;

pub(crate) use allocation::AllocationSettings;
pub(crate) use counter::{CounterSettings, JsonSource, LineSource, Source};
pub(crate) use engine::read::{Findings, Parsed, Rejected, Unknown, Variable, Warning};
pub(crate) use engine::suggest::nearest;
pub(crate) use engine::unknown::is_ours;
pub(crate) use game_log::GameLogSettings;
pub(crate) use insight::{LogFormat, LogSettings};
pub(crate) use liveness::LivenessSettings;
pub(crate) use metadata::{KeyValue, MetadataSettings};
pub(crate) use readiness::ReadinessSettings;
pub(crate) use sdk::{Endpoint, SdkMode, SdkSettings};
pub(crate) use stop::{Hook, Hup, StopScope, StopSettings, StopSignal};
pub(crate) use text::address::{status_addr, tcp};
pub(crate) use text::pattern;
pub(crate) use text::pattern::Pattern;
pub(crate) use text::plain::{one_of, quote, seconds};
pub(crate) use text::target::Secret;
pub(crate) use text::target::{Host, HttpTarget, LogTarget, Probe, QueryTarget, StatusAddr};

use engine::read::{self, Mode, Values};
use engine::row::Subject;

/// In the order of help and README.
const SUBJECTS: [&Subject; 10] = [
    &readiness::SUBJECT,
    &liveness::SUBJECT,
    &game_log::SUBJECT,
    &counter::SUBJECT,
    &sdk::SUBJECT,
    &metadata::SUBJECT,
    &allocation::SUBJECT,
    &stop::SUBJECT,
    &rcon::SUBJECT,
    &insight::SUBJECT,
];

/// Behind a URL that came with a user and a password.
const LOGIN: &str = " (user and password ***)";

/// Everything that the sidecar and the wrapper can be told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub readiness: ReadinessSettings,
    pub game_log: GameLogSettings,
    pub liveness: LivenessSettings,
    /// What is read at an interval and published.
    pub counters: Vec<CounterSettings>,
    pub sdk: SdkSettings,
    pub metadata: MetadataSettings,
    pub allocation: AllocationSettings,
    pub stop: StopSettings,
    /// Status endpoint; `None` is off.
    pub status_addr: Option<StatusAddr>,
    pub log: LogSettings,
}

impl Settings {
    fn new(values: &Values) -> Self {
        Self {
            readiness: ReadinessSettings::new(values),
            game_log: GameLogSettings::new(values),
            liveness: LivenessSettings::new(values),
            counters: CounterSettings::all(values),
            sdk: SdkSettings::new(values),
            metadata: MetadataSettings::new(values),
            allocation: AllocationSettings::new(values),
            stop: StopSettings::new(values),
            status_addr: insight::status_endpoint(values),
            log: LogSettings::new(values),
        }
    }

    /// For the sidecar, or for the wrapper.
    ///
    /// # Errors
    ///
    /// Every wrong variable that it reads, and a missing readiness probe.
    pub(crate) fn read(is_wrapper: bool, environment: impl IntoIterator<Item = Variable>) -> Parsed<Self> {
        let mode = if is_wrapper { Mode::Wrapper } else { Mode::Sidecar };
        read::whole(mode, environment).map(|(values, warnings)| (Self::new(&values), warnings))
    }

    /// What a manifest declares, with everything that is wrong in it; what is wrong or unknown counts as unset.
    pub(crate) fn declared(
        is_wrapper: bool,
        environment: impl IntoIterator<Item = Variable>,
        unknown: &Unknown,
    ) -> (Self, Findings) {
        let mode = if is_wrapper { Mode::Wrapper } else { Mode::Sidecar };
        let (values, findings) = read::found(mode, environment, unknown);
        (Self::new(&values), findings)
    }

    /// What the log probe waits for, if there is one.
    pub(crate) fn log_probe(&self) -> Option<&LogTarget> {
        self.readiness.log_probe()
    }
}

/// The targets of one variable as probes.
fn probes<T>(targets: Option<Vec<T>>, probe: fn(T) -> Probe) -> impl Iterator<Item = Probe> {
    targets.into_iter().flatten().map(probe)
}
