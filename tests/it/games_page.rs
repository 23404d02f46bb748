//! `docs/games.md` says what the files of `examples/games/` say. With `UPDATE_DOCS` set it is made anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::games::Example;

const BEGIN: &str = "<!-- games:begin -->\n";
const END: &str = "<!-- games:end -->\n";

#[test]
fn the_page_of_games_is_made_from_the_files() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/games.md");
    let page = fs::read_to_string(&path).expect("docs/games.md");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (found, after) = rest.split_once(END).expect("the table ends");
    let fresh = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, [before, BEGIN, &fresh, END, after].concat()).expect("docs/games.md is writable");
    } else {
        assert_eq!(found, fresh, "stale: run UPDATE_DOCS=1 cargo test --test it games_page");
    }
}

/// By the game's name, whatever its file is called.
fn table() -> String {
    let mut examples = Example::all();
    examples.sort_by_key(|example| example.comment("game").to_lowercase());
    let mut table = "| game | ready when | players counted | saves | tried |\n|---|---|---|---|---|\n".to_owned();
    for example in &examples {
        let [game, ready, counted, saves] = ["game", "ready", "counted", "saves"].map(|key| cell(example.comment(key)));
        let tried = if example.is_from_definitions() { "stand-in" } else { "real server" };
        let link = format!("[{game}](../examples/games/{}.env)", example.name());
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
