//! The SDK server is absent, late, silent, broken, lost and back again; the game must not suffer from any of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use crate::scene::*;
use crate::support::listener::Listener;
use crate::support::{Answer, Game, Mode, Port, Proxy, Reply, ScriptedSdk, Shim, millis, secs, shim, wait};

#[test]
fn without_an_sdk_server_it_says_so_once_and_runs_probe_only() {
    let game = Game::open();
    let mut shim = sidecar(&game).without_sdk().set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(SERVED, SOON);
    shim.wait_for_line(NO_SDK, beyond(1));
    shim.wait_for_line(READY_PROBE_ONLY, SOON);
    shim.assert_stays(secs(3));
    assert_eq!(shim.count_lines(NO_SDK), 1);
    stops_cleanly(&mut shim);
    shim.wait_for_line(NEVER_REACHED, SOON);
}

#[test]
fn sdk_off_never_connects() {
    let game = Game::open();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let mut shim = sidecar(&game).set("SDK", "off").sdk_port(port).spawn();
    shim.wait_for_line(PROBE_ONLY, SOON);
    shim.wait_for_line(READY_PROBE_ONLY, SOON);
    shim.assert_stays(secs(2));
    shim.assert_no_line(NO_SDK);
    stops_cleanly(&mut shim);
    listener.set_nonblocking(true).expect("a socket of our own");
    assert!(listener.accept().is_err(), "it has connected");
}

#[test]
fn sdk_required_ends_with_75_when_there_is_none_in_time() {
    let game = Game::open();
    let mut shim = sidecar(&game).without_sdk().set("SDK", "required").set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.expect_code(75, beyond(2));
    shim.wait_for_line("AGONES_SHIM_SDK=required", SOON);
}

#[test]
fn sdk_required_is_content_with_an_sdk_server() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).set("SDK", "required").set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(READY, SOON);
    shim.assert_stays(secs(2));
    stops_cleanly(&mut shim);
}

/// Case 10, scaled: connect timeout 1 s, the SDK server at 4 s.
#[test]
fn a_late_sdk_server_still_gets_its_ready() {
    let game = Game::open();
    let mut sdk = ScriptedSdk::reserved();
    let mut shim = sidecar(&game).sdk(&sdk).set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(NO_SDK, beyond(1));
    wait::let_pass(secs(3));
    sdk.open();
    // Found again within 2 s of appearing.
    sdk.wait_for_call("Ready", beyond(2));
    shim.wait_for_line(CONNECTED, SOON);
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 3);
    assert_eq!(shim.count_lines(NO_SDK), 1);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

/// Case 10, its second half: the game has died when the SDK server comes.
#[test]
fn a_late_sdk_server_gets_no_ready_for_a_dead_game() {
    let mut game = Game::open();
    let mut sdk = ScriptedSdk::reserved();
    let mut shim =
        sidecar(&game).sdk(&sdk).set("SDK_CONNECT_TIMEOUT_SECS", "1").set("LIVE_FAILURE_THRESHOLD", "1000").spawn();
    shim.wait_for_line(READY_PROBE_ONLY, SOON);
    game.die();
    shim.wait_for_line(LIVENESS_FAILED, SOON);
    sdk.open();
    shim.wait_for_line(CONNECTED, beyond(2));
    wait::let_pass(secs(3));
    sdk.assert_none("Ready");
    sdk.assert_none("Health");
    shim.assert_stays(millis(1));
}

#[test]
fn a_port_that_is_open_but_silent_is_no_sdk_server_until_it_speaks() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    proxy.set(Mode::Hang);
    let mut shim = sidecar(&game).sdk_port(proxy.port()).set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(NO_SDK, beyond(2));
    shim.wait_for_line(READY_PROBE_ONLY, SOON);
    let fds = shim.fd_count();
    wait::let_pass(secs(5));
    assert!(shim.fd_count() <= fds + 4, "{fds} descriptors, then {}", shim.fd_count());
    proxy.set(Mode::Pass);
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

/// An SSH server's greeting, and bytes that are nothing at all; what was said is all that ever comes.
#[test]
fn what_speaks_something_else_is_no_sdk_server() {
    for greeting in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], &[0xf3; 300]] {
        let port = Port::reserve();
        let said = greeting.to_vec();
        let mut other = Listener::closed(
            port,
            Arc::new(move |mut stream| {
                let _ = stream.write_all(&said);
                let _ = stream.read_to_end(&mut Vec::new());
            }),
        );
        other.open();
        let port = other.addr().port();
        let game = Game::open();
        let builder = sidecar(&game).sdk_port(port).set("SDK_CONNECT_TIMEOUT_SECS", "2");
        let required = builder.set("SDK", "required").set("LOG", "debug").run(secs(20));
        assert_eq!(required.code, 75, "{}", required.stderr);
        assert!(required.stderr.contains("is it the SDK server's gRPC port?"), "{}", required.stderr);
        for wrong in ["is lost", "is back", "Ready()"] {
            assert!(!required.stderr.contains(wrong), "{}", required.stderr);
        }
        let lines = required.stderr.lines().count();
        assert!(lines < 60, "four attempts a second and no storm: {lines} lines");
    }
}

