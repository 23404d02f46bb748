//! A page in JSON -> the numbers that JSON pointers (RFC 6901) name.
//!
//! Pure. The page is read in place and nothing of it is kept but the numbers, so that its size is its cost. A number,
//! a string of digits, or the length of an array or object is a reading; what is missing, null or anything else is
//! none, and never 0.

use std::fmt;
use std::str::FromStr;

use serde_core::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::exposition::MAX_READING;

/// Where in a page a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    keys: Vec<String>,
}

impl FromStr for Pointer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > 1000 {
            return Err("is longer than a JSON pointer may be (write at most 1000 bytes)".into());
        }
        if text.chars().any(char::is_control) {
            return Err("is not a JSON pointer: it has a control character in it (write /players/online)".into());
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("is not a JSON pointer (write /{})", text.replace('.', "/")));
        };
        let keys = rest.split('/').map(unescaped).collect::<Option<Vec<String>>>();
        let keys = keys.ok_or("is not a JSON pointer: a ~ is not ~0 or ~1 (write ~ as ~0, and / in a name as ~1)")?;
        Ok(Self { text: text.to_owned(), keys })
    }
}

fn unescaped(key: &str) -> Option<String> {
    let mut parts = key.split('~');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        plain.push(match part.chars().next()? {
            '0' => '~',
            '1' => '/',
            _ => return None,
        });
        plain.push_str(&part[1..]);
    }
    Some(plain)
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The number that stands at this place of a page.
///
/// # Errors
///
/// Why there is no reading, in words of our own: a page may have players' names in it.
pub fn read(page: &[u8], pointer: &Pointer) -> Result<u64, String> {
    let mut found = Found::Missing;
    let mut json = serde_json::Deserializer::from_slice(page);
    At { keys: &pointer.keys, found: &mut found }
        .deserialize(&mut json)
        .and_then(|()| json.end())
        .map_err(|error| format!("the page is no JSON, at line {} column {}", error.line(), error.column()))?;
    let wrong = match found {
        Found::Number(number) => return Ok(number),
        Found::Missing => "is not in the page",
        Found::Null => "is null",
        Found::OutOfRange => "is a number that cannot be a count",
        Found::Other => "is not a number",
    };
    Err(format!("{pointer} {wrong}"))
}

/// What stands at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Missing,
    Null,
    Number(u64),
    OutOfRange,
    Other,
}

impl Found {
    fn count(number: u64) -> Self {
        if number <= MAX_READING { Self::Number(number) } else { Self::OutOfRange }
    }
}

/// Walks to a place below here. Where a name is there twice, the last counts.
struct At<'a> {
    keys: &'a [String],
    found: &'a mut Found,
}

