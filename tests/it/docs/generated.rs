//! The generated parts, each between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. `UPDATE_DOCS=1 cargo test docs`
//! writes them.

use std::fmt::Write;
use std::fs;

use agones_shim::testing::machine::catalogue;
use agones_shim::testing::{help, manifest, query, settings};

use super::{Page, root};
use crate::games::Example;

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
}

/// Each file of `examples/games/`.
fn games() -> String {
    let all = Example::all();
    let mut page = String::from("| game | Debian's package | ready when | tested |\n|---|---|---|---|\n");
    for game in &all {
        let _ = writeln!(
            page,
            "| [{}](#{}) | `{}` | {} | {} |",
            game.comment("game"),
            game.name,
            game.comment("package").replace(' ', "`, `"),
            game.comment("ready"),
            if game.is_tested_by_hand() { "by hand: 400 MB of data" } else { "CI" },
        );
    }
    for game in &all {
        let name = &game.name;
        let _ =
            write!(page, "\n## {name}\n\n[{name}.env](../examples/games/{name}.env): {}.\n\n", game.comment("game"));
        let variables: Vec<&str> =
            game.text.lines().filter(|line| line.contains('=') && !line.starts_with('#')).collect();
        let _ = write!(page, "```ini\n{}\n```\n\n```text\n{}\n```\n\n", variables.join("\n"), game.comment("run"));
        for (what, key) in [
            ("Needs", "needs"),
            ("Port", "port"),
            ("Ready when", "ready"),
            ("Players", "counted"),
            ("Saves", "saves"),
            ("Stops", "stops"),
        ] {
            let _ = writeln!(page, "- {what}: {}", game.comment(key));
        }
    }
    page
}
