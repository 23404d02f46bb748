//! The threads "tally", one a source that counts by lines: each keeps the count that the lines of all streams come to,
//! from the start of the game on, and reports it from Ready on.
//!
//! A change is reported at once, and then not again within the interval; without one, the interval confirms the count, as
//! a reading of any other source would. Whether somebody was there between two reports is told too.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::log_lines::counted::{Seen, Told};
use crate::machine::{Event, Reading};
use crate::page::exposition::MAX_READING;
use crate::settings::LineSource;
use crate::worker::Worker;

/// More names than any game has players: whoever comes then is not counted.
const NAMES_MAX: usize = 10_000;

/// The running thread.
pub type TallyWorker = Worker<Told>;

/// Starts the tally of the source of this number.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn(
    source: usize,
    lines: &LineSource,
    tells_names: bool,
    interval: Duration,
    events: Sender<Event>,
) -> io::Result<TallyWorker> {
    let tally = Tally::new(lines.moves.is_some(), tells_names);
    Worker::spawn("tally", events, move |told, events| run(source, tally, interval, told, events))
}

fn run(source: usize, mut tally: Tally, interval: Duration, told: &Receiver<Told>, events: &Sender<Event>) {
    let mut schedule: Option<Schedule> = None;
    loop {
        let now = Instant::now();
        if let Some(schedule) = &mut schedule
            && schedule.is_due(now, tally.is_changed)
        {
            schedule.reported(now, tally.is_changed, interval);
            if events.send(Event::Scraped { source, outcome: tally.report() }).is_err() {
                return;
            }
        }
        let next = match &schedule {
            Some(schedule) => told.recv_timeout(schedule.next(tally.is_changed).saturating_duration_since(now)),
            None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(Told::Begin) => {
                let now = Instant::now();
                // Where no line has said anything yet, one may still come.
                let first = if tally.count.is_some() { now } else { now + interval };
                schedule = Some(Schedule { confirmed: first, change: now });
            }
            Ok(Told::Seen(seen)) => {
                for seen in seen {
                    tally.take(seen);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// When something is reported next.
struct Schedule {
    /// Where nothing has changed.
    confirmed: Instant,
    /// Where something has.
    change: Instant,
}

impl Schedule {
    fn next(&self, is_changed: bool) -> Instant {
        if is_changed { self.confirmed.min(self.change) } else { self.confirmed }
    }

    fn is_due(&self, now: Instant, is_changed: bool) -> bool {
        now >= self.next(is_changed)
    }

    fn reported(&mut self, now: Instant, is_changed: bool, interval: Duration) {
        self.confirmed = now + interval;
        if is_changed {
            self.change = now + interval;
        }
    }
}

/// How many play, by what lines have said.
#[derive(Clone, Debug)]
pub struct Tally {
    /// `None` until a line has told.
    count: Option<u64>,
    /// Those who are known to be there.
    names: BTreeSet<String>,
    tells_names: bool,
    /// The last line that was to tell a number had none.
    is_wrong: bool,
    /// Since the last report.
    is_changed: bool,
    /// Somebody was there since the last report.
    is_busy: bool,
}

impl Tally {
    /// Of a game that has just started.
    #[must_use]
    pub fn new(has_moves: bool, tells_names: bool) -> Self {
        Self {
            count: has_moves.then_some(0),
            names: BTreeSet::new(),
            tells_names,
            is_wrong: false,
            is_changed: false,
            is_busy: false,
        }
    }

    /// Takes what a line has said.
    pub fn take(&mut self, seen: Seen) {
        let count = self.count.unwrap_or_default();
        let count = match seen {
            Seen::Joined(more) => count.saturating_add(more),
            Seen::Left(less) => count.saturating_sub(less),
            Seen::Came(name) => {
                let is_new = self.names.len() < NAMES_MAX && self.names.insert(name);
                self.is_changed |= is_new;
                count + u64::from(is_new)
            }
            Seen::Went(name) => {
                let is_known = self.names.remove(&name);
                self.is_changed |= is_known;
                // One whom no line has named is gone, if a number has told of such.
                let is_counted = is_known || count > self.names.len() as u64;
                count.saturating_sub(u64::from(is_counted))
            }
            Seen::Count(Some(count)) if count <= MAX_READING => {
                if count == 0 {
                    self.names.clear();
                }
                count
            }
            Seen::Count(_) => {
                self.is_changed |= !std::mem::replace(&mut self.is_wrong, true);
                return;
            }
        };
        let count = count.min(MAX_READING);
        self.is_changed |= std::mem::take(&mut self.is_wrong) || self.count != Some(count);
        self.is_busy |= count > 0;
        self.count = Some(count);
    }

    /// The reading, or why there is none.
    ///
    /// # Errors
    /// No line has told yet, or the last one not what it was to tell.
    pub fn report(&mut self) -> Result<Reading, String> {
        self.is_changed = false;
        if self.is_wrong {
            return Err(
                "the first group of AGONES_SHIM_COUNTER_LOG has matched something that is no whole number".into()
            );
        }
        let count = self.count.ok_or("no line matches AGONES_SHIM_COUNTER_LOG yet")?;
        let busy = std::mem::replace(&mut self.is_busy, count > 0);
        // Where a number has told of others, these are not all.
        let names =
            (self.tells_names && self.names.len() as u64 == count).then(|| self.names.iter().cloned().collect());
        Ok(Reading { count, busy, names, ..Reading::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(name: &str) -> Seen {
        Seen::Came(name.into())
    }

    fn went(name: &str) -> Seen {
        Seen::Went(name.into())
    }

    fn reading(seen: impl IntoIterator<Item = Seen>) -> (u64, Option<Vec<String>>) {
        let mut tally = Tally::new(true, true);
        seen.into_iter().for_each(|seen| tally.take(seen));
        let reading = tally.report().expect("a reading");
        (reading.count, reading.names)
    }

    #[test]
    fn lines_are_counted_and_never_below_zero() {
        assert_eq!(reading([Seen::Left(3), Seen::Joined(2), Seen::Joined(1), Seen::Left(1)]).0, 2);
        assert_eq!(reading([Seen::Joined(u64::MAX), Seen::Joined(9)]).0, MAX_READING);
    }

    #[test]
    fn each_name_counts_once_however_often_it_comes() {
        let seen = [came("ann"), came("bob"), came("ann"), went("cid"), went("bob"), went("bob")];
        assert_eq!(reading(seen), (1, Some(vec!["ann".into()])));
    }

    #[test]
    fn a_number_wins_and_joins_and_leaves_go_on_from_there() {
        assert_eq!(reading([came("ann"), Seen::Count(Some(5)), came("bob")]), (6, None));
        // Three of them nobody has named: of two, one goes.
        assert_eq!(reading([came("ann"), Seen::Count(Some(3)), went("bob")]).0, 2);
        assert_eq!(reading([came("ann"), Seen::Count(Some(1)), went("bob")]).0, 1);
        assert_eq!(reading([came("ann"), Seen::Count(Some(0)), came("ann")]), (1, Some(vec!["ann".into()])));
    }

    #[test]
    fn what_is_no_number_is_no_reading_and_changes_nothing() {
        let mut tally = Tally::new(false, false);
        assert!(tally.report().expect_err("nothing yet").contains("no line matches"));
        tally.take(Seen::Count(Some(4)));
        tally.take(Seen::Count(None));
        assert!(tally.report().expect_err("wrong").contains("no whole number"));
        tally.take(Seen::Count(Some(MAX_READING + 1)));
        assert!(tally.report().is_err());
        tally.take(Seen::Count(Some(4)));
        assert_eq!(tally.report().map(|reading| reading.count), Ok(4));
    }

    #[test]
    fn who_came_and_went_between_two_reports_is_told() {
        let mut tally = Tally::new(true, false);
        assert!(!tally.report().expect("0").busy);
        tally.take(came("ann"));
        tally.take(went("ann"));
        let reading = tally.report().expect("0");
        assert!(reading.count == 0 && reading.busy && !tally.report().expect("0").busy);
    }

    #[test]
    fn a_change_is_due_at_once_and_then_not_within_the_interval() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut schedule = Schedule { confirmed: now, change: now };
        assert!(schedule.is_due(now, false));
        schedule.reported(now, false, second);
        assert!(!schedule.is_due(now, false) && schedule.is_due(now, true));
        schedule.reported(now, true, second);
        assert!(!schedule.is_due(now + second / 2, true) && schedule.is_due(now + second, false));
    }
}
