//! A point in time that knows how long it was to wait for it, so that a timeout can say which one has passed.
//!
//! Pure but for the look at the monotonic clock.

use std::fmt;
use std::time::{Duration, Instant};

use crate::duration::seconds;

/// No setting is longer; adding it to the clock cannot overflow.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 60 * 60);

/// When a blocking operation has to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    within: Duration,
}

impl Deadline {
    /// This long from now.
    #[must_use]
    pub fn after(within: Duration) -> Self {
        Self { at: Instant::now() + within.min(LONGEST), within }
    }

    /// What is left of it; `None` when it has passed. Never zero, which sockets take for "no timeout" or reject.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// How long it was from the beginning.
    #[must_use]
    pub fn within(&self) -> Duration {
        self.within
    }
}

impl fmt::Display for Deadline {
    /// The reason for people: `timed out after 2s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timed out after {}", seconds(self.within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_deadline_leaves_nothing_and_says_how_long_it_was() {
        let deadline = Deadline::after(Duration::ZERO);
        assert_eq!((deadline.left(), deadline.to_string().as_str()), (None, "timed out after 0s"));
        assert_eq!(Deadline::after(Duration::from_millis(1500)).to_string(), "timed out after 1.5s");
    }

    #[test]
    fn no_duration_is_too_long() {
        assert!(Deadline::after(Duration::MAX).left().is_some());
    }
}
