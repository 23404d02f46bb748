//! One GET with a deadline over the whole exchange, whatever the peer does: shared by the HTTP probes and the scrape.
//!
//! ureq speaks the protocol; connecting and every wait are ours, so that the addresses tried are the ones that were
//! resolved and no read can outlast the deadline. Deliberately not here: proxies (nothing on loopback may go through
//! one), redirects, TLS, connections kept for later.

mod wire;

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use ureq::http::{HeaderMap, Version, header};

use super::HttpTarget;
use crate::duration::seconds;
use crate::net::deadline::Deadline;
use wire::Dialed;

const USER_AGENT: &str = concat!("agones-shim/", env!("CARGO_PKG_VERSION"));

/// Headers that a game server sends fit many times; a flood of them ends here.
const MAX_HEADERS: usize = 16 * 1024;

/// Has to be larger than the headers: ureq parses them in one piece.
const INPUT_BUFFER: usize = 2 * MAX_HEADERS;

/// The request: a URL and half a dozen headers. ureq writes each of them whole.
const OUTPUT_BUFFER: usize = 16 * 1024;

/// How much of a body is handed on at once.
const CHUNK: usize = 16 * 1024;

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// 200, 503, ...
    pub status: u16,
    /// Where a redirect points.
    pub location: Option<String>,
    /// The body ended within the cap.
    pub complete: bool,
    /// The answer says where its body ends. Else its end may be that of a server that died.
    pub framed: bool,
}

impl Response {
    /// 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The status as a reason for people: `HTTP 503`, `HTTP 302 to /login`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.location {
            Some(location) => format!("HTTP {} to {location}", self.status),
            None => format!("HTTP {}", self.status),
        }
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For people: `connection refused`, `timed out after 2s`.
    pub reason: String,
    /// Something accepted the connection: it is not just a closed port.
    pub connected: bool,
}

impl Failure {
    fn connected(reason: String) -> Self {
        Self { reason, connected: true }
    }
}

/// Connects to the first address that accepts, each in its turn.
///
/// # Errors
///
/// The most telling reason of all addresses when none accepts within the deadline: a timeout before a refusal before
/// anything else (an address family that this host does not have, say).
pub fn connect(addresses: &[SocketAddr], deadline: Deadline) -> Result<TcpStream, Failure> {
    let mut worst = (0, "no address to connect to".to_owned());
    for (index, address) in addresses.iter().enumerate() {
        let Some(left) = deadline.left() else {
            worst = (3, deadline.to_string());
            break;
        };
        // An address that swallows the packets must not use up the time of those after it.
        let others = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let share = (left / others).max(Duration::from_millis(1));
        let found = match TcpStream::connect_timeout(address, share) {
            Ok(stream) if is_self_connected(&stream) => (2, reason(&io::ErrorKind::ConnectionRefused.into())),
            Ok(stream) => return Ok(stream),
            // Nothing is lost on the way there: the kernel alone answers, and does not where the backlog is full.
            Err(error) if is_timeout(&error) && address.ip().to_canonical().is_loopback() => {
                (3, backlog_is_full(share))
            }
            Err(error) if is_timeout(&error) && others == 1 => (3, deadline.to_string()),
            Err(error) if is_timeout(&error) => (3, format!("{address} timed out after {}ms", share.as_millis())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => (2, reason(&error)),
            Err(error) => (1, reason(&error)),
        };
        if found.0 > worst.0 {
            worst = found;
        }
    }
    Err(Failure { reason: worst.1, connected: false })
}

fn backlog_is_full(waited: Duration) -> String {
    let waited = Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX).div_ceil(10) * 10);
    format!("no connection within {}: its backlog is full, is it frozen?", seconds(waited))
}

