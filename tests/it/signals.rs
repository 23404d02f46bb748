//! Which signals the wrapper hears, passes on, and to whom.

use std::process::Stdio;

use nix::libc;
use nix::sys::signal::Signal;

use crate::support::shim::{Builder, Shim};
use crate::support::specimen::{send, specimen, wrap};
use crate::support::{millis, proc, secs, wait};

/// Starts a shim around a specimen that prints its signals.
fn printer(builder: impl FnOnce(Builder) -> Builder) -> (Shim, i32) {
    let mut shim = builder(wrap(specimen(["signals"]))).spawn();
    shim.wait_for_line("ready", secs(10));
    let line = shim.output().matching("pid ").remove(0).text;
    let pid = line["pid ".len()..].parse().expect("a pid");
    (shim, pid)
}

/// The signals that the specimen has printed.
fn printed(shim: &Shim) -> Vec<i32> {
    shim.output()
        .matching("signal ")
        .iter()
        .filter_map(|line| line.text.strip_prefix("signal ")?.parse().ok())
        .collect()
}

/// Every signal that an init passes on: all but those which cannot be caught, mean a fault, belong to the terminal's
/// driver or to the C library.
pub fn forwardable() -> Vec<i32> {
    (1..=64)
        .filter(|signal| {
            ![
                libc::SIGKILL,
                libc::SIGSTOP,
                libc::SIGCHLD,
                libc::SIGTTIN,
                libc::SIGTTOU,
                libc::SIGSEGV,
                libc::SIGBUS,
                libc::SIGILL,
                libc::SIGFPE,
                libc::SIGTRAP,
                libc::SIGABRT,
                libc::SIGSYS,
                32,
                33,
            ]
            .contains(signal)
        })
        .collect()
}

#[test]
fn every_other_signal_reaches_the_child_once_and_unchanged() {
    let (mut shim, _) = printer(|shim| shim);
    let stops = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
    let mut sent: Vec<i32> = forwardable().into_iter().filter(|signal| !stops.contains(signal)).collect();
    // The one that ends the specimen comes last.
    sent.retain(|&signal| signal != libc::SIGUSR2);
    sent.push(libc::SIGUSR2);
    for &signal in &sent {
        send(shim.pid(), signal);
        shim.wait_for_line(&format!("signal {signal}"), secs(5));
    }
    shim.expect_code(0, secs(5));
    assert_eq!(printed(&shim), sent);
}

#[test]
fn queued_real_time_signals_all_arrive() {
    let (mut shim, _) = printer(|shim| shim);
    for _ in 0..100 {
        send(shim.pid(), 64);
    }
    wait::until_true("a hundred signals", secs(5), || printed(&shim).len() == 100);
    send(shim.pid(), libc::SIGUSR2);
    shim.expect_code(0, secs(5));
}

#[test]
fn an_odd_signal_goes_to_the_child_alone_and_not_to_its_helpers() {
    let argv = specimen(["signals"]);
    let script = "trap 'echo got usr1' USR1; \"$@\" & while :; do wait; done";
    let mut shim = wrap(["sh", "-c", script, "sh"]).args(argv).spawn();
    shim.wait_for_line("ready", secs(10));
    shim.signal(Signal::SIGUSR1);
    shim.wait_for_line("got usr1", secs(5));
    wait::let_pass(millis(300));
    shim.assert_no_line("signal ");
}

/// Behind an entrypoint that gives up root, say, where the shim has no CAP_KILL.
#[test]
fn a_game_that_may_not_be_signalled_is_named_and_its_end_comes_through() {
    if !proc::we_are_root() {
        eprintln!("skipped: not root");
        return;
    }
    let game =
        ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "sh", "-c", "echo up; read word; exit 3"];
    let mut shim = wrap(game).stdin(Stdio::piped()).behind(["setpriv", "--bounding-set=-kill"]).spawn();
    let stdin = shim.stdin();
    shim.wait_for_line("up", secs(10));
    shim.signal(Signal::SIGTERM);
    let refused = shim.wait_for_line("whom the shim may not signal", secs(10)).text;
    assert!(refused.contains("SIGTERM"), "{refused}");
    shim.assert_stays(millis(300));
    drop(stdin);
    shim.expect_code(3, secs(10));
}

#[test]
fn each_stop_signal_becomes_the_configured_one() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let (mut shim, _) = printer(|shim| shim.set("STOP_SIGNAL", "QUIT"));
        shim.signal(signal);
        shim.wait_for_line("signal 3", secs(5));
        shim.signal(Signal::SIGUSR2);
        shim.expect_code(0, secs(10));
        assert_eq!(printed(&shim), [3, 12], "{signal}");
    }
}

#[test]
fn a_repeated_stop_signal_is_sent_to_the_child_again() {
    let (mut shim, _) = printer(|shim| shim);
    for times in 1..=3 {
        if times > 1 {
            // Sooner, it is the same request.
            wait::let_pass(millis(1100));
        }
        shim.signal(Signal::SIGTERM);
        wait::until_true("the stop signal", secs(5), || printed(&shim).len() >= times);
    }
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, secs(10));
}

