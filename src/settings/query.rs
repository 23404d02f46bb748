//! `protocol://host:port` of game server queries.
//!
//! Which protocols there are is said here, and nothing about how they are spoken.

use super::values::{self, is_digits, one_of, quote};
use super::{Protocol, QueryTarget, address, suggest};

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
pub(super) fn list(text: &str) -> Result<Vec<QueryTarget>, Vec<String>> {
    values::list(text, |items, index| target(items[index]), |items, index| items[index].to_owned())
}

/// `a2s://:27015`, `quake3://10.0.0.7:27960`, `udp://:7777/ffffffff01`. No host is loopback.
pub(super) fn target(text: &str) -> Result<QueryTarget, String> {
    let Some((name, rest)) = text.split_once("://") else {
        return Err("is not a query (write protocol://:port, as a2s://:27015)".into());
    };
    let (address, payload) = rest.split_once('/').map_or((rest, None), |(address, payload)| (address, Some(payload)));
    let protocol = protocol(name, payload)?;
    let (host, port) = match address.strip_prefix(':') {
        Some(number) if is_digits(number) => (super::Host::Loopback, values::port(number)?),
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
