//! `protocol://host:port` of game server queries.
//!
//! Which protocols there are is said here, and nothing about how they are spoken.

use super::address;
use super::plain::{self, is_digits, one_of, quote};
use super::target::{Host, Protocol, QueryTarget};
use crate::settings::engine::suggest;

/// The protocols by name; `udp` is apart, as it carries its question.
const PROTOCOLS: [(&str, Protocol); 7] = [
    ("a2s", Protocol::A2s),
    ("minecraft", Protocol::Minecraft),
    ("bedrock", Protocol::Bedrock),
    ("quake3", Protocol::Quake3),
    ("quake", Protocol::Quake),
    ("teeworlds", Protocol::Teeworlds),
    ("mumble", Protocol::Mumble),
];

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
    let (address, payload) = rest.split_once('/').map_or((rest, None), |(address, payload)| (address, Some(payload)));
    let protocol = protocol(name, payload)?;
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
    Ok(QueryTarget { protocol, host, port })
}

fn protocol(name: &str, payload: Option<&str>) -> Result<Protocol, String> {
    if name == "udp" {
        let payload = payload
            .filter(|payload| !payload.is_empty())
            .ok_or("has no question to send (write it in hex behind a slash, as udp://:7777/ffffffff01)")?;
        return unhex(payload).map(Protocol::Udp);
    }
    let names: Vec<&str> = PROTOCOLS.iter().map(|(name, _)| *name).chain(["udp"]).collect();
    let Some((_, protocol)) = PROTOCOLS.iter().find(|(known, _)| *known == name) else {
        let near = suggest::nearest(&name.to_lowercase(), names.iter().copied());
        let hint = near.map(|near| format!(" (write {near}://)")).unwrap_or_default();
        return Err(format!("is not a query: {} is not {}{hint}", quote(name), one_of(&names)));
    };
    match payload {
        None | Some("") => Ok(protocol.clone()),
        Some(_) => Err(format!("is not a query: {name} takes nothing behind the port")),
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

    fn query(protocol: Protocol, host: Host, port: u16) -> QueryTarget {
        QueryTarget { protocol, host, port: NonZeroU16::new(port).unwrap() }
    }

    fn ip(text: &str) -> Host {
        Host::Ip(text.parse().unwrap())
    }

    #[test]
    fn queries_are_read_with_and_without_a_host() {
        let name = |text: &str| Host::Name(text.into());
        for (text, wanted) in [
            ("a2s://:27015", query(Protocol::A2s, Host::Loopback, 27015)),
            ("a2s://27015", query(Protocol::A2s, Host::Loopback, 27015)),
            ("minecraft://localhost:1", query(Protocol::Minecraft, Host::Loopback, 1)),
            ("mumble://:64738/", query(Protocol::Mumble, Host::Loopback, 64738)),
            ("bedrock://mc.example.com:19132", query(Protocol::Bedrock, name("mc.example.com"), 19132)),
            ("quake3://10.0.0.7:27960", query(Protocol::Quake3, ip("10.0.0.7"), 27960)),
            ("quake://[::1]:27500", query(Protocol::Quake, ip("::1"), 27500)),
            ("teeworlds://:8303", query(Protocol::Teeworlds, Host::Loopback, 8303)),
            ("udp://:7777/FFfe00", query(Protocol::Udp(vec![0xff, 0xfe, 0]), Host::Loopback, 7777)),
        ] {
            assert_eq!(target(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn every_query_reads_back_what_it_shows() {
        let udp = ("udp", Protocol::Udp(vec![0xff, 0xfe, 0]));
        for (name, protocol) in PROTOCOLS.into_iter().chain([udp]) {
            assert_eq!(protocol.name(), name);
            for host in [Host::Loopback, ip("::1"), Host::Name("game".into())] {
                let wanted = query(protocol.clone(), host, 7);
                assert_eq!(target(&wanted.to_string()), Ok(wanted));
            }
        }
        assert_eq!(target("udp://:7777/FFfe00").unwrap().to_string(), "udp://localhost:7777/fffe00");
    }

    #[test]
    fn the_longest_question_is_taken_and_shown_in_short() {
        let text = format!("udp://:7/{}", "ab".repeat(LONGEST_PAYLOAD));
        let target = target(&text).unwrap();
        assert_eq!(target.protocol, Protocol::Udp(vec![0xab; LONGEST_PAYLOAD]));
        assert_eq!(target.to_string(), format!("udp://localhost:7/{}...", "ab".repeat(16)));
    }

    #[test]
    fn what_is_no_query_is_answered_with_one() {
        let shape = "is not a query (write protocol://:port, as a2s://:27015)";
        let known = "a2s, minecraft, bedrock, quake3, quake, teeworlds, mumble or udp";
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
