//! The Counter.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::Counter;

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

fn with_capacity(capacity: i64) -> World {
    let publishes = Publishes { counter: Some("players".into()), capacity: true, list: None };
    World::at_ready(Config { publishes: vec![publishes], ..config() }, |world| {
        world.server.game.counters.insert("players".into(), Counter { count: 0, capacity });
    })
}

fn of(count: u64, most: u64) -> Event {
    let reading = Reading { count, capacity: Some(most), ..Reading::default() };
    Event::Scraped { source: 0, outcome: Ok(reading) }
}

#[test]
fn a_capacity_goes_out_in_one_call_with_the_count_and_only_when_it_changes() {
    let mut world = with_capacity(1000);
    for event in [of(3, 16), of(3, 16), of(4, 16), of(20, 32), of(2, 8), of(0, 8)] {
        world.event(event);
    }
    assert_eq!(updates(&world), ["players=3/16", "players=4", "players=20/32", "players=2/8", "players=0"]);
    assert_eq!(world.server.game.counters["players"], Counter { count: 0, capacity: 8 });
}

#[test]
fn a_capacity_that_is_not_told_or_is_zero_is_not_sent() {
    let mut world = with_capacity(1000);
    world.event(of(3, 0));
    world.event(scraped(4));
    world.event(of(5, 16));
    world.event(of(6, 0));
    world.event(of(7, u64::MAX));
    assert_eq!(updates(&world), ["players=3", "players=4", "players=5/16", "players=6", "players=7"]);
}

#[test]
fn more_players_than_the_maximum_are_clamped_to_it_and_warned_about_once_an_episode() {
    let mut world = with_capacity(1000);
    for event in [of(9, 8), of(10, 8), of(8, 8), of(9, 8)] {
        world.event(event);
    }
    assert_eq!(updates(&world), ["players=8/8"]);
    assert_eq!(world.count("above the Counter's capacity"), 2);
}

#[test]
fn a_capacity_that_somebody_else_set_stays_until_the_count_does_not_fit() {
    let mut world = with_capacity(1000);
    world.event(of(3, 16));
    world.server.game.counters.get_mut("players").expect("it is there").capacity = 4;
    world.event(of(4, 16));
    world.event(of(5, 16));
    assert_eq!(updates(&world), ["players=3/16", "players=4", "players=5", "players=5/16"]);
    assert_eq!(world.count("warn"), 0);
}

#[test]
fn after_a_loss_the_capacity_is_sent_again() {
    let mut world = with_capacity(1000);
    world.event(of(3, 16));
    world.server.reachable = false;
    world.run(6.0);
    world.server.reachable = true;
    world.run(2.0);
    // The last answer did not tell it: what was told before holds.
    world.event(scraped(4));
    world.server.reachable = false;
    world.run(6.0);
    world.server.reachable = true;
    world.run(2.0);
    assert_eq!(updates(&world), ["players=3/16", "players=3/16", "players=4", "players=4/16"]);
}

#[test]
fn counters_are_told_apart_and_one_that_is_rejected_holds_up_no_other() {
    let publishes = |name: &str| Publishes { counter: Some(name.into()), ..Publishes::default() };
    let config = Config { publishes: ["a", "b", "c"].map(publishes).to_vec(), ..config() };
    let mut world = World::at_ready(config, |world| {
        for name in ["a", "c"] {
            world.server.game.counters.insert(name.into(), Counter { count: 0, capacity: 10 });
        }
    });
    for second in 0..120 {
        for source in 0..4 {
            let reading = Reading { count: 1 + second / 60, ..Reading::default() };
            world.event(Event::Scraped { source, outcome: Ok(reading) });
        }
        world.run(1.0);
    }
    let sent = |name: &str| updates(&world).into_iter().filter(|update| update.starts_with(name)).collect::<Vec<_>>();
    assert_eq!((sent("a"), sent("c")), (vec!["a=1".into(), "a=2".into()], vec!["c=1".into(), "c=2".into()]));
    assert_eq!(world.count("rejects the Counter"), 1);
    assert!((2..=4).contains(&sent("b").len()), "{:?}", sent("b"));
    let snapshot = world.machine.snapshot(world.now).counters;
    let shown: Vec<_> =
        snapshot.iter().map(|counter| (counter.name.as_str(), counter.sent, counter.error.is_some())).collect();
    assert_eq!(shown, [("a", Some(2), false), ("b", None, true), ("c", Some(2), false)]);
}

#[test]
fn a_metric_that_has_never_been_there_is_told_once() {
    for (first, told) in [(true, 1), (false, 0)] {
        let mut world = players(10);
        for missing in [first, true, true, false, true] {
            world.event(Event::Scraped { source: 0, outcome: Ok(Reading { missing, ..Reading::default() }) });
        }
        assert_eq!(world.count("which counts as 0"), told);
    }
}

#[test]
fn a_counter_that_fails_for_hours_says_so_each_hour() {
    let mut world = World::at_ready(counting("players", config()), |_| ());
    for _ in 0..(2 * 60 + 30) {
        world.event(scraped(7));
        world.run(60.0);
    }
    assert_eq!(world.count("rejects the Counter"), 3, "at the start, and after each hour");
    let mut world = players(100);
    for _ in 0..(2 * 60 + 30) {
        world.event(not_scraped("HTTP 500"));
        world.run(60.0);
    }
    assert_eq!(world.count("no reading for the Counter"), 3);
    world.event(scraped(7));
    world.event(not_scraped("HTTP 500"));
    assert_eq!(world.count("no reading for the Counter"), 4, "a new failure is news");
}