#[test]
fn hup_is_passed_on_where_that_is_asked_for() {
    let (mut shim, _) = printer(|shim| shim.set("HUP", "pass"));
    shim.signal(Signal::SIGHUP);
    shim.wait_for_line("signal 1", secs(5));
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, secs(5));
    assert_eq!(printed(&shim), [1, 12]);
}

#[test]
fn under_nohup_a_hup_stops_nothing() {
    let (mut shim, _) = printer(|shim| shim.behind(["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]));
    shim.signal(Signal::SIGHUP);
    shim.wait_for_line("signal 1", secs(5));
    shim.assert_stays(millis(200));
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, secs(5));
    assert_eq!(printed(&shim), [1, 12]);
}

/// A background job of a shell ignores INT, a child of `trap ''` whatever it says: so does what it starts.
#[test]
fn a_stop_signal_that_was_ignored_at_the_start_stays_ignored() {
    for (name, signal) in [("TERM", Signal::SIGTERM), ("INT", Signal::SIGINT), ("HUP", Signal::SIGHUP)] {
        let ignoring = |shim: Builder| shim.behind(["sh", "-c", &format!("trap '' {name}; exec \"$@\""), "sh"]);
        let (mut shim, _) = printer(ignoring);
        shim.signal(signal);
        shim.wait_for_line(&format!("signal {}", signal as i32), secs(5));
        shim.assert_stays(millis(200));
        shim.assert_no_line("stopping");
        shim.signal(Signal::SIGUSR2);
        shim.expect_code(0, secs(5));
        let mut shim = ignoring(sidecar()).spawn();
        shim.wait_for_line("has started", secs(10));
        shim.signal(signal);
        shim.assert_stays(millis(500));
        shim.signal(if signal == Signal::SIGTERM { Signal::SIGINT } else { Signal::SIGTERM });
        shim.expect_code(0, secs(10));
    }
}

#[test]
fn what_came_before_the_child_waits_for_it() {
    // Blocked by env(1), pending across its exec: there before the shim's first instruction.
    let script = "kill -USR1 $$; kill -35 $$; kill -64 $$; kill -64 $$; exec \"$@\"";
    let (mut shim, _) = printer(|shim| {
        shim.behind(["env", "--block-signal=USR1", "--block-signal=35", "--block-signal=64", "sh", "-c", script, "sh"])
    });
    wait::until_true("the pending signals", secs(5), || printed(&shim).len() >= 4);
    send(shim.pid(), libc::SIGUSR2);
    shim.expect_code(0, secs(5));
    assert_eq!(printed(&shim), [10, 35, 64, 64, 12]);
}

#[test]
fn a_stop_signal_that_came_before_the_child_stops_it() {
    let mut shim = wrap(["sleep", "60"])
        .behind(["env", "--block-signal=TERM", "sh", "-c", "kill -TERM $$; exec \"$@\"", "sh"])
        .spawn();
    // The child starts with TERM blocked, as it was given: only the group's KILL, or nothing, ends it.
    shim.assert_stays(millis(300));
    let children = crate::support::proc::children(shim.pid());
    assert_eq!(children.len(), 1, "one sleep");
    send(children[0], libc::SIGKILL);
    shim.expect_code(137, secs(5));
}

// The sidecar: ctrlc.

fn sidecar() -> Builder {
    crate::support::shim().without_sdk().set("READY_TCP", 1)
}

#[test]
fn a_sidecar_hears_a_stop_that_came_before_its_first_instruction() {
    let script = "kill -TERM $$; exec \"$@\"";
    sidecar().behind(["env", "--block-signal=TERM", "sh", "-c", script, "sh"]).spawn().expect_code(0, secs(10));
}

#[test]
fn a_sidecar_under_nohup_outlives_the_terminal() {
    let mut shim = sidecar().behind(["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]).spawn();
    shim.wait_for_line("has started", secs(10));
    shim.signal(Signal::SIGHUP);
    shim.assert_stays(millis(500));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(10));
}

#[test]
fn each_stop_signal_ends_a_sidecar() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut shim = sidecar().spawn();
        shim.wait_for_line("has started", secs(10));
        shim.signal(signal);
        shim.expect_code(0, secs(10));
    }
}

#[test]
fn a_sidecar_runs_the_hook_and_reaps_it() {
    let mut shim = sidecar()
        .set("STOP_HOOK", "sh -c 'echo reason $AGONES_SHIM_STOP_REASON ${AGONES_SHIM_CHILD_PID-none}; exit 3'")
        .spawn();
    shim.wait_for_line("has started", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(10));
    shim.wait_for_line("reason signal none", secs(10));
    shim.wait_for_line("exit code 3", secs(10));
}
