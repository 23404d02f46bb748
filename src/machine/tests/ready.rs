//! The way to Ready.

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

// F26
#[test]
fn a_ready_that_a_slow_server_has_is_never_called_again_and_a_warning_says_what_is_waited_for() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = None;
    });
    world.run(3.0);
    world.server.silent = true;
    world.run(4.0);
    world.server.silent = false;
    world.run(120.0);
    assert_eq!(world.count("the SDK server is back"), 1, "its deadlines have passed: {:#?}", world.trace);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
    let warnings = world.count("warn Ready() is with the SDK server but does not show");
    assert!((2..=3).contains(&warnings), "once a minute: {:#?}", world.trace);
    world.server.game.state = State::Ready;
    world.run(1.0);
    assert_eq!(world.machine.phase, Phase::Ready);
}

#[test]
fn a_ready_with_no_answer_in_time_counts_as_called() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = None;
        world.server.hangs = vec!["Ready"];
    });
    world.run(4.0);
    world.server.hangs.clear();
    world.run(60.0);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("warn no answer to Ready()"), 1, "{:#?}", world.trace);
}

#[test]
fn a_ready_is_called_again_when_the_server_that_had_it_is_gone_and_the_state_is_before_ready() {
    for (state, again) in [(State::Scheduled, true), (State::RequestReady, false), (State::Allocated, false)] {
        let mut world = World::started(config(), |world| {
            world.ready = true;
            world.server.applies_after = None;
        });
        world.run(3.0);
        assert_eq!(world.count("call Ready"), 1);
        world.trace.clear();
        world.server.reachable = false;
        world.run(2.0);
        world.server.reachable = true;
        world.server.game.state = state.clone();
        world.run(5.0);
        assert_eq!(world.count("call Ready"), usize::from(again), "{state:?}: {:#?}", world.trace);
        assert_eq!(world.count("the SDK server that had Ready() is gone"), usize::from(again), "{:#?}", world.trace);
        if again {
            let is_look = |line: &&str| line.contains("call GetGameServer");
            let ready = world.trace.iter().position(|line| line.contains("call Ready")).expect("it was called");
            let look = world.trace[..ready].iter().rposition(|line| is_look(&line.as_str()));
            assert!(look.is_some(), "{:#?}", world.trace);
        }
    }
}

#[test]
fn a_ready_is_not_called_again_without_a_fresh_round() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = None;
    });
    world.run(3.0);
    world.ready = false;
    world.server.reachable = false;
    world.run(2.0);
    world.server.reachable = true;
    world.run(30.0);
    assert_eq!(world.count("call Ready"), 1, "no round has passed since: {:#?}", world.trace);
}

#[test]
fn the_first_ready_comes_a_second_after_the_first_connection_and_at_once_where_that_is_older() {
    let mut world = World::started(config(), |world| world.ready = true);
    world.run(3.0);
    assert_eq!(world.lines(&["call Ready"]), ["1.00 call Ready"], "{:#?}", world.trace);
    let looks = world.lines(&["1.00 call GetGameServer"]);
    assert_eq!(looks.len(), 1, "the state is read immediately before: {:#?}", world.trace);

    let mut world = World::started(config(), |_| ());
    world.run(1.5);
    world.open();
    assert_eq!(world.lines(&["call Ready"]), ["1.50 call Ready"], "{:#?}", world.trace);
}

#[test]
fn a_look_that_was_held_up_is_followed_by_another_before_ready() {
    let mut world = World::started(config(), |world| world.server.hangs = vec!["GetGameServer"]);
    world.run(1.5);
    world.event(Event::ReadinessPassed(report(Ok(()))));
    assert!(matches!(world.machine.call, Some((Call::GetGameServer, _))), "{:#?}", world.trace);
    // It is answered after all, with what the server knew before its write.
    let began = world.now;
    world.now += secs(1.5);
    assert!(world.now - began >= secs(1.0));
    world.answer_late();
    assert_eq!(world.count("call Ready"), 0, "{:#?}", world.trace);
    world.server.hangs.clear();
    world.server.game.state = State::Allocated;
    world.ready = true;
    world.run(2.0);
    assert_eq!(world.count("call Ready"), 0, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready);
}

#[test]
fn an_allocation_that_shows_before_an_own_ready_can_is_kept_by_one_allocate() {
    let mut world = World::started(Config { allocated_hook: true, ..config() }, |world| world.ready = true);
    world.hook_takes = Some(secs(0.1));
    world.run(1.1);
    assert_eq!(world.count("call Ready"), 1);
    // An earlier shim's Ready() has landed, and somebody took the server.
    world.allocate();
    world.run(5.0);
    assert_eq!(world.lines(&["call Ready", "call Allocate"]), ["1.00 call Ready", "1.25 call Allocate"]);
    assert_eq!(world.server.game.state, State::Allocated, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready);
    assert!(world.server.game.last_allocated().ends_with("by the SDK"));
    assert_eq!(world.count("allocated hook"), 1, "its own Allocate() is no match: {:#?}", world.trace);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("allocated hook"), 2, "another one is: {:#?}", world.trace);
}

#[test]
fn a_ready_that_shows_before_an_own_one_can_is_looked_at_until_the_batch_time_is_over() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = Some(secs(0.507));
    });
    world.run(1.1);
    world.server.game.state = State::Ready;
    world.run(0.2);
    assert_eq!(world.machine.phase, Phase::Served, "{:#?}", world.trace);
    world.allocate();
    world.run(3.0);
    assert_eq!(world.count("call Allocate"), 1, "{:#?}", world.trace);
}

#[test]
fn allocate_is_not_repeated_and_an_allocation_by_its_own_ready_needs_none() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.rejects = vec!["Allocate"];
    });
    world.run(1.1);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("call Allocate"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("warn Allocate() failed and is not repeated"), 1);

    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.applies_after = None;
    });
    world.run(1.7);
    assert_eq!(world.machine.phase, Phase::Served);
    world.allocate();
    world.run(5.0);
    assert_eq!(world.count("call Allocate"), 0, "{:#?}", world.trace);
    assert_eq!(world.count("call Ready"), 1);
}

// M4
#[test]
fn a_reason_that_changes_is_a_line_at_most_every_five_seconds() {
    let mut world = World::started(config(), |_| ());
    world.run(10.0);
    for turn in 0..100 {
        let reason = if turn % 2 == 0 { "HTTP 404" } else { "timed out after 2s" };
        world.event(Event::ReadinessFailed(report(Err(reason.into()))));
        world.run(0.1);
    }
    world.run(60.0);
    let lines = world.lines(&["info waiting for", "another reason"]);
    assert_eq!(
        lines[..2],
        ["0.00 info waiting for the game server", "10.00 info the game server is not ready for another reason now"]
    );
    assert!((3..=4).contains(&lines.len()), "{lines:#?}");
    assert_eq!(world.machine.readiness.last_failure(), "tcp localhost:7777: timed out after 2s");
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
    world.run(1.5);
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
