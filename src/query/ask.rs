//! The sockets of a question over UDP.
//!
//! Each address gets a socket of its own, new and connected: the kernel then drops what comes from anywhere else, an
//! answer to an earlier question finds nobody, and a closed port is told by ICMP as a refusal. The first address is
//! asked first and the next when it has refused or stayed silent for a moment, so that `localhost` finds a server on
//! either of its addresses and one that has both is asked once. UDP loses: what stays unanswered is asked twice more.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::protocol::Protocol;
use super::{Reading, Step, Talk};
use crate::net::deadline::Deadline;
use crate::net::http::{self, Failure};

/// How often a question is sent that nothing answers.
const SENDS: u32 = 3;
/// Between two of them, where the deadline leaves more.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// What an address gets before the next is asked beside it, where the deadline leaves more.
const HEAD_START: Duration = Duration::from_millis(250);
/// No name has more addresses that matter.
const MOST_ADDRESSES: usize = 8;
/// The largest answer, in bytes: Quake III's own limit of a message.
const LARGEST: usize = 16 * 1024;
/// What is known without it waits for the rest of an answer (the names) for a quarter of the time, and at most so long:
/// some servers never tell it.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// Datagrams of one talk. The longest list of names comes in half as many.
const MOST_DATAGRAMS: u32 = 128;

/// Asks all addresses, and gives what the first says that says something.
pub(super) fn ask(
    protocol: &Protocol,
    addresses: &[SocketAddr],
    deadline: Deadline,
    talk: &dyn Fn() -> Box<dyn Talk>,
) -> Result<Reading, Failure> {
    let left = deadline.left().unwrap_or_default();
    let pause = (left / SENDS).min(LONGEST_PAUSE);
    let head_start = (left / 4).min(HEAD_START);
    let mut addresses = addresses.iter().take(MOST_ADDRESSES);
    let mut next_address_at = Instant::now();
    let mut peers: Vec<Peer> = Vec::new();
    let mut verdict = Verdict::default();
    let mut buffer = vec![0; LARGEST + 1];
    loop {
        if addresses.len() > 0 && (peers.is_empty() || next_address_at <= Instant::now()) {
            let address = addresses.next().expect("one is left: just looked");
            match Peer::start(*address, talk(), pause) {
                Ok(peer) => peers.push(peer),
                Err(error) => verdict.note(End::of(&error)),
            }
            next_address_at = Instant::now() + head_start;
            continue;
        }
        if peers.is_empty() {
            return Err(verdict.failure(protocol));
        }
        let Some(left) = deadline.left() else {
            if let Some(reading) = peers.iter().find_map(|peer| peer.talk.so_far()) {
                return Ok(reading);
            }
            for peer in &peers {
                verdict.note(peer.silence(deadline));
            }
            return Err(verdict.failure(protocol));
        };
        let now = Instant::now();
        let more_addresses = (addresses.len() > 0).then_some(next_address_at);
        let due = peers.iter().flat_map(|peer| [peer.resend_at, peer.rest_by]).flatten();
        let next = due.chain(more_addresses).min();
        let wait = next.map_or(left, |at| at.saturating_duration_since(now).min(left));
        let heard = wait_for(&peers, wait);
        let mut place = 0;
        for is_heard in heard {
            let peer = &mut peers[place];
            match peer.turn(is_heard, deadline, &mut buffer) {
                Ok(Some(reading)) => return Ok(reading),
                Ok(None) => place += 1,
                Err(end) => {
                    if let Some(reading) = peer.talk.so_far() {
                        return Ok(reading);
                    }
                    verdict.note(end);
                    peers.remove(place);
                }
            }
        }
    }
}

/// Waits until one of them has something to read, or until the time is over; says which have.
fn wait_for(peers: &[Peer], wait: Duration) -> Vec<bool> {
    let mut sockets: Vec<PollFd> =
        peers.iter().map(|peer| PollFd::new(peer.socket.as_fd(), PollFlags::POLLIN)).collect();
    // Rounded up, so that poll does not wake before the time.
    let millis = i32::try_from(wait.as_millis() + 1).unwrap_or(i32::MAX);
    // Interrupted is nothing heard; anything else shows when the socket is read.
    let _ = poll(&mut sockets, PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX));
    sockets.iter().map(|socket| socket.revents().is_some_and(|signs| !signs.is_empty())).collect()
}

/// One address that is being asked.
struct Peer {
    socket: UdpSocket,
    talk: Box<dyn Talk>,
    /// How often the question was sent.
    sent: u32,
    /// It goes out again then; `None` no more.
    resend_at: Option<Instant>,
    /// Between two sendings.
    pause: Duration,
    /// What is known by then is all.
    rest_by: Option<Instant>,
    datagrams: u32,
    /// What came and was no answer.
    stray: Option<&'static str>,
}

