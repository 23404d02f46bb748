//! Ready by a line of the game's output, and that output's way through the wrapper: whole, in order, at once, and
//! never a reason for the life cycle to wait.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scene::*;
use crate::support::shim::{self, Builder};
use crate::support::specimen::specimen;
use crate::support::{Scratch, ScriptedSdk, millis, proc, secs, wait};

/// The wrapper around a shell script whose line is waited for.
fn watched(pattern: &str, script: &str) -> Builder {
    shim::shim()
        .set("READY_LOG", pattern)
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .var("PATH", "/usr/bin:/bin")
        .args(["--", "sh", "-c", script])
}

#[test]
fn a_line_of_either_stream_means_ready_at_once() {
    for stream in ["&1", "&2"] {
        let sdk = ScriptedSdk::start();
        let script = format!("echo loading; read go; echo Server started in 3s >{stream}; read end; exit 5");
        // No round comes by itself.
        let builder = watched("^Server started", &script).set("READY_INTERVAL_SECS", 600);
        let mut shim = builder.sdk(&sdk).stdin(Stdio::piped()).spawn();
        let line = shim.wait_for_line(WAITING, SOON).text;
        assert!(line.contains("no line matches yet"), "{line}");
        // The first Ready() comes no sooner than a second after the connection.
        wait::let_pass(secs(1));
        more_beats(&sdk, 3);
        sdk.assert_none("Ready");
        let mut stdin = shim.stdin().expect("piped");
        stdin.write_all(b"\n").expect("it reads");
        sdk.wait_for_call("Ready", SOON);
        // The child's life is its liveness.
        more_beats(&sdk, 5);
        drop(stdin);
        shim.expect_code(5, SOON);
    }
}

#[test]
fn a_line_is_one_however_it_is_written() {
    for (pattern, script) in [
        ("^Server started$", r"printf 'Server st'; sleep 0.3; printf 'arted\nmore'"),
        ("^Server started$", r"printf 'Server started\r\n'"),
        ("^Server started$", r"printf '\033[32mServer \033[1mstarted\033[0m\n'"),
        ("^Server started$", r"head -c 300000 /dev/zero | tr '\0' x; printf '\nServer started\n'"),
        ("^> $", r"printf 'loading\n> '"),
        ("^K.se$", r"printf 'K\377se\n'"),
        ("started", r"printf 'Server started'"),
    ] {
        let mut shim = watched(pattern, &format!("{script}; sleep 60")).without_sdk().spawn();
        shim.wait_for_line(SERVED, SOON);
    }
}

#[test]
fn it_takes_as_many_lines_as_are_asked_for_of_both_streams() {
    let sdk = ScriptedSdk::start();
    let script = "echo map up up; echo map up >&2; read go; echo map up; read end";
    let mut shim = watched("map up", script).set("READY_LOG_COUNT", 3).sdk(&sdk).stdin(Stdio::piped()).spawn();
    shim.wait_for_line("map up up", SOON);
    wait::let_pass(millis(500));
    sdk.assert_none("Ready");
    let mut stdin = shim.stdin().expect("piped");
    stdin.write_all(b"\n").expect("it reads");
    sdk.wait_for_call("Ready", SOON);
    drop(stdin);
    shim.expect_code(1, SOON);
}

/// What comes out of a program, by its checksum.
fn checksum(program: &mut Command) -> String {
    let mut child =
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let sum = Command::new("sha256sum").stdin(child.stdout.take().expect("piped")).output().expect("sha256sum starts");
    assert!(child.wait().expect("our own child").success());
    String::from_utf8(sum.stdout).expect("hex")
}

#[test]
fn two_hundred_megabytes_pass_unchanged() {
    for (lines, pattern) in [("24000000", "^1$"), ("3000000", "never (there|here)"), ("3000000", "never there")] {
        let mut wrapped = Command::new(shim::binary());
        wrapped.args(["--", "seq", lines]).envs([("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_LOG", pattern)]);
        assert_eq!(checksum(&mut wrapped), checksum(Command::new("seq").arg(lines)), "{lines} lines, {pattern}");
    }
}

