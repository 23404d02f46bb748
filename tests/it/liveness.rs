//! When does a beat go out, and when is the game server gone? The real binary against games that freeze, falter
//! and die.

use std::time::{Duration, Instant};

use crate::scene::*;
use crate::support::game_process::GameProcess;
use crate::support::scripted_sdk::Call;
use crate::support::{Game, Reply, ScriptedSdk, Shim, millis, secs, shim, wait};

/// The longest time between two beats in a row, or from `since` to the first.
fn longest_gap(since: Instant, beats: &[Call]) -> Duration {
    let times: Vec<Instant> = std::iter::once(since).chain(beats.iter().map(|beat| beat.at)).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
}

/// Case 11, at five times the speed: period 1 s, three failures.
#[test]
fn a_game_that_starts_slowly_has_beats_from_the_first_second() {
    let mut game = Game::closed();
    let sdk = ScriptedSdk::start();
    sdk.set_health(1, 3);
    let mut shim = shim().set("READY_TCP", game.port()).sdk(&sdk).spawn();
    wait::let_pass(secs(8));
    game.listen();
    sdk.wait_for_call("Ready", SOON);
    more_beats(&sdk, 2);
    let gap = longest_gap(shim.started(), &sdk.calls_of("Health"));
    assert!(gap < secs(3), "{gap:?} without a beat: Unhealthy");
    stops_cleanly(&mut shim);
}

/// Case 12: an interval of 0.25 s, watched for sixty of them.
#[test]
fn beats_do_not_drift() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).set("HEALTH_INTERVAL_SECS", "0.25").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    let first = sdk.wait_for_new_call("Health", SOON);
    sdk.wait_for_count("Health", sdk.count("Health") + 59, secs(60));
    let beats = sdk.calls_of("Health").into_iter().map(|beat| beat.at).filter(|at| *at >= first.at);
    // Drift is what adds up: some of the last beats are where the first and the interval put them. One that the machine
    // was too busy for comes late, or not at all.
    let off = beats.zip(0..).skip(40).map(|(at, number)| {
        let expected = first.at + millis(250) * number;
        at.max(expected) - at.min(expected)
    });
    let least = off.min().expect("there are sixty");
    assert!(least < millis(400), "each of the last beats is off by at least {least:?}");
    stops_cleanly(&mut shim);
}

#[test]
fn the_interval_follows_from_the_period_of_the_gameserver() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_health(1, 3);
    let mut shim = shim().set("READY_TCP", game.port()).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    let first = sdk.wait_for_new_call("Health", SOON);
    let fifth = sdk.wait_for_count("Health", sdk.count("Health") + 4, SOON);
    let four = fifth.at - first.at;
    assert!((millis(1500)..secs(9)).contains(&four), "four intervals of 0.5 s took {four:?}");
    shim.assert_no_line(INTERVAL_TOO_LONG);
    stops_cleanly(&mut shim);
}

#[test]
fn a_set_interval_that_is_not_below_the_period_is_warned_about() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_health(1, 3);
    let mut shim = sidecar(&game).set("HEALTH_INTERVAL_SECS", "1").sdk(&sdk).spawn();
    shim.wait_for_line(INTERVAL_TOO_LONG, SOON);
    stops_cleanly(&mut shim);
}

/// A period that is not positive counts as unset.
#[test]
fn a_period_of_zero_or_less_counts_as_unset() {
    for period in [0, -5] {
        let game = Game::open();
        let sdk = ScriptedSdk::start();
        sdk.set_health(period, 3);
        let mut shim = shim().set("READY_TCP", game.port()).sdk(&sdk).spawn();
        shim.wait_for_line(READY, SOON);
        wait::let_pass(secs(2));
        assert!((1..=3).contains(&sdk.count("Health")), "one beat each 5 s; {}", sdk.story());
        stops_cleanly(&mut shim);
    }
}

/// Case 15.
#[test]
fn one_failed_probe_of_two_withholds_the_beat() {
    let (game, mut other) = (Game::open(), Game::closed());
    let sdk = ScriptedSdk::start();
    let both = format!("{},{}", game.port(), other.port());
    let mut shim = sidecar(&game).set("LIVE_TCP", both).set("LIVE_FAILURE_THRESHOLD", "1000").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    let line = shim.wait_for_line(LIVENESS_FAILED, SOON).text;
    assert!(line.contains(&other.port().to_string()) && line.contains("connection refused"), "{line}");
    assert!(!line.contains(&game.port().to_string()), "the probe that passed is named: {line}");
    no_more_beats(&sdk, secs(2));
    other.listen();
    shim.wait_for_line(LIVENESS_BACK, SOON);
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
}