impl Peer {
    fn start(address: SocketAddr, talk: Box<dyn Talk>, pause: Duration) -> io::Result<Self> {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        connect(&socket, address)?;
        socket.set_nonblocking(true)?;
        // The first sending is a resending that is due.
        let resend_at = Some(Instant::now());
        Ok(Self { socket, talk, sent: 0, resend_at, pause, rest_by: None, datagrams: 0, stray: None })
    }

    /// Reads what has come, and sends what is due.
    fn turn(&mut self, is_heard: bool, deadline: Deadline, buffer: &mut [u8]) -> Result<Option<Reading>, End> {
        if is_heard && let Some(reading) = self.hear(buffer, deadline)? {
            return Ok(Some(reading));
        }
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
        if is_due(self.rest_by) {
            return Ok(self.talk.so_far());
        }
        if is_due(self.resend_at) {
            self.send()?;
        }
        Ok(None)
    }

    fn send(&mut self) -> Result<(), End> {
        for datagram in self.talk.question() {
            match self.socket.send(&datagram) {
                // A full queue is a loss, and losses are made up for.
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(End::of(&error)),
                _ => {}
            }
        }
        self.sent += 1;
        self.resend_at = (self.sent < SENDS).then(|| Instant::now() + self.pause);
        Ok(())
    }

    fn hear(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<Option<Reading>, End> {
        let length = match self.socket.recv(buffer) {
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(None),
            Err(error) => return Err(End::of(&error)),
        };
        self.datagrams += 1;
        if self.datagrams > MOST_DATAGRAMS {
            return Err(End::Odd(format!("comes in more than {MOST_DATAGRAMS} datagrams")));
        }
        if length > LARGEST {
            return Err(End::Odd(format!("is larger than {LARGEST} bytes")));
        }
        match self.talk.take(&buffer[..length]).map_err(End::Odd)? {
            Step::Known(reading) => return Ok(Some(reading)),
            Step::Ask => {
                self.sent = 0;
                self.resend_at = Some(Instant::now());
                self.bound_the_rest(deadline);
            }
            // The rest is on its way; what is lost of it comes with the question's next sending.
            Step::Wait => self.bound_the_rest(deadline),
            Step::Stray(what) => self.stray = Some(what),
        }
        Ok(None)
    }

    /// From when on something is known, the rest has a time of its own.
    fn bound_the_rest(&mut self, deadline: Deadline) {
        if self.rest_by.is_none() && self.talk.so_far().is_some() {
            let patience = (deadline.left().unwrap_or_default() / 4).min(LONGEST_REST);
            self.pause = patience / SENDS;
            self.rest_by = Some(Instant::now() + patience);
        }
    }

    /// What it comes to that the deadline has passed.
    fn silence(&self, deadline: Deadline) -> End {
        match self.stray {
            Some(what) => End::Odd(format!("{what}; {deadline}")),
            None if self.datagrams > 0 => End::Odd(format!("stops in the middle; {deadline}")),
            None => End::Silent(deadline),
        }
    }
}

/// Connects, so that the kernel lets only this peer's datagrams in. The kernel may have picked the port that is to be
/// asked as our own, where nobody has it: our question would then be our answer.
fn connect(socket: &UdpSocket, address: SocketAddr) -> io::Result<()> {
    socket.connect(address)?;
    if socket.local_addr()? == address { Err(ErrorKind::ConnectionRefused.into()) } else { Ok(()) }
}

/// Why an address gave no reading. The later ones tell more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Failed(String),
    Refused(String),
    Silent(Deadline),
    /// What came, as a predicate about the answer.
    Odd(String),
}

impl End {
    fn of(error: &io::Error) -> Self {
        let reason = http::reason(error);
        if error.kind() == ErrorKind::ConnectionRefused { Self::Refused(reason) } else { Self::Failed(reason) }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Failed(_) => 0,
            Self::Refused(_) => 1,
            Self::Silent(_) => 2,
            Self::Odd(_) => 3,
        }
    }
}

/// The most telling end of all addresses.
#[derive(Default)]
struct Verdict(Option<End>);

impl Verdict {
    fn note(&mut self, end: End) {
        if self.0.as_ref().is_none_or(|known| known.rank() < end.rank()) {
            self.0 = Some(end);
        }
    }

    fn failure(&self, protocol: &Protocol) -> Failure {
        let reason = match &self.0 {
            None => "no address to ask".to_owned(),
            Some(End::Failed(reason) | End::Refused(reason)) => reason.clone(),
            Some(End::Silent(deadline)) => deadline.to_string(),
            Some(End::Odd(what)) => no_answer(protocol, what),
        };
        Failure { reason, connected: matches!(self.0, Some(End::Odd(_))) }
    }
}

/// What came is no answer; `what` is a predicate about it.
pub(super) fn no_answer(protocol: &Protocol, what: &str) -> String {
    format!("no {} answer: it {what}", protocol.name)
}

#[cfg(test)]
mod tests;
