//! QuakeWorld's `status`, as mvdsv speaks it; Quake II's servers answer the same question.
//!
//! Neither sends anything of the question back: only that the socket is new and connected tells answers apart.

use super::quake3::{CONNECTIONLESS, Status};
use super::wire::{Bytes, begins, name};
use super::{Step, Talk, Wanted};

pub(super) struct Quake {
    pub wanted: Wanted,
}

impl Talk for Quake {
    fn question(&self) -> Vec<Vec<u8>> {
        vec![[CONNECTIONLESS, b"status\n"].concat()]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        let is_answer = bytes.skip(CONNECTIONLESS) && (bytes.skip(b"print\n") || bytes.skip(b"n"));
        if !is_answer {
            return Err(begins(datagram));
        }
        let status = Status::of(bytes)?;
        let capacity = status.value(b"maxclients").ok_or("does not say maxclients")?;
        status.reading(capacity, self.wanted, |bytes| name(&plain(bytes))).map(Step::Known)
    }
}

/// Quake's character set is ASCII twice, the second time in bronze, with brackets and digits in gold among the
/// control characters.
fn plain(name: &[u8]) -> Vec<u8> {
    let ascii = |byte: &u8| match byte & 0x7f {
        0x10 => b'[',
        0x11 => b']',
        gold @ 0x12..=0x1b => gold - 0x12 + b'0',
        other => other,
    };
    name.iter().map(ascii).collect()
}
