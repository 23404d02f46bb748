//! The Counter (SPEC.md section 5).

use super::super::*;
use super::world::*;
use crate::game_server::Counter;

fn players(capacity: i64) -> World {
    World::at_ready(counting("players", config()), |world| {
        world.server.game.counters.insert("players".into(), Counter { count: 0, capacity });
    })
}

fn updates(world: &World) -> Vec<String> {
    let calls = world.lines(&["call UpdateCounter"]);
    calls.iter().map(|line| line.rsplit(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn only_changes_are_sent() {
    let mut world = players(10);
    for reading in [0, 0, 3, 3, 2] {
        world.event(scraped(reading));
    }
    assert_eq!(updates(&world), ["players=0", "players=3", "players=2"]);
}

#[test]
fn a_failed_reading_keeps_the_value_and_warns_once_an_episode() {
    let mut world = players(10);
    world.event(scraped(3));
    for _ in 0..5 {
        world.event(not_scraped("HTTP 500"));
    }
    assert_eq!(world.count("no reading for the Counter"), 1);
    world.event(scraped(3));
    assert_eq!(world.count("the Counter has a reading again"), 1);
    world.event(not_scraped("HTTP 500"));
    assert_eq!(world.count("no reading for the Counter"), 2);
    assert_eq!(updates(&world), ["players=3"]);
}

// CASES.md 34
#[test]
fn a_reading_above_the_capacity_is_clamped_and_warned_about_once_an_episode() {
    let mut world = players(100);
    for reading in [150, 160, 170] {
        world.event(scraped(reading));
    }
    assert_eq!(updates(&world), ["players=100"]);
    assert_eq!(world.count("above the Counter's capacity"), 1);
    world.event(scraped(7));
    world.event(scraped(101));
    assert_eq!(updates(&world), ["players=100", "players=7", "players=100"]);
    assert_eq!(world.count("above the Counter's capacity"), 2);
}

#[test]
fn a_capacity_that_was_raised_meanwhile_is_used() {
    let mut world = players(100);
    world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 200 });
    world.event(scraped(150));
    assert_eq!(updates(&world), ["players=150"]);
    assert_eq!(world.count("above the Counter's capacity"), 0);
}

#[test]
fn a_capacity_that_was_lowered_meanwhile_is_learnt_from_the_rejection() {
    let mut world = players(100);
    world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 50 });
    world.event(scraped(80));
    assert_eq!(updates(&world), ["players=80", "players=50"]);
    assert_eq!(world.count("above the Counter's capacity"), 1);
}

#[test]
fn a_capacity_of_zero_is_a_hard_zero() {
    let mut world = players(0);
    world.event(scraped(5));
    assert_eq!(updates(&world), ["players=0"]);
}

// CASES.md 35
#[test]
fn an_undeclared_counter_is_one_warning_and_one_try_a_minute() {
    let mut world = World::at_ready(counting("players", config()), |_| ());
    for second in 0..300 {
        world.event(scraped(second));
        world.run(1.0);
    }
    assert_eq!(world.count("rejects the Counter"), 1, "{:#?}", world.lines(&["warn"]));
    assert!((5..=6).contains(&updates(&world).len()), "{:?}", updates(&world));
    assert_eq!(world.count("call Health"), 60, "the rest of the life cycle does not notice");
    world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 1000 });
    world.run(60.0);
    assert_eq!(world.count("the Counter is accepted"), 1);
}

#[test]
fn readings_that_come_while_the_sdk_server_is_away_are_sent_once_when_it_is_back() {
    let mut world = players(10);
    world.event(scraped(1));
    world.server.reachable = false;
    world.run(6.0);
    for reading in [2, 3, 4] {
        world.event(scraped(reading));
    }
    world.server.reachable = true;
    world.run(2.0);
    assert_eq!(updates(&world), ["players=1", "players=4"]);
}

#[test]
fn no_count_is_sent_on_the_way_out() {
    let mut world = players(10);
    world.stop();
    world.event(scraped(3));
    world.run(1.0);
    assert_eq!(updates(&world), [""; 0]);
}
