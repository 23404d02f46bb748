//! Finds another shim at the same SDK server: two of them in one Pod send two Ready(), twice the beats, and the stop of
//! one ends the game of the other.
//!
//! The mark is an abstract unix socket named after the SDK server's port: one network namespace is one Pod, and the
//! kernel takes the mark back with the process. Nobody accepts on it; connecting is enough to learn whose it is.

use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt::PeerCredentials,
};

use crate::settings::{Endpoint, Host};

/// What marks this process, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Mark {
    _socket: UnixListener,
}

/// Another process has the mark; its number, where it can be seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtherShim(pub Option<i32>);

/// Leaves the mark, or says who has. `None` where the system has no such sockets, which is no reason to do without a
/// shim.
pub(crate) fn mark(endpoint: &Endpoint) -> Result<Option<Mark>, OtherShim> {
    let host = match &endpoint.host {
        host if host.is_loopback() => Host::Loopback,
        host => host.clone(),
    };
    let name = format!("agones-shim/{host}:{}", endpoint.port);
    let Ok(address) = SocketAddr::from_abstract_name(&name) else { return Ok(None) };
    match UnixListener::bind_addr(&address) {
        Ok(socket) => Ok(Some(Mark { _socket: socket })),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(OtherShim(holder(&name))),
        Err(_) => Ok(None),
    }
}

/// Never waits: where nobody accepts, the queue fills up in the end.
fn holder(name: &str) -> Option<i32> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket: OwnedFd = socket(AddressFamily::Unix, SockType::Stream, flags, None).ok()?;
    connect(socket.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes()).ok()?).ok()?;
    let pid = getsockopt(&socket, PeerCredentials).ok()?.pid();
    // 0 is a process of another PID namespace.
    (pid > 0).then_some(pid)
}
