//! What lines are held against: a regular expression, and where it is wrong if it is; or plain texts, one of which has
//! to be in the line.
//!
//! regex-lite and not regex: a tenth of the size, and no pattern takes longer than its length times that of the line.
//! What it does not have is `\p{...}` and other letters than ASCII in `\w`, `\d` and `(?i)`.

use std::fmt;
use std::str::Chars;

use regex_lite::Regex;

use super::plain::{console_lines, one_line, quote};

/// Longer than any line that somebody waits for.
const LONGEST: usize = 1000;

/// A plain piece of this length is as good as any longer one in front of it: the lines of a game begin alike (time, level)
/// and end with what they say.
const LONG: usize = 8;

/// A regular expression or plain texts, as they were written.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// `None` where the needles are all of it.
    regex: Option<Regex>,
    /// An expression, and the text itself is no match.
    is_no_text: bool,
    /// Every match has one of these in it; looked for first, they spare the expression nearly every line. None at all
    /// where nothing is known of the matches.
    needles: Vec<Vec<u8>>,
}

impl Pattern {
    /// A line has a match in it. What of it is no UTF-8 is one character each.
    #[must_use]
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.may_match(line) && self.regex.as_ref().is_none_or(|regex| regex.is_match(&String::from_utf8_lossy(line)))
    }

    /// Something that every match has is in the line.
    fn may_match(&self, line: &[u8]) -> bool {
        self.needles.is_empty() || self.needles.iter().any(|needle| has(line, needle))
    }
}

impl Pattern {
    /// The groups of the first match in a text, those that take part in it; the match itself where it has none.
    pub(crate) fn groups<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let captures = self.regex.as_ref()?.captures(text)?;
        let skipped = usize::from(captures.len() > 1);
        Some(captures.iter().skip(skipped).flatten().map(|group| group.as_str()).collect())
    }

    /// It has a group.
    pub(crate) fn has_groups(&self) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Shows the first group that takes part in the first match in a line: `None` where no group does. Without a match
    /// nothing is shown, and the answer is false.
    pub(crate) fn show_group(&self, line: &[u8], show: impl FnOnce(Option<&str>)) -> bool {
        let Some(regex) = self.regex.as_ref().filter(|_| self.may_match(line)) else { return false };
        let text = String::from_utf8_lossy(line);
        let captures = regex.captures(&text);
        let is_match = captures.is_some();
        if let Some(captures) = captures {
            show(captures.iter().skip(1).flatten().next().map(|group| group.as_str()));
        }
        is_match
    }
}

impl Pattern {
    /// A line that does not match has the pattern in it as plain text.
    #[must_use]
    pub fn is_plain_in(&self, line: &[u8]) -> bool {
        self.is_no_text && has(line, self.text.as_bytes())
    }

    /// The pattern that matches this one's text.
    #[must_use]
    pub fn escaped(&self) -> String {
        regex_lite::escape(&self.text)
    }

    /// It looks like text that was copied from a log, or like a pattern between slashes, and would match neither: what is
    /// wrong with it, and what to do.
    pub(crate) fn slip(&self) -> Option<(&'static str, String)> {
        let text = self.text.as_str();
        if let Some(inner) = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')).filter(|s| !s.is_empty()) {
            return Some(("has slashes around it, which a line would need too", format!("write {inner}")));
        }
        // What only an expression has.
        let is_meant =
            ["\\", "^", "$", "|", "*", "+", "{", "(?", "0-9", "a-z", "A-Z"].iter().any(|mark| text.contains(mark));
        (self.is_no_text && !is_meant).then(|| {
            let remedy = format!("set AGONES_SHIM_READY_TEXT to it instead, or write {}", self.escaped());
            ("as a regular expression does not match its own text", remedy)
        })
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.regex.is_some() == other.regex.is_some()
    }
}

impl Eq for Pattern {}

/// In quotes, cut where it would flood a line.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text.char_indices().nth(super::plain::SHOWN) {
            Some((end, _)) => write!(f, "\"{}\"...", one_line(&self.text[..end])),
            None => write!(f, "\"{}\"", one_line(&self.text)),
        }
    }
}

/// Reads one, or says where it is wrong.
pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
    if text.len() > LONGEST {
        return Err(format!("is longer than a pattern may be (write at most {LONGEST} bytes)"));
    }
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        return Err(format!("has a control character in it (write \\x{:02x})", u32::from(control)));
    }
    match Regex::new(text) {
        Ok(regex) => {
            let is_no_text = !regex.is_match(text);
            Ok(Pattern { text: text.to_owned(), regex: Some(regex), is_no_text, needles: needles(text) })
        }
        Err(error) => {
            let wrong = quote(&text[longest_good(text)..]);
            Err(format!(
                "is not a regular expression: at {wrong}, {error} (a backslash takes a character as it stands)"
            ))
        }
    }
}

