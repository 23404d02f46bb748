//! `protocol://host:port` of game server queries.
//!
//! The table in the room `query` has the protocols and what may stand behind the port.

use super::address;
use super::plain::{self, is_digits, one_of, quote};
use super::target::{Host, QueryTarget};
use crate::query::protocol::{Behind, PROTOCOLS, Protocol};
use crate::settings::engine::suggest;

/// The longest question of `udp`, in bytes: what passes any network in one piece.
const LONGEST_PAYLOAD: usize = 1200;

/// A list of queries.
pub(crate) fn list(text: &str) -> Result<Vec<QueryTarget>, Vec<String>> {
    plain::list(text, |items, index| target(items[index]), |items, index| items[index].to_owned())
}

/// `a2s://:27015`, `quake3://10.0.0.7:27960`, `udp://:7777/ffffffff01`. No host is loopback.
pub(crate) fn target(text: &str) -> Result<QueryTarget, String> {
    let Some((name, rest)) = text.split_once("://") else {
        return Err("is not a query (write protocol://:port, as a2s://:27015)".into());
    };
    let protocol = protocol(name)?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (address, behind) = rest.split_at(at);
    let (payload, proxy) = self::behind(protocol, behind)?;
    let (host, port) = match address.strip_prefix(':') {
        Some("") => return Err(format!("is not a query: \":\" has no port (write {name}://:27015)")),
        Some(number) if is_digits(number) => {
            let port = plain::port(number).map_err(|wrong| format!("is not a query: {} {wrong}", quote(number)))?;
            (Host::Loopback, port)
        }
        _ => {
            let target =
                address::tcp(address).map_err(|wrong| format!("is not a query: {} {wrong}", quote(address)))?;
            (target.host, target.port)
        }
    };
    Ok(QueryTarget { protocol, host, port, payload, proxy })
}

fn protocol(name: &str) -> Result<&'static Protocol, String> {
    Protocol::of(name).ok_or_else(|| {
        let names = PROTOCOLS.each_ref().map(|protocol| protocol.name);
        let near = suggest::nearest(&name.to_lowercase(), names.iter().copied());
        let hint = near.map(|near| format!(" (write {near}://)")).unwrap_or_default();
        format!("is not a query: {} is not {}{hint}", quote(name), one_of(&names))
    })
}

