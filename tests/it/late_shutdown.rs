//! A game that saves for long: whatever has ended the waiting for Shutdown(), an SDK server that comes (back) before the
//! game is through gets the call.

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::shim::Shim;
use crate::support::specimen::{specimen, wrap};
use crate::support::{Applies, Game, ScriptedSdk, millis, wait};

/// A wrapper around a game that ends at SIGUSR2 alone.
fn saving(game: &Game, sdk: &ScriptedSdk, shutdown_timeout: u32) -> Shim {
    let builder = wrap(specimen(["signals"])).sdk(sdk).set("SDK", "auto").set("READY_TCP", game.port());
    let shim = builder.set("SHUTDOWN_TIMEOUT_SECS", shutdown_timeout).spawn();
    // Before that, a signal would end it.
    wait::until_true("the game", SOON, || shim.output().lines().iter().any(|line| line.text == "ready"));
    shim
}

/// The game goes on saving; the SDK server is there now, and is called.
fn is_delivered_late(sdk: &mut ScriptedSdk, mut shim: Shim) {
    shim.wait_for_line("signal 15", SOON);
    let calls = sdk.count("Shutdown");
    sdk.applies("Shutdown", Applies::After(millis(100)));
    sdk.open();
    sdk.wait_for_count("Shutdown", calls + 1, beyond(3));
    wait::until_true("Shutdown", SOON, || sdk.state() == "Shutdown");
    shim.wait_for_line(SHUTDOWN_LANDED, SOON);
    assert!(shim.is_running(), "the game still saves");
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, SOON);
}

#[test]
fn shutdown_is_delivered_after_its_bound() {
    let (game, mut sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim = saving(&game, &sdk, 1);
    shim.wait_for_line(READY, SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line(SHUTDOWN_UNDELIVERED, SOON);
    is_delivered_late(&mut sdk, shim);
}

#[test]
fn shutdown_is_delivered_after_a_second_signal() {
    let (game, mut sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim = saving(&game, &sdk, 60);
    shim.wait_for_line(READY, SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    shim.signal(Signal::SIGTERM);
    wait::let_pass(millis(1200));
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line(STOP_REPEATED, SOON);
    is_delivered_late(&mut sdk, shim);
}

#[test]
fn shutdown_is_delivered_to_an_sdk_server_that_left_after_its_acknowledgement() {
    let (game, mut sdk) = (Game::open(), ScriptedSdk::start());
    let mut shim = saving(&game, &sdk, 60);
    shim.wait_for_line(READY, SOON);
    sdk.applies("Shutdown", Applies::Never);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("acknowledged", SOON);
    sdk.close();
    shim.wait_for_line(SHUTDOWN_SDK_LEFT, beyond(2));
    is_delivered_late(&mut sdk, shim);
}

#[test]
fn shutdown_is_delivered_to_an_sdk_server_that_was_never_there_before() {
    let (game, mut sdk) = (Game::open(), ScriptedSdk::reserved());
    let mut shim = saving(&game, &sdk, 60);
    shim.wait_for_line(SERVED, SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line(NEVER_REACHED, SOON);
    is_delivered_late(&mut sdk, shim);
}
