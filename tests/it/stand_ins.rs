//! Every file of `examples/games/` that has a row in `tests/data/games.tsv`, played from its start to its stop by a
//! stand-in that does what the row says: Ready when the game is and not before, two players counted and gone again,
//! saved, and exit code 0. `STAND_IN_ONLY` names the one file that is to be played.

use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::games::{Example, Home};
use crate::scene::SERVED;
use crate::support::local_sdk::LocalSdk;
use crate::support::ports::Port;
use crate::support::shim::{Builder, binary};
use crate::support::stand_in::{self, NAMES, PASSWORD, PORTS, ROW, Row};
use crate::support::{Shim, secs, shim, wait};

/// Played side by side: each mostly waits.
const AT_ONCE: usize = 8;
/// Hundreds of processes on a machine that may be busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);
/// All rows are whole.
const WHOLE: usize = 65;

/// What came of a game; `None` is good, else it says what was wrong.
#[derive(Default)]
struct Outcome {
    ready: Option<String>,
    counted: Option<String>,
    saved: Option<String>,
    exit: Option<String>,
}

impl Outcome {
    fn parts(&self) -> [&Option<String>; 4] {
        [&self.ready, &self.counted, &self.saved, &self.exit]
    }

    fn is_whole(&self) -> bool {
        self.parts().iter().all(|part| part.is_none())
    }
}

/// The files and the table are about the same games.
#[test]
fn each_game_that_no_package_brings_has_a_row() {
    let rows = Row::all();
    for row in &rows {
        Example::read(row.file());
    }
    for example in Example::all().iter().filter(|example| example.is_from_definitions()) {
        assert!(rows.iter().any(|row| row.file() == example.name()), "{} has no row", example.name());
    }
}

