//! When which readiness probe is tried again, and when all have passed in one round.
//!
//! Pure. With a set interval every round runs all probes. Adaptive, a probe
//! that nothing answers is tried every 0.05 s at first, and every 0.5 s at last:
//! a game that took a minute may wait another 0.3 s, and looking costs less the
//! longer it takes. One that answers but not yet well is tried every second, so
//! that a loading server's log is not flooded; one that has passed rests until
//! the deciding round, which runs all.

use std::time::{Duration, Instant};

/// Nothing answers yet: the least time until the next try.
const REFUSED_INTERVAL: Duration = Duration::from_millis(50);
/// And the most.
const REFUSED_INTERVAL_MAX: Duration = Duration::from_millis(500);
/// Between the two, one part in so many of the time waited.
const REFUSED_PARTS: u32 = 200;
/// Something answers.
const ANSWERED_INTERVAL: Duration = Duration::from_secs(1);

/// How a try went, as far as the schedule is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// It passed.
    Passed,
    /// Something answered, but not well.
    Answered,
    /// Nothing answers.
    Refused,
}

/// The readiness rounds of one wait.
#[derive(Clone, Debug)]
pub struct Schedule {
    interval: Option<Duration>,
    since: Instant,
    next: Vec<Next>,
    /// No deciding round before this: it meets probes that have connected.
    decide_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    At(Instant),
    /// It has passed and rests.
    Deciding,
}

impl Schedule {
    /// Of so many probes, all due now. `interval` `None` is adaptive.
    #[must_use]
    pub fn new(probes: usize, interval: Option<Duration>, now: Instant) -> Self {
        Self { interval, since: now, next: vec![Next::At(now); probes], decide_at: now }
    }

    /// When [`Schedule::due`] will name a probe.
    #[must_use]
    pub fn next_due(&self) -> Instant {
        let times = self.next.iter().filter_map(|next| if let Next::At(at) = next { Some(*at) } else { None });
        times.min().unwrap_or(self.decide_at)
    }

    /// The probes to run now, as one round.
    #[must_use]
    pub fn due(&self, now: Instant) -> Vec<usize> {
        let all = 0..self.next.len();
        if self.next.iter().all(|next| *next == Next::Deciding) {
            return if self.decide_at <= now { all.collect() } else { Vec::new() };
        }
        all.filter(|&probe| matches!(self.next[probe], Next::At(at) if at <= now)).collect()
    }

    /// There is news of a probe: it is due now, and the round that decides need not wait for the others.
    pub fn urge(&mut self, probe: usize, now: Instant) {
        self.decide_at = now;
        // With a set interval a round is all of them.
        let due = if self.interval.is_some() { 0..self.next.len() } else { probe..probe + 1 };
        self.next[due].fill(Next::At(now));
    }

