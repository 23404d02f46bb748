//! The game's console: a stop line on its stdin, what is passed on and what is not, and a terminal of its own.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::pty::{INTERRUPT, SUSPEND, Terminal};
use crate::support::shim::{self, Builder};
use crate::support::specimen::{specimen, wrap};
use crate::support::{Scratch, ScriptedSdk, Shim, millis, proc, secs, wait};

/// A file that a game or hook writes.
struct Note(Scratch);

impl Note {
    fn new(name: &str) -> Self {
        Self(Scratch::new(&format!("console-{name}")))
    }

    fn path(&self) -> String {
        self.0.path("note")
    }

    fn text(&self) -> String {
        self.0.text("note")
    }
}

/// A game with a console: says each line that it gets, saves for 2 s on `exit` and leaves with 0; at the end of its
/// stdin it says so. It says, and ignores, TERM and INT.
fn game(save: &Note) -> String {
    format!(
        "trap 'echo signalled' TERM INT; echo up; while read -r line; do printf 'got %s\\n' \"$line\"; if [ \"$line\" = exit ]; then \
         sleep 2; echo saved >>{}; exit 0; fi; done; echo EOF; while :; do sleep 0.1; done",
        save.path()
    )
}

fn sh(script: &str) -> Builder {
    wrap(["sh", "-c", script])
}

#[test]
fn shutdown_hook_line_and_no_signal_before_the_line_s_time_is_over() {
    let (save, hook) = (Note::new("order"), Note::new("order-hook"));
    let sdk = ScriptedSdk::start();
    let hook_command = format!("sh -c 'sleep 0.5; date +%s.%N >{}'", hook.path());
    let mut shim = sh(&game(&save))
        .set("SDK", "auto")
        .set("STOP_LINE", "exit")
        .set("STOP_HOOK", hook_command)
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line("up", SOON);
    more_beats(&sdk, 1);
    shim.signal(Signal::SIGTERM);
    let called = sdk.wait_for_call("Shutdown", SOON).at;
    let line = shim.wait_for_line("got exit", SOON).at;
    assert!(called < line);
    assert!(!hook.text().is_empty(), "the hook has ended before the line");
    assert_eq!(save.text(), "", "it saves");
    shim.expect_code(0, secs(10));
    assert_eq!(save.text(), "saved\n");
    shim.assert_no_line("signalled");
    shim.assert_no_line("EOF");
}

#[test]
fn what_comes_on_stdin_arrives_its_end_does_not_and_the_stop_line_comes_after() {
    let save = Note::new("stdin");
    let builder = sh(&game(&save)).set("STOP_LINE", r"say a\\b\nexit").stdin(Stdio::piped());
    let mut shim = builder.spawn();
    shim.wait_for_line("up", SOON);
    let mut stdin = shim.stdin().expect("piped");
    stdin.write_all(b"help\nhalf a ").expect("it reads");
    shim.wait_for_line("got help", SOON);
    drop(stdin);
    wait::let_pass(millis(300));
    shim.assert_no_line("EOF");
    shim.signal(Signal::SIGTERM);
    // Half a line does not swallow the first of ours.
    shim.wait_for_line("got half a", SOON);
    shim.wait_for_line(r"got say a\b", SOON);
    shim.expect_code(0, secs(10));
    assert_eq!(save.text(), "saved\n");
}

#[test]
fn a_child_that_would_spin_at_the_end_of_its_stdin_never_sees_one() {
    let mut shim = sh("cat >/dev/null; echo EOF").set("STOP_LINE", "stop").set("STOP_LINE_TIMEOUT_SECS", "0.5").spawn();
    shim.assert_stays(secs(1));
    let began = Instant::now();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(128 + 15, secs(10));
    assert!(began.elapsed() >= millis(500), "the line has its time");
    shim.wait_for_line("has not ended in time after the stop line", SOON);
    shim.assert_no_line("has died of the stop signal at once");
    shim.assert_no_line("EOF");
}

