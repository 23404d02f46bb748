//! `name` or `name{label="value",...}`: which series of a metrics text to sum.
//!
//! Equality is the only matcher. There is no regular expression here on purpose: a sum over series that somebody
//! adds later to the game is a surprise; labels that are not named match anything.

use std::fmt;
use std::str::FromStr;

use super::line::{is_label_name, is_name_byte, is_name_start};

/// Which series of a metrics text to sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Exact metric name.
    pub name: String,
    /// Labels that a series must have, with exactly these values. As in Prometheus, an empty value stands for a label
    /// that is absent or empty.
    pub labels: Vec<(String, String)>,
}

impl FromStr for Selector {
    /// What is wrong, as the rest of a sentence that began with the variable's name.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.trim_matches(BLANKS);
        let text = Shown(text);
        if rest.is_empty() {
            return Err(format!("{text} has no metric name (write name or name{{label=\"value\"}})"));
        }
        let name = take_while(&mut rest, is_name_byte);
        if !name.bytes().next().is_some_and(is_name_start) {
            return Err(format!("{text} does not begin with a metric name (a letter, _ or : comes first)"));
        }
        let mut selector = Self { name: name.to_owned(), labels: Vec::new() };
        skip_blanks(&mut rest);
        if rest.is_empty() {
            return Ok(selector);
        }
        if !eat(&mut rest, '{') {
            return Err(unexpected(text, rest, "a metric name has only letters, digits, _ and :, then { or the end"));
        }
        loop {
            skip_blanks(&mut rest);
            if eat(&mut rest, '}') {
                break;
            }
            let (label, value) = matcher(text, &mut rest)?;
            if selector.labels.iter().any(|(known, _)| *known == label) {
                return Err(format!("{text} names the label {label} twice"));
            }
            selector.labels.push((label, value));
            skip_blanks(&mut rest);
            if eat(&mut rest, '}') {
                break;
            }
            if !eat(&mut rest, ',') {
                return Err(unexpected(text, rest, "after a label there is a comma or the closing }"));
            }
        }
        skip_blanks(&mut rest);
        if rest.is_empty() { Ok(selector) } else { Err(unexpected(text, rest, "nothing may follow the }")) }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (label, value)) in self.labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            write!(f, "{}{label}=\"{value}\"", if index == 0 { '{' } else { ',' })?;
        }
        if self.labels.is_empty() { Ok(()) } else { f.write_str("}") }
    }
}

/// In single quotes, since a selector is full of double ones.
#[derive(Clone, Copy)]
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |char: char| if char.is_control() { char.escape_default().to_string() } else { char.to_string() };
        write!(f, "'{}'", self.0.chars().map(plain).collect::<String>())
    }
}

/// Line ends too: a value out of a YAML block scalar has one at its end.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Reads `label="value"`.
fn matcher(text: Shown, rest: &mut &str) -> Result<(String, String), String> {
    let label = take_while(rest, |byte| is_name_byte(byte) && byte != b':');
    if !is_label_name(label.as_bytes()) {
        let at = if label.is_empty() { rest } else { label };
        return Err(unexpected(text, at, "a label name or the closing } is expected there"));
    }
    skip_blanks(rest);
    for operator in ["=~", "!~", "!=", "=="] {
        if rest.starts_with(operator) {
            return Err(format!("{text} compares the label {label} by {operator}, but = is the only comparison"));
        }
    }
    if !eat(rest, '=') {
        return Err(unexpected(text, rest, "after a label name there is a ="));
    }
    skip_blanks(rest);
    if !eat(rest, '"') {
        return Err(format!("{text} has no \" before the value of the label {label} (write {label}=\"value\")"));
    }
    let mut value = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next() {
            Some('"') => break,
            Some('\\') => match chars.next() {
                Some('n') => value.push('\n'),
                Some(char @ ('\\' | '"')) => value.push(char),
                Some(other) => {
                    return Err(format!("{text} has an unknown escape \\{other} (there are \\\\, \\\" and \\n)"));
                }
                None => return Err(format!("{text} has no \" after the value of the label {label}")),
            },
            Some(char) => value.push(char),
            None => return Err(format!("{text} has no \" after the value of the label {label}")),
        }
    }
    *rest = chars.as_str();
    Ok((label.to_owned(), value))
}

fn unexpected(text: Shown, rest: &str, wanted: &str) -> String {
    match rest.chars().next() {
        Some(char) => format!("{text} is not understood at the {char:?}: {wanted}"),
        None => format!("{text} ends too early: {wanted}"),
    }
}

fn skip_blanks(rest: &mut &str) {
    *rest = rest.trim_start_matches(BLANKS);
}

fn eat(rest: &mut &str, wanted: char) -> bool {
    rest.strip_prefix(wanted).map(|after| *rest = after).is_some()
}

/// `wanted` is true for ASCII only, so that the cut is at a character's border.
fn take_while<'a>(rest: &mut &'a str, wanted: impl Fn(u8) -> bool) -> &'a str {
    let end = rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at(end);
    *rest = after;
    taken
}
