//! What the shim costs, and how fast it is: the figures of docs/performance.md, with the conditions they came about in.
//!
//! `make bench` runs it: the binary that `SHIM_UNDER_TEST` names, against a recording SDK server, beside tini,
//! dumb-init and a shell loop; then what it costs many times over. It prints tables and writes them as JSON, to
//! `target/bench.json` or where `BENCH_JSON` says. It asserts no figure and compares with none: that is for whoever
//! reads it. `BENCH_QUICK=1` makes a short run of everything, whose figures mean little; `BENCH_IDLE_SECS` (60) says how
//! long to look at the shim at rest; `BENCH_ONLY=many` or `one` makes one of the two tables.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "life/conditions.rs"]
mod conditions;
#[path = "life/crowd.rs"]
mod crowd;
#[path = "life/cycle.rs"]
mod cycle;
#[path = "life/figures.rs"]
mod figures;
#[path = "life/growth.rs"]
mod growth;
#[path = "life/lines.rs"]
mod lines;
#[path = "life/meter.rs"]
mod meter;
#[path = "life/rest.rs"]
mod rest;
#[path = "life/scrape.rs"]
mod scrape;
#[path = "life/servers.rs"]
mod servers;
#[path = "life/shell.rs"]
mod shell;
#[path = "life/wrapper.rs"]
mod wrapper;

use conditions::Conditions;
use figures::{Figure, Subject, Table};
use growth::Growth;
use support::{ScriptedSdk, report};

const FILE: &str = "file";
const RESIDENT: &str = "resident / proportional, idle";
const IDLE_CPU: &str = "CPU idle, per minute";
const IDLE_SWITCHES: &str = "wakeups / context switches idle, per second";
const THREADS: &str = "threads idle";
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
    relayed_files: u32,
    crowds: [u32; 2],
    crowd_idle: Duration,
    watchers: [u32; 2],
    changes: u32,
    scrape_secs: u32,
    relay_sizes: [u32; 2],
    names: [u32; 2],
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
            crowds: [10, 100],
            crowd_idle: Duration::from_secs(60),
            watchers: [100, 1000],
            changes: 21,
            scrape_secs: 20,
            relay_sizes: [8, 64],
            names: [100, 1000],
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
            crowds: [2, 10],
            crowd_idle: Duration::from_secs(10),
            watchers: [10, 100],
            changes: 3,
            scrape_secs: 3,
            relay_sizes: [2, 8],
            names: [10, 100],
        };
        let plan = if std::env::var_os("BENCH_QUICK").is_some_and(|quick| quick != "0") { quick } else { whole };
        let idle = std::env::var("BENCH_IDLE_SECS").ok().map(|secs| secs.parse().expect("BENCH_IDLE_SECS: seconds"));
        let idle = idle.map_or(plan.idle, Duration::from_secs);
        Self { idle, crowd_idle: plan.crowd_idle.max(idle), ..plan }
    }

    fn text(&self) -> String {
        format!(
            "{} s idle, {} s waiting, {} lives, {} turns to 200, {} lives of the shell loop, {} starts of a child, {} \
             times 500 orphans, {} times {} MB of output; the many: {} s idle, {} changes, {} s of answers.",
            self.idle.as_secs(),
            self.waiting.as_secs(),
            self.cycles,
            self.http_cycles,
            self.shell_cycles,
            self.starts,
            self.orphan_runs,
            self.relays,
            self.relayed_files * 16,
            self.crowd_idle.as_secs(),
            self.changes,
            self.scrape_secs,
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
    eprintln!("measuring {}; about {} s", binary.display(), plan.idle.as_secs() * 4 + u64::from(plan.cycles) * 5);
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    let mut tables = Vec::new();
    if only != "many" {
        tables.push(one(&plan, &conditions).json());
    }
    if only != "one" {
        tables.push(many(&plan).0.json());
    }
    let report = json!({ "conditions": conditions.json(&plan.text()), "tables": tables });
    println!("{}", report::markdown(&report));
    let path = std::env::var("BENCH_JSON").unwrap_or_else(|_| "target/bench.json".to_owned());
    match std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path), format!("{report:#}\n")) {
        Ok(()) => println!("as JSON: {path}"),
        Err(error) => eprintln!("{path} could not be written: {error}"),
    }
}

/// One shim, beside others.
fn one(plan: &Plan, conditions: &Conditions) -> Table {
    let sdk = ScriptedSdk::start();
    let mut table = Table::new("One, beside others", Subject::ALL.map(<&str>::from));
    let size = format!("{:.1}, {}", meter::megabytes(conditions.size), conditions.linked);
    table.add(FILE, "MB", Subject::Shim, &Figure::Words(size));
    rest::idle(&mut table, plan, &sdk);
    cycle::port(&mut table, plan, &sdk);
    cycle::shell(&mut table, plan);
    rest::waiting(&mut table, plan, &sdk);
    cycle::http(&mut table, plan, &sdk);
    scrape::body(&mut table, plan, &sdk);
    scrape::parser(&mut table, plan);
    wrapper::start(&mut table, plan);
    wrapper::orphans(&mut table, plan);
    lines::relay(&mut table, plan);
    table
}

/// How it grows.
fn many(plan: &Plan) -> Growth {
    let mut table = Growth::new("Many: how it grows");
    crowd::shims(&mut table, plan);
    servers::watchers(&mut table, plan);
    servers::scrapes(&mut table, plan);
    lines::sizes(&mut table, plan);
    servers::names(&mut table, plan);
    table
}
