//! The generated parts, each between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. `UPDATE_DOCS=1 cargo test docs`
//! writes them.

use std::fmt::Write as _;
use std::fs;

use agones_shim::testing::machine::catalogue;
use agones_shim::testing::{help, manifest, query, settings};

use super::{Page, root};
use crate::games::Example;
use crate::support::report;

/// Compares a part with what it should be, or writes it.
fn assert_part(path: &str, name: &str, fresh: &str) {
    let page = Page::read(path);
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let from = page.text.find(&begin).unwrap_or_else(|| panic!("{path} has no {begin}")) + begin.len();
    let to = page.text[from..].find(&end).unwrap_or_else(|| panic!("{path} has no {end}")) + from;
    if std::env::var_os("UPDATE_DOCS").is_none() {
        assert_eq!(&page.text[from..to], fresh, "{path} is stale: run UPDATE_DOCS=1 cargo test docs");
        return;
    }
    if &page.text[from..to] != fresh {
        fs::write(root().join(path), [&page.text[..from], fresh, &page.text[to..]].concat()).expect("it is writable");
    }
}

/// One test, since several parts may be in one file.
#[test]
fn every_generated_part_is_up_to_date() {
    assert_part("README.md", "settings", &settings::common_table());
    assert_part("README.md", "exit-codes", &help::exit_code_table());
    assert_part("docs/settings.md", "settings", &settings::markdown());
    assert_part("docs/messages.md", "messages", &catalogue::markdown());
    assert_part("docs/commands.md", "commands", &help::markdown());
    assert_part("docs/readiness.md", "protocols", &query::markdown());
    assert_part("docs/manifests.md", "findings", &manifest::markdown());
    assert_part("docs/games.md", "games", &games());
    assert_part("docs/performance.md", "figures", &figures("performance.json"));
    assert_part("docs/performance.md", "many", &figures("performance-many.json"));
}

/// What `make bench` measured, from a file that is kept of it.
fn figures(file: &str) -> String {
    let text = fs::read_to_string(root().join("docs").join(file)).expect("it is kept in docs");
    report::markdown(&serde_json::from_str(&text).expect("make bench writes JSON"))
}

/// By the game's name, whatever its file is called.
fn games() -> String {
    let mut examples = Example::all();
    examples.sort_by_key(|example| example.comment("game").to_lowercase());
    let mut table = "| game | ready when | players counted | saves | tried |\n|---|---|---|---|---|\n".to_owned();
    for example in &examples {
        let [game, ready, counted, saves] = ["game", "ready", "counted", "saves"].map(|key| cell(example.comment(key)));
        let tried = match (example.is_from_definitions(), example.is_tested_by_hand()) {
            (true, _) => "stand-in",
            (false, true) => "real server, by hand",
            (false, false) => "real server",
        };
        let link = format!("[{game}](../examples/games/{}.env)", example.name);
        let _ = writeln!(table, "| {link} | {ready} | {counted} | {saves} | {tried} |");
    }
    table
}

/// Text as it stands, whatever Markdown would make of it.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '<' | '>' | '*' | '_' | '[' | ']' | '\\' | '#') {
            cell.push('\\');
        }
        cell.push(c);
    }
    cell
}
