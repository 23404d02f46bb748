//! SIGTERM at every moment: Shutdown() goes out, is confirmed, and is never lost while it could be delivered.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::{Answer, Applies, Game, Mode, Proxy, Reply, ScriptedSdk, Shim, millis, secs, shim, wait};

/// How long after `since` it ended.
fn ended_after(shim: &Shim, since: Instant) -> Duration {
    shim.exited_at().expect("it has ended").saturating_duration_since(since)
}

/// Cases 5 and 4.
#[test]
fn each_stop_signal_brings_shutdown_at_once_and_the_end_when_it_shows() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let (_game, sdk, mut shim) = ready();
        sdk.applies("Shutdown", Applies::After(secs(1)));
        let sent = Instant::now();
        shim.signal(signal);
        let call = sdk.wait_for_call("Shutdown", SOON);
        // A beat that is under way is waited for.
        assert!(call.at - sent < secs(5), "{signal}: Shutdown() came after {:?}", call.at - sent);
        shim.expect_code(0, STOP);
        assert!(ended_after(&shim, call.at) >= millis(900), "it left before Shutdown showed");
        assert_eq!(sdk.state(), "Shutdown");
        shim.wait_for_line(SHUTDOWN_LANDED, SOON);
    }
}

#[test]
fn a_shutdown_that_never_shows_is_called_again_and_ends_at_the_bound_with_an_error() {
    let (_game, sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "4"));
    sdk.applies("Shutdown", Applies::Never);
    let sent = Instant::now();
    shim.signal(Signal::SIGTERM);
    let first = sdk.wait_for_call("Shutdown", SOON);
    // Called again where it was acknowledged and does not show after 2 s.
    let second = sdk.wait_for_count("Shutdown", 2, beyond(2));
    assert!(second.at - first.at >= millis(1900), "{:?}", second.at - first.at);
    shim.expect_code(0, beyond(4));
    assert!(ended_after(&shim, sent) >= millis(3900), "{:?}", ended_after(&shim, sent));
    let line = shim.wait_for_line(SHUTDOWN_UNDELIVERED, SOON).text;
    assert!(line.contains("4s"), "{line}");
}

/// Case 6.
#[test]
fn a_gameserver_that_cannot_move_is_not_waited_for() {
    for state in ["Unhealthy", "Error"] {
        let (_game, sdk, mut shim) = ready();
        sdk.set_state(state);
        let sent = Instant::now();
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, SOON);
        assert!(ended_after(&shim, sent) < secs(6), "{state}: waited for what cannot come");
        let line = shim.wait_for_line(SHUTDOWN_POINTLESS, SOON).text;
        assert!(line.contains(state), "{line}");
        assert_eq!(sdk.state(), state);
    }
}

/// A Fleet scale-down: state Shutdown, then the deletion timestamp, and SIGTERM 50 ms later.
#[test]
fn a_gameserver_that_is_going_anyway_is_not_waited_for() {
    for deleting in [false, true] {
        let (_game, sdk, mut shim) = ready();
        if deleting {
            sdk.set_deleting();
        } else {
            sdk.set_state("Shutdown");
        }
        let sent = Instant::now();
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, SOON);
        assert!(ended_after(&shim, sent) < secs(6));
        shim.assert_no_line(SHUTDOWN_UNDELIVERED);
    }
}

/// Case 7.
#[test]
fn a_shutdown_that_fails_and_hangs_is_delivered_within_the_bound() {
    let (_game, sdk, mut shim) = ready();
    sdk.next("Shutdown", Answer::unavailable()).next("Shutdown", Answer::Hang(secs(5)));
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_count("Shutdown", 3, STOP);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
    shim.wait_for_line(SHUTDOWN_LANDED, SOON);
}

#[test]
fn a_second_signal_ends_the_waiting() {
    let (_game, sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "60"));
    sdk.applies("Shutdown", Applies::Never);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    shim.assert_stays(secs(1));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, SOON);
    shim.wait_for_line(STOP_REPEATED, SOON);
}

#[test]
fn an_sdk_server_that_leaves_after_its_acknowledgement_is_not_waited_for() {
    let (_game, mut sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "60"));
    sdk.applies("Shutdown", Applies::Never);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    shim.wait_for_line("acknowledged", SOON);
    sdk.close();
    shim.expect_code(0, beyond(3));
    shim.wait_for_line(SHUTDOWN_SDK_LEFT, SOON);
}