/// The question, and whether a PROXY line goes in front, from what stands behind the port.
fn behind(protocol: &Protocol, text: &str) -> Result<(Vec<u8>, bool), String> {
    let name = protocol.name;
    match (protocol.behind, text) {
        (Behind::Question, "" | "/") => {
            Err("has no question to send (write it in hex behind a slash, as udp://:7777/ffffffff01)".into())
        }
        (Behind::Question, _) => unhex(text.strip_prefix('/').unwrap_or(text)).map(|payload| (payload, false)),
        (_, "" | "/") => Ok((Vec::new(), false)),
        (Behind::Proxy, _) => match text.strip_prefix('/').unwrap_or(text) {
            "?proxy=1" => Ok((Vec::new(), true)),
            "?proxy=0" => Ok((Vec::new(), false)),
            other => Err(format!("is not a query: {name} takes ?proxy=1 behind the port, and not {}", quote(other))),
        },
        (Behind::Nothing, _) => Err(format!("is not a query: {name} takes nothing behind the port")),
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits
        .filter(|digits| digits.len() % 2 == 0)
        .ok_or("is not a query: its question is not hex, two digits a byte (write ffffffff01)")?;
    if digits.len() / 2 > LONGEST_PAYLOAD {
        return Err(format!("is not a query: its question is longer than {LONGEST_PAYLOAD} bytes"));
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn query(protocol: &str, host: Host, port: u16) -> QueryTarget {
        let (protocol, port) = (Protocol::of(protocol).unwrap(), NonZeroU16::new(port).unwrap());
        QueryTarget { protocol, host, port, payload: Vec::new(), proxy: false }
    }

    fn ip(text: &str) -> Host {
        Host::Ip(text.parse().unwrap())
    }

    #[test]
    fn queries_are_read_with_and_without_a_host() {
        let name = |text: &str| Host::Name(text.into());
        for (text, wanted) in [
            ("a2s://:27015", query("a2s", Host::Loopback, 27015)),
            ("a2s://27015", query("a2s", Host::Loopback, 27015)),
            ("minecraft://localhost:1", query("minecraft", Host::Loopback, 1)),
            ("mumble://:64738/", query("mumble", Host::Loopback, 64738)),
            ("bedrock://mc.example.com:19132", query("bedrock", name("mc.example.com"), 19132)),
            ("quake3://10.0.0.7:27960", query("quake3", ip("10.0.0.7"), 27960)),
            ("quake://[::1]:27500", query("quake", ip("::1"), 27500)),
            ("teeworlds://:8303", query("teeworlds", Host::Loopback, 8303)),
            ("udp://:7777/FFfe00", QueryTarget { payload: vec![0xff, 0xfe, 0], ..query("udp", Host::Loopback, 7777) }),
            ("minecraft://:1?proxy=1", QueryTarget { proxy: true, ..query("minecraft", Host::Loopback, 1) }),
            ("minecraft://h:1/?proxy=1", QueryTarget { proxy: true, ..query("minecraft", name("h"), 1) }),
            ("minecraft://:1?proxy=0", query("minecraft", Host::Loopback, 1)),
        ] {
            assert_eq!(target(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn every_query_reads_back_what_it_shows() {
        for protocol in &PROTOCOLS {
            for host in [Host::Loopback, ip("::1"), Host::Name("game".into())] {
                let mut wanted = query(protocol.name, host, 7);
                wanted.proxy = protocol.behind == Behind::Proxy;
                wanted.payload = if protocol.behind == Behind::Question { vec![0xff, 0] } else { Vec::new() };
                assert_eq!(target(&wanted.to_string()), Ok(wanted));
            }
        }
        assert_eq!(target("udp://:7777/FFfe00").unwrap().to_string(), "udp://localhost:7777/fffe00");
    }

    #[test]
    fn the_longest_question_is_taken_and_shown_in_short() {
        let text = format!("udp://:7/{}", "ab".repeat(LONGEST_PAYLOAD));
        let target = target(&text).unwrap();
        assert_eq!(target.payload, vec![0xab; LONGEST_PAYLOAD]);
        assert_eq!(target.to_string(), format!("udp://localhost:7/{}...", "ab".repeat(16)));
    }

    #[test]
    fn what_is_no_query_is_answered_with_one() {
        let shape = "is not a query (write protocol://:port, as a2s://:27015)";
        let known = one_of(&PROTOCOLS.each_ref().map(|protocol| protocol.name));
        assert!(known.starts_with("a2s, minecraft, bedrock, "), "{known}");
        let port = "is not a port (write a number from 1 to 65535)";
        let neither = "is not a port or host:port";
        let question = "has no question to send (write it in hex behind a slash, as udp://:7777/ffffffff01)";
        let digits = "is not a query: its question is not hex, two digits a byte (write ffffffff01)";
        let long = format!("udp://:7/{}", "ab".repeat(LONGEST_PAYLOAD + 1));
        for (text, message) in [
            ("27015", shape.to_owned()),
            ("localhost:27015", shape.into()),
            ("a2s:27015", shape.into()),
            ("a2s://", format!(r#"is not a query: "" {neither} (write 7777 or 127.0.0.1:7777)"#)),
            ("udp:///ff", format!(r#"is not a query: "" {neither} (write 7777 or 127.0.0.1:7777)"#)),
            ("a2s://:", r#"is not a query: ":" has no port (write a2s://:27015)"#.into()),
            ("a2s://:0", format!(r#"is not a query: "0" {port}"#)),
            ("a2s://:70000", format!(r#"is not a query: "70000" {port}"#)),
            ("a2s://host:", r#"is not a query: "host:" has no port (write host:7777)"#.into()),
            ("a2s://::1:27015", format!(r#"is not a query: "::1:27015" {neither} (write [::1]:27015)"#)),
            ("a2s://:1/ff", "is not a query: a2s takes nothing behind the port".into()),
            (
                "minecraft://:1?proxy=yes",
                r#"is not a query: minecraft takes ?proxy=1 behind the port, and not "?proxy=yes""#.into(),
            ),
            ("a2s://:1?proxy=1", "is not a query: a2s takes nothing behind the port".into()),
            ("a2z://:1", format!(r#"is not a query: "a2z" is not {known} (write a2s://)"#)),
            ("A2S://:1", format!(r#"is not a query: "A2S" is not {known} (write a2s://)"#)),
            ("http://:1", format!(r#"is not a query: "http" is not {known}"#)),
            ("://:1", format!(r#"is not a query: "" is not {known}"#)),
            ("udp://:1", question.into()),
            ("udp://:1/", question.into()),
            ("udp://:1/f", digits.into()),
            ("udp://:1/0x00", digits.into()),
            ("udp://:1/ff ff", digits.into()),
            ("udp://:1/\u{665}\u{665}", digits.into()),
            (&long, format!("is not a query: its question is longer than {LONGEST_PAYLOAD} bytes")),
        ] {
            assert_eq!(target(text), Err(message), "{text}");
        }
    }

    #[test]
    fn a_list_names_each_item_that_is_wrong() {
        assert_eq!(list("a2s://:1, udp://:2/00").unwrap().len(), 2);
        let wrong = list("a2s://:1,,a2s://:0").unwrap_err();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[1].starts_with("\"a2s://:0\" is not a query"), "{wrong:?}");
    }
}
