//! Minecraft Java's server list ping, over TCP: a handshake that asks for the status, and the status as JSON. Where a
//! server closes on that without a status, the ping of 1.6 and older, two bytes that are answered with a line of text.
//!
//! Deliberately not here: the ping that measures time, SRV records.
//! Source: the Minecraft Wiki, "Java Edition protocol/Server List Ping"; haproxy's "The PROXY protocol", version 1.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::ask::no_answer;
use super::wire::{Bytes, begins, name, number};
use super::{Reading, Target, Wanted};
use crate::net::deadline::Deadline;
use crate::net::http::{self, Failure};

/// A status is a text of at most 32,767 characters, most of it the icon; servers with mods go beyond.
const LONGEST: usize = 256 * 1024;

/// How much is read at once.
const CHUNK: usize = 4 * 1024;

/// "No version in particular": what tools send that only want the status.
const PROTOCOL_VERSION: u32 = u32::MAX;
const STATUS: u32 = 1;

/// The ping of 1.4 to 1.6, which the servers before those understand too.
const OLD_PING: &[u8] = &[0xfe, 0x01];
/// The packet that ends a connection with a reason: in it old servers answer their ping, and refuse a handshake.
const KICK: u8 = 0xff;

pub(super) fn ask(
    target: &Target,
    addresses: &[SocketAddr],
    wanted: Wanted,
    deadline: Deadline,
) -> Result<Reading, Failure> {
    let question = question(&target.host.to_string(), target.port.get());
    let modern = exchange(target, addresses, &question, deadline, |stream| answer(stream, wanted));
    match modern {
        Err(Unanswered { failure, is_old: true }) => {
            exchange(target, addresses, OLD_PING, deadline, old_answer).map_err(|_| failure)
        }
        modern => modern.map_err(|unanswered| unanswered.failure),
    }
}

/// Why a question was not answered.
struct Unanswered {
    failure: Failure,
    /// A server that does not know the question would do that: it is closed, or ended by a kick.
    is_old: bool,
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, is_old: false }
    }
}

/// One question on a connection of its own.
fn exchange(
    target: &Target,
    addresses: &[SocketAddr],
    question: &[u8],
    deadline: Deadline,
    read_answer: impl Fn(&[u8]) -> Result<Option<Reading>, String>,
) -> Result<Reading, Unanswered> {
    let mut stream = http::connect(addresses, deadline)?;
    let mut answer = Vec::new();
    let failed = |reason: String, answer: &[u8]| {
        let is_old = matches!(answer, [] | [KICK, ..]);
        Unanswered { failure: Failure { reason, connected: true }, is_old }
    };
    let broken = |error: &io::Error, answer: &[u8]| {
        let unanswered = failed(http::reason_within(error, deadline), answer);
        // Silence is that of a server that is busy, or frozen.
        Unanswered { is_old: unanswered.is_old && deadline.left().is_some(), ..unanswered }
    };
    let line = if target.proxy { proxy_line(&stream).map_err(|error| broken(&error, &[]))? } else { String::new() };
    let question = [line.as_bytes(), question].concat();
    write(&mut stream, &question, deadline).map_err(|error| broken(&error, &[]))?;
    loop {
        match read(&mut stream, &mut answer, deadline) {
            Err(error) => return Err(broken(&error, &answer)),
            Ok(0) => return Err(failed("connection closed before the answer was complete".into(), &answer)),
            Ok(_) => {}
        }
        match read_answer(&answer) {
            Ok(Some(reading)) => return Ok(reading),
            Ok(None) => {}
            Err(wrong) => return Err(failed(no_answer(target.protocol, &wrong), &answer)),
        }
    }
}

/// Says who asks, as a proxy would; servers behind one close the connection without it.
fn proxy_line(stream: &TcpStream) -> io::Result<String> {
    let (from, to) = (stream.local_addr()?, stream.peer_addr()?);
    let family = if from.is_ipv4() { "TCP4" } else { "TCP6" };
    Ok(format!("PROXY {family} {} {} {} {}\r\n", from.ip(), to.ip(), from.port(), to.port()))
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

/// What the stream so far says, in whichever ping it answers.
pub(super) fn read_any(stream: &[u8], wanted: Wanted) -> Result<Option<Reading>, String> {
    if stream.first() == Some(&KICK) { old_answer(stream) } else { answer(stream, wanted) }
}

/// What the stream so far says; `None` is not enough yet.
fn answer(stream: &[u8], wanted: Wanted) -> Result<Option<Reading>, String> {
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
    status(packet.take(length).ok_or_else(odd)?, wanted.names).map(Some)
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

/// The same of a server of 1.6 or older: a kick, whose reason is `§1`, protocol, version, name, players and the most of
/// them with a NUL between each; before 1.4 name, players and the most, apart by `§`.
fn old_answer(stream: &[u8]) -> Result<Option<Reading>, String> {
    let mut bytes = Bytes(stream);
    match bytes.byte() {
        None => return Ok(None),
        Some(KICK) => {}
        Some(_) => return Err(begins(stream)),
    }
    let Some(length) = bytes.array() else { return Ok(None) };
    let Some(text) = bytes.take(2 * usize::from(u16::from_be_bytes(length))) else { return Ok(None) };
    let units: Vec<u16> = text.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let text = String::from_utf16_lossy(&units);
    let fields: Vec<&str> = match text.strip_prefix("\u{a7}1\0") {
        Some(text) => text.split('\0').skip(3).collect(),
        // The name may have colours in it, which begin with the same sign.
        None => text.rsplitn(3, '\u{a7}').take(2).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    let counts: Vec<u64> = fields.iter().filter_map(|field| number(field.as_bytes())).collect();
    match (&counts[..], fields.len()) {
        (&[players, most], 2) => Ok(Some(Reading { players: Some(players), capacity: Some(most), names: None })),
        _ => Err("has no numbers of players in its text".into()),
    }
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
