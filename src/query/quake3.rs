//! Quake III's `getstatus`, which its many descendants answer: a line of `\key\value` pairs, then a line a player.

use super::wire::{Bytes, begins, name, number};
use super::{Reading, Step, Talk, Wanted};

/// In front of every packet outside a connection.
pub(super) const CONNECTIONLESS: &[u8] = b"\xff\xff\xff\xff";

pub(super) struct Quake3 {
    /// Comes back as the value of `challenge`.
    challenge: String,
    wanted: Wanted,
}

impl Quake3 {
    pub fn new(id: u64, wanted: Wanted) -> Self {
        Self { challenge: format!("{id:016x}"), wanted }
    }
}

impl Talk for Quake3 {
    fn question(&self) -> Vec<Vec<u8>> {
        vec![[CONNECTIONLESS, b"getstatus ", self.challenge.as_bytes(), b"\n"].concat()]
    }

    fn take(&mut self, datagram: &[u8]) -> Result<Step, String> {
        let mut bytes = Bytes(datagram);
        if !(bytes.skip(CONNECTIONLESS) && bytes.skip(b"statusResponse")) {
            return Err(begins(datagram));
        }
        bytes.until(b'\n').ok_or("has no line of settings")?;
        let mut status = Status::of(bytes)?;
        // Quake III and most of its descendants send it back; a server that does not is not refused for it.
        if status.value(b"challenge").is_some_and(|challenge| challenge != self.challenge.as_bytes()) {
            return Ok(Step::Stray("belongs to another question"));
        }
        let capacity = status.value(b"sv_maxclients").ok_or("does not say sv_maxclients")?;
        if !self.wanted.bots {
            status.players.retain(|line| !is_bot(line));
        }
        status.reading(capacity, self.wanted, |bytes| name(&without_colours(bytes))).map(Step::Known)
    }
}

/// The settings and the players of a server, as all the Quakes write them.
pub(super) struct Status<'a> {
    settings: &'a [u8],
    players: Vec<&'a [u8]>,
}

impl<'a> Status<'a> {
    /// Of what stands behind the answer's first word.
    pub fn of(mut text: Bytes<'a>) -> Result<Self, String> {
        let settings = text.until(b'\n').ok_or("has no line of settings")?;
        if !settings.starts_with(b"\\") {
            return Err("has no line of settings".into());
        }
        let lines = text.0.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let players: Vec<&[u8]> = lines.filter(|line| !line.is_empty() && *line != b"\0").collect();
        // `score ping "name"` and longer forms of it.
        if let Some(odd) = players.iter().find(|line| quoted(line).is_none()) {
            return Err(format!("has a player without a name in quotes: {:?}", name(odd)));
        }
        Ok(Self { settings, players })
    }

    /// The first setting of this name.
    pub fn value(&self, key: &[u8]) -> Option<&'a [u8]> {
        let mut words = self.settings.split(|&byte| byte == b'\\').skip(1);
        while let Some(found) = words.next() {
            let value = words.next()?;
            if found.eq_ignore_ascii_case(key) {
                return Some(value);
            }
        }
        None
    }

    pub fn reading(&self, capacity: &[u8], wanted: Wanted, clean: impl Fn(&[u8]) -> String) -> Result<Reading, String> {
        let capacity = number(capacity).ok_or("does not say how many players it takes as a number")?;
        let players = self.players.len() as u64;
        let found = self.players.iter().filter_map(|line| quoted(line)).map(clean).filter(|name| !name.is_empty());
        // A server that names nobody of those who play hides the names.
        let names = wanted.names.then(|| found.collect::<Vec<_>>()).filter(|names| players == 0 || !names.is_empty());
        Ok(Reading { players: Some(players), capacity: Some(capacity), names })
    }
}

/// Nothing is on its way to a bot and back; some games write it in front of its name.
fn is_bot(line: &[u8]) -> bool {
    let ping = line.split(|&byte| byte == b' ').nth(1).and_then(number);
    let name = without_colours(quoted(line).unwrap_or_default()).to_ascii_lowercase();
    ping == Some(0) || name.windows(5).any(|part| part == b"[bot]")
}

/// What stands between the first two quotes.
fn quoted(line: &[u8]) -> Option<&[u8]> {
    let mut parts = line.split(|&byte| byte == b'"');
    parts.next()?;
    let inside = parts.next()?;
    parts.next().map(|_| inside)
}

/// `^1`, `^a`, and the `^xRGB` of some descendants are colours. `^^` is a caret that stays.
fn without_colours(name: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'^', [b'x', r, g, b, tail @ ..]) if [r, g, b].iter().all(|digit| digit.is_ascii_hexdigit()) => tail,
            (b'^', [colour, tail @ ..]) if colour.is_ascii_alphanumeric() => tail,
            (b'^', [b'^', tail @ ..]) => {
                clean.push(b'^');
                tail
            }
            _ => {
                clean.push(byte);
                after
            }
        };
    }
    clean
}
