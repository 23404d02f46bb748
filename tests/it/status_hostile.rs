//! The status endpoint and clients that mean no good: each costs it a fixed number of connections, bytes and seconds,
//! and beats go out on time meanwhile.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::libc;

use super::status::{OPEN, READY, page, served};
use crate::support::shim::Builder;
use crate::support::wait::{let_pass, until_true};
use crate::support::{Game, Port, ScriptedSdk, Shim, millis, proc, secs, shim};

/// As src/insight/status.rs has it.
const CONNECTIONS: usize = 32;
const INTERVAL: Duration = Duration::from_millis(500);

/// A shim in the middle of its life, with all that it lives with.
struct Prey {
    sdk: ScriptedSdk,
    _game: Game,
    shim: Shim,
    addr: SocketAddr,
    _port: Port,
    fds: usize,
    rss: u64,
}

impl Prey {
    fn start() -> Self {
        Self::start_as(|builder| builder)
    }

    fn start_as(change: impl FnOnce(Builder) -> Builder) -> Self {
        let sdk = ScriptedSdk::start();
        let game = Game::open();
        let builder =
            shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", INTERVAL.as_secs_f64());
        let (mut shim, addr, port) = served(change(builder));
        shim.wait_for_line(READY, secs(20));
        sdk.wait_for_new_call("Health", secs(10));
        assert_eq!(page(addr, "/healthz").status, 200);
        let (fds, rss) = (shim.fd_count(), shim.rss());
        Self { sdk, _game: game, shim, addr, _port: port, fds, rss }
    }

    /// Runs the attack again and again for some seconds, and holds the shim to its beats meanwhile.
    fn endures(&mut self, mut attack: impl FnMut(SocketAddr)) {
        let since = Instant::now();
        let mut rounds = 0;
        while since.elapsed() < secs(4) {
            attack(self.addr);
            rounds += 1;
            let fds = self.shim.fd_count();
            // A probe or an SDK call of its own may be under way.
            assert!(fds <= self.fds + CONNECTIONS + 4, "{fds} descriptors, {} before", self.fds);
        }
        assert!(rounds > 0);
        self.beats_came(since);
        self.is_unharmed();
    }

    fn beats_came(&mut self, since: Instant) {
        self.sdk.wait_for_new_call("Health", secs(5));
        let beats: Vec<Instant> =
            self.sdk.calls_of("Health").into_iter().map(|call| call.at).filter(|at| *at >= since).collect();
        let times = std::iter::once(since).chain(beats.iter().copied()).chain([Instant::now()]).collect::<Vec<_>>();
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        if longest > INTERVAL * 3 {
            self.shim.fail(&format!("{longest:?} without a beat at an interval of {INTERVAL:?}"));
        }
        self.shim.assert_no_line("liveness failed");
        self.shim.assert_no_line("the SDK server is lost");
        self.shim.assert_no_line("BUG");
    }

    fn is_unharmed(&mut self) {
        assert!(self.shim.is_running());
        until_true("an answer", secs(10), || {
            crate::support::client::get(self.addr, "/healthz", secs(2)).is_ok_and(|answer| answer.status == 200)
        });
        // All connections are closed 5 s after they were made.
        let (fds, pid) = (self.fds + 4, self.shim.pid());
        until_true("the descriptors to be closed", secs(15), || proc::fd_count(pid) <= fds);
        let grown = self.shim.rss().saturating_sub(self.rss);
        assert!(grown < 4 << 20, "grown by {grown} bytes");
        assert_eq!(self.shim.count_lines("status endpoint"), 1, "it was opened once");
    }
}

/// Closing it will send a reset.
fn reset_at_close(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let size = libc::socklen_t::try_from(size_of_val(&linger)).expect("small");
    // SAFETY: the value is a linger that lives across the call, and its size is passed.
    let code = unsafe {
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), size)
    };
    assert_eq!(code, 0);
}

fn connect(addr: SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect_timeout(&addr, secs(5)).ok()?;
    stream.set_read_timeout(Some(secs(8))).expect("settable");
    stream.set_write_timeout(Some(secs(8))).expect("settable");
    Some(stream)
}

#[test]
fn a_request_followed_by_a_reset() {
    let mut prey = Prey::start();
    prey.endures(|addr| {
        for path in ["/metrics", "/status", "/healthz", "/nothing"] {
            for cut in [4, usize::MAX] {
                let Some(mut stream) = connect(addr) else { continue };
                reset_at_close(&stream);
                let request = format!("GET {path} HTTP/1.1\r\n\r\n");
                let _ = stream.write_all(&request.as_bytes()[..cut.min(request.len())]);
            }
        }
    });
}

