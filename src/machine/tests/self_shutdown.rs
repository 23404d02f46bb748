//! Idle and old servers.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::{Counter, State};

/// Ready, with a Counter; 60 s of emptiness end it.
fn idle() -> World {
    let config = Config { idle_shutdown: Some(secs(60.0)), ..counting("players", config()) };
    World::at_ready(config, |world| {
        world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 10 });
    })
}

/// A reading every 10 s.
fn read(world: &mut World, readings: &[Option<u64>]) {
    for reading in readings {
        world.run(10.0);
        world.event(reading.map_or_else(|| not_scraped("HTTP 500"), scraped));
    }
}

fn zeros(world: &mut World, count: usize) {
    read(world, &vec![Some(0); count]);
}

#[test]
fn an_allocated_server_that_stays_empty_is_shut_down_right_after_a_look() {
    let mut world = idle();
    world.allocate();
    world.run(10.0);
    world.trace.clear();
    zeros(&mut world, 9);
    world.run(5.0);
    // The first reading may have begun before the allocation was seen; the second begins the 60 s.
    assert_eq!(
        world.lines(&["Shutdown", "stopping", "empty", "exit"]),
        [
            "92.00 info Allocated and empty for AGONES_SHIM_IDLE_SHUTDOWN_SECS: call",
            "92.00 info stopping",
            "92.00 call Shutdown",
            "92.00 info Shutdown() is acknowledged, staying until the GameServer sho",
            "92.50 info Shutdown() has landed",
            "92.50 exit 0",
        ]
    );
    let at_92: Vec<_> = world.lines(&[" call "]).into_iter().filter(|line| line.starts_with("92.00")).collect();
    let look = at_92.iter().position(|line| line.contains("GetGameServer"));
    assert_eq!(at_92[look.expect("a look") + 1], "92.00 call Shutdown");
}

