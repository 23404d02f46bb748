//! YAML (and JSON, which is YAML too) as a tree in which everything knows its
//! line and column. Pure. Anchors, aliases and merges (`<<`) are resolved; types
//! are looked at only when somebody asks for them.
//!
//! Bounded in depth and in size, and what an alias or an anchor copies counts: time and memory are linear in the input.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// The deepest nesting; a manifest has some fifteen levels.
const MAX_DEPTH: usize = 64;
/// The most values in a file, copies included: a Fleet has a few hundred.
const MAX_NODES: usize = 100_000;
/// The most text in them, in bytes, copies included: twice the largest file.
const MAX_TEXT: usize = 8 << 20;

/// The most indicators of a flow (`[1, {a: b}]`) in one line, quoted ones included: until a line ends, its beginning may
/// turn out to be a key, and the parser holds all of it. A line of compact JSON with 400 kB has about as many.
const MAX_INDICATORS: usize = 40_000;

/// Where something begins, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    /// The beginning of a file.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    fn wrong(self, message: impl Into<String>) -> Wrong {
        Wrong { at: self, message: message.into() }
    }
}

/// Something that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub message: String,
}

/// `line 3, column 7: ` and the text.
impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.at.line, self.at.column, self.message)
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins; for an alias, where its anchor does.
    pub at: Position,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar without quotes: what it is depends on how it looks.
    Plain(String),
    /// A scalar that is a string by its quotes or its tag.
    Quoted(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file; what was merged into it comes last.
    Map(Vec<(String, Node)>),
}

/// Reads all documents of a file.
///
/// # Errors
/// The first thing that is wrong, with line and column.
pub fn documents(text: &str) -> Result<Vec<Node>, Wrong> {
    let is_full = |line: &str| line.bytes().filter(|byte| b",:[]{}".contains(byte)).count() > MAX_INDICATORS;
    if let Some(line) = text.lines().position(is_full) {
        return Err(Position { line: line + 1, column: 1 }.wrong("too much in one line (break it)"));
    }
    let mut parser = Parser::new_from_str(text);
    let mut builder = Builder::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            Position { line: error.marker().line(), column: error.marker().col() + 1 }.wrong(error.info())
        })?;
        builder.take(event, span)?;
    }
    Ok(builder.documents)
}

/// What is open while the events come.
#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    size: Size,
}

/// How much there is of something.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    text: usize,
}

struct Open {
    at: Position,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map(Map),
}

#[derive(Default)]
struct Map {
    entries: Vec<(String, Node)>,
    key: Option<Key>,
    present: BTreeSet<String>,
    /// What is behind `<<`.
    merged: Vec<Node>,
}

enum Key {
    Name(String),
    Merge,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Wrong> {
        let at = Position { line: span.start.line(), column: span.start.col() + 1 };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_string = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let text = text.into_owned();
                self.grow(at, Size { nodes: 1, text: text.len() })?;
                let plain = style == ScalarStyle::Plain && !is_string;
                let value = if plain { Value::Plain(text) } else { Value::Quoted(text) };
                self.put(anchor, Node { at, value })
            }
            Event::SequenceStart(anchor, _) => self.open(at, anchor, Items::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.open(at, anchor, Items::Map(Map::default())),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(at.wrong("an alias inside its own anchor"));
                };
                let size = size(node);
                self.grow(at, size)?;
                let node = self.anchors[&anchor].clone();
                self.put(0, node)
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn grow(&mut self, at: Position, by: Size) -> Result<(), Wrong> {
        self.size.nodes += by.nodes;
        self.size.text += by.text;
        if self.size.nodes > MAX_NODES || self.size.text > MAX_TEXT {
            return Err(at.wrong("too many values"));
        }
        Ok(())
    }

    fn open(&mut self, at: Position, anchor: usize, items: Items) -> Result<(), Wrong> {
        self.grow(at, Size { nodes: 1, text: 0 })?;
        self.open.push(Open { at, anchor, items });
        if self.open.len() > MAX_DEPTH { Err(at.wrong("nested too deeply")) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), Wrong> {
        let Some(Open { at, anchor, items }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::List(nodes) => Value::List(nodes),
            Items::Map(map) => Value::Map(map.whole()?),
        };
        self.put(anchor, Node { at, value })
    }

    fn put(&mut self, anchor: usize, node: Node) -> Result<(), Wrong> {
        if anchor != 0 {
            // The copy that aliases are made from.
            self.grow(node.at, size(&node))?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.documents.push(node),
            Some(Items::List(nodes)) => nodes.push(node),
            Some(Items::Map(map)) => match map.key.take() {
                Some(Key::Name(name)) => map.entries.push((name, node)),
                Some(Key::Merge) => map.merged.push(node),
                None => map.key = Some(map.read_key(node)?),
            },
        }
        Ok(())
    }
}

impl Map {
    fn read_key(&mut self, node: Node) -> Result<Key, Wrong> {
        let at = node.at;
        match node.value {
            Value::Plain(name) if name == "<<" => Ok(Key::Merge),
            Value::Plain(name) | Value::Quoted(name) => {
                if !self.present.insert(name.clone()) {
                    return Err(at.wrong(format!("{name:?} is there twice")));
                }
                Ok(Key::Name(name))
            }
            Value::List(_) | Value::Map(_) => Err(at.wrong("a key must be a plain word")),
        }
    }

