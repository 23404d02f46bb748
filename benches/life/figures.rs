//! Samples, the figures made of them, and the tables as JSON; support/report.rs makes text of that.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::support::report;

/// Who was measured; the first table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// agones-shim.
    Shim,
    /// tini of Debian's package.
    Tini,
    /// dumb-init of Debian's package.
    DumbInit,
    /// A shell loop with busybox's nc and wget.
    Shell,
}

impl Subject {
    pub const ALL: [Self; 4] = [Self::Shim, Self::Tini, Self::DumbInit, Self::Shell];
}

impl From<Subject> for &'static str {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Shim => "agones-shim",
            Subject::Tini => "tini",
            Subject::DumbInit => "dumb-init",
            Subject::Shell => "sh + nc + wget",
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub enum Figure {
    /// One number.
    One(f64),
    /// Two that the row's name tells apart: median and 99 %, say.
    Two(f64, f64),
    /// Words.
    Words(String),
}

impl Figure {
    /// Median and 99 % of times, in milliseconds.
    pub fn times(mut samples: Vec<Duration>) -> Self {
        samples.sort();
        let at = |share: f64| samples.get(rank(share, samples.len())).map_or(f64::NAN, |time| millis(*time));
        Self::Two(at(0.5), at(0.99))
    }

    /// The median of any numbers.
    pub fn median(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self::One(samples.get(rank(0.5, samples.len())).copied().unwrap_or(f64::NAN))
    }

    /// The one, or the first of two.
    pub fn first(&self) -> f64 {
        match self {
            Self::One(number) | Self::Two(number, _) => *number,
            Self::Words(_) => f64::NAN,
        }
    }

    /// The second of two.
    pub fn second(&self) -> f64 {
        if let Self::Two(_, number) = self { *number } else { f64::NAN }
    }

    fn json(&self) -> Value {
        match self {
            Self::One(number) => json!(round(*number)),
            Self::Two(first, second) => json!([round(*first), round(*second)]),
            Self::Words(words) => json!(words),
        }
    }
}

/// The place of the smallest sample that so large a share of all does not exceed.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn rank(share: f64, samples: usize) -> usize {
    ((share * samples as f64).ceil() as usize).clamp(1, samples.max(1)) - 1
}

/// A duration in milliseconds.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// One line of a table.
struct Row {
    name: &'static str,
    unit: &'static str,
    figures: Map<String, Value>,
}

/// What was measured of one kind.
pub struct Table {
    title: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    /// An empty one.
    pub fn new(title: &'static str, columns: impl IntoIterator<Item = &'static str>) -> Self {
        Self { title, columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a figure to its row; shows it at once, so that a long run is no silent one.
    pub fn add(&mut self, name: &'static str, unit: &'static str, column: impl Into<&'static str>, figure: &Figure) {
        let (column, figure) = (column.into(), figure.json());
        eprintln!("  {column:<11} {name}: {} {unit}", report::figure(&figure));
        let at = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name, unit, figures: Map::new() });
            self.rows.len() - 1
        });
        self.rows[at].figures.insert(column.to_owned(), figure);
    }

    /// One object a row, a key for each column.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter();
        let rows = rows.map(|row| json!({ "name": row.name, "unit": row.unit, "figures": row.figures }));
        json!({ "title": self.title, "columns": self.columns, "rows": rows.collect::<Vec<_>>() })
    }
}
