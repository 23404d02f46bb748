//! The sidecar's way out.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

#[test]
fn shutdown_is_called_at_once_and_waited_for() {
    let mut world = World::at_ready(config(), |world| world.server.applies_after = Some(secs(0.5)));
    world.server.applies_after = Some(secs(1.0));
    world.stop();
    world.run(3.0);
    assert_eq!(
        world.lines(&["signal", "Shutdown", "exit"]),
        [
            "2.00 -> stop signal",
            "2.00 call Shutdown",
            "2.00 info Shutdown() is acknowledged, staying until the GameServer sho",
            "3.00 info Shutdown() has landed",
            "3.00 exit 0",
        ]
    );
}

#[test]
fn a_deletion_timestamp_is_as_good_as_the_state() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.game.deleting = true;
    world.stop();
    assert_eq!(world.exit, Some(ExitReason::Stopped), "{:#?}", world.trace);
}

#[test]
fn nothing_is_waited_for_that_cannot_come() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.game.state = State::Unhealthy;
    world.server.applies_after = None;
    world.stop();
    world.run(1.0);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
    assert_eq!(world.count("call Shutdown"), 1);
    assert_eq!(world.count("warn not waiting for Shutdown()"), 1);
}

#[test]
fn a_failing_shutdown_is_tried_again_inside_the_bound() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.rejects = vec!["Shutdown"];
    world.stop();
    world.run(1.0);
    world.server.silent = true;
    world.run(3.0);
    (world.server.silent, world.server.rejects) = (false, vec![]);
    world.run(3.0);
    assert_eq!(world.count("Shutdown() has landed"), 1, "{:#?}", world.trace);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn an_acknowledged_shutdown_that_does_not_show_is_called_again_every_two_seconds_up_to_the_bound() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.applies_after = None;
    world.stop();
    world.run(20.0);
    assert_eq!(world.count("call Shutdown"), 4, "{:#?}", world.trace);
    assert_eq!(world.count("error Shutdown() was not confirmed"), 1);
    assert_eq!(world.lines(&["exit"]), ["10.00 exit 0"]);
}

#[test]
fn an_sdk_server_that_leaves_after_the_acknowledgement_is_not_waited_for_beyond_two_seconds() {
    let mut world = World::at_ready(config(), |_| ());
    world.stop();
    world.server.reachable = false;
    world.run(20.0);
    assert_eq!(world.count("the SDK server has left"), 1, "{:#?}", world.trace);
    let left: f64 = world.lines(&["exit"])[0].split(' ').next().and_then(|at| at.parse().ok()).expect("a time");
    assert!((3.9..4.6).contains(&left), "{left}");
}

#[test]
fn an_sdk_server_that_comes_back_on_the_way_out_is_called_again() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.applies_after = None;
    world.stop();
    world.server.reachable = false;
    world.run(1.0);
    world.server.reachable = true;
    world.server.applies_after = Some(secs(0.1));
    world.run(2.0);
    assert_eq!(world.count("call Shutdown"), 2, "{:#?}", world.trace);
    assert_eq!(world.count("Shutdown() has landed"), 1);
}

#[test]
fn a_lost_sdk_server_is_waited_for_up_to_the_bound_while_nothing_was_acknowledged() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.reachable = false;
    world.run(6.0);
    world.stop();
    world.run(6.0);
    assert_eq!(world.exit, None);
    world.server.reachable = true;
    world.run(1.5);
    assert_eq!(world.count("Shutdown() has landed"), 1, "{:#?}", world.trace);
}

#[test]
fn never_connected_means_one_attempt() {
    let mut world = World::started(config(), |world| world.server.reachable = false);
    world.run(0.6);
    world.trace.clear();
    world.stop();
    world.run(0.1);
    assert_eq!(world.exit, Some(ExitReason::Stopped), "{:#?}", world.trace);
    assert_eq!(world.count("call Connect"), 1);
}

#[test]
fn an_sdk_server_that_appears_in_that_one_attempt_gets_its_shutdown() {
    let mut world = World::started(config(), |world| world.server.reachable = false);
    world.run(0.5);
    world.server.reachable = true;
    world.stop();
    world.run(2.0);
    assert_eq!(world.count("Shutdown() has landed"), 1, "{:#?}", world.trace);
}

