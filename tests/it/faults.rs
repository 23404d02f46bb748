//! The table of faults in docs/faults.md: that every test it names is there and runs, and the faults that belong to no one
//! module beside it, most of them several at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::host::{NOBODY, possible};
use crate::scene::*;
use crate::support::shim::{Builder, Shim, shim};
use crate::support::specimen::{specimen, wrap};
use crate::support::{Answer, Game, Mode, Proxy, Reply, ScriptedSdk, proc, secs, wait};

/// The rows of the table: the fault, and the tests that it names.
fn table() -> Vec<(String, Vec<String>)> {
    let page = fs::read_to_string(in_repository("docs/faults.md")).expect("docs/faults.md");
    let (_, rest) = page.split_once("<!-- faults:begin -->\n").expect("the table begins");
    let (table, _) = rest.split_once("<!-- faults:end -->").expect("the table ends");
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [fault, reaction, tests] = cells[..] else { panic!("not three cells: {line}") };
        assert!(!fault.is_empty() && !reaction.is_empty(), "an empty cell: {line}");
        let tests = tests.split(", ").map(|test| test.trim_matches('`').to_owned()).collect();
        (fault.to_owned(), tests)
    };
    table.lines().skip(2).map(row).collect()
}

/// The tests of this very binary, as its harness lists them.
fn listed(args: &[&str]) -> BTreeSet<String> {
    let own = std::env::current_exe().expect("the test binary knows where it is");
    let list = Command::new(own).arg("--list").args(args).output().expect("it lists its tests");
    let text = String::from_utf8(list.stdout).expect("names");
    text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
}

#[test]
fn every_test_that_the_table_names_exists_and_runs() {
    let (all, ignored) = (listed(&[]), listed(&["--ignored"]));
    assert!(all.len() > 200 && !ignored.is_empty(), "{} tests, {} ignored", all.len(), ignored.len());
    let rows = table();
    for (fault, tests) in &rows {
        for test in tests {
            assert!(all.contains(test), "{fault}: there is no test {test}");
            assert!(!ignored.contains(test), "{fault}: {test} is ignored");
        }
    }
    let faults: BTreeSet<&String> = rows.iter().map(|(fault, _)| fault).collect();
    assert_eq!(faults.len(), rows.len(), "a fault has two rows");
    for (kind, at_least) in [("SDK server: ", 8), ("Game: ", 9), ("Metrics: ", 7), ("SIGTERM: ", 10), ("Host: ", 12)] {
        let found = rows.iter().filter(|(fault, _)| fault.starts_with(kind)).count();
        assert!(found >= at_least, "{found} faults of the kind {kind:?}: the table was not read, or has shrunk");
    }
}

/// A wrapper around this program, beside a game (in the test's own process) that is open, and Ready.
fn wrapped_with(
    argv: Vec<std::ffi::OsString>,
    game: &Game,
    port: u16,
    settings: impl FnOnce(Builder) -> Builder,
) -> Shim {
    let builder = wrap(argv).sdk_port(port).set("SDK", "auto").set("READY_TCP", game.port());
    let mut shim = settings(builder.set("HEALTH_INTERVAL_SECS", "0.2")).spawn();
    shim.wait_for_line(READY, SOON);
    shim
}

fn sh(script: &str) -> Vec<std::ffi::OsString> {
    ["sh", "-c", script].map(Into::into).to_vec()
}

#[test]
fn a_stop_while_the_sdk_server_hangs_reaches_the_game_after_one_call() {
    let (game, sdk) = (Game::open(), ScriptedSdk::start());
    let mut proxy = Proxy::in_front_of(sdk.addr());
    let mut shim = wrapped_with(specimen(["signals"]), &game, proxy.port(), |shim| {
        shim.set("SDK_CALL_TIMEOUT_SECS", "0.5").set("SHUTDOWN_TIMEOUT_SECS", "12").set("LIVE_FAILURE_THRESHOLD", 1000)
    });
    proxy.set(Mode::Hang);
    shim.signal(Signal::SIGTERM);
    // A beat that is under way, and the one attempt at Shutdown(): not the 12 s that Shutdown() is tried for.
    shim.wait_for_line("signal 15", beyond(2));
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, STOP);
    shim.wait_for_line(SHUTDOWN_UNDELIVERED, SOON);
}

