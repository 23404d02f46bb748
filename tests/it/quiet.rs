//! gRPC sleeps while nothing happens: its timer threads wake up many times a second otherwise, twice per CPU.

use std::fs;

use crate::support::{Game, ScriptedSdk, secs, shim, wait};

/// How often the threads of a process went to sleep so far. All of them: where gRPC cannot name its timer threads
/// (musl) there is no telling which they are, and nobody else has anything to do either.
fn wakeups(pid: i32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let status = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    status
        .filter_map(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse::<u64>().ok()
        })
        .sum()
}

#[test]
fn grpc_s_timer_threads_sleep_while_there_is_nothing_to_time() {
    let (sdk, game) = (ScriptedSdk::start(), Game::open());
    let mut process = shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 60).spawn();
    sdk.wait_for_call("Ready", secs(10));
    let look = sdk.wait_for_new_call("GetGameServer", secs(10));
    // The deadlines of the calls so far are over after their 2 s.
    wait::let_pass(secs(3).saturating_sub(look.at.elapsed()));
    assert!(process.threads() > 5, "gRPC's threads are there");
    let before = wakeups(process.pid());
    process.assert_stays(secs(3));
    let wakeups = wakeups(process.pid()) - before;
    // gRPC's timer threads left alone: 12 on one CPU, 24 on two. Asleep: none.
    assert!(wakeups < 6, "{wakeups} wakeups in 3 s with nothing to do");
}
