//! Peers that behave and peers that do not, as std listeners on loopback.

use std::io::Write;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::*;
use crate::net::resolve::Resolver;
use crate::settings::{Host, Secret};

/// Long enough for a loaded machine.
const PLENTY: Duration = Duration::from_secs(30);

/// A peer that accepts one connection and follows the script.
fn peer(script: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let script = move || {
        let (mut stream, _) = listener.accept().unwrap();
        // A peer that outlives its client by much is a bug of the test.
        stream.set_read_timeout(Some(PLENTY)).unwrap();
        stream.set_write_timeout(Some(PLENTY)).unwrap();
        // The client may well go in the middle of the script.
        let _ = script(&mut stream);
    };
    (address, thread::spawn(script))
}

fn target(address: SocketAddr) -> HttpTarget {
    HttpTarget {
        url: format!("http://{address}/metrics?x=1"),
        credentials: None,
        host: Host::Ip(address.ip()),
        port: address.port().try_into().unwrap(),
    }
}

/// Reads up to the empty line that ends a request.
fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        request.extend(byte);
    }
    String::from_utf8(request).unwrap()
}

struct Got {
    result: Result<Response, Failure>,
    body: Vec<u8>,
    took: Duration,
}

fn get_within(timeout: Duration, cap: usize, address: SocketAddr) -> Got {
    let began = Instant::now();
    let mut body = Vec::new();
    let deadline = Deadline::after(timeout);
    let result = get(&target(address), &[address], deadline, &[], cap, |chunk| body.extend_from_slice(chunk));
    Got { result, body, took: began.elapsed() }
}

/// Against a peer that reads the request and then writes `answer`.
fn get_answer(answer: impl AsRef<[u8]> + Send + 'static, cap: usize) -> Got {
    let (address, peer) = peer(move |stream| {
        read_request(stream);
        stream.write_all(answer.as_ref())
    });
    let got = get_within(PLENTY, cap, address);
    peer.join().unwrap();
    got
}

