//! An exec that hangs (a dead mount, a lazily pulled image, a scanner): nobody waits for it, and nothing stays behind.

use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::held_exec::HeldExec;
use crate::support::{Game, ScriptedSdk, Shim, millis, proc, secs, shim, wait};

/// Processes that the shim has forked and that hang in their exec: they are still its own image.
fn hanging(shim: &Shim) -> Vec<i32> {
    proc::children(shim.pid()).into_iter().filter(|&pid| proc::runs(pid, &crate::support::shim::binary())).collect()
}

fn wait_for_hang(shim: &Shim) -> i32 {
    wait::until("a process that hangs in its exec", SOON, || hanging(shim).first().copied())
}

#[test]
fn a_hook_that_hangs_in_its_exec_delays_neither_shutdown_nor_the_end() {
    let Some(hook) = HeldExec::script("hook", "exit 0") else { return };
    let (game, sdk) = (Game::open(), ScriptedSdk::start());
    let builder = sidecar(&game).set("STOP_HOOK", hook.path()).set("STOP_HOOK_TIMEOUT_SECS", 3).sdk(&sdk);
    let mut shim = builder.spawn();
    shim.wait_for_line(READY, SOON);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    let pid = wait_for_hang(&shim);
    // Beats go on: the state thread is free.
    more_beats(&sdk, 2);
    shim.assert_no_line("the stop hook failed");
    shim.expect_code(0, secs(10));
    shim.wait_for_line("timed out after 3s", secs(10));
    wait::until_true("the end of the hook", secs(5), || !proc::is_alive(pid));
}

#[test]
fn an_allocated_hook_that_hangs_in_its_exec_delays_no_beat_and_no_stop() {
    let Some(hook) = HeldExec::script("allocated", "exit 0") else { return };
    let (_game, sdk, mut shim) =
        ready_with(|builder| builder.set("ALLOCATED_HOOK", hook.path()).set("ALLOCATED_HOOK_TIMEOUT_SECS", 60));
    sdk.set_state("Allocated");
    let pid = wait_for_hang(&shim);
    more_beats(&sdk, 5);
    stops_cleanly(&mut shim);
    sdk.assert_count("Shutdown", 1);
    wait::until_true("the end of the hook", secs(5), || !proc::is_alive(pid));
}

#[test]
fn a_probe_that_hangs_in_its_exec_is_over_at_its_deadline() {
    let Some(program) = HeldExec::script("probe", "exit 0") else { return };
    let sdk = ScriptedSdk::start();
    let builder = shim().set("READY_EXEC", program.path()).set("PROBE_TIMEOUT_SECS", "0.5");
    let mut shim = builder.set("HEALTH_INTERVAL_SECS", "0.2").sdk(&sdk).spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    assert!(line.contains("timed out after 0.5s"), "{line}");
    more_beats(&sdk, 5);
    let pid = wait_for_hang(&shim);
    stops_cleanly(&mut shim);
    wait::until_true("the end of the program", secs(5), || !proc::is_alive(pid));
    let end = crate::support::shim().set("LIVE_EXEC", program.path()).set("PROBE_TIMEOUT_SECS", "0.5").arg("probe");
    let end = end.run(secs(10));
    assert_eq!(end.code, 69, "{end:?}");
    assert!(end.stderr.contains("timed out after 0.5s"), "{end:?}");
}

#[test]
fn a_game_that_hangs_in_its_exec_is_stopped_properly() {
    let Some(game) = HeldExec::script("game", "exit 0") else { return };
    let sdk = ScriptedSdk::start();
    let builder = shim().set("READY_TCP", 1).set("HEALTH_INTERVAL_SECS", "0.2").sdk(&sdk);
    let mut shim = builder.args(["--", game.path()]).spawn();
    let pid = wait_for_hang(&shim);
    more_beats(&sdk, 3);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(128 + 15, STOP);
    sdk.assert_count("Shutdown", 1);
    assert!(!proc::is_alive(pid));
}

#[test]
fn a_game_whose_exec_ends_late_gets_what_came_meanwhile() {
    let Some(mut game) = HeldExec::script("late", "trap 'echo got usr1' USR1; echo up; while :; do sleep 0.05; done")
    else {
        return;
    };
    // Only what is in front of the exec could die of it: a signal that is forwarded waits for the game.
    let mut shim = crate::support::specimen::wrap([game.path()]).stdin(Stdio::null()).spawn();
    wait_for_hang(&shim);
    shim.signal(Signal::SIGWINCH);
    shim.signal(Signal::SIGUSR1);
    shim.assert_stays(millis(300));
    game.release();
    // The shell may not have set its trap yet: it dies of it then, as it would without the shim.
    let heard = wait::poll(SOON, || (shim.count_lines("got usr1") > 0 || !shim.is_running()).then_some(()));
    assert!(heard.is_some(), "neither heard nor dead");
}

#[test]
fn a_game_whose_exec_is_refused_late_gives_its_code() {
    let Some(mut game) = HeldExec::script("refused", "exit 0") else { return };
    let mut shim = crate::support::specimen::wrap([game.path()]).spawn();
    wait_for_hang(&shim);
    game.refuse();
    shim.expect_code(126, SOON);
    shim.wait_for_line("may not be executed", secs(10));
}

#[test]
fn a_stop_before_a_refused_exec_still_delivers_shutdown() {
    let Some(mut game) = HeldExec::script("both", "exit 0") else { return };
    let sdk = ScriptedSdk::start();
    // Blocked signals: the forked process outlives the stop signal until its exec fails.
    let builder = shim().set("READY_TCP", 1).set("HEALTH_INTERVAL_SECS", "0.2").sdk(&sdk);
    let builder = builder.behind(["env", "--block-signal=TERM"]).args(["--", game.path()]);
    let mut shim = builder.spawn();
    wait_for_hang(&shim);
    more_beats(&sdk, 2);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    game.refuse();
    shim.expect_code(126, STOP);
}
