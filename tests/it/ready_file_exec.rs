//! Ready by a file, a program, or a line in a file: the real binary beside files and programs that do what they like.

use std::fs;
use std::io::Write;

use crate::scene::*;
use crate::support::ports::Port;
use crate::support::shim::Builder;
use crate::support::{Game, Scratch, ScriptedSdk, millis, proc, secs, shim, wait};

fn by(name: &str, value: &str) -> Builder {
    shim().set(name, value).set("HEALTH_INTERVAL_SECS", "0.2")
}

/// Why the liveness or readiness probe fails.
#[track_caller]
fn reason(name: &str, value: &str) -> String {
    let mut shim = by(name, value).set("PROBE_TIMEOUT_SECS", "0.5").var("PATH", "/usr/bin:/bin").without_sdk().spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    stops_cleanly(&mut shim);
    line
}

#[test]
fn every_file_must_be_there() {
    let scratch = Scratch::new("ready-files");
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let paths = format!("{}, {}", scratch.path("ready"), scratch.path("map"));
    let mut shim = by("READY_FILE", &paths).set("LIVE_TCP", game.port()).sdk(&sdk).spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    assert!(line.contains(&format!("file {}: no such file or directory", scratch.path("map"))), "{line}");
    scratch.append("ready", "");
    wait::let_pass(millis(300));
    sdk.assert_none("Ready");
    fs::create_dir(scratch.path("map")).expect("a directory is there too");
    sdk.wait_for_call("Ready", SOON);
    // It tells nothing of the game's life.
    fs::remove_file(scratch.path("ready")).expect("it was there");
    more_beats(&sdk, 5);
    stops_cleanly(&mut shim);
}

#[test]
fn a_sidecar_with_nothing_that_tells_life_does_not_start() {
    for (name, value) in [("READY_FILE", "/nowhere"), ("READY_LOG", "x")] {
        let end = shim().set(name, value).set("GAME_LOG_FILE", "/nowhere").run(secs(10));
        assert_eq!(end.code, 78, "{end:?}");
        assert!(end.stderr.contains(&format!("AGONES_SHIM_{name}: tells that the game server has begun")), "{end:?}");
    }
    let end = shim().set("READY_LOG", "(").set("READY_TCP", 1).run(secs(10));
    assert!(end.stderr.contains("is not a regular expression: at \"(\", found open group without"), "{end:?}");
}

#[test]
fn a_program_decides_on_readiness_and_on_liveness() {
    let scratch = Scratch::new("ready-program");
    let sdk = ScriptedSdk::start();
    let script = scratch.script("check", "echo looking; test \"$1\" = 'a b' && test -e \"$2\"");
    let command = format!("{script} 'a b' {}", scratch.path("up"));
    let status = format!("127.0.0.1:{}", Port::reserve().number());
    let builder = by("READY_EXEC", &command).set("LIVE_FAILURE_THRESHOLD", "2").set("STATUS_ADDR", &status);
    let mut shim = builder.sdk(&sdk).spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    // The name, and none of the arguments.
    assert!(line.contains(&format!("exec {script}: exit code 1, it said")) && line.contains("looking"), "{line}");
    scratch.append("up", "");
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 3);
    let page = crate::support::shim().args(["status", &status]).run(SOON).stdout;
    assert!(page.contains(&format!("exec {script}")) && !page.contains("a b"), "{page}");
    fs::remove_file(scratch.path("up")).expect("it was there");
    shim.expect_code(69, SOON);
    shim.assert_no_line("a b");
    sdk.assert_none("Shutdown");
}