#[test]
fn the_request_says_who_asks_for_what() {
    let (sender, requests) = std::sync::mpsc::channel();
    let (address, peer) = peer(move |stream| {
        sender.send(read_request(stream)).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let target = HttpTarget { credentials: Some(Secret("us:er:pä".into())), ..target(address) };
    get(&target, &[address], Deadline::after(PLENTY), &[("Accept", "text/plain")], 0, |_| {}).unwrap();
    peer.join().unwrap();
    let request = requests.recv().unwrap();
    let (line, headers) = request.split_once("\r\n").unwrap();
    assert_eq!(line, "GET /metrics?x=1 HTTP/1.1");
    let mut headers: Vec<_> = headers.trim_end().split("\r\n").map(str::to_lowercase).collect();
    headers.sort();
    let version = env!("CARGO_PKG_VERSION");
    let wanted = [
        "accept: text/plain",
        "authorization: basic dxm6zxi6cmok",
        "connection: close",
        &format!("host: {address}"),
        &format!("user-agent: agones-shim/{version}"),
    ];
    assert!(request.contains("Basic dXM6ZXI6cMOk"), "{request}");
    assert_eq!(headers, wanted);
}

#[test]
fn every_kind_of_body_arrives_whole() {
    let ok = "HTTP/1.1 200 OK\r\n";
    for (answer, body) in [
        (format!("{ok}Content-Length: 4\r\n\r\nm 4\n"), "m 4\n"),
        (format!("{ok}Content-Length: 4\r\nConnection: keep-alive\r\n\r\nm 4\ntoo much"), "m 4\n"),
        (format!("{ok}Connection: close\r\n\r\nm 4\n"), "m 4\n"),
        (format!("{ok}\r\nm 4\n"), "m 4\n"),
        (format!("{ok}Transfer-Encoding: chunked\r\n\r\n2\r\nm \r\n2;x=y\r\n4\n\r\n0\r\n\r\n"), "m 4\n"),
        ("HTTP/1.0 200 OK\r\n\r\nm 4\n".to_owned(), "m 4\n"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nm 4\n".to_owned(), "m 4\n"),
        (format!("{ok}Content-Length: 0\r\n\r\n"), ""),
        (format!("{ok}\r\n"), ""),
        (format!("{ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), ""),
    ] {
        let got = get_answer(answer.clone(), 100);
        let framed = answer.contains("Content-Length") || answer.contains("chunked");
        assert_eq!(got.result, Ok(Response { status: 200, location: None, complete: true, framed }), "{answer:?}");
        assert_eq!(String::from_utf8_lossy(&got.body), body, "{answer:?}");
    }
}

#[test]
fn case_19_whatever_status_comes_is_reported() {
    for (answer, described, success) in [
        ("204 No Content\r\n\r\n", "HTTP 204", true),
        ("204 No Content\r\nContent-Length: 9\r\n\r\n", "HTTP 204", true),
        ("304 Not Modified\r\n\r\n", "HTTP 304", false),
        ("304 Not Modified\r\nContent-Length: 9\r\n\r\n", "HTTP 304", false),
        ("302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", "HTTP 302 to /ok", false),
        ("301 Moved\r\nLocation: http://other.example/\r\n\r\nmoved", "HTTP 301 to http://other.example/", false),
        ("302 Found\r\n\r\n", "HTTP 302", false),
        ("400 Bad Request\r\n\r\n", "HTTP 400", false),
        ("503 Busy\r\nLocation: /x\r\nContent-Length: 4\r\n\r\nbusy", "HTTP 503", false),
        ("299 Odd\r\nContent-Length: 0\r\n\r\n", "HTTP 299", true),
    ] {
        let got = get_answer(format!("HTTP/1.1 {answer}"), 100);
        let response = got.result.unwrap_or_else(|failure| panic!("{answer:?}: {failure:?}"));
        assert_eq!((response.describe().as_str(), response.is_success()), (described, success), "{answer:?}");
    }
}

#[test]
fn a_body_past_the_cap_is_cut_and_said_to_be() {
    for (cap, complete, seen) in [(4, true, "m 4\n"), (3, false, "m 4"), (0, false, "")] {
        let got = get_answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nm 4\n", cap);
        assert_eq!(got.result.unwrap().complete, complete);
        assert_eq!(String::from_utf8_lossy(&got.body), seen);
    }
    // A flood without an end: nobody reads it out.
    let (address, peer) = peer(|stream| {
        read_request(stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 4096])?;
        }
    });
    let got = get_within(PLENTY, 100_000, address);
    assert_eq!(got.result, Ok(Response { status: 200, location: None, complete: false, framed: false }));
    assert_eq!(got.body.len(), 100_000);
    peer.join().unwrap();
}

#[test]
fn answers_that_break_off_or_are_none_fail_with_a_reason() {
    let head = "HTTP/1.1 200 OK\r\n";
    let early = "connection closed before the answer was complete";
    for (answer, reason) in [
        (String::new(), early),
        ("HTTP/1.1 200".to_owned(), early),
        (format!("{head}Content-Le"), early),
        (format!("{head}Content-Length: 5\r\n\r\nm 4\n"), early),
        (format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\nm 4\n"), early),
        (format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "not a valid HTTP answer: "),
        ("SSH-2.0-OpenSSH_9.2\r\n".to_owned(), "not a valid HTTP answer: "),
        ("\0\u{1}\u{2}".repeat(1000), "not a valid HTTP answer: "),
        (format!("{head}Content-Length: many\r\n\r\n"), "not a valid HTTP answer: "),
        (format!("{head}X: {}\r\n", "x".repeat(100_000)), "answers with headers of more than 16384 bytes"),
        (format!("{head}{}", "a: b\r\n".repeat(1_000)), "not a valid HTTP answer: "),
    ] {
        let shown = answer.chars().take(60).collect::<String>();
        let failure = get_answer(answer, 100_000).result.expect_err(&shown);
        assert!(failure.reason.starts_with(reason), "{shown:?}: {failure:?}");
        assert!(failure.connected, "{shown:?}");
    }
}

#[test]
fn a_reset_is_never_the_end_of_a_body() {
    let (address, peer) = peer(|stream| {
        // The request is there and stays unread: closing then resets.
        stream.peek(&mut [0])?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nm{a=\"1\"} 4\n")
    });
    let failure = get_within(PLENTY, 100, address).result.unwrap_err();
    assert_eq!(failure, Failure::connected("connection reset".into()));
    peer.join().unwrap();
}

#[test]
fn the_deadline_holds_whatever_the_peer_does() {
    type Script = fn(&mut TcpStream) -> io::Result<()>;
    /// Until the client has gone.
    fn drip(stream: &mut TcpStream, head: &str, drop: &str) -> io::Result<()> {
        read_request(stream);
        stream.write_all(head.as_bytes())?;
        loop {
            thread::sleep(Duration::from_millis(5));
            stream.write_all(drop.as_bytes())?;
        }
    }
    let scripts: [(&str, Script); 7] = [
        ("is silent", |stream| stream.read_to_end(&mut Vec::new()).map(drop)),
        ("is silent after the head", |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")?;
            stream.read_to_end(&mut Vec::new()).map(drop)
        }),
        ("drips its status line", |stream| drip(stream, "HTTP/1.1 200 O", "K")),
        ("drips headers", |stream| drip(stream, "HTTP/1.1 200 OK\r\nX: ", "x")),
        ("drips a body", |stream| drip(stream, "HTTP/1.1 200 OK\r\n\r\n", "m 4\n")),
        ("drips chunks", |stream| drip(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")),
        ("drips a chunk's length", |stream| drip(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0")),
    ];
    thread::scope(|scope| {
        for (name, script) in scripts {
            scope.spawn(move || {
                let (address, peer) = peer(script);
                let timeout = Duration::from_millis(250);
                let got = get_within(timeout, 100_000, address);
                assert_eq!(got.result, Err(Failure::connected("timed out after 0.25s".into())), "a peer that {name}");
                assert!((timeout..timeout + Duration::from_secs(5)).contains(&got.took), "{name}: {:?}", got.took);
                peer.join().unwrap();
            });
        }
    });
}

/// An address at which nothing listens.
fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_closed_port_is_refused_and_not_connected() {
    let failure = get_within(PLENTY, 0, closed()).result.unwrap_err();
    assert_eq!(failure, Failure { reason: "connection refused".into(), connected: false });
}

#[test]
fn case_22_every_address_is_tried_in_its_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let open = listener.local_addr().unwrap();
    let stream = connect(&[closed(), open], Deadline::after(PLENTY)).unwrap();
    assert_eq!(stream.peer_addr().unwrap(), open);

    let (address, peer) = peer(|stream| {
        read_request(stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")
    });
    let response = get(&target(address), &[closed(), address], Deadline::after(PLENTY), &[], 0, |_| {});
    assert_eq!(response.unwrap().status, 200);
    peer.join().unwrap();

    // On hosts without IPv6 there is nothing to see here.
    if let Ok(listener) = TcpListener::bind("[::1]:0") {
        let open = listener.local_addr().unwrap();
        let port = open.port().try_into().unwrap();
        let loopback = Resolver::new().addresses(&Host::Loopback, port, Deadline::after(PLENTY)).unwrap();
        assert_eq!(connect(&loopback, Deadline::after(PLENTY)).unwrap().peer_addr().unwrap(), open);
    }

    let failure = connect(&[], Deadline::after(PLENTY)).unwrap_err();
    assert_eq!(failure, Failure { reason: "no address to connect to".into(), connected: false });
}

/// A listener that answers no more connects: nobody accepts, and its queue is full.
fn deaf() -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let queue = std::iter::from_fn(|| TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok());
    let queue: Vec<_> = queue.take(5000).collect();
    (listener, queue)
}

#[test]
fn an_address_that_swallows_connects_leaves_time_for_the_next() {
    let (deaf, _queue) = deaf();
    let deaf = deaf.local_addr().unwrap();
    let timeout = Duration::from_millis(400);
    let failure = connect(&[deaf], Deadline::after(timeout)).unwrap_err();
    assert_eq!(
        failure,
        Failure { reason: "no connection within 0.4s: its backlog is full, is it frozen?".into(), connected: false }
    );

    let open = TcpListener::bind("127.0.0.1:0").unwrap();
    let open = open.local_addr().unwrap();
    assert_eq!(connect(&[deaf, open], Deadline::after(timeout)).unwrap().peer_addr().unwrap(), open);

    // What it swallowed says more than that the next one refused.
    let failure = connect(&[deaf, closed()], Deadline::after(timeout)).unwrap_err();
    assert!(failure.reason.starts_with("no connection within 0.2s"), "{failure:?}");
}

#[test]
fn a_deadline_that_has_passed_connects_to_nothing() {
    let failure = connect(&[closed()], Deadline::after(Duration::ZERO)).unwrap_err();
    assert_eq!(failure, Failure { reason: "timed out after 0s".into(), connected: false });
}

#[test]
fn base64_of_every_length() {
    let wanted = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    for (length, wanted) in wanted.iter().enumerate() {
        assert_eq!(base64(&b"foobar"[..length]), *wanted);
    }
    assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
}
