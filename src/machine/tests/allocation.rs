//! The hook of allocations.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

fn hooked() -> World {
    World::at_ready(Config { allocated_hook: true, ..config() }, |world| world.hook_takes = Some(secs(0.2)))
}

#[test]
fn an_allocation_runs_the_hook_once_within_a_second() {
    let mut world = hooked();
    world.run(100.25);
    world.allocate();
    world.run(30.0);
    let lines = world.lines(&["->", "allocated hook", "has ended"]);
    assert_eq!(
        lines,
        [
            "102.25 -> allocated",
            r#"103.00 allocated hook {"agones.dev/last-allocated":"102.25s"}"#,
            "103.20 info the hook of the allocation has ended",
        ]
    );
}

#[test]
fn each_allocation_is_one_run() {
    let mut world = hooked();
    world.allocate();
    world.run(5.0);
    world.server.game.state = State::Ready;
    world.run(5.0);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 2, "{:#?}", world.trace);
}

#[test]
fn an_allocation_between_two_looks_at_an_allocated_gameserver_is_seen_by_its_time() {
    let mut world = hooked();
    world.allocate();
    world.run(5.0);
    world.server.game.state = State::Ready;
    world.run(0.1);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 2, "{:#?}", world.trace);
}

#[test]
fn a_gameserver_that_is_allocated_at_the_first_look_does_not_run_it() {
    let mut world = World::started(Config { allocated_hook: true, ..config() }, |world| {
        world.ready = true;
        world.allocate();
    });
    world.run(30.0);
    assert_eq!(world.count("allocated hook"), 0, "{:#?}", world.trace);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 1, "the next one does");
}

#[test]
fn a_lost_sdk_server_neither_repeats_it_nor_hides_an_allocation() {
    let mut world = hooked();
    world.allocate();
    world.run(5.0);
    world.server.reachable = false;
    world.run(5.0);
    world.server.reachable = true;
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 1, "{:#?}", world.trace);
    world.server.reachable = false;
    world.run(5.0);
    world.allocate();
    world.server.reachable = true;
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 2, "{:#?}", world.trace);
}

#[test]
fn one_runs_at_a_time_and_the_last_allocation_is_not_forgotten() {
    let mut world = World::at_ready(Config { allocated_hook: true, ..config() }, |_| ());
    for _ in 0..3 {
        world.allocate();
        world.run(2.0);
    }
    assert_eq!(world.count("allocated hook"), 1, "{:#?}", world.trace);
    world.event(Event::AllocatedHookEnded(Err("exit code 1".into())));
    let last = format!("{:?}", secs(6.0));
    assert_eq!(world.lines(&["allocated hook"]).len(), 2);
    assert!(world.lines(&["allocated hook"])[1].contains(&last), "{:#?}", world.trace);
    assert_eq!(world.count("warn the hook of the allocation failed"), 1);
    world.event(Event::AllocatedHookEnded(Ok(())));
    world.run(10.0);
    assert_eq!(world.count("allocated hook"), 2);
}

#[test]
fn a_stop_ends_a_hook_that_runs_and_waits_for_nothing() {
    let mut world = World::at_ready(Config { allocated_hook: true, ..config() }, |_| ());
    world.allocate();
    world.run(2.0);
    world.allocate();
    world.run(2.0);
    world.stop();
    world.run(2.0);
    assert_eq!(world.count("TERM to the allocated hook"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("allocated hook {"), 1, "the other does not begin any more");
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn nothing_is_looked_at_where_nothing_depends_on_it() {
    let mut world = World::at_ready(config(), |_| ());
    world.run(600.0);
    assert_eq!(world.count("call GetGameServer"), 0, "{:#?}", world.trace);
    assert_eq!(world.count("call Health"), 120);
}