/// How much of a wrong pattern is one by itself: what is wrong begins behind it.
fn longest_good(text: &str) -> usize {
    let ends = text.char_indices().map(|(end, _)| end).rev();
    ends.into_iter().find(|&end| Regex::new(&text[..end]).is_ok()).unwrap_or(0)
}

/// Plain texts, one of which has to be in a line: `\n` separates them, `\\` is a backslash.
pub(crate) fn texts(text: &str) -> Result<Pattern, String> {
    if text.len() > LONGEST {
        return Err(format!("is longer than a text may be (write at most {LONGEST} bytes)"));
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("has a control character in it (write what can be seen of the line)".into());
    }
    let texts = console_lines(text)?;
    if texts.iter().any(String::is_empty) {
        return Err("has an empty text in it, which every line contains (write what only the one line has)".into());
    }
    Ok(Pattern {
        text: text.to_owned(),
        regex: None,
        is_no_text: false,
        needles: texts.into_iter().map(String::into_bytes).collect(),
    })
}

/// Of each alternative of a good pattern, a piece that stands for itself in every match: the longest, or the last of those
/// that are [`LONG`]; nothing where one has none.
fn needles(text: &str) -> Vec<Vec<u8>> {
    let mut needles = Vec::new();
    let mut rest = text.chars();
    loop {
        let Some((needle, is_last)) = needle(&mut rest).filter(|(needle, _)| !needle.is_empty()) else {
            return Vec::new();
        };
        needles.push(needle);
        if is_last {
            return needles;
        }
    }
}

/// The best plain piece up to the next alternative, and whether there is none. Where that would take understanding,
/// `None`: the expression decides in the end.
fn needle(rest: &mut Chars<'_>) -> Option<(Vec<u8>, bool)> {
    let (mut best, mut run) = (Vec::new(), Vec::new());
    while let Some(c) = rest.next() {
        let literal = match c {
            '\\' => match rest.next()? {
                '<' | '>' | 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' | 'A' | 'z' => None,
                escaped if escaped.is_ascii_punctuation() => Some(escaped),
                _ => return None,
            },
            '[' => {
                skip_class(rest)?;
                None
            }
            '(' => {
                skip_group(rest)?;
                None
            }
            '*' | '?' | '+' | '{' => {
                run.pop();
                if c == '{' {
                    rest.find(|&c| c == '}')?;
                }
                None
            }
            '|' => {
                keep_longer(&mut best, &mut run);
                return Some((best, false));
            }
            '.' | '^' | '$' => None,
            c => Some(c).filter(char::is_ascii),
        };
        match literal.and_then(|c| u8::try_from(c).ok()) {
            Some(byte) => run.push(byte),
            None => keep_longer(&mut best, &mut run),
        }
    }
    keep_longer(&mut best, &mut run);
    Some((best, true))
}

/// Goes behind the end of a class whose bracket is open.
fn skip_class(rest: &mut Chars<'_>) -> Option<()> {
    let mut c = rest.next()?;
    if c == '^' {
        c = rest.next()?;
    }
    // One at the beginning stands for itself.
    if c == ']' {
        c = rest.next()?;
    }
    loop {
        match c {
            ']' => return Some(()),
            // `[:alpha:]`, or something that only looks like it.
            '[' => return None,
            '\\' => drop(rest.next()?),
            _ => {}
        }
        c = rest.next()?;
    }
}

/// Goes behind the end of a group whose bracket is open. Flags may change what comes behind: `None`.
fn skip_group(rest: &mut Chars<'_>) -> Option<()> {
    let is_plain = |rest: &Chars<'_>| {
        let mut ahead = rest.clone();
        ahead.next() != Some('?') || matches!(ahead.next(), Some(':' | 'P' | '<'))
    };
    let mut depth = 1;
    if !is_plain(rest) {
        return None;
    }
    loop {
        match rest.next()? {
            '\\' => drop(rest.next()?),
            '[' => skip_class(rest)?,
            '(' if !is_plain(rest) => return None,
            '(' => depth += 1,
            ')' if depth == 1 => return Some(()),
            ')' => depth -= 1,
            _ => {}
        }
    }
}

fn keep_longer(best: &mut Vec<u8>, run: &mut Vec<u8>) {
    if run.len() > best.len() || run.len() >= LONG {
        std::mem::swap(best, run);
    }
    run.clear();
}