#[test]
fn stopping_while_waiting_for_the_game_delivers_shutdown() {
    let mut world = World::started(config(), |_| ());
    world.run(1.0);
    world.stop();
    world.run(2.0);
    assert_eq!(world.count("Shutdown() has landed"), 1);
    assert_eq!(world.count("call Ready"), 0);
}

#[test]
fn a_second_signal_ends_the_waiting() {
    let mut world = World::at_ready(config(), |world| world.server.applies_after = Some(secs(0.5)));
    world.server.applies_after = None;
    world.stop();
    world.run(1.0);
    world.stop();
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn with_the_sdk_off_it_leaves_at_once() {
    let mut world = World::started(Config { sdk: SdkMode::Off, ..config() }, |_| ());
    world.stop();
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn a_dead_thread_ends_the_process_with_70_through_shutdown() {
    let mut world = World::at_ready(config(), |_| ());
    world.event(Event::ThreadDied { thread: "probe", message: "index out of bounds".into() });
    world.run(2.0);
    assert_eq!(world.count("Shutdown() has landed"), 1);
    assert_eq!(world.exit.map(ExitReason::code), Some(70));
}

#[test]
fn a_machine_that_takes_over_from_a_broken_one_goes_through_shutdown_too() {
    let mut world = World::at_ready(config(), |_| ());
    world.machine = world.machine.take_over(world.now);
    world.event(Event::ThreadDied { thread: "main", message: "a bug".into() });
    world.run(2.0);
    assert_eq!(world.count("Shutdown() has landed"), 1, "{:#?}", world.trace);
    assert_eq!(world.exit.map(ExitReason::code), Some(70));
}

#[test]
fn the_reason_that_came_first_gives_the_code() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.applies_after = None;
    world.stop();
    world.event(Event::ThreadDied { thread: "probe", message: "a bug".into() });
    world.run(20.0);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn a_sidecar_s_hook_runs_beside_shutdown_and_is_waited_for() {
    let mut world = World::at_ready(Config { stop_hook: true, ..config() }, |world| {
        world.hook_takes = Some(secs(3.0));
    });
    world.stop();
    world.run(10.0);
    assert_eq!(
        world.lines(&["hook", "has landed", "exit"]),
        [
            "2.00 hook signal",
            "2.00 info the stop hook was started",
            "2.50 info Shutdown() has landed",
            "5.00 info the stop hook has ended",
            "5.00 exit 0",
        ]
    );
}

#[test]
fn signals_within_a_second_are_one_request() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.applies_after = None;
    world.stop();
    for _ in 0..9 {
        world.run(0.1);
        world.stop();
    }
    assert_eq!((world.exit, world.count("stop signal repeated")), (None, 0), "{:#?}", world.trace);
    world.run(0.1);
    world.stop();
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn a_signal_counts_from_when_it_came_and_not_from_when_it_was_heard() {
    for (gap, left) in [(0.9, false), (1.1, true)] {
        let mut world = World::at_ready(config(), |_| ());
        world.server.applies_after = None;
        world.stop();
        let first = world.now;
        world.run(1.5);
        world.event(Event::StopRequested(first + secs(gap)));
        assert_eq!(world.exit.is_some(), left, "{gap}");
    }
}

/// Both came while a beat hung; the link is lost with it.
#[test]
fn the_one_call_is_made_in_any_case_and_what_it_brings_is_not_lost_by_leaving_at_once() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.silent = true;
    let began = world.now;
    world.event(Event::HealthDue);
    world.server.silent = false;
    world.event(Event::StopRequested(began + secs(0.1)));
    world.event(Event::StopRequested(began + secs(1.6)));
    assert_eq!((world.exit, world.count("stop signal repeated")), (None, 1));
    world.run(3.0);
    assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
    assert_eq!(world.server.game.state, State::Shutdown, "it has left before that was written");
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn a_late_acknowledgement_that_never_shows_is_waited_for_two_seconds() {
    let mut world = World::at_ready(Config { shutdown_timeout: secs(1.0), ..config() }, |_| ());
    world.server.applies_after = None;
    world.server.rejects = vec!["Shutdown"];
    world.stop();
    world.run(0.9);
    world.server.rejects.clear();
    world.run(10.0);
    let exit = world.lines(&["exit"]);
    assert_eq!(exit, ["3.00 exit 0"], "rejected at 0.0 and 0.5, so that the bound was there first: {:#?}", world.trace);
}
