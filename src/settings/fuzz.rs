//! What has to hold for any environment. Called by the fuzz target and by the replay of its corpus; the release binary
//! has none of it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use super::engine::check;
use super::engine::read::{Parsed, Rejected, Variable};
use super::engine::row::{self, Shown};
use super::{LivenessSettings, SdkSettings, Settings, insight};

/// Stands for a password wherever the fuzzer wants one.
const SECRET: &str = "hunter2";
/// Where it wants one: between what is in front of it, what is behind, and the host.
const MARK: u8 = 1;

/// Arbitrary bytes as an environment, variables apart by NUL bytes: no panic, every error names its variable, and no
/// password of a URL, and no argument of a command, is shown anywhere.
///
/// A name may come without `AGONES_SHIM_`. A value that begins with the byte 1 becomes a URL with a password, or a
/// command with an argument, made of the texts between further such bytes.
///
/// # Panics
///
/// When that does not hold: a bug in this module.
pub fn fuzz(bytes: &[u8]) {
    let environment: Vec<Variable> = bytes.split(|&byte| byte == 0).filter_map(variable).collect();
    if let Ok(page) = check::page(environment.clone(), true) {
        assert_hidden(&page.text);
    }
    shown(Settings::read(false, environment.clone()));
    shown(Settings::read(true, environment.clone()));
    shown(LivenessSettings::read(environment.clone()));
    shown(SdkSettings::read(environment.clone()));
    shown(insight::read_status_endpoint(environment));
}

fn variable(item: &[u8]) -> Option<Variable> {
    let at = item.iter().position(|&byte| byte == b'=')?;
    let (name, value) = (&item[..at], &item[at + 1..]);
    let mut full = b"AGONES_SHIM_".to_vec();
    full.extend_from_slice(name);
    let setting = row::all().find(|row| row.variable.as_bytes() == full);
    let name = if setting.is_some() { full } else { name.to_vec() };
    let value = match value.split_first() {
        Some((&MARK, parts)) => {
            let setting = setting?;
            let mut parts = parts.splitn(3, |&byte| byte == MARK).map(String::from_utf8_lossy);
            let mut part = || parts.next().unwrap_or_default();
            let (before, after, rest) = (part(), part(), part());
            let secret = format!("{before}{SECRET}{after}");
            // Behind a comma, http:// begins a URL of its own: nobody can tell that it is the end of a password.
            if matches!(setting.shown, Shown::Url | Shown::Urls) && !secret.to_ascii_lowercase().contains("http") {
                format!("http://ann:{secret}@{rest}").into_bytes()
            } else if setting.shown == Shown::Command {
                format!("save {secret} {rest}").into_bytes()
            } else {
                return None;
            }
        }
        _ => value.to_vec(),
    };
    Some((OsString::from_vec(name), OsString::from_vec(value)))
}

fn shown<T: std::fmt::Debug>(parsed: Parsed<T>) {
    match parsed {
        Ok((_, warnings)) => warnings.iter().for_each(|warning| assert_hidden(&warning.to_string())),
        Err(rejected) => rejections(&rejected),
    }
}

fn rejections(rejected: &Rejected) {
    assert!(!rejected.errors.is_empty(), "rejected without an error");
    for error in &rejected.errors {
        let is_named = |row: &row::Row| error.to_string().contains(row.variable);
        assert!(
            row::is_setting(&error.variable) || row::rows().any(|setting| is_named(setting.row())),
            "{error} names no setting"
        );
        assert!(!error.message.is_empty(), "{error} says nothing");
    }
    assert_hidden(&rejected.to_string());
}

fn assert_hidden(text: &str) {
    assert!(!text.contains(SECRET), "a secret is shown: {text}");
}
