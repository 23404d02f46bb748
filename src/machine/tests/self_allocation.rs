//! Players allocate a server, and an own allocation that stays empty is given back.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::{Counter, State};

/// Ready; players allocate it, and 60 s of emptiness give it back.
fn browser() -> World {
    browser_with(|config| config)
}

fn browser_with(more: impl FnOnce(Config) -> Config) -> World {
    let config = Config {
        allocate_on_players: true,
        empty_ready: Some(secs(60.0)),
        ..counting("players", Config { health_interval: Some(secs(5.0)), ..config() })
    };
    World::at_ready(more(config), |world| {
        world.server.game.counters.insert("players".into(), Counter { count: 0, capacity: 10 });
        world.server.applies_after = Some(secs(0.5));
    })
}

/// A reading every 10 s.
fn read(world: &mut World, readings: &[u64]) {
    for reading in readings {
        world.run(10.0);
        world.event(scraped(*reading));
    }
}

/// Players have come, and the shim's own allocation shows.
fn occupied() -> World {
    let mut world = browser();
    read(&mut world, &[0, 3, 3]);
    assert_eq!((world.calls("Allocate"), world.state()), (1, State::Allocated), "{:#?}", world.trace);
    world.trace.clear();
    world
}

impl World {
    fn state(&mut self) -> State {
        self.settle();
        self.server.game.state.clone()
    }

    fn calls(&self, name: &str) -> usize {
        self.count(&format!("call {name}"))
    }

    /// The call is the next one after a look.
    fn assert_looked_before(&self, name: &str) {
        let calls = self.lines(&[" call "]);
        let at = calls.iter().position(|line| line.ends_with(name)).expect("a call");
        assert!(calls[at - 1].ends_with("GetGameServer"), "{calls:#?}");
    }
}

#[test]
fn players_on_a_ready_server_allocate_it_right_after_a_look_and_once() {
    let mut world = browser();
    read(&mut world, &[0, 0, 0]);
    assert_eq!(world.calls("GetGameServer"), 1, "the Counter's own: {:#?}", world.trace);
    read(&mut world, &[1]);
    world.assert_looked_before("Allocate");
    assert_eq!(world.state(), State::Ready);
    read(&mut world, &[1, 2, 3, 1]);
    assert_eq!((world.calls("Allocate"), world.state()), (1, State::Allocated), "{:#?}", world.trace);
    assert_eq!(world.lines(&["by its players", "with players on"]).len(), 2);
}

#[test]
fn nothing_is_looked_at_while_nothing_changes() {
    for players in [0, 3] {
        let mut world = occupied();
        if players == 0 {
            read(&mut world, &[0; 12]);
            assert_eq!(world.state(), State::Ready);
        }
        read(&mut world, &[players]);
        world.run(10.0);
        world.trace.clear();
        read(&mut world, &[players; 50]);
        assert_eq!(world.calls("GetGameServer"), 0, "{:#?}", world.trace);
    }
}

#[test]
fn off_it_neither_looks_nor_calls() {
    let mut world = browser_with(|config| Config { allocate_on_players: false, empty_ready: None, ..config });
    read(&mut world, &[3, 3, 0, 3]);
    assert_eq!((world.calls("Allocate"), world.state()), (0, State::Ready));
}

#[test]
fn an_own_allocation_that_stays_empty_is_given_back_right_after_a_look() {
    let mut world = occupied();
    read(&mut world, &[0, 0, 0, 0, 0, 0]);
    assert_eq!(world.calls("Ready"), 0, "60 s from the first reading of 0: {:#?}", world.trace);
    read(&mut world, &[0]);
    world.assert_looked_before("Ready");
    read(&mut world, &[0; 20]);
    assert_eq!((world.calls("Ready"), world.calls("Allocate"), world.state()), (1, 0, State::Ready));
    assert_eq!(world.exit, None);
    world.trace.clear();
    read(&mut world, &[1, 1]);
    assert_eq!((world.calls("Allocate"), world.state()), (1, State::Allocated), "{:#?}", world.trace);
}

#[test]
fn a_failed_reading_is_neither_a_player_nor_emptiness() {
    let mut world = occupied();
    for _ in 0..4 {
        read(&mut world, &[0; 6]);
        world.event(not_scraped("HTTP 500"));
    }
    assert_eq!(world.calls("Ready"), 0, "{:#?}", world.trace);
}

#[test]
fn an_allocation_from_outside_is_never_given_back() {
    let mut world = browser();
    world.allocate();
    read(&mut world, &[3, 3]);
    read(&mut world, &[0; 50]);
    assert_eq!((world.calls("Allocate"), world.calls("Ready")), (0, 0), "{:#?}", world.trace);
    assert_eq!(world.count("may be somebody else's"), 1);
}

