//! `key=value` lists: labels and annotations, by Kubernetes' rules for what
//! comes out of Agones' prefix and the key together.
//!
//! A value in double quotes may hold commas and blanks; inside, `\"` and `\\`
//! stand for `"` and `\`. Labels have no use for that, and the same syntax.

use super::plain::{MOST_ITEMS, quote};
use crate::settings::metadata::KeyValue;

/// The longest name of a key, and the longest value of a label, in Kubernetes.
const MAX_NAME: usize = 63;
/// What Agones makes of the beginning of a key's name; `agones.dev/` is in front of that.
const NAME_PREFIX: &str = "sdk-";

/// Labels: keys and values that Kubernetes takes.
pub(crate) fn labels(text: &str) -> Result<Vec<KeyValue>, Vec<String>> {
    list(text, "a label", |pair| {
        key_error(&pair.key)?;
        match name_error(&pair.value, MAX_NAME).filter(|_| !pair.value.is_empty()) {
            Some(wrong) => Err(format!("is not a label: its value {wrong} (only an annotation takes any value)")),
            None => Ok(()),
        }
    })
}

/// Annotations: keys that Kubernetes takes, any value.
pub(crate) fn annotations(text: &str) -> Result<Vec<KeyValue>, Vec<String>> {
    list(text, "an annotation", |pair| key_error(&pair.key))
}

fn key_error(key: &str) -> Result<(), String> {
    let longest = MAX_NAME - NAME_PREFIX.len();
    match name_error(key, longest) {
        _ if key.is_empty() => Err("has no key (write key=value)".into()),
        // It would be taken by the SDK server, and refused by Kubernetes forever after.
        _ if key.contains('/') => {
            Err("has a / in its key: Agones puts agones.dev/sdk- in front, and one is all".into())
        }
        Some(wrong) => Err(format!("has a key that Kubernetes does not take: it {wrong}")),
        None => Ok(()),
    }
}

fn name_error(name: &str, longest: usize) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if let Some(c) = name.chars().find(|c| !is_allowed(*c)) {
        return Some(format!("has {c:?} in it, and letters, digits, - _ . are allowed"));
    }
    if name.len() > longest {
        return Some(format!("is longer than {longest} characters"));
    }
    let has_edges =
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.ends_with(|c: char| c.is_ascii_alphanumeric());
    (!has_edges).then(|| "does not begin and end with a letter or a digit".into())
}

/// All pairs, or what is wrong with each of those that are wrong. `what` is what an item is.
fn list(text: &str, what: &str, check: fn(&KeyValue) -> Result<(), String>) -> Result<Vec<KeyValue>, Vec<String>> {
    let items = items(text);
    if items.len() > MOST_ITEMS {
        return Err(vec![format!("has {} items (write at most {MOST_ITEMS})", items.len())]);
    }
    let mut pairs: Vec<KeyValue> = Vec::new();
    let mut errors = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if item.is_empty() {
            errors.push(match items.len() {
                1 => format!("{} has nothing in it (leave it unset instead)", quote(text)),
                _ => format!("item {} of {} is empty (remove a comma)", index + 1, quote(text)),
            });
            continue;
        }
        let pair = pair(item, what).and_then(|pair| {
            check(&pair)?;
            if pairs.iter().any(|other| other.key == pair.key) {
                return Err("has a key that is there twice (remove one)".into());
            }
            Ok(pair)
        });
        match pair {
            Ok(pair) => pairs.push(pair),
            Err(wrong) => errors.push(format!("{} {wrong}", quote(item))),
        }
    }
    if errors.is_empty() { Ok(pairs) } else { Err(errors) }
}

/// Split at the commas that no value in quotes holds, without the blanks around.
fn items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut begin, mut quoted, mut escaped, mut before) = (0, false, false, ',');
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if quoted => escaped = true,
            '"' if quoted => quoted = false,
            // A quote is one only where a value begins.
            '"' if before == '=' => quoted = true,
            ',' if !quoted => {
                items.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    items.push(text[begin..].trim());
    items
}

fn pair(item: &str, what: &str) -> Result<KeyValue, String> {
    let Some((key, value)) = item.split_once('=') else {
        return Err(format!("is not {what} (write key=value, and a value with a comma in double quotes)"));
    };
    let (key, value) = (key.trim(), value.trim());
    let value = match value.strip_prefix('"') {
        Some(quoted) => unquoted(quoted)?,
        None => value.to_owned(),
    };
    Ok(KeyValue { key: key.to_owned(), value })
}

