//! The metronome of the health interval: it says when, never what.
//!
//! Ticks are counted from the moment the interval was set, so that they do not
//! drift however late one was delivered. Ticks that a stopped machine slept
//! through are skipped, not made up for.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::machine::Event;
use crate::worker::Worker;

/// Starts the metronome; it is silent until it is told an interval.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn(events: Sender<Event>) -> io::Result<Worker<Duration>> {
    Worker::spawn("beat", events, |intervals, events| {
        let Ok(mut interval) = intervals.recv() else { return };
        let mut due = Instant::now() + interval;
        loop {
            match intervals.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(changed) => {
                    interval = changed;
                    due = Instant::now() + interval;
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if events.send(Event::HealthDue).is_err() {
                        return;
                    }
                    due = next_tick(due, interval, Instant::now());
                }
            }
        }
    })
}

/// The first tick after `now` on the grid that `due` stands on.
fn next_tick(due: Instant, interval: Duration, now: Instant) -> Instant {
    let next = due + interval;
    if next > now {
        return next;
    }
    let missed = (now - next).as_nanos() / interval.as_nanos().max(1) + 1;
    next + interval.saturating_mul(u32::try_from(missed).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stay_on_their_grid_however_late_one_was_delivered() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let second = Duration::from_secs(1);
        assert_eq!(next_tick(at(1000), second, at(1000)), at(2000));
        assert_eq!(next_tick(at(1000), second, at(1999)), at(2000));
        assert_eq!(next_tick(at(1000), second, at(2000)), at(3000), "a tick that is due now was missed");
        assert_eq!(next_tick(at(1000), second, at(7300)), at(8000), "eight seconds asleep are one tick, not seven");
    }
}
