//! Many who look: at the local SDK server's page, and at the status endpoint. And many who play, whose names change.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::Plan;
use super::figures::{Figure, millis};
use super::growth::Growth;
use super::meter::{self, megabytes};
use super::support::local_sdk::LocalSdk;
use super::support::{Game, Port, Scratch, ScriptedSdk, client, proc, secs, shim, wait};

const PATIENCE: Duration = Duration::from_secs(120);

/// Clients of `GET /local/watch`, and what a change costs while they are there. The server keeps the last 16.
pub fn watchers(table: &mut Growth, plan: &Plan) {
    const ROWS: [(&str, &str); 4] = [
        ("local-sdk watched: CPU for each watcher that comes", "ms"),
        ("local-sdk watched: a change is answered after", "ms"),
        ("local-sdk watched: CPU for each change", "ms"),
        ("local-sdk watched: resident memory", "MB"),
    ];
    table.compare(plan.watchers, "watchers", &ROWS, |count| {
        let mut sdk = LocalSdk::start(&[]);
        let (addr, pid) = (sdk.http(), sdk.process().pid());
        let before = meter::used(pid);
        let watch = |_| {
            let mut stream = TcpStream::connect(addr).expect("it listens");
            let asked = write!(stream, "GET /local/watch HTTP/1.1\r\nHost: {addr}\r\n\r\n");
            // One that was sent away has been answered.
            drop(asked);
            stream
        };
        let streams: Vec<TcpStream> = (0..count).map(watch).collect();
        wait::let_pass(secs(2));
        let came = meter::used(pid).since(before).cpu;
        let before = meter::used(pid);
        let answers = (0..plan.changes).map(|turn| {
            let (began, label) = (Instant::now(), format!(r#"{{"key":"turn","value":"{turn}"}}"#));
            let answer = client::request(addr, "PUT", "/metadata/label", &label, secs(20)).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
            let took = began.elapsed();
            // Each in a frame of its own.
            wait::let_pass(Duration::from_millis(100));
            took
        });
        let answered = Figure::times(answers.collect()).first();
        let changed = meter::used(pid).since(before).cpu;
        let memory = megabytes(proc::rss(pid));
        drop(streams);
        [millis(came) / f64::from(count), answered, millis(changed) / f64::from(plan.changes), memory]
    });
}

/// `/metrics` and `/status` in turn, so many times a second.
pub fn scrapes(table: &mut Growth, plan: &Plan) {
    const ROWS: [(&str, &str); 4] = [
        ("status endpoint: CPU for each answer", "ms"),
        ("status endpoint: answered after, median", "ms"),
        ("status endpoint: answered after, 99 %", "ms"),
        ("status endpoint: growth of memory", "MB"),
    ];
    table.compare([10, 100], "answers a second", &ROWS, |rate| {
        let (sdk, game, port) = (ScriptedSdk::start(), Game::open(), Port::reserve());
        let addr = port.addr();
        let process = shim::shim().sdk(&sdk).set("READY_TCP", game.port()).set("STATUS_ADDR", addr).spawn();
        sdk.wait_for_call("Ready", PATIENCE);
        let ask = |turn: u32| {
            let path = if turn.is_multiple_of(2) { "/metrics" } else { "/status" };
            let began = Instant::now();
            let answer = client::get(addr, path, secs(20)).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
            began.elapsed()
        };
        for turn in 0..10 {
            ask(turn);
        }
        let pid = process.pid();
        let (before, resident, began) = (meter::used(pid), proc::rss(pid), Instant::now());
        let asked = rate * plan.scrape_secs;
        let times: Vec<Duration> = (0..asked)
            .map(|turn| {
                let due = began + Duration::from_secs(1) / rate * turn;
                wait::let_pass(due.saturating_duration_since(Instant::now()));
                ask(turn)
            })
            .collect();
        let cpu = meter::used(pid).since(before).cpu;
        let grown = proc::peak_rss(pid).saturating_sub(resident);
        let times = Figure::times(times);
        [millis(cpu) / f64::from(asked), times.first(), times.second(), megabytes(grown)]
    });
}

/// So many players come in one moment; then all of them go and as many others come.
pub fn names(table: &mut Growth, plan: &Plan) {
    const ROWS: [(&str, &str); 3] = [
        ("List of names: each that comes", "ms"),
        ("List of names: each that goes, with the one that comes instead", "ms"),
        ("List of names: CPU for each change", "ms"),
    ];
    table.compare(plan.names, "names", &ROWS, |count| {
        let (sdk, game, scratch) = (ScriptedSdk::start(), Game::open(), Scratch::new("bench-names"));
        let capacity = i64::from(count);
        sdk.set_list("names", capacity, &[]).set_counter("players", 0, capacity);
        let log = scratch.file("game.log", "");
        let process = shim::shim()
            .sdk(&sdk)
            .set("READY_TCP", game.port())
            .set("GAME_LOG_FILE", &log)
            .set("COUNTER_NAME", "players")
            .set("COUNTER_INTERVAL_SECS", 1)
            .set("COUNTER_JOIN_LOG", r"^(\w+) came$")
            .set("COUNTER_LEAVE_LOG", r"^(\w+) went$")
            .set("LIST_NAME", "names")
            .spawn();
        sdk.wait_for_call("Ready", PATIENCE);
        wait::let_pass(secs(2));
        let before = meter::used(process.pid());
        let lines = |prefix: &str, word: &str| {
            let lines: Vec<String> = (0..count).map(|at| format!("{prefix}{at} {word}\n")).collect();
            lines.concat()
        };
        let all_are = |prefix: &'static str| {
            let began = Instant::now();
            wait::until_true("all names on the List", PATIENCE, || {
                let names = sdk.list("names");
                names.len() == count as usize && names.iter().all(|name| name.starts_with(prefix))
            });
            millis(began.elapsed()) / f64::from(count)
        };
        scratch.append("game.log", &lines("ann", "came"));
        let came = all_are("ann");
        scratch.append("game.log", &(lines("ann", "went") + &lines("bob", "came")));
        let changed = all_are("bob");
        let cpu = meter::used(process.pid()).since(before).cpu;
        [came, changed, millis(cpu) / f64::from(count * 3)]
    });
}