#[test]
fn a_program_that_fails_says_why() {
    let scratch = Scratch::new("ready-reasons");
    let plain = scratch.path("plain");
    scratch.append("plain", "echo");
    let killed = scratch.script("killed", "ulimit -c 0; kill -SEGV $$");
    for (command, wanted) in [
        ("no-such-program", "\"no-such-program\\\" was not found in PATH=/usr/bin:/bin: write its full path"),
        (plain.as_str(), "may not be executed: chmod +x it"),
        ("sh -c 'exit 7'", "exec sh: exit code 7"),
        ("sh -c 'echo one; echo two >&2; exit 3'", "exec sh: exit code 3, it said"),
        (killed.as_str(), "killed by SIGSEGV"),
        ("sleep 60", "exec sleep: timed out after 0.5s"),
        ("yes", "exec yes: timed out after 0.5s, it said"),
    ] {
        let line = reason("READY_EXEC", command);
        assert!(line.replace('\\', "").contains(&wanted.replace('\\', "")), "{wanted:?} is missing in {line:?}");
    }
}

#[test]
fn a_program_that_writes_megabytes_passes() {
    let sdk = ScriptedSdk::start();
    let mut shim = by("READY_EXEC", "sh -c 'head -c 20000000 /dev/zero; exit 0'").sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    assert!(shim.rss() < 64 << 20, "{} bytes resident", shim.rss());
    stops_cleanly(&mut shim);
}

/// Its group is killed whether it passes, fails or hangs; so is what it has put into the background.
#[test]
fn nothing_of_a_program_stays() {
    for end in ["exit 0", "exit 1", "sleep 60"] {
        let scratch = Scratch::new(&end.replace(' ', "-"));
        let script = scratch.script("check", &format!("sleep 60 & echo $! >{}; {end}", scratch.path("pid")));
        let mut shim = by("READY_EXEC", &script).set("PROBE_TIMEOUT_SECS", "1").without_sdk().spawn();
        let daemon = scratch.pid("pid");
        wait::until_true("the end of what it left behind", SOON, || !proc::is_alive(daemon));
        stops_cleanly(&mut shim);
    }
}

/// One that leaves its group lives on, and holds the pipe: the probe does not wait for it.
#[test]
fn a_daemon_of_a_program_does_not_hold_the_round_up() {
    let scratch = Scratch::new("ready-daemon");
    let script = scratch.script("check", &format!("setsid sleep 5 & echo $! >{}; exit 0", scratch.path("pid")));
    let sdk = ScriptedSdk::start();
    let mut shim = by("READY_EXEC", &script).set("PROBE_TIMEOUT_SECS", "4").sdk(&sdk).spawn();
    let call = sdk.wait_for_call("Ready", SOON);
    assert!(call.at - shim.started() < secs(3), "{:?}", call.at - shim.started());
    stops_cleanly(&mut shim);
}

#[test]
fn a_program_does_not_outlive_the_shim() {
    let scratch = Scratch::new("ready-outlives");
    let script = scratch.script("check", &format!("echo $$ >{}; exec sleep 60", scratch.path("pid")));
    let mut shim = by("READY_EXEC", &script).set("PROBE_TIMEOUT_SECS", "30").without_sdk().spawn();
    let pid = scratch.pid("pid");
    assert!(proc::is_alive(pid));
    stops_cleanly(&mut shim);
    wait::until_true("the end of the program", SOON, || !proc::is_alive(pid));
}

#[test]
fn a_program_is_no_child_to_the_wrapper() {
    let scratch = Scratch::new("ready-wrapper");
    let script = scratch.script("check", "sleep 0.05 & echo to the log and not to the game; exit 0");
    let sdk = ScriptedSdk::start();
    let mut shim = by("READY_EXEC", &script).sdk(&sdk).args(["--", "sh", "-c", "read line; exit 5"]);
    shim = shim.stdin(std::process::Stdio::piped());
    let mut shim = shim.spawn();
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 10);
    let zombies = || proc::children(shim.pid()).into_iter().filter(|&pid| proc::state(pid) == Some('Z')).count();
    wait::until_true("no zombie", SOON, || zombies() == 0);
    shim.assert_no_line("to the log");
    drop(shim.stdin());
    shim.expect_code(5, SOON);
}

#[test]
fn a_hanging_program_delays_neither_stop_nor_beats() {
    let sdk = ScriptedSdk::start();
    let mut shim = by("READY_EXEC", "sleep 60").set("PROBE_TIMEOUT_SECS", "30").sdk(&sdk).spawn();
    more_beats(&sdk, 5);
    shim.signal(nix::sys::signal::Signal::SIGTERM);
    shim.expect_code(0, secs(5));
    sdk.assert_count("Shutdown", 1);
}