/// It crashed with the call in its memory, and comes back without it.
#[test]
fn an_sdk_server_that_comes_back_after_its_acknowledgement_is_called_again() {
    let (_game, mut sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "60"));
    sdk.applies("Shutdown", Applies::Never);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    shim.wait_for_line("acknowledged", SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.applies("Shutdown", Applies::After(millis(50)));
    let calls = sdk.count("Shutdown");
    sdk.open();
    sdk.wait_for_count("Shutdown", calls + 1, SOON);
    shim.expect_code(0, SOON);
    assert_eq!(sdk.state(), "Shutdown");
}

/// The SDK server is away when the signal comes, and back within the bound.
#[test]
fn a_stop_while_the_sdk_server_is_away_is_delivered_when_it_is_back() {
    let (_game, mut sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "30"));
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line(STOPPING, SOON);
    shim.assert_stays(secs(1));
    sdk.open();
    sdk.wait_for_call("Shutdown", beyond(2));
    shim.expect_code(0, SOON);
    assert_eq!(sdk.state(), "Shutdown");
}

/// Case 42, without being PID 1: see `host.rs` for that.
#[test]
fn a_stop_before_the_sdk_server_was_ever_reached_is_one_attempt() {
    let game = Game::closed();
    let mut shim = sidecar(&game).without_sdk().spawn();
    shim.wait_for_line(WAITING, SOON);
    let sent = Instant::now();
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, beyond(2));
    assert!(ended_after(&shim, sent) < secs(8), "the bound is 8 s");
    shim.wait_for_line(NEVER_REACHED, SOON);
}

#[test]
fn a_stop_beside_a_silent_port_is_one_attempt() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    proxy.set(Mode::Hang);
    let mut shim = sidecar(&game).sdk_port(proxy.port()).spawn();
    shim.wait_for_line(SERVED, SOON);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, beyond(2));
}

/// Case 42: the readiness wait, with an SDK server.
#[test]
fn a_stop_while_waiting_for_readiness_is_delivered() {
    let game = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
    sdk.assert_none("Ready");
}

/// From the first instant on: either the signal finds nothing to do, or Shutdown() goes out.
#[test]
fn a_stop_at_any_moment_of_the_start_ends_with_0_and_is_never_lost() {
    let game = Game::open();
    for delay in [0, 1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300] {
        let sdk = ScriptedSdk::start();
        let mut shim = sidecar(&game).sdk(&sdk).spawn();
        wait::let_pass(millis(delay));
        shim.signal(Signal::SIGTERM);
        // The handlers are the first statement of main; before it, the signal kills an ordinary process.
        let code = shim.expect_exit(STOP);
        assert!(code == 0 || code == -15, "{code} after {delay} ms");
        assert!(code == 0 || delay < 100, "no handler after {delay} ms");
        if sdk.count("GetGameServer") > 0 {
            assert_eq!(sdk.state(), "Shutdown", "after {delay} ms; {}", sdk.story());
        }
    }
}

/// The signal and Ready() in the same moment: Shutdown() is the last word.
#[test]
fn a_stop_in_the_moment_of_ready_ends_in_shutdown() {
    for delay in [0, 1, 20, 60, 300] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        let mut shim = sidecar(&game).sdk(&sdk).spawn();
        sdk.wait_for_call("Ready", SOON);
        wait::let_pass(millis(delay));
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown");
        sdk.assert_count("Ready", 1);
    }
}

/// The answer to Ready() comes when Shutdown() is the next thing to say: a Ready() after it would undo it.
#[test]
fn a_stop_while_ready_is_under_way_is_the_last_word() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::Late(millis(500)));
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
    sdk.assert_count("Ready", 1);
    sdk.assert_count("Shutdown", 1);
}

