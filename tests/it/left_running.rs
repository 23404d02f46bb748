//! What a shim that is killed leaves behind: no program of a probe or hook, and nothing that they have started. And
//! what the game's environment does to the shim: nothing.

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::{Game, Scratch, ScriptedSdk, proc, secs, shim, wait};

/// A script that starts a helper, notes both, and waits; with the numbers that it notes.
struct Noting(Scratch);

impl Noting {
    fn new(name: &str) -> Self {
        Self(Scratch::new(&format!("left-{name}")))
    }

    fn command(&self) -> String {
        format!("sh -c 'sleep 60 & echo $$ $! >{}; wait'", self.0.path("pids"))
    }

    fn pids(&self) -> Vec<i32> {
        wait::until("two pids", SOON, || {
            let text = self.0.text("pids");
            let pids: Vec<i32> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            (text.ends_with('\n') && pids.len() == 2).then_some(pids)
        })
    }

    fn assert_gone(&self) {
        for pid in self.pids() {
            wait::until_true("the end of what was started", secs(5), || !proc::is_alive(pid));
        }
    }
}

#[test]
fn a_probe_command_that_is_killed_leaves_nothing_running() {
    let noting = Noting::new("probe");
    let builder = shim().set("LIVE_EXEC", noting.command()).set("PROBE_TIMEOUT_SECS", 60).arg("probe");
    let mut shim = builder.spawn();
    assert!(noting.pids().into_iter().all(proc::is_alive));
    shim.signal(Signal::SIGKILL);
    shim.expect_exit(secs(5));
    noting.assert_gone();
}

#[test]
fn a_sidecar_that_is_killed_leaves_no_probe_and_no_hook_running() {
    let (probe, hook) = (Noting::new("sidecar-probe"), Noting::new("sidecar-hook"));
    let game = Game::open();
    let builder = sidecar(&game).set("LIVE_EXEC", probe.command()).set("PROBE_TIMEOUT_SECS", 60);
    let mut shim = builder.set("STOP_HOOK", hook.command()).set("STOP_HOOK_TIMEOUT_SECS", 60).without_sdk().spawn();
    probe.pids();
    shim.signal(Signal::SIGTERM);
    hook.pids();
    shim.signal(Signal::SIGKILL);
    shim.expect_exit(secs(5));
    probe.assert_gone();
    hook.assert_gone();
}

#[test]
fn what_a_hook_leaves_behind_on_purpose_stays() {
    let noting = Noting::new("daemon");
    let game = Game::open();
    let command = noting.command().replace("; wait", "");
    let mut shim = sidecar(&game).set("STOP_HOOK", command).without_sdk().spawn();
    shim.wait_for_line(SERVED, SOON);
    stops_cleanly(&mut shim);
    let daemon = noting.pids()[1];
    wait::let_pass(crate::support::millis(200));
    assert!(proc::is_alive(daemon));
    crate::support::specimen::send(daemon, nix::libc::SIGKILL);
}

/// Each by itself broke the shim, or made it talk.
const GAMES_OWN: [(&str, &str); 4] = [
    ("GRPC_POLL_STRATEGY", "none-such"),
    ("GRPC_VERBOSITY", "debug"),
    ("GRPC_TRACE", "all"),
    ("GRPC_EXPERIMENTS", "event_engine_client"),
];

#[test]
fn grpc_variables_of_the_game_reach_the_game_alone() {
    let sdk = ScriptedSdk::start();
    let mut builder = shim().set("READY_TCP", 1).set("HEALTH_INTERVAL_SECS", "0.2").sdk(&sdk);
    for (name, value) in GAMES_OWN {
        builder = builder.var(name, value);
    }
    let mut shim = builder.args(["--", "sh", "-c", "echo has $GRPC_POLL_STRATEGY; exec sleep 60"]).spawn();
    shim.wait_for_line("has none-such", SOON);
    more_beats(&sdk, 3);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(128 + 15, STOP);
    assert_eq!(shim.output().lines().iter().filter(|line| line.text.contains(".cc:")).count(), 0);
}

#[test]
fn grpc_variables_of_the_game_do_nothing_to_the_other_commands() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let with = |mut builder: crate::support::shim::Builder| {
        for (name, value) in GAMES_OWN {
            builder = builder.var(name, value);
        }
        builder
    };
    let end = with(shim().sdk(&sdk).args(["sdk", "ready"])).run(SOON);
    assert_eq!((end.code, end.stderr.as_str()), (0, ""), "{end:?}");
    sdk.wait_for_call("Ready", SOON);
    let end = with(shim().set("LIVE_TCP", game.port()).arg("probe")).run(SOON);
    assert_eq!((end.code, end.stderr.as_str()), (0, ""), "{end:?}");
    let mut server = LocalSdk::start_as(with(shim()), &[]);
    let local = server.process();
    assert_eq!(local.output().lines().iter().filter(|line| line.text.contains(".cc:")).count(), 0);
}
