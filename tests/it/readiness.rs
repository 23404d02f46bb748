//! When is Ready() called, and when must it not be? The real binary against a game and an SDK server that
//! misbehave on purpose.

use crate::scene::*;
use crate::support::game_process::GameProcess;
use crate::support::{Answer, Game, Reply, ScriptedSdk, millis, secs, shim, wait};

/// Each Ready() stands directly behind a look at the state.
#[track_caller]
fn every_ready_follows_a_look(sdk: &ScriptedSdk) {
    let calls: Vec<_> = sdk.calls().into_iter().filter(|call| call.method != "Health").collect();
    for pair in calls.windows(2) {
        assert!(pair[1].method != "Ready" || pair[0].method == "GetGameServer", "{}", sdk.story());
    }
}

#[test]
fn a_game_that_opens_its_port_becomes_ready() {
    let mut game = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(WAITING, SOON);
    more_beats(&sdk, 3);
    sdk.assert_none("Ready");
    game.listen();
    sdk.wait_for_call("Ready", SOON);
    shim.wait_for_line(SERVED, SOON);
    shim.wait_for_line(READY, SOON);
    assert_eq!(sdk.state(), "Ready");
    sdk.assert_count("Ready", 1);
    every_ready_follows_a_look(&sdk);
    stops_cleanly(&mut shim);
}

/// Case 1.
#[test]
fn a_port_that_never_opens_ends_with_69_at_the_readiness_deadline_and_without_shutdown() {
    let game = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).set("READY_TIMEOUT_SECS", "2").spawn();
    let line = {
        shim.expect_code(69, beyond(2));
        shim.wait_for_line(READY_TIMED_OUT, SOON).text
    };
    for part in [game.port().to_string().as_str(), "connection refused", "2s"] {
        assert!(line.contains(part), "{part:?} is missing in {line:?}");
    }
    assert_eq!(shim.count_lines(READY_TIMED_OUT), 1);
    assert!(shim.exited_at().expect("it has ended") - shim.started() >= secs(2));
    sdk.assert_none("Ready");
    sdk.assert_none("Shutdown");
}

#[test]
fn without_a_readiness_deadline_it_waits_on() {
    let game = Game::closed();
    let mut shim = sidecar(&game).without_sdk().spawn();
    shim.assert_stays(secs(4));
    shim.assert_no_line(SERVED);
    stops_cleanly(&mut shim);
}

/// Case 18.
#[test]
fn ready_waits_for_every_probe_of_a_round() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    game.reply(Reply::status(503));
    let mut shim = sidecar(&game).set("READY_HTTP", game.url("/health")).sdk(&sdk).spawn();
    let waiting = shim.wait_for_line(WAITING, SOON).text;
    assert!(waiting.contains("HTTP 503"), "{waiting}");
    wait::let_pass(secs(2));
    sdk.assert_none("Ready");
    game.reply(Reply::status(200));
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn probes_that_pass_in_turn_are_no_round() {
    let (mut first, mut second) = (Game::open(), Game::closed());
    let sdk = ScriptedSdk::start();
    let ports = format!("{},{}", first.port(), second.port());
    let mut shim = shim().set("READY_TCP", ports).sdk(&sdk).spawn();
    first.wait_for_connections(1, SOON);
    first.die();
    second.listen();
    second.wait_for_connections(1, SOON);
    wait::let_pass(secs(3));
    sdk.assert_none("Ready");
    first.listen();
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn a_game_that_opens_and_dies_before_the_sdk_is_there_is_not_ready() {
    let mut game = Game::open();
    let mut sdk = ScriptedSdk::reserved();
    let mut shim = sidecar(&game).sdk(&sdk).set("LIVE_FAILURE_THRESHOLD", "1000").spawn();
    shim.wait_for_line(SERVED, SOON);
    game.die();
    sdk.open();
    shim.wait_for_line(CONNECTED, SOON);
    wait::let_pass(secs(3));
    sdk.assert_none("Ready");
    sdk.assert_none("Health");
    game.listen();
    sdk.wait_for_call("Ready", SOON);
    more_beats(&sdk, 2);
    stops_cleanly(&mut shim);
}

/// Case 17.
#[test]
fn a_listener_that_never_speaks_passes_tcp_and_fails_http_by_timeout() {
    let game = Game::open();
    game.reply(Reply::silence());
    let by_tcp = ScriptedSdk::start();
    let mut tcp = sidecar(&game).sdk(&by_tcp).spawn();
    by_tcp.wait_for_call("Ready", SOON);

    let by_http = ScriptedSdk::start();
    let mut http = http_sidecar(&game).set("PROBE_TIMEOUT_SECS", "1").sdk(&by_http).spawn();
    let line = http.wait_for_line(WAITING, SOON).text;
    assert!(line.contains("timed out after 1s"), "{line}");
    wait::let_pass(secs(2));
    by_http.assert_none("Ready");
    stops_cleanly(&mut tcp);
    stops_cleanly(&mut http);
}

#[test]
fn one_slow_answer_costs_one_round() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    game.reply_once(Reply::status(200).after(secs(4)));
    let mut shim = http_sidecar(&game).set("PROBE_TIMEOUT_SECS", "1").sdk(&sdk).spawn();
    shim.wait_for_line("timed out", SOON);
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
}

