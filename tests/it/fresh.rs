//! What the status endpoint says of the GameServer is read when somebody asks, and at no other time.

use nix::sys::signal::Signal;

use crate::status::{page, served, status};
use crate::support::local_sdk::LocalSdk;
use crate::support::wait::{let_pass, until_true};
use crate::support::{Answer, Game, ScriptedSdk, secs, shim};

const READY: &str = "the GameServer is ready";

#[test]
fn allocated_and_unhealthy_show_on_the_endpoint() {
    let sdk = LocalSdk::start(&[]);
    let game = Game::open();
    let builder = shim().sdk_port(sdk.port()).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", "0.5");
    let (mut shim, addr, _port) = served(builder);
    shim.wait_for_line(READY, secs(20));
    for (action, state) in [("allocate", "Allocated"), ("unhealthy", "Unhealthy")] {
        sdk.post(&format!("/local/{action}"), "");
        sdk.wait_for_state(state, secs(10));
        let_pass(secs(1));
        // The first question after an interval shows it already.
        let metrics = page(addr, "/metrics").body;
        if state == "Unhealthy" {
            shim.wait_for_line("Agones has given this GameServer up", secs(10));
        }
        assert!(metrics.contains(&format!("agones_shim_gameserver_state{{state=\"{state}\"}} 1\n")), "{metrics}");
        let seen = status(addr);
        assert_eq!(seen["gameserver"]["state"], state);
        assert!(seen["gameserver"]["seconds"].as_f64().is_some_and(|age| age < 1.5), "{}", seen["gameserver"]);
    }
}

#[test]
fn the_gameserver_is_read_once_an_interval_and_never_for_healthz() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let builder = shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 60);
    let (mut shim, addr, _port) = served(builder);
    shim.wait_for_line(READY, secs(20));
    let_pass(secs(2));
    let before = sdk.count("GetGameServer");
    for path in ["/healthz", "/readyz", "/metrics", "/status", "/metrics"] {
        page(addr, path);
    }
    assert_eq!(sdk.count("GetGameServer"), before, "what is known is younger than an interval");

    let sdk = ScriptedSdk::start();
    let builder = shim_at(&sdk, &game).set("HEALTH_INTERVAL_SECS", 3);
    let (mut shim, addr, _port) = served(builder);
    shim.wait_for_line(READY, secs(20));
    let_pass(secs(5));
    let before = sdk.count("GetGameServer");
    let_pass(secs(5));
    assert_eq!(sdk.count("GetGameServer"), before, "nobody has asked");
    page(addr, "/healthz");
    assert_eq!(sdk.count("GetGameServer"), before, "/healthz shows nothing of it");
    let begin = std::time::Instant::now();
    for _ in 0..10 {
        page(addr, "/metrics");
    }
    let reads = sdk.count("GetGameServer") - before;
    let intervals = usize::try_from(begin.elapsed().as_secs() / 3).expect("few");
    assert!((1..=2 + intervals).contains(&reads), "{reads} reads for ten questions");
}

fn shim_at(sdk: &ScriptedSdk, game: &Game) -> crate::support::shim::Builder {
    shim().sdk(sdk).set("READY_TCP", game.port())
}

#[test]
fn an_sdk_server_that_leaves_the_read_open_holds_up_the_answer_by_one_deadline() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let builder = shim_at(&sdk, &game).set("HEALTH_INTERVAL_SECS", "0.5").set("SDK_CALL_TIMEOUT_SECS", "0.5");
    let (mut shim, addr, _port) = served(builder);
    shim.wait_for_line(READY, secs(20));
    sdk.always("GetGameServer", Answer::Hang(secs(30)));
    let_pass(secs(2));
    let seen = status(addr);
    assert_eq!(seen["gameserver"]["state"], "Ready");
    assert!(seen["gameserver"]["seconds"].as_f64().is_some_and(|age| age > 1.0), "it says how old that is: {seen}");
    assert_eq!(seen["sdk"]["up"], true);
    let beats = sdk.count("Health");
    until_true("beats go on", secs(10), || sdk.count("Health") > beats + 2);
}

#[test]
fn without_an_sdk_no_shutdown_is_said_to_be_done() {
    let builder = shim().set("SDK", "off").set("READY_EXEC", "true").args([
        "--",
        "sh",
        "-c",
        "trap '' TERM; echo trapped; sleep 60 & wait; wait",
    ]);
    let (mut shim, addr, _port) = served(builder.var("PATH", "/usr/bin:/bin").set("STOP_TIMEOUT_SECS", 5));
    shim.wait_for_line("ready, with no SDK server", secs(20));
    shim.wait_for_line("trapped", secs(20));
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("the stop signal was sent", secs(10));
    assert_eq!(status(addr)["stop"]["shutdown"], "none");
}

#[test]
fn the_process_is_described_as_prometheus_libraries_do() {
    let game = Game::open();
    let (shim, addr, _port) = served(shim().set("SDK", "off").set("READY_TCP", game.port()));
    let metrics = page(addr, "/metrics").body;
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().expect("a number")
    };
    let resident = value("process_resident_memory_bytes");
    let seen = f64::from(u32::try_from(shim.rss() / 1024).expect("less than 4 TiB")) * 1024.0;
    assert!(resident > seen / 3.0 && resident < seen * 3.0, "{resident} and {seen}");
    let word = |path: &str, key: &str| -> f64 {
        let text = std::fs::read_to_string(path).expect("Linux");
        let word = text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next().map(str::to_owned));
        word.expect("it is there").parse().expect("a number")
    };
    let start = word("/proc/stat", "btime ") + word("/proc/uptime", "") - shim.started().elapsed().as_secs_f64();
    assert!((value("process_start_time_seconds") - start).abs() < 3.0, "{start}: {metrics}");
}