#[test]
fn an_own_allocation_that_somebody_else_allocates_again_is_theirs() {
    let mut world = occupied();
    read(&mut world, &[0; 5]);
    world.allocate();
    read(&mut world, &[0; 50]);
    assert_eq!(world.calls("Ready"), 0, "{:#?}", world.trace);
    assert_eq!(world.count("may be somebody else's"), 1, "{:#?}", world.trace);
}

#[test]
fn one_that_comes_within_the_batch_time_is_theirs_and_the_hook_runs_once() {
    let mut world = browser_with(|config| Config { allocated_hook: true, ..config });
    world.hook_takes = Some(secs(0.1));
    read(&mut world, &[0, 3]);
    assert_eq!(world.calls("Allocate"), 1);
    world.run(0.2);
    world.allocate();
    read(&mut world, &[3, 3]);
    assert!(world.server.game.last_allocated().ends_with("by the SDK"), "written over theirs");
    assert_eq!(world.count(" allocated hook "), 1, "{:#?}", world.trace);
    read(&mut world, &[0; 50]);
    assert_eq!(world.calls("Ready"), 0, "{:#?}", world.trace);
}

#[test]
fn the_hook_does_not_run_for_an_own_allocation() {
    let mut world = browser_with(|config| Config { allocated_hook: true, ..config });
    world.hook_takes = Some(secs(0.1));
    read(&mut world, &[0, 3, 3]);
    assert_eq!((world.state(), world.count("allocated hook")), (State::Allocated, 0), "{:#?}", world.trace);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count(" allocated hook "), 1, "theirs: {:#?}", world.trace);
}

#[test]
fn an_allocation_found_at_the_start_is_kept_and_said_once() {
    let mut world = World::started(
        Config { allocate_on_players: true, empty_ready: Some(secs(60.0)), ..counting("players", config()) },
        |world| {
            world.ready = true;
            world.allocate();
        },
    );
    world.run(2.0);
    read(&mut world, &[0; 50]);
    assert_eq!((world.calls("Ready"), world.count("may be somebody else's")), (0, 1), "{:#?}", world.trace);
}

#[test]
fn a_player_who_joins_between_decision_and_call_keeps_the_allocation() {
    let mut world = occupied();
    read(&mut world, &[0; 6]);
    // The look hangs; a reading comes before its answer.
    world.server.hangs = vec!["GetGameServer"];
    world.run(10.0);
    world.event(scraped(0));
    assert!(matches!(world.machine.call, Some((Call::GetGameServer, _))), "{:#?}", world.trace);
    world.event(scraped(1));
    world.answer_late();
    world.server.hangs.clear();
    read(&mut world, &[1; 5]);
    assert_eq!((world.calls("Ready"), world.state()), (0, State::Allocated), "{:#?}", world.trace);
}

#[test]
fn a_player_who_joins_while_ready_is_on_its_way_allocates_again_as_soon_as_it_shows() {
    let mut world = occupied();
    read(&mut world, &[0; 7]);
    assert_eq!(world.calls("Ready"), 1);
    world.event(scraped(1));
    world.run(0.3);
    assert_eq!(world.calls("Allocate"), 0, "the state is Allocated");
    world.run(1.5);
    assert_eq!((world.calls("Allocate"), world.state()), (1, State::Allocated), "{:#?}", world.trace);
    read(&mut world, &[1; 5]);
    assert_eq!((world.calls("Ready"), world.calls("Allocate")), (1, 1));
}

#[test]
fn a_match_that_comes_while_ready_is_on_its_way_is_kept_by_allocate() {
    let mut world = occupied();
    read(&mut world, &[0; 7]);
    assert_eq!(world.calls("Ready"), 1);
    world.run(0.2);
    world.allocate();
    world.run(5.0);
    assert_eq!((world.calls("Allocate"), world.state()), (1, State::Allocated), "{:#?}", world.trace);
    read(&mut world, &[0; 50]);
    assert_eq!(world.calls("Ready"), 1, "theirs is never given back: {:#?}", world.trace);
}

