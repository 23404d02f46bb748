//! The README says what is true: its tables are the generated ones, every
//! variable and file it names exists, its YAML is what the examples are.

use std::fs;
use std::path::{Path, PathBuf};

use agones_shim::testing::{help, manifest, settings};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md")
}

/// What stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. With UPDATE_README set, `fresh` is put there.
fn assert_section(name: &str, fresh: &str) {
    let text = readme();
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let from = text.find(&begin).expect("the section begins") + begin.len();
    let to = text[from..].find(&end).expect("the section ends") + from;
    if std::env::var_os("UPDATE_README").is_some() {
        let updated = [&text[..from], fresh, &text[to..]].concat();
        fs::write(root().join("README.md"), updated).expect("README.md is writable");
    } else {
        assert_eq!(&text[from..to], fresh, "stale: run UPDATE_README=1 cargo test readme");
    }
}

#[test]
fn the_settings_table_is_the_generated_one() {
    assert_section("settings", &settings::readme_table());
}

#[test]
fn the_table_of_findings_is_the_generated_one() {
    assert_section("findings", &manifest::markdown());
}

#[test]
fn the_exit_codes_are_those_of_help() {
    let help = help::all();
    let codes = help.split("Exit codes:\n").nth(1).expect("help lists the exit codes");
    let readme = readme();
    for line in codes.lines() {
        let (code, meaning) = line.trim().split_once(' ').expect("a code and its meaning");
        let row = format!("| {code} | {} |", meaning.trim());
        assert!(readme.contains(&row), "the README lacks: {row}");
    }
}

#[test]
fn every_variable_that_is_named_exists() {
    // Set for programs that the shim starts, and read by nobody here.
    let given = ["AGONES_SHIM_STOP_REASON", "AGONES_SHIM_CHILD_PID"];
    let text = readme();
    for (at, _) in text.match_indices("AGONES_SHIM_") {
        let name: String =
            text[at..].chars().take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_').collect();
        assert!(settings::is_setting(&name) || given.contains(&name.as_str()), "the README names {name}");
    }
}

#[test]
fn every_file_that_is_linked_exists() {
    let text = readme();
    let mut links = 0;
    for (at, _) in text.match_indices("](") {
        let target: String = text[at + 2..].chars().take_while(|c| *c != ')').collect();
        if let Some(anchor) = target.strip_prefix('#') {
            let is_it = |line: &str| {
                // GitHub leaves punctuation out.
                let heading = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
                let heading = heading.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "");
                line.starts_with('#') && heading == anchor
            };
            assert!(text.lines().any(is_it), "the README has no heading for #{anchor}");
        } else if !target.starts_with("https://") {
            links += 1;
            assert!(root().join(&target).exists(), "the README links to {target}");
        }
    }
    assert!(links > 5, "the links were found");
}

#[test]
fn every_make_target_that_is_named_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("Makefile");
    let text = readme();
    let mut targets = 0;
    for (at, _) in text.match_indices("make ") {
        let before = text[..at].chars().last();
        if !matches!(before, Some('`' | ' ')) || !text[..at].trim_end().ends_with(['`', '$']) {
            continue;
        }
        let target: String = text[at + 5..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        targets += 1;
        assert!(makefile.contains(&format!("\n{target}:")), "the README names make {target}");
    }
    assert!(targets >= 4, "the targets were found: {targets}");
}
