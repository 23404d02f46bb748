//! A stop of the local SDK server waits for the game's Shutdown(), as the cluster's does.

use std::time::Instant;

use nix::sys::signal::Signal;

use crate::support::local_sdk::LocalSdk;
use crate::support::{Game, millis, secs, shim};

const WAITS: &str = "waiting up to";

#[test]
fn a_shim_that_is_stopped_with_it_or_later_has_its_shutdown() {
    for delay in [0, 1500] {
        let mut sdk = LocalSdk::start(&[]);
        let game = Game::open();
        let mut shim = shim().sdk_port(sdk.port()).set("READY_TCP", game.port()).spawn();
        shim.wait_for_line("the GameServer is ready", secs(20));
        sdk.process().signal(Signal::SIGTERM);
        sdk.process().wait_for_line(WAITS, secs(5));
        sdk.process().assert_stays(millis(delay));
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, secs(20));
        sdk.process().expect_code(0, secs(5));
        sdk.process().wait_for_line("-> Shutdown", secs(10));
        let last = sdk.process().wait_for_line("local-sdk: stopped after", secs(10)).text;
        assert!(last.contains(", Shutdown;"), "{last}");
        shim.wait_for_line("Shutdown() has landed", secs(10));
    }
}

#[test]
fn the_grace_or_a_second_signal_ends_the_waiting() {
    let start = |args: &[&str]| {
        let mut sdk = LocalSdk::start(args);
        let game = Game::open();
        let mut shim = shim().sdk_port(sdk.port()).set("READY_TCP", game.port()).spawn();
        shim.wait_for_line("the GameServer is ready", secs(20));
        sdk.process().signal(Signal::SIGTERM);
        sdk.process().wait_for_line(WAITS, secs(5));
        (sdk, shim, game, Instant::now())
    };
    let (mut sdk, ..) = start(&[]);
    sdk.process().signal(Signal::SIGTERM);
    sdk.process().expect_code(0, secs(5));
    let (mut sdk, _shim, _game, began) = start(&["--grace-secs", "2"]);
    sdk.process().expect_code(0, secs(10));
    assert!(began.elapsed() >= millis(1800), "{:?}", began.elapsed());
}

#[test]
fn where_nobody_beats_there_is_nothing_to_wait_for() {
    let mut sdk = LocalSdk::start(&[]);
    sdk.state();
    sdk.process().signal(Signal::SIGTERM);
    sdk.process().expect_code(0, secs(5));
    sdk.process().assert_no_line(WAITS);
}

#[test]
fn without_a_manifest_it_says_what_a_cluster_would_not_have() {
    let line = "no -f: Counter players (capacity 1000) and List players are declared";
    let mut sdk = LocalSdk::start(&[]);
    sdk.process().wait_for_line(line, secs(5));
    let fleet = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet-wrapper.yaml");
    let mut sdk = LocalSdk::start(&["-f", fleet]);
    sdk.state();
    sdk.process().assert_no_line("no -f:");
}
