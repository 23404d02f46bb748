//! How settings look in logs, messages and `check`. Passwords have no form here.

use std::fmt;

use super::values::shown_name;
use super::{Endpoint, Host, HttpTarget, Probe, Protocol, QueryTarget, StatusAddr, StopSignal, TcpTarget};

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
            Self::Exec(argv) => write!(f, "exec {}", shown_name(argv.first().map_or("", String::as_str))),
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

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
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

impl fmt::Display for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
