//! What has to hold for any manifest. Called by the fuzz target and by the replay of its corpus; the release binary has
//! none of it.

use super::check::Checker;

/// Arbitrary bytes as a manifest: every finding has a place in it and says something on one line, and the report for
/// programs is JSON.
///
/// # Panics
///
/// When that does not hold: a bug in this module.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut checker = Checker::default();
    checker.file("fuzz.yaml", Ok(&text));
    let report = checker.finish();
    // YAML knows a lone carriage return as the end of a line too.
    let lines = text.replace("\r\n", "\n").matches(['\n', '\r']).count() + 2;
    for finding in &report.findings {
        assert!((1..=lines).contains(&finding.at.line) && finding.at.column >= 1, "{finding:?} is outside");
        assert!(!finding.message.trim().is_empty(), "{finding:?} says nothing");
    }
    assert!(report.text().ends_with('\n'));
    let json = report.json();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "no JSON: {json}");
}