#[test]
fn bytes_are_passed_on_as_they_are() {
    let copy = Note::new("bytes");
    let bytes: Vec<u8> = (0..300_000u32).map(|n| ((n % 251) ^ (n / 251 % 251)).to_le_bytes()[0]).collect();
    let script = format!("head -c {} >{}; echo whole", bytes.len(), copy.path());
    let mut shim = sh(&script).set("STOP_LINE", "stop").stdin(Stdio::piped()).spawn();
    let mut stdin = shim.stdin().expect("piped");
    stdin.write_all(&bytes).expect("it reads");
    shim.wait_for_line("whole", secs(20));
    assert!(fs::read(copy.path()).expect("there") == bytes);
    drop(stdin);
    shim.expect_code(0, SOON);
}

#[test]
fn a_game_that_does_not_read_holds_up_neither_the_line_nor_the_stop_and_nothing_of_it_is_left() {
    for tty in [0, 1] {
        let sdk = ScriptedSdk::start();
        let builder = sh("sleep 61 & sleep 60").set("SDK", "auto").set("HEALTH_INTERVAL_SECS", "0.2").sdk(&sdk);
        // A pipe that is full takes no line, and its time does not begin; a terminal may still take one.
        let line_secs = [30, 2][tty];
        let builder = builder.set("STOP_LINE", "stop").set("STOP_LINE_TIMEOUT_SECS", line_secs);
        let mut shim = builder.set("TTY", tty).stdin(Stdio::piped()).spawn();
        let mut stdin = shim.stdin().expect("piped");
        // More than both pipes, or a terminal, hold.
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&b"some words\n".repeat(100_000))));
        more_beats(&sdk, 5);
        // And on a terminal, who keeps its session.
        wait::until_true("a shell and two that sleep", SOON, || proc::descendants(shim.pid()).len() == 3 + tty);
        let started = proc::descendants(shim.pid());
        let began = Instant::now();
        shim.signal(Signal::SIGTERM);
        sdk.wait_for_call("Shutdown", SOON);
        shim.expect_code(128 + 15, secs(10));
        assert!(began.elapsed() < secs(8), "nothing waits longer than for the line");
        if tty == 0 {
            shim.wait_for_line("does not read its stdin", secs(10));
        }
        wait::until_true("nothing left running", secs(10), || !started.iter().any(|&pid| proc::is_alive(pid)));
        assert_eq!(sdk.state(), "Shutdown");
        feeder.join().expect("it ends with the shim");
    }
}

/// A terminal that nobody has open any more takes nothing, and gives no error.
#[test]
fn what_a_game_on_a_terminal_leaves_unread_costs_nothing_once_it_has_ended() {
    let builder = wrap(["sleep", "60"]).set("STOP_LINE", "stop").set("TTY", 1).stdin(Stdio::piped());
    let builder = builder.set("STOP_HOOK", "sleep 4").set("STOP_HOOK_TIMEOUT_SECS", 20);
    let mut shim = builder.spawn();
    let mut stdin = shim.stdin().expect("piped");
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&b"some words\n".repeat(100_000))));
    wait::until_true("a full terminal", SOON, || shim.count_lines("some words") > 300);
    let is_game = |pid: &i32| proc::runs(*pid, Path::new("/usr/bin/sleep"));
    let game = wait::until("the game", SOON, || proc::descendants(shim.pid()).into_iter().find(is_game));
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("stopping", SOON);
    crate::support::specimen::send(game, nix::libc::SIGKILL);
    shim.wait_for_line("the game server has ended", SOON);
    let before = proc::ticks(shim.pid());
    shim.assert_stays(secs(2));
    let ticks = proc::ticks(shim.pid()) - before;
    assert!(ticks < 50, "{ticks} hundredths of a second in two seconds of waiting for the hook");
    shim.expect_code(128 + 9, SOON);
    feeder.join().expect("it ends with the shim");
}

#[test]
fn a_game_that_has_closed_its_stdin_gets_the_signal_at_once() {
    let mut shim = sh("exec <&-; echo up; exec sleep 60").set("STOP_LINE", "stop").spawn();
    shim.wait_for_line("up", SOON);
    let began = Instant::now();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(128 + 15, secs(10));
    assert!(began.elapsed() < secs(5));
    shim.wait_for_line("has closed its stdin", secs(10));
}

