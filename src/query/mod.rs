//! Game server queries: one question, one answer, in the protocols that hundreds of games share.
//!
//! Only what counting needs is read of an answer. Everything in it is hostile until parsed: each protocol is a pure
//! [`Talk`] from datagrams to a [`Reading`], with bounds on what it keeps, and `ask.rs` is the only part that has
//! sockets. Nothing is kept from one question to the next.

mod a2s;
mod ask;
mod bedrock;
mod minecraft;
mod mumble;
mod parts;
pub mod protocol;
mod quake;
mod quake3;
mod teeworlds;
mod udp;
mod wire;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::SocketAddr;

use crate::net::deadline::Deadline;
use crate::net::http::Failure;
use protocol::{Protocol, Question, Transport};

pub use protocol::Target;

/// What a server says of itself; `None` where the protocol, or this answer, does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Players on it now; bots too, where the protocol counts them and they are wanted.
    pub players: Option<u64>,
    /// The most that it takes.
    pub capacity: Option<u64>,
    /// Who they are, where names were asked for and all of them were told.
    pub names: Option<Vec<String>>,
}

/// What is to be read of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The players' names too, which may cost a second question.
    pub names: bool,
    /// Bots count as players.
    pub bots: bool,
}

impl Wanted {
    /// Whether it answers, and how many play.
    pub const COUNTS: Self = Self { names: false, bots: true };
}

/// What follows from a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// All that was asked for is known.
    Known(Reading),
    /// The question has changed: send it.
    Ask,
    /// A part of the answer; more has to come.
    Wait,
    /// No answer to this question; why, as a predicate about it. The answer may still come.
    Stray(&'static str),
}

/// One talk with one server over UDP. Pure: datagrams in, steps out.
pub trait Talk {
    /// The datagrams that ask for what is not known yet. Sent again when nothing comes.
    fn question(&self) -> Vec<Vec<u8>>;

    /// Takes a datagram from the server that was asked.
    ///
    /// # Errors
    ///
    /// It is an answer that cannot be right; what is wrong with it, as a predicate about it.
    fn take(&mut self, datagram: &[u8]) -> Result<Step, String>;

    /// What is known already when the rest does not come.
    fn so_far(&self) -> Option<Reading> {
        None
    }
}

/// Asks a server, at the first of these addresses that answers.
///
/// # Errors
///
/// Why there is no reading: a closed port, silence until the deadline, an answer that is malformed or that says that
/// the server is still starting.
pub fn ask(target: &Target, addresses: &[SocketAddr], wanted: Wanted, deadline: Deadline) -> Result<Reading, Failure> {
    let reading = match &target.protocol.transport {
        Transport::Tcp { ask, .. } => ask(target, addresses, wanted, deadline)?,
        Transport::Udp(talk) => {
            let talk = || talk(&Question { id: id(), wanted, payload: &target.payload });
            ask::ask(target.protocol, addresses, deadline, &talk)?
        }
    };
    if reading.capacity == Some(0) {
        return Err(Failure { reason: "still starting: it answers that it takes 0 players".into(), connected: true });
    }
    Ok(reading)
}

/// What these bytes say in a protocol: the datagrams of one talk, or over TCP the stream in these pieces. `id` is what
/// the questions carry to tell their answers from others. `None` is an answer that has not ended. Pure, for tests and
/// fuzzers.
///
/// # Errors
///
/// They are no answer of this protocol.
pub fn read(protocol: &Protocol, id: u64, wanted: Wanted, pieces: &[&[u8]]) -> Result<Option<Reading>, String> {
    let mut talk = match &protocol.transport {
        Transport::Tcp { read, .. } => return read(&pieces.concat(), wanted),
        Transport::Udp(talk) => talk(&Question { id, wanted, payload: &[] }),
    };
    for piece in pieces {
        if let Step::Known(reading) = talk.take(piece)? {
            return Ok(Some(reading));
        }
    }
    Ok(talk.so_far())
}

/// Asserts for arbitrary bytes what has to hold for every answer. The first byte picks the protocol, then each piece
/// has its length in front, in one byte. For the fuzz target, the replay of its corpus and property tests.
///
/// # Panics
///
/// When an invariant does not hold: a bug in this module.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let Some((&first, mut rest)) = bytes.split_first() else { return };
    let mut pieces = Vec::new();
    while let Some((&length, behind)) = rest.split_first() {
        let (piece, behind) = behind.split_at(behind.len().min(length.into()));
        pieces.push(piece);
        rest = behind;
    }
    let protocol = &protocol::PROTOCOLS[usize::from(first) % protocol::PROTOCOLS.len()];
    // What comes back of it in a good answer stands in the corpus.
    let id = 0x6162_6364_1234_5678;
    let all = read(protocol, id, Wanted { names: true, bots: true }, &pieces);
    let counts = read(protocol, id, Wanted::COUNTS, &pieces);
    if let (Ok(Some(all)), Ok(Some(counts))) = (&all, &counts) {
        assert_eq!((all.players, all.capacity), (counts.players, counts.capacity), "names change no count");
        assert_eq!(counts.names, None, "names come only where they were asked for");
    }
    if let Ok(Some(Reading { names: Some(names), .. })) = all {
        let is_clean = |name: &String| !name.is_empty() && name.len() <= 256 && !name.chars().any(char::is_control);
        assert!(names.iter().all(is_clean), "{names:?}");
    }
    let people = read(protocol, id, Wanted { names: false, bots: false }, &pieces);
    if let (Ok(Some(people)), Ok(Some(counts))) = (&people, &counts) {
        assert_eq!(people.capacity, counts.capacity, "bots change no capacity");
        assert!(people.players <= counts.players, "{people:?} are more without the bots than {counts:?}");
    }
}

/// A number that nobody who does not see the question can know. Std seeds its hashers from the kernel's random
/// numbers and makes each differ from the last.
fn id() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
