//! The sockets, against servers in this process. What a probe makes of it is tested with the real binary.

use super::*;
use crate::query;
use crate::query::{Target, Wanted};
use crate::settings::Host;

fn server(ip: &str) -> UdpSocket {
    let server = UdpSocket::bind((ip, 0)).unwrap();
    server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    server
}

fn ask_udp(addresses: &[SocketAddr], millis: u64) -> Result<Reading, Failure> {
    ask_for("udp", addresses, false, millis)
}

fn ask_for(protocol: &str, addresses: &[SocketAddr], names: bool, millis: u64) -> Result<Reading, Failure> {
    let (protocol, port) = (Protocol::of(protocol).unwrap(), 7.try_into().unwrap());
    let target = Target { protocol, host: Host::Loopback, port, payload: b"?".to_vec(), proxy: false };
    query::ask(&target, addresses, Wanted { names, bots: true }, Deadline::after(Duration::from_millis(millis)))
}

fn failure(reason: &str, connected: bool) -> Result<Reading, Failure> {
    Err(Failure { reason: reason.into(), connected })
}

/// Nobody has it, and nobody is given it: its socket takes datagrams of one other address alone.
fn refusing() -> UdpSocket {
    let socket = server("127.0.0.1");
    socket.connect("127.0.0.1:9").unwrap();
    socket
}

#[test]
fn no_address_is_a_reason() {
    assert_eq!(ask_udp(&[], 100), failure("no address to ask", false));
}

#[test]
fn a_socket_that_is_connected_to_itself_is_refused() {
    let socket = server("127.0.0.1");
    let own = socket.local_addr().unwrap();
    assert_eq!(connect(&socket, own).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_refusal_is_told_at_once_and_does_not_hide_the_next_address() {
    let closed = refusing();
    let address = closed.local_addr().unwrap();
    let began = Instant::now();
    assert_eq!(ask_udp(&[address, address], 10_000), failure("connection refused", false));
    assert!(began.elapsed() < Duration::from_secs(5));

    let open = server("127.0.0.1");
    let both = [address, open.local_addr().unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = open.recv_from(&mut [0; 8]).unwrap();
            open.send_to(b"!", from).unwrap();
        });
        assert_eq!(ask_udp(&both, 10_000), Ok(Reading::default()));
    });
}

#[test]
fn a_silent_address_does_not_hide_the_next() {
    let (silent, open) = (server("127.0.0.1"), server("127.0.0.1"));
    let both = [silent.local_addr().unwrap(), open.local_addr().unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = open.recv_from(&mut [0; 8]).unwrap();
            // An answer without a byte is an answer.
            open.send_to(b"", from).unwrap();
        });
        assert_eq!(ask_udp(&both, 10_000), Ok(Reading::default()));
    });
    assert!(silent.recv_from(&mut [0; 8]).is_ok(), "the first is asked first");
}

#[test]
fn one_that_answers_at_once_is_asked_alone() {
    let (open, spared) = (server("127.0.0.1"), server("127.0.0.1"));
    let both = [open.local_addr().unwrap(), spared.local_addr().unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = open.recv_from(&mut [0; 8]).unwrap();
            open.send_to(b"!", from).unwrap();
        });
        assert_eq!(ask_udp(&both, 60_000), Ok(Reading::default()));
    });
    spared.set_nonblocking(true).unwrap();
    assert_eq!(spared.recv_from(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn silence_is_told_before_a_refusal_and_a_wrong_answer_before_both() {
    let (closed, silent, odd) = (refusing(), server("127.0.0.1"), server("127.0.0.1"));
    let all = [&closed, &silent, &odd].map(|socket| socket.local_addr().unwrap());
    assert_eq!(ask_udp(&all[..2], 100), failure("timed out after 0.1s", false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = odd.recv_from(&mut [0; 64]).unwrap();
            odd.send_to(b"no", from).unwrap();
        });
        let wanted = failure("no a2s answer: it begins with 6e 6f", true);
        assert_eq!(ask_for("a2s", &all, false, 2000), wanted);
    });
}

#[test]
fn names_that_are_not_told_cost_time_and_not_the_counts() {
    let open = server("127.0.0.1");
    let address = [open.local_addr().unwrap()];
    let info = b"\xff\xff\xff\xff\x49\x11s\0m\0f\0g\0\0\0\x05\x20\0dl\0\x011\0";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut question = [0; 64];
            let (_, from) = open.recv_from(&mut question).unwrap();
            open.send_to(info, from).unwrap();
        });
        let wanted = Reading { players: Some(5), capacity: Some(32), names: None };
        assert_eq!(ask_for("a2s", &address, true, 300), Ok(wanted));
    });
}

#[test]
fn a_flood_of_wrong_answers_ends() {
    let open = server("127.0.0.1");
    let address = [open.local_addr().unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = open.recv_from(&mut [0; 64]).unwrap();
            for _ in 0..10 * MOST_DATAGRAMS {
                // Refused, once the asker has had enough.
                if open.send_to(&[0; 24], from).is_err() {
                    break;
                }
            }
        });
        let wanted = failure("no mumble answer: it comes in more than 128 datagrams", true);
        assert_eq!(ask_for("mumble", &address, false, 20_000), wanted);
    });
}

#[test]
fn an_answer_that_is_too_large_is_refused() {
    let open = server("127.0.0.1");
    let address = [open.local_addr().unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (_, from) = open.recv_from(&mut [0; 64]).unwrap();
            open.send_to(&vec![0; LARGEST + 1], from).unwrap();
        });
        let wanted = failure("no quake answer: it is larger than 16384 bytes", true);
        assert_eq!(ask_for("quake", &address, false, 20_000), wanted);
    });
}

#[test]
fn minecraft_s_failures_are_told_apart() {
    use std::io::{Read, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = [listener.local_addr().unwrap()];
    // What the server sends, and whether it then stays.
    for (sent, stays, wanted) in [
        (&b""[..], true, "timed out after 0.3s"),
        (b"\x40\0\x3e{", true, "timed out after 0.3s"),
        (b"\x40\0\x3e{", false, "connection closed before the answer was complete"),
        (b"\x03\0\x01{", true, "no minecraft answer: it is no JSON: EOF while parsing an object at line 1 column 1"),
        (b"\x04\x01\x02{}", true, "no minecraft answer: it begins with 04 01 02 7b 7d and is no status"),
    ] {
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 64]).unwrap();
                stream.write_all(sent).unwrap();
                stays.then_some(stream)
            });
            let millis = if stays && !wanted.starts_with("no") { 300 } else { 20_000 };
            assert_eq!(ask_for("minecraft", &address, true, millis), failure(wanted, true));
            drop(server.join().unwrap());
        });
    }
}
