//! The child's side of the way out (SPEC.md section 6).

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;
use crate::settings::StopScope;

fn ended(end: ProcessEnd) -> Event {
    Event::ChildEnded { end, held_terminal: false }
}

#[test]
fn the_child_is_started_before_anything_else() {
    let world = World::started(wrapper(), |_| ());
    assert_eq!(world.trace[0], "0.00 start the child");
}

// CASES.md 43, 48
#[test]
fn shutdown_goes_out_before_the_stop_signal_and_beats_go_on_while_the_game_saves() {
    let mut world = World::at_ready(wrapper(), |world| world.child_takes = Some(secs(25.0)));
    world.stop();
    world.run(60.0);
    assert_eq!(
        world.lines(&["signal", "Shutdown", "exit", "KILL"]),
        [
            "2.00 -> stop signal",
            "2.00 call Shutdown",
            "2.00 info Shutdown() is acknowledged, staying until the GameServer sho",
            "2.00 stop signal to the child",
            "2.00 info the stop signal was sent to the game server",
            "2.50 info Shutdown() has landed",
            "27.00 exit 143",
        ]
    );
    assert_eq!(world.count("call Health"), 5);
}

#[test]
fn probe_only_the_stop_signal_goes_out_at_once() {
    let config = Config { sdk: SdkMode::Off, ..wrapper() };
    let mut world = World::started(config, |world| world.child_takes = Some(secs(0.0)));
    world.stop();
    world.run(0.0);
    assert_eq!(world.exit, Some(ExitReason::Child(ProcessEnd::Signaled(15))));
}

#[test]
fn an_sdk_server_that_hangs_delays_the_stop_signal_by_one_attempt() {
    let mut world = World::at_ready(wrapper(), |world| world.child_takes = Some(secs(1.0)));
    world.server.silent = true;
    world.stop();
    world.run(30.0);
    assert_eq!(world.lines(&["stop signal to the child"]), ["4.00 stop signal to the child"]);
    assert_eq!(world.lines(&["exit"]), ["10.00 exit 143"], "Shutdown() is tried for its whole time");
}

// CASES.md 3
#[test]
fn a_child_that_ends_by_itself_gives_the_code_and_only_a_0_after_ready_is_a_shutdown() {
    for (end, ready, code, shutdown) in [
        (ProcessEnd::Exited(0), true, 0, 1),
        (ProcessEnd::Exited(0), false, 0, 0),
        (ProcessEnd::Exited(3), true, 3, 0),
        (ProcessEnd::Signaled(9), true, 137, 0),
        (ProcessEnd::Signaled(11), false, 139, 0),
    ] {
        let mut world = World::started(wrapper(), |world| world.ready = ready);
        world.run(2.0);
        world.event(ended(end));
        world.event(Event::GroupEmpty);
        world.run(5.0);
        assert_eq!(world.exit.map(ExitReason::code), Some(code), "{end:?}");
        assert_eq!(world.count("call Shutdown"), shutdown, "{end:?} {ready}");
    }
}

#[test]
fn what_is_left_of_the_group_is_told_and_waited_for_when_the_child_ends_by_itself() {
    let mut world = World::at_ready(wrapper(), |_| ());
    world.event(ended(ProcessEnd::Exited(0)));
    world.later(3.0, Event::GroupEmpty);
    world.run(10.0);
    assert_eq!(world.count("TERM to the group"), 1);
    assert_eq!(world.lines(&["exit"]), ["5.00 exit 0"]);
}

#[test]
fn with_scope_group_the_shim_stays_until_the_group_is_empty() {
    for (scope, left) in [(StopScope::Group, "6.00 exit 143"), (StopScope::Child, "3.00 exit 143")] {
        let mut world = World::at_ready(Config { stop_scope: scope, ..wrapper() }, |_| ());
        world.stop();
        world.later(1.0, ended(ProcessEnd::Signaled(15)));
        world.later(4.0, Event::GroupEmpty);
        world.run(10.0);
        assert_eq!(world.lines(&["exit"]), [left], "{scope:?}");
    }
}

#[test]
fn the_stop_timeout_kills_the_group() {
    let mut world = World::at_ready(Config { stop_timeout: Some(secs(5.0)), ..wrapper() }, |_| ());
    world.stop();
    world.run(10.0);
    assert_eq!(world.lines(&["KILL", "exit"]), ["7.00 KILL to the group", "7.00 exit 137"]);
}

#[test]
fn what_even_sigkill_does_not_end_is_left_after_two_seconds() {
    let mut world = World::at_ready(Config { stop_timeout: Some(secs(5.0)), ..wrapper() }, |_| ());
    world.immortal = true;
    world.stop();
    world.run(20.0);
    assert_eq!(world.lines(&["exit"]), ["9.00 exit 0"]);
}

