//! The documentation says what is true: its generated parts are up to date (`generated`), what it names and links to
//! exists (`references`), its examples work (`blocks`).

mod blocks;
mod generated;
mod references;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A page of the documentation.
struct Page {
    /// From the repository's root.
    path: String,
    text: String,
}

impl Page {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text }
    }

    /// All of them.
    fn all() -> Vec<Self> {
        let mut paths: Vec<String> = fs::read_dir(root().join("docs"))
            .expect("there is documentation")
            .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("it is text"))
            .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"))
            .map(|name| format!("docs/{name}"))
            .collect();
        paths.sort();
        let others = [
            "README.md",
            "CHANGELOG.md",
            "SECURITY.md",
            "examples/README.md",
            "examples/games/README.md",
            "fuzz/README.md",
        ];
        others.into_iter().map(str::to_owned).chain(paths).map(|path| Self::read(&path)).collect()
    }

    /// The fenced blocks: language, line of the fence, text.
    fn blocks(&self) -> Vec<(&str, usize, String)> {
        let mut blocks = Vec::new();
        let mut open: Option<(&str, usize, String)> = None;
        for (at, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(language), None) => open = Some((language, at + 1, String::new())),
                (Some(_), Some(block)) => blocks.push(block),
                (None, Some((language, begin, text))) => open = Some((language, begin, text + line + "\n")),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block has no end", self.path);
        blocks
    }

    /// The lines outside of fenced blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_block = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.starts_with("```");
            is_block ^= is_fence;
            !is_block && !is_fence
        })
    }

    /// What stands in backticks in its prose.
    fn code_spans(&self) -> impl Iterator<Item = &str> {
        self.prose().flat_map(|line| line.split('`').skip(1).step_by(2))
    }
}