#[test]
fn a_repeated_stop_goes_on_to_the_signal_and_the_game_s_end_ends_it_all() {
    let mut shim =
        sh("trap 'echo term; exit 3' TERM; echo up; while :; do sleep 0.05; done").set("STOP_LINE", "x").spawn();
    shim.wait_for_line("up", SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("the stop line was written", SOON);
    shim.assert_stays(millis(1200));
    shim.assert_no_line("term");
    shim.signal(Signal::SIGTERM);
    shim.expect_code(3, SOON);
}

#[test]
fn a_lost_sdk_loses_no_line() {
    let save = Note::new("lost");
    let mut sdk = ScriptedSdk::start();
    let builder = sh(&game(&save)).set("SDK", "auto").set("STOP_LINE", "exit").set("HEALTH_INTERVAL_SECS", "0.2");
    let mut shim = builder.set("SHUTDOWN_TIMEOUT_SECS", 1).sdk(&sdk).spawn();
    shim.wait_for_line("up", SOON);
    more_beats(&sdk, 1);
    sdk.close();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    assert_eq!(save.text(), "saved\n");
    shim.assert_no_line("signalled");
}

// A terminal of its own.

/// Says what its terminal is.
const DESCRIBE: &str =
    "test -t 0 && test -t 1 && test -t 2 && echo all three; stty size; (: </dev/tty) && echo controls";

#[test]
fn a_game_has_a_terminal_although_the_shim_has_none() {
    let mut shim = sh(&format!("{DESCRIBE}; exit 4")).set("TTY", 1).spawn();
    shim.expect_code(4, SOON);
    for line in ["all three", "50 200", "controls"] {
        assert!(shim.output().lines().iter().any(|seen| seen.text == line), "{line}: {}", shim.output());
    }
}

#[test]
fn output_behind_block_buffering_comes_line_by_line() {
    let script = "while :; do echo tick; sleep 0.1; done | grep tick";
    let ticks = |builder: Builder| {
        let mut shim = builder.spawn();
        let came = wait::poll(secs(3), || (shim.count_lines("tick") >= 3).then_some(())).is_some();
        shim.signal(Signal::SIGKILL);
        shim.expect_exit(SOON);
        came
    };
    assert!(ticks(sh(script).set("TTY", 1)));
    assert!(!ticks(sh(script)), "it would be a poor test");
}

#[test]
fn the_stop_line_and_ready_log_work_on_a_terminal() {
    let save = Note::new("tty");
    let sdk = ScriptedSdk::start();
    let script = game(&save).replace("echo up", "printf 'Server is '; sleep 0.3; echo up");
    let mut shim = sh(&script)
        .set("SDK", "auto")
        .set("READY_LOG", "^Server is up$")
        .set("TTY", 1)
        .set("STOP_LINE", "exit")
        .sdk(&sdk)
        .unset("AGONES_SHIM_READY_TCP")
        .spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("got exit", SOON);
    shim.expect_code(0, STOP);
    assert_eq!(save.text(), "saved\n");
    shim.assert_no_line("signalled");
}

/// The kernel hangs up on all the others when the leader of a terminal's session ends.
#[test]
fn a_server_that_saves_behind_its_shell_is_not_hung_up_on() {
    let save = Note::new("behind");
    let server =
        format!("trap \"sleep 1; echo saved >{}; exit\" TERM; echo up; while :; do sleep 0.05; done", save.path());
    let mut shim = sh(&format!("sh -c '{server}' & wait")).set("TTY", 1).spawn();
    shim.wait_for_line("up", SOON);
    let (pid, started) = (shim.pid(), proc::descendants(shim.pid()));
    shim.signal(Signal::SIGTERM);
    shim.expect_exit(SOON);
    assert_eq!(save.text(), "saved\n");
    assert!(started.len() >= 3 && !proc::is_alive(pid));
    wait::until_true("nothing left running", secs(5), || !started.iter().any(|&pid| proc::is_alive(pid)));
}

#[test]
fn signals_reach_a_game_on_its_terminal_and_its_code_comes_through() {
    let mut shim = wrap(specimen(["signals"])).set("TTY", 1).spawn();
    shim.wait_for_line("ready", SOON);
    shim.signal(Signal::SIGUSR1);
    shim.wait_for_line("signal 10", SOON);
    shim.signal(Signal::SIGINT);
    shim.wait_for_line("signal 15", SOON);
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, SOON);
    let mut shim = sh("kill -9 $$").set("TTY", 1).spawn();
    shim.expect_code(128 + 9, SOON);
    let mut shim = wrap(["/nowhere"]).set("TTY", 1).spawn();
    shim.expect_code(127, SOON);
}

