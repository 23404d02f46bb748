//! Two stop signals: within a second they are one request, later the second ends the waiting; Shutdown() reaches the
//! SDK server and is written there in any case, and the game is told as often as it was asked for.

use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::shim::{Builder, Shim};
use crate::support::specimen::{specimen, wrap};
use crate::support::{Applies, Game, ScriptedSdk, millis, secs, wait};

const SIGNALS: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// A GameServer shows Shutdown this long after the call.
const WRITTEN_AFTER: Duration = Duration::from_millis(600);

struct Scene {
    sdk: ScriptedSdk,
    shim: Shim,
    _game: Game,
}

fn at_ready(builder: impl FnOnce(&Game) -> Builder) -> Scene {
    let (game, sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim = builder(&game).sdk(&sdk).spawn();
    shim.wait_for_line(READY, STOP);
    sdk.applies("Shutdown", Applies::After(WRITTEN_AFTER));
    Scene { sdk, shim, _game: game }
}

fn wrapper(game: &Game) -> Builder {
    wrap(specimen(["signals"])).set("SDK", "auto").set("READY_TCP", game.port())
}

fn send_both(shim: &Shim, first: Signal, second: Signal, gap: Duration) {
    shim.signal(first);
    if !gap.is_zero() {
        wait::let_pass(gap);
    }
    shim.signal(second);
}

fn pairs() -> impl Iterator<Item = (Signal, Signal)> {
    SIGNALS.into_iter().flat_map(|first| SIGNALS.map(|second| (first, second)))
}

fn a_sidecar(first: Signal, second: Signal, gap: Duration) {
    let Scene { sdk, mut shim, _game } = at_ready(sidecar);
    send_both(&shim, first, second, gap);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown", "{first}, {gap:?}, {second}; {}", sdk.story());
    shim.assert_no_line(STOP_REPEATED);
}

fn a_wrapper(first: Signal, second: Signal, gap: Duration) {
    let Scene { sdk, mut shim, _game } = at_ready(wrapper);
    // Before that, a signal would end it.
    wait::until_true("the game", STOP, || shim.output().lines().iter().any(|line| line.text == "ready"));
    send_both(&shim, first, second, gap);
    let told = if gap < secs(1) { 1 } else { 2 };
    wait::until_true("the stop signals", STOP, || shim.count_lines("signal 15") == told);
    // It saves, longer than Shutdown() takes.
    sdk.wait_for_call("Shutdown", STOP);
    wait::until_true("Shutdown", STOP, || sdk.state() == "Shutdown");
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, STOP);
    assert_eq!(shim.count_lines("signal 15"), told, "{first}, {gap:?}, {second}");
    let all = shim.output().matching("signal ").iter().filter(|line| line.text.starts_with("signal ")).count();
    assert_eq!(all, told + 1, "these and USR2 alone");
}

fn for_all(gap: Duration, stop: fn(Signal, Signal, Duration)) {
    // Each waits most of the time.
    thread::scope(|scope| {
        for first in SIGNALS {
            scope
                .spawn(move || pairs().filter(|pair| pair.0 == first).for_each(|(_, second)| stop(first, second, gap)));
        }
    });
}

#[test]
fn two_stop_signals_at_once_stop_a_sidecar_with_shutdown() {
    for_all(Duration::ZERO, a_sidecar);
}

#[test]
fn two_stop_signals_2_ms_apart_stop_a_sidecar_with_shutdown() {
    for_all(millis(2), a_sidecar);
}

#[test]
fn two_stop_signals_50_ms_apart_stop_a_sidecar_with_shutdown() {
    for_all(millis(50), a_sidecar);
}

#[test]
fn two_stop_signals_2_s_apart_stop_a_sidecar_with_shutdown() {
    for_all(secs(2), a_sidecar);
}

#[test]
fn two_stop_signals_at_once_reach_the_game_as_one_and_agones_as_shutdown() {
    for_all(Duration::ZERO, a_wrapper);
}

#[test]
fn two_stop_signals_2_ms_apart_reach_the_game_as_one_and_agones_as_shutdown() {
    for_all(millis(2), a_wrapper);
}

#[test]
fn two_stop_signals_50_ms_apart_reach_the_game_as_one_and_agones_as_shutdown() {
    for_all(millis(50), a_wrapper);
}

#[test]
fn two_stop_signals_2_s_apart_reach_the_game_twice_and_agones_as_shutdown() {
    for_all(secs(2), a_wrapper);
}
