//! Mumble's extended ping: 12 bytes that ask, 24 that answer. All numbers are big-endian.

use super::wire::{Bytes, ENDS_EARLY};
use super::{Reading, Step, Talk};

pub(super) struct Mumble {
    /// Comes back in the answer.
    pub id: u64,
}

impl Talk for Mumble {
    fn question(&self) -> Vec<Vec<u8>> {
        vec![[&[0; 4], self.id.to_be_bytes().as_slice()].concat()]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        let (Some(_version), Some(id), Some(users), Some(most), Some(_bandwidth), true) =
            (bytes.array::<4>(), bytes.array(), bytes.array(), bytes.array(), bytes.array::<4>(), bytes.0.is_empty())
        else {
            let length = datagram.len();
            return Err(if length < 24 { ENDS_EARLY.into() } else { format!("is {length} bytes long and not 24") });
        };
        if id != self.id.to_be_bytes() {
            return Ok(Step::Stray("belongs to another ping"));
        }
        Ok(Step::Known(Reading {
            players: Some(u32::from_be_bytes(users).into()),
            capacity: Some(u32::from_be_bytes(most).into()),
            names: None,
        }))
    }
}
