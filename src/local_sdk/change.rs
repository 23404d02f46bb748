//! What has happened to the GameServer: past facts, each one a line for people.

use std::fmt;
use std::time::Duration;

use crate::manifest::spec::{Counter, List};

/// `status.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On its node; the game loads.
    Scheduled,
    /// Ready() was written; the controller's turn.
    RequestReady,
    /// It can be allocated.
    Ready,
    /// A match is on it.
    Allocated,
    /// Held out of allocation.
    Reserved,
    /// It is being stopped.
    Shutdown,
    /// Its beats stopped, or its game died.
    Unhealthy,
}

impl State {
    /// Agones' word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "Scheduled",
            Self::RequestReady => "RequestReady",
            Self::Ready => "Ready",
            Self::Allocated => "Allocated",
            Self::Reserved => "Reserved",
            Self::Shutdown => "Shutdown",
            Self::Unhealthy => "Unhealthy",
        }
    }
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was made and placed: the states that no game ever sees, in one line.
    Placed,
    /// The state has changed.
    State {
        /// Before.
        from: State,
        /// After.
        to: State,
        /// Who did it, where it was not the SDK.
        by: &'static str,
    },
    /// A state call came too late to do anything.
    Ignored {
        /// The state that was asked for.
        wanted: State,
        /// What it is instead.
        because: &'static str,
    },
    /// It has a deletion timestamp now.
    Deleted {
        /// Who did it.
        by: &'static str,
    },
    /// A reservation is over.
    ReservationOver,
    /// A label is set.
    Label(String, String),
    /// An annotation is set.
    Annotation(String, String),
    /// Kubernetes has no room for it, which only shows when it is written.
    MetadataRefused(String, &'static str),
    /// A Counter was written.
    Counter(String, Counter),
    /// A List was written.
    List(String, List),
    /// A look at the beats found none that is recent enough.
    BeatMissed {
        /// So many in a row now.
        failures: u32,
        /// So many make it Unhealthy.
        threshold: u32,
        /// How old the last beat is, or the start where there was none.
        age: Duration,
    },
    /// A beat came after missed ones.
    BeatsBack,
}

impl Change {
    /// The GameServer itself is different now, as a watcher sees it.
    #[must_use]
    pub fn shows(&self) -> bool {
        !matches!(
            self,
            Self::Ignored { .. }
                | Self::ReservationOver
                | Self::MetadataRefused(..)
                | Self::BeatMissed { .. }
                | Self::BeatsBack
        )
    }

    /// The word in front of the line.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Placed | Self::State { .. } => "state",
            Self::Ignored { .. } => "ignored",
            Self::Deleted { .. } => "deleted",
            Self::ReservationOver => "reserve",
            Self::Label(..) => "label",
            Self::Annotation(..) => "annotate",
            Self::MetadataRefused(..) => "refused",
            Self::Counter(..) => "counter",
            Self::List(..) => "list",
            Self::BeatMissed { .. } | Self::BeatsBack => "health",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placed => f.write_str("PortAllocation -> Creating -> Starting -> Scheduled"),
            Self::State { from, to, by } => {
                write!(f, "{} -> {}", from.as_str(), to.as_str())?;
                if by.is_empty() { Ok(()) } else { write!(f, " ({by})") }
            }
            Self::Ignored { wanted, because } => write!(f, "{}: the GameServer is {because}", wanted.as_str()),
            Self::Deleted { by } => write!(f, "deletion timestamp set ({by})"),
            Self::ReservationOver => f.write_str("the reservation is over, back to Ready"),
            Self::Label(key, value) | Self::Annotation(key, value) => write!(f, "{key}={value:?}"),
            Self::MetadataRefused(key, reason) => write!(f, "{key}: {reason}"),
            Self::Counter(name, Counter { count, capacity }) => write!(f, "{name} {count}/{capacity}"),
            Self::List(name, List { capacity, values }) => {
                write!(f, "{name} {}/{capacity} [{}]", values.len(), values.join(", "))
            }
            Self::BeatMissed { failures, threshold, age } => {
                write!(f, "no beat for {:.1}s: missed {failures} of {threshold}", age.as_secs_f32())
            }
            Self::BeatsBack => f.write_str("beats are back"),
        }
    }
}