/// A body that drips for longer than the probe's timeout is a probe that failed: connect to last byte.
#[test]
fn an_answer_that_drips_fails_by_timeout() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    game.reply(Reply::text("a body that takes its time").dripping(20));
    let mut shim = http_sidecar(&game).set("PROBE_TIMEOUT_SECS", "1").sdk(&sdk).spawn();
    shim.wait_for_line("timed out after 1s", SOON);
    wait::let_pass(secs(2));
    sdk.assert_none("Ready");
    stops_cleanly(&mut shim);
}

#[test]
fn a_huge_body_does_not_matter() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    game.reply(Reply::huge("lorem ipsum\n", 100 * 1024 * 1024));
    let mut shim = http_sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    assert!(shim.rss() < 64 * 1024 * 1024, "{} bytes resident", shim.rss());
    stops_cleanly(&mut shim);
}

/// Case 19.
#[test]
fn only_2xx_passes_and_the_reason_says_what_came() {
    let elsewhere = Game::open();
    let game = Game::open();
    game.reply_at("/ok", Reply::status(200));
    let cases = [
        (Reply::status(204), None),
        (Reply::text("a body"), None),
        (Reply::redirect("/ok"), Some(vec!["302", "/ok"])),
        (Reply::redirect(&elsewhere.url("/there")), Some(vec!["302", "/there"])),
        (Reply::status(304), Some(vec!["304"])),
        (Reply::status(400), Some(vec!["400"])),
        (Reply::status(404), Some(vec!["404"])),
        (Reply::status(500), Some(vec!["500"])),
    ];
    for (reply, failure) in cases {
        game.reply(reply.clone());
        let sdk = ScriptedSdk::start();
        let mut shim = http_sidecar(&game).sdk(&sdk).spawn();
        match failure {
            None => drop(sdk.wait_for_call("Ready", SOON)),
            Some(parts) => {
                let line = shim.wait_for_line(WAITING, SOON).text;
                for part in parts {
                    assert!(line.contains(part), "{part:?} is missing in {line:?} after {reply:?}");
                }
                wait::let_pass(millis(500));
                sdk.assert_none("Ready");
            }
        }
    }
    assert!(elsewhere.connections().is_empty(), "a redirect was followed");
    assert!(game.requests().iter().all(|request| request.path == "/health"), "a redirect was followed");
}

/// Once something answers, at most one look a second, so that a loading game's log is not flooded.
#[test]
fn a_loading_game_is_asked_at_most_once_a_second() {
    let game = Game::open();
    game.reply(Reply::status(503));
    let mut shim = sidecar(&game).set("READY_HTTP", game.url("/health")).without_sdk().spawn();
    game.wait_for_requests(1, SOON);
    game.wait_for_requests(3, SOON);
    wait::let_pass(secs(5));
    let (requests, connections) = (game.requests().len(), game.connections().len());
    let seconds = usize::try_from(shim.started().elapsed().as_secs()).expect("few");
    assert!(requests <= seconds + 2, "{requests} requests in {seconds} s");
    assert!(connections <= (seconds + 2) * 2, "{connections} connections in {seconds} s");
    stops_cleanly(&mut shim);
}

#[test]
fn a_set_readiness_interval_is_kept() {
    let game = Game::open();
    game.reply(Reply::status(503));
    let mut shim = http_sidecar(&game).set("READY_INTERVAL_SECS", "0.1").without_sdk().spawn();
    game.wait_for_requests(20, SOON);
    stops_cleanly(&mut shim);
}

/// Case 8.
#[test]
fn an_allocated_gameserver_is_never_told_ready_and_its_beats_and_counter_go_on() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated").set_counter("players", 0, 100);
    let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
    more_beats(&sdk, 5);
    let update = sdk.wait_for_call("UpdateCounter", SOON);
    assert_eq!(update.detail, "players=7");
    game.reply_at("/metrics", Reply::text("m 8\n"));
    sdk.wait_for_count("UpdateCounter", 2, SOON);
    wait::let_pass(secs(1));
    sdk.assert_none("Ready");
    assert_eq!(sdk.state(), "Allocated");
    stops_cleanly(&mut shim);
}