#[test]
fn where_both_streams_are_one_their_order_is_kept() {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
    let end = watched("x", script)
        .set("LOG", "off")
        .set("SDK", "off")
        .behind(["sh", "-c", r#"exec "$@" 2>&1"#, "sh"])
        .run(secs(10));
    let wanted = (1..10).map(|i| format!("out {i}\nerr {i}")).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(end.stdout, wanted);
}

#[test]
fn each_stream_stays_itself() {
    let end = watched("x", "echo out; echo err >&2; exit 7").set("LOG", "off").set("SDK", "off").run(secs(10));
    assert_eq!((end.code, end.stdout.as_str(), end.stderr.as_str()), (7, "out\n", "err\n"));
}

#[test]
fn the_child_has_its_three_descriptors_and_what_was_closed_stays_closed() {
    let describe = |prefix: &str, settings: (&str, &str)| {
        let words = ["sh", "-c", prefix, "sh"];
        let builder = shim::shim().set("SDK", "off").set(settings.0, settings.1).arg("--").args(specimen(["describe"]));
        let end = builder.behind(words).run(secs(10));
        let text = end.stdout + &end.stderr;
        text.lines().filter(|line| line.starts_with("fd ")).map(str::to_owned).collect::<Vec<_>>()
    };
    for prefix in [r#"exec "$@""#, r#"exec "$@" 2>&-"#, r#"exec "$@" 2>/dev/null"#] {
        let wanted = describe(prefix, ("READY_TCP", "1"));
        let got = describe(prefix, ("READY_LOG", "x"));
        let numbers = |lines: &[String]| lines.iter().map(|line| line[..4].to_owned()).collect::<Vec<_>>();
        assert_eq!(numbers(&got), numbers(&wanted), "{prefix}");
    }
}

#[test]
fn a_log_file_leaves_the_child_s_descriptors_alone() {
    let scratch = Scratch::new("ready-untouched");
    let prefix = format!(r#"exec "$@" >{}"#, scratch.path("out"));
    let mut shim = watched("x", "readlink /proc/self/fd/1")
        .set("GAME_LOG_FILE", scratch.path("log"))
        .set("SDK", "off")
        .behind(["sh", "-c", &prefix, "sh"])
        .spawn();
    shim.expect_code(0, SOON);
    assert_eq!(std::fs::read_to_string(scratch.path("out")).expect("written").trim(), scratch.path("out"));
}

/// A named pipe as the shim's stdout, with our end of it.
fn named_pipe(scratch: &Scratch) -> (File, String) {
    let path = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo starts").success());
    let reader = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path).expect("our own pipe");
    (reader, format!(r#"exec "$@" >{path}"#))
}

#[test]
fn a_reader_that_stalls_holds_the_game_up_and_nothing_else() {
    let scratch = Scratch::new("ready-stalled");
    let (mut reader, prefix) = named_pipe(&scratch);
    let sdk = ScriptedSdk::start();
    let mut shim = watched("^y$", "exec yes").sdk(&sdk).behind(["sh", "-c", &prefix, "sh"]).spawn();
    shim.wait_for_line(READY, SOON);
    let game = *proc::children(shim.pid()).first().expect("the game");
    wait::until_true("a game that waits", SOON, || proc::state(game) == Some('S'));
    more_beats(&sdk, 5);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(143, secs(15));
    sdk.assert_count("Shutdown", 1);
    shim.wait_for_line("the game's last output is lost", SOON);
    let mut text = Vec::new();
    let _ = reader.read_to_end(&mut text);
    assert!(text.starts_with(b"y\ny\n"));
}

#[test]
fn a_reader_that_stalled_for_a_while_loses_nothing() {
    let scratch = Scratch::new("ready-paused");
    let (mut reader, prefix) = named_pipe(&scratch);
    let mut shim = watched("x", "seq 200000").set("SDK", "off").behind(["sh", "-c", &prefix, "sh"]).spawn();
    wait::let_pass(millis(500));
    let mut text = Vec::new();
    let mut buffer = vec![0; 65536];
    wait::until_true("the end of the output", SOON, || match reader.read(&mut buffer) {
        Ok(0) => !text.is_empty(),
        Ok(length) => {
            text.extend_from_slice(&buffer[..length]);
            false
        }
        Err(_) => false,
    });
    shim.expect_code(0, SOON);
    let wanted = (1..=200_000).map(|i| i.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    assert!(text == wanted.as_bytes(), "{} bytes of {}", text.len(), wanted.len());
}

#[test]
fn a_reader_that_goes_away_is_told_to_the_game() {
    let scratch = Scratch::new("ready-gone");
    let (reader, prefix) = named_pipe(&scratch);
    let mut shim = watched("^y$", "exec yes").set("SDK", "off").behind(["sh", "-c", &prefix, "sh"]).spawn();
    shim.wait_for_line(SERVED, SOON);
    drop(reader);
    shim.expect_code(128 + 13, SOON);
}

#[test]
fn a_stdout_that_somebody_made_non_blocking_loses_nothing() {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }, 0);
    let mut child = Command::new(shim::binary())
        .args(["--", "head", "-c", "1000000", "/dev/zero"])
        .envs([("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_LOG", "x")])
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    wait::let_pass(millis(200));
    let mut length = 0;
    let mut buffer = [0; 10_000];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        length += read;
    }
    assert_eq!((length, child.wait().expect("our own").code()), (1_000_000, Some(0)));
}

/// A daemon that keeps the streams open is no reason to stay, and what was written before is there.
#[test]
fn what_the_game_has_written_arrives_before_the_shim_leaves() {
    for script in ["seq 5000", "seq 5000; setsid sleep 30 &", "setsid sh -c 'seq 5000; exec sleep 30' & sleep 0.5"] {
        let mut shim = watched("x", script).set("SDK", "off").spawn();
        shim.expect_code(0, secs(20));
        let wanted: Vec<String> = (1..=5000).map(|i| i.to_string()).collect();
        let lines = shim.output().lines();
        let got: Vec<String> =
            lines.into_iter().map(|line| line.text).filter(|text| text.parse::<u32>().is_ok()).collect();
        assert!(got == wanted, "{script}: {} lines", got.len());
    }
}

#[test]
fn a_program_that_cannot_run_ends_as_ever() {
    let end = shim::shim().set("SDK", "off").set("READY_LOG", "x").args(["--", "/nowhere"]).run(secs(10));
    assert_eq!(end.code, 127, "{end:?}");
}

#[test]
fn a_game_that_ends_before_its_line_ends_the_shim() {
    let sdk = ScriptedSdk::start();
    let mut shim = watched("never", "sleep 0.5; exit 3").sdk(&sdk).spawn();
    shim.expect_code(3, SOON);
    sdk.assert_none("Ready");
}

/// The readiness deadline says how far it came.
#[test]
fn a_line_that_never_comes_ends_with_69_at_the_deadline() {
    let sdk = ScriptedSdk::start();
    let mut shim = watched("map up", "echo map up; exec sleep 60")
        .set("READY_LOG_COUNT", 2)
        .set("READY_TIMEOUT_SECS", 2)
        .sdk(&sdk)
        .spawn();
    shim.expect_code(69, beyond(2));
    let line = shim.wait_for_line(READY_TIMED_OUT, SOON).text;
    assert!(line.contains("1 of 2 lines match yet"), "{line}");
    sdk.assert_none("Shutdown");
}

/// With another probe beside it: the line alone is not enough.
#[test]
fn the_line_is_one_probe_among_others() {
    let mut game = crate::support::Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = watched("up", "echo up; exec sleep 60").set("READY_TCP", game.port()).sdk(&sdk).spawn();
    shim.wait_for_line(WAITING, SOON);
    wait::let_pass(millis(500));
    sdk.assert_none("Ready");
    game.listen();
    sdk.wait_for_call("Ready", SOON);
    let child = *proc::children(shim.pid()).first().expect("the game");
    kill(Pid::from_raw(child), Signal::SIGKILL).expect("our own");
    shim.expect_code(137, SOON);
}

#[test]
fn a_pattern_that_was_copied_from_the_log_is_warned_about_with_the_one_to_write() {
    for (pattern, remedy) in [
        (
            "[Server] Startup Completed",
            r"(set AGONES_SHIM_READY_TEXT to it instead, or write \[Server\] Startup Completed)",
        ),
        ("Done (3s)!", r"(set AGONES_SHIM_READY_TEXT to it instead, or write Done \(3s\)!)"),
        ("\"Startup Completed\"", "(docker's --env-file keeps them; write Startup Completed)"),
        ("/Startup/", "(write Startup)"),
    ] {
        let mut shim = watched(pattern, "sleep 60").without_sdk().spawn();
        let line = shim.wait_for_line("WARN  AGONES_SHIM_READY_LOG", SOON).text;
        assert!(line.ends_with(remedy), "{line}");
    }
    let good =
        ["Done", r"^\[.*INFO\]: Done \([0-9.]+s\)!", "[0-9]+ players", "up|ready", "Server.*started", "port [0-9]"];
    for pattern in good {
        let mut shim = watched(pattern, "sleep 60").without_sdk().spawn();
        shim.wait_for_line(WAITING, SOON);
        shim.assert_no_line("WARN  AGONES_SHIM_READY_LOG");
    }
}

#[test]
fn a_line_that_is_the_pattern_as_plain_text_is_named_once() {
    let script =
        "for i in 1 2 3; do echo '[Server] Startup Completed'; echo '[Server] Startup Completed' >&2; done; sleep 60";
    let mut shim = watched("[Server] Startup Completed", script).without_sdk().spawn();
    let line = shim.wait_for_line("a line has AGONES_SHIM_READY_LOG as plain text", SOON).text;
    assert!(line.contains(r#"line="[Server] Startup Completed""#), "{line}");
    assert!(line.contains(r#"write="\\[Server\\] Startup Completed""#), "{line}");
    wait::let_pass(millis(500));
    assert_eq!(shim.count_lines("as plain text"), 1);
    shim.assert_no_line(SERVED);
}

#[test]
fn a_game_that_writes_nothing_is_told_from_one_that_writes_something_else() {
    for (script, reason) in [
        ("sleep 60", "(no line yet)"),
        ("echo one line; sleep 60", r#"(1 line, which does not match: \"one line\")"#),
        ("printf 'line %s\\n' 1 2 3 4 5; sleep 60", r#"(5 lines, none matches, last: \"line 5\")"#),
    ] {
        let mut shim = watched("^up$", script).set("READY_TIMEOUT_SECS", 2).without_sdk().spawn();
        let line = shim.wait_for_line("did not become ready within", SOON).text;
        assert!(line.contains(reason), "{line}");
    }
}