#[test]
fn an_sdk_server_that_hangs_in_mid_call_is_left_and_found_again() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    let mut shim = sidecar(&game).sdk_port(proxy.port()).set("SDK_CALL_TIMEOUT_SECS", "0.5").spawn();
    shim.wait_for_line(READY, SOON);
    proxy.set(Mode::Hang);
    shim.wait_for_line(SDK_LOST, SOON);
    shim.assert_stays(secs(2));
    proxy.set(Mode::Pass);
    shim.wait_for_line(SDK_BACK, SOON);
    more_beats(&sdk, 3);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_slow_sdk_server_is_still_an_sdk_server() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    proxy.set(Mode::Delay(millis(50)));
    let mut shim = sidecar(&game).sdk_port(proxy.port()).spawn();
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn an_sdk_server_that_answers_errors_to_everything_is_survived() {
    for answer in [Answer::unknown("no"), Answer::unavailable(), Answer::unimplemented()] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        sdk.always_all(&answer);
        let mut shim =
            sidecar(&game).sdk(&sdk).set("SDK_CONNECT_TIMEOUT_SECS", "1").set("SHUTDOWN_TIMEOUT_SECS", "1").spawn();
        shim.wait_for_line(SERVED, SOON);
        shim.assert_stays(secs(3));
        sdk.assert_none("Ready");
        stops_cleanly(&mut shim);
    }
}

/// The first look succeeds, and everything after it is refused.
#[test]
fn an_sdk_server_that_begins_to_refuse_everything_is_survived() {
    let (_game, sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "1"));
    sdk.always_all(&Answer::unknown("no"));
    shim.assert_stays(secs(2));
    sdk.always_all(&Answer::Ok);
    more_beats(&sdk, 2);
    sdk.always_all(&Answer::unknown("no"));
    shim.signal(nix::sys::signal::Signal::SIGTERM);
    shim.expect_code(0, beyond(2));
    shim.wait_for_line(SHUTDOWN_UNDELIVERED, SOON);
}