#[test]
fn no_state_but_those_before_ready_is_a_cause_for_ready() {
    for state in ["Ready", "Allocated", "Reserved", "RequestReady", "Shutdown", "Unhealthy", "Error", "Sleeping"] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        sdk.set_state(state);
        let mut shim = sidecar(&game).sdk(&sdk).set("SHUTDOWN_TIMEOUT_SECS", "1").spawn();
        shim.wait_for_line(SERVED, SOON);
        wait::let_pass(secs(1));
        sdk.assert_none("Ready");
        shim.assert_stays(millis(1));
    }
}

#[test]
fn every_state_before_ready_is_a_cause_for_ready() {
    for state in ["PortAllocation", "Creating", "Starting", "Scheduled"] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        sdk.set_state(state);
        let mut shim = sidecar(&game).sdk(&sdk).spawn();
        shim.wait_for_line(READY, SOON);
        sdk.assert_count("Ready", 1);
    }
}

#[test]
fn a_gameserver_that_is_being_deleted_is_not_told_ready() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_deleting();
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(NOT_CALLING_READY, SOON);
    wait::let_pass(secs(1));
    sdk.assert_none("Ready");
    stops_cleanly(&mut shim);
}

#[test]
fn request_ready_is_waited_for_and_not_repeated() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_state("RequestReady");
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_count("GetGameServer", 4, SOON);
    shim.assert_no_line(READY);
    sdk.set_state("Ready");
    shim.wait_for_line(READY, SOON);
    sdk.assert_none("Ready");
    stops_cleanly(&mut shim);
}

#[test]
fn a_ready_that_failed_is_repeated_after_another_look() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::unknown("not today")).next("Ready", Answer::unavailable());
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(READY_FAILED, SOON);
    shim.wait_for_line(READY, SOON);
    sdk.assert_count("Ready", 3);
    every_ready_follows_a_look(&sdk);
    stops_cleanly(&mut shim);
}

#[test]
fn a_ready_that_hung_and_was_applied_is_not_repeated() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::Late(secs(30)));
    let mut shim = sidecar(&game).sdk(&sdk).set("SDK_CALL_TIMEOUT_SECS", "0.5").spawn();
    shim.wait_for_line(READY, SOON);
    wait::let_pass(secs(1));
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

/// The match began between two tries: a second Ready() would end it.
#[test]
fn a_ready_that_failed_is_not_repeated_on_a_gameserver_that_was_allocated_meanwhile() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::Hang(secs(30)));
    let mut shim = sidecar(&game).sdk(&sdk).set("SDK_CALL_TIMEOUT_SECS", "1").spawn();
    sdk.wait_for_call("Ready", SOON);
    sdk.set_state("Allocated");
    shim.wait_for_line(READY, SOON);
    wait::let_pass(secs(2));
    sdk.assert_count("Ready", 1);
    assert_eq!(sdk.state(), "Allocated");
    stops_cleanly(&mut shim);
}

/// Agones' own local mode starts in Ready, with this label.
#[test]
fn local_mode_gets_one_ready() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_state("Ready").set_label("islocal", "true");
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.wait_for_line(READY, SOON);
    wait::let_pass(secs(1));
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_frozen_game_is_up_by_tcp_and_not_by_http() {
    let game = GameProcess::start();
    game.freeze();
    let by_tcp = ScriptedSdk::start();
    let mut tcp = shim().set("READY_TCP", game.port()).sdk(&by_tcp).spawn();
    by_tcp.wait_for_call("Ready", SOON);
    let by_http = ScriptedSdk::start();
    let mut http = shim().set("READY_HTTP", game.url()).set("PROBE_TIMEOUT_SECS", "1").sdk(&by_http).spawn();
    http.wait_for_line("timed out", SOON);
    by_http.assert_none("Ready");
    game.thaw();
    by_http.wait_for_call("Ready", SOON);
    stops_cleanly(&mut tcp);
    stops_cleanly(&mut http);
}

/// No SDK server at all, and the readiness deadline still holds.
/// Nobody accepts, and the kernel has taken all the connections that it keeps for it.
#[test]
fn a_port_whose_backlog_is_full_is_not_merely_slow() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("it has one");
    let connect = || std::net::TcpStream::connect_timeout(&addr, millis(300)).ok();
    let queue: Vec<_> = std::iter::from_fn(connect).take(10_000).collect();
    let mut shim = shim().without_sdk().set("READY_TCP", addr.port()).spawn();
    let line = shim.wait_for_line("its backlog is full, is it frozen?", SOON).text;
    assert!(line.contains(&addr.port().to_string()), "{line}");
    drop((listener, queue));
}

#[test]
fn probe_only_keeps_the_readiness_deadline() {
    let game = Game::closed();
    let mut shim = sidecar(&game).without_sdk().set("READY_TIMEOUT_SECS", "1").spawn();
    shim.expect_code(69, beyond(2));
}
