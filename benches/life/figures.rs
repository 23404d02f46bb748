//! Samples, the figures made of them, and the table: as text for people and as JSON for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// Who was measured; the table's columns.
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
    const ALL: [Self; 4] = [Self::Shim, Self::Tini, Self::DumbInit, Self::Shell];

    /// As the table's head and the JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shim => "agones-shim",
            Self::Tini => "tini",
            Self::DumbInit => "dumb-init",
            Self::Shell => "sh + nc + wget",
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub enum Figure {
    /// One number.
    One(f64),
    /// Median and 99 %.
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

    fn json(&self) -> Value {
        match self {
            Self::One(number) => json!(round(*number)),
            Self::Two(median, most) => json!({ "median": round(*median), "p99": round(*most) }),
            Self::Words(words) => json!(words),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::One(number) => short(*number),
            Self::Two(median, most) => format!("{} / {}", short(*median), short(*most)),
            Self::Words(words) => words.clone(),
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

/// Two digits behind the point below ten, one below a hundred.
fn short(number: f64) -> String {
    match number {
        number if number.is_nan() => "-".to_owned(),
        number if number < 10.0 => format!("{number:.2}"),
        number if number < 100.0 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

/// One line of the table.
struct Row {
    name: &'static str,
    unit: &'static str,
    figures: Vec<(Subject, Figure)>,
}

/// All that was measured.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a figure to its row; shows it at once, so that a long run is no silent one.
    pub fn add(&mut self, name: &'static str, unit: &'static str, subject: Subject, figure: Figure) {
        eprintln!("  {:<11} {name}: {} {unit}", subject.name(), figure.text());
        let at = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name, unit, figures: Vec::new() });
            self.rows.len() - 1
        });
        self.rows[at].figures.push((subject, figure));
    }

    /// For people, in Markdown.
    pub fn markdown(&self) -> String {
        let names: Vec<&str> = Subject::ALL.iter().map(|subject| subject.name()).collect();
        let mut text = format!("| | {} |\n", names.join(" | "));
        text += &format!("|---|{}\n", "---|".repeat(names.len()));
        for row in &self.rows {
            let cell = |subject: &Subject| {
                row.figures.iter().find(|(of, _)| of == subject).map_or_else(|| "-".to_owned(), |(_, f)| f.text())
            };
            let cells: Vec<String> = Subject::ALL.iter().map(cell).collect();
            let unit = if row.unit.is_empty() { String::new() } else { format!(", {}", row.unit) };
            let _ = writeln!(text, "| {}{unit} | {} |", row.name, cells.join(" | "));
        }
        text
    }

    /// For programs: one object a row, a key for each subject.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let figures: Map<String, Value> =
                row.figures.iter().map(|(subject, figure)| (subject.name().to_owned(), figure.json())).collect();
            json!({ "name": row.name, "unit": row.unit, "figures": figures })
        });
        Value::Array(rows.collect())
    }
}
