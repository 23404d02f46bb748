//! Hosts, as far as they can be told apart without a resolver.

use std::fmt;
use std::net::IpAddr;

/// Where something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// `localhost` or no host at all: 127.0.0.1 and ::1, never a resolver.
    Loopback,
    /// An address literal, without brackets.
    Ip(IpAddr),
    /// A name that needs a resolver.
    Name(String),
}

impl Host {
    /// Nothing of it leaves this network namespace.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Loopback => true,
            Self::Ip(address) => address.is_loopback(),
            Self::Name(_) => false,
        }
    }
}

/// As it stands in front of a colon and a port: IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("localhost"),
            Self::Ip(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Ip(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}
