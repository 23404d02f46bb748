//! The plain values: durations, counts, ports, words out of a few, lists.
//!
//! Each parser answers with the value or with a predicate about the text, such
//! as `is not a number of seconds (write 5)`; who calls it puts the quoted text
//! in front. Nothing here knows which variable it reads.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use super::target::Secret;
use crate::settings::engine::suggest;

/// The longest time that can be set: ten years of 365 days. Longer ones are
/// slips, and deadlines may be added up without a thought of overflow.
const LONGEST: u64 = 10 * 365 * 24 * 60 * 60;

/// The shortest: the resolution of poll(2) and of gRPC's deadlines. Below it an
/// interval is a busy loop.
const SHORTEST: Duration = Duration::from_millis(1);

/// More items than this in one list are a slip: a round runs them all at once.
pub(crate) const MOST_ITEMS: usize = 64;

/// The longest password that is sent to a game, in bytes.
pub(crate) const LONGEST_PASSWORD: usize = 512;

/// Shown of a value in a message, in characters: a variable can hold 128 KiB.
pub(crate) const SHOWN: usize = 120;

/// A time above 0.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match seconds_or_zero(text)? {
        Duration::ZERO => Err("is not a number of seconds above 0 (write 1 or 0.5)".into()),
        time => Ok(time),
    }
}

/// A time, where 0 has a meaning of its own. Digits, with at most one point
/// between two of them: no sign, no exponent, no unit.
pub(crate) fn seconds_or_zero(text: &str) -> Result<Duration, String> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    if !is_digits(whole) || !fraction.is_none_or(is_digits) {
        return Err(format!("is not a number of seconds (write {})", meant_seconds(text)));
    }
    let time = whole
        .parse()
        .map(|seconds| Duration::new(seconds, nanoseconds(fraction.unwrap_or("0"))))
        .ok()
        .filter(|&time| time <= Duration::from_secs(LONGEST))
        .ok_or_else(|| format!("is more than ten years (write at most {LONGEST})"))?;
    let is_zero = !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if time < SHORTEST && !is_zero {
        return Err("is less than a millisecond (write at least 0.001)".into());
    }
    Ok(time)
}

/// The first nine digits of a fraction; what comes after is below a nanosecond.
fn nanoseconds(fraction: &str) -> u32 {
    fraction.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

/// What somebody who wrote this will have meant, where that can be told.
fn meant_seconds(text: &str) -> String {
    let text = text.trim();
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, unit) = unsigned.split_at(end);
    // Thousandths, so that 500ms becomes 0.5 without any rounding.
    let factor: u64 = match unit.trim() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" | "S" => 1000,
        "ms" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _ => 0,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
    let thousandths = (factor > 0 && is_digits(whole) && whole.len() < 10 && fraction.len() < 4)
        .then(|| format!("{whole}{fraction:0<3}").parse::<u64>().ok())
        .flatten()
        .and_then(|number| number.checked_mul(factor));
    match thousandths {
        Some(number) if number % 1000 == 0 && number > 0 => {
            let number = number / 1000;
            let (whole, rest) = (number / 1000, number % 1000);
            if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
        }
        _ => "5 or 0.5".into(),
    }
}

/// A number of rounds.
pub(crate) fn rounds(text: &str) -> Result<NonZeroU32, String> {
    if !is_digits(text) {
        return Err("is not a number of rounds (write 3)".into());
    }
    match text.parse::<u32>().map(NonZeroU32::new) {
        Ok(Some(rounds)) => Ok(rounds),
        Ok(None) => Err("is not a number of rounds above 0 (write 1 or more)".into()),
        Err(_) => Err(format!("is too many rounds (write at most {})", u32::MAX)),
    }
}

/// A number of lines.
pub(crate) fn lines(text: &str) -> Result<NonZeroU32, String> {
    match text.parse() {
        Ok(lines) if is_digits(text) => Ok(lines),
        _ if is_digits(text) && text.bytes().any(|byte| byte != b'0') => {
            Err(format!("is too many lines (write at most {})", u32::MAX))
        }
        _ => Err("is not a number of lines above 0 (write 1 or more)".into()),
    }
}

/// A path of a file; it need not be there.
pub(crate) fn path(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("is not a path: it has a control character in it".into());
    }
    Ok(text.to_owned())
}

/// The password of a game's remote console. The messages say nothing of it.
pub(crate) fn password(text: &str) -> Result<Secret, String> {
    if text.is_empty() {
        return Err("is empty".into());
    }
    if text.chars().any(char::is_control) {
        return Err("has a control character in it (a password is one line)".into());
    }
    if text.len() > LONGEST_PASSWORD {
        return Err(format!("is longer than {LONGEST_PASSWORD} bytes"));
    }
    Ok(Secret(text.to_owned()))
}