/// A value behind its opening quote.
fn unquoted(text: &str) -> Result<String, String> {
    let mut value = String::new();
    let mut rest = text.chars();
    loop {
        match rest.next() {
            None => return Err(r#"has a " that is not closed (add another, and write \" for one in the value)"#.into()),
            Some('"') if rest.as_str().is_empty() => return Ok(value),
            Some('"') => return Err(r#"has something behind its closing " (write \" for one in the value)"#.into()),
            Some('\\') => match rest.next() {
                Some(c @ ('"' | '\\')) => value.push(c),
                // Anything else keeps its backslash; the end is met above.
                other => value.extend(std::iter::once('\\').chain(other)),
            },
            Some(c) => value.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        annotations(text).expect(text).into_iter().map(|pair| (pair.key, pair.value)).collect()
    }

    fn wrong(text: &str) -> String {
        labels(text).expect_err(text).join("; ")
    }

    #[test]
    fn pairs_stand_between_commas_and_a_comma_in_quotes() {
        for (text, wanted) in [
            ("map=dust", vec![("map", "dust")]),
            (" map = dust 2 , mode=x", vec![("map", "dust 2"), ("mode", "x")]),
            ("a=,b=x=y", vec![("a", ""), ("b", "x=y")]),
            (r#"motd="hello, world",b=1"#, vec![("motd", "hello, world"), ("b", "1")]),
            (r#"json="{\"a\":1,\"b\":[]}""#, vec![("json", r#"{"a":1,"b":[]}"#)]),
            (r#"a = " x ",b="a\\,\n""#, vec![("a", " x "), ("b", r"a\,\n")]),
            (r#"a=5" disk,b='x'"#, vec![("a", r#"5" disk"#), ("b", "'x'")]),
            ("ort=Köln", vec![("ort", "Köln")]),
        ] {
            let found = pairs(text);
            let found: Vec<_> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn keys_and_label_values_are_those_of_kubernetes() {
        let (key, value) = ("k".repeat(59), "v".repeat(63));
        for text in ["map=dust", "a=", "A-b_c.9=1.0", "1=2", &format!("{key}={value}")] {
            assert!(labels(text).is_ok(), "{text}");
        }
        for (text, message) in [
            ("map", r#""map" is not a label (write key=value, and a value with a comma in double quotes)"#),
            ("=x", r#""=x" has no key (write key=value)"#),
            ("a/b=x", r#""a/b=x" has a / in its key: Agones puts agones.dev/sdk- in front, and one is all"#),
            (
                "a b=x",
                r#""a b=x" has a key that Kubernetes does not take: it has ' ' in it, and letters, digits, - _ . are allowed"#,
            ),
            (
                "-a=x",
                r#""-a=x" has a key that Kubernetes does not take: it does not begin and end with a letter or a digit"#,
            ),
            (
                "a=b c",
                r#""a=b c" is not a label: its value has ' ' in it, and letters, digits, - _ . are allowed (only an annotation takes any value)"#,
            ),
            (
                "a=b.",
                r#""a=b." is not a label: its value does not begin and end with a letter or a digit (only an annotation takes any value)"#,
            ),
            ("a=1,a=2", r#""a=2" has a key that is there twice (remove one)"#),
            ("a=1,,b=2", r#"item 2 of "a=1,,b=2" is empty (remove a comma)"#),
            (" ", r#"" " has nothing in it (leave it unset instead)"#),
            ("a=\"x", r#""a=\"x" has a " that is not closed (add another, and write \" for one in the value)"#),
            ("a=\"x\"y", r#""a=\"x\"y" has something behind its closing " (write \" for one in the value)"#),
            (
                "é=1,b=é",
                "\"é=1\" has a key that Kubernetes does not take: it has 'é' in it, and letters, digits, - _ . are allowed; \
                 \"b=é\" is not a label: its value has 'é' in it, and letters, digits, - _ . are allowed (only an annotation takes any value)",
            ),
        ] {
            assert_eq!(wrong(text), message, "{text}");
        }
        assert!(wrong(&format!("{key}k=v")).ends_with("it is longer than 59 characters"));
        assert!(wrong(&format!("k={value}v")).contains("its value is longer than 63 characters"));
        assert_eq!(wrong(&"a=1,".repeat(64)), "has 65 items (write at most 64)");
    }

    #[test]
    fn an_annotation_s_comma_outside_quotes_is_told() {
        assert_eq!(
            annotations("motd=hello, world"),
            Err(vec![
                r#""world" is not an annotation (write key=value, and a value with a comma in double quotes)"#.into()
            ])
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic_and_what_was_quoted_comes_back(text in ".{0,40}") {
            let _ = labels(&text);
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
            let found = annotations(&format!("a=1,b=\"{escaped}\",c=2")).expect("quoted");
            assert_eq!(&found[1].value, &text);
        }
    }
}
