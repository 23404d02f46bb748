//! Hosts, ports, and the two put together.
//!
//! Nothing is resolved here: a name stays a name, and literals and `localhost`
//! are told apart so that they never meet a resolver.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use super::plain;
use super::plain::{is_digits, port, quote};
use super::target::{Host, StatusAddr, TcpTarget};

/// A TCP probe: `8085`, `host:8085` or `[::1]:8085`.
pub(crate) fn tcp(text: &str) -> Result<TcpTarget, String> {
    if is_digits(text) {
        return Ok(TcpTarget { host: Host::Loopback, port: port(text)? });
    }
    let mut words = text.split_whitespace();
    if words.clone().count() > 1 && words.all(|word| tcp(word).is_ok()) {
        return Err("is several items (write commas between them)".into());
    }
    let (host, port) = host_and_port(text, "7777", "for loopback")?;
    Ok(TcpTarget { host, port })
}

/// A list of TCP probes.
pub(crate) fn ports(text: &str) -> Result<Vec<TcpTarget>, Vec<String>> {
    plain::list(text, |items, index| tcp(items[index]), |items, index| items[index].to_owned())
}

/// Where the status endpoint listens: `9360`, `127.0.0.1:9360` or `[::]:9360`.
///
/// # Errors
///
/// What is wrong with the text, to be put behind its quoted form.
pub(crate) fn status_addr(text: &str) -> Result<StatusAddr, String> {
    if is_digits(text) {
        return Ok(StatusAddr::AllAddresses(port(text)?));
    }
    let (host, port) = host_and_port(text, "9360", "for all addresses")?;
    Ok(StatusAddr::Host(host, port))
}

/// A host alone, with or without brackets around an IPv6 address.
pub(crate) fn lone_host(text: &str) -> Result<Host, String> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return Ok(Host::Ip(IpAddr::V6(address)));
    }
    host(text)
}

/// `host:port`. `example` is a port for messages, and `bare` what a port alone
/// would mean in this place.
fn host_and_port(text: &str, example: &str, bare: &str) -> Result<(Host, NonZeroU16), String> {
    if text.contains("://") {
        return Err("is not a port or host:port (leave out what ends in ://)".into());
    }
    let (written, number) = if text.starts_with('[') {
        bracketed(text).ok_or_else(|| format!("is not a port or host:port (write [::1]:{example})"))?
    } else {
        match text.split_once(':') {
            None => return Err(format!("is not a port or host:port (write {example} or 127.0.0.1:{example})")),
            Some(("" | "*", number)) if port(number).is_ok() => {
                return Err(format!("has no host (write {number} {bare})"));
            }
            Some((_, number)) if number.contains(':') => return Err(unbracketed(text, example)),
            Some(parts) => parts,
        }
    };
    if written.is_empty() {
        return Err(format!("has no host (write {example} {bare}, or 127.0.0.1:{example})"));
    }
    let host = if written.starts_with('[') { bracketed_host(written) } else { host(written) }
        .map_err(|wrong| format!("is not host:port: {} {wrong}", quote(written)))?;
    if number.is_empty() {
        return Err(format!("has no port (write {written}:{example})"));
    }
    let port = port(number).map_err(|wrong| format!("is not host:port: {} {wrong}", quote(number)))?;
    Ok((host, port))
}

/// `[HOST]:PORT` cut in two, the brackets left on. The port may be missing.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (host, rest) = text.split_at(text.find(']')? + 1);
    if rest.is_empty() { Some((host, "")) } else { Some((host, rest.strip_prefix(':')?)) }
}

/// More than one colon and no brackets: an IPv6 address, most likely.
fn unbracketed(text: &str, example: &str) -> String {
    match text.rsplit_once(':') {
        Some((host, number)) if host.parse::<Ipv6Addr>().is_ok() && port(number).is_ok() => {
            format!("is not a port or host:port (write [{host}]:{number})")
        }
        _ if text.parse::<Ipv6Addr>().is_ok() => format!("has no port (write [{text}]:{example})"),
        _ => format!("is not a port or host:port (write 127.0.0.1:{example} or [::1]:{example})"),
    }
}

/// `[IPv6]`, as it stands in an URL too.
pub(crate) fn bracketed_host(text: &str) -> Result<Host, String> {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|address| address.parse().ok())
        .map(|address| Host::Ip(IpAddr::V6(address)))
        .ok_or_else(|| "is not an IPv6 address in brackets (write [::1])".into())
}

