//! Where in its life the shim is, for people and for the status page.

/// Phases follow each other in this order; none comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// No readiness round has passed yet.
    Waiting,
    /// The game server is up; Agones does not know it yet.
    Served,
    /// Agones confirmed it (probe-only: the game server is up).
    Ready,
    /// On the way out.
    Stopping,
    /// The exit effect is out: nothing follows.
    Gone,
}

impl Phase {
    /// Lower-case word for logs and the status page.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Served => "served",
            Self::Ready => "ready",
            Self::Stopping => "stopping",
            Self::Gone => "gone",
        }
    }
}
