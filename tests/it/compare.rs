//! The wrapper beside tini and dumb-init, each of Debian's package, in one run: the table of docs/entrypoint.md.
//!
//! The page has to have the same rows with the same verdicts; times are the machine's, and are not compared.
//! `cargo test compare -- --nocapture` prints the table.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::signal::Signal;

use super::signals::forwardable;
use crate::support::pty::{SUSPEND, Terminal};
use crate::support::shim::{self, Builder};
use crate::support::specimen::{orphans_reaped, send, specimen};
use crate::support::{millis, secs, wait};

const VARS: [(&str, &str); 3] =
    [("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];

/// One of the three.
struct Tool {
    words: Vec<OsString>,
}

impl Tool {
    /// The tool around a program.
    fn around<A: Into<OsString>>(&self, argv: impl IntoIterator<Item = A>) -> Builder {
        let builder = Builder::of(&self.words[0]).args(&self.words[1..]).args(argv.into_iter().map(Into::into));
        VARS.iter().fold(builder, |builder, (name, value)| builder.var(name, value))
    }

    fn sh(&self, script: &str) -> Builder {
        self.around(["sh", "-c", script])
    }
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// As PID 1 of a namespace: dumb-init takes in no orphans otherwise.
fn pid_1(builder: Builder) -> Builder {
    builder.behind(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
}

fn signals(tool: &Tool) -> String {
    let stops = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
    let wanted: Vec<i32> = forwardable().into_iter().filter(|signal| !stops.contains(signal)).collect();
    let arrives = |signal: i32| {
        let mut process = tool.around(specimen(["signals"])).spawn();
        process.wait_for_line("ready", secs(10));
        send(process.pid(), signal);
        let line = format!("signal {signal}");
        wait::poll(secs(2), || (process.count_lines(&line) > 0 || !process.is_running()).then_some(()));
        process.count_lines(&line) > 0
    };
    let missing: Vec<i32> = wanted.iter().copied().filter(|&signal| !arrives(signal)).collect();
    match missing.as_slice() {
        [] => "yes".to_owned(),
        &[libc::SIGTSTP] => "TSTP comes as STOP".to_owned(),
        missing => format!("not {missing:?}"),
    }
}

fn helpers_spared(tool: &Tool) -> String {
    let script = "trap 'echo game got it' USR1; \"$@\" & while :; do wait; done";
    let mut process = tool.sh(script).arg("sh").args(specimen(["signals"])).spawn();
    process.wait_for_line("ready", secs(10));
    process.signal(Signal::SIGUSR1);
    process.wait_for_line("game got it", secs(5));
    // Sent together, if at all.
    wait::let_pass(millis(300));
    yes_or_no(process.count_lines("signal 10") == 0)
}

fn exit_codes(tool: &Tool) -> String {
    let codes = (0..=255).all(|code| tool.sh(&format!("exit {code}")).spawn().expect_exit(secs(10)) == code);
    let signals = [1, 2, 6, 9, 11, 15, 31, 40, 64].iter().all(|signal| {
        tool.sh(&format!("ulimit -c 0; kill -{signal} $$")).spawn().expect_exit(secs(10)) == 128 + signal
    });
    yes_or_no(codes && signals)
}

fn not_found(tool: &Tool) -> String {
    let codes: Vec<String> = ["/nowhere", "/tmp"]
        .iter()
        .map(|program| tool.around([program]).spawn().expect_exit(secs(10)).to_string())
        .collect();
    codes.join(", ")
}

fn no_shebang(tool: &Tool) -> String {
    // A file for each tool: they run side by side.
    let name = Path::new(&tool.words[0]).file_name().expect("a program").to_string_lossy().into_owned();
    let path = std::env::temp_dir().join(format!("agones-shim-compare-{name}-{}", std::process::id()));
    fs::write(&path, "exit 42\n").expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    let code = tool.around([&path]).spawn().expect_exit(secs(10));
    let _ = fs::remove_file(path);
    if code == 42 { "run by /bin/sh".to_owned() } else { code.to_string() }
}

fn as_without_it(tool: &Tool) -> String {
    let described = |prefix: &[&str]| {
        let argv = specimen(["describe"]);
        let rest = |text: &str| {
            text.lines()
                .filter(|line| !line.starts_with("leads"))
                .map(|line| line.to_owned() + "\n")
                .collect::<String>()
        };
        let builder = Builder::of(&argv[0]).args(&argv[1..]);
        let bare = VARS.iter().fold(builder, |builder, (name, value)| builder.var(name, value)).behind(prefix);
        rest(&bare.run(secs(10)).stdout) == rest(&tool.around(argv).behind(prefix).run(secs(10)).stdout)
    };
    let ignored = described(&["sh", "-c", "trap '' HUP PIPE; exec \"$@\"", "sh"]);
    let blocked = described(&["env", "--block-signal=USR1"]);
    let closed = described(&["sh", "-c", "exec \"$@\" <&-", "sh"]);
    match (ignored, blocked, closed) {
        (true, true, true) => "yes".to_owned(),
        (true, true, false) => "but does not start with stdin closed".to_owned(),
        (false, false, true) => "neither the mask nor what was ignored".to_owned(),
        other => format!("{other:?}"),
    }
}

fn orphans(tool: &Tool) -> String {
    let mut process = pid_1(tool.around(specimen(["orphans", "1000"]))).stdin(Stdio::piped()).spawn();
    let reaped = orphans_reaped(&mut process, 1000, secs(5));
    reaped.map_or_else(|| "no".to_owned(), |took| format!("yes, {} ms", took.as_millis()))
}

fn ignores_term(tool: &Tool) -> String {
    let mut process = tool.sh("trap '' TERM; echo up; sleep 1; exit 4").spawn();
    process.wait_for_line("up", secs(10));
    process.signal(Signal::SIGTERM);
    if process.expect_exit(secs(10)) == 4 { "waited for" } else { "left" }.to_owned()
}

fn server_behind_a_shell(tool: &Tool) -> String {
    let game = "trap 'echo saving; sleep 0.7; echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    // As PID 1, so that leaving early is what it is in a container.
    let mut process = pid_1(tool.around(["sh", "-c", "sh -c \"$1\"; true", "sh", game])).spawn();
    process.wait_for_line("up", secs(10));
    process.signal(Signal::SIGTERM);
    process.expect_exit(secs(10));
    match (process.count_lines("saving"), process.count_lines("saved")) {
        (1, 1) => "saves",
        (_, 0) => "killed",
        _ => "saves more than once",
    }
    .to_owned()
}

fn leaves(tool: &Tool) -> String {
    let mut process = tool.sh("setsid sleep 30 & sleep 0.1; exit 6").spawn();
    let start = Instant::now();
    let code = process.expect_exit(secs(40));
    yes_or_no(code == 6 && start.elapsed() < secs(15))
}

fn bytes(tool: &Tool) -> String {
    let hash = |mut command: Command| {
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).split_whitespace().next().unwrap_or_default().to_owned()
    };
    let source = "head -c 100000000 /dev/zero | tr '\\0' a";
    let shell = |script: String| {
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args(&tool.words).envs(VARS);
        hash(command)
    };
    let (bare, through) = (shell(format!("{source} | sha256sum")), shell(format!("{source} | \"$@\" cat | sha256sum")));
    yes_or_no(bare.len() == 64 && bare == through)
}

fn job_control(tool: &Tool) -> String {
    let (mut worked, mut failed) = (0, 0);
    // One that works now and then is told apart from one that works by a dozen rounds, from one that never does by four.
    while worked < 12 && failed < 4 && (worked == 0 || failed == 0) {
        if suspends_and_resumes(tool) { worked += 1 } else { failed += 1 }
    }
    match (worked, failed) {
        (_, 0) => "yes",
        (0, _) => "no",
        _ => "now and then",
    }
    .to_owned()
}

fn suspends_and_resumes(tool: &Tool) -> bool {
    let words: Vec<&str> = tool.words.iter().map(|word| word.to_str().expect("UTF-8")).collect();
    let mut terminal = Terminal::start(["bash", "--norc", "--noprofile", "--noediting", "-i"], &VARS);
    terminal.wait_for(0, "prompt", secs(10));
    terminal.type_in(&format!("{} sh -c 'echo up; read word; echo \"got $word\"'\n", words.join(" ")));
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(SUSPEND);
    if !terminal.shows("Stopped", secs(2)) {
        return false;
    }
    terminal.type_in("fg\nhello\n");
    terminal.shows("got hello", secs(2))
}

fn start_cost(tool: &Tool) -> String {
    let median = |words: &[OsString]| {
        let mut times: Vec<Duration> = (0..41)
            .map(|_| {
                let start = Instant::now();
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]).envs(VARS).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                assert!(command.status().expect("it starts").success());
                start.elapsed()
            })
            .collect();
        times.sort();
        times[times.len() / 2]
    };
    let program = [OsString::from("/bin/true")];
    let around = [tool.words.as_slice(), &program].concat();
    format!("{:.1} ms", median(&around).saturating_sub(median(&program)).as_secs_f64() * 1000.0)
}

/// A row's name and how to find its verdict.
type Row = (&'static str, fn(&Tool) -> String);

const ROWS: [Row; 13] = [
    ("every other signal reaches the game unchanged", signals),
    ("... and spares its helper processes", helpers_spared),
    ("every exit code, and 128+n for a signal", exit_codes),
    ("exit codes: no such program, a directory", not_found),
    ("a script whose first line names no interpreter", no_shebang),
    ("mask, ignored signals, closed descriptors as without it", as_without_it),
    ("1,000 orphans reaped (PID 1)", orphans),
    ("a game that ignores SIGTERM", ignores_term),
    ("a game behind a shell, at SIGTERM (PID 1)", server_behind_a_shell),
    ("does not wait for a daemon that left the group", leaves),
    ("100 MB through stdin and stdout unchanged", bytes),
    ("console: Ctrl-Z and fg", job_control),
    ("added to the start", start_cost),
];

/// Without what differs from machine to machine, or from run to run: whether dumb-init loses a keystroke does.
fn verdict(line: &str) -> String {
    let line = if line.starts_with("| console") {
        line.trim_end_matches(" |").rsplit_once('|').map_or(line, |(rest, _)| rest)
    } else {
        line
    };
    line.split(' ')
        .map(|word| if word.parse::<f64>().is_ok() && line.contains(" ms") { "N" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn compare_with_tini_and_dumb_init() {
    let shim = shim::binary();
    let tools: Vec<Tool> = [
        vec![shim.into_os_string(), "--".into()],
        vec!["/usr/bin/tini".into(), "-s".into(), "--".into()],
        vec!["/usr/bin/dumb-init".into(), "--".into()],
    ]
    .into_iter()
    .map(|words| Tool { words })
    .collect();
    if let Some(missing) = tools.iter().find(|tool| !Path::new(&tool.words[0]).exists()) {
        eprintln!("skipped: no {}", missing.words[0].display());
        return;
    }
    if !super::wrapper::may_unshare() {
        return;
    }
    // Side by side, but for the one row that measures.
    let (side_by_side, alone) = ROWS.split_at(ROWS.len() - 1);
    let columns: Vec<Vec<String>> = std::thread::scope(|scope| {
        let look = |tool| scope.spawn(move || side_by_side.iter().map(|(_, look)| look(tool)).collect());
        let threads: Vec<_> = tools.iter().map(look).collect();
        threads.into_iter().map(|thread| thread.join().expect("a column")).collect()
    });
    let mut table = String::from("| | agones-shim | tini | dumb-init |\n|---|---|---|---|\n");
    for (row, (name, _)) in side_by_side.iter().enumerate() {
        let _ = writeln!(table, "| {name} | {} | {} | {} |", columns[0][row], columns[1][row], columns[2][row]);
    }
    for (name, look) in alone {
        let _ = writeln!(table, "| {name} | {} | {} | {} |", look(&tools[0]), look(&tools[1]), look(&tools[2]));
    }
    println!("{table}");
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/entrypoint.md")).unwrap_or_default();
    let page: Vec<String> = page.lines().map(verdict).collect();
    let missing: Vec<&str> = table.lines().filter(|line| !page.contains(&verdict(line))).collect();
    assert!(missing.is_empty(), "docs/entrypoint.md has other verdicts, or no such rows:\n{}", missing.join("\n"));
}
