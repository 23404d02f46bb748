//! The wrapper as an init: what the child inherits, how it ends, who is reaped, what a stop waits for.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::libc;
use nix::sys::signal::Signal;

use crate::support::shim::{self, Builder};
use crate::support::specimen::{orphans_reaped, send, specimen, wrap};
use crate::support::{Scratch, millis, proc, secs, wait};

fn sh(script: &str) -> Builder {
    wrap(["sh", "-c", script])
}

#[test]
fn every_exit_code_comes_through() {
    for code in 0..=255 {
        sh(&format!("exit {code}")).spawn().expect_code(code, secs(10));
    }
}

#[test]
fn every_deadly_signal_becomes_128_plus_its_number() {
    let harmless = [17, 18, 19, 20, 21, 22, 23, 28, 32, 33];
    for signal in (1..=64).filter(|signal| !harmless.contains(signal)) {
        sh(&format!("ulimit -c 0; kill -{signal} $$")).spawn().expect_code(128 + signal, secs(10));
    }
}

#[test]
fn a_program_that_cannot_run_is_named_with_what_to_do() {
    let scratch = Scratch::new("wrapper-cannot-run");
    let plain = scratch.file_with_mode("plain", "echo hello\n", 0o644);
    let no_shebang = scratch.file_with_mode("no-shebang", "echo hello\n", 0o755);
    let no_interpreter = scratch.file_with_mode("no-interpreter", "#!/nowhere/sh\n", 0o755);
    let dir = scratch.directory().to_str().expect("UTF-8").to_owned();
    let missing = format!("{dir}/missing");
    for (program, code, message) in [
        ("no-such-game", 127, "was not found in PATH=/usr/bin:/bin: write its full path"),
        (missing.as_str(), 127, "was not found: check the path"),
        ("/etc/passwd/game", 127, "was not found: check the path"),
        (no_interpreter.as_str(), 127, "is there, but what runs it is not: the interpreter in its first line, or"),
        (dir.as_str(), 126, "is a directory, not a program"),
        (plain.as_str(), 126, "may not be executed: chmod +x it"),
        (no_shebang.as_str(), 126, "is neither a program for this machine nor a script: a script's first line has to"),
        ("", 127, "was not found: a program's name cannot be empty"),
    ] {
        let end = wrap([program]).var("PATH", "/usr/bin:/bin").run(secs(10));
        assert_eq!(end.code, code, "{program:?}: {end:?}");
        assert!(end.stderr.contains(message) && end.stderr.contains(program), "{program:?}: {end:?}");
        assert_eq!(end.stdout, "", "{program:?}");
    }
}

/// How a program starts without the shim and with it, behind the same words.
fn described(prefix: &[&str]) -> (String, String) {
    let argv = specimen(["describe"]);
    let bare = Builder::of(&argv[0]).args(&argv[1..]).behind(prefix).run(secs(10));
    let wrapped = wrap(&argv).behind(prefix).run(secs(10));
    assert_eq!((bare.code, wrapped.code), (0, 0), "{bare:?} {wrapped:?}");
    // The one thing that is meant to differ.
    assert!(wrapped.stdout.contains("leads its group true"), "{wrapped:?}");
    let rest = |text: &str| text.lines().filter(|line| !line.starts_with("leads")).collect::<Vec<_>>().join("\n");
    (rest(&bare.stdout), rest(&wrapped.stdout))
}

#[test]
fn the_child_starts_as_if_the_shim_were_not_there() {
    for prefix in [
        &[][..],
        &["sh", "-c", "trap '' HUP PIPE CHLD USR1 TSTP; cd /; umask 027; exec nice \"$@\"", "sh"],
        &["env", "--ignore-signal=INT", "--block-signal=TERM", "--block-signal=40"],
        &["sh", "-c", "exec \"$@\" <&- 7</dev/null", "sh"],
        &["sh", "-c", "exec \"$@\" 2>&-", "sh"],
    ] {
        let (bare, wrapped) = described(prefix);
        assert_eq!(bare, wrapped, "behind {prefix:?}");
        assert!(bare.contains("mask ") && bare.contains("cwd "), "{bare}");
    }
}

#[test]
fn the_environment_arrives_without_what_systemd_meant_for_the_shim() {
    let end = wrap(["env"])
        .var("PATH", "/usr/bin:/bin")
        .var("GAME", "chess")
        .var("LISTEN_ADDRESS", "0.0.0.0")
        .var("NOTIFY_SOCKET", "/nowhere")
        .var("WATCHDOG_PID", "1")
        .var("WATCHDOG_USEC", "90000000")
        .var("LISTEN_PID", "1")
        .var("LISTEN_FDS", "0")
        .var("LISTEN_FDNAMES", "")
        .run(secs(10));
    let has = |line: &str| end.stdout.lines().any(|other| other == line);
    assert!(has("GAME=chess") && has("LISTEN_ADDRESS=0.0.0.0") && has("PATH=/usr/bin:/bin"), "{end:?}");
    for name in ["NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
        assert!(!end.stdout.contains(name), "{name}: {end:?}");
    }
}