/// Case 9, scaled.
#[test]
fn an_sdk_server_that_is_restarted_gets_beats_and_the_counter_and_no_second_ready() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let mut sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
    sdk.wait_for_call("UpdateCounter", SOON);
    shim.wait_for_line(READY, SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    shim.assert_stays(secs(3));
    assert_eq!(shim.count_lines(SDK_LOST), 1, "one line, not one a second");
    sdk.set_counter("players", 0, 100);
    let updates = sdk.count("UpdateCounter");
    let beats = sdk.count("Health");
    let reopened = std::time::Instant::now();
    sdk.open();
    let beat = sdk.wait_for_count("Health", beats + 1, SOON);
    // Found within 2 s, and a beat within one interval of that.
    assert!(beat.at - reopened < beyond(3), "{:?}", beat.at - reopened);
    let update = sdk.wait_for_count("UpdateCounter", updates + 1, SOON);
    assert_eq!(update.detail, "players=7");
    wait::let_pass(secs(1));
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

/// A restarted SDK server whose GameServer had not become Ready: the state before Ready is the cause.
#[test]
fn an_sdk_server_that_comes_back_with_a_state_before_ready_is_told_again() {
    let (_game, mut sdk, mut shim) = ready();
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.set_state("Scheduled");
    sdk.open();
    sdk.wait_for_count("Ready", 2, SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn connections_cut_again_and_again_leave_nothing_behind() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    let mut shim = sidecar(&game).sdk_port(proxy.port()).spawn();
    shim.wait_for_line(READY, SOON);
    let mut counts = Vec::new();
    for _ in 0..8 {
        let beats = sdk.count("Health");
        let mark = shim.mark();
        proxy.set(Mode::Cut);
        shim.wait_for_line_after(mark, SDK_LOST, SOON);
        proxy.set(Mode::Pass);
        sdk.wait_for_count("Health", beats + 3, SOON);
        counts.push((shim.fd_count(), shim.threads()));
    }
    let (first, last) = (counts[1], counts[counts.len() - 1]);
    assert!(last.0 <= first.0 + 3, "descriptors: {counts:?}");
    assert!(last.1 <= first.1 + 2, "threads: {counts:?}");
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

/// Case 38.
#[test]
fn a_gameserver_with_nothing_in_it_is_survived() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.edit(|game_server| *game_server = agones_shim::testing::sdk::proto::sdk::GameServer::default());
    let mut shim = sidecar(&game).sdk(&sdk).set("SHUTDOWN_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(CONNECTED, SOON);
    shim.wait_for_line(SERVED, SOON);
    more_beats(&sdk, 5);
    sdk.assert_none("Ready");
    stops_cleanly(&mut shim);
}

/// The reply is hostile in size and content.
#[test]
fn a_gameserver_full_of_nonsense_is_survived() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", i64::MIN, i64::MIN).edit(|game_server| {
        let meta = game_server.object_meta.as_mut().expect("set at the start");
        meta.name = "n".repeat(300_000);
        meta.labels.insert("evil\n\"\u{1b}[31m".to_owned(), "\u{0}".to_owned());
        let status = game_server.status.as_mut().expect("set at the start");
        status.state = "x\n\u{1b}[31m".repeat(10_000);
        let health = game_server.spec.as_mut().and_then(|spec| spec.health.as_mut()).expect("set at the start");
        (health.period_seconds, health.failure_threshold) = (i32::MAX, i32::MIN);
    });
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let mut shim = counting(sidecar(&game), &game).sdk(&sdk).set("SHUTDOWN_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(CONNECTED, SOON);
    more_beats(&sdk, 3);
    let longest = shim.output().lines().iter().map(|line| line.text.len()).max().unwrap_or_default();
    assert!(longest < 8000, "a line of {longest} bytes");
    shim.assert_no_line("\u{1b}");
    stops_cleanly(&mut shim);
}

fn hostname() -> String {
    nix::unistd::gethostname().expect("a hostname").to_string_lossy().into_owned()
}

/// Case 41.
#[test]
fn another_pods_sdk_server_is_a_loud_warning() {
    let game = Game::open();
    let start = |sdk: &ScriptedSdk, in_kubernetes: bool| -> Shim {
        let builder = sidecar(&game).sdk(sdk).var("HOSTNAME", hostname());
        let builder = if in_kubernetes { builder.var("KUBERNETES_SERVICE_HOST", "10.0.0.1") } else { builder };
        builder.spawn()
    };
    let sdk = ScriptedSdk::start();
    let mut shim = start(&sdk, true);
    let line = shim.wait_for_line(FOREIGN, SOON).text;
    assert!(line.contains("hostNetwork") && line.contains("scripted"), "{line}");
    stops_cleanly(&mut shim);

    let sdk = ScriptedSdk::start();
    let mut shim = start(&sdk, false);
    shim.wait_for_line(READY, SOON);
    shim.assert_no_line(FOREIGN);
    stops_cleanly(&mut shim);

    let sdk = ScriptedSdk::start();
    sdk.edit(|game_server| game_server.object_meta.as_mut().expect("set at the start").name = hostname());
    let mut shim = start(&sdk, true);
    shim.wait_for_line(READY, SOON);
    shim.assert_no_line(FOREIGN);
    stops_cleanly(&mut shim);
}

/// With hostNetwork the hostname is the node's: the warning came beside the right SDK server too.
#[test]
fn the_pod_s_name_by_the_downward_api_goes_before_its_hostname() {
    let game = Game::open();
    for (pod, is_foreign) in [("scripted", false), (hostname().as_str(), true)] {
        let sdk = ScriptedSdk::start();
        if is_foreign {
            sdk.edit(|game_server| game_server.object_meta.as_mut().expect("set at the start").name = "other".into());
        }
        let builder = sidecar(&game).sdk(&sdk).var("KUBERNETES_SERVICE_HOST", "10.0.0.1").var("POD_NAME", pod);
        let mut shim = builder.spawn();
        shim.wait_for_line(READY, SOON);
        if is_foreign {
            let line = shim.wait_for_line(FOREIGN, SOON).text;
            assert!(line.contains("spec.sdkServer.grpcPort") && line.contains("POD_NAME"), "{line}");
        } else {
            shim.assert_no_line(FOREIGN);
        }
        stops_cleanly(&mut shim);
    }
}

#[test]
fn the_host_of_the_sdk_server_is_honoured() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).var("AGONES_SDK_GRPC_HOST", "127.0.0.1").spawn();
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
    // There is nothing at this address of the documentation's network.
    let mut shim =
        sidecar(&game).sdk(&sdk).var("AGONES_SDK_GRPC_HOST", "192.0.2.1").set("SDK_CONNECT_TIMEOUT_SECS", "1").spawn();
    shim.wait_for_line(NO_SDK, beyond(2));
    stops_cleanly(&mut shim);
}

/// On an IPv6-only cluster the SDK server binds ::1, and so may the game.
#[test]
fn an_ipv6_only_loopback_is_enough() {
    let mut game = Game::closed_on(Port::reserve_v6());
    let mut sdk = ScriptedSdk::on(Port::reserve_v6());
    sdk.open();
    game.listen();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    sdk.set_counter("players", 0, 100);
    let mut shim = counting(shim(), &game)
        .set("READY_TCP", format!("{},localhost:{},[::1]:{}", game.port(), game.port(), game.port()))
        .set("READY_HTTP", format!("http://localhost:{}/,{}", game.port(), game.url("/")))
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    sdk.wait_for_call("UpdateCounter", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}
