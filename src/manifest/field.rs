//! A node of a manifest and the way to it: typed reading, with errors that name the field, its line and its column.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::yaml::{Node, Position, Value, Wrong};

/// All that is wrong with what was read so far.
#[derive(Debug, Default)]
pub(crate) struct Errors(pub(crate) Vec<Wrong>);

impl Errors {
    /// The value; where there is none, its error is kept and nothing takes its place.
    pub(crate) fn or_default<T: Default>(&mut self, read: Result<T, Wrong>) -> T {
        read.unwrap_or_else(|wrong| {
            self.0.push(wrong);
            T::default()
        })
    }
}

/// A node and the way to it, for errors.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub(crate) path: String,
    pub(crate) node: &'a Node,
}

impl<'a> Field<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self { path: String::new(), node }
    }

    /// Where it is.
    pub(crate) fn at(&self) -> Position {
        self.node.at
    }

    /// A field of a mapping. One that is null is not there.
    pub(crate) fn get(&self, name: &str) -> Option<Field<'a>> {
        let Value::Map(entries) = &self.node.value else { return None };
        let (_, node) = entries.iter().find(|(key, _)| key == name)?;
        let field = self.child(name, node);
        (!field.is_null()).then_some(field)
    }

    pub(crate) fn map_field(&self, name: &str) -> Result<Option<Field<'a>>, Wrong> {
        let field = self.get(name);
        field.as_ref().map_or(Ok(()), Field::is_map)?;
        Ok(field)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Wrong> {
        self.get(name).map(|field| field.string()).transpose()
    }

    pub(crate) fn texts(&self, name: &str) -> Result<BTreeMap<String, String>, Wrong> {
        self.entries(name)?.into_iter().map(|(name, field)| Ok((name, field.string()?))).collect()
    }

    /// The fields of a mapping whose names are the user's own.
    pub(crate) fn entries(&self, name: &str) -> Result<Vec<(String, Field<'a>)>, Wrong> {
        let Some(field) = self.map_field(name)? else { return Ok(Vec::new()) };
        let Value::Map(entries) = &field.node.value else { return Ok(Vec::new()) };
        Ok(entries.iter().map(|(name, node)| (name.clone(), field.child(name, node))).collect())
    }

    pub(crate) fn items(&self) -> Result<Vec<Field<'a>>, Wrong> {
        let Value::List(nodes) = &self.node.value else { return Err(self.wrong("a list")) };
        let with_index = nodes.iter().enumerate();
        Ok(with_index.map(|(index, node)| Field { path: format!("{}[{index}]", self.path), node }).collect())
    }

    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, Wrong> {
        let Some(field) = self.get(name) else { return Ok(None) };
        match &field.node.value {
            Value::Plain(text) => as_boolean(text).map(Some).ok_or_else(|| field.wrong("true or false")),
            _ => Err(field.wrong("true or false")),
        }
    }

    pub(crate) fn integer(&self, name: &str, allowed: RangeInclusive<i64>) -> Result<Option<i64>, Wrong> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let number = match &field.node.value {
            Value::Plain(text) => text.parse::<i64>().ok(),
            _ => None,
        };
        let Some(number) = number else { return Err(field.wrong("a whole number")) };
        if !allowed.contains(&number) {
            let (from, to) = (allowed.start(), allowed.end());
            let wanted = if *to == i64::MAX { format!("at least {from}") } else { format!("from {from} to {to}") };
            return Err(field.error(&format!("{number} is not {wanted}")));
        }
        Ok(Some(number))
    }

    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Wrong> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let text = field.string()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(Some(*choice));
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        Err(field.error(&format!("{text:?} is not one of {}", names.join(", "))))
    }

    /// A string. Kubernetes refuses a number here, and so does this.
    pub(crate) fn string(&self) -> Result<String, Wrong> {
        match &self.node.value {
            Value::Quoted(text) => Ok(text.clone()),
            Value::Plain(text) if looks_like(text) == "a string" => Ok(text.clone()),
            Value::Plain(text) => Err(self.wrong(&format!("a string (in quotes: \"{text}\")"))),
            Value::List(_) | Value::Map(_) => Err(self.wrong("a string")),
        }
    }

    pub(crate) fn is_map(&self) -> Result<(), Wrong> {
        if matches!(self.node.value, Value::Map(_)) { Ok(()) } else { Err(self.wrong("a mapping")) }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.node.value, Value::Plain(text) if looks_like(text) == "null")
    }

    fn child<'b>(&self, name: &str, node: &'b Node) -> Field<'b> {
        let name = shortened(name);
        let path = if self.path.is_empty() { name.into_owned() } else { format!("{}.{name}", self.path) };
        Field { path, node }
    }

    pub(crate) fn wrong(&self, wanted: &str) -> Wrong {
        let found = match &self.node.value {
            Value::Plain(text) => looks_like(text),
            Value::Quoted(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        };
        self.error(&format!("this is {found}, it must be {wanted}"))
    }

    pub(crate) fn error(&self, text: &str) -> Wrong {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        Wrong { at: self.node.at, message: format!("{path}: {}", shortened(text)) }
    }
}

/// At most so much of a name or a message, in bytes: a manifest's own texts may be of any length.
const SHOWN: usize = 400;

pub(super) fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= SHOWN {
        return text.into();
    }
    let end = (0..=SHOWN).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    format!("{}...", &text[..end]).into()
}

/// Kubernetes reads YAML 1.1, which has more words for it.
fn as_boolean(text: &str) -> Option<bool> {
    const TRUE: [&str; 4] = ["true", "yes", "on", "y"];
    const FALSE: [&str; 4] = ["false", "no", "off", "n"];
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let value = is_one_of(TRUE);
    if !value && !is_one_of(FALSE) {
        return None;
    }
    // All small, all large, or with a large letter first.
    let rest = text.as_bytes().get(1..)?;
    let small = rest.iter().all(u8::is_ascii_lowercase);
    (small || text.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(value)
}

/// What YAML takes a scalar without quotes for.
fn looks_like(text: &str) -> &'static str {
    let is_number = || {
        let plain = text.replace('_', "");
        let plain = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
        let based = |prefix: &str, base: u32| {
            plain.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(base)))
        };
        let begins = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        based("0x", 16) || based("0o", 8) || based("0b", 2) || begins && plain.parse::<f64>().is_ok()
    };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => "null",
        _ if as_boolean(text).is_some() => "true or false",
        _ if is_number() => "a number",
        _ => "a string",
    }
}
