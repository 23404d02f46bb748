//! One line of metrics text, without its end, against a selector.
//!
//! Bytes, not text: a label value that is no UTF-8 must not spoil its line. Nothing is allocated, nothing is looked at
//! twice but the labels that were asked for.

use super::Selector;

/// What a line is to a selector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line {
    /// A comment, a blank line, or a sample of another metric.
    Other,
    /// A sample of the metric, but of a series with other labels.
    OtherSeries,
    /// A sample of a series that is asked for.
    Sample(f64),
    /// It begins like a sample of the metric and does not go on like one.
    Malformed,
}

/// Reads one line. `seen` is scratch space, one flag for each label of the selector.
pub(super) fn read(line: &[u8], selector: &Selector, seen: &mut [bool]) -> Line {
    let mut rest = Bytes(line.strip_suffix(b"\r").unwrap_or(line));
    rest.skip_blanks();
    // The newest format writes a quoted name inside the braces: {"m",a="b"} 1
    let named = rest.peek() != Some(b'{');
    if named {
        match rest.0.strip_prefix(selector.name.as_bytes()) {
            Some(after) if !after.first().is_some_and(|&byte| is_name_byte(byte)) => rest.0 = after,
            // Comments and blank lines end here too: no name begins like them.
            _ => return Line::Other,
        }
    }
    let blanks = rest.skip_blanks();
    seen.fill(false);
    let mut series = Series { selector, seen, named, differs: false };
    if rest.eat(b'{') {
        if let Err(line) = series.read_labels(&mut rest) {
            return line;
        }
    } else if blanks == 0 {
        return Line::Malformed;
    }
    match read_value(&mut rest) {
        None => Line::Malformed,
        Some(value) if series.is_wanted() => Line::Sample(value),
        Some(_) => Line::OtherSeries,
    }
}

/// Whether it is a line of metrics text at all, of whatever metric: blank, a comment, or a whole sample.
pub(super) fn is_sound(line: &[u8], selector: &Selector, seen: &mut [bool]) -> bool {
    let mut rest = Bytes(line.strip_suffix(b"\r").unwrap_or(line));
    rest.skip_blanks();
    if matches!(rest.peek(), None | Some(b'#')) {
        return true;
    }
    let name = rest.take_while(is_name_byte);
    let blanks = rest.skip_blanks();
    let named = name.first().is_some_and(|&first| is_name_start(first));
    seen.fill(false);
    if rest.eat(b'{') {
        let mut series = Series { selector, seen, named, differs: false };
        if series.read_list(&mut rest).is_none() || !series.named {
            return false;
        }
    } else if !named || blanks == 0 {
        return false;
    }
    read_value(&mut rest).is_some()
}

/// The name and labels of the line under way.
struct Series<'a> {
    selector: &'a Selector,
    seen: &'a mut [bool],
    /// The metric is the wanted one.
    named: bool,
    /// A label has another value than the wanted one.
    differs: bool,
}

