//! YAML (and JSON, which is YAML too) as a tree in which everything knows its
//! line and column. Pure. Bounded in depth and size, aliases included; types
//! are looked at only when `manifest.rs` asks for them.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// The deepest nesting; a manifest has some ten levels.
const MAX_DEPTH: usize = 64;
/// The most nodes, those that aliases repeat included.
const MAX_NODES: usize = 100_000;

/// Where something begins, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// `line 3, column 7: ` and the text.
    #[must_use]
    pub fn error(self, text: &str) -> String {
        format!("line {}, column {}: {text}", self.line, self.column)
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
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
    /// A mapping, in the order of the file.
    Map(Vec<(String, Node)>),
}

/// Reads all documents of a file.
///
/// # Errors
/// The first thing that is wrong, with line and column.
pub fn documents(text: &str) -> Result<Vec<Node>, String> {
    let mut parser = Parser::new_from_str(text);
    let mut builder = Builder::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            Position { line: error.marker().line(), column: error.marker().col() + 1 }.error(error.info())
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
    nodes: usize,
}

struct Open {
    at: Position,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map { entries: Vec<(String, Node)>, key: Option<String> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        let at = Position { line: span.start.line(), column: span.start.col() + 1 };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_string = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let text = text.into_owned();
                let plain = style == ScalarStyle::Plain && !is_string;
                let value = if plain { Value::Plain(text) } else { Value::Quoted(text) };
                self.nodes += 1;
                self.put(anchor, Node { at, value })
            }
            Event::SequenceStart(anchor, _) => self.open(at, anchor, Items::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.open(at, anchor, Items::Map { entries: Vec::new(), key: None }),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(at.error("an alias inside its own anchor"));
                };
                self.nodes += count(&node);
                self.put(0, node)
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, at: Position, anchor: usize, items: Items) -> Result<(), String> {
        self.nodes += 1;
        self.open.push(Open { at, anchor, items });
        if self.open.len() > MAX_DEPTH { Err(at.error("nested too deeply")) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(Open { at, anchor, items }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::List(nodes) => Value::List(nodes),
            Items::Map { entries, .. } => Value::Map(entries),
        };
        self.put(anchor, Node { at, value })
    }

    fn put(&mut self, anchor: usize, node: Node) -> Result<(), String> {
        if self.nodes > MAX_NODES {
            return Err(node.at.error("too many values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.documents.push(node),
            Some(Items::List(nodes)) => nodes.push(node),
            Some(Items::Map { entries, key }) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(read_key(entries, node)?),
            },
        }
        Ok(())
    }
}

fn read_key(entries: &[(String, Node)], node: Node) -> Result<String, String> {
    match node.value {
        Value::Plain(key) | Value::Quoted(key) => {
            if entries.iter().any(|(present, _)| *present == key) {
                return Err(node.at.error(&format!("{key:?} is there twice")));
            }
            Ok(key)
        }
        Value::List(_) | Value::Map(_) => Err(node.at.error("a key must be a plain word")),
    }
}

/// Every node in it. The depth is bounded, so that recursion is fine.
fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::Plain(_) | Value::Quoted(_) => 0,
        Value::List(nodes) => nodes.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(_, node)| count(node)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_line_and_column() {
        for (text, wanted) in [
            ("a: 1\na: 2", "line 2, column 1: \"a\" is there twice"),
            ("? [x]\n: 1", "line 1, column 3: a key must be a plain word"),
            ("a: &x [*x]", "line 1, column 8: an alias inside its own anchor"),
        ] {
            assert_eq!(documents(text).expect_err(text), wanted);
        }
        let open = documents("a: [1").expect_err("open");
        assert!(open.starts_with("line 2, column 1: "), "the end of the file: {open}");
        assert!(documents(&"[".repeat(100)).expect_err("deep").ends_with("nested too deeply"));
    }

    #[test]
    fn aliases_cannot_make_a_small_file_large() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let before = level - 1;
            let aliases = vec![format!("*a{before}"); 9].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(documents(&text).expect_err("a bomb").ends_with("too many values"));
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
