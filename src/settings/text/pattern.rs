//! A regular expression that lines are held against, and where it is wrong if it is.
//!
//! regex-lite and not regex: a tenth of the size, and no pattern takes longer than its length times that of the line.
//! What it does not have is `\p{...}` and other letters than ASCII in `\w`, `\d` and `(?i)`.

use std::fmt;

use regex_lite::Regex;

use super::plain::quote;

/// Longer than any line that somebody waits for.
const LONGEST: usize = 1000;

/// A regular expression as it was written.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
    /// The text itself is no match.
    is_no_text: bool,
    /// ASCII that every match has in it; looked for first, it spares the expression nearly every line.
    needle: Vec<u8>,
}

impl Pattern {
    /// A line has a match in it. What of it is no UTF-8 is one character each.
    #[must_use]
    pub fn is_match(&self, line: &[u8]) -> bool {
        has(line, &self.needle) && self.regex.is_match(&String::from_utf8_lossy(line))
    }
}

impl Pattern {
    /// The groups of the first match in a text, those that take part in it; the match itself where it has none.
    pub(crate) fn groups<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let captures = self.regex.captures(text)?;
        let skipped = usize::from(captures.len() > 1);
        Some(captures.iter().skip(skipped).flatten().map(|group| group.as_str()).collect())
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

    /// It looks like text that was copied from a log, or like one with the quotes of another format, and would match
    /// neither: what is wrong with it, and what to write.
    pub(crate) fn slip(&self) -> Option<(&'static str, String)> {
        let text = self.text.as_str();
        for mark in ['"', '\'', '/'] {
            if let Some(inner) =
                text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark)).filter(|s| !s.is_empty())
            {
                return Some((
                    "has marks around it that belong to the pattern here (docker's --env-file keeps quotes)",
                    inner.to_owned(),
                ));
            }
        }
        // What only an expression has.
        let is_meant =
            ["\\", "^", "$", "|", "*", "+", "{", "(?", "0-9", "a-z", "A-Z"].iter().any(|mark| text.contains(mark));
        (self.is_no_text && !is_meant).then(|| ("as a regular expression does not match its own text", self.escaped()))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

/// In quotes, cut where it would flood a line.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text.char_indices().nth(super::plain::SHOWN) {
            Some((end, _)) => write!(f, "\"{}\"...", &self.text[..end]),
            None => write!(f, "\"{}\"", self.text),
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
            Ok(Pattern { text: text.to_owned(), regex, is_no_text, needle: needle(text) })
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

/// The longest piece of a good pattern that stands for itself in every match. Where that would take understanding, less
/// of it or nothing: the expression decides in the end.
fn needle(text: &str) -> Vec<u8> {
    if text.contains("(?") || text.contains('|') {
        return Vec::new();
    }
    let (mut best, mut run) = (Vec::new(), Vec::new());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let literal = match c {
            '\\' => match rest.next() {
                Some('<' | '>' | 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'B' | 'A' | 'z') => None,
                Some(escaped) if escaped.is_ascii_punctuation() => Some(escaped),
                _ => break,
            },
            '[' | '(' => break,
            '*' | '?' | '+' | '{' => {
                run.pop();
                if c == '{' {
                    rest.by_ref().find(|&c| c == '}');
                }
                None
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
    best
}

fn keep_longer(best: &mut Vec<u8>, run: &mut Vec<u8>) {
    if run.len() > best.len() {
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
            ("Done", "Done"),
            (r"^\[.*INFO\]: Done \([0-9.]+s\)!", "INFO]: Done ("),
            ("colou?r", "colo"),
            ("ab{0,3}cde", "cde"),
            ("a+bc", "bc"),
            (r"\x41bcd", ""),
            ("one|other", ""),
            ("(?i)done", ""),
            ("käse", "se"),
        ] {
            assert_eq!(String::from_utf8(needle(text)).as_deref(), Ok(wanted), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_needle_spares_no_line_that_matches(
            text in r"([ab1.*+?()\[\]{}^$|,-]|\\.|\{[01](,[1-3])?\}){0,12}",
            line in r"[ab1.\\*{}\[\]()^-]{0,24}",
        ) {
            if let Ok(pattern) = pattern(&text) {
                prop_assert_eq!(pattern.is_match(line.as_bytes()), pattern.regex.is_match(&line), "{:?}", pattern);
            }
        }
    }

    #[test]
    fn it_is_shown_as_it_was_written() {
        assert_eq!(pattern(r"^Done \(\d").expect("good").to_string(), r#""^Done \(\d""#);
        assert_eq!(pattern(&"é".repeat(200)).expect("good").to_string(), format!("\"{}\"...", "é".repeat(120)));
    }
}
