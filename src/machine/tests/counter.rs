//! The Counter (SPEC.md section 5).

use super::super::*;
use super::world::*;
use crate::game_server::Counter;

fn counting(capacity: i64) -> World {
    let config = Config { counter: Some("players".into()), ..config() };
    World::at_ready(config, |world| {
        world.server.game.counters.insert("players".into(), Counter { count: 0, capacity });
    })
}

fn updates(world: &World) -> Vec<String> {
    let calls = world.lines(&["call UpdateCounter"]);
    calls.iter().map(|line| line.rsplit("UpdateCounter").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn only_changes_are_sent() {
    let mut world = counting(10);
    for reading in [0, 0, 3, 3, 2] {
        world.event(Event::Scraped(Ok(reading)));
    }
    assert_eq!(updates(&world), ["(0)", "(3)", "(2)"]);
}

#[test]
fn a_failed_reading_keeps_the_value_and_warns_once_an_episode() {
    let mut world = counting(10);
    world.event(Event::Scraped(Ok(3)));
    for _ in 0..5 {
        world.event(Event::Scraped(Err("HTTP 500".into())));
    }
    assert_eq!(world.count("no reading for the Counter"), 1);
    world.event(Event::Scraped(Ok(3)));
    assert_eq!(world.count("the Counter has a reading again"), 1);
    world.event(Event::Scraped(Err("HTTP 500".into())));
    assert_eq!(world.count("no reading for the Counter"), 2);
    assert_eq!(updates(&world), ["(3)"]);
}

// CASES.md 34
#[test]
fn a_reading_above_the_capacity_is_clamped_and_warned_about_once_an_episode() {
    let mut world = counting(100);
    for reading in [150, 160, 170] {
        world.event(Event::Scraped(Ok(reading)));
    }
    assert_eq!(updates(&world), ["(100)"]);
    assert_eq!(world.count("above the Counter's capacity"), 1);
    world.event(Event::Scraped(Ok(7)));
    world.event(Event::Scraped(Ok(101)));
    assert_eq!(updates(&world), ["(100)", "(7)", "(100)"]);
    assert_eq!(world.count("above the Counter's capacity"), 2);
}

#[test]
fn a_capacity_that_was_raised_meanwhile_is_used() {
    let mut world = counting(100);
    world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 200 });
    world.event(Event::Scraped(Ok(150)));
    assert_eq!(updates(&world), ["(150)"]);
    assert_eq!(world.count("above the Counter's capacity"), 0);
}

#[test]
fn a_capacity_that_was_lowered_meanwhile_is_learnt_from_the_rejection() {
    let mut world = counting(100);
    world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 50 });
    world.event(Event::Scraped(Ok(80)));
    assert_eq!(updates(&world), ["(80)", "(50)"]);
    assert_eq!(world.count("above the Counter's capacity"), 1);
}

#[test]
fn a_capacity_of_zero_is_a_hard_zero() {
    let mut world = counting(0);
    world.event(Event::Scraped(Ok(5)));
    assert_eq!(updates(&world), ["(0)"]);
}

// CASES.md 35
#[test]
fn an_undeclared_counter_is_one_warning_and_one_try_a_minute() {
    let config = Config { counter: Some("players".into()), ..config() };
    let mut world = World::at_ready(config, |_| ());
    for second in 0..300 {
        world.event(Event::Scraped(Ok(second)));
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
    let mut world = counting(10);
    world.event(Event::Scraped(Ok(1)));
    world.server.reachable = false;
    world.run(6.0);
    for reading in [2, 3, 4] {
        world.event(Event::Scraped(Ok(reading)));
    }
    world.server.reachable = true;
    world.run(2.0);
    assert_eq!(updates(&world), ["(1)", "(4)"]);
}

#[test]
fn no_count_is_sent_on_the_way_out() {
    let mut world = counting(10);
    world.stop();
    world.event(Event::Scraped(Ok(3)));
    world.run(1.0);
    assert_eq!(updates(&world), [""; 0]);
}