#[test]
fn readings_from_before_the_allocation_never_count() {
    let mut world = idle();
    zeros(&mut world, 20);
    world.allocate();
    world.run(6.0);
    // A first one that may have begun before, and five: 40 s.
    zeros(&mut world, 6);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn a_server_that_is_not_allocated_may_be_empty_for_ever() {
    let mut world = idle();
    zeros(&mut world, 100);
    world.server.game.state = State::Reserved;
    zeros(&mut world, 100);
    assert_eq!(world.count("Shutdown"), 0);
}

#[test]
fn a_player_and_a_failed_reading_start_the_time_again() {
    for interruption in [Some(1), None] {
        let mut world = idle();
        world.allocate();
        world.run(6.0);
        for _ in 0..5 {
            zeros(&mut world, 6);
            read(&mut world, &[interruption]);
        }
        zeros(&mut world, 6);
        assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
        zeros(&mut world, 1);
        assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
    }
}

#[test]
fn no_reading_at_all_never_ends_it() {
    let mut world = idle();
    world.allocate();
    zeros(&mut world, 5);
    read(&mut world, &[None; 100]);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn three_readings_are_needed_however_short_the_time() {
    let config = Config { idle_shutdown: Some(secs(0.001)), ..counting("players", config()) };
    let mut world = World::at_ready(config, |_| ());
    world.allocate();
    world.run(6.0);
    zeros(&mut world, 3);
    assert_eq!(world.count("Shutdown"), 0);
    zeros(&mut world, 1);
    assert_eq!(world.count("call Shutdown"), 1);
}

#[test]
fn another_allocation_starts_the_time_again_even_between_two_looks() {
    let mut world = idle();
    world.allocate();
    world.run(6.0);
    zeros(&mut world, 7);
    world.allocate();
    zeros(&mut world, 6);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn a_look_that_fails_or_shows_something_else_ends_nothing() {
    let mut world = idle();
    world.allocate();
    world.run(6.0);
    world.server.rejects = vec!["GetGameServer"];
    zeros(&mut world, 9);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
    world.server.rejects.clear();
    world.server.game.state = State::Ready;
    zeros(&mut world, 9);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn readings_made_while_the_sdk_server_was_away_do_not_count() {
    let mut world = idle();
    world.allocate();
    world.run(6.0);
    world.server.reachable = false;
    zeros(&mut world, 20);
    world.server.reachable = true;
    zeros(&mut world, 6);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
    zeros(&mut world, 3);
    assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
}

#[test]
fn an_idle_wrapper_stops_its_child_as_a_signal_would_and_leaves_with_0() {
    let config = Config {
        idle_shutdown: Some(secs(60.0)),
        stop_hook: true,
        allocated_hook: true,
        ..counting("players", wrapper())
    };
    let mut world = World::at_ready(config, |world| {
        (world.hook_takes, world.child_takes) = (Some(secs(0.2)), Some(secs(25.0)));
    });
    world.allocate();
    world.run(6.0);
    world.trace.clear();
    zeros(&mut world, 8);
    world.run(40.0);
    assert_eq!(
        world.lines(&["hook", "stop signal", "KILL", "has landed", "exit"]),
        [
            "88.00 hook idle",
            "88.00 info the stop hook was started",
            "88.20 info the stop hook has ended",
            "88.20 stop signal to the child",
            "88.20 info the stop signal was sent to the game server",
            "88.50 info Shutdown() has landed",
            "113.20 exit 0",
        ]
    );
}

fn aged(config: Config) -> World {
    World::at_ready(Config { max_age: Some(secs(100.0)), ..config }, |_| ())
}

#[test]
fn a_ready_server_that_nobody_takes_is_shut_down_right_after_a_look() {
    let mut world = aged(config());
    world.run(110.0);
    let lines = world.lines(&["Shutdown", "not allocated", "exit"]);
    assert_eq!(lines[0], "105.00 info Ready and not allocated for AGONES_SHIM_MAX_AGE_SECS: callin");
    assert_eq!(
        lines[1..],
        [
            "105.00 call Shutdown",
            "105.00 info Shutdown() is acknowledged, staying until the GameServer sho",
            "105.50 info Shutdown() has landed",
            "105.50 exit 0",
        ]
    );
    let calls = world.lines(&[" call "]);
    let shutdown = calls.iter().position(|line| line.contains("Shutdown")).expect("a call");
    assert_eq!(calls[shutdown - 1], "105.00 call GetGameServer");
}

#[test]
fn the_age_counts_from_the_last_time_that_it_became_ready() {
    for state in [State::Allocated, State::Reserved] {
        let mut world = aged(config());
        world.run(95.0);
        world.server.game.state = state;
        world.run(300.0);
        assert_eq!(world.count("Shutdown"), 0, "a match is on it, or it is held");
        world.server.game.state = State::Ready;
        world.run(95.0);
        assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
        world.run(15.0);
        assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
    }
}

#[test]
fn an_allocation_between_two_looks_starts_the_age_again() {
    let mut world = aged(config());
    world.run(96.0);
    world.allocate();
    world.run(1.0);
    world.server.game.state = State::Ready;
    world.run(90.0);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn an_old_server_whose_state_cannot_be_read_stays() {
    let mut world = aged(config());
    world.run(50.0);
    world.server.rejects = vec!["GetGameServer"];
    world.run(300.0);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
    world.server.rejects.clear();
    world.run(6.0);
    assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
}

#[test]
fn a_server_that_is_being_deleted_is_left_to_it() {
    let mut world = aged(config());
    world.run(50.0);
    world.server.game.deleting = true;
    world.run(300.0);
    assert_eq!(world.count("Shutdown"), 0, "{:#?}", world.trace);
}

#[test]
fn an_old_wrapper_gives_its_child_all_the_time_it_needs() {
    let mut world = World::at_ready(Config { max_age: Some(secs(100.0)), ..wrapper() }, |_| ());
    world.run(300.0);
    assert_eq!(world.count("stop signal to the child"), 1);
    assert_eq!((world.count("KILL"), world.exit), (0, None), "{:#?}", world.trace);
}

#[test]
fn the_state_is_read_once_a_health_interval_and_no_more() {
    let mut world = aged(config());
    world.run(60.0);
    assert_eq!(world.count("call GetGameServer"), 12, "{:#?}", world.trace);
}
