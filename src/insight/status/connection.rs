//! One client: its request, its answer, its end. Never blocks.
//!
//! It has so many bytes and so many seconds from its first to its last; what it
//! does with them is its own affair.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use super::page::{self, REQUEST_CAP, Request};

/// From accept to close, whatever happens.
pub const LIFETIME: Duration = Duration::from_secs(5);
/// What a client may still send after its request, so that it reads our answer instead of a reset.
const DRAIN_CAP: usize = 64 * 1024;

/// A client.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    deadline: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The head so far.
    Reading(Vec<u8>),
    /// It waits for the state thread, since then.
    Asking(Request, Instant),
    /// The answer and how much of it is out.
    Writing(Vec<u8>, usize),
    /// The answer is out; the number of unwanted bytes that have come since.
    Draining(usize),
    /// Nothing more to do.
    Closed,
}

impl Connection {
    /// A client that was just accepted.
    ///
    /// # Errors
    /// It cannot be made non-blocking.
    pub fn new(stream: TcpStream, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, deadline: now + LIFETIME, state: State::Reading(Vec::new()) })
    }

    /// It is to be closed.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        matches!(self.state, State::Closed) || self.deadline <= now
    }

    /// When it is to be closed at the latest.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The question that is put to the state thread, and since when.
    #[must_use]
    pub fn question(&self) -> Option<(Request, Instant)> {
        match self.state {
            State::Asking(request, since) => Some((request, since)),
            _ => None,
        }
    }

    /// What to poll for. One that waits for the state thread is only watched for its end.
    #[must_use]
    pub fn interest(&self) -> PollFlags {
        match self.state {
            State::Reading(_) | State::Draining(_) => PollFlags::POLLIN,
            State::Writing(..) => PollFlags::POLLOUT,
            State::Asking(..) | State::Closed => PollFlags::empty(),
        }
    }

    /// Does what can be done now.
    pub fn advance(&mut self, now: Instant) {
        if let Err(error) = self.try_advance(now)
            && error.kind() != io::ErrorKind::WouldBlock
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.state = State::Closed;
        }
    }

    /// Its peer has reset it.
    pub fn give_up(&mut self) {
        self.state = State::Closed;
    }

    /// Answers it with prepared bytes.
    pub fn answer(&mut self, bytes: Vec<u8>, now: Instant) {
        self.state = State::Writing(bytes, 0);
        self.advance(now);
    }

    fn try_advance(&mut self, now: Instant) -> io::Result<()> {
        loop {
            match &mut self.state {
                State::Reading(input) => {
                    let mut chunk = [0; 2048];
                    let room = chunk.len().min(REQUEST_CAP - input.len());
                    let read = self.stream.read(&mut chunk[..room])?;
                    if read == 0 {
                        self.state = State::Closed;
                        return Ok(());
                    }
                    input.extend_from_slice(&chunk[..read]);
                    match page::read(input) {
                        None => {}
                        Some(Ok(request)) => {
                            self.state = State::Asking(request, now);
                            return Ok(());
                        }
                        Some(Err(refusal)) => self.state = State::Writing(refusal, 0),
                    }
                }
                State::Writing(bytes, out) => {
                    let written = self.stream.write(&bytes[*out..])?;
                    *out += written;
                    if written == 0 {
                        self.state = State::Closed;
                        return Ok(());
                    }
                    if *out == bytes.len() {
                        self.stream.shutdown(Shutdown::Write)?;
                        self.state = State::Draining(0);
                    }
                }
                State::Draining(drained) => {
                    let mut chunk = [0; 2048];
                    let read = self.stream.read(&mut chunk)?;
                    *drained += read;
                    if read == 0 || *drained > DRAIN_CAP {
                        self.state = State::Closed;
                        return Ok(());
                    }
                }
                State::Asking(..) | State::Closed => return Ok(()),
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