#[test]
fn a_game_that_dies_after_ready_ends_the_shim_with_69_and_without_shutdown() {
    let (mut game, sdk, mut shim) = ready_with(|shim| shim.set("LIVE_FAILURE_THRESHOLD", "3"));
    more_beats(&sdk, 2);
    let died = Instant::now();
    game.die();
    shim.expect_code(69, SOON);
    shim.wait_for_line(LIVENESS_LOST, SOON);
    assert_eq!(shim.count_lines(LIVENESS_FAILED), 3, "one warning a round");
    sdk.assert_none("Shutdown");
    let late: Vec<_> = sdk.calls_of("Health").into_iter().filter(|beat| beat.at > died + secs(1)).collect();
    assert!(late.is_empty(), "beats for a dead game: {late:?}");
}

#[test]
fn the_threshold_lasts_as_long_as_agones_own_patience() {
    let mut game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_health(1, 4);
    let mut shim = shim().set("READY_TCP", game.port()).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 1);
    game.die();
    let died = Instant::now();
    shim.expect_code(69, beyond(5));
    // Eight rounds of half a second, the first up to one interval after the death.
    let after = shim.exited_at().expect("it has ended") - died;
    assert!(after >= secs(3), "gone after {after:?}");
}

#[test]
fn without_a_health_check_in_agones_the_end_says_that_nothing_replaces_the_server() {
    let mut game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.edit(|game_server| {
        let health = game_server.spec.as_mut().and_then(|spec| spec.health.as_mut()).expect("set at the start");
        health.disabled = true;
    });
    let mut shim = sidecar(&game).set("LIVE_FAILURE_THRESHOLD", "2").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    game.die();
    shim.expect_code(69, SOON);
    shim.wait_for_line(HEALTH_DISABLED, SOON);
}

/// Case 10b: a native sidecar that was restarted beside a dead game.
#[test]
fn a_restarted_shim_does_not_beat_for_a_dead_game() {
    for state in ["Ready", "Allocated", "Reserved"] {
        let game = Game::closed();
        let sdk = ScriptedSdk::start();
        sdk.set_state(state);
        let mut shim = sidecar(&game).set("LIVE_FAILURE_THRESHOLD", "3").sdk(&sdk).spawn();
        shim.expect_code(69, SOON);
        let first_failure = shim.wait_for_line(LIVENESS_FAILED, SOON).at;
        let late = sdk.calls_of("Health").iter().filter(|beat| beat.at > first_failure + millis(100)).count();
        assert_eq!(late, 0, "beats for a dead game; {}", sdk.story());
        sdk.assert_none("Ready");
        sdk.assert_none("Shutdown");
    }
}

/// A shim restarted beside a running match goes on beating, on the word of its liveness probes.
#[test]
fn a_restarted_shim_beats_for_a_living_game() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated");
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    more_beats(&sdk, 10);
    sdk.assert_none("Ready");
    stops_cleanly(&mut shim);
}

