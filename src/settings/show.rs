//! How settings look in logs, messages and `check`. Passwords have no form here.

use std::fmt;

use super::values::shown_name;
use super::{Endpoint, Host, HttpTarget, Probe, StatusAddr, StopSignal, TcpTarget};

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
