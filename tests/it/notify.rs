//! systemd's side of `Type=notify`, played by a datagram socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::support::wait::{let_pass, poll};
use crate::support::{Game, ScriptedSdk, millis, secs, shim};

/// A service manager, and all that it was told.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn of(socket: UnixDatagram) -> Self {
        socket.set_nonblocking(true).expect("settable");
        Self { socket, heard: Vec::new() }
    }

    fn hear(&mut self) {
        let mut buffer = [0; 1024];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.heard.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
        }
    }

    fn count(&mut self, part: &str) -> usize {
        self.hear();
        self.heard.iter().filter(|told| told.lines().any(|line| line == part)).count()
    }

    #[track_caller]
    fn wait_for(&mut self, part: &str, count: usize) {
        let told = poll(secs(20), || (self.count(part) >= count).then_some(())).is_some();
        assert!(told, "{part} was not told {count} times: {:#?}", self.heard);
    }
}

fn temporary(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("agones-shim-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_life_is_told_over_a_socket_with_a_path() {
    let path = temporary("notify");
    let mut manager = Manager::of(UnixDatagram::bind(&path).expect("bound"));
    let sdk = ScriptedSdk::start();
    let mut game = Game::closed();
    let mut shim = shim()
        .sdk(&sdk)
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("LIVE_FAILURE_THRESHOLD", 1000)
        .var("NOTIFY_SOCKET", &path)
        .var("WATCHDOG_USEC", "600000000")
        .spawn();
    manager.wait_for("STATUS=waiting for the game server", 1);
    // The loop turns with each beat.
    manager.wait_for("WATCHDOG=1", 5);
    assert_eq!(manager.count("READY=1"), 0);

    game.listen();
    manager.wait_for("READY=1", 1);
    assert!(manager.heard.iter().any(|told| told.starts_with("READY=1\nSTATUS=ready")), "{:#?}", manager.heard);
    let before = manager.count("WATCHDOG=1");
    manager.wait_for("WATCHDOG=1", before + 3);

    game.die();
    shim.wait_for_line("liveness failed", secs(10));
    let dead = manager.count("WATCHDOG=1");
    let_pass(secs(1));
    assert_eq!(manager.count("WATCHDOG=1"), dead, "no passed round, no watchdog");
    game.listen();
    manager.wait_for("WATCHDOG=1", dead + 2);

    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(20));
    assert_eq!((manager.count("STOPPING=1"), manager.count("READY=1")), (1, 1), "{:#?}", manager.heard);
    assert_eq!(shim.count_lines("WatchdogSec"), 0);
    let _ = std::fs::remove_file(path);
}

#[test]
fn an_abstract_socket_without_a_watchdog() {
    let name = format!("agones-shim-abstract-{}", std::process::id());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("bound");
    let mut manager = Manager::of(socket);
    let game = Game::open();
    let mut shim =
        shim().set("SDK", "off").set("READY_TCP", game.port()).var("NOTIFY_SOCKET", format!("@{name}")).spawn();
    manager.wait_for("READY=1", 1);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(20));
    assert_eq!((manager.count("STOPPING=1"), manager.count("WATCHDOG=1")), (1, 0), "{:#?}", manager.heard);
}

#[test]
fn a_watchdog_that_is_too_short_is_warned_about() {
    let path = temporary("watchdog");
    let _manager = UnixDatagram::bind(&path).expect("bound");
    let game = Game::open();
    // Interval 1 s and threshold 4: 5 s.
    let start = |micros: &str| {
        shim()
            .set("SDK", "off")
            .set("READY_TCP", game.port())
            .set("HEALTH_INTERVAL_SECS", 1)
            .set("LIVE_FAILURE_THRESHOLD", 4)
            .var("NOTIFY_SOCKET", &path)
            .var("WATCHDOG_USEC", micros)
            .spawn()
    };
    let line = start("5000000").wait_for_line("raise WatchdogSec=", secs(10)).text;
    assert!(line.contains(" WARN ") && line.contains("watchdog=5s above=5s"), "{line}");
    let mut enough = start("5000001");
    enough.wait_for_line("ready, with no SDK server", secs(10));
    enough.assert_stays(millis(2500));
    enough.assert_no_line("WatchdogSec");
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_socket_that_is_not_there_or_does_not_read_changes_nothing() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let deaf = temporary("deaf");
    let _deaf = UnixDatagram::bind(&deaf).expect("bound");
    let too_long = format!("/{}", "x".repeat(300));
    for socket in [deaf.to_str().expect("text"), "/nonexistent/socket", too_long.as_str()] {
        let mut shim = shim()
            .sdk(&sdk)
            .set("READY_TCP", game.port())
            .set("HEALTH_INTERVAL_SECS", "0.05")
            .var("NOTIFY_SOCKET", socket)
            .var("WATCHDOG_USEC", "600000000")
            .spawn();
        let since = Instant::now();
        sdk.wait_for_count("Health", sdk.count("Health") + 40, secs(20));
        assert!(since.elapsed() < secs(15));
        assert_eq!(shim.count_lines("NOTIFY_SOCKET cannot be used"), usize::from(socket == too_long), "{socket}");
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, secs(20));
        sdk.set_state("Scheduled");
    }
    let _ = std::fs::remove_file(deaf);
}