/// Nobody listens: the kernel picked the port that was asked for as the
/// source port too, and TCP allows a socket to open a connection to itself. A
/// port of the ephemeral range would count as up now and then.
fn is_self_connected(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

/// Gets a URL from the first address that accepts, with these headers beside its own. `on_chunk` sees the body in pieces, at most `body_cap` bytes of
/// it, whatever the status is; when there is more, the rest stays unread and the response is not `complete`.
///
/// # Errors
///
/// When there is no whole answer within the deadline, or one that is no HTTP.
pub fn get(
    target: &HttpTarget,
    addresses: &[SocketAddr],
    deadline: Deadline,
    headers: &[(&str, &str)],
    body_cap: usize,
    on_chunk: impl FnMut(&[u8]),
) -> Result<Response, Failure> {
    let stream = connect(addresses, deadline)?;
    exchange(target, stream, deadline, headers, body_cap, on_chunk)
        .map_err(|error| Failure::connected(exchange_reason(&error, deadline)))
}

fn exchange(
    target: &HttpTarget,
    stream: TcpStream,
    deadline: Deadline,
    headers: &[(&str, &str)],
    body_cap: usize,
    mut on_chunk: impl FnMut(&[u8]),
) -> Result<Response, ureq::Error> {
    let config = ureq::Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(0)
        .max_response_header_size(MAX_HEADERS)
        .timeout_global(Some(deadline.left().unwrap_or_default()))
        .user_agent(USER_AGENT)
        .build();
    let dialed = Dialed::new(stream, deadline);
    let agent = ureq::Agent::with_parts(config, dialed.clone(), dialed);

    let mut request = agent.get(&target.url).header("Connection", "close");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(credentials) = &target.credentials {
        request = request.header("Authorization", format!("Basic {}", base64(credentials.0.as_bytes())));
    }
    let mut answer = request.call()?;

    let location = answer.headers().get("location").filter(|_| answer.status().is_redirection());
    let mut response = Response {
        status: answer.status().as_u16(),
        // Bounded: it ends up in log lines.
        location: location.map(|value| String::from_utf8_lossy(value.as_bytes()).chars().take(200).collect()),
        complete: false,
        framed: is_framed(answer.version(), answer.headers()),
    };
    let mut body = answer.body_mut().as_reader();
    let mut chunk = vec![0; CHUNK];
    let mut room = body_cap;
    loop {
        let filled = body.read(&mut chunk)?;
        if filled == 0 {
            response.complete = true;
            return Ok(response);
        }
        on_chunk(chunk.get(..filled.min(room)).unwrap_or_default());
        if filled > room {
            return Ok(response);
        }
        room -= filled;
    }
}

/// As HTTP has it (RFC 9112 section 6): a length, or chunks, which HTTP/1.0 does not know. Any other transfer coding
/// ends with the connection.
fn is_framed(version: Version, headers: &HeaderMap) -> bool {
    let codings = headers.get_all(header::TRANSFER_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let is_chunked =
        codings.flat_map(|value| value.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("chunked"));
    (is_chunked && version != Version::HTTP_10) || headers.contains_key(header::CONTENT_LENGTH)
}

fn exchange_reason(error: &ureq::Error, deadline: Deadline) -> String {
    match error {
        ureq::Error::Timeout(_) => deadline.to_string(),
        ureq::Error::Io(error) => reason(error),
        ureq::Error::Protocol(error) => {
            let error = error.to_string();
            format!("not a valid HTTP answer: {}", error.strip_prefix("http parse fail: ").unwrap_or(&error))
        }
        ureq::Error::LargeResponseHeader(..) => format!("answers with headers of more than {MAX_HEADERS} bytes"),
        other => other.to_string(),
    }
}

/// An error of a socket, for people.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connection reset".to_owned(),
        io::ErrorKind::BrokenPipe => "connection closed".to_owned(),
        io::ErrorKind::UnexpectedEof => "connection closed before the answer was complete".to_owned(),
        io::ErrorKind::HostUnreachable => "no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        _ => error.to_string(),
    }
}

/// The same, where a timeout is that of the deadline.
pub(crate) fn reason_within(error: &io::Error, deadline: Deadline) -> String {
    if is_timeout(error) { deadline.to_string() } else { reason(error) }
}

/// Linux says EAGAIN where a socket's own timeout passed, and std says `TimedOut` for a connect.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// RFC 4648, with padding. The base64 crate is in the tree, but only as a detail of ureq's.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for triple in bytes.chunks(3) {
        let bits = triple.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - triple.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > triple.len() { '=' } else { char::from(ALPHABET[index as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests;
