//! The way to Ready (SPEC.md 2.4).

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

#[test]
fn a_fresh_server_goes_ready_after_its_first_passed_round() {
    let mut world = World::started(Config { health_interval: None, ..config() }, |_| ());
    world.run(2.25);
    world.open();
    world.run(0.75);
    assert_eq!(
        world.trace,
        [
            "0.00 call Connect",
            "0.00 call GetGameServer",
            "0.00 info connected to the SDK server",
            "0.00 call Health",
            "0.00 info waiting for the game server",
            "2.25 info the game server is up: every readiness probe has passed",
            "2.25 call GetGameServer",
            "2.25 info calling Ready()",
            "2.25 call Ready",
            "2.50 call Health",
            "2.50 call GetGameServer",
            "2.75 call GetGameServer",
            "2.75 info the GameServer is ready",
        ]
    );
}

#[test]
fn ready_is_called_in_no_state_but_those_before_ready() {
    for (state, called) in [
        (State::PortAllocation, true),
        (State::Creating, true),
        (State::Starting, true),
        (State::Scheduled, true),
        (State::RequestReady, false),
        (State::Ready, false),
        (State::Allocated, false),
        (State::Reserved, false),
        (State::Shutdown, false),
        (State::Unhealthy, false),
        (State::Error, false),
        (State::Unset, false),
        (State::Other("Hibernating".into()), false),
    ] {
        let mut world = World::started(config(), |world| {
            world.ready = true;
            world.server.game.state = state.clone();
        });
        world.run(30.0);
        assert_eq!(world.count("call Ready") > 0, called, "{state:?}: {:#?}", world.trace);
    }
}

#[test]
fn a_deletion_timestamp_forbids_ready_and_says_so_once() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.game.deleting = true;
    });
    world.run(30.0);
    assert_eq!(world.count("call Ready"), 0);
    assert_eq!(world.count("not calling Ready(): this GameServer is at its end"), 1, "{:#?}", world.trace);
}

// CASES.md 8
#[test]
fn an_allocated_server_is_taken_over_without_ready_and_counts_as_ready() {
    let mut world = World::started(counting("players", config()), |world| {
        world.ready = true;
        world.server.game.state = State::Allocated;
    });
    world.run(11.0);
    assert_eq!(world.count("call Ready"), 0);
    assert_eq!(world.count("scrape"), 1);
    assert_eq!(world.count("call Health"), 3, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready);
}

#[test]
fn agones_local_mode_starts_in_ready_and_gets_one_ready() {
    let mut world = World::started(config(), |world| {
        world.server.game.state = State::Ready;
        world.server.game.local_mode = true;
    });
    world.alive = false;
    world.run(60.0);
    assert_eq!(world.exit, None, "a game that is still loading is not taken for a dead one: {:#?}", world.trace);
    world.alive = true;
    world.open();
    world.run(60.0);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready);
}

#[test]
fn a_server_that_was_seen_before_ready_is_not_called_twice_in_local_mode() {
    let mut world = World::at_ready(config(), |world| world.server.game.local_mode = true);
    world.server.reachable = false;
    world.run(10.0);
    world.server.reachable = true;
    world.run(10.0);
    assert_eq!(world.count("call Ready"), 0, "{:#?}", world.trace);
}

#[test]
fn a_ready_that_does_not_show_is_called_again_after_ten_seconds_with_a_fresh_round_and_look() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = None;
    });
    world.run(10.5);
    assert_eq!(world.lines(&["call Ready", "does not show"]).len(), 3, "{:#?}", world.trace);
    world.ready = false;
    world.run(30.0);
    assert_eq!(world.count("call Ready"), 2, "no round has passed since: {:#?}", world.trace);
}

#[test]
fn request_ready_means_keep_looking() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.game.state = State::RequestReady;
    });
    world.run(15.0);
    assert_eq!(world.machine.phase, Phase::Served);
    world.server.game.state = State::Ready;
    world.run(1.5);
    assert_eq!(world.machine.phase, Phase::Ready);
    assert_eq!(world.count("call Ready"), 0);
}

#[test]
fn a_rejected_ready_is_tried_again_and_reads_the_state_first() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.rejects = vec!["Ready"];
    });
    world.run(0.5);
    world.server.game.state = State::Allocated;
    world.server.rejects.clear();
    world.run(5.0);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
}

#[test]
fn the_readiness_deadline_names_the_last_failure_and_ends_with_69_without_shutdown() {
    let mut config = config();
    config.ready_timeout = Some(secs(2.0));
    let mut world = World::started(config, |_| ());
    world.run(5.0);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
    assert_eq!(world.count("call Shutdown"), 0);
    assert_eq!(world.count("error the game server did not become ready"), 1);
}

#[test]
fn the_readiness_deadline_is_over_once_served() {
    let mut config = config();
    config.ready_timeout = Some(secs(2.0));
    let mut world = World::started(config, |world| world.ready = true);
    world.run(60.0);
    assert_eq!(world.exit, None);
}

#[test]
fn waiting_is_reported_every_minute_with_what_is_waited_for() {
    let mut world = World::started(config(), |_| ());
    world.run(185.0);
    assert_eq!(world.lines(&["still waiting"]).len(), 3);
    world.server.applies_after = None;
    world.open();
    world.run(60.0);
    assert_eq!(world.lines(&["still waiting"]).len(), 4, "{:#?}", world.trace);
}

#[test]
fn lines_are_counted_until_there_are_enough_of_them() {
    let mut world = World::started(Config { ready_lines: 3, ..config() }, |_| ());
    for lines in [1, 1, 5, 1] {
        world.event(Event::LinesSeen(lines));
    }
    assert_eq!(
        world.lines(&["lines ", "watching"]),
        ["0.00 lines 1", "0.00 lines 2", "0.00 lines 7", "0.00 stop watching"]
    );

    let mut world = World::started(config(), |_| ());
    world.event(Event::LinesSeen(1));
    assert_eq!(world.count("lines"), 0, "nobody waits for any");
}
