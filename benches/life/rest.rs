//! What it costs while nothing happens: memory, processor time and context switches, Ready and while waiting.

use std::time::Instant;

use super::figures::{Figure, Subject, Table, millis};
use super::meter::{self, Memory, Used, megabytes};
use super::shell::{self, Shell};
use super::support::{Game, ScriptedSdk, proc, secs, shim, wait};
use super::{IDLE_CPU, IDLE_SWITCHES, Plan, RESIDENT, THREADS, WAITING_CPU};

/// Idle and Ready: a beat and a TCP probe every 5 s. Shim and shell side by side, so that both see the same load.
pub fn idle(table: &mut Table, plan: &Plan, sdk: &ScriptedSdk) {
    let (game, shell_game, shell_sdk) = (Game::open(), Game::open(), Game::open());
    sdk.set_state("Scheduled");
    let readies = sdk.count("Ready");
    let process = shim::shim().sdk(sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 5).spawn();
    sdk.wait_for_count("Ready", readies + 1, secs(20));
    // Two beats, so that what is done once is done.
    wait::let_pass(secs(11));
    let before_shell = meter::used_by_children();
    #[allow(clippy::cast_precision_loss)]
    table.add(THREADS, "", Subject::Shim, &Figure::One(proc::threads(process.pid()) as f64));
    let began = Instant::now();
    let script = Shell::start(&shell_sdk, &shell_game);
    let before = meter::used(process.pid());
    wait::let_pass(plan.idle);
    let used = meter::used(process.pid()).since(before);
    let took = began.elapsed().as_secs_f64();
    let memory = meter::memory(&[process.pid()]);
    let mut show = |subject, used: Used, memory: Memory| {
        let (resident, proportional) = (megabytes(memory.resident), megabytes(memory.proportional));
        table.add(RESIDENT, "MB", subject, &Figure::Two(resident, proportional));
        table.add(IDLE_CPU, "ms", subject, &Figure::One(millis(used.cpu) * 60.0 / took));
        #[allow(clippy::cast_precision_loss)]
        let (wakeups, switches) = (used.wakeups as f64 / took, used.switches as f64 / took);
        table.add(IDLE_SWITCHES, "", subject, &Figure::Two(wakeups, switches));
    };
    show(Subject::Shim, used, memory);
    if let Some(script) = script {
        // The shell and whichever of sleep, nc and wget runs.
        let pids: Vec<i32> = std::iter::once(script.pid()).chain(proc::descendants(script.pid())).collect();
        let memory = meter::memory(&pids);
        script.end();
        show(Subject::Shell, meter::used_by_children().since(before_shell), memory);
    }
}

/// The game's port stays closed: 20 looks a second.
pub fn waiting(table: &mut Table, plan: &Plan, sdk: &ScriptedSdk) {
    let (game, shell_game, shell_sdk) = (Game::closed(), Game::closed(), Game::open());
    sdk.set_state("Scheduled");
    let beats = sdk.count("Health");
    let process = shim::shim().sdk(sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 5).spawn();
    sdk.wait_for_count("Health", beats + 1, secs(20));
    wait::let_pass(secs(2));
    let before_shell = meter::used_by_children();
    let began = Instant::now();
    let script = Shell::start(&shell_sdk, &shell_game);
    let before = meter::used(process.pid());
    wait::let_pass(plan.waiting);
    let used = meter::used(process.pid()).since(before);
    let per_minute = 60.0 / began.elapsed().as_secs_f64();
    table.add(WAITING_CPU, "ms", Subject::Shim, &Figure::One(millis(used.cpu) * per_minute));
    if let Some(script) = script {
        let called = shell::call(&shell_sdk, "/ready", began, secs(0));
        assert!(called.is_none(), "the port is closed");
        script.end();
        let used = meter::used_by_children().since(before_shell);
        table.add(WAITING_CPU, "ms", Subject::Shell, &Figure::One(millis(used.cpu) * per_minute));
    }
}
