//! What begins with the child, and what with the SDK server: a game that is started again under a living GameServer,
//! one that is never started, and an SDK server that was found late and is lost again.

use std::path::Path;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::status::{page, served};
use crate::support::shim::Builder;
use crate::support::specimen::wrap;
use crate::support::{Game, Port, Scratch, ScriptedSdk, millis, secs, shim, wait};

/// A wrapper beside this game (in the test's own process) around a child that waits.
fn wrapper(game: &Game) -> Builder {
    wrap(["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"])
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.2")
}

#[test]
fn a_game_that_loads_under_an_allocated_gameserver_gets_beats_and_the_time_that_it_needs() {
    let mut game = Game::closed();
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated");
    let builder = wrapper(&game).set("SDK", "auto").sdk(&sdk);
    let mut shim = builder.set("LIVE_FAILURE_THRESHOLD", 3).set("READY_TIMEOUT_SECS", 60).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    // Ten times as long as three rounds of liveness.
    wait::let_pass(secs(6));
    assert!(shim.is_running());
    more_beats(&sdk, 3);
    game.listen();
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 3);
    sdk.assert_none("Ready");
    assert_eq!(sdk.state(), "Allocated");
    game.die();
    shim.expect_code(69, secs(30));
    sdk.assert_none("Shutdown");
}

#[test]
fn a_game_that_never_opens_under_an_allocated_gameserver_ends_at_its_readiness_deadline() {
    let game = Game::closed();
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated");
    let mut shim = wrapper(&game).set("SDK", "auto").sdk(&sdk).set("READY_TIMEOUT_SECS", 2).spawn();
    shim.expect_code(69, beyond(2) + secs(10));
    shim.wait_for_line(READY_TIMED_OUT, SOON);
    sdk.assert_none("Shutdown");
}

#[test]
fn a_required_sdk_server_that_does_not_come_ends_with_75_and_the_game_never_started() {
    for wait_for_sdk in ["0", "1"] {
        let scratch = Scratch::new(&format!("required-{wait_for_sdk}"));
        let (started, hooked) = (scratch.path("started"), scratch.path("hooked"));
        let closed = Port::reserve();
        let mut shim = wrap(["touch", &started])
            .sdk_port(closed.number())
            .set("SDK", "required")
            .set("WAIT_FOR_SDK", wait_for_sdk)
            .set("STOP_HOOK", format!("touch {hooked}"))
            .set("SDK_CONNECT_TIMEOUT_SECS", 1)
            .spawn();
        shim.expect_code(75, beyond(1) + secs(5));
        assert!(!Path::new(&started).exists() && !Path::new(&hooked).exists(), "WAIT_FOR_SDK={wait_for_sdk}");
    }
}

#[test]
fn a_required_sdk_server_that_comes_late_is_waited_for_and_then_the_game_starts() {
    let scratch = Scratch::new("ready-late");
    let started = scratch.path("started");
    let mut sdk = ScriptedSdk::reserved();
    let script = format!("echo up > {started}; sleep 60");
    let mut shim = wrap(["sh", "-c", &script]).sdk(&sdk).set("SDK", "required").spawn();
    wait::let_pass(secs(1));
    assert!(!Path::new(&started).exists());
    sdk.open();
    wait::until_true("the game to start", SOON, || Path::new(&started).exists());
    shim.signal(Signal::SIGTERM);
    shim.expect_exit(STOP);
}

#[test]
fn neither_the_readiness_deadline_nor_the_hook_is_for_a_game_that_waits_for_its_address() {
    let scratch = Scratch::new("ready-held");
    let hooked = scratch.path("hooked");
    let sdk = ScriptedSdk::start();
    sdk.edit(|game_server| game_server.status.get_or_insert_default().address.clear());
    let mut shim = wrap(["sleep", "60"])
        .sdk(&sdk)
        .set("SDK", "auto")
        .set("WAIT_FOR_SDK", 1)
        .set("READY_TIMEOUT_SECS", 1)
        .set("STOP_HOOK", format!("touch {hooked}"))
        .spawn();
    shim.assert_stays(secs(3));
    sdk.assert_none("Shutdown");
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    sdk.assert_count("Shutdown", 1);
    assert!(!Path::new(&hooked).exists(), "the hook has run");
}

#[test]
fn an_sdk_server_that_was_found_late_and_is_away_again_makes_nobody_ready_before_agones_knows() {
    let mut game = Game::closed();
    let mut sdk = ScriptedSdk::reserved();
    let builder = shim().set("READY_TCP", game.port()).set("SDK_CONNECT_TIMEOUT_SECS", "0.5").sdk(&sdk);
    let (mut shim, addr, _port) = served(builder);
    shim.wait_for_line(NO_SDK, SOON);
    sdk.open();
    shim.wait_for_line(CONNECTED, SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, secs(20));
    game.listen();
    let served = shim.wait_for_line(SERVED, SOON).text;
    assert!(served.contains("sdk=\"not connected: "), "{served}");
    wait::let_pass(millis(500));
    assert_eq!(page(addr, "/readyz").status, 503);
    sdk.open();
    sdk.wait_for_call("Ready", SOON);
    wait::until_true("/readyz to say so", SOON, || page(addr, "/readyz").status == 200);
    stops_cleanly(&mut shim);
}

#[test]
fn inside_kubernetes_the_missing_sdk_server_is_said_in_time() {
    let game = Game::open();
    let mut shim = sidecar(&game).without_sdk().var("KUBERNETES_SERVICE_HOST", "10.0.0.1").spawn();
    let line = shim.wait_for_line("NO BEAT REACHES AGONES", beyond(3)).text;
    assert!(line.contains("connection refused"), "{line}");
    shim.assert_no_line(NO_SDK);
    stops_cleanly(&mut shim);
    let mut off = sidecar(&game).set("SDK", "off").var("KUBERNETES_SERVICE_HOST", "10.0.0.1").spawn();
    off.wait_for_line("AGONES_SHIM_SDK=off inside Kubernetes", SOON);
    stops_cleanly(&mut off);
}

#[test]
fn a_readiness_reason_that_changes_is_a_line() {
    let mut game = Game::closed();
    game.reply(crate::support::Reply::status(404));
    let mut shim = http_sidecar(&game).without_sdk().spawn();
    let first = shim.wait_for_line(WAITING, SOON).text;
    assert!(first.contains("connection refused"), "{first}");
    game.listen();
    let next = shim.wait_for_line("not ready for another reason now", beyond(5)).text;
    assert!(next.contains("HTTP 404"), "{next}");
    stops_cleanly(&mut shim);
}
