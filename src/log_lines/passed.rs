//! When lines that do not match are told of: the first at once, the others at most once in 5 s; and one that has the
//! pattern as plain text at once.

use std::time::{Duration, Instant};

use crate::log_lines::lines::Lines;
use crate::machine::Event;

/// Between two reports: a reason is logged no more often either.
const INTERVAL: Duration = Duration::from_secs(5);

/// The clock of the reports of one stream.
#[derive(Debug, Default)]
pub struct PassedLines {
    next: Option<Instant>,
}

impl PassedLines {
    /// What is to be told now, if anything is.
    pub fn report(&mut self, lines: &mut Lines, now: Instant) -> Option<Event> {
        let is_due = self.next.is_none_or(|at| now >= at);
        if !(lines.has_passed() && is_due || lines.has_plain()) {
            return None;
        }
        self.next = Some(now + INTERVAL);
        Some(lines.take_passed())
    }

    /// How long until what has passed is to be told; `None` while nothing is.
    pub fn wait(&self, lines: &Lines, now: Instant) -> Option<Duration> {
        let at = self.next.filter(|_| lines.has_passed())?;
        Some(at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::pattern::pattern;

    fn told(event: Option<Event>) -> (u32, String, Option<String>) {
        match event {
            Some(Event::LinesPassed { lines, last, plain }) => (lines, last, plain.map(|plain| plain.write)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_line_is_told_at_once_and_the_others_each_five_seconds() {
        let mut lines = Lines::new(Some(pattern("[Server] up").expect("good")), Vec::new());
        let (mut passed, start) = (PassedLines::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(passed.report(&mut lines, at(0)), None);
        lines.push(b"one\n");
        assert_eq!(told(passed.report(&mut lines, at(0))), (1, "one".into(), None));
        lines.push(b"two\nthree\n");
        assert_eq!(
            (passed.report(&mut lines, at(1)), passed.wait(&lines, at(1))),
            (None, Some(Duration::from_secs(4)))
        );
        assert_eq!(told(passed.report(&mut lines, at(5))), (2, "three".into(), None));
        assert_eq!(passed.wait(&lines, at(6)), None, "nothing has passed since");
        lines.push(b"the [Server] up\n[Server] up\n");
        assert_eq!(told(passed.report(&mut lines, at(6))), (2, "[Server] up".into(), Some(r"\[Server\] up".into())));
        lines.push(b"[Server] up\n");
        assert_eq!(passed.report(&mut lines, at(7)), None, "that was said once");
    }
}
