//! The life of a sidecar again and again: start, the game opens, Ready(), SIGTERM, Shutdown().

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::figures::{Figure, Subject, Table};
use super::shell::{self, Shell};
use super::support::{Game, Reply, ScriptedSdk, Shim, millis, secs, shim, wait};
use super::{FIRST_BEAT, FIRST_CALL, HTTP_READY, PORT_READY, Plan, TERM_SHUTDOWN};

const PATIENCE: Duration = Duration::from_secs(20);

/// Start to first call and first beat, port to Ready(), SIGTERM to Shutdown().
pub fn port(table: &mut Table, plan: &Plan, sdk: &ScriptedSdk) {
    let (mut first, mut beat) = (Vec::new(), Vec::new());
    let (mut ready, mut shutdown) = (Vec::new(), Vec::new());
    for run in 0..plan.cycles {
        let mut game = Game::closed();
        sdk.set_state("Scheduled");
        let (looks, beats) = (sdk.count("GetGameServer"), sdk.count("Health"));
        let (readies, shutdowns) = (sdk.count("Ready"), sdk.count("Shutdown"));
        let process = start(sdk, "READY_TCP", &game.port().to_string());
        let call = sdk.wait_for_count("GetGameServer", looks + 1, PATIENCE);
        first.push(call.at - process.started());
        beat.push(sdk.wait_for_count("Health", beats + 1, PATIENCE).at - process.started());
        // Anywhere between two looks at the port.
        // Longer than the 1 s that a process's first Ready() keeps from its first look at the GameServer.
        wait::let_pass(millis(1200) + phase(run, millis(50)));
        let opened = Instant::now();
        game.listen();
        ready.push(sdk.wait_for_count("Ready", readies + 1, PATIENCE).at - opened);
        // Until it is at rest: Ready is confirmed, and no beat is under way.
        wait::until_true("Ready", PATIENCE, || process.count_lines("the GameServer is ready") > 0);
        wait::let_pass(millis(350) + phase(run, millis(50)));
        let signalled = Instant::now();
        process.signal(Signal::SIGTERM);
        shutdown.push(sdk.wait_for_count("Shutdown", shutdowns + 1, PATIENCE).at - signalled);
    }
    table.add(FIRST_CALL, "ms", Subject::Shim, &Figure::times(first));
    table.add(FIRST_BEAT, "ms", Subject::Shim, &Figure::times(beat));
    table.add(PORT_READY, "ms", Subject::Shim, &Figure::times(ready));
    table.add(TERM_SHUTDOWN, "ms", Subject::Shim, &Figure::times(shutdown));
}

/// HTTP turns 200 to Ready().
pub fn http(table: &mut Table, plan: &Plan, sdk: &ScriptedSdk) {
    let mut ready = Vec::new();
    for run in 0..plan.http_cycles {
        let game = Game::open();
        game.reply(Reply::status(503));
        sdk.set_state("Scheduled");
        let readies = sdk.count("Ready");
        let _process = start(sdk, "READY_HTTP", &game.url("/"));
        game.wait_for_requests(1, PATIENCE);
        wait::let_pass(millis(1200) + phase(run, secs(1)));
        let turned = Instant::now();
        game.reply(Reply::status(200));
        ready.push(sdk.wait_for_count("Ready", readies + 1, PATIENCE).at - turned);
    }
    table.add(HTTP_READY, "ms", Subject::Shim, &Figure::times(ready));
}

/// The same of the shell loop.
pub fn shell(table: &mut Table, plan: &Plan) {
    let (mut first, mut ready, mut shutdown) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.shell_cycles {
        let (sdk, mut game) = (Game::open(), Game::closed());
        let began = Instant::now();
        let Some(script) = Shell::start(&sdk, &game) else { return };
        wait::let_pass(millis(100) + phase(run, secs(1)));
        let opened = Instant::now();
        game.listen();
        let Some(called) = shell::call(&sdk, "/ready", began, PATIENCE) else { return };
        ready.push(called - opened);
        wait::let_pass(millis(100) + phase(run, secs(5)));
        let signalled = Instant::now();
        script.terminate();
        if let Some(called) = shell::call(&sdk, "/shutdown", signalled, PATIENCE) {
            shutdown.push(called - signalled);
        }
        script.end();
        // Against a game that is up: what its first call waits for is itself.
        let began = Instant::now();
        let Some(script) = Shell::start(&sdk, &game) else { return };
        if let Some(called) = shell::call(&sdk, "/ready", began, PATIENCE) {
            first.push(called - script.started);
        }
        script.end();
    }
    table.add(FIRST_CALL, "ms", Subject::Shell, &Figure::times(first));
    table.add(PORT_READY, "ms", Subject::Shell, &Figure::times(ready));
    table.add(TERM_SHUTDOWN, "ms", Subject::Shell, &Figure::times(shutdown));
}

fn start(sdk: &ScriptedSdk, probe: &str, target: &str) -> Shim {
    shim::shim().sdk(sdk).set(probe, target).set("HEALTH_INTERVAL_SECS", 5).spawn()
}

/// Spread over `period` without a pattern, and the same in every run.
fn phase(run: u32, period: Duration) -> Duration {
    period.mul_f64((f64::from(run) * 0.618_033_988_75).fract())
}
