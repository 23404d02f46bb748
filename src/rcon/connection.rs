//! The sockets of a remote console, TCP and UDP, under one deadline from the first connect to the last byte.
//!
//! The next address is tried where one has refused, and never after a command may have reached anybody.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::{Console, Failure, LONGEST_ANSWER, Out, Step, unanswered};
use crate::net::deadline::Deadline;
use crate::net::http::reason;

/// Read at once: the largest datagram that a game sends.
const PIECE: usize = 16 * 1024;

/// Runs a command at the first of these addresses that is there.
pub(super) fn run(
    is_stream: bool,
    addresses: &[SocketAddr],
    deadline: Deadline,
    console: &dyn Fn() -> Box<dyn Console>,
) -> Result<Vec<u8>, Failure> {
    let mut refusal = unanswered("no address to ask");
    for (index, &address) in addresses.iter().enumerate() {
        let Some(left) = deadline.left() else { break };
        // Where one address swallows everything, the next one has its share of the time.
        let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
        let mut talk = match Socket::connect(is_stream, address, share) {
            Ok(socket) => Talk { socket, deadline, is_heard: false },
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                refusal = unanswered(format!(
                    "timed out on connecting, within {}",
                    crate::duration::seconds(deadline.within())
                ));
                continue;
            }
            Err(error) => {
                refusal = unanswered(reason(&error));
                continue;
            }
        };
        let mut console = console();
        match talk.run(&mut *console) {
            // A datagram to a closed port: nobody has seen it.
            Err(Ended::Failed(error)) if error.kind() == ErrorKind::ConnectionRefused && !talk.is_heard => {
                refusal = unanswered(reason(&error));
            }
            Err(Ended::Failed(error)) => return Err(unanswered(reason(&error))),
            Err(Ended::Late) => return Err(talk.late(console.awaited())),
            Err(Ended::Not(failure)) => return Err(failure),
            Ok(answer) => return Ok(answer),
        }
    }
    Err(refusal)
}

enum Ended {
    /// The socket has.
    Failed(io::Error),
    /// The deadline has passed.
    Late,
    /// What came says so.
    Not(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Not(failure)
    }
}

struct Talk {
    socket: Socket,
    deadline: Deadline,
    /// Something has come from there.
    is_heard: bool,
}

impl Talk {
    fn run(&mut self, console: &mut dyn Console) -> Result<Vec<u8>, Ended> {
        let mut out = Out::default();
        let mut buffer = vec![0; PIECE];
        let mut step = console.open(&mut out);
        let mut since = Instant::now();
        loop {
            // A stream that nobody reads any more may still have an answer in it.
            let sent = self.send(&mut out.send);
            if out.answer.len() > LONGEST_ANSWER {
                return Err(unanswered(format!("the answer is longer than {LONGEST_ANSWER} bytes")).into());
            }
            let quiet = match step {
                Step::Done => return Ok(out.answer),
                Step::Quiet(quiet) => Some(quiet.saturating_sub(since.elapsed())),
                Step::Wait => None,
            };
            match sent {
                Err(Ended::Failed(_)) if self.socket.is_stream() => {}
                sent => sent?,
            }
            let left = self.deadline.left().ok_or(Ended::Late)?;
            let wait = quiet.map_or(left, |quiet| quiet.min(left));
            match self.socket.receive(&mut buffer, wait) {
                Ok(0) if self.socket.is_stream() => {
                    console.closed()?;
                    return Ok(out.answer);
                }
                Ok(length) => {
                    self.is_heard = true;
                    step = console.take(&buffer[..length], &mut out)?;
                    since = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if quiet.is_some_and(|quiet| quiet <= wait) && self.deadline.left().is_some() {
                        step = console.quiet(&mut out)?;
                        since = Instant::now();
                    }
                }
                // A game that has just been told to stop resets what it has not read.
                Err(error) if error.kind() == ErrorKind::ConnectionReset && self.socket.is_stream() => {
                    console.closed()?;
                    return Ok(out.answer);
                }
                Err(error) => return Err(Ended::Failed(error)),
            }
        }
    }

    fn send(&mut self, pieces: &mut Vec<Vec<u8>>) -> Result<(), Ended> {
        for piece in pieces.drain(..) {
            let mut rest = piece.as_slice();
            while !rest.is_empty() {
                let left = self.deadline.left().ok_or(Ended::Late)?;
                match self.socket.send(rest, left) {
                    Ok(sent) => rest = &rest[sent..],
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                        return Err(Ended::Late);
                    }
                    Err(error) => return Err(Ended::Failed(error)),
                }
            }
        }
        Ok(())
    }

    fn late(&self, awaited: Option<&str>) -> Failure {
        let what = awaited.unwrap_or(if self.is_heard { "the answer has not ended" } else { "no answer" });
        unanswered(format!("{what}: {}", self.deadline))
    }
}

enum Socket {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl Socket {
    /// A peer may not be ourselves: the kernel may have picked the port that is asked as our own, where nobody has it.
    fn connect(is_stream: bool, address: SocketAddr, within: Duration) -> io::Result<Self> {
        let (socket, own) = if is_stream {
            let stream = TcpStream::connect_timeout(&address, within)?;
            stream.set_nodelay(true)?;
            let own = stream.local_addr()?;
            (Self::Tcp(stream), own)
        } else {
            let any: SocketAddr = match address {
                SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
                SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
            };
            let socket = UdpSocket::bind(any)?;
            socket.connect(address)?;
            let own = socket.local_addr()?;
            (Self::Udp(socket), own)
        };
        if own == address { Err(ErrorKind::ConnectionRefused.into()) } else { Ok(socket) }
    }

    fn is_stream(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<usize> {
        // Zero would be no timeout at all.
        let wait = Some(wait.max(Duration::from_millis(1)));
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(wait)?;
                stream.read(buffer)
            }
            Self::Udp(socket) => {
                socket.set_read_timeout(wait)?;
                socket.recv(buffer)
            }
        }
    }

    fn send(&mut self, bytes: &[u8], wait: Duration) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => {
                stream.set_write_timeout(Some(wait))?;
                stream.write(bytes)
            }
            Self::Udp(socket) => {
                socket.set_write_timeout(Some(wait))?;
                socket.send(bytes)
            }
        }
    }
}
