//! Minecraft Java's server list ping, over TCP: a handshake that asks for the status, and the status as JSON.
//!
//! Since Minecraft 1.7. Deliberately not here: the older pings, the ping that measures time, SRV records.
//! Source: the Minecraft Wiki, "Java Edition protocol/Server List Ping".

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::Reading;
use super::ask::no_answer;
use super::wire::{Bytes, begins, name};
use crate::net::deadline::Deadline;
use crate::net::http::{self, Failure};
use crate::settings::QueryTarget;

/// A status is a text of at most 32,767 characters, most of it the icon; servers with mods go beyond.
const LONGEST: usize = 256 * 1024;

/// How much is read at once.
const CHUNK: usize = 4 * 1024;

/// "No version in particular": what tools send that only want the status.
const PROTOCOL_VERSION: u32 = u32::MAX;
const STATUS: u32 = 1;

pub(super) fn ask(
    target: &QueryTarget,
    addresses: &[SocketAddr],
    names: bool,
    deadline: Deadline,
) -> Result<Reading, Failure> {
    let mut stream = http::connect(addresses, deadline)?;
    let question = question(&target.host.to_string(), target.port.get());
    let failed = |reason: String| Failure { reason, connected: true };
    let told = |error: &io::Error| failed(http::reason_within(error, deadline));
    let mut answer = Vec::new();
    write(&mut stream, &question, deadline).map_err(|error| told(&error))?;
    loop {
        if read(&mut stream, &mut answer, deadline).map_err(|error| told(&error))? == 0 {
            return Err(failed("connection closed before the answer was complete".into()));
        }
        let found = self::answer(&answer, names);
        if let Some(reading) = found.map_err(|wrong| failed(no_answer(&target.protocol, &wrong)))? {
            return Ok(reading);
        }
    }
}

fn write(stream: &mut TcpStream, bytes: &[u8], deadline: Deadline) -> io::Result<()> {
    stream.set_write_timeout(Some(deadline.left().ok_or(io::ErrorKind::TimedOut)?))?;
    // A few dozen bytes: they fit any socket's buffer.
    stream.write_all(bytes)
}

fn read(stream: &mut TcpStream, into: &mut Vec<u8>, deadline: Deadline) -> io::Result<usize> {
    let mut chunk = [0; CHUNK];
    loop {
        stream.set_read_timeout(Some(deadline.left().ok_or(io::ErrorKind::TimedOut)?))?;
        match stream.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(length) => {
                into.extend_from_slice(&chunk[..length]);
                return Ok(length);
            }
        }
    }
}

/// The handshake and the question in one piece. `host` is what the client was told, which proxies look at.
fn question(host: &str, port: u16) -> Vec<u8> {
    let mut handshake = vec![0];
    put_number(&mut handshake, PROTOCOL_VERSION);
    put_number(&mut handshake, u32::try_from(host.len()).unwrap_or(0));
    handshake.extend_from_slice(host.as_bytes());
    handshake.extend_from_slice(&port.to_be_bytes());
    put_number(&mut handshake, STATUS);
    let mut question = Vec::new();
    put_number(&mut question, u32::try_from(handshake.len()).unwrap_or(0));
    question.append(&mut handshake);
    question.extend_from_slice(&[1, 0]);
    question
}

/// What the stream so far says; `None` is not enough yet.
pub(super) fn answer(stream: &[u8], names: bool) -> Result<Option<Reading>, String> {
    let mut bytes = Bytes(stream);
    let odd = || format!("{} and is no status", begins(stream));
    let Some(length) = take_number(&mut bytes)? else { return Ok(None) };
    if length > LONGEST {
        return Err(format!("is to be {length} bytes long, more than {LONGEST}"));
    }
    let Some(packet) = bytes.take(length) else { return Ok(None) };
    let mut packet = Bytes(packet);
    if take_number(&mut packet)? != Some(0) {
        return Err(odd());
    }
    let length = take_number(&mut packet)?.ok_or_else(odd)?;
    status(packet.take(length).ok_or_else(odd)?, names).map(Some)
}

fn status(json: &[u8], names: bool) -> Result<Reading, String> {
    // serde_json bounds the depth, and the length is bounded by LONGEST.
    let status: Value = serde_json::from_slice(json).map_err(|error| format!("is no JSON: {error}"))?;
    if !status.is_object() {
        return Err("is no JSON object".into());
    }
    let players = status.get("players");
    let count = |key: &str| players.and_then(|players| players.get(key)).and_then(Value::as_u64);
    let (online, most) = (count("online"), count("max"));
    let sample = players.and_then(|players| players.get("sample")).and_then(Value::as_array);
    let listed: Vec<String> = sample
        .into_iter()
        .flatten()
        .filter_map(|player| Some(name(player.get("name")?.as_str()?.as_bytes())))
        .filter(|name| !name.is_empty())
        .collect();
    // Beyond twelve players it is a sample drawn anew each time, and no list.
    let names = Some(listed).filter(|listed| names && online.is_some_and(|online| listed.len() as u64 == online));
    Ok(Reading { players: online, capacity: most, names })
}

/// Seven bits a byte, the lowest first, at most five bytes.
fn put_number(into: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        into.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    into.push(u8::try_from(number).unwrap_or(0));
}

/// `None` where it ends too early.
fn take_number(bytes: &mut Bytes) -> Result<Option<usize>, String> {
    let mut number = 0u64;
    for place in 0..5 {
        let Some(byte) = bytes.byte() else { return Ok(None) };
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return match i32::try_from(number) {
                Ok(number) => Ok(usize::try_from(number).ok()),
                Err(_) => Err("has a length below 0".into()),
            };
        }
    }
    Err("has a length of more than five bytes".into())
}
