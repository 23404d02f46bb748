//! Where something is that is connected to, asked or waited for, and how that looks in logs and messages. Passwords have
//! no form here.

use std::fmt;
use std::num::{NonZeroU16, NonZeroU32};

use super::pattern::Pattern;
use super::words::shown_program;

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
    /// So many such lines.
    pub count: NonZeroU32,
    /// Where it is written; `None` is the child's stdout and stderr.
    pub file: Option<String>,
}

/// A server that answers a query protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTarget {
    /// What it speaks.
    pub protocol: Protocol,
    /// No host is loopback: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
}

/// How a server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Valve's server queries.
    A2s,
    /// Minecraft Java's server list ping, over TCP.
    Minecraft,
    /// Minecraft Bedrock's (RakNet's) unconnected ping.
    Bedrock,
    /// Quake III's getstatus.
    Quake3,
    /// QuakeWorld's status.
    Quake,
    /// Teeworlds 0.6, which DDNet speaks, and 0.7.
    Teeworlds,
    /// Mumble's extended ping.
    Mumble,
    /// These bytes, which any answer will do for.
    Udp(Vec<u8>),
}

/// Where a TCP probe connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpTarget {
    /// A bare port means loopback, IPv4 or IPv6, whichever accepts: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
}

/// A host as far as it can be told apart without a resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// `localhost` or no host at all: 127.0.0.1 and ::1, never a resolver.
    Loopback,
    /// An address literal, without brackets.
    Ip(std::net::IpAddr),
    /// A name that needs a resolver.
    Name(String),
}

/// An `http://` URL in the parts that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    /// As written, without user information, for logs and messages.
    pub url: String,
    /// `user:password` of the URL, percent-decoded, sent as Basic authorization; never logged.
    pub credentials: Option<Secret>,
    /// Host to connect to.
    pub host: Host,
    /// Port to connect to; 80 where the URL has none.
    pub port: NonZeroU16,
}

/// Something that must not reach a log, the status page or `check`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Where the status endpoint listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusAddr {
    /// A bare port: every address, IPv4 and IPv6.
    AllAddresses(NonZeroU16),
    /// One address (`localhost` is both loopback addresses).
    Host(Host, NonZeroU16),
}

/// As it stands in front of a colon and a port: IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("localhost"),
            Self::Ip(std::net::IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Ip(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for TcpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
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

/// `a2s://localhost:27015`, `udp://localhost:7777/ffffffff01`; of a long question the first bytes.
impl fmt::Display for QueryTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.protocol.name(), self.host, self.port)?;
        let Protocol::Udp(payload) = &self.protocol else { return Ok(()) };
        f.write_str("/")?;
        payload.iter().take(SHOWN_PAYLOAD).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if payload.len() > SHOWN_PAYLOAD { f.write_str("...") } else { Ok(()) }
    }
}

/// Bytes of a question: names of probes stand in log lines and labels.
const SHOWN_PAYLOAD: usize = 16;

impl Protocol {
    /// As it is written in front of `://`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::A2s => "a2s",
            Self::Minecraft => "minecraft",
            Self::Bedrock => "bedrock",
            Self::Quake3 => "quake3",
            Self::Quake => "quake",
            Self::Teeworlds => "teeworlds",
            Self::Mumble => "mumble",
            Self::Udp(_) => "udp",
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