impl At<'_> {
    /// A value that nothing is below of.
    fn is(self, value: Found) {
        *self.found = if self.keys.is_empty() { value } else { Found::Missing };
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.is(Found::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.is(Found::Other);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.is(Found::count(number));
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.is(u64::try_from(number).map_or(Found::OutOfRange, Found::count));
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "in range"
    )]
    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        let is_count = (0.0..=MAX_READING as f64).contains(&number);
        self.is(if is_count { Found::Number(number.round() as u64) } else { Found::OutOfRange });
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        self.is(if is_number { text.parse().map_or(Found::OutOfRange, Found::count) } else { Found::Other });
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let wanted = self.keys.split_first().map(|(key, below)| (index(key), below));
        let mut length = 0u64;
        loop {
            let more = match wanted {
                Some((Some(place), keys)) if place == length => {
                    items.next_element_seed(At { keys, found: &mut *self.found })?.is_some()
                }
                _ => items.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
            length += 1;
        }
        if wanted.is_none() {
            *self.found = Found::count(length);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let wanted = self.keys.split_first();
        let mut length = 0u64;
        while let Some(is_wanted) = fields.next_key_seed(Is(wanted.map(|(key, _)| key.as_str())))? {
            match wanted {
                Some((_, keys)) if is_wanted => {
                    *self.found = Found::Missing;
                    fields.next_value_seed(At { keys, found: &mut *self.found })?;
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
            length += 1;
        }
        if wanted.is_none() {
            *self.found = Found::count(length);
        }
        Ok(())
    }
}

/// Whether a name is this one.
struct Is<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

/// A place in an array: digits without a zero in front.
fn index(key: &str) -> Option<u64> {
    let is_index = key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    if is_index { key.parse().ok() } else { None }
}

/// Asserts for arbitrary bytes what has to hold: the first line as a pointer, the rest as a page. For the fuzz target
/// and the replay of its corpus.
///
/// # Panics
///
/// When it does not hold: a bug in this module.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (line, page) = (String::from_utf8_lossy(&bytes[..end]), bytes.get(end + 1..).unwrap_or_default());
    let Ok(pointer) = line.parse::<Pointer>() else { return };
    assert_eq!(pointer.to_string().parse().as_ref(), Ok(&pointer), "a pointer reads back as it was written");
    let found = read(page, &pointer);
    // serde_json's own pointers, with the whole page in memory.
    // What is skipped is looked at less closely here: it may be deeper, or no UTF-8.
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(page) else { return };
    let digits = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let wanted = value.pointer(&pointer.text).and_then(|value| match value {
        serde_json::Value::Number(number) if number.is_f64() => found.as_ref().ok().copied(),
        serde_json::Value::Number(number) => number.as_u64(),
        serde_json::Value::String(text) => digits(text),
        serde_json::Value::Array(items) => Some(items.len() as u64),
        serde_json::Value::Object(fields) if found.is_ok() => {
            // A name that is there twice counts twice here.
            assert!(found.as_ref().is_ok_and(|found| *found >= fields.len() as u64));
            found.as_ref().ok().copied()
        }
        _ => None,
    });
    assert_eq!(found.ok(), wanted.filter(|number| *number <= MAX_READING), "{pointer}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pointer: &str, page: &str) -> Result<u64, String> {
        read(page.as_bytes(), &pointer.parse().expect("a pointer"))
    }

    #[test]
    fn a_number_digits_or_a_length_is_a_reading() {
        let page =
            r#"{"n":5,"s":"16","zero":0,"f":2.5,"a":[1,{"b":7},[]],"o":{"x":null,"y":1},"a/b":{"m~n":3},"":9,"e":[]}"#;
        for (pointer, wanted) in [
            ("/n", 5),
            ("/s", 16),
            ("/zero", 0),
            ("/f", 3),
            ("/a", 3),
            ("/a/0", 1),
            ("/a/1/b", 7),
            ("/a/2", 0),
            ("/o", 2),
            ("/a~1b/m~0n", 3),
            ("/", 9),
            ("/e", 0),
        ] {
            assert_eq!(at(pointer, page), Ok(wanted), "{pointer}");
        }
        assert_eq!(at("/a", r#"{"a":1,"a":"2"}"#), Ok(2), "the last counts");
        assert_eq!(at("/0/1", "[[4,6]]"), Ok(6));
    }

    /// Case 67: a key that is missing, null or no number is no reading, never 0.
    #[test]
    fn what_is_no_number_is_no_reading_and_says_why() {
        let page = r#"{"null":null,"t":"many","empty":"","b":true,"neg":-1,"big":1e300,"huge":"99999999999999999999","a":[1]}"#;
        for (pointer, wrong) in [
            ("/nope", "is not in the page"),
            ("/null", "is null"),
            ("/null/x", "is not in the page"),
            ("/t", "is not a number"),
            ("/empty", "is not a number"),
            ("/b", "is not a number"),
            ("/neg", "is a number that cannot be a count"),
            ("/big", "is a number that cannot be a count"),
            ("/huge", "is a number that cannot be a count"),
            ("/a/1", "is not in the page"),
            ("/a/00", "is not in the page"),
            ("/a/-", "is not in the page"),
            ("/a/+0", "is not in the page"),
        ] {
            assert_eq!(at(pointer, page), Err(format!("{pointer} {wrong}")), "{pointer}");
        }
        assert_eq!(at("/a/b", r#"{"a":{"b":1},"a":2}"#), Err("/a/b is not in the page".into()), "the last counts");
        for (page, place) in
            [("", "line 1 column 0"), ("{\"a\":1", "line 1 column 6"), ("{\"a\":1} x", "line 1 column 9")]
        {
            assert_eq!(at("/a", page), Err(format!("the page is no JSON, at {place}")));
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(at("/0/0", &deep), Ok(1), "what is skipped may be of any depth");
        let path = "/0".repeat(400);
        assert!(at(&path, &deep).unwrap_err().starts_with("the page is no JSON"), "the way to the place is bounded");
    }

    #[test]
    fn what_is_no_pointer_is_answered_with_one() {
        for (text, wanted) in [
            ("players", "is not a JSON pointer (write /players)"),
            ("players.online", "is not a JSON pointer (write /players/online)"),
            ("/a~2", "is not a JSON pointer: a ~ is not ~0 or ~1 (write ~ as ~0, and / in a name as ~1)"),
            ("/a~", "is not a JSON pointer: a ~ is not ~0 or ~1 (write ~ as ~0, and / in a name as ~1)"),
        ] {
            assert_eq!(text.parse::<Pointer>(), Err(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn the_fuzzers_invariants_hold_for_pages_like_these() {
        for page in
            ["{}", "[]", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":[1,2]}}", "{\"a\":1.5}", "{\"a\":\"7\"}", "{\"a\":"]
        {
            for pointer in ["/a", "/a/b", "/a/b/1", "/0", "/"] {
                fuzz(format!("{pointer}\n{page}").as_bytes());
            }
        }
    }
}
