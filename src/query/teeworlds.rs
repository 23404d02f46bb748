//! Teeworlds' server info, of 0.7 and of 0.6, whose extended form DDNet speaks. Both are asked at once and the one
//! that answers is heard: a server knows only its own, or (newer DDNet) both.
//!
//! 0.7 hands out a token first, in a handshake whose question is longer than its answer. What counts are the clients:
//! one who looks on has a place too. Deliberately not here: Teeworlds' own 64-player form, which only old DDNet has.
//! Source: the projects' own `network.h`, `mastersrv.h` and `server.cpp`.

use super::wire::{Bytes, ENDS_EARLY, begins, name, number};
use super::{Reading, Step, Talk};

/// In front of the words below, after the packet's own header.
const CONNECTIONLESS: &[u8] = b"\xff\xff\xff\xff";
const GET_INFO: &[u8] = b"\xff\xff\xff\xffgie3";

/// 0.7: a control packet, and the message in it that asks for a token or brings it.
const CONTROL: u8 = 0x04;
const TOKEN_MESSAGE: u8 = 5;
const NO_TOKEN: [u8; 4] = [0xff; 4];
/// A server answers only questions that are longer than the answer by far.
const TOKEN_PADDING: usize = 512;
/// 0.7: a packet outside a connection, version 1.
const CONNLESS_7: u8 = 0x21;

/// More clients than any server takes, and so the end of what is gathered.
const MOST_CLIENTS: u64 = 1024;
const MOST_PACKETS: usize = 64;

pub(super) struct Teeworlds {
    names: bool,
    /// 0.7: comes back in the packet's header.
    token: [u8; 4],
    /// 0.7: the server's, once it has handed it out.
    server_token: Option<[u8; 4]>,
    /// 0.6: comes back as the first field: two bytes more and the one that all servers know.
    extra: [u8; 2],
    basic: u8,
    /// DDNet: the counts, while the names come in more packets.
    extended: Option<Extended>,
}

struct Extended {
    reading: Reading,
    /// Names a packet, by the packet's number; the first is 0.
    packets: Vec<(u64, Vec<String>)>,
}

impl Teeworlds {
    pub fn new(id: u64, names: bool) -> Self {
        let id = id.to_be_bytes();
        Self {
            names,
            // The lowest bit keeps it from being "no token".
            token: [id[0], id[1], id[2], id[3] & 0xfe],
            server_token: None,
            extra: [id[4], id[5]],
            basic: id[6],
            extended: None,
        }
    }

    fn seven(&mut self, mut bytes: Bytes) -> Result<Step, String> {
        let (Some(token), Some(_theirs)) = (bytes.array(), bytes.array::<4>()) else { return Err(ENDS_EARLY.into()) };
        if token != self.token {
            return Ok(Step::Stray("belongs to another question"));
        }
        if !(bytes.skip(CONNECTIONLESS) && bytes.skip(b"inf3")) {
            return Err(begins(bytes.0));
        }
        info_7(bytes, self.names).ok_or_else(|| ENDS_EARLY.to_owned()).map(Step::Known)
    }

    fn six(&mut self, mut bytes: Bytes) -> Result<Step, String> {
        let kind: [u8; 4] = bytes.array().ok_or(ENDS_EARLY)?;
        let token = bytes.string().ok_or(ENDS_EARLY)?;
        let [high, low] = self.extra.map(u64::from);
        let basic = u64::from(self.basic);
        let wanted = if &kind == b"inf3" { basic } else { high << 16 | low << 8 | basic };
        if number(token) != Some(wanted) {
            return Ok(Step::Stray("belongs to another question"));
        }
        match &kind {
            b"inf3" => info_6(bytes, self.names).ok_or_else(|| ENDS_EARLY.to_owned()).map(Step::Known),
            b"iext" => {
                let (reading, names) = info_extended(bytes).ok_or(ENDS_EARLY)?;
                if !self.names {
                    return Ok(Step::Known(reading));
                }
                // The question was sent twice, and so was the answer: counts and names are those of the first.
                if self.so_far().is_some() {
                    return Ok(Step::Stray("belongs to another question"));
                }
                let packets = self.extended.take().map(|extended| extended.packets).unwrap_or_default();
                self.extended = Some(Extended { reading, packets });
                self.more(0, names)
            }
            b"iex+" => {
                let packet = bytes.string().and_then(number).ok_or(ENDS_EARLY)?;
                let _reserved = bytes.string().ok_or(ENDS_EARLY)?;
                self.more(packet, clients_extended(bytes))
            }
            _ => Err(begins(&kind)),
        }
    }

    /// Keeps the names of a packet, until there are as many as clients.
    fn more(&mut self, packet: u64, names: Vec<String>) -> Result<Step, String> {
        let extended =
            self.extended.get_or_insert_with(|| Extended { reading: Reading::default(), packets: Vec::new() });
        if extended.packets.len() >= MOST_PACKETS {
            return Err(format!("comes in more than {MOST_PACKETS} packets"));
        }
        if extended.packets.iter().all(|(known, _)| *known != packet) {
            extended.packets.push((packet, names));
        }
        let found: u64 = extended.packets.iter().map(|(_, names)| names.len() as u64).sum();
        if extended.reading.players != Some(found) {
            return Ok(Step::Wait);
        }
        extended.packets.sort_by_key(|(packet, _)| *packet);
        let names = named(extended.packets.drain(..).flat_map(|(_, names)| names));
        Ok(Step::Known(Reading { names: Some(names), ..extended.reading.clone() }))
    }
}

