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
pub struct Timers {
    at: [Option<Duration>; ALL.len()],
    /// No write is answered before.
    writes_from: Duration,
}

impl Timer {
    /// The SDK server writes to its API server then.
    fn is_write(self) -> bool {
        matches!(self, Self::State | Self::Labels | Self::Annotations | Self::Counters | Self::Lists)
    }
}

impl Timers {
    /// Fires then, whatever was set before.
    pub fn set(&mut self, timer: Timer, at: Duration) {
        self.at[timer as usize] = Some(at);
    }

    /// Fires then, unless it runs already: a batch rides on the timer of its first call.
    pub fn start(&mut self, timer: Timer, at: Duration) {
        self.at[timer as usize].get_or_insert(at);
    }

    /// Does not fire.
    pub fn stop(&mut self, timer: Timer) {
        self.at[timer as usize] = None;
    }

    /// The API server answers no write before then: those that are due wait.
    pub fn hold_writes_until(&mut self, at: Duration) {
        self.writes_from = at;
    }

    /// Until when calls wait that need the API server.
    #[must_use]
    pub fn writes_held_until(&self) -> Duration {
        self.writes_from
    }

    fn due(&self) -> impl Iterator<Item = (Duration, Timer)> {
        ALL.into_iter().filter_map(|timer| {
            let at = self.at[timer as usize]?;
            Some((if timer.is_write() { at.max(self.writes_from) } else { at }, timer))
        })
    }

    /// When this one fires.
    #[must_use]
    pub fn at(&self, timer: Timer) -> Option<Duration> {
        self.due().find(|(_, due)| *due == timer).map(|(at, _)| at)
    }

    /// When the next one fires.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        self.due().map(|(at, _)| at).min()
    }

    /// Takes the earliest one that is due, with the time it was set for.
    pub fn take_due(&mut self, now: Duration) -> Option<(Timer, Duration)> {
        let (at, timer) = self.due().filter(|&(at, _)| at <= now).min_by_key(|&(at, _)| at)?;
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

    #[test]
    fn writes_wait_for_a_slow_api_server_and_nothing_else_does() {
        let at = Duration::from_secs;
        let mut timers = Timers::default();
        timers.hold_writes_until(at(30));
        timers.set(Timer::State, at(1));
        timers.set(Timer::Health, at(5));
        assert_eq!(timers.next(), Some(at(5)));
        assert_eq!(timers.take_due(at(10)), Some((Timer::Health, at(5))));
        assert_eq!(timers.take_due(at(10)), None);
        assert_eq!(timers.next(), Some(at(30)));
        assert_eq!(timers.take_due(at(30)), Some((Timer::State, at(30))));
    }
}