#[test]
fn probe_runs_the_program_too() {
    let scratch = Scratch::new("ready-probe");
    let script = scratch.script("check", &format!("sleep 60 & echo $! >{}; exit $1", scratch.path("pid")));
    let run = |code: &str| shim().set("LIVE_EXEC", format!("{script} {code}")).arg("probe").run(secs(10));
    assert_eq!(run("0").code, 0);
    let end = run("4");
    assert_eq!((end.code, end.stderr), (69, format!("agones-shim: exec {script}: exit code 4\n")));
    let daemon = scratch.pid("pid");
    wait::until_true("the end of what it left behind", SOON, || !proc::is_alive(daemon));
}

/// Beside a game that logs to a file.
fn by_log(scratch: &Scratch, game: &Game, sdk: &ScriptedSdk) -> Builder {
    by("READY_LOG", "^Server (started|ready)")
        .set("GAME_LOG_FILE", scratch.path("log"))
        .set("LIVE_TCP", game.port())
        .sdk(sdk)
}

#[test]
fn a_line_in_a_file_that_comes_late_means_ready() {
    let (scratch, game, sdk) = (Scratch::new("ready-late"), Game::open(), ScriptedSdk::start());
    let mut shim = by_log(&scratch, &game, &sdk).spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    assert!(line.contains("log: no such file or directory"), "{line}");
    scratch.append("log", "loading\nServer is not started\nServer sta");
    wait::let_pass(millis(300));
    sdk.assert_none("Ready");
    scratch.append("log", "rted in 3s\n");
    sdk.wait_for_call("Ready", SOON);
    // What comes after it means nothing any more, and nobody looks.
    fs::remove_file(scratch.path("log")).expect("it was there");
    wait::until_true("no thread that watches", SOON, || !proc::thread_names(shim.pid()).contains(&"watch".to_owned()));
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
}

#[test]
fn a_line_that_a_sidecar_finds_there_counts() {
    let (scratch, game, sdk) = (Scratch::new("ready-there"), Game::open(), ScriptedSdk::start());
    scratch.append("log", "Server ready");
    let mut shim = by_log(&scratch, &game, &sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn it_takes_as_many_lines_as_are_asked_for_across_rotation_and_truncation() {
    let (scratch, game, sdk) = (Scratch::new("ready-count"), Game::open(), ScriptedSdk::start());
    let mut shim = by_log(&scratch, &game, &sdk).set("READY_LOG_COUNT", 4).spawn();
    scratch.append("log", "Server started\n");
    wait::let_pass(millis(300));
    fs::rename(scratch.path("log"), scratch.path("log.1")).expect("moved");
    scratch.append("log.1", "Server started\n");
    scratch.append("log", "Server started\nand more\n");
    wait::let_pass(millis(500));
    sdk.assert_none("Ready");
    fs::write(scratch.path("log"), "Server started\n").expect("truncated and written");
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
}

/// The game is not started yet: the file is of an earlier one.
#[test]
fn the_wrapper_passes_over_what_an_earlier_run_has_written() {
    let (scratch, sdk) = (Scratch::new("ready-earlier"), ScriptedSdk::start());
    scratch.append("log", "Server started\n");
    let script = format!("read line; echo \"Server started\" >>{}; read line", scratch.path("log"));
    let mut shim = by("READY_LOG", "Server started")
        .set("GAME_LOG_FILE", scratch.path("log"))
        .sdk(&sdk)
        .stdin(std::process::Stdio::piped())
        .args(["--", "sh", "-c", &script])
        .spawn();
    more_beats(&sdk, 3);
    sdk.assert_none("Ready");
    let mut stdin = shim.stdin().expect("piped");
    stdin.write_all(b"go\n").expect("it reads");
    sdk.wait_for_call("Ready", SOON);
    drop(stdin);
    shim.expect_code(1, SOON);
}
