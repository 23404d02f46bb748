//! What grows: descriptors, threads, memory, from one moment of peace to the next.

use std::fmt;

use crate::support::proc;
use crate::world::Kind;

/// Fewer say nothing.
const ENOUGH: usize = 8;
/// Memory comes in pages and arenas. A leak of 100 bytes a beat is 1 MiB in ten minutes at this speed.
const MEMORY_SLACK: u64 = 1024 * 1024;

/// One look.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    descriptors: u64,
    threads: u64,
    memory: u64,
}

impl Sample {
    pub fn of(pid: i32) -> Self {
        Self { descriptors: proc::fd_count(pid) as u64, threads: proc::threads(pid), memory: proc::rss(pid) }
    }
}

/// All looks.
#[derive(Default)]
pub struct Leaks(Vec<Sample>);

impl Leaks {
    pub fn push(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    /// The least of the last quarter is no more than what the second one had as a rule: single looks may catch a probe
    /// or a call under way, the first quarter warms up, and a quarter lies between, so that what grows has the time to.
    pub fn judge(&self, kind: Kind) {
        if self.0.len() < ENOUGH {
            println!("{kind:?}: {} looks are too few to see a leak", self.0.len());
            return;
        }
        let quarter = self.0.len() / 4;
        let (before, after) = (&self.0[quarter..2 * quarter], &self.0[3 * quarter..]);
        for (what, of, slack) in [
            // A probe or the scrape may have its socket, or a thread, open.
            ("descriptors", (|sample| sample.descriptors) as fn(&Sample) -> u64, 3),
            ("threads", |sample| sample.threads, 2),
            ("bytes of memory", |sample| sample.memory, MEMORY_SLACK),
        ] {
            let mut rule: Vec<u64> = before.iter().map(of).collect();
            rule.sort_unstable();
            let rule = rule[rule.len() / 2];
            let least = after.iter().map(of).min().unwrap_or_default();
            assert!(least <= rule + slack, "{kind:?} leaks {what}: {rule} as a rule, later at least {least}; {self}");
        }
    }
}

impl fmt::Display for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return f.write_str("never looked at") };
        let kib = |bytes: u64| bytes / 1024;
        write!(
            f,
            "{} looks, first to last: {} to {} descriptors, {} to {} threads, {} to {} KiB",
            self.0.len(),
            first.descriptors,
            last.descriptors,
            first.threads,
            last.threads,
            kib(first.memory),
            kib(last.memory),
        )
    }
}