#[test]
fn a_repeated_signal_ends_the_wait_for_shutdown_and_never_the_wait_for_the_game() {
    let mut world = World::at_ready(wrapper(), |_| ());
    world.server.applies_after = None;
    world.stop();
    world.run(1.0);
    world.stop();
    world.run(100.0);
    assert_eq!(world.count("not waiting for Shutdown() any longer"), 1);
    assert_eq!(world.count("stop signal to the child"), 1, "the signal thread sends the repeated one itself");
    assert_eq!(world.exit, None);
    world.event(ended(ProcessEnd::Exited(0)));
    world.event(Event::GroupEmpty);
    assert_eq!(world.exit, Some(ExitReason::Child(ProcessEnd::Exited(0))));
}

#[test]
fn the_hook_ends_before_the_stop_signal() {
    let config = Config { stop_hook: true, ..wrapper() };
    let mut world = World::at_ready(config, |world| {
        (world.hook_takes, world.child_takes) = (Some(secs(3.0)), Some(secs(1.0)));
    });
    world.stop();
    world.run(10.0);
    assert_eq!(
        world.lines(&["hook signal", "call Shutdown", "to the child", "exit"]),
        ["2.00 hook signal", "2.00 call Shutdown", "5.00 stop signal to the child", "6.00 exit 143"]
    );
}

#[test]
fn the_hook_runs_on_every_path_but_the_child_s_own_end() {
    let config = Config { stop_hook: true, ..wrapper() };
    let mut world = World::at_ready(config.clone(), |_| ());
    world.event(ended(ProcessEnd::Exited(0)));
    assert_eq!(world.count("hook"), 0);
    let mut world = World::at_ready(config, |world| world.hook_takes = Some(secs(1.0)));
    world.alive = false;
    world.run(16.0);
    assert_eq!(world.count("hook liveness"), 1, "{:#?}", world.trace);
}

#[test]
fn a_lost_game_is_stopped_without_shutdown_killed_after_ten_seconds_and_gives_69() {
    let mut world = World::at_ready(wrapper(), |_| ());
    world.alive = false;
    world.run(60.0);
    assert_eq!(world.count("call Shutdown"), 0);
    let lines = world.lines(&["to the child", "KILL", "exit"]);
    assert_eq!(lines, ["15.00 stop signal to the child", "25.00 KILL to the group", "25.00 exit 69"], "{lines:?}");
}

#[test]
fn the_readiness_deadline_stops_the_child_too() {
    let config = Config { ready_timeout: Some(secs(3.0)), ..wrapper() };
    let mut world = World::started(config, |world| {
        world.server.reachable = false;
        world.child_takes = Some(secs(1.0));
    });
    world.run(20.0);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
    assert_eq!(world.lines(&["to the child"]), ["3.00 stop signal to the child"]);
    assert_eq!(world.count("call Shutdown"), 0);
}

// F4
#[test]
fn a_missing_sdk_server_that_is_required_ends_with_75_and_the_child_never_started() {
    for wait_for_sdk in [false, true] {
        let config = Config {
            sdk: SdkMode::Required,
            wait_for_sdk,
            stop_hook: true,
            sdk_connect_timeout: secs(3.0),
            ready_timeout: Some(secs(1.0)),
            ..wrapper()
        };
        let mut world = World::started(config.clone(), |world| world.server.reachable = false);
        world.run(20.0);
        assert_eq!(world.exit.map(ExitReason::code), Some(75), "{:#?}", world.trace);
        assert_eq!(world.lines(&["start the child", "call Shutdown", "hook"]).len(), 0, "{:#?}", world.trace);
        let mut world = World::started(config, |world| {
            world.server.reachable = false;
            world.server.game.address = "203.0.113.7".into();
        });
        world.run(1.5);
        world.server.reachable = true;
        world.run(1.0);
        let wanted =
            if wait_for_sdk { " AGONES_GAMESERVER_NAME=game-1 AGONES_GAMESERVER_ADDRESS=203.0.113.7" } else { "" };
        assert_eq!(world.lines(&["start the child"]), [format!("1.75 start the child{wanted}")]);
    }
}

