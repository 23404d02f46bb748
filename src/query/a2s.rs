//! Valve's server queries (A2S): `A2S_INFO` for the counts, `A2S_PLAYER` for the names, a challenge in front of either.
//!
//! What one byte cannot hold, Rust puts into its keywords. Answers in several packets are put together by `parts.rs`.
//! Deliberately not: compressed ones, and the rules.
//! Source: Valve's developer wiki, "Server queries".

use super::parts::Parts;
use super::wire::{Bytes, ENDS_EARLY, begins, name, number};
use super::{Reading, Step, Talk, Wanted};

pub(super) const WHOLE: &[u8] = b"\xff\xff\xff\xff";
const PART: &[u8] = b"\xfe\xff\xff\xff";
const ASK_INFO: &[u8] = b"\xff\xff\xff\xffTSource Engine Query\0";
const ASK_PLAYERS: &[u8] = b"\xff\xff\xff\xffU";
/// In place of a challenge: asks for one.
const NO_CHALLENGE: [u8; 4] = [0xff; 4];

/// A server hands out one challenge a question, or a second where the first has aged; more is a loop.
const MOST_CHALLENGES: u32 = 4;

/// What a server that hides its players' names names in their place (`host_players_show 1`).
const MADE_UP: &str = "Max Players";

/// The Ship puts three bytes of its own into its answer.
const THE_SHIP: [u8; 2] = 2400u16.to_le_bytes();

pub(super) struct A2s {
    wanted: Wanted,
    challenge: Option<[u8; 4]>,
    challenges: u32,
    /// Known already, while the names are asked for.
    info: Option<Info>,
    parts: Parts,
}

/// The counts of `A2S_INFO`.
#[derive(Clone, Copy, Debug)]
struct Info {
    /// Bots too.
    players: u64,
    most: u64,
    bots: u64,
}

impl A2s {
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, challenge: None, challenges: 0, info: None, parts: Parts::default() }
    }

    fn message(&mut self, message: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(message);
        match (bytes.byte(), self.info) {
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
                let names = players(bytes).filter(|names| self.are_all(names, info));
                Ok(Step::Known(Reading { names, ..self.reading(info) }))
            }
            // The question was sent twice, and so was the answer.
            (Some(b'I' | b'm' | b'D'), _) => Ok(Step::Stray("belongs to another question")),
            _ => Err(begins(message)),
        }
    }

    fn informed(&mut self, info: Info) -> Step {
        let reading = self.reading(info);
        if !self.wanted.names {
            return Step::Known(reading);
        }
        if info.players == 0 {
            return Step::Known(Reading { names: Some(Vec::new()), ..reading });
        }
        self.info = Some(info);
        self.challenges = 0;
        Step::Ask
    }

    /// A maximum of 0 is one that the byte cannot hold: 256 slots, or 512.
    fn reading(&self, info: Info) -> Reading {
        let left_out = if self.wanted.bots { 0 } else { info.bots };
        Reading {
            players: Some(info.players.saturating_sub(left_out)),
            capacity: Some(info.most).filter(|most| *most > 0),
            names: None,
        }
    }

    /// These are all who play, and nobody else. Bots are named like players: where they are left out of the count
    /// they cannot be left out of the names.
    fn are_all(&self, names: &[String], info: Info) -> bool {
        names.len() as u64 >= info.players
            && names.iter().all(|name| name != MADE_UP)
            && (self.wanted.bots || info.bots == 0)
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
            Some(message) => self.message(&message),
        }
    }

    fn so_far(&self) -> Option<Reading> {
        self.info.map(|info| self.reading(info))
    }
}

/// The counts of `S2A_INFO_SRC`, behind its first byte.
fn source(mut bytes: Bytes) -> Option<Info> {
    let _protocol = bytes.byte()?;
    let [_name, _map, _folder, _game] = [bytes.string()?, bytes.string()?, bytes.string()?, bytes.string()?];
    let app = bytes.array::<2>()?;
    let [players, most, bots] = bytes.array()?;
    let _type_system_password_secure = bytes.take(4)?;
    let keywords = keywords(bytes, app).unwrap_or_default();
    let bots = bots.into();
    Some(match beyond_a_byte(keywords, most) {
        Some((players, most)) => Info { players, most, bots },
        None => Info { players: players.into(), most: most.into(), bots },
    })
}

/// The keywords, behind the fixed part, where there are some.
fn keywords(mut bytes: Bytes<'_>, app: [u8; 2]) -> Option<&[u8]> {
    if app == THE_SHIP {
        let _mode_witnesses_duration = bytes.take(3)?;
    }
    let _version = bytes.string()?;
    let what_follows = bytes.byte()?;
    if what_follows & 0x80 != 0 {
        let _port = bytes.take(2)?;
    }
    if what_follows & 0x10 != 0 {
        let _steam_id = bytes.take(8)?;
    }
    if what_follows & 0x40 != 0 {
        let (_port, _name) = (bytes.take(2)?, bytes.string()?);
    }
    if what_follows & 0x20 != 0 { bytes.string() } else { None }
}

/// Players and the most of them as Rust tells them: `mp500,cp312,...`, where a byte is too small for them. Other games
/// may have such keywords too (`mp5` is a gun): these have to agree with the byte.
fn beyond_a_byte(keywords: &[u8], byte: u8) -> Option<(u64, u64)> {
    let value = |key: &[u8]| {
        let mut found = keywords.split(|&byte| byte == b',').filter_map(|word| number(word.strip_prefix(key)?));
        found.next().filter(|_| found.next().is_none())
    };
    let (most, players) = (value(b"mp")?, value(b"cp")?);
    let agrees = most > 255 && (most % 256 == u64::from(byte) || byte == 255);
    agrees.then_some((players, most))
}

/// The counts in the answer of GoldSrc's first years.
fn goldsrc(mut bytes: Bytes) -> Option<Info> {
    let [_address, _name, _map] = [bytes.string()?, bytes.string()?, bytes.string()?];
    let [_folder, _game] = [bytes.string()?, bytes.string()?];
    let [players, most] = bytes.array()?;
    let [_protocol, _type, _system, _password, is_mod] = bytes.array()?;
    if is_mod == 1 {
        let [_link, _download] = [bytes.string()?, bytes.string()?];
        let _nothing_version_size_type_library = bytes.take(11)?;
    }
    let [_secure, bots] = bytes.array()?;
    Some(Info { players: players.into(), most: most.into(), bots: bots.into() })
}

/// `S2A_PLAYER` behind its first byte: all that are named, or none where it ends too early. One who is still
/// connecting has no name yet.
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
