//! Hosts that are hard on a process: no /etc/hosts, a read-only root, no user, no capabilities, closed or full
//! pipes, PID 1, little memory.
//!
//! Namespaces need a kernel that grants them. Where it does not, the test says so and proves nothing.

use std::io::Write as _;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::shim::{Builder, binary};
use crate::support::{Game, Reply, ScriptedSdk, Shim, proc, secs, wait};

/// Words that can stand before a program here; `None`, and a line, where the kernel or the image refuses.
pub fn possible(prefix: &[&'static str]) -> Option<Vec<&'static str>> {
    let works =
        Command::new(prefix[0]).args(&prefix[1..]).arg("/bin/true").output().is_ok_and(|out| out.status.success());
    if !works {
        // Past the harness's capture, so that it is seen in every run.
        let _ = writeln!(std::io::stderr().lock(), "SKIPPED, not possible here: {}", prefix.join(" "));
    }
    works.then(|| prefix.to_vec())
}

/// What makes of root a user without a name, a group or a capability.
pub const NOBODY: [&str; 7] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--bounding-set=-all",
];

/// The whole life of a sidecar behind this prefix: Ready, beats, Counter, Shutdown.
fn lives_behind(prefix: &[&'static str], settings: impl FnOnce(Builder) -> Builder) {
    let Some(prefix) = possible(prefix) else { return };
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let builder = counting(sidecar(&game), &game)
        .set("READY_HTTP", format!("http://localhost:{}/health", game.port()))
        .set("READY_TCP", format!("localhost:{}", game.port()));
    let mut shim = settings(builder).sdk(&sdk).behind(prefix).spawn();
    sdk.wait_for_call("UpdateCounter", SOON);
    more_beats(&sdk, 5);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
    sdk.assert_count("Ready", 1);
}

/// Case 22, the last part: `localhost` needs neither a resolver nor /etc/hosts.
#[test]
fn no_etc_at_all() {
    lives_behind(&["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o ro none /etc && exec \"$@\"", "sh"], |shim| shim);
}

#[test]
fn a_read_only_root() {
    let script = "mount -o remount,bind,ro / && ! touch /x 2>/dev/null && exec \"$@\"";
    lives_behind(&["unshare", "-rm", "sh", "-c", script, "sh"], |shim| shim);
}

#[test]
fn a_user_without_a_name_and_without_capabilities() {
    if !proc::we_are_root() {
        return lives_behind(&["env"], |shim| shim);
    }
    lives_behind(&NOBODY, |shim| shim);
}

#[test]
fn closed_standard_streams() {
    for script in ["exec \"$@\" <&-", "exec \"$@\" >&-", "exec \"$@\" 2>&-", "exec \"$@\" <&- >&- 2>&-"] {
        let game = Game::open();
        game.reply_at("/metrics", Reply::text("m 7\n"));
        let sdk = ScriptedSdk::start();
        sdk.set_counter("players", 0, 100);
        let mut shim = counting(sidecar(&game), &game).sdk(&sdk).behind(["/bin/sh", "-c", script, "sh"]).spawn();
        sdk.wait_for_call("UpdateCounter", SOON);
        more_beats(&sdk, 3);
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown", "{script}");
    }
}

/// A log collector that has hung must not stop the beats.
#[test]
fn a_full_stderr_pipe() {
    let mut game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .set("LOG", "trace")
        .set("HEALTH_INTERVAL_SECS", "0.02")
        .set("LIVE_FAILURE_THRESHOLD", "1000000")
        .sdk(&sdk)
        .stderr_unread()
        .spawn();
    sdk.wait_for_call("Ready", SOON);
    // A warning a round fills 64 KiB in a few hundred rounds.
    game.die();
    wait::let_pass(secs(12));
    game.listen();
    more_beats(&sdk, 20);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_stderr_that_nobody_holds_any_more() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).set("LOG", "trace").sdk(&sdk).stderr_unread().spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.drop_stderr();
    more_beats(&sdk, 10);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

const PID_1: [&str; 5] = ["unshare", "-rpf", "--kill-child", "--mount-proc", "--"];

/// Case 42, its first half.
#[test]
fn as_pid_1_a_stop_before_the_sdk_server_was_ever_reached_is_over_within_2_s() {
    let Some(prefix) = possible(&PID_1) else { return };
    let game = Game::closed();
    let mut shim = sidecar(&game).without_sdk().behind(prefix).spawn();
    shim.wait_for_line(WAITING, SOON);
    let sent = std::time::Instant::now();
    signal_pid_1(&shim, Signal::SIGTERM);
    shim.expect_code(0, beyond(2));
    assert!(shim.exited_at().expect("it has ended") - sent < secs(4));
}

/// Case 42, its second half. As PID 1 the kernel drops a SIGTERM that nobody handles.
#[test]
fn as_pid_1_a_stop_during_the_readiness_wait_is_delivered() {
    let Some(prefix) = possible(&PID_1) else { return };
    let game = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).behind(prefix).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    signal_pid_1(&shim, Signal::SIGTERM);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn as_pid_1_the_whole_life() {
    let Some(prefix) = possible(&PID_1) else { return };
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).behind(prefix).spawn();
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 3);
    signal_pid_1(&shim, Signal::SIGHUP);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

fn signal_pid_1(shim: &Shim, signal: Signal) {
    assert!(proc::runs(shim.pid(), &binary()), "{} is not the shim", shim.pid());
    shim.signal(signal);
}

/// 16 MiB: not as a cgroup, which a test may not make everywhere, but as the peak that the kernel has seen.
#[test]
fn the_peak_of_a_hard_life_fits_in_16_mib() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::huge("m 1\n", 15 * 1024 * 1024));
    game.reply_at("/health", Reply::huge("lorem ipsum\n", 15 * 1024 * 1024));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100_000_000);
    let mut shim = counting(http_sidecar(&game), &game).set("COUNTER_INTERVAL_SECS", "5").sdk(&sdk).spawn();
    sdk.wait_for_call("UpdateCounter", secs(60));
    more_beats(&sdk, 10);
    let peak = proc::peak_rss(shim.pid());
    assert!(peak > 0 && peak < 16 * 1024 * 1024, "{peak} bytes at the peak");
    stops_cleanly(&mut shim);
}

/// Few descriptors: what cannot be opened is a failed probe or a lost link, never an end.
#[test]
fn few_descriptors() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let script = "ulimit -n 24 && exec \"$@\"";
    let mut builder = sidecar(&game).sdk(&sdk).set("LIVE_FAILURE_THRESHOLD", "1000");
    builder = builder.set("LIVE_TCP", vec![game.port().to_string(); 40].join(","));
    let mut shim = builder.behind(["/bin/sh", "-c", script, "sh"]).spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.assert_stays(secs(3));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
}

/// TCP lets a socket connect to itself when the kernel picks the asked port as the source port too. With two ports to
/// pick from that is every other try; in real life it is one in some 28,000, or once in 20 minutes of waiting.
#[test]
fn a_closed_port_that_only_met_itself_never_counts_as_up() {
    let script = "ip link set lo up && echo '40000 40001' >/proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"";
    let prefix = ["unshare", "-rn", "sh", "-c", script, "sh"];
    let Some(prefix) = possible(&prefix) else { return };
    let finished = crate::support::shim::shim()
        .set("READY_TCP", "127.0.0.1:40000")
        .set("READY_TIMEOUT_SECS", "3")
        .without_sdk()
        .behind(prefix)
        .run(SOON);
    assert_eq!(finished.code, 69, "60 tries, and nobody ever listened: {finished:?}");
}
