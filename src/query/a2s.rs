//! Valve's server queries (A2S): `A2S_INFO` for the counts, `A2S_PLAYER` for the names, a challenge in front of either.
//!
//! Answers in several packets are put together in Source's form, uncompressed, up to 32 packets. Deliberately not:
//! compressed ones, GoldSrc's form of splitting, which its short answers never need, and the rules.
//! Source: Valve's developer wiki, "Server queries".

use super::wire::{Bytes, ENDS_EARLY, begins, name};
use super::{Reading, Step, Talk};

const WHOLE: &[u8] = b"\xff\xff\xff\xff";
const PART: &[u8] = b"\xfe\xff\xff\xff";
const ASK_INFO: &[u8] = b"\xff\xff\xff\xffTSource Engine Query\0";
const ASK_PLAYERS: &[u8] = b"\xff\xff\xff\xffU";
/// In place of a challenge: asks for one.
const NO_CHALLENGE: [u8; 4] = [0xff; 4];

/// A server hands out one challenge a question, or a second where the first has aged; more is a loop.
const MOST_CHALLENGES: u32 = 4;
/// 255 players with long names are some 12 packets of 1,400 bytes.
const MOST_PARTS: u8 = 32;

pub(super) struct A2s {
    names: bool,
    challenge: Option<[u8; 4]>,
    challenges: u32,
    /// Known already, while the names are asked for.
    info: Option<Reading>,
    parts: Parts,
}

impl A2s {
    pub fn new(names: bool) -> Self {
        Self { names, challenge: None, challenges: 0, info: None, parts: Parts::default() }
    }

    fn message(&mut self, message: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(message);
        match (bytes.byte(), &self.info) {
            (Some(b'A'), _) => {
                self.challenge = Some(bytes.array().ok_or(ENDS_EARLY)?);
                self.challenges += 1;
                if self.challenges > MOST_CHALLENGES {
                    return Err("asks for a new challenge again and again".into());
                }
                Ok(Step::Ask)
            }
            (Some(b'I'), None) => Ok(self.informed(source(bytes).ok_or(ENDS_EARLY)?)),
            (Some(b'm'), None) => Ok(self.informed(goldsrc(bytes).ok_or(ENDS_EARLY)?)),
            (Some(b'D'), Some(info)) => {
                let names = players(bytes);
                Ok(Step::Known(Reading { names, ..info.clone() }))
            }
            // The question was sent twice, and so was the answer.
            (Some(b'I' | b'm' | b'D'), _) => Ok(Step::Stray("belongs to another question")),
            _ => Err(begins(message)),
        }
    }

    fn informed(&mut self, (players, most): (u8, u8)) -> Step {
        let reading = Reading { players: Some(players.into()), capacity: Some(most.into()), names: None };
        if !self.names || most == 0 {
            return Step::Known(reading);
        }
        if players == 0 {
            return Step::Known(Reading { names: Some(Vec::new()), ..reading });
        }
        self.info = Some(reading);
        self.challenges = 0;
        Step::Ask
    }
}

impl Talk for A2s {
    fn question(&self) -> Vec<Vec<u8>> {
        vec![match (&self.info, &self.challenge) {
            (None, None) => ASK_INFO.to_vec(),
            (None, Some(challenge)) => [ASK_INFO, challenge].concat(),
            (Some(_), challenge) => [ASK_PLAYERS, &challenge.unwrap_or(NO_CHALLENGE)].concat(),
        }]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        if bytes.skip(WHOLE) {
            return self.message(bytes.0);
        }
        if !bytes.skip(PART) {
            return Err(begins(datagram));
        }
        match self.parts.add(bytes)? {
            None => Ok(Step::Wait),
            Some(whole) => match whole.strip_prefix(WHOLE) {
                Some(message) => self.message(message),
                None => Err(begins(&whole)),
            },
        }
    }

    fn so_far(&self) -> Option<Reading> {
        self.info.clone()
    }
}

/// Players and the most of them, from `S2A_INFO_SRC` behind its first byte.
fn source(mut bytes: Bytes) -> Option<(u8, u8)> {
    let _protocol = bytes.byte()?;
    let [_name, _map, _folder, _game] = [bytes.string()?, bytes.string()?, bytes.string()?, bytes.string()?];
    let _app = bytes.take(2)?;
    let counts = (bytes.byte()?, bytes.byte()?);
    let _bots_type_system_password_secure = bytes.take(5)?;
    Some(counts)
}

/// The same from the answer of GoldSrc's first years.
fn goldsrc(mut bytes: Bytes) -> Option<(u8, u8)> {
    let [_address, _name, _map] = [bytes.string()?, bytes.string()?, bytes.string()?];
    let [_folder, _game] = [bytes.string()?, bytes.string()?];
    Some((bytes.byte()?, bytes.byte()?))
}

/// `S2A_PLAYER` behind its first byte: all names, or none where it ends too early. One who is still connecting has
/// no name yet.
fn players(mut bytes: Bytes) -> Option<Vec<String>> {
    let count = bytes.byte()?;
    let mut names = Vec::new();
    for _ in 0..count {
        let _index = bytes.byte()?;
        let player = name(bytes.string()?);
        let _score_and_time = bytes.take(8)?;
        names.extend(Some(player).filter(|name| !name.is_empty()));
    }
    Some(names)
}

/// An answer in several packets.
#[derive(Default)]
struct Parts {
    id: [u8; 4],
    found: Vec<Option<Vec<u8>>>,
}

impl Parts {
    /// The whole, with the part that completes it.
    fn add(&mut self, mut bytes: Bytes) -> Result<Option<Vec<u8>>, String> {
        let (Some(id), Some(total), Some(number), Some(_size)) =
            (bytes.array::<4>(), bytes.byte(), bytes.byte(), bytes.array::<2>())
        else {
            return Err(ENDS_EARLY.into());
        };
        if id[3] & 0x80 != 0 {
            return Err("is compressed, which is not supported".into());
        }
        if total > MOST_PARTS {
            return Err(format!("is to come in {total} packets, more than {MOST_PARTS}"));
        }
        if number >= total {
            return Err(format!("has part {number} of {total}, counted from 0"));
        }
        if id != self.id || self.found.len() != usize::from(total) {
            *self = Self { id, found: vec![None; total.into()] };
        }
        self.found[usize::from(number)] = Some(bytes.0.to_vec());
        if self.found.iter().any(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.found).into_iter().flatten().flatten().collect()))
    }
}
