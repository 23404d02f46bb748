//! Chunks of metrics text -> lines -> one number, or the reason why there is none.
//!
//! What is kept between two chunks is the line that was cut, up to a bound. Series are not told apart: whatever
//! matches is added up, also a series that is there twice.

use std::fmt;
use std::io::BufRead;

use super::Selector;
use super::line::{self, Line};

/// Bytes of the longest line that is read. A longer one counts as malformed. A line is a name, some labels and a number:
/// hundreds of bytes; the bound is there for what is no metrics text, so that it costs no memory.
pub const MAX_LINE: usize = 64 * 1024;

/// 2^53: up to here a float counts every integer.
pub const MAX_READING: u64 = 1 << 53;

/// Adds up the series of a metrics text that a selector asks for.
#[derive(Debug)]
pub struct Sum<'a> {
    selector: &'a Selector,
    /// Scratch space of [`line::read`].
    seen: Vec<bool>,
    /// The beginning of a line that was cut by the end of a chunk: at most [`MAX_LINE`] bytes.
    carry: Vec<u8>,
    /// The line under way is longer than that.
    overlong: bool,
    lines: u64,
    total: f64,
    matching: u64,
    others: u64,
    first_malformed: Option<u64>,
    /// It matters whether the other lines are sound too.
    strict: bool,
    first_unsound: Option<u64>,
}

impl<'a> Sum<'a> {
    /// Nothing read yet.
    #[must_use]
    pub fn new(selector: &'a Selector) -> Self {
        Self {
            selector,
            seen: vec![false; selector.labels.len()],
            carry: Vec::new(),
            overlong: false,
            lines: 0,
            total: 0.0,
            matching: 0,
            others: 0,
            first_malformed: None,
            strict: false,
            first_unsound: None,
        }
    }

    /// The same, for those to whom it means something that no series matches: [`Cause::NotFound`] and
    /// [`Cause::OtherLabels`] are said of a text only that is metrics text from its first line to the end of its last.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Takes the next bytes. Where the text is cut does not matter.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        while let Some(end) = line_end(chunk) {
            let (line, rest) = chunk.split_at(end);
            if self.carry.is_empty() {
                self.read_line(line);
            } else {
                self.keep(line);
                self.read_carry();
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.keep(chunk);
    }

    /// The rounded sum of what was fed: at most [`MAX_READING`].
    ///
    /// # Errors
    ///
    /// Why there is no reading. The sum is judged, not each series, and before it is rounded: -0.4 is negative, while
    /// a series of -1 beside one of 3 is a sum of 2. One NaN or infinity makes the sum one.
    pub fn finish(mut self) -> Result<u64, NoReading> {
        // The last line may lack its end, but where it matters that a line is missing: the next may be missing too.
        let cut = !self.carry.is_empty() && self.carry != b"# EOF";
        self.read_carry();
        if self.strict && cut {
            self.first_unsound.get_or_insert(self.lines);
        }
        self.judge().map_err(|cause| NoReading { selector: self.selector.clone(), cause })
    }

    /// Bytes held between chunks.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.carry.capacity()
    }

    fn judge(&self) -> Result<u64, Cause> {
        if self.matching == 0 {
            return Err(match (self.first_malformed, self.first_unsound, self.others) {
                (Some(line), ..) => Cause::Malformed { line },
                (None, Some(line), _) => Cause::NotMetrics { line },
                (None, None, 0) => Cause::NotFound,
                (None, None, series) => Cause::OtherLabels { series },
            });
        }
        // 2^53 is a float like any other.
        #[allow(clippy::cast_precision_loss)]
        let limit = MAX_READING as f64;
        match self.total {
            total if total.is_nan() => Err(Cause::NotANumber),
            total if total.is_infinite() => Err(Cause::Infinite),
            total if total < 0.0 => Err(Cause::Negative(total)),
            total if total > limit => Err(Cause::TooLarge(total)),
            // Not negative and at most 2^53, as was just seen; -0 becomes 0.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            total => Ok(total.round() as u64),
        }
    }

    /// Keeps a piece of a line, as much as the bound allows.
    fn keep(&mut self, piece: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.carry.len());
        self.overlong |= piece.len() > room;
        self.carry.extend_from_slice(piece.get(..room).unwrap_or(piece));
    }

    fn read_carry(&mut self) {
        let mut carry = std::mem::take(&mut self.carry);
        self.read_line(&carry);
        carry.clear();
        self.carry = carry;
    }

    fn read_line(&mut self, line: &[u8]) {
        self.lines += 1;
        let overlong = std::mem::take(&mut self.overlong) || line.len() > MAX_LINE;
        if self.strict && (overlong || !line::is_sound(line, self.selector, &mut self.seen)) {
            self.first_unsound.get_or_insert(self.lines);
        }
        match line::read(line.get(..MAX_LINE).unwrap_or(line), self.selector, &mut self.seen) {
            Line::Other => {}
            Line::Sample(value) if !overlong => {
                self.matching += 1;
                self.total += value;
            }
            Line::OtherSeries if !overlong => self.others += 1,
            _ => self.first_malformed = self.first_malformed.or(Some(self.lines)),
        }
    }
}

/// Where the first line ends. Std has no public memchr; the one behind `skip_until` is libc's.
fn line_end(mut chunk: &[u8]) -> Option<usize> {
    let bytes = chunk;
    let read = chunk.skip_until(b'\n').unwrap_or(0);
    let last = read.checked_sub(1)?;
    (bytes.get(last) == Some(&b'\n')).then_some(last)
}

/// Why a metrics text gives no reading.
#[derive(Clone, Debug, PartialEq)]
pub struct NoReading {
    /// What was asked for.
    pub selector: Selector,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a metrics text, or with a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// No line has the metric's name.
    NotFound,
    /// The metric is there, but no series has the labels that were asked for.
    OtherLabels {
        /// Series of the metric that were there.
        series: u64,
    },
    /// No series was readable, and a line that begins like one was not.
    Malformed {
        /// The first such line, counted from 1.
        line: u64,
    },
    /// No series matches, and the text is not metrics text throughout, so that its absence means nothing.
    NotMetrics {
        /// The first line that is not, or that was cut, counted from 1.
        line: u64,
    },
    /// The sum is NaN.
    NotANumber,
    /// The sum is infinite.
    Infinite,
    /// The sum is below zero.
    Negative(f64),
    /// The sum is above 2^53.
    TooLarge(f64),
}

impl fmt::Display for NoReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.selector.name;
        match self.cause {
            Cause::NotFound => write!(f, "metric \"{name}\" not found"),
            Cause::OtherLabels { series: 1 } => {
                write!(f, "metric \"{name}\" found, but its only series does not match {}", self.selector)
            }
            Cause::OtherLabels { series } => {
                write!(f, "metric \"{name}\" found, but none of its {series} series matches {}", self.selector)
            }
            Cause::Malformed { line } => write!(f, "metric \"{name}\" is malformed (line {line})"),
            Cause::NotMetrics { line } => {
                write!(f, "metric \"{name}\" not found, and line {line} is cut or is no metrics text")
            }
            Cause::NotANumber => write!(f, "metric \"{name}\" is NaN"),
            Cause::Infinite => write!(f, "metric \"{name}\" is infinite"),
            Cause::Negative(sum) => write!(f, "metric \"{name}\" is negative ({sum})"),
            Cause::TooLarge(sum) => write!(f, "metric \"{name}\" is above 2^53 ({sum:e})"),
        }
    }
}

impl std::error::Error for NoReading {}
