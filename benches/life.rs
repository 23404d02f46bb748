//! What the shim costs, and how fast it is: the figures of docs/performance.md, with the conditions they came about in.
//!
//! `make bench` runs it: the binary that `SHIM_UNDER_TEST` names, against one recording SDK server, beside tini,
//! dumb-init and a shell loop. It prints a table and writes `target/bench.json`. It asserts no figure and compares
//! with none: that is for whoever reads it. `BENCH_QUICK=1` makes a short run of everything, whose figures mean
//! little; `BENCH_IDLE_SECS` (60) says how long to look at the shim at rest.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "life/conditions.rs"]
mod conditions;
#[path = "life/cycle.rs"]
mod cycle;
#[path = "life/figures.rs"]
mod figures;
#[path = "life/lines.rs"]
mod lines;
#[path = "life/meter.rs"]
mod meter;
#[path = "life/rest.rs"]
mod rest;
#[path = "life/scrape.rs"]
mod scrape;
#[path = "life/shell.rs"]
mod shell;
#[path = "life/wrapper.rs"]
mod wrapper;

use conditions::Conditions;
use figures::{Figure, Subject, Table};
use support::ScriptedSdk;

const FILE: &str = "file";
const RESIDENT: &str = "resident / proportional, idle";
const IDLE_CPU: &str = "CPU idle, per minute";
const IDLE_SWITCHES: &str = "context switches idle, per second";
const FIRST_CALL: &str = "start -> first SDK call, median / 99 %";
const FIRST_BEAT: &str = "start -> first beat, median / 99 %";
const PORT_READY: &str = "game port opens -> Ready(), median / 99 %";
const WAITING_CPU: &str = "CPU while waiting for the port, per minute";
const HTTP_READY: &str = "HTTP turns 200 -> Ready(), median / 99 %";
const TERM_SHUTDOWN: &str = "SIGTERM -> Shutdown(), median / 99 %";
const SCRAPE_CPU: &str = "10 MB metrics body: CPU";
const SCRAPE_MEMORY: &str = "10 MB metrics body: growth of memory";
const SCRAPE_PEAK: &str = "10 MB metrics body: resident at the peak";
const CHILD_START: &str = "wrapper: added to the child's start";
const WHOLE_RUN: &str = "wrapper: added to start and end of a child that does nothing";
const ORPHANS: &str = "wrapper: 500 orphans reaped";
const LINES_PASSED: &str = "wrapper: output passed on, the line was seen, per second of CPU";
const LINES_WAITED: &str = "wrapper: output passed on, a line waited for, per second of CPU";
const LINES_COUNTED: &str = "wrapper: output passed on, two patterns counted by, per second of CPU";
const PARSER: &str = "metrics parser, alone and hardly optimised";

/// How often and how long.
struct Plan {
    idle: Duration,
    waiting: Duration,
    cycles: u32,
    http_cycles: u32,
    shell_cycles: u32,
    scrapes: usize,
    parses: u32,
    starts: u32,
    orphan_runs: u32,
    relays: u32,
    relayed_files: usize,
}

impl Plan {
    fn of_environment() -> Self {
        let whole = Self {
            idle: Duration::from_secs(60),
            waiting: Duration::from_secs(20),
            cycles: 101,
            http_cycles: 61,
            shell_cycles: 21,
            scrapes: 10,
            parses: 11,
            starts: 101,
            orphan_runs: 11,
            relays: 5,
            relayed_files: 32,
        };
        let quick = Self {
            idle: Duration::from_secs(10),
            waiting: Duration::from_secs(4),
            cycles: 5,
            http_cycles: 3,
            shell_cycles: 1,
            scrapes: 2,
            parses: 3,
            starts: 11,
            orphan_runs: 1,
            relays: 1,
            relayed_files: 8,
        };
        let plan = if std::env::var_os("BENCH_QUICK").is_some_and(|quick| quick != "0") { quick } else { whole };
        let idle = std::env::var("BENCH_IDLE_SECS").ok().map(|secs| secs.parse().expect("BENCH_IDLE_SECS: seconds"));
        Self { idle: idle.map_or(plan.idle, Duration::from_secs), ..plan }
    }

    fn text(&self) -> String {
        format!(
            "{} s idle, {} s waiting, {} lives, {} turns to 200, {} lives of the shell loop, {} starts of a child, {} \
             times 500 orphans, {} times {} MB of output.",
            self.idle.as_secs(),
            self.waiting.as_secs(),
            self.cycles,
            self.http_cycles,
            self.shell_cycles,
            self.starts,
            self.orphan_runs,
            self.relays,
            self.relayed_files * 16,
        )
    }
}

fn main() {
    // `cargo test` hands on what is meant for a test harness.
    if std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let (plan, binary) = (Plan::of_environment(), support::shim::binary());
    let conditions = Conditions::look(&binary);
    eprintln!("measuring {}; about {} s", binary.display(), plan.idle.as_secs() + u64::from(plan.cycles) * 3);
    let sdk = ScriptedSdk::start();
    let mut table = Table::default();
    let size = format!("{:.1}, {}", meter::megabytes(conditions.size), conditions.linked);
    table.add(FILE, "MB", Subject::Shim, Figure::Words(size));
    rest::idle(&mut table, &plan, &sdk);
    cycle::port(&mut table, &plan, &sdk);
    cycle::shell(&mut table, &plan);
    rest::waiting(&mut table, &plan, &sdk);
    cycle::http(&mut table, &plan, &sdk);
    scrape::body(&mut table, &plan, &sdk);
    scrape::parser(&mut table, &plan);
    wrapper::start(&mut table, &plan);
    wrapper::orphans(&mut table, &plan);
    lines::relay(&mut table, &plan);
    println!("{}\n{}", table.markdown(), conditions.text(&plan.text()));
    let json = json!({ "conditions": conditions.json(&plan.text()), "rows": table.json() });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench.json");
    match std::fs::write(&path, format!("{json:#}\n")) {
        Ok(()) => println!("as JSON: target/bench.json"),
        Err(error) => eprintln!("target/bench.json could not be written: {error}"),
    }
}
