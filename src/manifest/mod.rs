//! Manifests: what Kubernetes and Agones are given, read from YAML or JSON.
//!
//! `yaml.rs` makes a tree of a text, `field.rs` reads typed values from it with errors that name their place,
//! `game_server.rs` is what an SDK server cares for, and `check/` holds all of it against the shim's settings.

pub(crate) mod check;
mod field;
#[doc(hidden)]
pub mod fuzz;
mod game_server;
pub(crate) mod spec;
pub mod yaml;

use std::io::{self, Read};

#[cfg(feature = "local-sdk")]
pub(crate) use game_server::parse;

/// The largest file that is read; Kubernetes itself keeps no object above 1.5 MiB.
const MAX_BYTES: u64 = 4 << 20;

/// The text of a manifest.
///
/// # Errors
/// It cannot be read, is no text, or too large for a manifest; no more than that is read of it.
pub(crate) fn read(source: io::Result<impl Read>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = source.and_then(|source| source.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("larger than {MAX_BYTES} bytes: no manifest"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 text from byte {} on", error.utf8_error().valid_up_to() + 1))
}
