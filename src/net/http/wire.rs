//! A connected socket as ureq's transport, with one deadline over everything.
//!
//! ureq has a TCP transport of its own. It takes a reset in mid-body for the end of a body that has no length, which
//! would turn half a metrics text into a lower player count; and which address it reached is its secret.

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
        }))
    }
}

#[derive(Debug)]
pub(super) struct Wire {
    stream: Arc<TcpStream>,
    buffers: LazyBuffers,
    deadline: Deadline,
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
                    return Ok(amount > 0);
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