impl Talk for Teeworlds {
    fn question(&self) -> Vec<Vec<u8>> {
        let seven = match self.server_token {
            None => {
                let mut ask = [&[CONTROL, 0, 0], &NO_TOKEN[..], &[TOKEN_MESSAGE], &self.token[..]].concat();
                ask.resize(ask.len() + TOKEN_PADDING, 0);
                ask
            }
            Some(theirs) => {
                let mut ask = [&[CONNLESS_7], &theirs[..], &self.token[..], GET_INFO].concat();
                // A token of the browser's own, packed as a number: this is 0.
                ask.push(0);
                ask
            }
        };
        if self.server_token.is_some() {
            return vec![seven];
        }
        // To 0.6's own servers the two letters are flags without a meaning.
        let six = [b"xe", &self.extra[..], &[0, 0], GET_INFO, &[self.basic]].concat();
        vec![six, seven]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        if datagram.get(6..10) == Some(CONNECTIONLESS) {
            return self.six(Bytes(&datagram[10..]));
        }
        match bytes.byte() {
            Some(CONNLESS_7) => self.seven(bytes),
            Some(CONTROL) => {
                let (Some(_ack_and_chunks), Some(token), Some(kind)) =
                    (bytes.take(2), bytes.array::<4>(), bytes.byte())
                else {
                    return Err(ENDS_EARLY.into());
                };
                if token != self.token || kind != TOKEN_MESSAGE {
                    return Ok(Step::Stray("belongs to another question"));
                }
                self.server_token = Some(bytes.array().ok_or(ENDS_EARLY)?);
                Ok(Step::Ask)
            }
            _ => Err(begins(datagram)),
        }
    }

    fn so_far(&self) -> Option<Reading> {
        self.extended.as_ref().map(|extended| extended.reading.clone()).filter(|reading| reading.players.is_some())
    }
}

/// 0.7, behind the word `inf3`.
fn info_7(mut bytes: Bytes, names: bool) -> Option<Reading> {
    let _token = packed(&mut bytes)?;
    for _version_name_host_map_type in 0..5 {
        bytes.string()?;
    }
    let [_flags, _skill, _players, _slots] =
        [packed(&mut bytes)?, packed(&mut bytes)?, packed(&mut bytes)?, packed(&mut bytes)?];
    let clients = u64::try_from(packed(&mut bytes)?).ok()?;
    let most = u64::try_from(packed(&mut bytes)?).ok()?;
    let client = |bytes: &mut Bytes| {
        let (client, _clan) = (name(bytes.string()?), bytes.string()?);
        let [_country, _score, _kind] = [packed(bytes)?, packed(bytes)?, packed(bytes)?];
        Some(client)
    };
    let names = if names { all_clients(&mut bytes, clients, client) } else { None };
    Some(Reading { players: Some(clients), capacity: Some(most), names })
}

/// 0.6, behind the token.
fn info_6(mut bytes: Bytes, names: bool) -> Option<Reading> {
    for _version_name_map_type_flags in 0..5 {
        bytes.string()?;
    }
    let [_players, _slots, clients, most] =
        [decimal(&mut bytes)?, decimal(&mut bytes)?, decimal(&mut bytes)?, decimal(&mut bytes)?];
    let client = |bytes: &mut Bytes| {
        let (client, _clan) = (name(bytes.string()?), bytes.string()?);
        let [_country, _score, _is_player] = [bytes.string()?, bytes.string()?, bytes.string()?];
        Some(client)
    };
    let names = if names { all_clients(&mut bytes, clients, client) } else { None };
    Some(Reading { players: Some(clients), capacity: Some(most), names })
}

/// DDNet's first packet, behind the token: the counts and the first names.
fn info_extended(mut bytes: Bytes) -> Option<(Reading, Vec<String>)> {
    for _version_name_map_crc_size_type_flags in 0..7 {
        bytes.string()?;
    }
    let [_players, _slots, clients, most] =
        [decimal(&mut bytes)?, decimal(&mut bytes)?, decimal(&mut bytes)?, decimal(&mut bytes)?];
    let _reserved = bytes.string()?;
    Some((Reading { players: Some(clients), capacity: Some(most), names: None }, clients_extended(bytes)))
}

fn clients_extended(mut bytes: Bytes) -> Vec<String> {
    let mut client = || {
        let client = name(bytes.string()?);
        for _clan_country_score_is_player_reserved in 0..5 {
            bytes.string()?;
        }
        Some(client)
    };
    std::iter::from_fn(&mut client).collect()
}

/// One who is still connecting has this in place of a name.
fn named(names: impl Iterator<Item = String>) -> Vec<String> {
    names.filter(|name| !name.is_empty() && name != "(connecting)").collect()
}

/// The names of all clients, or none of them.
fn all_clients(
    bytes: &mut Bytes,
    clients: u64,
    mut client: impl FnMut(&mut Bytes) -> Option<String>,
) -> Option<Vec<String>> {
    let clients = Some(clients).filter(|clients| *clients <= MOST_CLIENTS)?;
    let names: Option<Vec<String>> = (0..clients).map(|_| client(bytes)).collect();
    names.map(|names| named(names.into_iter()))
}

fn decimal(bytes: &mut Bytes) -> Option<u64> {
    number(bytes.string()?)
}

/// 0.7's number: six bits, then seven a byte, the lowest first; the first byte has the sign too.
fn packed(bytes: &mut Bytes) -> Option<i64> {
    let first = bytes.byte()?;
    let mut number = i64::from(first & 0x3f);
    let mut goes_on = first & 0x80 != 0;
    let mut shift = 6;
    while goes_on {
        if shift > 27 {
            return None;
        }
        let byte = bytes.byte()?;
        number |= i64::from(byte & 0x7f) << shift;
        goes_on = byte & 0x80 != 0;
        shift += 7;
    }
    Some(if first & 0x40 == 0 { number } else { !number })
}
