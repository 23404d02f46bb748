//! Lines that say how many play, or that one has come or gone: what they say goes to whoever keeps the tally.
//!
//! A line costs an allocation only where it matches and names somebody. Whole lines alone are looked at: a number that is
//! cut at the end of a block would be another number.

use std::sync::mpsc::Sender;

use crate::settings::LineSource;

/// What is kept of a name, in bytes.
const NAME_MAX: usize = 256;

/// What a line has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// So many play; `None` where a number was expected and something else stands there.
    Count(Option<u64>),
    /// So many have come, whoever they are.
    Joined(u64),
    /// So many have gone, whoever they are.
    Left(u64),
    /// This one has come.
    Came(String),
    /// This one has gone.
    Went(String),
}

/// What the keeper of a tally is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Report readings from now on.
    Begin,
    /// What lines have said, in their order.
    Seen(Vec<Seen>),
}

/// The lines of one source, in one stream.
#[derive(Clone, Debug)]
pub struct CountedLines {
    source: LineSource,
    tally: Sender<Told>,
    seen: Vec<Seen>,
}

impl CountedLines {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(source: LineSource, tally: Sender<Told>) -> Self {
        Self { source, tally, seen: Vec::new() }
    }

    /// Looks at a line. A number in it is the last word on it.
    pub(super) fn look(&mut self, line: &[u8]) {
        let Self { source: LineSource { count, moves }, seen, .. } = self;
        if let Some((join, leave)) = moves {
            join.show_group(line, |who| seen.extend(moved(who, join.has_groups(), Seen::Joined(1), Seen::Came)));
            leave.show_group(line, |who| seen.extend(moved(who, leave.has_groups(), Seen::Left(1), Seen::Went)));
        }
        if let Some(count) = count {
            count.show_group(line, |number| seen.extend(number.map(|number| Seen::Count(whole(number)))));
        }
        self.join_last();
    }

    /// Tells what was seen, if anything.
    pub(super) fn tell(&mut self) {
        if !self.seen.is_empty() {
            // Nobody listens any more when the shim is on its way out.
            let _ = self.tally.send(Told::Seen(std::mem::take(&mut self.seen)));
        }
    }

    /// Two of one kind become one where that changes nothing: a pattern that matches everything fills no memory.
    fn join_last(&mut self) {
        if let [.., before, last] = self.seen.as_mut_slice() {
            match (before, last) {
                (Seen::Joined(sum), Seen::Joined(more)) | (Seen::Left(sum), Seen::Left(more)) => *sum += *more,
                // Nobody is there, or no number: what comes after means something else.
                (Seen::Count(Some(1..)), Seen::Count(Some(1..))) => {
                    let last = self.seen.len() - 1;
                    self.seen.swap_remove(last - 1);
                    return;
                }
                _ => return,
            }
            self.seen.pop();
        }
    }
}

fn moved(who: Option<&str>, is_named: bool, one: Seen, named: fn(String) -> Seen) -> Option<Seen> {
    if !is_named {
        return Some(one);
    }
    let who = who?.trim();
    let end = (0..=who.len().min(NAME_MAX)).rev().find(|&end| who.is_char_boundary(end))?;
    (end > 0).then(|| named(who[..end].to_owned()))
}

fn whole(number: &str) -> Option<u64> {
    let number = number.trim();
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}