#[test]
fn a_hundred_megabytes_pass_unchanged() {
    let mut child = Command::new(shim::binary())
        .args(["--", "cat"])
        .envs([("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let block: Vec<u8> = (0..1_000_000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let sent = block.clone();
    let writer = std::thread::spawn(move || {
        for _ in 0..25 {
            stdin.write_all(&sent).expect("cat reads");
        }
    });
    let mut stdout = child.stdout.take().expect("piped");
    let mut got = vec![0; block.len()];
    for _ in 0..25 {
        stdout.read_exact(&mut got).expect("cat writes");
        assert!(got == block, "a block came out changed");
    }
    assert_eq!(stdout.read(&mut got).expect("the end"), 0);
    writer.join().expect("written");
    assert!(child.wait().expect("a child of ours").success());
}

fn zombies(pid: i32) -> usize {
    proc::children(pid).into_iter().filter(|&child| proc::state(child) == Some('Z')).count()
}

#[test]
fn a_thousand_orphans_are_reaped() {
    let mut shim = wrap(specimen(["orphans", "1000"])).stdin(Stdio::piped()).spawn();
    let took = orphans_reaped(&mut shim, 1000, secs(5));
    assert!(took.is_some(), "{} zombies are left", zombies(shim.pid()));
}

#[test]
fn negative_control_of_the_reaping_test() {
    let argv = specimen(["adopt"]);
    let adopter = Builder::of(&argv[0]).args(&argv[1..]).args(specimen(["orphans", "1000"]));
    let mut adopter = adopter.stdin(Stdio::piped()).behind(["env"]).spawn();
    assert_eq!(orphans_reaped(&mut adopter, 1000, secs(2)), None);
    wait::until_true("zombies that nobody reaps", secs(10), || zombies(adopter.pid()) == 1000);
}

#[test]
fn the_shim_stays_while_the_server_behind_a_shell_saves() {
    let scratch = Scratch::new("wrapper-saves");
    let saved = scratch.directory().join("saved");
    let game =
        format!("trap 'sleep 3; echo >{}; exit 0' TERM; echo ready; while :; do sleep 0.05; done", saved.display());
    let mut shim = wrap(["sh", "-c", "sh -c \"$1\"; true", "sh", &game]).spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(143, secs(20));
    assert!(saved.exists(), "it left before the server had saved");
}

#[test]
fn with_scope_child_the_helpers_are_left_alone() {
    let script = "trap 'echo stopping; exit 5' TERM; (trap 'echo helper hit' TERM; echo ready; sleep 2) & wait";
    let mut shim = sh(script).set("STOP_SCOPE", "child").spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("stopping", secs(5));
    shim.expect_code(5, secs(20));
    shim.assert_no_line("helper hit");
}

/// The child's own end: what it leaves behind was not to be touched.
#[test]
fn with_scope_child_the_helpers_are_left_alone_when_it_ends_by_itself() {
    let game = crate::support::Game::open();
    let script = "(trap 'echo helper hit' TERM; echo up; sleep 3; echo helper through) & \
                  read x; exit 0";
    let mut shim = sh(script).set("STOP_SCOPE", "child").set("READY_TCP", game.port()).stdin(Stdio::piped()).spawn();
    shim.wait_for_line("up", secs(10));
    shim.wait_for_line("ready, with no SDK server", secs(10));
    drop(shim.stdin());
    shim.expect_code(0, secs(10));
    wait::until_true("the helper's end", secs(10), || shim.count_lines("helper through") == 1);
    shim.assert_no_line("helper hit");
}

/// Its parent has left the group, lives on and reaps nobody: kill(2) finds it for ever.
#[test]
fn a_zombie_in_the_group_is_not_waited_for() {
    let mut shim = wrap(["sh", "-c", "\"$@\" & wait", "sh"]).args(specimen(["zombie"])).spawn();
    shim.wait_for_line("ready", secs(10));
    let line = shim.output().matching("pid ").remove(0).text;
    let parent: i32 = line["pid ".len()..].parse().expect("a pid");
    shim.signal(Signal::SIGTERM);
    let code = shim.expect_exit(secs(10));
    send(parent, libc::SIGKILL);
    assert_eq!(code, 143);
}

/// A shell's background job ignores SIGINT: the shell dies of it and the game does not hear it.
#[test]
fn a_game_that_its_shell_has_made_deaf_to_int_gets_term_and_is_named() {
    let game = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done";
    let mut shim = wrap(["sh", "-c", "sh -c \"$1\" & wait", "sh", game]).set("STOP_SIGNAL", "INT").spawn();
    shim.wait_for_line("ready", secs(10));
    let sent = Instant::now();
    shim.signal(Signal::SIGTERM);
    let line = shim.wait_for_line("waiting for what is left of its group", secs(3)).text;
    assert!(line.contains(" sh (ignores SIGINT)"), "{line}");
    let saved = shim.wait_for_line("saved", secs(15)).at;
    assert!(saved - sent >= millis(4900), "it was given no time: {:?}", saved - sent);
    shim.expect_code(130, secs(10));
    let line = shim.wait_for_line("ignores the stop signal", secs(10)).text;
    assert!(line.contains(" sh (ignores SIGINT)"), "{line}");
}

/// Beside one that hears it, and may be saving: that one is left alone.
#[test]
fn a_game_that_its_shell_has_made_deaf_to_int_gets_term_beside_one_that_is_not() {
    let game = "trap 'echo saved; exit 0' TERM; echo game up; while :; do sleep 0.1; done";
    let script = "sh -c \"$1\" & shift; env --default-signal=INT \"$@\" & wait";
    let shell = wrap(["sh", "-c", script, "sh", game]);
    let mut shim = shell.args(specimen(["signals"])).set("STOP_SIGNAL", "INT").spawn();
    shim.wait_for_line("game up", secs(10));
    shim.wait_for_line("ready", secs(10));
    let line = shim.output().matching("pid ").remove(0).text;
    let other: i32 = line["pid ".len()..].parse().expect("a pid");
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("signal 2", secs(10));
    shim.wait_for_line("saved", secs(20));
    shim.assert_stays(secs(1));
    shim.assert_no_line("signal 15");
    send(other, libc::SIGUSR2);
    shim.expect_code(130, secs(10));
}

/// It has a handler, and may be saving: a SIGTERM could end that.
#[test]
fn a_game_behind_a_shell_that_hears_the_stop_signal_gets_no_other() {
    let mut shim =
        wrap(["sh", "-c", "\"$@\"; true", "sh"]).args(specimen(["signals"])).set("STOP_SIGNAL", "USR1").spawn();
    shim.wait_for_line("ready", secs(10));
    let line = shim.output().matching("pid ").remove(0).text;
    let game: i32 = line["pid ".len()..].parse().expect("a pid");
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("signal 10", secs(5));
    shim.wait_for_line("waiting for what is left of its group", secs(5));
    shim.assert_stays(secs(7));
    send(game, libc::SIGUSR2);
    shim.expect_code(128 + 10, secs(10));
    shim.assert_no_line("signal 15");
}

#[test]
fn a_game_that_does_not_end_is_named_with_what_it_ignores() {
    let mut shim = sh("trap '' TERM; echo ready; while :; do sleep 0.1; done").spawn();
    shim.wait_for_line("ready", secs(10));
    let sent = Instant::now();
    shim.signal(Signal::SIGTERM);
    let line = shim.wait_for_line("has not ended", secs(20));
    assert!(line.at - sent >= millis(4900), "{:?}", line.at - sent);
    for part in ["after", "5s", " sh (ignores SIGTERM)", "AGONES_SHIM_STOP_SIGNAL", "AGONES_SHIM_STOP_HOOK"] {
        assert!(line.text.contains(part), "{part}: {}", line.text);
    }
}

#[test]
fn exit_codes_that_count_as_0_and_a_hint_at_a_game_that_saves_nothing() {
    let mut shim = wrap(["sleep", "60"]).set("STOP_OK_CODES", "143,130").spawn();
    wait::until_true("the game", secs(10), || !proc::children(shim.pid()).is_empty());
    shim.wait_for_line("waiting for the game server", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(10));
    shim.wait_for_line("has died of the stop signal at once", secs(10));
    let mut shim = wrap(["sh", "-c", "exit 143"]).set("STOP_OK_CODES", "143").spawn();
    shim.expect_code(143, secs(10));
}

#[test]
fn with_stop_signal_none_the_hook_alone_stops_the_game() {
    let scratch = Scratch::new("wrapper-none");
    let hook = hook(&scratch, "kill -USR2 $AGONES_SHIM_CHILD_PID");
    let mut shim = wrap(specimen(["signals"])).set("STOP_SIGNAL", "none").set("STOP_HOOK", hook).spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(10));
    shim.assert_no_line("signal 15");
    shim.wait_for_line("signal 12", secs(10));
}

/// The time in the line counts from the stop signal, not from the hook before it.
#[test]
fn the_time_in_killed_counts_from_the_signal() {
    let scratch = Scratch::new("wrapper-killed");
    let hook = hook(&scratch, "sleep 2");
    let mut shim = sh("trap '' TERM; echo ready; while :; do sleep 0.1; done")
        .set("STOP_HOOK", hook)
        .set("STOP_TIMEOUT_SECS", 1)
        .spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(137, secs(15));
    let line = shim.wait_for_line("sending SIGKILL", secs(10)).text;
    assert!(line.contains("AGONES_SHIM_STOP_TIMEOUT_SECS") && line.contains("after=1"), "{line}");
}

#[test]
fn a_child_that_ignores_term_and_saves_on_int() {
    let script = "trap '' TERM; trap 'echo saved; exit 0' INT; echo ready; while :; do sleep 0.05; done";
    let mut shim = sh(script).set("STOP_SIGNAL", "INT").spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("saved", secs(5));
    shim.expect_code(0, secs(10));
}

#[test]
fn a_child_that_ignores_every_stop_is_waited_for() {
    let mut shim = sh("trap '' TERM INT HUP; echo ready; sleep 4; exit 4").spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.signal(Signal::SIGTERM);
    shim.assert_stays(millis(600));
    shim.expect_code(4, secs(10));
}

#[test]
fn what_leaves_the_childs_group_does_not_hold_the_shim() {
    let mut shim = sh("setsid sleep 30 & sleep 0.1; exit 6").spawn();
    shim.expect_code(6, secs(15));
}

#[test]
fn an_entrypoint_script_can_exec_the_shim() {
    let script = "export GAME=chess; exec \"$@\"";
    let mut shim = sh("echo \"$GAME $$\"; exit 9").behind(["sh", "-c", script, "sh"]).spawn();
    shim.wait_for_line("chess", secs(5));
    shim.expect_code(9, secs(5));
}

// As PID 1 of a PID namespace, which only root may make.

fn pid_1(shim: Builder) -> Builder {
    shim.behind(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
}

/// PID namespaces can be made here.
pub fn may_unshare() -> bool {
    let may = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).status();
    let may = may.is_ok_and(|status| status.success());
    if !may {
        eprintln!("skipped: no PID namespaces here");
    }
    may
}

#[test]
fn as_pid_1_it_passes_codes_reaps_orphans_and_stops() {
    if !may_unshare() {
        return;
    }
    pid_1(sh("exit 3")).spawn().expect_code(3, secs(10));
    pid_1(sh("kill -9 $$")).spawn().expect_code(137, secs(10));
    let end = pid_1(sh("echo $PPID")).run(secs(10));
    assert_eq!(end.stdout, "1\n");

    let mut shim = pid_1(wrap(specimen(["orphans", "1000"]))).stdin(Stdio::piped()).spawn();
    let took = orphans_reaped(&mut shim, 1000, secs(5));
    assert!(took.is_some(), "{} zombies are left", zombies(shim.pid()));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(143, secs(10));
}

#[test]
fn as_pid_1_what_the_child_leaves_behind_ends_with_it() {
    if !may_unshare() {
        return;
    }
    let mut shim = pid_1(sh("setsid sleep 61 & echo started; read line")).stdin(Stdio::piped()).spawn();
    shim.wait_for_line("started", secs(10));
    let pid = shim.pid();
    let daemon = wait::until("the daemon", secs(5), || {
        proc::descendants(pid)
            .into_iter()
            .find(|&pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x0061\x00"))
    });
    drop(shim.stdin());
    shim.expect_code(1, secs(10));
    wait::until_true("the namespace's end", secs(5), || !proc::is_alive(daemon));
}

#[test]
fn around_freeciv_with_its_console_on_stdin() {
    let freeciv = "/usr/games/freeciv-server";
    if fs::metadata(freeciv).is_err() {
        eprintln!("skipped: no {freeciv}");
        return;
    }
    let port = crate::support::Port::reserve();
    let scratch = Scratch::new("wrapper-freeciv");
    fs::set_permissions(scratch.directory(), fs::Permissions::from_mode(0o777)).expect("our own directory");
    let number = port.number().to_string();
    let start = |scratch: &Scratch| {
        // It refuses to run as root.
        let as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let prefix = if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) { &as_nobody[..] } else { &[] };
        let mut shim = wrap(prefix)
            .args([freeciv, "--port", &number, "--bind", "127.0.0.1", "--Announce", "none", "--saves"])
            .arg(scratch.directory())
            .var("HOME", scratch.directory())
            .var("LC_ALL", "C")
            .stdin(Stdio::piped())
            .spawn();
        shim.wait_for_line("accepting new client connections", secs(30));
        let mut console = shim.stdin().expect("piped");
        console.write_all(b"set maxplayers 7\nshow maxplayers\n").expect("it reads");
        shim.wait_for_line("7", secs(10));
        (shim, console)
    };
    // The console ends it.
    let (mut shim, mut console) = start(&scratch);
    console.write_all(b"quit\n").expect("it reads");
    shim.expect_code(0, secs(10));
    // A stop ends it: freeciv catches TERM and says goodbye.
    let (mut shim, _console) = start(&scratch);
    shim.signal(Signal::SIGTERM);
    let code = shim.expect_exit(secs(15));
    assert!([0, 143].contains(&code), "freeciv ended with {code}");
}

// The stop hook.

/// A shell script as a stop hook; `$DIR` is the test's own directory.
fn hook(scratch: &Scratch, script: &str) -> String {
    scratch.file_with_mode("hook", format!("#!/bin/sh\nDIR={}\n{script}\n", scratch.directory().display()), 0o755)
}

#[test]
fn the_hook_ends_before_the_stop_signal_and_knows_the_child() {
    let scratch = Scratch::new("wrapper-hook");
    let hook = hook(
        &scratch,
        "echo hook for $AGONES_SHIM_CHILD_PID because of $AGONES_SHIM_STOP_REASON; read x || echo no stdin; \
         env > $DIR/env; sleep 0.3; echo > $DIR/done",
    );
    let told = format!("[ -e {} ] && echo told after the hook", scratch.directory().join("done").display());
    let mut shim = sh(&format!("trap '{told}; exit 3' TERM; echo pid $$; echo ready; while :; do sleep 0.05; done"))
        .set("STOP_HOOK", hook)
        .var("NOTIFY_SOCKET", "/nowhere")
        .spawn();
    shim.wait_for_line("ready", secs(10));
    let pid = shim.output().matching("pid ").remove(0).text["pid ".len()..].to_owned();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(3, secs(10));
    let line = shim.wait_for_line("hook for", secs(10));
    assert_eq!(line.text, format!("hook for {pid} because of signal"));
    assert_eq!(line.stream, crate::support::output::Stream::Stderr, "stdout belongs to the game");
    shim.wait_for_line("no stdin", secs(10));
    shim.wait_for_line("told after the hook", secs(10));
    let env = fs::read_to_string(scratch.directory().join("env")).expect("the hook wrote it");
    assert!(!env.contains("NOTIFY_SOCKET"), "{env}");
}

#[test]
fn a_hook_that_hangs_or_fails_or_is_missing_does_not_stop_the_stop() {
    let scratch = Scratch::new("wrapper-bad-hook");
    for (script, reason) in [
        (Some("trap '' TERM; echo hanging; while :; do sleep 0.1; done"), "timed out after 1s"),
        (Some("exit 3"), "exit code 3"),
        (Some("kill -9 $$"), "killed by SIGKILL"),
        (None, "was not found: check the path"),
    ] {
        let hook = script.map_or_else(|| "/nowhere/hook".to_owned(), |script| hook(&scratch, script));
        let mut shim = sh("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")
            .set("STOP_HOOK", hook)
            .set("STOP_HOOK_TIMEOUT_SECS", 1)
            .spawn();
        shim.wait_for_line("ready", secs(10));
        let start = Instant::now();
        shim.signal(Signal::SIGTERM);
        shim.expect_code(3, secs(10));
        assert!(start.elapsed() < secs(6), "{reason}: {:?}", start.elapsed());
        shim.wait_for_line(reason, secs(10));
    }
}

#[test]
fn a_hook_that_leaves_a_process_behind_does_not_hold_the_stop() {
    let scratch = Scratch::new("wrapper-daemon-hook");
    let hook = hook(&scratch, "sleep 8 & exit 0");
    let mut shim = sh("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done").set("STOP_HOOK", hook).spawn();
    shim.wait_for_line("ready", secs(10));
    let start = Instant::now();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(3, secs(7));
    assert!(start.elapsed() < secs(5), "it waited for what the hook left behind");
}

#[test]
fn a_hook_that_does_not_exist_is_named_at_the_stop() {
    let mut shim = sh("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")
        .set("STOP_HOOK", "/nowhere/save --now")
        .spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(3, secs(10));
    shim.wait_for_line("/nowhere/save", secs(10));
}
