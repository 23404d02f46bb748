//! What the machine has to know of the settings.

use std::time::Duration;

use crate::settings::{CounterSettings, KeyValue, SdkMode, Settings, StopScope, StopSignal};

/// `spec.health.periodSeconds` x `failureThreshold` of a GameServer that says nothing.
pub(super) const DEFAULT_PATIENCE: Duration = Duration::from_secs(15);
/// The health interval while nothing else is known; half of Agones' default period would be less.
pub(super) const DEFAULT_HEALTH_INTERVAL: Duration = Duration::from_secs(5);

/// The machine's view of the settings.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are those of Settings")]
pub struct Config {
    /// The game is the shim's child.
    pub wrapper: bool,
    pub sdk: SdkMode,
    pub sdk_connect_timeout: Duration,
    pub shutdown_timeout: Duration,
    pub ready_timeout: Option<Duration>,
    pub health_interval: Option<Duration>,
    pub live_failure_threshold: Option<u32>,
    /// A readiness round says all that a liveness round would.
    pub liveness_is_readiness: bool,
    /// What the readings of each source are published as.
    pub publishes: Vec<Publishes>,
    /// Lines that the log probe waits for; 0 where there is none.
    pub ready_lines: u32,
    pub stop_timeout: Option<Duration>,
    pub stop_scope: StopScope,
    /// `None` is `AGONES_SHIM_STOP_SIGNAL=none`.
    pub stop_signal: Option<StopSignal>,
    /// The time that the game has to end after the line on its stdin; `None` where there is no line.
    pub stop_line: Option<Duration>,
    /// Wrapper: the game's stdin is the shim's own, which has an end.
    pub stdin_ends: bool,
    pub stop_ok_codes: Vec<u8>,
    pub stop_hook: bool,
    /// Wrapper: hold the child until its address is known.
    pub wait_for_sdk: bool,
    pub labels: Vec<KeyValue>,
    pub annotations: Vec<KeyValue>,
    pub allocated_hook: bool,
    pub allocate_on_players: bool,
    pub empty_ready: Option<Duration>,
    pub idle_shutdown: Option<Duration>,
    /// A tenth more or less than what was set.
    pub max_age: Option<Duration>,
    /// The Pod's hostname, only inside Kubernetes.
    pub pod_name: Option<String>,
}

/// What the readings of one source are published as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publishes {
    /// Name of the Counter that gets the count.
    pub counter: Option<String>,
    /// The Counter's capacity is published too.
    pub capacity: bool,
    /// Name of the List that gets the names.
    pub list: Option<String>,
}

impl Publishes {
    fn new(settings: &CounterSettings) -> Self {
        Self { counter: settings.name.clone(), capacity: settings.publish_capacity, list: settings.list.clone() }
    }
}

impl Config {
    /// Takes what it needs. `pod_name` is `None` outside Kubernetes; `chance` is another number in each process.
    #[must_use]
    pub fn new(settings: &Settings, wrapper: bool, pod_name: Option<String>, chance: u64) -> Self {
        Self {
            wrapper,
            stdin_ends: false,
            sdk: settings.sdk.mode,
            sdk_connect_timeout: settings.sdk.connect_timeout,
            shutdown_timeout: settings.stop.shutdown_timeout,
            ready_timeout: settings.readiness.timeout,
            health_interval: settings.liveness.interval,
            live_failure_threshold: settings.liveness.failure_threshold.map(std::num::NonZeroU32::get),
            publishes: settings.counters.iter().map(Publishes::new).collect(),
            liveness_is_readiness: settings
                .liveness
                .probes
                .iter()
                .all(|probe| settings.readiness.probes.contains(probe)),
            ready_lines: settings.log_probe().map_or(0, |target| target.count.get()),
            stop_timeout: settings.stop.timeout,
            stop_scope: settings.stop.scope,
            stop_signal: settings.stop.signal.clone(),
            stop_line: settings.stop.line.as_ref().map(|line| line.timeout),
            stop_ok_codes: settings.stop.ok_codes.clone(),
            stop_hook: settings.stop.hook.is_some(),
            wait_for_sdk: settings.sdk.wait,
            labels: settings.metadata.labels.clone(),
            annotations: settings.metadata.annotations.clone(),
            allocated_hook: settings.allocation.hook.is_some(),
            allocate_on_players: settings.allocation.on_players,
            empty_ready: settings.allocation.empty_ready,
            idle_shutdown: settings.allocation.idle_shutdown,
            max_age: settings.allocation.max_age.map(|age| jittered(age, chance)),
            pod_name,
        }
    }
}

/// A tenth more or less, by chance: servers that started together do not end together.
fn jittered(time: Duration, chance: u64) -> Duration {
    let millionths = 900_000 + u32::try_from(chance % 200_001).unwrap_or_default();
    time.saturating_mul(millionths) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_a_tenth_in_both_directions_and_no_more() {
        let day = Duration::from_secs(86_400);
        assert_eq!(jittered(day, 0), day * 9 / 10);
        assert_eq!(jittered(day, 100_000), day);
        assert_eq!(jittered(day, 200_000), day * 11 / 10);
        assert_eq!(jittered(day, 200_001), day * 9 / 10);
        let longest = Duration::from_secs(315_360_000);
        assert!(jittered(longest, u64::MAX) <= longest * 11 / 10);
    }
}
