//! `agones-shim local-sdk`: its arguments and its help are its own.

use super::{Command, Reads};

pub(super) static COMMAND: Command = Command {
    name: "local-sdk",
    arguments: "[OPTION...]",
    summary: "a local SDK server: try it all with no cluster",
    words: &[],
    details: &[],
    reads: Reads::Nothing,
    run: |args, _| Ok(crate::local_sdk::run(args)),
};
