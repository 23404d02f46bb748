//! `source://host:port` of remote consoles.
//!
//! A password has no place in it, since everybody on the host can read a command line. So nothing of a URL is quoted
//! that may have one in it.

use std::fmt;
use std::num::NonZeroU16;

use crate::settings::{Host, nearest, one_of, quote, tcp};

/// How a console is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Valve's, over TCP: Source games, Minecraft, and most that say "RCON".
    Source,
    /// Lines over TCP, with a prompt for a password or without.
    Telnet,
    /// Quake III's family, over UDP.
    Quake3,
    /// QuakeWorld and Quake II, over UDP.
    Quake,
    /// Rust's: JSON over a WebSocket.
    WebRcon,
    /// Arma's and DayZ's, over UDP.
    Battleye,
}

/// By name, each with its port where there is one that all its games have.
const PROTOCOLS: [(&str, Protocol, Option<u16>); 6] = [
    ("source", Protocol::Source, Some(27015)),
    ("telnet", Protocol::Telnet, None),
    ("quake3", Protocol::Quake3, Some(27960)),
    ("quake", Protocol::Quake, Some(27500)),
    ("webrcon", Protocol::WebRcon, Some(28016)),
    ("battleye", Protocol::Battleye, None),
];

impl Protocol {
    /// Over TCP.
    pub fn is_stream(self) -> bool {
        matches!(self, Self::Source | Self::Telnet | Self::WebRcon)
    }

    /// There is nothing to be had without one.
    pub fn needs_password(self) -> bool {
        self != Self::Telnet
    }

    /// As it stands in front of `://`.
    pub fn name(self) -> &'static str {
        PROTOCOLS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

/// Where a console is, and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub protocol: Protocol,
    pub host: Host,
    pub port: NonZeroU16,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.protocol.name(), self.host, self.port)
    }
}

/// `source://:25575`, `telnet://10.0.0.7:8081`, `quake3://`. No host is loopback.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    let wrong = |text: &str, wrong: &str| format!("{} {wrong}", quote(text));
    if text.contains('@') {
        return Err(format!("the URL has an @, and so a user or a password, in it ({PASSWORD})"));
    }
    let Some((scheme, address)) = text.split_once("://") else {
        return Err("the URL is not one (write PROTOCOL://HOST:PORT, as source://:25575)".into());
    };
    let Some(&(name, protocol, default)) = PROTOCOLS.iter().find(|row| row.0 == scheme) else {
        let names = PROTOCOLS.map(|row| row.0);
        let hint = nearest(&scheme.to_lowercase(), names).map(|near| format!(" (write {near}://)"));
        return Err(wrong(scheme, &format!("is not {}{}", one_of(&names), hint.unwrap_or_default())));
    };
    let address = address.strip_suffix('/').unwrap_or(address);
    if address.contains(['/', '?', '#']) {
        return Err(format!("the {name} URL has something behind its port (take it out; {PASSWORD})"));
    }
    let has_port = address.rfind(':') > address.rfind(']') || address.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match (address, default) {
        ("", None) => return Err(format!("the URL has no port, and {name} none by default (write {name}://:8081)")),
        ("", Some(port)) => port.to_string(),
        (host, Some(port)) if !has_port => format!("{host}:{port}"),
        _ => address.strip_prefix(':').filter(|rest| !rest.contains(':')).unwrap_or(address).to_owned(),
    };
    let target = tcp(&whole).map_err(|what| wrong(&whole, &what))?;
    Ok(Target { protocol, host: target.host, port: target.port })
}

/// Where it belongs.
const PASSWORD: &str =
    "a command line is no place for a password: set AGONES_SHIM_RCON_PASSWORD_FILE or AGONES_SHIM_RCON_PASSWORD";

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Host {
        Host::Ip(text.parse().expect("an address"))
    }

    #[test]
    fn urls_are_read_with_and_without_host_and_port() {
        for (text, protocol, host, port) in [
            ("source://:25575", Protocol::Source, Host::Loopback, 25575),
            ("source://25575", Protocol::Source, Host::Loopback, 25575),
            ("source://", Protocol::Source, Host::Loopback, 27015),
            ("source:///", Protocol::Source, Host::Loopback, 27015),
            ("source://10.0.0.7", Protocol::Source, ip("10.0.0.7"), 27015),
            ("telnet://[::1]:8081", Protocol::Telnet, ip("::1"), 8081),
            ("quake3://[::1]", Protocol::Quake3, ip("::1"), 27960),
            ("quake://game/", Protocol::Quake, Host::Name("game".into()), 27500),
            ("webrcon://localhost", Protocol::WebRcon, Host::Loopback, 28016),
            ("battleye://127.0.0.1:2306", Protocol::Battleye, ip("127.0.0.1"), 2306),
        ] {
            let port = NonZeroU16::new(port).expect("not 0");
            let wanted = Target { protocol, host, port };
            assert_eq!(target(text), Ok(wanted.clone()), "{text}");
            assert_eq!(target(&wanted.to_string()), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_told_apart() {
        let names = "source, telnet, quake3, quake, webrcon or battleye";
        for (text, wanted) in [
            ("25575", "the URL is not one (write PROTOCOL://HOST:PORT, as source://:25575)".to_owned()),
            ("sourc://:1", format!(r#""sourc" is not {names} (write source://)"#)),
            ("Telnet://:1", format!(r#""Telnet" is not {names} (write telnet://)"#)),
            ("http://:1", format!(r#""http" is not {names}"#)),
            ("telnet://", "the URL has no port, and telnet none by default (write telnet://:8081)".into()),
            ("source://:0", r#""0" is not a port (write a number from 1 to 65535)"#.into()),
            ("telnet://game", r#""game" is not a port or host:port (write 7777 or 127.0.0.1:7777)"#.into()),
            ("source://::1", r#""::1" has no port (write [::1]:7777)"#.into()),
        ] {
            assert_eq!(target(text), Err(wanted), "{text}");
        }
    }

    #[test]
    fn no_message_shows_what_may_be_a_password() {
        for text in [
            "source://:hunter2@host:1",
            "hunter2@host",
            "hunter2",
            "webrcon://:28016/hunter2",
            "webrcon://:28016?hunter2",
            "source://user:1/hunter2@host",
        ] {
            let wrong = target(text).expect_err(text);
            assert!(!wrong.contains("hunter2"), "{wrong}");
        }
        assert!(target("webrcon://:28016/hunter2").expect_err("a path").contains("AGONES_SHIM_RCON_PASSWORD"));
    }
}
