//! What the shim keeps of a GameServer, from a reply in which anything may be missing.
//!
//! Pure. A reply without meta, health or status is a GameServer with defaults,
//! never an error.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sdk::proto::sdk;

/// What Agones puts in front of each key that SetLabel() and SetAnnotation() are given.
pub(crate) use crate::settings::metadata::SDK_PREFIX;
/// The annotation with the time of the last allocation.
const LAST_ALLOCATED: &str = "agones.dev/last-allocated";

/// A GameServer as the SDK server last described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameServer {
    /// Its name, which is its Pod's name too.
    pub name: String,
    /// Its state.
    pub state: State,
    /// It has a deletion timestamp.
    pub deleting: bool,
    /// It carries the mark of Agones' own local mode, `islocal=true`.
    pub local_mode: bool,
    /// How Agones watches its health.
    pub health: Health,
    /// Count and capacity of each declared Counter.
    pub counters: BTreeMap<String, Counter>,
    /// What each declared List holds.
    pub lists: BTreeMap<String, List>,
    /// Where the world sees it; empty until it is known.
    pub address: String,
    /// Its ports by name, as the world sees them.
    pub ports: Vec<(String, u16)>,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
}

/// `spec.health`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Nothing watches the beats.
    pub disabled: bool,
    /// A beat older than this is a failure; `None` where unset or not positive.
    pub period: Option<Duration>,
    /// Missed beats in a row that make it Unhealthy; `None` where unset or not positive.
    pub failure_threshold: Option<u32>,
}

impl Health {
    /// How long Agones waits for a beat before it calls the GameServer
    /// Unhealthy, where that is known.
    #[must_use]
    pub fn patience(&self) -> Option<Duration> {
        Some(self.period?.saturating_mul(self.failure_threshold?))
    }
}

/// A Counter of `status.counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Its value.
    pub count: i64,
    /// Its upper bound; 0 is a hard zero.
    pub capacity: i64,
}

/// A List, as it is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// As many values as it takes.
    pub capacity: i64,
    /// Each at most once.
    pub values: Vec<String>,
}

/// `status.state`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// A host port is being picked.
    PortAllocation,
    /// Its Pod is being created.
    Creating,
    /// Its Pod has not been placed yet.
    Starting,
    /// Its Pod is on a node.
    Scheduled,
    /// Ready() was called and waits for the controller.
    RequestReady,
    /// It can be allocated.
    Ready,
    /// A match is on it.
    Allocated,
    /// Held out of allocation for a while.
    Reserved,
    /// It is being stopped.
    Shutdown,
    /// It broke before it ran.
    Error,
    /// Its beats stopped or its game died.
    Unhealthy,
    /// The reply named no state.
    #[default]
    Unset,
    /// A state this program does not know.
    Other(String),
}

impl GameServer {
    /// Its state, unless its end has begun.
    #[must_use]
    pub(crate) fn state_in_words(&self) -> &str {
        if self.deleting { "being deleted" } else { self.state.as_str() }
    }
}

impl State {
    /// Ready() is what moves it on.
    #[must_use]
    pub fn is_before_ready(&self) -> bool {
        matches!(self, Self::PortAllocation | Self::Creating | Self::Starting | Self::Scheduled)
    }

    /// It has been Ready: players may be on it.
    #[must_use]
    pub fn is_ready_or_later(&self) -> bool {
        matches!(self, Self::Ready | Self::Allocated | Self::Reserved)
    }

    /// Nothing that the shim calls can change it any more.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Shutdown | Self::Unhealthy | Self::Error)
    }

    /// Agones' own word for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::PortAllocation => "PortAllocation",
            Self::Creating => "Creating",
            Self::Starting => "Starting",
            Self::Scheduled => "Scheduled",
            Self::RequestReady => "RequestReady",
            Self::Ready => "Ready",
            Self::Allocated => "Allocated",
            Self::Reserved => "Reserved",
            Self::Shutdown => "Shutdown",
            Self::Error => "Error",
            Self::Unhealthy => "Unhealthy",
            Self::Unset => "(none)",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for State {
    fn from(name: &str) -> Self {
        match name {
            "PortAllocation" => Self::PortAllocation,
            "Creating" => Self::Creating,
            "Starting" => Self::Starting,
            "Scheduled" => Self::Scheduled,
            "RequestReady" => Self::RequestReady,
            "Ready" => Self::Ready,
            "Allocated" => Self::Allocated,
            "Reserved" => Self::Reserved,
            "Shutdown" => Self::Shutdown,
            "Error" => Self::Error,
            "Unhealthy" => Self::Unhealthy,
            "" => Self::Unset,
            // Bounded: it ends up in log lines.
            other => Self::Other(other.chars().take(64).collect()),
        }
    }
}

impl GameServer {
    /// Shutdown() has shown, or it goes anyway: every later state call answers
    /// OK and does nothing.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.deleting || self.state == State::Shutdown
    }

    /// Ready() must not be called on it, now or later.
    #[must_use]
    pub fn is_condemned(&self) -> bool {
        self.deleting || self.state.is_final()
    }
}

impl GameServer {
    /// When it was allocated last, as Agones wrote it down: another text is another allocation, whatever was seen of
    /// the states between them. Empty where it never was.
    #[must_use]
    pub fn last_allocated(&self) -> &str {
        self.annotations.get(LAST_ALLOCATED).map_or("", String::as_str)
    }
}

impl From<sdk::GameServer> for GameServer {
    fn from(reply: sdk::GameServer) -> Self {
        let meta = reply.object_meta.unwrap_or_default();
        let health = reply.spec.and_then(|spec| spec.health).unwrap_or_default();
        let status = reply.status.unwrap_or_default();
        let counters = status
            .counters
            .into_iter()
            .map(|(name, counter)| (name, Counter { count: counter.count, capacity: counter.capacity }))
            .collect();
        let lists = status
            .lists
            .into_iter()
            .map(|(name, list)| (name, List { capacity: list.capacity, values: list.values }))
            .collect();
        // A port outside 1..=65535 is none that anyone could connect to.
        let ports = status
            .ports
            .into_iter()
            .filter_map(|port| Some((port.name, u16::try_from(port.port).ok().filter(|&port| port != 0)?)))
            .collect();
        Self {
            // Bounded like a state: Kubernetes allows 253 characters.
            name: meta.name.chars().take(NAME_MAX).collect(),
            state: State::from(status.state.as_str()),
            deleting: meta.deletion_timestamp != 0,
            local_mode: meta.labels.get("islocal").is_some_and(|value| value == "true"),
            health: Health {
                disabled: health.disabled,
                period: positive(health.period_seconds).map(|seconds| Duration::from_secs(seconds.into())),
                failure_threshold: positive(health.failure_threshold),
            },
            counters,
            lists,
            address: status.address,
            ports,
            labels: meta.labels,
            annotations: meta.annotations,
        }
    }
}

/// The longest name of a Kubernetes object.
const NAME_MAX: usize = 253;

/// Agones treats numbers that are not positive as unset.
fn positive(number: i32) -> Option<u32> {
    u32::try_from(number).ok().filter(|&number| number > 0)
}