/// The same with the look that would have led to Ready().
#[test]
fn a_stop_during_the_look_before_ready_calls_no_ready() {
    let mut game = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    let looks = sdk.count("GetGameServer");
    sdk.next("GetGameServer", Answer::Late(millis(500)));
    game.listen();
    sdk.wait_for_count("GetGameServer", looks + 1, SOON);
    stops_cleanly(&mut shim);
    sdk.assert_none("Ready");
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_stop_while_allocated_is_delivered() {
    let (_game, sdk, mut shim) = ready();
    sdk.set_state("Allocated");
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

/// TERM during every blocking call: at most that one call is waited for.
#[test]
fn a_stop_during_a_call_that_hangs_waits_for_that_call_alone() {
    for method in ["GetGameServer", "Ready", "Health", "UpdateCounter"] {
        let game = Game::open();
        game.reply_at("/metrics", Reply::text("m 7\n"));
        let sdk = ScriptedSdk::start();
        sdk.set_counter("players", 0, 100).always(method, Answer::Hang(secs(60)));
        let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
        sdk.wait_for_call(method, SOON);
        if method == "GetGameServer" {
            // Nothing works without it; the server recovers after the signal.
            shim.signal(Signal::SIGTERM);
            shim.expect_code(0, STOP);
            continue;
        }
        let sent = Instant::now();
        shim.signal(Signal::SIGTERM);
        let shutdown = sdk.wait_for_call("Shutdown", STOP);
        // The call deadline (2 s), a new connection, and slack.
        assert!(shutdown.at - sent < beyond(2), "{method}: {:?}", shutdown.at - sent);
        shim.expect_code(0, STOP);
        assert_eq!(sdk.state(), "Shutdown", "{method}");
    }
}

#[test]
fn a_stop_while_a_counter_is_refused_is_delivered() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let sdk = ScriptedSdk::start();
    sdk.always("GetCounter", Answer::Hang(secs(60))).always("UpdateCounter", Answer::unknown("no"));
    let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
    sdk.wait_for_call("UpdateCounter", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_stop_while_the_scrape_drips_is_delivered() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n".repeat(100)).dripping(1));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = counting(sidecar(&game), &game).set("COUNTER_INTERVAL_SECS", "600").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    wait::until_true("a scrape", SOON, || game.requests().iter().any(|request| request.path == "/metrics"));
    let sent = Instant::now();
    stops_cleanly(&mut shim);
    assert!(ended_after(&shim, sent) < secs(6), "the scrape held it up");
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn a_stop_while_the_state_is_unknown_ends_at_the_bound() {
    let (_game, sdk, mut shim) = ready_with(|shim| shim.set("SHUTDOWN_TIMEOUT_SECS", "2"));
    sdk.always("GetGameServer", Answer::unknown("the cache has not synced"));
    let sent = Instant::now();
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    shim.expect_code(0, beyond(2));
    assert!(ended_after(&shim, sent) < beyond(2));
}

#[test]
fn a_hang_of_the_whole_sdk_server_ends_at_the_bound() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut proxy = Proxy::in_front_of(sdk.addr());
    let mut shim = sidecar(&game).sdk_port(proxy.port()).set("SHUTDOWN_TIMEOUT_SECS", "3").spawn();
    shim.wait_for_line(READY, SOON);
    proxy.set(Mode::Hang);
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, beyond(3));
    shim.wait_for_line(SHUTDOWN_UNDELIVERED, SOON);
}

#[test]
fn beats_go_on_until_shutdown_shows() {
    let (_game, sdk, mut shim) = ready();
    sdk.applies("Shutdown", Applies::After(secs(2)));
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    more_beats(&sdk, 4);
    shim.expect_code(0, STOP);
}

#[test]
fn a_storm_of_stop_signals_ends_with_0() {
    let (_game, sdk, mut shim) = ready();
    for _ in 0..200 {
        if shim.is_running() {
            shim.signal(Signal::SIGTERM);
        }
    }
    shim.expect_code(0, STOP);
    sdk.wait_for_call("Shutdown", SOON);
}

#[test]
fn storms_of_other_signals_change_nothing() {
    let (_game, sdk, mut shim) = ready();
    for _ in 0..1000 {
        shim.signal(Signal::SIGCHLD);
        shim.signal(Signal::SIGWINCH);
        shim.signal(Signal::SIGCONT);
        shim.signal(Signal::SIGPIPE);
    }
    more_beats(&sdk, 5);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

/// A sidecar that was frozen itself (a paused Pod, a suspended VM) goes on where it was.
#[test]
fn a_shim_that_was_stopped_itself_goes_on() {
    let (_game, sdk, mut shim) = ready();
    shim.signal(Signal::SIGSTOP);
    no_more_beats(&sdk, secs(3));
    shim.signal(Signal::SIGCONT);
    more_beats(&sdk, 3);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_stop_without_agones_is_immediate() {
    let game = Game::open();
    let mut shim = shim().set("READY_TCP", game.port()).set("SDK", "off").spawn();
    shim.wait_for_line(SERVED, SOON);
    let sent = Instant::now();
    stops_cleanly(&mut shim);
    assert!(ended_after(&shim, sent) < secs(8), "there is nobody to wait for");
}

/// The stop hook exists in sidecar mode too, and neither its failure nor its absence stops the stop.
#[test]
fn a_stop_hook_that_hangs_fails_or_is_missing_does_not_stop_the_stop() {
    for (hook, timeout) in [("/bin/sleep 60", "1"), ("/bin/false", "5"), ("/nonexistent/hook", "5"), ("/bin/true", "5")]
    {
        let (_game, sdk, mut shim) =
            ready_with(|shim| shim.set("STOP_HOOK", hook).set("STOP_HOOK_TIMEOUT_SECS", timeout));
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown", "{hook}");
    }
}
