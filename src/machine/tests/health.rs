//! Beats and liveness.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

#[test]
fn beats_come_from_the_first_connection_on_however_long_the_game_loads() {
    let mut world = World::started(config(), |_| ());
    world.run(90.0);
    assert_eq!(world.count("call Health"), 19, "{:#?}", world.trace);
    assert_eq!(world.exit, None);
}

#[test]
fn beats_do_not_drift() {
    let mut config = config();
    config.health_interval = Some(secs(1.0));
    let mut world = World::at_ready(config, |_| ());
    world.run(60.0);
    assert_eq!(world.count("call Health"), 60);
}

#[test]
fn the_interval_is_half_of_the_period_unless_it_is_set() {
    for (set, period, disabled, interval, warned) in [
        (None, Some(5.0), false, 2.5, 0),
        (None, Some(60.0), false, 5.0, 0),
        (None, None, false, 5.0, 0),
        (Some(3.0), Some(5.0), false, 3.0, 0),
        (Some(5.0), Some(5.0), false, 5.0, 1),
        (Some(5.0), Some(5.0), true, 5.0, 0),
    ] {
        let mut world = World::started(Config { health_interval: set.map(secs), ..config() }, |world| {
            world.server.game.health.period = period.map(secs);
            world.server.game.health.disabled = disabled;
        });
        world.run(0.1);
        assert_eq!(world.machine.health_interval(), secs(interval));
        assert_eq!(world.count("beats come no faster"), warned, "{set:?} {period:?}");
    }
}

#[test]
fn the_default_threshold_lasts_as_long_as_agones_own_patience() {
    for (set, interval, period, failures, rounds) in [
        (None, Some(5.0), Some(5.0), Some(3), 3),
        (None, Some(1.0), Some(5.0), Some(3), 15),
        (None, Some(4.0), Some(5.0), Some(3), 4),
        (None, Some(60.0), Some(5.0), Some(3), 3),
        (None, None, Some(5.0), Some(3), 6),
        (None, None, None, None, 3),
        (None, Some(2.0), None, Some(9), 8),
        (Some(1), Some(1.0), Some(5.0), Some(3), 1),
    ] {
        let config = Config { live_failure_threshold: set, health_interval: interval.map(secs), ..config() };
        let mut world = World::started(config, |world| {
            world.server.game.health.period = period.map(secs);
            world.server.game.health.failure_threshold = failures;
        });
        world.run(0.1);
        assert_eq!(world.machine.failure_threshold(), rounds, "{set:?} {interval:?} {period:?} {failures:?}");
    }
}

#[test]
fn a_failed_round_withholds_the_beat_and_a_passed_one_sends_it_at_once() {
    let mut world = World::at_ready(config(), |_| ());
    world.alive = false;
    world.run(4.0);
    assert_eq!(world.lines(&["call Health", "warn"]).len(), 2, "{:#?}", world.trace);
    world.run(5.0);
    assert_eq!(world.count("call Health"), 1, "withheld: {:#?}", world.trace);
    world.alive = true;
    world.run(4.0);
    assert_eq!(world.count("info liveness is back"), 1);
    assert_eq!(world.count("call Health"), 2);
    assert_eq!(world.exit, None);
}

#[test]
fn as_many_failed_rounds_as_the_threshold_end_with_69_without_shutdown() {
    let mut world = World::at_ready(config(), |_| ());
    world.alive = false;
    world.run(30.0);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
    assert_eq!(world.count("liveness failed"), 3);
    assert_eq!(world.count("call Shutdown"), 0);
    assert_eq!(world.count("call Health"), 1, "the one that was due when the first round failed");
    assert_eq!(world.count("spec.health.disabled"), 0);
}

/// F29: rounds that last longer than the interval made 41 s of 6.
#[test]
fn the_threshold_is_a_time_whatever_a_round_lasts() {
    let config = Config { health_interval: Some(secs(2.0)), live_failure_threshold: Some(3), ..config() };
    let mut world = World::at_ready(config, |_| ());
    (world.alive, world.round_takes) = (false, secs(10.0));
    world.run(5.9);
    assert_eq!(world.exit, None, "{:#?}", world.trace);
    world.run(2.2);
    assert_eq!(world.exit.map(ExitReason::code), Some(69), "{:#?}", world.trace);
}

#[test]
fn a_round_that_passes_late_was_a_failed_one_and_starts_the_count_anew() {
    let config = Config { health_interval: Some(secs(2.0)), live_failure_threshold: Some(3), ..config() };
    let mut world = World::at_ready(config, |_| ());
    world.round_takes = secs(5.0);
    world.run(60.0);
    assert_eq!(world.exit, None, "{:#?}", world.trace);
    assert!(world.count("liveness is back") > 5, "{:#?}", world.trace);
    world.round_takes = Duration::ZERO;
    world.run(8.0);
    let beats = world.count("call Health");
    world.run(10.0);
    assert_eq!(world.count("call Health"), beats + 5, "a beat with every round: {:#?}", world.trace);
}

/// Before the game is served, a round waits for readiness probes that may hang for reasons of their own.
#[test]
fn a_round_that_waits_for_readiness_is_not_overdue() {
    let config = Config { health_interval: Some(secs(2.0)), live_failure_threshold: Some(3), ..config() };
    let mut world = World::started(config, |world| {
        world.server.game.state = State::Ready;
        world.round_takes = secs(10.0);
    });
    world.run(60.0);
    assert_eq!(world.exit, None, "{:#?}", world.trace);
}

#[test]
fn with_health_disabled_the_log_says_that_nothing_will_replace_the_server() {
    let mut world = World::at_ready(config(), |world| world.server.game.health.disabled = true);
    world.alive = false;
    world.run(30.0);
    assert_eq!(world.count("error spec.health.disabled is set"), 1);
}

#[test]
fn a_restarted_shim_does_not_beat_for_a_dead_game() {
    for state in [State::Ready, State::Allocated, State::Reserved] {
        let mut world = World::started(config(), |world| {
            world.server.game.state = state.clone();
            world.alive = false;
        });
        world.run(60.0);
        assert_eq!(world.count("call Health"), 0, "{state:?}: {:#?}", world.trace);
        assert_eq!(world.count("call Ready"), 0);
        assert_eq!(world.exit.map(ExitReason::code), Some(69));
    }
}

#[test]
fn liveness_counts_from_served_on_without_any_sdk_server_too() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.alive = false;
        world.server.reachable = false;
    });
    world.run(60.0);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
}

#[test]
fn liveness_does_not_count_before_the_game_was_served() {
    let mut world = World::started(config(), |world| world.alive = false);
    world.run(600.0);
    assert_eq!(world.exit, None);
}

#[test]
fn another_liveness_set_is_asked_before_the_first_beat_that_depends_on_it() {
    let mut config = config();
    config.liveness_is_readiness = false;
    let mut world = World::started(config, |_| ());
    world.run(1.0);
    world.alive = false;
    world.open();
    world.run(4.5);
    assert_eq!(world.count("call Health"), 1, "only the one before it was served: {:#?}", world.trace);
}

#[test]
fn rejected_beats_are_a_warning_once_and_break_nothing() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.rejects = vec!["Health"];
    world.run(20.0);
    assert_eq!(world.count("rejects beats"), 1);
    world.server.rejects.clear();
    world.run(5.0);
    assert_eq!(world.count("beats are accepted again"), 1);
    assert_eq!(world.exit, None);
}
