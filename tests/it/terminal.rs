//! A game with a console: keyboard, Ctrl-C, Ctrl-Z, `fg`, `bg`, window size and modes, on a pseudo-terminal.

use std::ffi::OsString;

use crate::support::pty::{INTERRUPT, QUIT, SUSPEND, Terminal};
use crate::support::specimen::specimen;
use crate::support::{millis, proc, secs, shim, wait};

const VARS: [(&str, &str); 2] = [("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1")];

fn wrapped<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Vec<OsString> {
    [shim::binary().into_os_string(), "--".into()].into_iter().chain(argv.into_iter().map(Into::into)).collect()
}

/// The shim alone on a terminal: nobody could `fg` it.
fn alone<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Terminal {
    Terminal::start(wrapped(argv), &VARS)
}

/// An interactive shell on a terminal.
fn shell() -> Terminal {
    let terminal = Terminal::start(["bash", "--norc", "--noprofile", "--noediting", "-i"], &VARS);
    terminal.wait_for(0, "prompt", secs(10));
    terminal
}

/// A command line that runs a script under the shim.
fn line(script: &str) -> String {
    format!("{} -- sh -c '{script}'\n", shim::binary().display())
}

#[test]
fn the_keyboard_reaches_the_game() {
    let mut terminal = alone(["sh", "-c", "echo up; read word; echo \"got $word\"; exit 5"]);
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
    assert_eq!(terminal.expect_exit(secs(5)), 5);
}

#[test]
fn ctrl_c_ctrl_z_and_window_sizes_come_once() {
    let mut terminal = alone(specimen(["signals"]));
    terminal.wait_for(0, "ready", secs(10));
    for (keys, signal) in [(INTERRUPT, 2), (QUIT, 3), (SUSPEND, 20)] {
        terminal.type_in(keys);
        // The terminal echoes the key as ^C, with no line of its own.
        terminal.wait_for_part(0, &format!("signal {signal}"), secs(5));
    }
    terminal.resize(40, 100);
    terminal.wait_for(0, "signal 28", secs(5));
    wait::let_pass(millis(200));
    let lines = terminal.lines_with("signal ");
    assert_eq!(lines, 4, "each once");
}

#[test]
fn a_game_that_dies_of_ctrl_c_is_the_end() {
    let mut terminal = alone(["sh", "-c", "echo up; exec sleep 60"]);
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(INTERRUPT);
    terminal.wait_for_part(0, "Ctrl-C went to the game itself", secs(10));
    assert_eq!(terminal.expect_exit(secs(10)), 130);
}

#[test]
fn where_nobody_could_wake_it_ctrl_z_does_nothing() {
    let mut terminal = alone(["sh", "-c", "echo up; while read word; do echo \"got $word\"; done"]);
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(SUSPEND);
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
}

#[test]
fn ctrl_z_stops_the_job_and_fg_brings_it_back() {
    let mut terminal = shell();
    for round in 1..=3 {
        let start = terminal.mark();
        terminal.type_in(&line("echo up; read word; echo \"got $word\"; exit 7"));
        terminal.wait_for(start, "up", secs(10));
        for _ in 0..round {
            let mark = terminal.mark();
            terminal.type_in(SUSPEND);
            terminal.wait_for_part(mark, "Stopped", secs(5));
            let shim = *proc::children(terminal.pid()).first().expect("the shim");
            let game = *proc::children(shim).first().expect("the game");
            assert_eq!((proc::state(shim), proc::state(game)), (Some('T'), Some('T')));
            terminal.type_in("fg\n");
            wait::until_true("the game in the foreground", secs(5), || terminal.foreground() == game);
        }
        terminal.type_in("hello\n");
        terminal.wait_for(start, "got hello", secs(5));
        terminal.type_in("echo code $?\n");
        terminal.wait_for(start, "code 7", secs(5));
    }
}

#[test]
fn bg_runs_it_on_and_a_read_in_the_background_stops_the_job() {
    let mut terminal = shell();
    terminal.type_in(&line("sleep 1 & echo up; wait; read word; echo \"got $word\"; exit 8"));
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(SUSPEND);
    terminal.wait_for_part(0, "Stopped", secs(5));
    let mark = terminal.mark();
    terminal.type_in("bg\n");
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    wait::until_true("a running shim", secs(5), || proc::state(shim) == Some('S'));
    // It reads out of turn: the shell sees a stopped job.
    wait::until_true("a stopped shim", secs(5), || proc::state(shim) == Some('T'));
    terminal.type_in("fg\n");
    let game = *proc::children(shim).first().expect("the game");
    wait::until_true("the game in the foreground", secs(5), || terminal.foreground() == game);
    terminal.type_in("hello\n");
    terminal.wait_for(mark, "got hello", secs(5));
    terminal.type_in("echo code $?\n");
    terminal.wait_for(mark, "code 8", secs(5));
}

#[test]
fn started_in_the_background_it_takes_the_terminal_when_it_is_brought_forward() {
    let mut terminal = shell();
    terminal.type_in(&line("echo up; sleep 1; read word; echo \"got $word\"; exit 9").replace('\n', " &\n"));
    terminal.wait_for(0, "up", secs(10));
    // Running: bash sends no CONT, it only hands the terminal to the shim's group.
    terminal.type_in("fg\n");
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    let game = *proc::children(shim).first().expect("the game");
    wait::until_true("the game in the foreground", secs(10), || terminal.foreground() == game);
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
    terminal.type_in("echo code $?\n");
    terminal.wait_for(0, "code 9", secs(5));
}

