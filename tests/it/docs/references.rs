//! What the pages name is there: files, headings, variables, commands, make targets; and each page can be found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use agones_shim::testing::{help, settings};

use super::{Page, root};

/// Set for programs that the shim starts, and read by nobody here.
const GIVEN: [&str; 2] = ["AGONES_SHIM_STOP_REASON", "AGONES_SHIM_CHILD_PID"];
/// Read by `agones-shim rcon` alone, and shown by nobody.
const SECRET: [&str; 2] = ["AGONES_SHIM_RCON_PASSWORD", "AGONES_SHIM_RCON_PASSWORD_FILE"];
/// The README is read to its end.
const README_LINES: usize = 200;

#[test]
fn the_readme_is_short() {
    let lines = Page::read("README.md").text.lines().count();
    assert!(lines <= README_LINES, "{lines} lines: move something to docs/");
}

#[test]
fn every_page_is_linked_from_the_readme() {
    let readme = Page::read("README.md").text;
    for page in Page::all().iter().filter(|page| page.path.starts_with("docs/")) {
        assert!(readme.contains(&format!("({})", page.path)), "the README does not link to {}", page.path);
    }
}

#[test]
fn every_variable_that_is_named_exists() {
    let mut found = 0;
    for page in Page::all() {
        for (at, _) in page.text.match_indices("AGONES_SHIM_") {
            let is_name = |c: &char| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_';
            let name: String = page.text[at..].chars().take_while(is_name).collect();
            // What a test or an image is told, and not the shim.
            let is_other = ["AGONES_SHIM_IMAGE"].contains(&name.as_str());
            let is_known = settings::is_setting(&name) || [GIVEN, SECRET].concat().contains(&name.as_str());
            // What the changes say is called otherwise now.
            let is_former = page.path == "CHANGELOG.md" && ["AGONES_SHIM_READY_LOG_FILE"].contains(&name.as_str());
            assert!(is_known || is_other || is_former, "{} names {name}", page.path);
            found += 1;
        }
    }
    assert!(found > 200, "{found}");
}

/// As GitHub makes them: punctuation goes, blanks are dashes, a second one of a name gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let page = Page { path: String::new(), text: text.to_owned() };
    let headings = page.prose().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let slug = |heading: &str| {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect::<String>()
    };
    let numbered = |slug: String| {
        let times = seen.entry(slug.clone()).or_default();
        *times += 1;
        if *times == 1 { slug } else { format!("{slug}-{}", *times - 1) }
    };
    headings.map(slug).map(numbered).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for page in Page::all() {
        let directory = root().join(&page.path).parent().expect("it is in a directory").to_owned();
        for line in page.prose() {
            for (at, _) in line.match_indices("](").chain(line.match_indices("src=\"")) {
                let begin = line[at..].find(['(', '"']).expect("it was found") + at + 1;
                let target: String = line[begin..].chars().take_while(|c| !")\" ".contains(*c)).collect();
                if target.starts_with("https://") {
                    continue;
                }
                links += 1;
                let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(f, a)| (f, Some(a)));
                let path = if file.is_empty() { root().join(&page.path) } else { directory.join(file) };
                assert!(path.exists(), "{} links to {target}", page.path);
                if let Some(anchor) = anchor {
                    let there = fs::read_to_string(&path).expect("it is text");
                    assert!(anchors(&there).contains(anchor), "{}: there is no heading for {target}", page.path);
                }
            }
        }
    }
    assert!(links > 50, "the links were found: {links}");
}

#[test]
fn every_make_target_that_is_named_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("Makefile");
    let mut targets = BTreeSet::new();
    for page in Page::all() {
        let blocks: String = page.blocks().into_iter().map(|(.., text)| text).collect();
        let lines = blocks.lines().map(|line| line.trim_start_matches("$ "));
        for code in page.code_spans().chain(lines) {
            let Some(target) = code.strip_prefix("make ").and_then(|rest| rest.split(' ').next()) else { continue };
            assert!(makefile.contains(&format!("\n{target}:")), "{} names make {target}", page.path);
            targets.insert(target.to_owned());
        }
    }
    assert!(targets.len() >= 8, "the targets were found: {targets:?}");
}

#[test]
fn every_command_that_is_named_exists() {
    let help = help::all();
    let lines = help.lines().filter_map(|line| line.strip_prefix("  agones-shim "));
    let known: BTreeSet<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(known.contains("check") && known.contains("--"), "{known:?}");
    let mut commands = 0;
    for page in Page::all() {
        // Messages begin with the program's name too.
        for code in page.code_spans().filter(|_| page.path != "docs/messages.md") {
            let Some(word) = code.strip_prefix("agones-shim ").and_then(|rest| rest.split(' ').next()) else {
                continue;
            };
            assert!(known.contains(word) || ["--help", "-h"].contains(&word), "{}: {code}", page.path);
            commands += 1;
        }
    }
    assert!(commands > 20, "the commands were found: {commands}");
}

#[test]
fn the_page_on_security_and_the_vex_file_list_the_same() {
    let vex = fs::read_to_string(root().join(".ci/vex.json")).expect("vex.json");
    let vex: serde_json::Value = serde_json::from_str(&vex).expect("JSON");
    let listed = vex["vulnerabilities"].as_array().expect("a list");
    let page = Page::read("docs/security.md").text;
    for one in listed {
        let (id, detail) = (one["id"].as_str().expect("an id"), one["analysis"]["detail"].as_str().expect("a reason"));
        let row = page.lines().find(|line| line.starts_with(&format!("| {id} |")));
        assert!(row.is_some_and(|row| row.contains(detail)), "{id}: {detail}");
    }
    assert_eq!(page.lines().filter(|line| line.starts_with("| CVE-")).count(), listed.len());
}

#[test]
fn no_page_and_no_comment_refers_to_notes_that_are_not_here() {
    // Taken apart, so that this file does not name them itself.
    let notes = ["SPEC", "AGONES", "STYLE", "FAULTS", "CRATES", "CASES", "TRIAL"].map(|name| format!("{name}.md"));
    let mut files = Vec::new();
    for directory in ["src", "tests/it", "tests/support", "benches", "examples", "fuzz/fuzz_targets", ".ci", "docs"] {
        text_files(&root().join(directory), &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for note in &notes {
            assert!(!text.contains(note), "{} refers to {note}", file.display());
        }
    }
}

fn text_files(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { text_files(&path, found) } else { found.push(path) }
    }
}
