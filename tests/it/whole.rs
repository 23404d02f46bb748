//! The sidecar beside the local SDK server, which behaves like the cluster's: state calls show a batch time later,
//! and missed beats really end in Unhealthy.

use std::path::PathBuf;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::{Game, Reply, secs, shim, wait};

/// A manifest that is gone with its test.
struct Manifest(PathBuf);

impl Manifest {
    /// Health with a period of 1 s, three failures and the first look after 1 s; a Counter `players` of 0/100.
    fn strict(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agones-shim-{test}-{}.yaml", std::process::id()));
        let manifest = "apiVersion: agones.dev/v1\nkind: GameServer\nmetadata:\n  name: strict\nspec:\n  health:\n    \
                    initialDelaySeconds: 1\n    periodSeconds: 1\n    failureThreshold: 3\n  counters:\n    players:\n      \
                    count: 0\n      capacity: 100\n  template:\n    spec:\n      containers:\n        - name: game\n          \
                    image: game\n";
        std::fs::write(&path, manifest).expect("a temporary file");
        Self(path)
    }

    fn sdk(&self) -> LocalSdk {
        LocalSdk::start(&["-f", self.0.to_str().expect("a path of our own")])
    }
}

impl Drop for Manifest {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// How often a call of this method is listed.
fn calls(sdk: &LocalSdk, method: &str) -> usize {
    sdk.calls().matches(&format!("\"{method}\"")).count()
}

#[test]
fn ready_counted_allocated_and_drained() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let manifest = Manifest::strict("life");
    let sdk = manifest.sdk();
    let mut shim = counting(shim().set("READY_TCP", game.port()), &game).sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Ready", SOON);
    shim.wait_for_line(READY, SOON);
    let counter = || sdk.get("/v1beta1/counters/players").body.replace(' ', "");
    wait::until_true("7 players", SOON, || counter().contains("\"count\":\"7\""));
    sdk.post("/local/allocate", "");
    sdk.wait_for_state("Allocated", SOON);
    game.reply_at("/metrics", Reply::text("m 8\n"));
    wait::until_true("8 players", SOON, || counter().contains("\"count\":\"8\""));
    assert_eq!(sdk.state(), "Allocated");
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    // Not a moment later: leaving before it shows would have lost it.
    assert_eq!(sdk.state(), "Shutdown");
    assert_eq!(calls(&sdk, "Ready"), 1);
}

/// Case 11, with the health check enforced.
#[test]
fn a_slow_start_is_no_hang() {
    let mut game = Game::closed();
    let manifest = Manifest::strict("slow");
    let sdk = manifest.sdk();
    let mut shim = shim().set("READY_TCP", game.port()).sdk_port(sdk.port()).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    wait::let_pass(secs(8));
    assert_eq!(sdk.state(), "Scheduled", "calls: {}", sdk.calls());
    game.listen();
    sdk.wait_for_state("Ready", SOON);
    wait::let_pass(secs(5));
    assert_eq!(sdk.state(), "Ready", "calls: {}", sdk.calls());
    stops_cleanly(&mut shim);
}

#[test]
fn a_game_that_dies_ends_unhealthy_and_not_in_shutdown() {
    let mut game = Game::open();
    let manifest = Manifest::strict("dies");
    let sdk = manifest.sdk();
    let mut shim = shim().set("READY_TCP", game.port()).sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Ready", SOON);
    game.die();
    shim.expect_code(69, SOON);
    sdk.wait_for_state("Unhealthy", beyond(4));
    assert_eq!(calls(&sdk, "Shutdown"), 0);
}

/// Without the shim nothing beats: the enforcement that the tests above rely on is real.
#[test]
fn without_a_shim_it_ends_unhealthy() {
    let manifest = Manifest::strict("alone");
    let sdk = manifest.sdk();
    sdk.wait_for_state("Unhealthy", beyond(6));
}

/// The shim crashed or was restarted in mid-match: a second Ready() would de-allocate.
#[test]
fn a_shim_that_is_restarted_in_mid_match_leaves_it_alone() {
    let game = Game::open();
    let manifest = Manifest::strict("again");
    let sdk = manifest.sdk();
    let start = || shim().set("READY_TCP", game.port()).sdk_port(sdk.port()).spawn();
    let mut first = start();
    sdk.wait_for_state("Ready", SOON);
    sdk.post("/local/allocate", "");
    sdk.wait_for_state("Allocated", SOON);
    first.signal(Signal::SIGKILL);
    assert_eq!(first.expect_exit(SOON), -9);
    let mut second = start();
    second.wait_for_line(READY, SOON);
    wait::let_pass(secs(4));
    assert_eq!(sdk.state(), "Allocated", "calls: {}", sdk.calls());
    assert_eq!(calls(&sdk, "Ready"), 1);
    stops_cleanly(&mut second);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_gameserver_that_is_deleted_is_not_waited_for() {
    let game = Game::open();
    let manifest = Manifest::strict("deleted");
    let sdk = manifest.sdk();
    let mut shim = shim().set("READY_TCP", game.port()).sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Ready", SOON);
    sdk.post("/local/delete", "");
    let sent = std::time::Instant::now();
    stops_cleanly(&mut shim);
    assert!(shim.exited_at().expect("it has ended") - sent < secs(6));
}