/// A name or an IPv4 address. What ends in a number is an address or nothing:
/// a resolver would read `127.1` or `010.0.0.1` in ways that surprise.
pub(crate) fn host(text: &str) -> Result<Host, String> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(Host::Ip(IpAddr::V4(address)));
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.eq_ignore_ascii_case("localhost") {
        return Ok(Host::Loopback);
    }
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_label = |label: &str| !label.is_empty() && label.len() <= 63 && label.bytes().all(is_name_byte);
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err("is not a host name or address (letters, digits, - and . only)".into());
    }
    if name.rsplit('.').next().is_some_and(is_digits) {
        return Err("is not an IPv4 address (write four numbers up to 255, like 127.0.0.1)".into());
    }
    Ok(Host::Name(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: Host, port: u16) -> TcpTarget {
        TcpTarget { host, port: NonZeroU16::new(port).unwrap() }
    }

    fn ip(text: &str) -> Host {
        Host::Ip(text.parse().unwrap())
    }

    #[test]
    fn ports_and_hosts_are_told_apart_without_a_resolver() {
        for (text, wanted) in [
            ("8085", target(Host::Loopback, 8085)),
            ("localhost:8085", target(Host::Loopback, 8085)),
            ("LocalHost.:8085", target(Host::Loopback, 8085)),
            ("127.0.0.1:1", target(ip("127.0.0.1"), 1)),
            ("[::1]:8085", target(ip("::1"), 8085)),
            ("game.svc.cluster.local:65535", target(Host::Name("game.svc.cluster.local".into()), 65535)),
            ("my_game-1:80", target(Host::Name("my_game-1".into()), 80)),
        ] {
            assert_eq!(tcp(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_target_is_answered_with_one() {
        let name = "is not a host name or address (letters, digits, - and . only)";
        let four = "is not an IPv4 address (write four numbers up to 255, like 127.0.0.1)";
        for (text, message) in [
            ("::1:8085", "is not a port or host:port (write [::1]:8085)".to_owned()),
            ("fe80::aaaa", "has no port (write [fe80::aaaa]:7777)".into()),
            ("a:b:c", "is not a port or host:port (write 127.0.0.1:7777 or [::1]:7777)".into()),
            ("host:", "has no port (write host:7777)".into()),
            (":80", "has no host (write 80 for loopback)".into()),
            (":", "has no host (write 7777 for loopback, or 127.0.0.1:7777)".into()),
            ("70000", "is not a port (write a number from 1 to 65535)".into()),
            ("0", "is not a port (write a number from 1 to 65535)".into()),
            ("host:0", r#"is not host:port: "0" is not a port (write a number from 1 to 65535)"#.into()),
            ("host:+80", r#"is not host:port: "+80" is not a port (write a number from 1 to 65535)"#.into()),
            ("host", "is not a port or host:port (write 7777 or 127.0.0.1:7777)".into()),
            ("٥", "is not a port or host:port (write 7777 or 127.0.0.1:7777)".into()),
            ("-1", "is not a port or host:port (write 7777 or 127.0.0.1:7777)".into()),
            ("a b:1", format!(r#"is not host:port: "a b" {name}"#)),
            ("a..b:1", format!(r#"is not host:port: "a..b" {name}"#)),
            ("ü:1", format!(r#"is not host:port: "ü" {name}"#)),
            ("1.2.3:1", format!(r#"is not host:port: "1.2.3" {four}"#)),
            ("300.1.1.1:1", format!(r#"is not host:port: "300.1.1.1" {four}"#)),
            ("[::1]", "has no port (write [::1]:7777)".into()),
            ("[::1]80", "is not a port or host:port (write [::1]:7777)".into()),
            ("[::1", "is not a port or host:port (write [::1]:7777)".into()),
            ("[]:80", r#"is not host:port: "[]" is not an IPv6 address in brackets (write [::1])"#.into()),
            (
                "[fe80::1%eth0]:80",
                r#"is not host:port: "[fe80::1%eth0]" is not an IPv6 address in brackets (write [::1])"#.into(),
            ),
            ("80 81 a:82", "is several items (write commas between them)".into()),
            ("tcp://host:80", "is not a port or host:port (leave out what ends in ://)".into()),
        ] {
            assert_eq!(tcp(text), Err(message), "{text}");
        }
    }

    #[test]
    fn a_bare_status_port_means_all_addresses() {
        let port = NonZeroU16::new(9360).unwrap();
        assert_eq!(status_addr("9360"), Ok(StatusAddr::AllAddresses(port)));
        assert_eq!(status_addr("localhost:9360"), Ok(StatusAddr::Host(Host::Loopback, port)));
        assert_eq!(status_addr("0.0.0.0:9360"), Ok(StatusAddr::Host(ip("0.0.0.0"), port)));
        assert_eq!(status_addr("[::1]:9360"), Ok(StatusAddr::Host(ip("::1"), port)));
        assert_eq!(status_addr(":9360"), Err("has no host (write 9360 for all addresses)".into()));
        assert_eq!(status_addr("*:9360"), Err("has no host (write 9360 for all addresses)".into()));
    }

    #[test]
    fn the_sdk_host_may_be_written_with_and_without_brackets() {
        assert_eq!(lone_host("::1"), Ok(ip("::1")));
        assert_eq!(lone_host("[::1]"), Ok(ip("::1")));
        assert_eq!(lone_host("LOCALHOST"), Ok(Host::Loopback));
        assert!(lone_host("localhost:9357").is_err());
        assert!(lone_host("[localhost]").is_err());
    }
}
