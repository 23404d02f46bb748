//! Ends that nobody has to ask for: an allocated server that stays empty, a Ready one that nobody takes.

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::shim::Builder;
use crate::support::{Game, Reply, ScriptedSdk, Shim, millis, secs, wait};

const IDLE: &str = "Allocated and empty for AGONES_SHIM_IDLE_SHUTDOWN_SECS";
const TOO_OLD: &str = "Ready and not allocated for AGONES_SHIM_MAX_AGE_SECS";

fn scrapes(game: &Game) -> usize {
    game.requests().iter().filter(|request| request.path == "/metrics").count()
}

/// So many readings from now on have come, and been taken in.
fn more_scrapes(game: &Game, count: usize) {
    let wanted = scrapes(game) + count + 1;
    wait::until_true("more scrapes", SOON, || scrapes(game) >= wanted);
}

/// An empty game with a Counter read every 0.2 s, a local SDK server, a sidecar that is Ready; 1 s of emptiness ends it.
fn empty() -> (Game, LocalSdk, Shim) {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 0\n"));
    let sdk = LocalSdk::start(&[]);
    let mut shim = idle(counting(sidecar(&game), &game)).sdk_port(sdk.port()).spawn();
    shim.wait_for_line(READY, SOON);
    (game, sdk, shim)
}

fn idle(builder: Builder) -> Builder {
    builder.set("IDLE_SHUTDOWN_SECS", 1)
}

#[test]
fn an_allocated_server_that_stays_empty_is_shut_down_and_the_shim_leaves_with_0() {
    let (game, sdk, mut shim) = empty();
    more_scrapes(&game, 8);
    assert_eq!(sdk.state(), "Ready", "empty, and not allocated");
    sdk.post("/local/allocate", "");
    shim.wait_for_line(IDLE, SOON);
    shim.wait_for_line("reason=idle", SOON);
    shim.expect_code(0, STOP);
    shim.wait_for_line(SHUTDOWN_LANDED, SOON);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_player_holds_it_and_so_does_a_metrics_page_that_fails() {
    let (game, sdk, mut shim) = empty();
    game.reply_at("/metrics", Reply::text("m 1\n"));
    more_scrapes(&game, 1);
    sdk.post("/local/allocate", "");
    more_scrapes(&game, 10);
    // The Counter keeps its value; a value that is kept is no reading.
    game.reply_at("/metrics", Reply::text("m 0\n"));
    more_scrapes(&game, 2);
    game.reply_at("/metrics", Reply::status(500));
    more_scrapes(&game, 10);
    assert_eq!(sdk.state(), "Allocated");
    shim.assert_no_line(IDLE);
    game.reply_at("/metrics", Reply::text("m 0\n"));
    shim.wait_for_line(IDLE, SOON);
    shim.expect_code(0, STOP);
}

#[test]
fn a_value_kept_from_before_the_allocation_never_counts() {
    let (game, sdk, mut shim) = empty();
    more_scrapes(&game, 8);
    game.reply_at("/metrics", Reply::status(503));
    shim.wait_for_line(SCRAPE_FAILED, SOON);
    sdk.post("/local/allocate", "");
    more_scrapes(&game, 10);
    assert_eq!(sdk.state(), "Allocated");
    shim.assert_no_line(IDLE);
    stops_cleanly(&mut shim);
}

#[test]
fn the_state_is_read_right_before_shutdown() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 0\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100).set_state("Allocated");
    let mut shim = idle(counting(sidecar(&game), &game)).sdk(&sdk).spawn();
    shim.wait_for_line(IDLE, SOON);
    shim.expect_code(0, STOP);
    let calls: Vec<_> = sdk.calls().into_iter().map(|call| call.method).collect();
    let shutdown = calls.iter().position(|method| *method == "Shutdown").expect("a call");
    assert_eq!(calls[shutdown - 1], "GetGameServer", "{}", sdk.story());
    sdk.assert_none("Ready");
}

#[test]
fn an_idle_wrapper_stops_its_game_as_a_signal_would_and_leaves_with_0() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 1\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100).set_state("Allocated");
    let mut shim = idle(counting(sidecar(&game), &game))
        .set("STOP_HOOK", "sh -c 'echo hook $AGONES_SHIM_STOP_REASON'")
        .var("PATH", "/usr/bin:/bin")
        .sdk(&sdk)
        .args(["--", "sh", "-c", "trap 'echo saved; exit 7' TERM; echo up; while :; do sleep 0.05; done"])
        .spawn();
    shim.wait_for_line("up", SOON);
    game.reply_at("/metrics", Reply::text("m 0\n"));
    shim.wait_for_line("hook idle", SOON);
    shim.wait_for_line("saved", SOON);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_ready_server_that_nobody_takes_is_shut_down() {
    let game = Game::open();
    let sdk = LocalSdk::start(&[]);
    let mut shim = sidecar(&game).set("MAX_AGE_SECS", 2).sdk_port(sdk.port()).spawn();
    let ready = shim.wait_for_line(READY, SOON).at;
    let old = shim.wait_for_line(TOO_OLD, SOON).at;
    // A tenth more or less, and up to a health interval of 0.2 s; "ready" is written after the look that counts.
    assert!(old - ready >= millis(1700), "{:?}", old - ready);
    shim.wait_for_line("reason=age", SOON);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn an_old_server_with_a_match_on_it_stays_until_it_was_ready_for_as_long_again() {
    let game = Game::open();
    let sdk = LocalSdk::start(&[]);
    let mut shim = sidecar(&game).set("MAX_AGE_SECS", 2).sdk_port(sdk.port()).spawn();
    shim.wait_for_line(READY, SOON);
    sdk.post("/local/allocate", "");
    shim.assert_stays(secs(4));
    sdk.post("/ready", "{}");
    sdk.wait_for_state("Ready", SOON);
    shim.assert_stays(secs(1));
    shim.wait_for_line(TOO_OLD, SOON);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}
