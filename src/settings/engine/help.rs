//! Settings as help, the README and docs/settings.md show them.

use std::fmt::Write;

use super::row::{self, AnySetting, Default, Row};
use crate::settings::SUBJECTS;

/// Help is for terminals of at least this width, in characters.
const WIDTH: usize = 100;

/// The settings that pass `wanted`, under the headings of their subjects.
pub(crate) fn settings(wanted: impl Fn(&dyn AnySetting) -> bool) -> String {
    let mut text = String::new();
    for subject in SUBJECTS {
        let mut heading = Some(subject.heading);
        for setting in subject.rows.iter().copied().filter(|setting| wanted(*setting)) {
            if let Some(heading) = heading.take() {
                let _ = write!(text, "\n{heading}:\n");
            }
            let row = setting.row();
            let default = match row.default {
                Default::Nothing => String::new(),
                default => format!("  [default: {}]", default.shown()),
            };
            let _ = writeln!(text, "  {}={}{default}", row.variable, row.value);
            wrap(&mut text, &row.help.replace('`', ""), 6);
            if let Some(series) = row::last_of_series(row) {
                let _ = writeln!(text, "  {}, ...", series.example);
                wrap(&mut text, &series.help.replace('`', ""), 6);
            }
        }
    }
    text
}

/// The settings that most need, a line each.
pub(crate) fn common() -> String {
    let rows = row::all().filter_map(|row| Some((format!("{}={}", row.variable, row.value), row.common?)));
    let mut text = String::new();
    columns(&mut text, &rows.collect::<Vec<_>>());
    text
}

/// The settings that the short help has, as the README's table.
#[must_use]
pub fn common_table() -> String {
    table(row::all().filter(|row| row.common.is_some()))
}

/// docs/settings.md, from its first heading on: a table for each subject.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::new();
    for subject in SUBJECTS {
        let rows = subject.rows.iter().map(|setting| setting.row());
        let _ = write!(page, "\n## {}\n\n{}", subject.heading, table(rows));
    }
    page
}

fn table(rows: impl Iterator<Item = &'static Row>) -> String {
    let mut table = String::from("| variable | default | meaning |\n|---|---|---|\n");
    for row in rows {
        let default = match row.default {
            Default::Text(text) => format!("`{text}`"),
            default => default.shown().to_owned(),
        };
        let _ = writeln!(table, "| `{}` | {default} | {} |", row.variable, row.help.replace('|', "\\|"));
        if let Some(series) = row::last_of_series(row) {
            let _ = writeln!(table, "| `{}`, ... | - | {} |", series.example, series.help);
        }
    }
    table
}

/// Name with value, default and help of each setting, for the manual page.
pub(crate) fn entries() -> Vec<(String, String, String)> {
    let mut entries = Vec::new();
    for row in row::all() {
        let default = match row.default {
            Default::Nothing => String::new(),
            default => format!(" [default: {}]", default.shown()),
        };
        entries.push((format!("{}={}", row.variable, row.value), default, row.help.to_owned()));
        if let Some(series) = row::last_of_series(row) {
            entries.push((format!("{}, ...", series.example), String::new(), series.help.to_owned()));
        }
    }
    entries
}

/// Two columns, the second beginning at one place.
pub(crate) fn columns(text: &mut String, rows: &[(String, &str)]) {
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or_default();
    for (left, right) in rows {
        let _ = writeln!(text, "  {left:width$}  {right}");
    }
}

/// Wraps words into lines that begin with this many blanks.
pub(crate) fn wrap(text: &mut String, words: &str, indent: usize) {
    let mut column = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        let blanks = if column == 0 { indent } else { 1 };
        text.extend(std::iter::repeat_n(' ', blanks));
        text.push_str(&word.replace('\u{a0}', " "));
        column += blanks + length;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_line_and_its_help_indented() {
        let with_default = "
  AGONES_SHIM_READY_TIMEOUT_SECS=SECONDS  [default: 0]
      Exit 69 if not ready within this time; 0 is never
";
        let first_of_a_subject = "

Liveness and health:
  AGONES_SHIM_LIVE_TCP=PORTS  [default: readiness set]
      Liveness probes, written like AGONES_SHIM_READY_TCP. Setting any liveness probe replaces the
      whole default set
";
        let help = settings(|_| true);
        assert!(help.contains(with_default) && help.contains(first_of_a_subject), "{help}");
    }

    #[test]
    fn the_page_has_a_row_for_each_setting_and_the_readme_one_for_each_common_one() {
        let page = markdown();
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), row::rows().count() + 1, "and one for the numbered Counters");
        for line in rows {
            assert_eq!(line.replace("\\|", "").matches('|').count(), 4, "{line}");
        }
        let wanted = "| `AGONES_SHIM_PROBE_TIMEOUT_SECS` | `2` | Time that one probe may take, connect to last byte, readiness and liveness alike |\n";
        assert!(page.contains(wanted), "{page}");
        assert_eq!(common_table().lines().count(), row::all().filter(|row| row.common.is_some()).count() + 2);
    }
}
