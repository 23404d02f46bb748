//! Clients that an HTTP server meets: too large, too slow, gone.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use nix::libc::linger;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::Linger;

use super::client::{PATIENCE, SdkClient};
use crate::support::client::request;
use crate::support::local_sdk::LocalSdk;
use crate::support::wait::{secs, until_true};

/// Sends a head and some of a body, and reads what comes.
fn answer_to(server: &LocalSdk, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.http()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(format!("POST /ready HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n").as_bytes()).expect("it reads");
    // The server may have answered and closed before it has read everything.
    let _ = stream.write_all(body);
    let mut answer = String::new();
    while !answer.ends_with('}') {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).expect("an answer in time");
        assert_ne!(length, 0, "an answer, not just {answer:?}");
        answer.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    answer
}

#[test]
fn a_body_that_is_too_large_is_refused_unread() {
    let mut server = LocalSdk::start(&[]);
    let before = server.process().rss();
    for length in [2_u64 << 20, 1 << 30, 1 << 50, u64::MAX / 2] {
        let answer = answer_to(&server, &format!("Content-Length: {length}"), b"{}");
        assert!(answer.contains("HTTP/1.1 413 "), "{length}: {answer}");
        assert!(
            answer.ends_with(r#"{"code":3,"message":"the body is larger than 1048576 bytes","details":[]}"#),
            "{answer}"
        );
    }
    let chunk = [&b"10000\r\n"[..], &vec![b' '; 0x10000], b"\r\n"].concat();
    let answer = answer_to(&server, "Transfer-Encoding: chunked", &chunk.repeat(20));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert_eq!(server.state(), "Scheduled");
    let after = server.process().rss();
    assert!(after < before + (32 << 20), "{before} -> {after}");
}

#[test]
fn clients_that_dawdle_or_reset_hold_up_nobody() {
    let mut server = LocalSdk::start(&[]);
    let dawdling: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(server.http()).expect("it listens");
            stream.write_all(b"POST /ready HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n{").expect("it reads");
            stream
        })
        .collect();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(server.http()).expect("it listens");
        stream.write_all(b"GET /gameserver HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
        // A close that resets.
        setsockopt(&stream, Linger, &linger { l_onoff: 1, l_linger: 0 }).expect("an option");
    }
    assert_eq!(SdkClient::of(&server).status().state, "Scheduled");
    // tiny_http counts a worker as idle until it has woken up, so that one connection of a burst may be queued behind a
    // busy one (measured: 5 s). The next connection is served.
    until_true("an HTTP answer", PATIENCE, || request(server.http(), "GET", "/gameserver", "", secs(2)).is_ok());
    server.process().assert_no_line("panicked");
    drop(dawdling);
}

#[test]
fn garbage_is_answered_or_dropped_and_the_next_one_is_served() {
    let server = LocalSdk::start(&[]);
    for garbage in [&b"\r\n\r\n"[..], b"GET\r\n\r\n", b"\xff\xfe\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.http()).expect("it listens");
        stream.write_all(garbage).expect("it reads");
        stream.shutdown(std::net::Shutdown::Write).expect("half closed");
        let mut answer = Vec::new();
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(server.state(), "Scheduled");
}
