//! The nearest known name to a misspelt one.
//!
//! Distances are counted in single edits, a swap of neighbours being one of
//! them: that is how fingers slip. Nothing here knows what the names mean.

/// Names longer than this are nobody's slip; it also bounds the work.
const LONGEST: usize = 64;

/// The candidate with the fewest edits to `word`, the first of several, if at
/// most a third of the longer of the two would have to change.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().collect();
            let edits = distance(&word, &letters);
            (edits <= word.len().max(letters.len()) / 3).then_some((edits, candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// The same for names made of words, as `READY_TCP` is. A name that differs by a whole word is not a slip but another
/// thing, perhaps one of a later version: what is left between the words that both begin and end with has to be near.
pub(crate) fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, candidates.into_iter().filter(|candidate| is_near_by_words(name, candidate)))
}

fn is_near_by_words(name: &str, candidate: &str) -> bool {
    let (mut left, mut right): (Vec<&str>, Vec<&str>) = (name.split('_').collect(), candidate.split('_').collect());
    let begins = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    left.drain(..begins);
    right.drain(..begins);
    let ends = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    left.truncate(left.len() - ends);
    right.truncate(right.len() - ends);
    let (left, right) = (left.join("_"), right.join("_"));
    // A word that was cut short or written out, or the unit at the end left out: LIVENESS_TCP, HEALTH_INTERVAL.
    let is_cut = match (left.is_empty(), right.is_empty()) {
        (false, false) => left.starts_with(&right) || right.starts_with(&left),
        _ => ends == 0,
    };
    is_cut || nearest(&left, [right.as_str()]).is_some()
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b` (optimal string alignment, three rows at a time).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, wanted) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("TPC", "TCP", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(a), &letters(b)), wanted, "{a} {b}");
        }
    }

    #[test]
    fn a_name_with_another_word_in_it_is_no_slip() {
        let names = ["READY_TCP", "READY_EXEC", "READY_LOG_FILE", "COUNTER_NAME", "STOP_TIMEOUT_SECS", "LIVE_TCP"];
        // Of a later version, each of them: the nearest of this one would do something else.
        for name in ["READY_TEXT", "GAME_LOG_FILE", "COUNTER_LOG", "STOP_LINE_TIMEOUT_SECS", "READY", "READY_LOG_PATH"]
        {
            assert_eq!(nearest_name(name, names), None, "{name}");
        }
        for (slip, meant) in [
            ("READY_TPC", "READY_TCP"),
            ("REDAY_TCP", "READY_TCP"),
            ("READYTCP", "READY_TCP"),
            ("READY_LOGFILE", "READY_LOG_FILE"),
            ("STOP_TIMEOUT", "STOP_TIMEOUT_SECS"),
            ("LIVENESS_TCP", "LIVE_TCP"),
            ("COUNTER_NAMES", "COUNTER_NAME"),
        ] {
            assert_eq!(nearest_name(slip, names), Some(meant), "{slip}");
        }
    }

    #[test]
    fn only_a_near_name_is_suggested() {
        let names = ["READY_TCP", "READY_HTTP", "PROBE_TIMEOUT_SECS", "HUP"];
        assert_eq!(nearest("READY_TPC", names), Some("READY_TCP"));
        assert_eq!(nearest("READYTCP", names), Some("READY_TCP"));
        assert_eq!(nearest("READY_PORT", names), None);
        assert_eq!(nearest("PROBE_TIMEOUT", names), Some("PROBE_TIMEOUT_SECS"));
        assert_eq!(nearest("HUB", names), Some("HUP"));
        assert_eq!(nearest("FOO", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"READY_TCP".repeat(1000), names), None);
    }
}
