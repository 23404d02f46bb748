//! The game's output on its way through the wrapper, with lines looked for in it: bytes for each second of the shim's
//! own CPU. What the game and the reader of its output take is theirs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::figures::{Figure, Subject, Table};
use super::growth::Growth;
use super::meter::{self, megabytes};
use super::support::shim::binary;
use super::support::{Scratch, proc};
use super::{LINES_COUNTED, LINES_PASSED, LINES_WAITED, Plan};

/// As a game writes it, most of it chat and none of it what is looked for.
const LINES: &str = "[20:14:07] [Server thread/INFO]: <ann> who wants to trade some iron for wool?\n\
    [20:14:09] [Server thread/INFO]: <bob> me, at the spawn, in a minute\n\
    [20:14:11] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 2103ms or 42 ticks behind\n\
    [20:14:12] [User Authenticator #3/INFO]: UUID of player cid is 8667ba71-b85a-4004-af54-457a9734eed7\n\
    [20:14:13] [Server thread/INFO]: cid[/198.51.100.7:50112] logged in with entity id 271 at (12.5, 64.0, -3.5)\n";
const JOIN: &str = r"^\[[0-9:]+\] \[Server thread/INFO\]: (\w{1,16}) joined the game$";
const LEAVE: &str = r"^\[[0-9:]+\] \[Server thread/INFO\]: (\w{1,16}) left the game$";
const FILE: usize = 16 << 20;

/// The relay at two sizes: more of it takes as much longer, and no more memory.
pub fn sizes(table: &mut Growth, plan: &Plan) {
    const ROWS: [(&str, &str); 2] =
        [("output passed on: CPU for each GB", "s"), ("output passed on: growth of memory", "MB")];
    let scratch = Scratch::new("bench-lines");
    let path = page(&scratch);
    table.compare(plan.relay_sizes, "times 16 MB of output", &ROWS, |files| {
        let passed = relayed(&path, files, &[("READY_TEXT", "up now")]);
        [1e3 / passed.rate, megabytes(passed.grown)]
    });
}

fn page(scratch: &Scratch) -> String {
    scratch.file("lines", LINES.repeat(FILE / LINES.len()))
}

/// With nothing looked for but passed through, with the line that is waited for, and with two patterns that count.
pub fn relay(table: &mut Table, plan: &Plan) {
    let scratch = Scratch::new("bench-lines");
    let path = &page(&scratch);
    let counter = [("COUNTER_NAME", "players"), ("COUNTER_JOIN_LOG", JOIN), ("COUNTER_LEAVE_LOG", LEAVE)];
    for (name, vars) in [
        (LINES_PASSED, &[("READY_TEXT", "up now")][..]),
        (LINES_WAITED, &[("READY_LOG", r"^\[.*\]: Done \([0-9.]+s\)!")]),
        (LINES_COUNTED, &[&[("READY_TEXT", "up now")], &counter[..]].concat()),
    ] {
        let rates = (0..plan.relays).map(|_| relayed(path, plan.relayed_files, vars).rate);
        table.add(name, "MB/s", Subject::Shim, &Figure::median(rates.collect()));
    }
}

/// What passing output on took.
struct Relayed {
    /// Megabytes for each second of CPU.
    rate: f64,
    /// How far memory grew, in bytes.
    grown: u64,
}

fn relayed(path: &str, files: u32, vars: &[(&str, &str)]) -> Relayed {
    let script =
        format!("echo up now; sleep 0.5; for i in $(seq {files}); do cat {path}; done; echo; echo THE END; sleep 60");
    let mut command = Command::new(binary());
    command.args(["--", "sh", "-c", &script]).env_clear().env("PATH", "/usr/bin:/bin").env("AGONES_SHIM_SDK", "off");
    command.envs(vars.iter().map(|(name, value)| (format!("AGONES_SHIM_{name}"), value)));
    let mut shim =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let pid = i32::try_from(shim.id()).expect("a process number");
    // Started, it sleeps until the first line.
    std::thread::sleep(Duration::from_millis(250));
    let (before, resident) = (meter::used(pid), proc::rss(pid));
    let mut out = shim.stdout.take().expect("piped");
    let (mut buffer, mut total) = (vec![0; 1 << 20], 0);
    loop {
        let length = out.read(&mut buffer).expect("a pipe");
        total += length;
        if length == 0 || buffer[..length].ends_with(b"THE END\n") {
            break;
        }
    }
    // What was passed on last is looked at a moment later.
    std::thread::sleep(Duration::from_millis(100));
    let cpu = meter::used(pid).since(before).cpu;
    let grown = proc::peak_rss(pid).saturating_sub(resident);
    let _ = shim.kill();
    let _ = shim.wait();
    #[allow(clippy::cast_precision_loss)]
    let rate = total as f64 / 1e6 / cpu.as_secs_f64();
    Relayed { rate, grown }
}