    /// With what is merged into it: its own entries go first, then those of the first mapping that is named.
    fn whole(mut self) -> Result<Vec<(String, Node)>, Wrong> {
        for node in self.merged {
            let maps = match node.value {
                Value::List(nodes) => nodes,
                _ => vec![node],
            };
            for node in maps {
                let Value::Map(entries) = node.value else {
                    return Err(node.at.wrong("<< takes a mapping, or a list of them"));
                };
                let new = entries.into_iter().filter(|(name, _)| self.present.insert(name.clone()));
                self.entries.extend(new);
            }
        }
        Ok(self.entries)
    }
}

/// Everything in it. The depth is bounded, so that recursion is fine.
fn size(node: &Node) -> Size {
    let mut size = Size { nodes: 1, text: 0 };
    let mut add = |text: usize, node: &Node| {
        let inner = self::size(node);
        size.nodes += inner.nodes;
        size.text += inner.text + text;
    };
    match &node.value {
        Value::Plain(text) | Value::Quoted(text) => size.text = text.len(),
        Value::List(nodes) => nodes.iter().for_each(|node| add(0, node)),
        Value::Map(entries) => entries.iter().for_each(|(name, node)| add(name.len(), node)),
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_line_and_column() {
        for (text, wanted) in [
            ("a: 1\na: 2", "line 2, column 1: \"a\" is there twice"),
            ("? [x]\n: 1", "line 1, column 3: a key must be a plain word"),
            ("a: {<<: 1}", "line 1, column 9: << takes a mapping, or a list of them"),
            ("a: {<<: [{}, x]}", "line 1, column 14: << takes a mapping, or a list of them"),
            ("a: &x [*x]", "line 1, column 8: an alias inside its own anchor"),
        ] {
            assert_eq!(documents(text).expect_err(text).to_string(), wanted);
        }
        let open = documents("a: [1").expect_err("open").to_string();
        assert!(open.starts_with("line 2, column 1: "), "the end of the file: {open}");
        assert!(documents(&"[".repeat(100)).expect_err("deep").message.ends_with("nested too deeply"));
    }

    #[test]
    fn aliases_cannot_make_a_small_file_large() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let before = level - 1;
            let aliases = vec![format!("*a{before}"); 9].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(documents(&text).expect_err("a bomb").message.ends_with("too many values"));
    }

    #[test]
    fn neither_can_copies_of_one_long_text_nor_anchors_within_anchors() {
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 1000].join(", "));
        assert!(documents(&long).expect_err("a bomb").message.ends_with("too many values"));
        // Each anchor keeps a copy of all that is inside.
        let anchors: String = (0..60).map(|level| format!("&a{level} [")).collect::<Vec<_>>().concat();
        let nested = format!("{anchors}{}{}", vec!["x"; 10_000].join(", "), "]".repeat(60));
        assert!(documents(&nested).expect_err("a bomb").message.ends_with("too many values"));
    }

    #[test]
    fn a_merge_adds_what_is_not_there_yet() {
        let text = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nall:\n  a: 0\n  <<: [*base, *more]\nquoted: {'<<': 1}\n";
        let documents = documents(text).expect("merges");
        let Value::Map(entries) = &documents[0].value else { panic!("a map") };
        let Value::Map(all) = &entries[2].1.value else { panic!("a map") };
        let shown: Vec<_> = all.iter().map(|(name, node)| (name.as_str(), node.value.clone(), node.at.line)).collect();
        let plain = |text: &str| Value::Plain(text.into());
        assert_eq!(shown, [("a", plain("0"), 4), ("b", plain("2"), 1), ("c", plain("4"), 2)]);
        let Value::Map(quoted) = &entries[3].1.value else { panic!("a map") };
        assert_eq!(quoted[0].0, "<<", "in quotes it is a name like any other");
    }

    #[test]
    fn a_line_has_an_end() {
        let list = |separator: &str| format!("a:\n  [{}]\n", vec!["x"; 45_000].join(separator));
        let wrong = documents(&list(",")).expect_err("one line");
        assert_eq!(wrong.to_string(), "line 2, column 1: too much in one line (break it)");
        documents(&list(",\n   ")).expect("the same over many lines");
    }

    #[test]
    fn json_is_yaml() {
        let documents = documents("{\n\t\"a\": [1, true],\n\t\"b\": \"1\"\n}\n").expect("JSON with tabs");
        let Value::Map(entries) = &documents[0].value else { panic!("a map") };
        assert_eq!(entries[1].1.value, Value::Quoted("1".into()));
        assert_eq!(entries[1].1.at, Position { line: 3, column: 7 });
    }

    proptest::proptest! {
        #[test]
        fn no_input_makes_it_panic(text in "[-a:{}\\[\\],&*!|>#%@`'\"\\\\\n\t 0-9?]{0,200}") {
            let _ = documents(&text);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,100}") {
            let _ = documents(&text);
        }
    }
}
