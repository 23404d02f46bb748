//! The GameServer as it was declared, and Agones' defaults for what was not.
//!
//! Pure data: `game_server.rs` fills it from a file.

use std::collections::BTreeMap;

pub use crate::sdk::game_server::{Counter, List};

/// The largest List that Agones allows.
pub const LIST_MAX_CAPACITY: i64 = 1000;

/// What is known of a GameServer before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// `spec.health`.
    pub health: Health,
    /// `spec.ports`.
    pub ports: Vec<PortSpec>,
    /// `spec.counters`.
    pub counters: BTreeMap<String, Counter>,
    /// `spec.lists`.
    pub lists: BTreeMap<String, List>,
}

impl Default for Spec {
    /// The GameServer that runs when no manifest was given.
    fn default() -> Self {
        Self {
            name: "local".into(),
            namespace: "default".into(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            health: Health::default(),
            ports: vec![PortSpec {
                name: "default".into(),
                policy: PortPolicy::Dynamic,
                protocol: Protocol::Udp,
                host_port: None,
                container_port: None,
            }],
            counters: BTreeMap::from([("players".into(), Counter { count: 0, capacity: 1000 })]),
            lists: BTreeMap::from([("players".into(), List { capacity: 1000, values: Vec::new() })]),
        }
    }
}

/// `spec.health`, with Agones' defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Nothing watches the beats.
    pub disabled: bool,
    /// Seconds between checks, and the age from which a beat counts as missed.
    pub period_seconds: u32,
    /// Missed beats in a row that make it Unhealthy.
    pub failure_threshold: u32,
    /// The looking starts this late; seconds.
    pub initial_delay_seconds: u32,
}

impl Default for Health {
    fn default() -> Self {
        Self { disabled: false, period_seconds: 5, failure_threshold: 3, initial_delay_seconds: 5 }
    }
}

impl Health {
    /// `a beat every 5s, ...`, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { disabled, period_seconds, failure_threshold, initial_delay_seconds } = self;
        if *disabled {
            return "disabled, missed beats do nothing".to_owned();
        }
        format!(
            "a beat every {period_seconds}s, looked at after {initial_delay_seconds}s, \
             {failure_threshold} missed in a row make it Unhealthy"
        )
    }
}

/// One of `spec.ports`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Its name.
    pub name: String,
    /// Who picks the port of the host.
    pub policy: PortPolicy,
    /// What is spoken on it.
    pub protocol: Protocol,
    /// The port of the host, where the policy lets one name it.
    pub host_port: Option<u16>,
    /// The port in the container.
    pub container_port: Option<u16>,
}

/// `portPolicy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortPolicy {
    /// A free one of the range, mapped to the container's.
    Dynamic,
    /// The one that the manifest names.
    Static,
    /// A free one of the range, the same inside and outside.
    Passthrough,
    /// No port of the host: the container's own.
    None,
}

/// `protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Agones' default.
    Udp,
    /// A listening socket.
    Tcp,
    /// Both under one number; two entries in the status.
    TcpUdp,
}
