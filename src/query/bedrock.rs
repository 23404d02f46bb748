//! Minecraft Bedrock's server list ping, which is RakNet's unconnected ping: the answer has a text of fields between
//! semicolons, `MCPE;name;protocol;version;players;max;id;...`.
//!
//! A name may have semicolons in it, and some servers write them as they are. What counts is found by its place from
//! the protocol's number on; where more than one place may be that, the answer is refused.

use super::wire::{Bytes, ENDS_EARLY, begins, number};
use super::{Reading, Step, Talk};

const PING: u8 = 0x01;
const PONG: u8 = 0x1c;

/// RakNet's "offline message" mark, in every packet outside a connection.
const MAGIC: [u8; 16] =
    [0x00, 0xff, 0xff, 0x00, 0xfe, 0xfe, 0xfe, 0xfe, 0xfd, 0xfd, 0xfd, 0xfd, 0x12, 0x34, 0x56, 0x78];

/// The first two fields are the edition and the name, or its beginning.
const BEFORE: usize = 2;
/// No server tells more, and a name that long is none.
const MOST_FIELDS: usize = 64;

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
        counts(&fields(text)).map(Step::Known)
    }
}

/// The players and the most of them.
fn counts(fields: &[&[u8]]) -> Result<Reading, String> {
    let mut found = (BEFORE..fields.len()).filter_map(|place| from_protocol_on(&fields[place..]));
    let reading =
        found.next().ok_or("has no numbers of players in its text (write udp:// for another game's RakNet)")?;
    match found.next() {
        None => Ok(reading),
        Some(_) => {
            Err("has two places in its text that may be the players (take the semicolons out of its name)".into())
        }
    }
}

/// `protocol;version;players;max;id`, where that is what stands here. Older servers end before the id.
fn from_protocol_on(fields: &[&[u8]]) -> Option<Reading> {
    let [protocol, version, players, most, rest @ ..] = fields else { return None };
    let id = rest.first().copied().unwrap_or_default();
    let is_here = number(protocol).is_some()
        && number(version).is_none()
        && id.strip_prefix(b"-").unwrap_or(id).iter().all(u8::is_ascii_digit);
    let (players, capacity) = (number(players)?, number(most)?);
    is_here.then_some(Reading { players: Some(players), capacity: Some(capacity), names: None })
}

/// The text cut at semicolons; one behind a backslash is part of a field.
fn fields(text: &[u8]) -> Vec<&[u8]> {
    let mut is_escaped = false;
    text.split(|&byte| {
        let is_end = byte == b';' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
    .take(MOST_FIELDS)
    .collect()
}
