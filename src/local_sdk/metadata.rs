//! Which labels and annotations Kubernetes accepts. Pure.
//!
//! The SDK server checks the key as it was given and then puts
//! `agones.dev/sdk-` in front; the API server checks what came out of that.

use super::request::{Code, Refusal};
use crate::sdk::proto::sdk;

/// In front of every key that comes through the SDK.
pub const PREFIX: &str = "agones.dev/sdk-";

/// The longest name part of a key, and the longest label value.
const MAX_NAME: usize = 63;
/// The longest prefix part of a key.
const MAX_DNS: usize = 253;

/// Checks a label as the SDK server does.
///
/// # Errors
/// INVALID_ARGUMENT for a key or value that Kubernetes has no room for.
pub fn check_label(pair: &sdk::KeyValue) -> Result<(), Refusal> {
    key_error(&pair.key).map_or(Ok(()), |error| invalid(format!("invalid label key {:?}: {error}", pair.key)))?;
    value_error(&pair.value).map_or(Ok(()), |error| {
        invalid(format!("invalid label value {:?} for key {:?}: {error}", pair.value, pair.key))
    })
}

/// Checks an annotation as the SDK server does: any value goes.
///
/// # Errors
/// INVALID_ARGUMENT for a key that Kubernetes has no room for.
pub fn check_annotation(pair: &sdk::KeyValue) -> Result<(), Refusal> {
    key_error(&pair.key).map_or(Ok(()), |error| invalid(format!("invalid annotation key {:?}: {error}", pair.key)))
}

/// What is wrong with a key, if anything.
#[must_use]
pub fn key_error(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| prefix.len() > MAX_DNS || !is_dns_name(prefix)) {
        return Some("the part before '/' must be a DNS name in lower case");
    }
    if name.contains('/') {
        return Some("there may be one '/' at most");
    }
    if name.is_empty() {
        return Some("the name must not be empty");
    }
    name_error(name)
}

fn value_error(value: &str) -> Option<&'static str> {
    if value.is_empty() { None } else { name_error(value) }
}

fn name_error(name: &str) -> Option<&'static str> {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if name.len() > MAX_NAME {
        return Some("it must not be longer than 63 characters");
    }
    if !name.bytes().all(is_inner) {
        return Some("only letters, digits, '-', '_' and '.' are allowed");
    }
    if !is_edge(name.as_bytes().first()) || !is_edge(name.as_bytes().last()) {
        return Some("it must begin and end with a letter or a digit");
    }
    None
}

fn is_dns_name(name: &str) -> bool {
    name.split('.').all(|label| {
        let bytes = label.as_bytes();
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        is_edge(bytes.first())
            && is_edge(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
    })
}

fn invalid(message: String) -> Result<(), Refusal> {
    Err(Refusal { code: Code::InvalidArgument, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, value: &str) -> (bool, bool) {
        let pair = sdk::KeyValue { key: key.into(), value: value.into() };
        (check_label(&pair).is_ok(), check_annotation(&pair).is_ok())
    }

    #[test]
    fn keys_and_values_are_those_of_kubernetes() {
        for key in ["map", "a", "A-b_c.9", "x.org/map", "1/2", &"k".repeat(63)] {
            assert_eq!(check(key, "v"), (true, true), "{key:?}");
        }
        for key in ["", "bad key", "-a", "a-", ".", "a/b/c", "/a", "a/", "X.org/a", "a..b/c", "ü", &"k".repeat(64)] {
            assert_eq!(check(key, "v"), (false, false), "{key:?}");
        }
        for value in ["", "v", "1.0", "a_b-c"] {
            assert_eq!(check("key", value), (true, true), "{value:?}");
        }
        for value in ["a b", "a/b", "-", "ü", &"v".repeat(64)] {
            assert_eq!(check("key", value), (false, true), "{value:?}");
        }
    }

    #[test]
    fn each_reason_is_its_own() {
        for (key, reason) in [
            ("a/b/c", "there may be one '/' at most"),
            ("A/b", "the part before '/' must be a DNS name in lower case"),
            ("a/", "the name must not be empty"),
            ("a b", "only letters, digits, '-', '_' and '.' are allowed"),
            ("-a", "it must begin and end with a letter or a digit"),
        ] {
            assert_eq!(key_error(key), Some(reason), "{key:?}");
        }
    }

    #[test]
    fn a_refusal_names_key_value_and_reason() {
        let pair = sdk::KeyValue { key: "k".into(), value: "a b".into() };
        let refusal = check_label(&pair).expect_err("a blank");
        assert_eq!(refusal.code, Code::InvalidArgument);
        assert_eq!(
            refusal.message,
            "invalid label value \"a b\" for key \"k\": only letters, digits, '-', '_' and '.' are allowed"
        );
    }
}