fn has(line: &[u8], needle: &[u8]) -> bool {
    let Some((&first, rest)) = needle.split_first() else { return true };
    let mut line = line;
    while let Some(at) = line.iter().position(|&byte| byte == first) {
        line = &line[at + 1..];
        if line.starts_with(rest) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wrong_pattern_is_an_error_that_shows_where() {
        for (text, wrong) in [
            ("Done (", r#"at "(", found open group without closing ')'"#),
            ("a(b)c(d", r#"at "(d", found open group without closing ')'"#),
            ("up) now", r#"at ") now", found closing ')' without matching '('"#),
            ("*up", r#"at "*up", uncounted repetition operator must be applied to a sub-expression"#),
            ("port [0-9", r#"at "[0-9", found unclosed character class"#),
            ("x{3,1}y", r#"at "{3,1}y", found counted repetition with a min bigger than its max"#),
            (r"\p{L}", r#"at "\\p{L}", Unicode character classes are not supported"#),
            (r"é(?=x)", r#"at "(?=x)", look-around is not supported"#),
            (r"up\", r#"at "\\", saw start of escape sequence, but saw end of pattern before it finished"#),
        ] {
            let message = pattern(text).expect_err(text);
            let wanted = format!("is not a regular expression: {wrong} (a backslash takes a character as it stands)");
            assert_eq!(message, wanted, "{text}");
        }
    }

    #[test]
    fn what_cannot_have_been_meant_is_an_error() {
        assert_eq!(pattern("a\tb").expect_err("a tab"), r"has a control character in it (write \x09)");
        assert_eq!(
            pattern(&"x".repeat(1001)).expect_err("too long"),
            "is longer than a pattern may be (write at most 1000 bytes)"
        );
        assert!(pattern("x{1000}{1000}{1000}").is_err(), "bigger than memory");
    }

    #[test]
    fn what_every_match_has_in_it_is_found_where_it_is_plain() {
        for (text, wanted) in [
            ("Done", &["Done"][..]),
            (r"^\[.*INFO\]: Done \([0-9.]+s\)!", &["INFO]: Done ("]),
            ("colou?r", &["colo"]),
            ("ab{0,3}cde", &["cde"]),
            ("a+bc", &["bc"]),
            (r"a|\x41bcd", &[]),
            ("one|other", &["one", "other"]),
            ("one|[a-z]", &[]),
            ("(?i)done", &[]),
            ("all (?i:done) now", &[]),
            ("käse", &["se"]),
            (
                r"^\[[0-9:]+\] \[Server thread/INFO\](?: \[[^\]]*\])?: (\w{1,16}) joined the game$",
                &[" joined the game"],
            ),
            (r#"^print "(.+?)(?:\^7)? entered the game\\n"$"#, &[" entered the game\\n\""]),
            (r"([]]|[^]a[])+ was (?P<who>(a)b) here", &[]),
            (r"([])]|[^])(])+ was (?P<who>(a)b) here", &[" was "]),
        ] {
            let found = needles(text);
            let found: Vec<_> = found.iter().map(|needle| String::from_utf8_lossy(needle)).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn texts_are_plain_and_one_of_them_is_enough() {
        let pattern = texts(r")! For help, type \n[Server] Startup Completed\nC:\\ is käse").expect("good");
        for line in ["[12:00] Done (3s)! For help, type \"help\"", "[Server] Startup Completed.", r"C:\ is käse"] {
            assert!(pattern.is_match(line.as_bytes()), "{line}");
        }
        assert_eq!(texts("a\tb\nc").expect("good").to_string(), r#""a\tb\nc""#, "one line in logs");
        assert!(!pattern.is_match(b"Server Startup Completed") && !pattern.is_match(b""));
        for (text, wrong) in [
            ("up\\n\\nnow", "has an empty text in it, which every line contains (write what only the one line has)"),
            (r"\d up", r"has \d in it, which means nothing (write \\ for a backslash)"),
            ("a\u{1b}b", "has a control character in it (write what can be seen of the line)"),
        ] {
            assert_eq!(texts(text).expect_err(text), wrong);
        }
    }

    #[test]
    fn the_first_group_that_takes_part_is_shown() {
        let group = |text: &str, line: &[u8]| {
            let mut shown = None;
            let is_match = pattern(text).expect("good").show_group(line, |group| shown = group.map(str::to_owned));
            (is_match, shown)
        };
        assert_eq!(group(r"(\d+) on|on: (\d+)", b"on: 12"), (true, Some("12".into())));
        assert_eq!(group(r"^(.+) came", b"J\xffn came"), (true, Some("J\u{fffd}n".into())));
        assert_eq!(group("a(b)?", b"a"), (true, None));
        assert_eq!(group("a(b)", b"a"), (false, None));
    }

    proptest! {
        #[test]
        fn the_needle_spares_no_line_that_matches(
            text in r"([ab1.*+?()\[\]{}^$|,-]|\\.|\{[01](,[1-3])?\}|\([ab?:]|\[\^?\]?[ab]){0,12}",
            line in r"[ab1.\\*{}\[\]()^-]{0,24}",
        ) {
            if let Ok(pattern) = pattern(&text) {
                let wanted = pattern.regex.as_ref().is_some_and(|regex| regex.is_match(&line));
                prop_assert_eq!(pattern.is_match(line.as_bytes()), wanted, "{:?}", pattern);
            }
        }
    }

    #[test]
    fn it_is_shown_as_it_was_written() {
        assert_eq!(pattern(r"^Done \(\d").expect("good").to_string(), r#""^Done \(\d""#);
        assert_eq!(pattern(&"é".repeat(200)).expect("good").to_string(), format!("\"{}\"...", "é".repeat(120)));
    }
}