#[test]
fn a_stop_while_the_sdk_server_is_away_reaches_the_game_at_once() {
    let (game, mut sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim =
        wrapped_with(specimen(["signals"]), &game, sdk.port(), |shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "30"));
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("signal 15", SOON);
    // The game saves; meanwhile the server is back, and Shutdown() lands.
    sdk.open();
    sdk.wait_for_call("Shutdown", beyond(2));
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, SOON);
    assert_eq!(sdk.state(), "Shutdown");
}

/// A readiness probe, every SDK call and the log's reader hang, and then the same with liveness and the scrape.
#[test]
fn a_stop_while_everything_hangs_is_delivered() {
    for ready_first in [false, true] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        sdk.set_counter("players", 0, 100);
        if !ready_first {
            game.reply(Reply::silence());
        }
        let mut shim = counting(http_sidecar(&game), &game)
            .sdk(&sdk)
            .set("LOG", "trace")
            .set("PROBE_TIMEOUT_SECS", "600")
            .set("COUNTER_INTERVAL_SECS", "600")
            .set("SDK_CALL_TIMEOUT_SECS", "1")
            .set("SHUTDOWN_TIMEOUT_SECS", "30")
            .stderr_unread()
            .spawn();
        // The first probe may be there before anybody looks.
        let mut before = 0;
        if ready_first {
            sdk.wait_for_call("Ready", SOON);
            before = game.connections().len();
            game.reply_at("/metrics", Reply::text("m 7\n".repeat(100)).dripping(1));
            game.reply(Reply::silence());
        }
        game.wait_for_connections(before + 1, SOON);
        sdk.wait_for_call("Health", SOON);
        sdk.next("Shutdown", Answer::Hang(secs(60))).next("GetGameServer", Answer::Hang(secs(60)));
        sdk.next("Health", Answer::Hang(secs(60)));
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, STOP);
        assert_eq!(sdk.state(), "Shutdown");
        sdk.assert_count("Ready", usize::from(ready_first));
    }
}

