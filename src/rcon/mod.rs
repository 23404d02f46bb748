//! A game's remote console: one command, and what the game answers.
//!
//! Each protocol is a pure `Console` from bytes to steps, with bounds on what it keeps; `connection.rs` is the only
//! part that has sockets. A command may be one that must not run twice: it is sent once, and never again.

mod battleye;
mod connection;
mod fuzz;
mod quake;
mod source;
mod telnet;
pub(crate) mod url;
mod webrcon;
mod websocket;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::SocketAddr;
use std::time::Duration;

use crate::net::deadline::Deadline;
use crate::settings::Secret;

#[doc(hidden)]
pub use fuzz::fuzz;
pub(crate) use url::{Protocol, Target};

/// The longest answer, in bytes: a thousand times the list of players of a full server.
const LONGEST_ANSWER: usize = 1024 * 1024;
/// A protocol without an end in its answers: silence for so long is one. A game that lags for longer than this between
/// two parts of an answer loses the later ones, and every command costs it.
const QUIET: Duration = Duration::from_millis(300);

/// Why there is no answer; each has an exit code of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody is there, or what is there does not answer in time, or not in this protocol.
    Unanswered(String),
    /// The game does not take the password.
    Refused(String),
}

/// What is to be done until the next bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Wait for them until the deadline.
    Wait,
    /// Wait for so long, then call [`Console::quiet`].
    Quiet(Duration),
    /// The answer is whole.
    Done,
}

/// What a console wants sent, and what it has of the answer.
#[derive(Debug, Default)]
struct Out {
    /// Datagrams, or pieces of the stream.
    send: Vec<Vec<u8>>,
    answer: Vec<u8>,
}

/// One command in one protocol. Pure: bytes in, steps out.
trait Console {
    /// The connection is there.
    fn open(&mut self, out: &mut Out) -> Step;

    /// Takes what came: one datagram, or some bytes of the stream.
    fn take(&mut self, bytes: &[u8], out: &mut Out) -> Result<Step, Failure>;

    /// Nothing came for as long as [`Step::Quiet`] said.
    fn quiet(&mut self, _: &mut Out) -> Result<Step, Failure> {
        Ok(Step::Done)
    }

    /// The stream has ended: the answer is whole, or why it is not.
    fn closed(&self) -> Result<(), Failure>;

    /// What has not come when the deadline passes, where that can be told better than by what was heard.
    fn awaited(&self) -> Option<&'static str> {
        None
    }
}

/// Runs a command at the first of these addresses that is there.
pub(crate) fn run(
    target: &Target,
    addresses: &[SocketAddr],
    command: &str,
    password: Option<&Secret>,
    deadline: Deadline,
) -> Result<Vec<u8>, Failure> {
    let password = password.map(|secret| secret.0.as_str());
    connection::run(target.protocol.is_stream(), addresses, deadline, &|| console(target, command, password, number()))
}

/// The protocol can carry this password, or why not, as a predicate about it.
pub(crate) fn check(protocol: Protocol, password: &str) -> Result<(), &'static str> {
    match protocol {
        Protocol::Quake | Protocol::Quake3 => quake::check(password),
        Protocol::WebRcon => webrcon::check(password),
        Protocol::Source | Protocol::Battleye | Protocol::Telnet => Ok(()),
    }
}

fn console(target: &Target, command: &str, password: Option<&str>, number: u64) -> Box<dyn Console> {
    let needed = password.unwrap_or_default();
    match target.protocol {
        Protocol::Source => Box::new(source::Source::new(command, needed)),
        Protocol::Telnet => Box::new(telnet::Telnet::new(command, password)),
        Protocol::Quake | Protocol::Quake3 => Box::new(quake::Quake::new(command, needed)),
        Protocol::WebRcon => Box::new(webrcon::WebRcon::new(target, command, needed, number)),
        Protocol::Battleye => Box::new(battleye::Battleye::new(command, needed)),
    }
}

fn unanswered(reason: impl Into<String>) -> Failure {
    Failure::Unanswered(reason.into())
}

fn refused() -> Failure {
    Failure::Refused("the password is refused".into())
}

/// Without an end that says why: what a game does that has just been told to stop, too.
fn closed_unanswered() -> Failure {
    unanswered("the command was sent, and the connection closed before an answer was whole")
}

/// A number that nobody can know beforehand. Std seeds its hashers from the kernel's random numbers.
fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