/// Case 16.
#[test]
fn a_game_that_freezes_for_a_while_costs_beats_and_nothing_else() {
    let game = GameProcess::start();
    let sdk = ScriptedSdk::start();
    let mut shim = shim()
        .set("READY_HTTP", game.url())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("PROBE_TIMEOUT_SECS", "1")
        .set("LIVE_FAILURE_THRESHOLD", "1000")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    game.freeze();
    let line = shim.wait_for_line(LIVENESS_FAILED, SOON).text;
    assert!(line.contains("timed out after 1s"), "{line}");
    no_more_beats(&sdk, secs(2));
    game.thaw();
    shim.wait_for_line(LIVENESS_BACK, SOON);
    more_beats(&sdk, 3);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_game_that_stays_frozen_is_gone() {
    let game = GameProcess::start();
    let sdk = ScriptedSdk::start();
    let mut shim = shim()
        .set("READY_HTTP", game.url())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        // Four rounds are 0.8 s, however long each of them could take.
        .set("PROBE_TIMEOUT_SECS", "20")
        .set("LIVE_FAILURE_THRESHOLD", "4")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    game.freeze();
    shim.expect_code(69, SOON);
    sdk.assert_none("Shutdown");
}

/// Case 16: the kernel accepts for a frozen game, so TCP alone cannot see it. Documented, and so asserted.
#[test]
fn a_tcp_probe_passes_on_a_frozen_game() {
    let mut game = GameProcess::start();
    let sdk = ScriptedSdk::start();
    let mut shim = shim()
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("LIVE_FAILURE_THRESHOLD", "3")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    game.freeze();
    more_beats(&sdk, 8);
    shim.assert_no_line(LIVENESS_FAILED);
    game.kill();
    shim.expect_code(69, SOON);
}

/// Case 16, a single 503.
#[test]
fn a_single_503_withholds_one_beat() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = http_sidecar(&game).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    game.reply_once(Reply::status(503));
    let line = shim.wait_for_line(LIVENESS_FAILED, SOON).text;
    assert!(line.contains("HTTP 503"), "{line}");
    shim.wait_for_line(LIVENESS_BACK, SOON);
    more_beats(&sdk, 5);
    assert_eq!(shim.count_lines(LIVENESS_FAILED), 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_probe_that_hangs_does_not_delay_the_stop() {
    let (game, silent) = (Game::open(), Game::open());
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .set("LIVE_HTTP", silent.url("/"))
        .set("PROBE_TIMEOUT_SECS", "60")
        .set("LIVE_FAILURE_THRESHOLD", "1000")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    silent.reply(Reply::silence());
    // Longer than a round's interval: whatever was under way has ended, and the next one hangs.
    wait::let_pass(secs(1));
    stops_cleanly_within(&mut shim, SOON);
    assert_eq!(sdk.state(), "Shutdown");
}

fn stops_cleanly_within(shim: &mut Shim, within: Duration) {
    shim.signal(nix::sys::signal::Signal::SIGTERM);
    shim.expect_code(0, within);
}

#[test]
fn liveness_counts_with_no_sdk_server_too() {
    let mut game = Game::open();
    let mut shim =
        sidecar(&game).without_sdk().set("SDK_CONNECT_TIMEOUT_SECS", "0.5").set("LIVE_FAILURE_THRESHOLD", "2").spawn();
    shim.wait_for_line(READY_PROBE_ONLY, SOON);
    game.die();
    shim.expect_code(69, SOON);
}

/// Setting either of LIVE_TCP and LIVE_HTTP replaces the whole readiness set.
#[test]
fn set_liveness_probes_replace_the_readiness_set() {
    let (mut game, other) = (Game::open(), Game::open());
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).set("LIVE_HTTP", other.url("/live")).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    game.die();
    more_beats(&sdk, 10);
    assert!(!other.requests().is_empty());
    shim.assert_no_line(LIVENESS_FAILED);
    stops_cleanly(&mut shim);
}

/// Case 20: a round leaves no descriptors behind, whatever becomes of its probes.
#[test]
fn probes_leave_no_descriptors_and_no_threads_behind() {
    let (game, silent) = (Game::open(), Game::open());
    silent.reply(Reply::silence());
    let refused = Game::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .set("HEALTH_INTERVAL_SECS", "0.05")
        .set("LIVE_TCP", format!("{},{}", game.port(), refused.port()))
        .set("LIVE_HTTP", format!("{},{}", game.url("/"), silent.url("/")))
        .set("PROBE_TIMEOUT_SECS", "0.05")
        .set("LIVE_FAILURE_THRESHOLD", "100000")
        .set("LOG", "error")
        .sdk(&sdk)
        .spawn();
    sdk.wait_for_call("Ready", SOON);
    game.wait_for_requests(20, SOON);
    let highest = |shim: &Shim| {
        let looks = (0..50).map(|_| {
            wait::let_pass(millis(10));
            (shim.fd_count(), shim.threads())
        });
        looks.fold((0, 0), |(fds, threads), (fd, thread)| (fds.max(fd), threads.max(thread)))
    };
    let before = highest(&shim);
    let requests = game.requests().len();
    game.wait_for_requests(requests + 60, secs(60));
    let after = highest(&shim);
    assert!(after.0 <= before.0 + 2, "descriptors: {} and then {}", before.0, after.0);
    assert!(after.1 <= before.1 + 2, "threads: {} and then {}", before.1, after.1);
    stops_cleanly(&mut shim);
}