#[test]
fn ten_thousand_idle_connections() {
    let mut prey = Prey::start();
    let since = Instant::now();
    let addr = prey.addr;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.clear();
        held.extend((0..500).filter_map(|_| connect(addr)));
        let fds = prey.shim.fd_count();
        assert!(fds <= prey.fds + CONNECTIONS + 4, "{fds} descriptors, {} before", prey.fds);
    }
    assert_eq!(page(addr, "/healthz").status, 200, "somebody honest gets an answer while 500 are there");
    prey.beats_came(since);
    drop(held);
    prey.is_unharmed();
}

#[test]
fn an_idle_connection_is_closed_within_its_five_seconds_and_so_is_a_dripping_one() {
    let mut prey = Prey::start();
    let since = Instant::now();
    let mut idle = connect(prey.addr).expect("it accepts");
    let mut dripping = connect(prey.addr).expect("it accepts");
    let drip = std::thread::spawn(move || {
        let began = Instant::now();
        while began.elapsed() < secs(20) && dripping.write_all(b"G").is_ok() {
            std::thread::sleep(millis(100));
        }
        began.elapsed()
    });
    assert_eq!(idle.read(&mut [0; 1]).expect("closed, not timed out"), 0);
    assert!((millis(4000)..secs(8)).contains(&since.elapsed()), "{:?}", since.elapsed());
    assert!(drip.join().expect("no panic") < secs(15));
    prey.beats_came(since);
    prey.is_unharmed();
}

#[test]
fn a_flood_of_headers() {
    let mut prey = Prey::start();
    prey.endures(|addr| {
        let Some(mut stream) = connect(addr) else { return };
        let line = [b"X-Flood: ".as_slice(), &[b'a'; 1000], b"\r\n"].concat();
        let mut sent = stream.write_all(b"GET /metrics HTTP/1.1\r\n").is_ok();
        let mut bytes = 0;
        while sent && bytes < 64 << 20 {
            sent = stream.write_all(&line).is_ok();
            bytes += line.len();
        }
        assert!(bytes < 64 << 20, "it took all of it");
    });
}

#[test]
fn a_request_that_is_too_long_is_told_so() {
    let prey = Prey::start();
    let mut stream = connect(prey.addr).expect("it accepts");
    stream.write_all(format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(9000)).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer, not a reset");
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[test]
fn readers_that_never_read() {
    let mut prey = Prey::start();
    let mut held = Vec::new();
    prey.endures(|addr| {
        let Some(mut stream) = connect(addr) else { return };
        // As many requests as the socket takes, and no answer is ever read.
        stream.set_nonblocking(true).expect("settable");
        let request = b"GET /metrics HTTP/1.1\r\n\r\n".repeat(100);
        while stream.write(&request).is_ok_and(|sent| sent > 0) {}
        held.push(stream);
        if held.len() > 200 {
            held.clear();
        }
    });
}

#[test]
fn garbage() {
    let mut prey = Prey::start();
    let mut seed = 1_u64;
    prey.endures(|addr| {
        let Some(mut stream) = connect(addr) else { return };
        let mut bytes = vec![0_u8; 3000];
        for byte in &mut bytes {
            // Knuth's multiplier: any bytes will do, the same in each run.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (seed >> 56) as u8;
        }
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read(&mut [0; 16]);
    });
}

#[test]
fn descriptors_that_are_few_are_left_to_the_life_cycle() {
    // 16 are spare, so that this is room for a few clients at the most.
    let mut prey = Prey::start_as(|builder| builder.behind(["prlimit", "--nofile=40:40"]));
    let mut held = Vec::new();
    let since = Instant::now();
    let addr = prey.addr;
    while since.elapsed() < secs(4) {
        held.extend((0..50).filter_map(|_| connect(addr)));
        let fds = prey.shim.fd_count();
        assert!(fds <= 30, "{fds} descriptors of 40");
        let_pass(millis(50));
    }
    prey.beats_came(since);
    drop(held);
    prey.is_unharmed();
}

#[test]
fn a_process_without_any_descriptor_left_opens_its_door_again_when_there_are_some() {
    let mut prey = Prey::start();
    let pid = prey.shim.pid();
    let limit = |number: &str| {
        let done = Command::new("prlimit").args([format!("--pid={pid}"), format!("--nofile={number}:1024")]).status();
        assert!(done.expect("prlimit, from util-linux").success());
    };
    limit("3:1024".trim_end_matches(":1024"));
    let held: Vec<_> = (0..100).filter_map(|_| connect(prey.addr)).collect();
    let_pass(secs(1));
    assert!(prey.shim.is_running());
    limit("1024");
    drop(held);
    until_true("an answer", secs(10), || {
        crate::support::client::get(prey.addr, "/healthz", secs(2)).is_ok_and(|answer| answer.status == 200)
    });
    prey.sdk.wait_for_new_call("Health", secs(10));
    prey.shim.assert_no_line("BUG");
    assert_eq!(prey.shim.count_lines(OPEN), 1);
}