#[test]
fn as_pid_1_it_works_the_same() {
    if !super::wrapper::may_unshare() {
        return;
    }
    let save = Note::new("pid1");
    let mut shim: Shim = sh(&game(&save))
        .set("TTY", 1)
        .set("STOP_LINE", "exit")
        .behind(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
        .spawn();
    shim.wait_for_line("up", SOON);
    crate::support::specimen::send(shim.pid(), nix::libc::SIGTERM);
    shim.expect_code(0, STOP);
    assert_eq!(save.text(), "saved\n");
}

// Where the shim has a terminal.

const VARS: [(&str, &str); 3] =
    [("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1"), ("AGONES_SHIM_STOP_LINE", "exit")];

fn wrapped<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Vec<OsString> {
    [shim::binary().into_os_string(), "--".into()].into_iter().chain(argv.into_iter().map(Into::into)).collect()
}

fn line(script: &str) -> String {
    format!("{} -- sh -c '{script}'\n", shim::binary().display())
}

#[test]
fn keys_sizes_and_ctrl_c_as_on_a_real_one() {
    let script =
        format!("{DESCRIBE}; trap 'stty size' WINCH; read word; echo \"got $word\"; while :; do sleep 0.05; done");
    let mut terminal = Terminal::start(wrapped(["sh", "-c", &script]), &VARS);
    for part in ["all three", "24 80", "controls"] {
        terminal.wait_for(0, part, SOON);
    }
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", SOON);
    assert_eq!(terminal.lines_with("hello"), 2, "one is the echo");
    terminal.resize(40, 100);
    terminal.wait_for(0, "40 100", SOON);
    terminal.type_in(INTERRUPT);
    assert_eq!(terminal.expect_exit(SOON), 130);
}

#[test]
fn the_stop_line_comes_on_the_terminal_too_and_the_modes_come_back() {
    let save = Note::new("modes");
    let run = format!(
        "{} -- sh -c \"$GAME\"; echo code $?; stty -a; read word; echo \"word $word\"",
        shim::binary().display()
    );
    let game = game(&save);
    let vars: Vec<(&str, &str)> = VARS.into_iter().chain([("GAME", game.as_str())]).collect();
    let mut terminal = Terminal::start(["sh", "-c", &run], &vars);
    terminal.wait_for(0, "up", SOON);
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    crate::support::specimen::send(shim, nix::libc::SIGTERM);
    terminal.wait_for(0, "code 0", STOP);
    assert_eq!(save.text(), "saved\n");
    let modes = terminal.wait_for_part(0, "icanon", SOON);
    assert!(!modes.contains("-icanon"), "{modes}");
    terminal.type_in("hello\n");
    terminal.wait_for(0, "word hello", SOON);
}

#[test]
fn ctrl_z_stops_the_job_and_fg_brings_it_back() {
    let mut terminal = Terminal::start(["bash", "--norc", "--noprofile", "--noediting", "-i"], &VARS);
    terminal.wait_for(0, "prompt", SOON);
    terminal.type_in(&line("echo up; read word; echo \"got $word\"; exit 7"));
    terminal.wait_for(0, "up", SOON);
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    for _ in 0..2 {
        // The keys are the game's once the shim has seen to the modes.
        wait::let_pass(millis(300));
        let mark = terminal.mark();
        terminal.type_in(SUSPEND);
        terminal.wait_for_part(mark, "Stopped", SOON);
        assert_eq!(proc::state(shim), Some('T'));
        terminal.type_in("fg\n");
        wait::until_true("the shim in the foreground", SOON, || {
            terminal.foreground() == shim && proc::state(shim) == Some('S')
        });
    }
    wait::let_pass(millis(300));
    let mark = terminal.mark();
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", SOON);
    // What is typed before the shim has ended is the game's.
    terminal.wait_for(mark, "prompt", SOON);
    terminal.type_in("echo code $?\n");
    terminal.wait_for(0, "code 7", SOON);
}
