//! Many shims of one file on one machine, as on a node full of game servers: each with an SDK server of its own.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::Plan;
use super::figures::millis;
use super::growth::Growth;
use super::meter::{self, kilobytes};
use super::support::{Game, ScriptedSdk, Shim, proc, secs, shim, wait};

const PATIENCE: Duration = Duration::from_secs(120);

const ROWS: [(&str, &str); 8] = [
    ("shims of one file: proportional memory each", "kB"),
    ("shims of one file: anonymous memory each", "kB"),
    ("shims of one file: threads each", ""),
    ("shims of one file: CPU each, per minute", "ms"),
    ("shims of one file: wakeups each, per second", ""),
    ("started together: all Ready after", "ms"),
    ("SIGTERM to all: half gone after", "ms"),
    ("SIGTERM to all: all gone after", "ms"),
];

/// Start together, rest, end together.
pub fn shims(table: &mut Growth, plan: &Plan) {
    table.compare(plan.crowds, "shims", &ROWS, |count| crowd(count, plan));
}

fn crowd(count: u32, plan: &Plan) -> [f64; ROWS.len()] {
    let game = Game::open();
    let sdks: Vec<ScriptedSdk> = (0..count).map(|_| ScriptedSdk::start()).collect();
    let began = Instant::now();
    let mut shims: Vec<Shim> = sdks
        .iter()
        .map(|sdk| shim::shim().sdk(sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 5).spawn())
        .collect();
    let readies = sdks.iter().map(|sdk| sdk.wait_for_call("Ready", PATIENCE).at);
    let ready = readies.max().map_or(Duration::ZERO, |last| last - began);
    // Two beats, so that what is done once is done.
    wait::let_pass(secs(11));
    let each = f64::from(count);
    let pids: Vec<i32> = shims.iter().map(Shim::pid).collect();
    let before: Vec<_> = pids.iter().map(|&pid| meter::used(pid)).collect();
    let looked = Instant::now();
    wait::let_pass(plan.crowd_idle);
    let took = looked.elapsed().as_secs_f64();
    let used: Vec<_> = pids.iter().zip(before).map(|(&pid, before)| meter::used(pid).since(before)).collect();
    let cpu: Duration = used.iter().map(|used| used.cpu).sum();
    #[allow(clippy::cast_precision_loss)]
    let (wakeups, threads) = (
        used.iter().map(|used| used.wakeups).sum::<u64>() as f64,
        pids.iter().map(|&pid| proc::threads(pid)).sum::<u64>() as f64,
    );
    let memory = meter::memory(&pids);
    let signalled = Instant::now();
    for shim in &shims {
        shim.signal(Signal::SIGTERM);
    }
    let mut gone: Vec<Duration> = shims
        .iter_mut()
        .map(|shim| {
            shim.expect_code(0, PATIENCE);
            shim.exited_at().map_or(Duration::ZERO, |at| at - signalled)
        })
        .collect();
    gone.sort();
    [
        kilobytes(memory.proportional) / each,
        kilobytes(memory.anonymous) / each,
        threads / each,
        millis(cpu) * 60.0 / took / each,
        wakeups / took / each,
        millis(ready),
        millis(gone[gone.len() / 2]),
        gone.last().copied().map_or(f64::NAN, millis),
    ]
}
