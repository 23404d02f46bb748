//! A request's head in, an answer's bytes out. Pure.
//!
//! What is understood is what kubelets, Prometheus and people send: one GET or
//! HEAD. Every answer ends its connection.

use crate::insight::page;
use crate::insight::status::{Report, json, metrics};
use crate::machine::Phase;

/// A request that is longer is refused.
pub const REQUEST_CAP: usize = 8 * 1024;

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// For people.
    Index,
    /// Does the shim's loop turn?
    Healthz,
    /// Is the game server ready?
    Readyz,
    /// Prometheus.
    Metrics,
    /// JSON.
    Status,
}

/// A request that can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What for.
    pub page: Page,
    /// The answer has no body.
    pub head_only: bool,
}

/// Looks at what has arrived: `None` while the head is incomplete.
///
/// # Errors
/// The answer of a request that cannot be understood.
#[must_use]
pub fn read(input: &[u8]) -> Option<Result<Request, Vec<u8>>> {
    if !is_whole(input) {
        let too_long = "431 Request Header Fields Too Large";
        return (input.len() >= REQUEST_CAP).then(|| Err(answer(too_long, TEXT, "the request is too long\n", false)));
    }
    let line = input.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let [method, target, version] = words.as_slice() else { return Some(Err(bad())) };
    if !version.starts_with(b"HTTP/1.") {
        return Some(Err(bad()));
    }
    let head_only = *method == b"HEAD";
    if !head_only && *method != b"GET" {
        return Some(Err(answer("405 Method Not Allowed\r\nAllow: GET, HEAD", TEXT, "GET it\n", false)));
    }
    let page = match path(target) {
        b"/" => Page::Index,
        b"/healthz" => Page::Healthz,
        b"/readyz" => Page::Readyz,
        b"/metrics" => Page::Metrics,
        b"/status" => Page::Status,
        _ => {
            let there_is = "there is /, /healthz, /readyz, /metrics and /status\n";
            return Some(Err(answer("404 Not Found", TEXT, there_is, head_only)));
        }
    };
    Some(Ok(Request { page, head_only }))
}

/// The head ends with an empty line.
fn is_whole(input: &[u8]) -> bool {
    input.windows(4).any(|window| window == b"\r\n\r\n") || input.windows(2).any(|window| window == b"\n\n")
}

/// Of `/path?query`, or of the whole URL, which every server has to understand too (RFC 9112 section 3.2.2).
fn path(target: &[u8]) -> &[u8] {
    let is_absolute = target.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http://"));
    let target = if is_absolute {
        let behind_host = target[7..].iter().position(|byte| b"/?".contains(byte)).map_or(target.len(), |at| at + 7);
        &target[behind_host..]
    } else {
        target
    };
    target.split(|&byte| byte == b'?').next().unwrap_or_default()
}

fn bad() -> Vec<u8> {
    answer("400 Bad Request", TEXT, "this is not an HTTP/1 request\n", false)
}

/// What the state thread has said makes a page.
#[must_use]
pub fn answered(request: Request, report: &Report) -> Vec<u8> {
    match request.page {
        Page::Index => {
            let html = format!("text/html; charset=utf-8\r\nContent-Security-Policy: {}", page::policy());
            ok(&html, &page::render("status", &json::write(report)), request)
        }
        Page::Healthz => ok(TEXT, "ok\n", request),
        Page::Readyz => ready(request, report.snapshot.phase),
        Page::Metrics => ok("text/plain; version=0.0.4; charset=utf-8", &metrics::write(report), request),
        Page::Status => ok("application/json", &json::write(report), request),
    }
}

/// `/readyz` needs no more than the phase.
#[must_use]
pub fn ready(request: Request, phase: Phase) -> Vec<u8> {
    if phase == Phase::Ready {
        return ok(TEXT, "ready\n", request);
    }
    answer("503 Service Unavailable", TEXT, &format!("not ready: {}\n", phase.as_str()), request.head_only)
}

/// The state thread has not said anything in time.
#[must_use]
pub fn unanswered(request: Request) -> Vec<u8> {
    answer("503 Service Unavailable", TEXT, "the shim's loop does not answer\n", request.head_only)
}

const TEXT: &str = "text/plain; charset=utf-8";

fn ok(content_type: &str, body: &str, request: Request) -> Vec<u8> {
    answer("200 OK", content_type, body, request.head_only)
}

fn answer(status: &str, content_type: &str, body: &str, head_only: bool) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    if !head_only {
        bytes.extend_from_slice(body.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(input: &[u8]) -> String {
        match read(input) {
            None => "incomplete".into(),
            Some(Ok(request)) => format!("{:?}{}", request.page, if request.head_only { " head" } else { "" }),
            Some(Err(bytes)) => String::from_utf8(bytes).expect("text").split(' ').nth(1).expect("a code").into(),
        }
    }

    #[test]
    fn what_clients_send_is_told_apart() {
        for (input, wanted) in [
            (&b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"[..], "Healthz"),
            (b"GET /readyz HTTP/1.0\n\n", "Readyz"),
            (b"HEAD /metrics?x=y HTTP/1.1\r\n\r\n", "Metrics head"),
            (b"GET /status HTTP/1.1\r\n\r\nmore", "Status"),
            (b"GET /status HTTP/1.1\r\n", "incomplete"),
            (b"", "incomplete"),
            (b"GET http://a:9360/status?x HTTP/1.1\r\n\r\n", "Status"),
            (b"GET HTTP://a/ HTTP/1.1\r\n\r\n", "Index"),
            (b"GET http://a/b/status HTTP/1.1\r\n\r\n", "404"),
            (b"GET / HTTP/1.1\r\n\r\n", "Index"),
            (b"GET // HTTP/1.1\r\n\r\n", "404"),
            (b"GET /statusx HTTP/1.1\r\n\r\n", "404"),
            (b"POST /status HTTP/1.1\r\n\r\n", "405"),
            (b"GET /status HTTP/2.0\r\n\r\n", "400"),
            (b"GET /status\r\n\r\n", "400"),
            (b"\x16\x03\x01\x02\x00\n\n", "400"),
            (b"\r\n\r\n", "400"),
            (&[b'a'; REQUEST_CAP], "431"),
        ] {
            assert_eq!(status(input), wanted, "{:?}", String::from_utf8_lossy(input));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }
    }
}