#[test]
fn each_file_is_played_from_its_start_to_its_stop() {
    let started = Instant::now();
    let wanted = std::env::var("STAND_IN_ONLY").ok();
    let mut rows = Row::all();
    rows.retain(|row| wanted.as_deref().is_none_or(|wanted| row.file() == wanted));
    let all = rows.len();
    let (rows, outcomes) = (Mutex::new(rows), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(row) = rows.lock().expect("no panic holds it").pop() else { break };
                    let outcome = play(&row);
                    outcomes.lock().expect("no panic holds it").push((row.file().to_owned(), outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no panic held it");
    outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
    let whole = outcomes.iter().filter(|(_, outcome)| outcome.is_whole()).count();
    println!("{}{whole} of {all} are whole, in {:.0?}", table(&outcomes), started.elapsed());
    assert_eq!((whole, outcomes.len()), (WHOLE.min(all), all), "see the table above");
}

fn table(outcomes: &[(String, Outcome)]) -> String {
    let mut text = "game | ready | counted | saved | exit 0 | whole\n".to_owned();
    for (file, outcome) in outcomes {
        let word = |is_good: bool| if is_good { "yes" } else { "NO" };
        let parts = outcome.parts().map(|part| word(part.is_none())).join(" | ");
        let _ = writeln!(text, "{file} | {parts} | {}", word(outcome.is_whole()));
        for wrong in outcome.parts().into_iter().flatten() {
            let _ = writeln!(text, "    {wrong}");
        }
    }
    text
}

fn play(row: &Row) -> Outcome {
    let home = Home::new(&format!("stand-in-{}", row.file()));
    home.write("rcon", format!("{PASSWORD}\n"));
    let example = Example::read(row.file());
    let has_names = example.variables().iter().any(|(name, _)| *name == "AGONES_SHIM_LIST_NAME");
    let sdk = LocalSdk::start(&[]);
    // For as long as it is played, nobody else gets its ports.
    let (builder, _ports) = with_own_ports(&example, &home);
    let builder = builder.var(ROW, row.line()).directory(&home.0).sdk_port(sdk.port());
    let builder = builder.set("HEALTH_INTERVAL_SECS", "0.5").set("COUNTER_INTERVAL_SECS", "0.3");
    let mut shim = builder.arg("--").args(stand_in::command()).spawn();
    let mut outcome = Outcome::default();
    let write = |file: &str, text: &str| home.write(file, text);
    let exists = |file: &str| home.0.join(file).exists();

    if wait::poll(PATIENCE, || (exists("started") || !shim.is_running()).then_some(())).is_none() || !exists("started")
    {
        outcome.ready = Some(format!("never started: {}", said(&shim)));
    }
    // Time for some rounds of probes, in which nothing may become ready. Ready() itself may take longer to come.
    wait::let_pass(secs(1));
    if sdk.state() != "Scheduled" || shim.count_lines(SERVED) > 0 {
        outcome.ready = Some(format!("{}, and it was not ready: {}", sdk.state(), said(&shim)));
    }
    write("ready", "");
    if wait::poll(PATIENCE, || (sdk.state() == "Ready" || !shim.is_running()).then_some(())).is_none()
        || sdk.state() != "Ready"
    {
        outcome.ready.get_or_insert_with(|| format!("state {}: {}", sdk.state(), said(&shim)));
    }
    // What is not ready will not be counted: no need to wait for long.
    let patience = if outcome.ready.is_none() { PATIENCE } else { secs(1) };
    for count in [0, 2, 1, 0] {
        write("players.new", &count.to_string());
        fs::rename(home.0.join("players.new"), home.0.join("players")).expect("the directory is ours");
        if wait::poll(patience, || shows(&sdk, count, has_names).then_some(())).is_none() {
            let lists = sdk.get("/v1beta1/lists/players").body;
            let now = format!("{} {lists}", sdk.get("/v1beta1/counters/players").body);
            outcome.counted = Some(format!("{count} players, and there is {now}: {}", said(&shim)));
            break;
        }
    }
    shim.signal(Signal::SIGTERM);
    let ended = wait::poll(PATIENCE, || (!shim.is_running()).then_some(()));
    outcome.saved = (!exists("saved")).then(|| format!("not saved: {}", said(&shim)));
    if exists("spinning") {
        outcome.saved = Some("it met the end of its stdin, and spins".to_owned());
    }
    let code = ended.map(|()| shim.expect_exit(PATIENCE));
    outcome.exit = (code != Some(0)).then(|| format!("exit code {code:?}: {}", said(&shim)));
    outcome
}

/// Counted, and by name where there are names.
fn shows(sdk: &LocalSdk, count: usize, has_names: bool) -> bool {
    let body = |path: &str| sdk.get(path).body.replace(' ', "");
    if !body("/v1beta1/counters/players").contains(&format!("\"count\":\"{count}\"")) {
        return false;
    }
    let list = if has_names { body("/v1beta1/lists/players") } else { return true };
    NAMES.iter().enumerate().all(|(at, name)| list.contains(&format!("\"{name}\"")) == (at < count))
}

fn said(shim: &Shim) -> String {
    let lines: Vec<String> = shim.output().lines().into_iter().map(|line| line.text).collect();
    lines[lines.len().saturating_sub(12)..].join("\n        ")
}

/// The variables of the file, with ports, binary and password of this test, and what keeps the ports.
fn with_own_ports(example: &Example, home: &Home) -> (Builder, Vec<Port>) {
    let mut builder = shim();
    let mut ports: Vec<(&str, Port)> = Vec::new();
    for (name, value) in example.variables() {
        let kind = match name.trim_start_matches("AGONES_SHIM_") {
            "READY_QUERY" | "COUNTER_QUERY" => PORTS[0],
            "READY_HTTP" | "COUNTER_JSON_URL" => PORTS[1],
            "STOP_HOOK" => PORTS[2],
            "RCON_PASSWORD_FILE" => {
                builder = builder.var(name, home.0.join("rcon"));
                continue;
            }
            _ => {
                builder = builder.var(name, value);
                continue;
            }
        };
        if !ports.iter().any(|(known, _)| *known == kind) {
            let is_udp = kind == PORTS[0] && !value.starts_with("minecraft:");
            ports.push((kind, if is_udp { Port::reserve_udp() } else { Port::reserve() }));
        }
        let port = ports.iter().find(|(known, _)| *known == kind).expect("kept above").1.number().to_string();
        let value = value.replace(number_in(value), &port);
        let value = value.replacen("/agones-shim ", &format!("{} ", binary().display()), 1);
        builder = builder.var(name, value).var(kind, port);
    }
    (builder, ports.into_iter().map(|(_, port)| port).collect())
}

/// The port in a URL: the digits behind the last colon that has some.
fn number_in(value: &str) -> &str {
    let behind = value.rsplit(':').find(|part| part.starts_with(|c: char| c.is_ascii_digit())).expect("a port");
    &behind[..behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len())]
}