// F12
#[test]
fn neither_the_readiness_deadline_nor_the_hook_is_for_a_game_that_was_not_started() {
    let config = Config { wait_for_sdk: true, stop_hook: true, ready_timeout: Some(secs(2.0)), ..wrapper() };
    let mut world = World::started(config.clone(), |_| ());
    world.run(5.0);
    assert_eq!(world.exit, None, "{:#?}", world.trace);
    world.server.game.address = "203.0.113.7".into();
    world.run(1.0);
    assert_eq!(world.count("start the child"), 1);
    world.run(1.0);
    assert_eq!(world.count("error the game server did not become ready"), 0, "{:#?}", world.trace);
    world.run(0.5);
    assert_eq!(world.count("error the game server did not become ready"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("hook readiness"), 1);

    let mut world = World::started(config, |_| ());
    world.run(1.0);
    world.stop();
    world.run(5.0);
    assert_eq!(world.count("hook"), 0, "{:#?}", world.trace);
    assert_eq!(world.exit.map(ExitReason::code), Some(0));
}

#[test]
fn a_stop_signal_after_giving_up_is_sent_to_the_child_and_changes_no_code() {
    let config = Config { ready_timeout: Some(secs(3.0)), ..wrapper() };
    let mut world = World::started(config, |_| ());
    world.run(4.0);
    world.stop();
    assert_eq!(world.count("stop signal to the child"), 2);
    world.event(ended(ProcessEnd::Exited(0)));
    world.event(Event::GroupEmpty);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
}

#[test]
fn a_console_that_ends_the_game_counts_as_a_stop() {
    for (end, code) in [
        (ProcessEnd::Signaled(2), 130),
        (ProcessEnd::Signaled(3), 131),
        (ProcessEnd::Exited(130), 130),
        (ProcessEnd::Exited(0), 0),
    ] {
        let mut world = World::started(wrapper(), |_| ());
        world.run(1.0);
        world.event(Event::ChildEnded { end, held_terminal: true });
        world.event(Event::GroupEmpty);
        world.run(5.0);
        assert_eq!(world.count("Shutdown() has landed"), 1, "{end:?}");
        assert_eq!(world.exit.map(ExitReason::code), Some(code));
    }
    let mut world = World::started(wrapper(), |_| ());
    world.run(1.0);
    world.event(Event::ChildEnded { end: ProcessEnd::Signaled(11), held_terminal: true });
    assert_eq!(world.exit.map(ExitReason::code), Some(139), "a crash is no stop, whoever holds the terminal");
}

#[test]
fn a_held_child_starts_with_its_address() {
    let config = Config { wait_for_sdk: true, ..wrapper() };
    let mut world = World::started(config, |_| ());
    world.run(1.0);
    assert_eq!(world.count("start the child"), 0);
    world.server.game.address = "203.0.113.7".into();
    world.server.game.ports = vec![("default".into(), 7001)];
    world.run(0.3);
    assert_eq!(
        world.lines(&["start the child"]),
        ["1.25 start the child AGONES_GAMESERVER_NAME=game-1 AGONES_GAMESERVER_ADDRESS=203.0.113.7 \
          AGONES_GAMESERVER_PORT=7001 AGONES_GAMESERVER_PORT_DEFAULT=7001"]
    );
    world.open();
    world.run(2.0);
    assert_eq!(world.machine.phase, Phase::Ready);
}

#[test]
fn a_held_child_starts_without_its_address_when_the_connect_timeout_is_over() {
    let config = Config { wait_for_sdk: true, sdk_connect_timeout: secs(3.0), ..wrapper() };
    for reachable in [true, false] {
        let mut world = World::started(config.clone(), |world| world.server.reachable = reachable);
        world.run(10.0);
        assert_eq!(world.lines(&["start the child"]), ["3.00 start the child"], "{reachable}");
        assert_eq!(world.count("address is not known within"), 1, "{:#?}", world.trace);
        assert_eq!(world.count("NO AGONES SDK"), usize::from(!reachable));
    }
}

#[test]
fn a_held_child_is_not_started_any_more_once_a_stop_was_asked_for() {
    let config = Config { wait_for_sdk: true, ..wrapper() };
    let mut world = World::started(config, |_| ());
    world.run(1.0);
    world.stop();
    world.server.game.address = "203.0.113.7".into();
    world.run(60.0);
    assert_eq!(world.count("start the child"), 0);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}

#[test]
fn a_child_that_cannot_be_started_gives_its_code() {
    let mut world = World::started(wrapper(), |_| ());
    world.event(Event::ChildNotStarted(ExitReason::NotFound));
    assert_eq!(world.exit.map(ExitReason::code), Some(127));
}

// F25
#[test]
fn a_game_that_is_started_again_under_an_allocated_server_may_load_as_long_as_its_readiness_deadline() {
    let config = Config { ready_timeout: Some(secs(60.0)), ..wrapper() };
    let loading = |world: &mut World| {
        world.server.game.state = State::Allocated;
        world.alive = false;
    };
    let mut world = World::started(config.clone(), loading);
    world.run(40.0);
    assert_eq!(world.exit, None, "{:#?}", world.trace);
    assert!(world.count("call Health") >= 8, "a slow start is no hang: {:#?}", world.trace);
    world.alive = true;
    world.open();
    world.run(2.0);
    assert_eq!(world.machine.phase, Phase::Ready);
    assert_eq!(world.count("call Ready"), 0);
    world.alive = false;
    world.run(30.0);
    assert_eq!(world.count("error the game server is gone"), 1, "its liveness counts from now on: {:#?}", world.trace);

    let mut world = World::started(config, loading);
    world.run(61.0);
    assert_eq!(world.count("error the game server did not become ready"), 1, "{:#?}", world.trace);
}
