//! What `check -f` prints: a line for each finding, or JSON.

use super::{Finding, Severity};
use crate::sdk::json::Writer;

/// What was found in all files.
#[derive(Debug)]
pub(crate) struct Report {
    /// By file and place.
    pub findings: Vec<Finding>,
    /// There are more.
    pub(super) is_cut: bool,
    /// Objects that were looked at.
    pub(super) objects: usize,
}

impl Report {
    pub(crate) fn has(&self, severity: Severity) -> bool {
        self.count(severity) > 0
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity == severity).count()
    }

    /// `FILE:LINE:COLUMN: error: ... [rule]`, as compilers write it and editors read it, and a sum.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for Finding { file, at, rule, message } in &self.findings {
            let (line, column, severity) = (at.line, at.column, rule.severity.as_str());
            text += &format!("{file}:{line}:{column}: {severity}: {message} [{}]\n", rule.id);
        }
        if self.is_cut {
            text += "and more, which are left out\n";
        }
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        text + &format!(
            "checked {}: {}, {}\n",
            counted(self.objects, "object"),
            counted(errors, "error"),
            counted(warnings, "warning")
        )
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> String {
        let mut out = Writer::pretty();
        out.object(|out| {
            out.field("objects", |out| out.raw(self.objects));
            out.field("errors", |out| out.raw(self.count(Severity::Error)));
            out.field("warnings", |out| out.raw(self.count(Severity::Warning)));
            out.field("complete", |out| out.raw(!self.is_cut));
            out.field("findings", |out| out.list(&self.findings, finding));
        });
        out.finish() + "\n"
    }
}

fn finding(out: &mut Writer, Finding { file, at, rule, message }: &Finding) {
    out.object(|out| {
        out.field("file", |out| out.string(file));
        out.field("line", |out| out.raw(at.line));
        out.field("column", |out| out.raw(at.column));
        out.field("severity", |out| out.string(rule.severity.as_str()));
        out.field("rule", |out| out.string(rule.id));
        out.field("message", |out| out.string(message));
    });
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