/// SIGTERM waits at a stopped process until it is continued; what does not end by itself is killed where that is set.
#[test]
fn a_stop_of_a_frozen_game_kills_it_at_the_stop_timeout() {
    let (game, sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim = wrapped_with(sh("echo up; kill -STOP $$; echo thawed"), &game, sdk.port(), |shim| {
        shim.set("STOP_TIMEOUT_SECS", "1")
    });
    shim.wait_for_line("up", SOON);
    let frozen = || proc::children(shim.pid()).into_iter().any(|pid| proc::state(pid) == Some('T'));
    wait::until_true("a frozen game", SOON, frozen);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(137, STOP);
    assert_eq!(sdk.state(), "Shutdown");
    shim.assert_no_line("thawed");
}

/// A game that starts helpers by the thousand: each one's end is a SIGCHLD, and each one is an orphan.
#[test]
fn a_storm_of_dying_children_delays_no_beat() {
    let (game, sdk) = (Game::open(), ScriptedSdk::start());
    let script = "echo up; i=0; while [ $i -lt 3000 ]; do (: & :); i=$((i+1)); done; echo stormed; read forever";
    let mut shim = wrap(sh(script));
    shim = shim.sdk(&sdk).set("SDK", "auto").set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", "0.2");
    let mut shim = shim.stdin(std::process::Stdio::piped()).spawn();
    shim.wait_for_line("up", SOON);
    let began = Instant::now();
    shim.wait_for_line("stormed", secs(60));
    let (took, beats) = (began.elapsed(), sdk.count("Health"));
    // Five a second, and never less than one: the machine may be busy with the storm itself.
    assert!(beats as u64 >= took.as_secs(), "{beats} beats in {took:?}; {}", sdk.story());
    wait::until_true("no zombies", SOON, || {
        !proc::children(shim.pid()).into_iter().any(|pid| proc::state(pid) == Some('Z'))
    });
    more_beats(&sdk, 3);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(143, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

/// In a network namespace whose loopback has ::1 and no 127.0.0.1: local SDK server, its HTTP side as the game, shim.
#[test]
fn a_host_with_ipv6_alone() {
    let script = "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec \"$@\"";
    let Some(prefix) = possible(&["unshare", "-rn", "sh", "-c", script, "sh"]) else { return };
    let args = ["local-sdk", "--grpc", "[::1]:0", "--http", "[::1]:0", "--health", "off"];
    let mut sdk = shim().args(args).behind(prefix).spawn();
    let mut port = |part: &str| {
        let line = sdk.wait_for_line(part, SOON).text;
        line.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).expect("a port at the end of the line")
    };
    let (grpc, http) = (port("grpc listening on "), port("http listening on "));
    let pid = sdk.pid().to_string();
    let mut shim = shim()
        .sdk_port(grpc)
        .set("READY_HTTP", format!("http://localhost:{http}/gameserver"))
        .set("READY_TCP", format!("{http},localhost:{http},[::1]:{http}"))
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .behind(["nsenter", "-t", &pid, "-U", "--preserve-credentials", "-n"])
        .spawn();
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
    shim.wait_for_line(SHUTDOWN_LANDED, SOON);
}

/// The thread that reads the metrics is started at Ready; here the kernel refuses it. A bug looks the same from there
/// on: an orderly end, through Shutdown().
#[test]
fn a_thread_that_cannot_be_started_ends_with_70_through_shutdown() {
    let (mut game, sdk) = (Game::closed(), ScriptedSdk::start());
    sdk.set_counter("players", 0, 100);
    let mut builder = counting(sidecar(&game), &game).sdk(&sdk);
    if proc::we_are_root() {
        let Some(prefix) = possible(&NOBODY) else { return };
        builder = builder.behind(prefix);
    }
    let mut shim = builder.spawn();
    shim.wait_for_line(CONNECTED, SOON);
    more_beats(&sdk, 2);
    // As the same user: for that no privilege is needed.
    let mut limit = vec!["prlimit".to_owned(), format!("--pid={}", shim.pid()), "--nproc=1:1".to_owned()];
    if proc::we_are_root() {
        limit.splice(0..0, NOBODY.map(str::to_owned));
    }
    let limited = Command::new(&limit[0]).args(&limit[1..]).output().expect("setpriv and prlimit are util-linux's");
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    game.listen();
    let line = shim.wait_for_line("BUG: a thread of agones-shim has died", SOON).text;
    assert!(line.contains("scrape"), "{line}");
    shim.expect_code(70, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn the_wall_clock_is_read_for_stamps_alone() {
    let clippy = fs::read_to_string(in_repository("clippy.toml")).expect("clippy.toml");
    assert!(clippy.contains("std::time::SystemTime::now"), "clippy does not forbid it any more");
    let mut readers = BTreeSet::new();
    sources(Path::new(&in_repository("src")), &mut |path, text| {
        if text.contains("SystemTime::now") || text.contains("clippy::disallowed_methods") {
            readers.insert(path.strip_prefix(in_repository("src")).expect("inside").to_owned());
        }
    });
    // Of log lines, and of the local SDK server's metadata.
    let wanted = ["local_sdk/mod.rs", "insight/logging.rs"].map(Into::into);
    assert_eq!(readers, BTreeSet::from(wanted));
}

fn sources(dir: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(dir).expect("a directory of sources") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, see);
        } else {
            see(&path, &fs::read_to_string(&path).expect("text"));
        }
    }
}

fn in_repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}
