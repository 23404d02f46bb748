//! The named timers of the GameServer, in a table. Pure: time is passed in, as
//! the time since the server started.

use std::time::Duration;

/// Everything that happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The batched state is written.
    State,
    /// Batched labels are written.
    Labels,
    /// Batched annotations are written.
    Annotations,
    /// Batched Counters are written.
    Counters,
    /// Batched Lists are written.
    Lists,
    /// The controller has seen the state.
    Controller,
    /// A reservation is over.
    Reserve,
    /// The beats are looked at.
    Health,
}

const ALL: [Timer; 8] = [
    Timer::State,
    Timer::Labels,
    Timer::Annotations,
    Timer::Counters,
    Timer::Lists,
    Timer::Controller,
    Timer::Reserve,
    Timer::Health,
];

/// When each timer fires next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers([Option<Duration>; ALL.len()]);

impl Timers {
    /// Fires then, whatever was set before.
    pub fn set(&mut self, timer: Timer, at: Duration) {
        self.0[timer as usize] = Some(at);
    }

    /// Fires then, unless it runs already: a batch rides on the timer of its first call.
    pub fn start(&mut self, timer: Timer, at: Duration) {
        self.0[timer as usize].get_or_insert(at);
    }

    /// Does not fire.
    pub fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    /// When this one fires.
    #[must_use]
    pub fn at(&self, timer: Timer) -> Option<Duration> {
        self.0[timer as usize]
    }

    /// When the next one fires.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        self.0.iter().flatten().min().copied()
    }

    /// Takes the earliest one that is due, with the time it was set for.
    pub fn take_due(&mut self, now: Duration) -> Option<(Timer, Duration)> {
        let due = ALL.into_iter().filter_map(|timer| Some((timer, self.0[timer as usize]?)));
        let (timer, at) = due.filter(|&(_, at)| at <= now).min_by_key(|&(_, at)| at)?;
        self.stop(timer);
        Some((timer, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_fires_first_and_only_once() {
        let at = Duration::from_secs;
        let mut timers = Timers::default();
        assert_eq!(timers.next(), None);
        timers.set(Timer::State, at(5));
        timers.start(Timer::State, at(3));
        timers.set(Timer::Health, at(2));
        timers.set(Timer::Reserve, at(1));
        timers.stop(Timer::Reserve);
        assert_eq!(timers.next(), Some(at(2)));
        assert_eq!(timers.take_due(at(1)), None);
        assert_eq!(timers.take_due(at(9)), Some((Timer::Health, at(2))));
        assert_eq!(timers.take_due(at(9)), Some((Timer::State, at(5))));
        assert_eq!(timers.take_due(at(9)), None);
    }
}