impl Series<'_> {
    /// Reads up to and with the `}`. An error is what the line is instead of a sample of the metric.
    fn read_labels(&mut self, rest: &mut Bytes) -> Result<(), Line> {
        let complete = self.read_list(rest);
        match (self.named, complete) {
            (true, Some(())) => Ok(()),
            (true, None) => Err(Line::Malformed),
            (false, _) => Err(Line::Other),
        }
    }

    fn read_list(&mut self, rest: &mut Bytes) -> Option<()> {
        loop {
            rest.skip_blanks();
            // After the last label a comma is allowed.
            if rest.eat(b'}') {
                return Some(());
            }
            let quoted = rest.peek() == Some(b'"');
            let item = if quoted { rest.quoted()? } else { rest.label_name()? };
            rest.skip_blanks();
            if rest.eat(b'=') {
                rest.skip_blanks();
                self.take_label(item, rest.quoted()?)?;
                rest.skip_blanks();
            } else if quoted && !self.named && is_same(item, &self.selector.name) {
                self.named = true;
            } else {
                return None;
            }
            if !rest.eat(b',') {
                return rest.eat(b'}').then_some(());
            }
        }
    }

    /// A wanted label that is there twice makes the line malformed. Others may be: remembering them costs memory, and
    /// they decide nothing.
    fn take_label(&mut self, name: &[u8], value: &[u8]) -> Option<()> {
        for ((wanted, wanted_value), seen) in self.selector.labels.iter().zip(self.seen.iter_mut()) {
            if is_same(name, wanted) {
                if std::mem::replace(seen, true) {
                    return None;
                }
                self.differs |= !is_same(value, wanted_value);
            }
        }
        Some(())
    }

    fn is_wanted(&self) -> bool {
        let mut absent = self.selector.labels.iter().zip(self.seen.iter()).filter(|&(_, &seen)| !seen);
        !self.differs && absent.all(|((_, value), _)| value.is_empty())
    }
}

/// Value, then perhaps a timestamp, then perhaps an exemplar, whose content does not matter.
fn read_value(rest: &mut Bytes) -> Option<f64> {
    rest.skip_blanks();
    let value = number(rest.token())?;
    rest.skip_blanks();
    if !matches!(rest.peek(), None | Some(b'#')) {
        number(rest.token()).filter(|timestamp| timestamp.is_finite())?;
        rest.skip_blanks();
    }
    if rest.peek().is_none() {
        return Some(value);
    }
    let exemplar = rest.eat(b'#') && {
        rest.skip_blanks();
        rest.eat(b'{')
    };
    exemplar.then_some(value)
}

/// Rust's grammar of floats is the format's: sign, decimal point and exponent, `Inf` and `NaN` in any case, but no
/// hexadecimal digits and no underscores.
fn number(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Whether what stands between two quotes means `wanted`.
fn is_same(quoted: &[u8], wanted: &str) -> bool {
    let mut quoted = Bytes(quoted);
    let mut wanted = wanted.bytes();
    while let Some(byte) = quoted.next_unescaped() {
        if wanted.next() != Some(byte) {
            return false;
        }
    }
    wanted.next().is_none()
}

/// What is left of a line.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        self.0.split_first().filter(|&(&byte, _)| byte == wanted).map(|(_, rest)| self.0 = rest).is_some()
    }

    fn split(&mut self, at: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(at);
        self.0 = rest;
        taken
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        self.split(self.0.iter().position(|&byte| !wanted(byte)).unwrap_or(self.0.len()))
    }

    fn skip_blanks(&mut self) -> usize {
        self.take_while(is_blank).len()
    }

    fn token(&mut self) -> &'a [u8] {
        self.take_while(|byte| !is_blank(byte))
    }

    fn label_name(&mut self) -> Option<&'a [u8]> {
        Some(self.take_while(|byte| is_name_byte(byte) && byte != b':')).filter(|name| is_label_name(name))
    }

    /// What is between two quotes, escapes and all.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        if !self.eat(b'"') {
            return None;
        }
        let mut escaped = false;
        let end = self.0.iter().position(|&byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let content = self.split(end);
        self.eat(b'"');
        Some(content)
    }

    /// An escape that the format does not know stands for itself, as in OpenMetrics: "C:\maps".
    fn next_unescaped(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        let (byte, length) = match (byte, rest.first()) {
            (b'\\', Some(b'n')) => (b'\n', 2),
            (b'\\', Some(&escaped @ (b'\\' | b'"'))) => (escaped, 2),
            _ => (byte, 1),
        };
        self.split(length);
        Some(byte)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':')
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

pub(super) fn is_label_name(name: &[u8]) -> bool {
    name.first().is_some_and(|&first| is_name_start(first))
        && name.iter().all(|&byte| is_name_byte(byte) && byte != b':')
}
