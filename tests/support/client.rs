//! The smallest HTTP client that does: one request, one connection, a deadline.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// What came back.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    /// The body; chunks are put together.
    pub body: String,
}

/// GET.
pub fn get(addr: SocketAddr, path: &str, within: Duration) -> std::io::Result<Response> {
    request(addr, "GET", path, "", within)
}

/// POST with a JSON body.
pub fn post(addr: SocketAddr, path: &str, body: &str, within: Duration) -> std::io::Result<Response> {
    request(addr, "POST", path, body, within)
}

/// Any method.
pub fn request(addr: SocketAddr, method: &str, path: &str, body: &str, within: Duration) -> std::io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&addr, within)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(within))?;
    let length = body.len();
    // In one piece: a server that closes early would reset what comes after.
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    parse(&String::from_utf8_lossy(&answer))
        .ok_or_else(|| std::io::Error::other(format!("no HTTP answer: {:?}", String::from_utf8_lossy(&answer))))
}

fn parse(answer: &str) -> Option<Response> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunk(body)? } else { body.to_owned() };
    Some(Response { status, head: head.to_owned(), body })
}

fn unchunk(mut rest: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body += after.get(..size)?;
        rest = after.get(size + 2..)?;
    }
}
