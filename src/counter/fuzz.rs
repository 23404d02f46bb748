//! What has to hold for every pattern and every line that a game writes.

use std::sync::mpsc::channel;

use super::tally::Tally;
use crate::log_lines::counted::{CountedLines, Seen, Told};
use crate::log_lines::lines::{LONGEST, Lines};
use crate::machine::Reading;
use crate::settings::{LineSource, Pattern, pattern};

/// Asserts that the pieces in which a text comes do not matter, and that a plain text is counted as line by line without
/// any short cut. The first three lines are the patterns for joins, leaves and a number, the rest is the text.
///
/// # Panics
///
/// When it does not hold: a bug in this module or in `log_lines`.
pub fn fuzz(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |&byte| byte == b'\n');
    let [join, leave, count] = [(); 3].map(|()| {
        let text = parts.next().map(String::from_utf8_lossy);
        text.and_then(|text| pattern::pattern(&text).ok())
    });
    let text = parts.next().unwrap_or_default();
    let moves = join.zip(leave).filter(|(join, leave)| join.has_groups() == leave.has_groups());
    let source = LineSource { count: count.filter(Pattern::has_groups), moves };
    let whole = counted(&source, text, text.len().max(1));
    assert_eq!(whole, counted(&source, text, 1 + text.len() % 7), "pieces");
    let is_plain = !text.iter().any(|byte| matches!(byte, 0 | 0x1b));
    if is_plain && text.len() < LONGEST {
        assert_eq!(whole, line_by_line(&source, text), "line by line");
    }
}

type Outcome = Result<Reading, String>;

fn counted(source: &LineSource, text: &[u8], size: usize) -> Outcome {
    let (sender, told) = channel();
    let mut lines = Lines::new(None, vec![CountedLines::new(source.clone(), sender)]);
    for piece in text.chunks(size) {
        lines.push(piece);
    }
    drop(lines);
    let mut tally = Tally::new(source.moves.is_some(), true);
    for told in told {
        if let Told::Seen(seen) = told {
            for seen in seen {
                tally.take(seen);
            }
        }
    }
    tally.report()
}

fn line_by_line(source: &LineSource, text: &[u8]) -> Outcome {
    let mut tally = Tally::new(source.moves.is_some(), true);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let Some(end) = text.iter().rposition(is_end) else { return tally.report() };
    // Behind words and a carriage return nothing counts.
    let lines = text[..end].split(|&byte| byte == b'\n').flat_map(|row| {
        let mut overwrites = false;
        row.split(|&byte| byte == b'\r').filter(move |line| {
            let counts = !overwrites && !line.is_empty();
            overwrites |= line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
            counts
        })
    });
    for line in lines {
        let line = String::from_utf8_lossy(line);
        let first = |pattern: &Pattern| {
            let groups = pattern.groups(&line)?;
            Some(groups.first().map(|group| group.trim().to_owned()))
        };
        let name = |who: Option<Option<String>>| who.flatten().filter(|who| !who.is_empty() && who.len() < 250);
        if let Some((join, leave)) = &source.moves {
            let is_named = join.has_groups();
            // A longer one is cut.
            if [first(join), first(leave)].into_iter().flatten().flatten().any(|who| is_named && who.len() >= 250) {
                return counted(source, text, text.len());
            }
            match first(join) {
                Some(_) if !is_named => tally.take(Seen::Joined(1)),
                who => name(who).into_iter().for_each(|who| tally.take(Seen::Came(who))),
            }
            match first(leave) {
                Some(_) if !is_named => tally.take(Seen::Left(1)),
                who => name(who).into_iter().for_each(|who| tally.take(Seen::Went(who))),
            }
        }
        if let Some(Some(number)) = source.count.as_ref().and_then(first) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            tally.take(Seen::Count(number.parse().ok().filter(|_| is_number)));
        }
    }
    tally.report()
}
