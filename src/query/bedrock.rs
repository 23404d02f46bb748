//! Minecraft Bedrock's server list ping, which is RakNet's unconnected ping: the answer has a text of fields between
//! semicolons, `MCPE;name;protocol;version;players;max;...`.

use super::wire::{Bytes, ENDS_EARLY, begins, number};
use super::{Reading, Step, Talk};

const PING: u8 = 0x01;
const PONG: u8 = 0x1c;

/// RakNet's "offline message" mark, in every packet outside a connection.
const MAGIC: [u8; 16] =
    [0x00, 0xff, 0xff, 0x00, 0xfe, 0xfe, 0xfe, 0xfe, 0xfd, 0xfd, 0xfd, 0xfd, 0x12, 0x34, 0x56, 0x78];

/// The fields of the text that count, from 0.
const PLAYERS: usize = 4;
const MOST: usize = 5;

pub(super) struct Bedrock {
    /// Stands where the client's clock belongs, and comes back in the answer.
    time: [u8; 8],
}

impl Bedrock {
    pub fn new(id: u64) -> Self {
        // A clock is positive: some servers read it as signed.
        Self { time: (id >> 1).to_be_bytes() }
    }
}

impl Talk for Bedrock {
    fn question(&self) -> Vec<Vec<u8>> {
        // The client's GUID; any will do.
        let guid = self.time;
        vec![[&[PING], self.time.as_slice(), &MAGIC, &guid].concat()]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        if !bytes.skip(&[PONG]) {
            return Err(begins(datagram));
        }
        let (time, _guid, magic) = (bytes.array(), bytes.take(8), bytes.array());
        let (Some(time), Some(magic)) = (time, magic) else { return Err(ENDS_EARLY.into()) };
        if magic != MAGIC {
            return Err("lacks RakNet's magic bytes".into());
        }
        if time != self.time {
            return Ok(Step::Stray("belongs to another ping"));
        }
        let text = bytes.array().and_then(|length| bytes.take(u16::from_be_bytes(length).into())).ok_or(ENDS_EARLY)?;
        let fields = fields(text);
        let count = |field: usize| fields.get(field).and_then(|text| number(text));
        match (count(PLAYERS), count(MOST)) {
            (Some(players), Some(most)) => {
                Ok(Step::Known(Reading { players: Some(players), capacity: Some(most), names: None }))
            }
            _ => Err("has no numbers of players in its text (write udp:// for another game's RakNet)".into()),
        }
    }
}

/// The text cut at semicolons; one behind a backslash is part of a field.
fn fields(text: &[u8]) -> Vec<&[u8]> {
    let mut is_escaped = false;
    text.split(|&byte| {
        let is_end = byte == b';' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
    .take(MOST + 1)
    .collect()
}
