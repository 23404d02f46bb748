//! A connected socket as ureq's transport, with one deadline over everything.
//!
//! ureq has a TCP transport of its own. It takes a reset in mid-body for the end of a body that has no length, which
//! would turn half a metrics text into a lower player count; and which address it reached is its secret. Interim
//! answers (`100 Continue`, `103 Early Hints`) are taken out here: ureq does not expect them to have fields.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport};

use super::{INPUT_BUFFER, OUTPUT_BUFFER, is_timeout, reason};
use crate::net::deadline::Deadline;

/// The one connection that the agent of one request gets.
#[derive(Clone, Debug)]
pub(super) struct Dialed {
    stream: Arc<TcpStream>,
    deadline: Deadline,
}

impl Dialed {
    pub(super) fn new(stream: TcpStream, deadline: Deadline) -> Self {
        Self { stream: Arc::new(stream), deadline }
    }
}

impl Resolver for Dialed {
    fn resolve(&self, _: &Uri, _: &ureq::config::Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // ureq wants one at least, and hands it to the connector, which does not look at it.
        let mut addresses = self.empty();
        addresses.push(SocketAddr::from(([0, 0, 0, 0], 0)));
        Ok(addresses)
    }
}

impl Connector for Dialed {
    type Out = Wire;

    fn connect(&self, _: &ConnectionDetails, _: Option<()>) -> Result<Option<Wire>, ureq::Error> {
        Ok(Some(Wire {
            stream: Arc::clone(&self.stream),
            buffers: LazyBuffers::new(INPUT_BUFFER, OUTPUT_BUFFER),
            deadline: self.deadline,
            is_final: false,
        }))
    }
}

#[derive(Debug)]
pub(super) struct Wire {
    stream: Arc<TcpStream>,
    buffers: LazyBuffers,
    deadline: Deadline,
    /// The answer itself has begun: what comes is ureq's.
    is_final: bool,
}

impl Wire {
    /// Takes interim answers out of what has come; false while more of it may be one.
    fn skip_interim(&mut self) -> bool {
        while !self.is_final {
            let input = self.buffers.input();
            match interim(input) {
                Interim::Whole(length) => self.buffers.input_consume(length),
                // A head that fills the buffer is too long for ureq too, which says so.
                Interim::Begun if self.buffers.can_use_input() && input.len() < INPUT_BUFFER => return false,
                Interim::Begun | Interim::None => self.is_final = true,
            }
        }
        true
    }
}

/// What the input begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interim {
    /// An interim answer of this length.
    Whole(usize),
    /// It may become one.
    Begun,
    /// Something else.
    None,
}

fn interim(input: &[u8]) -> Interim {
    const BEGINS: &[u8] = b"HTTP/1.1 1";
    /// Not interim: the connection speaks something else from there on.
    const SWITCHING: &[u8] = b"HTTP/1.1 101";
    if input.starts_with(SWITCHING) {
        return Interim::None;
    }
    if !input.starts_with(&BEGINS[..BEGINS.len().min(input.len())]) {
        return Interim::None;
    }
    match input.windows(4).position(|window| window == b"\r\n\r\n") {
        Some(end) => Interim::Whole(end + 4),
        None => Interim::Begun,
    }
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let mut rest = self.buffers.output().get(..amount).unwrap_or_default();
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(self.deadline.left().ok_or(TIMEOUT)?))?;
            match (&*self.stream).write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) => passable(&error)?,
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        loop {
            self.stream.set_read_timeout(Some(self.deadline.left().ok_or(TIMEOUT)?))?;
            match (&*self.stream).read(self.buffers.input_append_buf()) {
                Ok(amount) => {
                    self.buffers.input_appended(amount);
                    if amount == 0 || self.skip_interim() {
                        return Ok(amount > 0);
                    }
                }
                Err(error) => passable(&error)?,
            }
        }
    }

    /// It is never kept for a second request.
    fn is_open(&mut self) -> bool {
        false
    }
}

const TIMEOUT: ureq::Error = ureq::Error::Timeout(ureq::Timeout::Global);

/// An interrupted system call is made again. Errors lose their kind, since ureq takes some kinds for a body's end.
fn passable(error: &io::Error) -> Result<(), ureq::Error> {
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        _ if is_timeout(error) => Err(TIMEOUT),
        _ => Err(ureq::Error::Io(io::Error::other(reason(error)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_answers_are_told_from_the_answer_however_little_has_come() {
        for (input, wanted) in [
            (&b""[..], Interim::Begun),
            (b"HTTP/1", Interim::Begun),
            (b"HTTP/1.1 2", Interim::None),
            (b"HTTP/1.0 1", Interim::None),
            (b"junk", Interim::None),
            (b"HTTP/1.1 100 Continue\r\nA: b\r\n", Interim::Begun),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", Interim::Whole(25)),
            (b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", Interim::Whole(34)),
            (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", Interim::None),
        ] {
            assert_eq!(interim(input), wanted, "{}", String::from_utf8_lossy(input));
        }
    }
}
