//! The map of the rooms in src/: each may import those that stand before it, and no other. There is no circle, because
//! there is an order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up; a room imports from what stands above it in this list.
const ROOMS: [&str; 23] = [
    "exit",
    "duration",
    "net",
    "page",
    "query",
    "settings",
    "sdk",
    "machine",
    "log_line",
    "manifest",
    "worker",
    "beat",
    "log_lines",
    "rcon",
    "game",
    "probe",
    "counter",
    "insight",
    "runtime",
    "local_sdk",
    "commands",
    "testing",
    "lib",
];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        // Tests and fuzzers may look everywhere.
        if name == "tests" || name == "fuzz" {
            continue;
        }
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

/// What a file imports, tests at its end left out.
fn imports(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).expect("a source file");
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.flat_map(|line| [line, "\n"]).collect();
    assert!(!code.contains("use crate::{"), "{}: one `use` a room, so that this test can read it", path.display());
    let names = code.match_indices("crate::").map(|(at, begin)| {
        code[at + begin.len()..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    });
    names.collect()
}

fn place(room: &str) -> usize {
    ROOMS.iter().position(|known| *known == room).unwrap_or_else(|| panic!("{room} has no place in the order"))
}

#[test]
fn each_room_imports_from_those_below_it_alone() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 100, "the sources were found: {}", files.len());
    for path in files {
        let inside = path.strip_prefix(&src).expect("a file of src");
        let room = inside.iter().next().expect("a room").to_string_lossy().replace(".rs", "");
        if room == "main" {
            continue;
        }
        for import in imports(&path).into_iter().filter(|import| *import != room) {
            assert!(place(&import) < place(&room), "{} imports {import}, which stands above {room}", inside.display());
        }
    }
}

#[test]
fn the_map_in_lib_rs_has_a_line_for_each_room() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("lib.rs");
    for room in ROOMS.into_iter().filter(|room| *room != "lib") {
        assert!(lib.contains(&format!("//! | `{room}` | ")), "{room}");
    }
}