#[test]
fn the_shell_has_its_terminal_back_after_a_game_that_died_in_raw_mode() {
    // Not an interactive shell: one of those sets the modes itself.
    let script = line("stty raw -echo; kill -9 $$") + "stty -a; read word; echo \"word $word\"";
    let mut terminal = Terminal::start(["sh", "-c", &script], &VARS);
    let modes = terminal.wait_for_part(0, "icanon", secs(10));
    assert!(modes.contains(" icanon") || modes.starts_with("isig icanon"), "{modes}");
    assert!(!modes.contains("-icanon"), "{modes}");
    terminal.type_in("hello\n");
    terminal.wait_for(0, "word hello", secs(5));
    assert_eq!(terminal.expect_exit(secs(5)), 0);
}

#[test]
fn a_program_that_cannot_run_leaves_the_terminal_with_the_shell() {
    let script = format!("{} -- /nowhere; echo code $?; read word; echo \"word $word\"", shim::binary().display());
    let mut terminal = Terminal::start(["sh", "-c", &script], &VARS);
    terminal.wait_for(0, "code 127", secs(10));
    terminal.type_in("hello\n");
    terminal.wait_for(0, "word hello", secs(5));
}

#[test]
fn a_frozen_game_stays_under_watch() {
    let mut terminal = shell();
    terminal.type_in(&line("echo up; read word; echo \"got $word\"; exit 7"));
    terminal.wait_for(0, "up", secs(10));
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    let game = *proc::children(shim).first().expect("the game");
    crate::support::specimen::send(game, nix::libc::SIGSTOP);
    wait::until_true("a frozen game", secs(5), || proc::state(game) == Some('T'));
    wait::let_pass(millis(200));
    assert_ne!(proc::state(shim), Some('T'), "SIGSTOP is no Ctrl-Z");
    crate::support::specimen::send(game, nix::libc::SIGCONT);
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
}

#[test]
fn ctrl_z_stops_a_script_around_the_shim_with_it() {
    let mut terminal = shell();
    // The script does not exec: it and the shim are one job.
    let script = line("echo up; read word; echo \"got $word\"").replace('\n', "; echo after").replace('"', "\\\"");
    terminal.type_in(&format!("sh -c \"{}\"\n", script.replace("$word", "\\$word")));
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(SUSPEND);
    terminal.wait_for_part(0, "Stopped", secs(5));
    terminal.type_in("fg\nhello\n");
    terminal.wait_for(0, "got hello", secs(5));
    terminal.wait_for(0, "after", secs(5));
}

#[test]
fn a_closed_terminal_is_a_stop() {
    let mut terminal = alone(["sh", "-c", "trap '' HUP; trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done"]);
    terminal.wait_for(0, "up", secs(10));
    terminal.hang_up();
    assert_eq!(terminal.expect_exit(secs(10)), 3);
}

/// A line of its output is waited for: it passes through the shim.
const WATCHED: [(&str, &str); 2] = [("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_LOG", "never")];

#[test]
fn a_game_whose_output_is_looked_at_has_a_terminal_all_the_same() {
    let script = "test -t 0 && test -t 1 && test -t 2 && echo all three; stty -a <&1; trap 'stty size <&1' WINCH; read word; \
                  echo \"got $word\"; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(wrapped(["sh", "-c", script]), &WATCHED);
    terminal.wait_for(0, "all three", secs(10));
    terminal.wait_for_part(0, "rows 24; columns 80", secs(5));
    // The real one makes the line ends, and only that one.
    terminal.wait_for_part(0, "-opost", secs(5));
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
    assert_eq!(terminal.lines_with("hello"), 2, "one is the echo");
    terminal.resize(40, 100);
    terminal.wait_for(0, "40 100", secs(5));
    terminal.type_in(INTERRUPT);
    assert_eq!(terminal.expect_exit(secs(10)), 130);
}

#[test]
fn ctrl_z_and_fg_work_while_the_output_is_looked_at() {
    let terminal = Terminal::start(["bash", "--norc", "--noprofile", "--noediting", "-i"], &WATCHED);
    let mut terminal = terminal;
    terminal.wait_for(0, "prompt", secs(10));
    terminal.type_in(&line("echo up; read word; echo \"got $word\"; exit 7"));
    terminal.wait_for(0, "up", secs(10));
    terminal.type_in(SUSPEND);
    terminal.wait_for_part(0, "Stopped", secs(5));
    let shim = *proc::children(terminal.pid()).first().expect("the shim");
    let game = *proc::children(shim).first().expect("the game");
    assert_eq!((proc::state(shim), proc::state(game)), (Some('T'), Some('T')));
    terminal.type_in("fg\n");
    wait::until_true("the game in the foreground", secs(5), || terminal.foreground() == game);
    terminal.type_in("hello\n");
    terminal.wait_for(0, "got hello", secs(5));
    terminal.type_in("echo code $?\n");
    terminal.wait_for(0, "code 7", secs(5));
}
