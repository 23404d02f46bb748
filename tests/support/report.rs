//! What `make bench` writes as JSON, as text for people: on its terminal, and in docs/performance.md.
//!
//! A report has `conditions` and `tables`; a table has a `title`, `columns` and `rows`; a row has a `name`, a `unit` and
//! `figures` by column: a number, two numbers, or words.

use std::fmt::Write as _;

use serde_json::Value;

/// The conditions in one paragraph, then every table under its title.
pub fn markdown(report: &Value) -> String {
    let mut text = conditions(&report["conditions"]);
    for table in list(&report["tables"]) {
        let columns: Vec<&str> = list(&table["columns"]).iter().map(words).collect();
        let _ = write!(text, "\n### {}\n\n|  | {} |\n|---|", words(&table["title"]), columns.join(" | "));
        let _ = writeln!(text, "{}", "---|".repeat(columns.len()));
        for row in list(&table["rows"]) {
            let (name, unit) = (words(&row["name"]), words(&row["unit"]));
            let comma = if unit.is_empty() { "" } else { ", " };
            let cells: Vec<String> = columns.iter().map(|column| figure(&row["figures"][*column])).collect();
            let _ = writeln!(text, "| {name}{comma}{unit} | {} |", cells.join(" | "));
        }
    }
    text
}

fn conditions(of: &Value) -> String {
    format!(
        "{}; {}, {} cores, Linux {}; load average {} before, {} after. {}: {:.1} MB, {}. {}\n",
        words(&of["date"]),
        words(&of["machine"]),
        of["cores"],
        words(&of["kernel"]),
        words(&of["load_before"]),
        words(&of["load_after"]),
        words(&of["binary"]),
        of["binary_bytes"].as_f64().unwrap_or(0.0) / 1e6,
        words(&of["linked"]),
        words(&of["runs"]),
    )
}

/// As a cell of the table.
pub fn figure(value: &Value) -> String {
    match value {
        Value::Array(several) => several.iter().map(figure).collect::<Vec<_>>().join(" / "),
        Value::String(words) => words.clone(),
        value => value.as_f64().map_or_else(|| "-".to_owned(), short),
    }
}

/// Two digits behind the point below ten, one below a hundred.
fn short(number: f64) -> String {
    match number {
        number if number < 10.0 => format!("{number:.2}"),
        number if number < 100.0 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}
