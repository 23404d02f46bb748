//! The game's output on its way through the wrapper, with lines looked for in it: bytes for each second of the shim's
//! own CPU. What the game and the reader of its output take is theirs.

use std::io::Read;
use std::process::{Command, Stdio};

use super::figures::{Figure, Subject, Table};
use super::meter;
use super::support::shim::binary;
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

/// With nothing looked for but passed through, with the line that is waited for, and with two patterns that count.
pub fn relay(table: &mut Table, plan: &Plan) {
    let path = std::env::temp_dir().join(format!("agones-shim-bench-lines-{}", std::process::id()));
    std::fs::write(&path, LINES.repeat(FILE / LINES.len())).expect("a file of our own");
    let path = path.to_str().expect("UTF-8");
    let counter = [("COUNTER_NAME", "players"), ("COUNTER_JOIN_LOG", JOIN), ("COUNTER_LEAVE_LOG", LEAVE)];
    for (name, vars) in [
        (LINES_PASSED, &[("READY_TEXT", "up now")][..]),
        (LINES_WAITED, &[("READY_LOG", r"^\[.*\]: Done \([0-9.]+s\)!")]),
        (LINES_COUNTED, &[&[("READY_TEXT", "up now")], &counter[..]].concat()),
    ] {
        let rates = (0..plan.relays).map(|_| rate(path, plan.relayed_files, vars));
        table.add(name, "MB/s", Subject::Shim, Figure::median(rates.collect()));
    }
    let _ = std::fs::remove_file(path);
}

fn rate(path: &str, files: usize, vars: &[(&str, &str)]) -> f64 {
    let script =
        format!("echo up now; sleep 0.5; for i in $(seq {files}); do cat {path}; done; echo; echo THE END; sleep 60");
    let mut command = Command::new(binary());
    command.args(["--", "sh", "-c", &script]).env_clear().env("PATH", "/usr/bin:/bin").env("AGONES_SHIM_SDK", "off");
    command.envs(vars.iter().map(|(name, value)| (format!("AGONES_SHIM_{name}"), value)));
    let mut shim =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let pid = i32::try_from(shim.id()).expect("a process number");
    let before = meter::used(pid);
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
    std::thread::sleep(std::time::Duration::from_millis(100));
    let cpu = meter::used(pid).since(before).cpu;
    let _ = shim.kill();
    let _ = shim.wait();
    #[allow(clippy::cast_precision_loss)]
    let megabytes = total as f64 / 1e6;
    megabytes / cpu.as_secs_f64()
}
