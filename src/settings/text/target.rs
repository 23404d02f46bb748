//! Where something is that is connected to, asked or waited for, and how that looks in logs and messages. Passwords have
//! no form here.

use std::fmt;
use std::num::{NonZeroU16, NonZeroU32};

use super::pattern::Pattern;
use super::words::shown_program;
pub use crate::net::{Header, Host, HttpTarget, Secret};
pub use crate::query::Target as QueryTarget;

/// One probe, as written in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A port that must accept.
    Tcp(TcpTarget),
    /// A URL that must answer 2xx.
    Http(HttpTarget),
    /// A server that must answer its query protocol.
    Query(QueryTarget),
    /// A line that must have been written.
    Log(LogTarget),
    /// A path that must exist.
    File(String),
    /// A program and its arguments, never empty: it must exit with 0.
    Exec(Vec<String>),
}

impl Probe {
    /// It tells whether the game server lives now, and not only that it once began.
    #[must_use]
    pub fn tells_life(&self) -> bool {
        !matches!(self, Self::Log(_) | Self::File(_))
    }
}

/// A line that the game writes when it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// What it looks like.
    pub pattern: Pattern,
    /// Number of matching lines required.
    pub count: NonZeroU32,
    /// Where it is written; `None` is the child's stdout and stderr.
    pub file: Option<String>,
}

/// Where a TCP probe connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpTarget {
    /// A bare port means loopback, IPv4 or IPv6, whichever accepts: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
}

/// Where the status endpoint listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusAddr {
    /// A bare port: every address, IPv4 and IPv6.
    AllAddresses(NonZeroU16),
    /// One address (`localhost` is both loopback addresses).
    Host(Host, NonZeroU16),
}

impl fmt::Display for TcpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// `tcp localhost:7777`, `http http://localhost:8080/healthz`, `log "Done"`, `file /run/ready`, `exec check`.
impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(target) => write!(f, "tcp {target}"),
            Self::Http(target) => write!(f, "http {target}"),
            Self::Query(target) => write!(f, "query {target}"),
            Self::Log(target) => write!(f, "log {}", target.pattern),
            Self::File(path) => write!(f, "file {path}"),
            // The arguments may hold a password.
            Self::Exec(argv) => write!(f, "exec {}", shown_program(argv)),
        }
    }
}

/// `*:9360` for all addresses.
impl fmt::Display for StatusAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllAddresses(port) => write!(f, "*:{port}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