    /// Takes the outcome of a round that began at `began` and has ended now.
    /// True when all probes have passed in it.
    pub fn record(&mut self, round: &[(usize, Try)], began: Instant, now: Instant) -> bool {
        if round.len() == self.next.len() {
            if round.iter().all(|(_, outcome)| *outcome == Try::Passed) {
                return true;
            }
            self.decide_at = began + ANSWERED_INTERVAL;
        }
        let waited = began.saturating_duration_since(self.since);
        let refused_interval = (waited / REFUSED_PARTS).clamp(REFUSED_INTERVAL, REFUSED_INTERVAL_MAX);
        for &(probe, outcome) in round {
            let at = |interval: Duration| Next::At((began + interval).max(now));
            self.next[probe] = match (self.interval, outcome) {
                (Some(interval), _) => at(interval),
                (None, Try::Passed) => Next::Deciding,
                (None, Try::Answered) => at(ANSWERED_INTERVAL),
                (None, Try::Refused) => at(refused_interval),
            };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Try::{Answered, Passed, Refused};

    fn millis(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn a_refused_probe_comes_again_after_50_ms_and_an_answered_one_after_a_second() {
        let start = Instant::now();
        let mut schedule = Schedule::new(2, None, start);
        assert_eq!(schedule.due(start), [0, 1]);
        assert!(!schedule.record(&[(0, Refused), (1, Answered)], start, start));
        assert_eq!(schedule.next_due(), millis(start, 50));
        assert_eq!(schedule.due(millis(start, 50)), [0]);
        assert_eq!(schedule.due(millis(start, 1000)), [0, 1]);
    }

    #[test]
    fn the_longer_nothing_answers_the_less_often_it_is_tried_up_to_half_a_second() {
        let start = Instant::now();
        for (waited, interval) in [(0, 50), (5_000, 50), (10_000, 50), (20_000, 100), (60_000, 300), (100_000, 500)] {
            let mut schedule = Schedule::new(1, None, start);
            let began = millis(start, waited);
            assert!(!schedule.record(&[(0, Refused)], began, began));
            assert_eq!(schedule.next_due(), millis(start, waited + interval), "{waited}");
        }
        let mut schedule = Schedule::new(1, None, start);
        let day = start + Duration::from_secs(86_400);
        assert!(!schedule.record(&[(0, Refused)], day, day));
        assert_eq!(schedule.next_due(), day + REFUSED_INTERVAL_MAX);
    }

    #[test]
    fn one_probe_that_passes_decides_alone() {
        let start = Instant::now();
        assert!(Schedule::new(1, None, start).record(&[(0, Passed)], start, start));
    }

    #[test]
    fn a_probe_that_has_passed_rests_until_the_deciding_round_which_runs_all() {
        let start = Instant::now();
        let mut schedule = Schedule::new(2, None, start);
        assert!(!schedule.record(&[(0, Passed), (1, Refused)], start, start));
        assert_eq!(schedule.due(millis(start, 5000)), [1]);
        assert!(!schedule.record(&[(1, Passed)], millis(start, 5000), millis(start, 5001)), "it was not one round");
        assert_eq!(schedule.due(millis(start, 5001)), [0, 1]);
        assert!(schedule.record(&[(0, Passed), (1, Passed)], millis(start, 5001), millis(start, 5002)));
    }

    #[test]
    fn a_deciding_round_that_fails_is_not_repeated_within_the_second() {
        let start = Instant::now();
        let mut schedule = Schedule::new(2, None, start);
        assert!(!schedule.record(&[(0, Passed), (1, Refused)], start, start));
        assert!(!schedule.record(&[(1, Passed)], millis(start, 50), millis(start, 50)));
        assert!(schedule.due(millis(start, 50)).is_empty(), "the first round met probe 0 just now");
        assert_eq!(schedule.next_due(), millis(start, 1000));
        assert_eq!(schedule.due(millis(start, 1000)), [0, 1]);
    }

    #[test]
    fn news_of_a_probe_brings_it_and_the_deciding_round_at_once() {
        let start = Instant::now();
        let mut schedule = Schedule::new(2, None, start);
        assert!(!schedule.record(&[(0, Passed), (1, Answered)], start, start));
        schedule.urge(1, millis(start, 300));
        assert_eq!(schedule.due(millis(start, 300)), [1]);
        assert!(!schedule.record(&[(1, Passed)], millis(start, 300), millis(start, 300)));
        assert_eq!(schedule.due(millis(start, 300)), [0, 1]);
        assert!(schedule.record(&[(0, Passed), (1, Passed)], millis(start, 300), millis(start, 300)));

        let mut schedule = Schedule::new(2, Some(Duration::from_secs(3)), start);
        assert!(!schedule.record(&[(0, Passed), (1, Answered)], start, start));
        schedule.urge(1, millis(start, 300));
        assert_eq!(schedule.due(millis(start, 300)), [0, 1], "with a set interval a round is all of them");
    }

    #[test]
    fn a_set_interval_runs_all_probes_each_time_counted_from_the_round_s_beginning() {
        let start = Instant::now();
        let mut schedule = Schedule::new(2, Some(Duration::from_secs(3)), start);
        assert!(!schedule.record(&[(0, Passed), (1, Refused)], start, millis(start, 2000)));
        assert!(schedule.due(millis(start, 2999)).is_empty());
        assert_eq!(schedule.due(millis(start, 3000)), [0, 1]);
        assert!(!schedule.record(&[(0, Passed), (1, Refused)], millis(start, 3000), millis(start, 7000)));
        assert_eq!(schedule.due(millis(start, 7000)), [0, 1], "a round that took longer is followed at once");
    }
}