/// A port number.
pub(crate) fn port(text: &str) -> Result<NonZeroU16, String> {
    Some(text)
        .filter(|text| is_digits(text))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| "is not a port (write a number from 1 to 65535)".into())
}

/// The name of a Counter: whatever Kubernetes takes as a key of a map that a
/// person can have meant.
pub(crate) fn counter_name(text: &str) -> Result<String, String> {
    key(text, "a Counter")
}

/// The name of a List, alike.
pub(crate) fn list_name(text: &str) -> Result<String, String> {
    key(text, "a List")
}

fn key(text: &str, of: &str) -> Result<String, String> {
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err(format!("is not the name of {of}: it has a blank at an end or a control character in it"));
    }
    Ok(text.to_owned())
}

/// An exit code that a program may have besides 0.
pub(crate) fn exit_code(text: &str) -> Result<u8, String> {
    let code = Some(text).filter(|text| is_digits(text)).and_then(|text| text.parse::<u8>().ok());
    code.filter(|&code| code > 0).ok_or_else(|| "is not an exit code (write a number from 1 to 255)".into())
}

/// Lines for a console: `\n` separates them, `\\` is a backslash.
pub(crate) fn console_lines(text: &str) -> Result<Vec<String>, String> {
    let mut lines = vec![String::new()];
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let last = lines.last_mut().expect("there is always one");
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\n', _) | ('\\', Some('n')) => lines.push(String::new()),
            ('\\', Some('\\')) => last.push('\\'),
            ('\\', Some(other)) => {
                return Err(format!(r"has \{other} in it, which means nothing (write \\ for a backslash)"));
            }
            ('\\', None) => return Err(r"ends in a lone backslash (write \\ for one)".into()),
            (c, _) if c.is_control() && c != '\t' => {
                return Err("has a control character in it (write the command)".into());
            }
            (c, _) => last.push(c),
        }
    }
    // Every line is ended; an end that was written too makes no empty one.
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    Ok(lines)
}

/// One of a few words, in lower case, as the table's help lists them.
pub(crate) fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let listed = one_of(&names);
    Err(match suggest::nearest(&text.trim().to_lowercase(), names.iter().copied()) {
        Some(near) => format!("is not {listed} (write {near})"),
        None => format!("is not {listed}"),
    })
}

/// `0` or `1`.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    word(text, &[("0", false), ("1", true)])
}

/// 0, where it is allowed at all, means never.
pub(crate) fn unless_zero(time: Duration) -> Option<Duration> {
    Some(time).filter(|time| !time.is_zero())
}

/// A list of paths.
pub(crate) fn paths(text: &str) -> Result<Vec<String>, Vec<String>> {
    list(text, |items, index| path(items[index]), |items, index| items[index].to_owned())
}

