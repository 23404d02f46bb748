//! How beats are judged, by the rules of Agones' SDK server. Pure: time is passed in.

use std::time::Duration;

use crate::manifest::spec::Health;

/// The beats of one life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthWatch {
    health: Health,
    last_beat: Duration,
    failures: u32,
}

/// What a look at the beats has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The last beat is recent enough.
    Fine,
    /// It is not: its age, and how many looks in a row have said so.
    Missed {
        /// In a row.
        failures: u32,
        /// Of the last beat, or of the start.
        age: Duration,
    },
}

impl HealthWatch {
    /// Starts now; the start counts as a beat.
    #[must_use]
    pub fn new(health: Health, now: Duration) -> Self {
        Self { health, last_beat: now, failures: 0 }
    }

    /// How it was declared.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health
    }

    /// When the first look is due, if anyone looks. The cluster starts looking
    /// when the kubelet first asks, `initialDelaySeconds` after the game's start.
    #[must_use]
    pub fn first_look(&self, now: Duration) -> Option<Duration> {
        let delay = Duration::from_secs(self.health.initial_delay_seconds.into());
        (!self.health.disabled).then_some(now + delay)
    }

    /// When the look after this one is due.
    #[must_use]
    pub fn next_look(&self, last: Duration) -> Duration {
        last + self.period()
    }

    /// A beat has arrived. Says whether it was waited for.
    pub fn beat(&mut self, now: Duration) -> bool {
        self.last_beat = now;
        std::mem::take(&mut self.failures) > 0
    }

    /// Looks at the beats.
    pub fn look(&mut self, now: Duration) -> Look {
        let age = now.saturating_sub(self.last_beat);
        // A beat exactly one period old counts as missed: the real sidecar is up
        // a moment before the game, so that at its first look the start is older
        // than that too.
        if age < self.period() {
            return Look::Fine;
        }
        self.failures = self.failures.saturating_add(1);
        Look::Missed { failures: self.failures, age }
    }

    /// When the last beat came, or the start where there was none.
    #[must_use]
    pub fn last_beat(&self) -> Duration {
        self.last_beat
    }

    /// How many looks in a row have found no beat that is recent enough.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Which look is the last straw, if no beat comes before it.
    #[must_use]
    pub fn last_look(&self, next: Duration) -> Duration {
        let is_late = next.saturating_sub(self.last_beat) >= self.period();
        let looks = self.health.failure_threshold.saturating_sub(self.failures).saturating_sub(u32::from(is_late));
        next.saturating_add(self.period().saturating_mul(looks))
    }

    /// What `/gshealthz` says.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.failures < self.health.failure_threshold
    }

    fn period(&self) -> Duration {
        Duration::from_secs(self.health.period_seconds.into())
    }
}
