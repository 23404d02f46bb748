//! The password of the game's remote console. `agones-shim rcon` reads it, wherever that is run: as a stop hook, as the
//! program of a count, or by hand.

use super::engine::read::{Findings, Mode, Values};
use super::engine::row::{Setting, Shown, Subject};
use super::text::plain::{password, path};
use super::text::target::Secret;

pub(crate) static PASSWORD: Setting<Secret> = Setting::one("AGONES_SHIM_RCON_PASSWORD", "PASSWORD", password)
    .help("Password of the game's remote console, for `agones-shim rcon`; never shown. The game and every hook have it in their environment")
    .shown(Shown::Secret);

pub(crate) static PASSWORD_FILE: Setting<String> = Setting::one("AGONES_SHIM_RCON_PASSWORD_FILE", "PATH", path)
    .help("File of one line with that password: in nobody's environment");

pub(super) static SUBJECT: Subject =
    Subject { heading: "Remote console", rows: &[&PASSWORD, &PASSWORD_FILE], given: &[], check, facts: |_| Vec::new() };

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    if values.is_set(PASSWORD.name()) && values.is_set(PASSWORD_FILE.name()) {
        findings.error(PASSWORD_FILE.name(), both_set());
    }
}

/// What is wrong with [`PASSWORD_FILE`] where there is a [`PASSWORD`] too.
pub(crate) fn both_set() -> String {
    format!("{} is set too (leave one of them out)", PASSWORD.name())
}