/// `a, b or c`.
pub(crate) fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The items of a list, or what is wrong with each of those that are wrong.
/// `parse` and `show` (the form of an item in messages) get all items and the
/// index of theirs.
pub(crate) fn list<T>(
    text: &str,
    parse: fn(&[&str], usize) -> Result<T, String>,
    show: fn(&[&str], usize) -> String,
) -> Result<Vec<T>, Vec<String>> {
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    if items.len() > MOST_ITEMS {
        return Err(vec![format!("has {} items (write at most {MOST_ITEMS})", items.len())]);
    }
    let mut values = Vec::new();
    let mut errors = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if item.is_empty() {
            let all: Vec<String> = (0..items.len()).map(|index| show(&items, index)).collect();
            let all = quote(&all.join(","));
            errors.push(match items.len() {
                1 => format!("{all} has nothing in it (leave it unset instead)"),
                _ => format!("item {} of {all} is empty (remove a comma)", index + 1),
            });
            continue;
        }
        match parse(&items, index) {
            Ok(value) => values.push(value),
            Err(wrong) => errors.push(format!("{} {wrong}", quote(&show(&items, index)))),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// The text in quotes, with escapes for what a terminal would act on, cut where
/// it would flood the line.
pub(crate) fn quote(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Escapes for what would end the line or act on a terminal, and nothing else.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// The name of a variable, without quotes: it may have anything in it but `=`.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

/// Not empty, and ASCII digits alone: `str::parse` would take a sign.
pub(crate) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        seconds(text).expect_err(text)
    }

    #[test]
    fn an_exit_code_is_a_number_from_1_to_255() {
        assert_eq!((exit_code("1"), exit_code("143"), exit_code("255")), (Ok(1), Ok(143), Ok(255)));
        for text in ["0", "256", "-1", "+1", "SIGTERM", "1.0", "99999999999"] {
            assert!(exit_code(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_are_digits_and_one_point_between_digits() {
        for (text, wanted) in [
            ("5", Duration::from_secs(5)),
            ("0.5", Duration::from_millis(500)),
            ("005.250", Duration::from_millis(5250)),
            ("0.001", Duration::from_millis(1)),
            ("1.0000000019", Duration::new(1, 1)),
            ("315360000", Duration::from_secs(315_360_000)),
        ] {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn a_slip_is_answered_with_what_was_meant() {
        for (text, meant) in [
            ("5s", "5"),
            (" 5", "5"),
            ("5\n", "5"),
            ("+5", "5"),
            ("5.", "5"),
            (".5", "0.5"),
            ("500ms", "0.5"),
            ("1m", "60"),
            ("2 min", "120"),
            ("1.5h", "5400"),
            ("1e3", "5 or 0.5"),
            ("nan", "5 or 0.5"),
            ("inf", "5 or 0.5"),
            ("-1", "5 or 0.5"),
            ("5,5", "5 or 0.5"),
            ("٥", "5 or 0.5"),
            (" ", "5 or 0.5"),
            ("", "5 or 0.5"),
            (".", "5 or 0.5"),
            ("1.2.3", "5 or 0.5"),
            ("99999999999999999999s", "5 or 0.5"),
        ] {
            assert_eq!(wrong(text), format!("is not a number of seconds (write {meant})"), "{text:?}");
        }
    }

    #[test]
    fn what_is_meant_is_always_something_that_parses() {
        for text in ["5s", "+5", "0.50s", "1.5h", "999ms", "1ms", "999999999h"] {
            let meant = meant_seconds(text);
            assert!(meant == "5 or 0.5" || seconds(&meant).is_ok() || meant.len() > 9, "{text}: {meant}");
        }
    }

    #[test]
    fn a_time_has_bounds() {
        assert_eq!(wrong("0"), "is not a number of seconds above 0 (write 1 or 0.5)");
        assert_eq!(wrong("0.000"), "is not a number of seconds above 0 (write 1 or 0.5)");
        assert_eq!(wrong("0.0009"), "is less than a millisecond (write at least 0.001)");
        assert_eq!(wrong("0.0000000001"), "is less than a millisecond (write at least 0.001)");
        for text in ["1000000000", "315360000.5", "99999999999999999999999"] {
            assert_eq!(wrong(text), "is more than ten years (write at most 315360000)", "{text}");
        }
        assert_eq!(seconds_or_zero("0"), Ok(Duration::ZERO));
        assert_eq!(seconds_or_zero("0.0"), Ok(Duration::ZERO));
    }

    #[test]
    fn rounds_are_a_whole_number_above_0() {
        assert_eq!(rounds("3").map(NonZeroU32::get), Ok(3));
        for (text, message) in [
            ("0", "is not a number of rounds above 0 (write 1 or more)"),
            ("+3", "is not a number of rounds (write 3)"),
            ("2.5", "is not a number of rounds (write 3)"),
            ("4294967296", "is too many rounds (write at most 4294967295)"),
        ] {
            assert_eq!(rounds(text), Err(message.into()), "{text}");
        }
    }

    #[test]
    fn a_word_is_one_of_a_few_and_a_near_miss_is_told() {
        let words = [("auto", 1), ("off", 2), ("required", 3)];
        assert_eq!(word("off", &words), Ok(2));
        assert_eq!(word("OFF", &words), Err("is not auto, off or required (write off)".into()));
        assert_eq!(word("require", &words), Err("is not auto, off or required (write required)".into()));
        assert_eq!(word("sometimes", &words), Err("is not auto, off or required".into()));
    }

    #[test]
    fn every_wrong_item_of_a_list_is_named() {
        let show = |items: &[&str], index: usize| items[index].to_owned();
        let port = |items: &[&str], index: usize| port(items[index]);
        assert_eq!(list("1, 2 ,\t3", port, show).map(|ports| ports.len()), Ok(3));
        assert_eq!(
            list("1,,x,0,", port, show),
            Err(vec![
                r#"item 2 of "1,,x,0," is empty (remove a comma)"#.into(),
                r#""x" is not a port (write a number from 1 to 65535)"#.into(),
                r#""0" is not a port (write a number from 1 to 65535)"#.into(),
                r#"item 5 of "1,,x,0," is empty (remove a comma)"#.into(),
            ])
        );
        assert_eq!(list(" ", port, show), Err(vec![r#""" has nothing in it (leave it unset instead)"#.into()]));
        assert_eq!(list(&"1,".repeat(70), port, show), Err(vec!["has 71 items (write at most 64)".into()]));
    }

    #[test]
    fn a_long_value_does_not_flood_the_line() {
        assert_eq!(quote(&"é".repeat(500)), format!("\"{}\"...", "é".repeat(120)));
        assert_eq!(quote("a\u{1b}[2J\"\n"), r#""a\u{1b}[2J\"\n""#);
    }
}