#[test]
fn an_allocate_that_fails_is_tried_again_and_one_that_does_not_show_is_not_repeated() {
    let mut world = browser();
    world.server.rejects = vec!["Allocate"];
    read(&mut world, &[0, 1, 1, 1]);
    assert_eq!((world.calls("Allocate"), world.count("warn")), (3, 1), "{:#?}", world.trace);
    world.server.rejects.clear();
    world.server.applies_after = None;
    world.trace.clear();
    read(&mut world, &[1; 20]);
    assert_eq!(world.calls("Allocate"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("warn Allocate() is with"), 3, "once a minute: {:#?}", world.trace);
}

#[test]
fn a_new_sdk_server_gets_the_allocate_that_the_old_one_took_with_it() {
    let mut world = browser();
    world.server.applies_after = None;
    read(&mut world, &[0, 1]);
    world.server.reachable = false;
    world.run(6.0);
    world.server.applies_after = Some(secs(0.5));
    world.server.reachable = true;
    read(&mut world, &[1, 1]);
    assert_eq!((world.calls("Allocate"), world.state()), (2, State::Allocated), "{:#?}", world.trace);
    read(&mut world, &[0; 10]);
    assert_eq!(world.calls("Ready"), 1, "it is the shim's own");
}

#[test]
fn an_own_allocation_outlives_the_sdk_server() {
    let mut world = occupied();
    world.server.reachable = false;
    read(&mut world, &[0; 20]);
    world.server.reachable = true;
    read(&mut world, &[0; 5]);
    assert_eq!(world.calls("Ready"), 0, "readings made while it was away prove nothing: {:#?}", world.trace);
    read(&mut world, &[0; 5]);
    assert_eq!((world.calls("Ready"), world.state()), (1, State::Ready), "{:#?}", world.trace);
}

#[test]
fn a_ready_that_is_lost_or_refused_is_called_again_once_decided_anew() {
    let mut world = occupied();
    world.server.rejects = vec!["Ready"];
    read(&mut world, &[0; 10]);
    assert_eq!((world.calls("Ready"), world.state()), (4, State::Allocated), "{:#?}", world.trace);
    world.server.rejects.clear();
    read(&mut world, &[0; 2]);
    assert_eq!(world.state(), State::Ready, "{:#?}", world.trace);
}

#[test]
fn an_sdk_server_that_writes_no_stamp_keeps_its_allocations() {
    let mut world = browser();
    read(&mut world, &[0, 1]);
    world.run(0.1);
    world.server.game.annotations.clear();
    world.run(0.35);
    // It lands without one.
    world.server.applies_after = None;
    world.server.game.state = State::Ready;
    world.settle();
    world.run(0.06);
    world.settle();
    world.server.game.annotations.clear();
    read(&mut world, &[1]);
    read(&mut world, &[0; 50]);
    assert_eq!(world.calls("Ready"), 0, "{:#?}", world.trace);
}

#[test]
fn age_never_ends_a_server_with_players_on_and_counts_from_its_return() {
    let mut world = browser_with(|config| Config { max_age: Some(secs(100.0)), ..config });
    world.server.rejects = vec!["Allocate"];
    read(&mut world, &[1; 30]);
    assert_eq!((world.exit, world.calls("Shutdown")), (None, 0), "Ready, with players on");
    world.server.rejects.clear();
    read(&mut world, &[1, 1]);
    assert_eq!(world.state(), State::Allocated);
    read(&mut world, &[0; 9]);
    assert_eq!((world.exit, world.state()), (None, State::Ready), "{:#?}", world.trace);
    world.run(80.0);
    assert_eq!(world.calls("Shutdown"), 0, "it begins anew: {:#?}", world.trace);
    world.run(60.0);
    assert_eq!(world.calls("Shutdown"), 1);
}

#[test]
fn idle_shutdown_ends_an_own_allocation_as_it_ends_another() {
    let mut world = browser_with(|config| Config { empty_ready: None, idle_shutdown: Some(secs(60.0)), ..config });
    read(&mut world, &[0, 3, 3]);
    assert_eq!(world.state(), State::Allocated);
    read(&mut world, &[0; 9]);
    assert_eq!((world.calls("Shutdown"), world.calls("Ready")), (1, 0), "{:#?}", world.trace);
}

#[test]
fn a_game_that_fails_liveness_is_not_given_back() {
    let mut world = browser_with(|config| Config { live_failure_threshold: Some(1000), ..config });
    read(&mut world, &[0, 3, 3]);
    world.alive = false;
    world.trace.clear();
    read(&mut world, &[0; 20]);
    assert_eq!(world.calls("Ready"), 0, "{:#?}", world.trace);
    world.alive = true;
    world.run(6.0);
    read(&mut world, &[0]);
    assert_eq!(world.calls("Ready"), 1, "{:#?}", world.trace);
}

#[test]
fn a_reserved_server_is_allocated_once_it_is_ready() {
    let mut world = browser();
    world.server.game.state = State::Reserved;
    read(&mut world, &[0, 3, 3, 3]);
    assert_eq!(world.calls("Allocate"), 0);
    world.server.game.state = State::Ready;
    read(&mut world, &[3]);
    assert_eq!(world.calls("Allocate"), 1, "{:#?}", world.trace);
}

#[test]
fn a_stop_ends_it_all() {
    let mut world = browser();
    read(&mut world, &[0, 3]);
    world.stop();
    world.run(30.0);
    assert_eq!((world.calls("Allocate"), world.calls("Shutdown")), (1, 1), "{:#?}", world.trace);
    assert_eq!(world.state(), State::Shutdown);
}
