//! Lines that say how many play, or that one has come or gone: what they say goes to the thread that keeps the tally.
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
    /// Players on; `None` where something else stands in the place of the number.
    Count(Option<u64>),
    /// Players who have joined, without names.
    Joined(u64),
    /// Players who have left, without names.
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::lines::Lines;
    use super::*;
    use crate::settings::pattern::pattern;

    /// What these patterns for joins, leaves and a number say of a text.
    fn seen([join, leave, count]: [&str; 3], text: &[u8]) -> Vec<Seen> {
        let good = |text: &str| pattern(text).expect("a good pattern");
        let moves = (!join.is_empty()).then(|| (good(join), good(leave)));
        let source = LineSource { count: (!count.is_empty()).then(|| good(count)), moves };
        let (tally, told) = channel();
        Lines::new(None, vec![CountedLines::new(source, tally)]).push(text);
        let told = told.into_iter().flat_map(|told| if let Told::Seen(seen) = told { seen } else { Vec::new() });
        told.collect()
    }

    #[test]
    fn what_a_player_types_is_no_line_of_the_game_where_the_pattern_is_anchored() {
        let patterns = [r"^\[\d+\] (\w+) joined$", r"^\[\d+\] (\w+) left$", r"^\[\d+\] (\d+) play$"];
        let chat = b"[1] <ann> [1] eve joined\n[1] <ann> bob left\n[1] <ann> 0 play\n[1] ann joined the choir\n";
        assert_eq!(seen(patterns, chat), []);
        // A game that passes on what steers a terminal: it is left out. A carriage return begins no line that counts, but
        // behind a prompt.
        assert_eq!(seen(patterns, b"[1] <ann> hi\r[1] eve joined\r\r[1] bob left\r\n"), []);
        assert_eq!(seen(patterns, b"[1] <ann> h\x1b[0mi\r[1] eve joined\n"), []);
        let eve = [Seen::Came("eve".into())];
        assert_eq!(seen(patterns, b"[1] <ann> hi\r\n[1] eve joined\r\n"), eve);
        assert_eq!(seen(patterns, b"> \r\x1b[K[1] eve joined\n> "), eve);
        assert_eq!(seen(patterns, b"[1] <ann> \x1b[2K\x1b[1G[1] eve joined\n"), []);
        assert_eq!(seen(patterns, b"[1] ann joined\n"), [Seen::Came("ann".into())]);
    }

    #[test]
    fn a_pattern_that_matches_everything_fills_no_memory() {
        let text = "up 5\n".repeat(10_000);
        assert_eq!(seen(["up", "down", ""], text.as_bytes()), [Seen::Joined(10_000)]);
        assert_eq!(seen(["", "", r"up (\d)"], text.as_bytes()), [Seen::Count(Some(5))]);
        let zeros = [Seen::Count(Some(2)), Seen::Count(Some(0)), Seen::Count(Some(3)), Seen::Count(None)];
        assert_eq!(seen(["", "", r"(\S)"], b"1\n2\n0\n3\nx\n"), zeros, "what changes something stays");
    }

    #[test]
    fn a_name_is_trimmed_and_cut_and_never_empty() {
        let name = |text: &str| seen(["^<(.*)> in$", "^<(.*)> out$", ""], text.as_bytes());
        assert_eq!(name("< ann > in\n"), [Seen::Came("ann".into())]);
        assert_eq!(name("<> in\n< > out\n"), []);
        let long = "ö".repeat(200);
        assert_eq!(name(&format!("<{long}> out\n")), [Seen::Went("ö".repeat(128))]);
    }
}
