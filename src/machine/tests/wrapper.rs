//! The child's side of the way out.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;
use crate::settings::{StopScope, StopSignal};

fn ended(end: ProcessEnd) -> Event {
    Event::ChildEnded { end, held_terminal: false }
}

#[test]
fn the_child_is_started_before_anything_else() {
    let world = World::started(wrapper(), |_| ());
    assert_eq!(world.trace[0], "0.00 start the child");
}

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
    assert_eq!(world.lines(&["KILL to", "exit"]), ["7.00 KILL to the group", "7.00 exit 137"]);
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
    assert_eq!(world.lines(&["to the child"]), ["2.00 stop signal to the child", "3.00 stop signal to the child"]);
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
    let lines = world.lines(&["to the child", "KILL to", "exit"]);
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
        // Somebody may have typed quit; of INT it has died by Ctrl-C.
        assert_eq!(world.count("Ctrl-C went to the game itself"), usize::from(code == 130), "{end:?}");
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

/// How the waiting for Shutdown() can end while the game saves on.
#[test]
fn while_the_game_saves_shutdown_goes_on_being_tried_whatever_has_ended_the_waiting() {
    for way in ["the bound", "a second signal", "refusals after the acknowledgement", "never reached"] {
        let never = way == "never reached";
        let mut world = World::started(wrapper(), |world| {
            world.ready = true;
            world.server.reachable = !never;
        });
        world.run(2.0);
        world.server.applies_after = None;
        if way == "refusals after the acknowledgement" {
            world.stop();
            world.server.reachable = false;
        } else {
            world.server.reachable = false;
            world.run(6.0);
            world.stop();
        }
        if way == "a second signal" {
            world.run(1.5);
            world.stop();
        }
        world.run(60.0);
        let calls = world.count("call Shutdown");
        (world.server.reachable, world.server.applies_after) = (true, Some(secs(0.5)));
        world.run(3.0);
        assert_eq!(world.count("call Shutdown"), calls + 1, "{way}: {:#?}", world.trace);
        assert_eq!(world.count("Shutdown() has landed"), 1, "{way}");
        assert_eq!(world.exit, None, "{way}: the game still saves");
        world.event(ended(ProcessEnd::Exited(0)));
        world.event(Event::GroupEmpty);
        assert_eq!(world.exit.map(ExitReason::code), Some(0), "{way}");
    }
}

/// The game ends in the moment in which the SDK server has come back.
#[test]
fn what_was_acknowledged_late_is_not_lost_by_the_game_s_end() {
    let mut world = World::at_ready(wrapper(), |_| ());
    world.server.reachable = false;
    world.run(6.0);
    world.stop();
    world.run(20.0);
    world.server.reachable = true;
    world.run(1.1);
    assert_eq!(world.count("call Shutdown"), 1, "{:#?}", world.trace);
    world.event(ended(ProcessEnd::Exited(0)));
    world.event(Event::GroupEmpty);
    world.run(3.0);
    assert_eq!(world.server.game.state, State::Shutdown, "{:#?}", world.trace);
    assert_eq!(world.exit.map(ExitReason::code), Some(0));
}

fn with_line(config: Config) -> Config {
    Config { stop_line: Some(secs(30.0)), ..config }
}

const STEPS: [&str; 6] = ["call Shutdown", "hook signal", "stop line", "to the child", "KILL to", "exit"];

#[test]
fn shutdown_hook_line_signal_kill() {
    let config = Config { stop_hook: true, stop_timeout: Some(secs(20.0)), ..with_line(wrapper()) };
    let mut world = World::at_ready(config, |world| world.hook_takes = Some(secs(3.0)));
    world.stop();
    world.run(100.0);
    assert_eq!(
        world.lines(&STEPS),
        [
            "2.00 hook signal",
            "2.00 call Shutdown",
            "5.00 stop line",
            "5.00 info the stop line was written to the game server's stdin",
            "35.00 warn the game server has not ended in time after the stop line, a",
            "35.00 stop signal to the child",
            "55.00 KILL to the group",
            "55.00 exit 137",
        ]
    );
    let killed = Notice::Killed { after: secs(20.0) };
    assert!(world.notices.contains(&killed), "its time counts from the signal: {:?}", world.notices);
}

#[test]
fn a_game_that_ends_after_the_line_gets_no_signal() {
    let mut world = World::at_ready(with_line(wrapper()), |_| ());
    world.stop();
    world.later(20.0, ended(ProcessEnd::Exited(0)));
    world.later(20.0, Event::GroupEmpty);
    world.run(100.0);
    assert_eq!(world.count("to the child"), 0);
    assert_eq!(world.lines(&["exit"]), ["22.00 exit 0"]);
}

#[test]
fn a_line_that_cannot_be_written_is_followed_by_the_signal_and_one_that_nobody_reads_by_its_time() {
    for (line, at) in [(Some(Err("broken pipe".into())), 2), (None, 32)] {
        let mut world = World::at_ready(with_line(wrapper()), |world| world.line = line);
        world.stop();
        world.run(100.0);
        assert_eq!(world.lines(&["to the child"]), [format!("{at}.00 stop signal to the child")]);
    }
}

#[test]
fn a_repeated_signal_goes_one_step_on_and_never_kills() {
    let config = Config { stop_hook: true, ..with_line(wrapper()) };
    let mut world = World::at_ready(config, |_| ());
    for _ in 0..5 {
        world.stop();
        world.run(2.0);
    }
    world.run(300.0);
    let steps = world.lines(&["hook signal", "stop line", "to the child", "KILL to", "exit"]);
    let wanted = [
        "2.00 hook signal",
        "4.00 stop line",
        "4.00 info the stop line was written to the game server's stdin",
        "6.00 stop signal to the child",
        "8.00 stop signal to the child",
        "10.00 stop signal to the child",
    ];
    assert_eq!(steps, wanted);
}

#[test]
fn giving_up_line_and_signal_share_ten_seconds() {
    let mut world = World::at_ready(with_line(wrapper()), |_| ());
    world.alive = false;
    world.run(60.0);
    let steps = world.lines(&["stop line", "to the child", "KILL to", "exit"]);
    let wanted = [
        "15.00 stop line",
        "15.00 info the stop line was written to the game server's stdin",
        "20.00 warn the game server has not ended in time after the stop line, a",
        "20.00 stop signal to the child",
        "25.00 KILL to the group",
        "25.00 exit 69",
    ];
    assert_eq!(steps, wanted);
    assert!(world.notices.contains(&Notice::KilledGivingUp { after: secs(5.0) }), "{:?}", world.notices);
}

#[test]
fn with_no_stop_signal_there_is_the_hook_and_sigkill_where_it_has_a_time() {
    let config = Config { stop_hook: true, stop_signal: None, stop_timeout: Some(secs(9.0)), ..wrapper() };
    let mut world = World::at_ready(config, |world| world.hook_takes = Some(secs(3.0)));
    world.stop();
    world.run(1.5);
    world.stop();
    world.run(100.0);
    assert_eq!(
        world.lines(&["hook signal", "to the child", "to the group", "exit"]),
        ["2.00 hook signal", "12.50 KILL to the group", "12.50 exit 137"]
    );
}

#[test]
fn exit_codes_that_count_as_0_do_so_after_a_stop_alone() {
    let config = Config { stop_ok_codes: vec![143], ..wrapper() };
    let mut world = World::at_ready(config.clone(), |world| world.child_takes = Some(secs(3.0)));
    world.stop();
    world.run(10.0);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
    let mut world = World::at_ready(config, |_| ());
    world.event(ended(ProcessEnd::Exited(143)));
    assert_eq!(world.exit.map(ExitReason::code), Some(143), "by itself");
}

fn member(name: &str, ignored: &[i32]) -> GroupMember {
    let ignored = ignored.iter().fold(0, |bits, signal| bits | 1 << (signal - 1));
    GroupMember { pid: 17, name: name.into(), ignored }
}

#[test]
fn a_game_that_does_not_end_is_named_after_5_10_30_and_60_seconds() {
    let mut world = World::at_ready(wrapper(), |world| {
        world.group = vec![member("mc.sh", &[15, 2]), member("java", &[])];
    });
    world.stop();
    world.run(300.0);
    let lines = world.lines(&["has not ended"]);
    let at: Vec<_> = lines.iter().map(|line| line.split(' ').next().expect("a time")).collect();
    assert_eq!(at, ["7.00", "12.00", "32.00", "62.00"]);
    let left = "17 mc.sh (ignores SIGTERM SIGINT), 17 java".to_owned();
    let wanted = Notice::GameStillThere { after: secs(5.0), signal: "SIGTERM".into(), left };
    assert!(world.notices.contains(&wanted), "{:?}", world.notices);
}

fn stopped_by_int() -> Config {
    Config { stop_signal: Some(StopSignal { number: 2, name: "SIGINT".into() }), ..wrapper() }
}

/// A shell's background job ignores SIGINT. What has a handler may be saving, and SIGTERM could cut that short.
#[test]
fn what_is_left_of_the_group_and_was_not_told_gets_sigterm_after_five_seconds() {
    let (deaf, saving) = (member("game", &[2, 3]), GroupMember { pid: 18, ..member("game", &[]) });
    for (config, group, told) in [
        (stopped_by_int(), vec![deaf.clone()], true),
        (stopped_by_int(), vec![saving.clone()], false),
        (stopped_by_int(), vec![deaf.clone(), saving], true),
        (stopped_by_int(), vec![member("game", &[2, 15])], false),
        (stopped_by_int(), vec![], false),
        (wrapper(), vec![deaf.clone()], false),
        (Config { stop_signal: None, ..wrapper() }, vec![deaf], false),
    ] {
        let mut world = World::at_ready(config, |world| world.group.clone_from(&group));
        world.stop();
        world.later(1.0, ended(ProcessEnd::Signaled(2)));
        world.run(60.0);
        let wanted: &[&str] = if told { &["8.00 TERM to [17] of the group"] } else { &[] };
        assert_eq!(world.lines(&["TERM to"]), wanted, "{group:?}");
        assert_eq!(world.count("first process has ended"), usize::from(!group.is_empty()));
    }
}

#[test]
fn what_is_left_behind_a_leader_that_ended_before_its_turn_is_told_all_the_same() {
    let config = Config { stop_hook: true, ..wrapper() };
    let mut world = World::at_ready(config, |world| world.hook_takes = Some(secs(3.0)));
    world.stop();
    world.later(1.0, ended(ProcessEnd::Exited(0)));
    world.run(10.0);
    assert_eq!(world.lines(&["to the child", "exit"]), ["5.00 stop signal to the child"]);
}

#[test]
fn with_scope_child_its_helpers_are_left_alone_whichever_way_it_ends() {
    for (end, held_terminal) in [(ProcessEnd::Exited(0), false), (ProcessEnd::Signaled(2), true)] {
        let mut world = World::at_ready(Config { stop_scope: StopScope::Child, ..wrapper() }, |_| ());
        world.event(Event::ChildEnded { end, held_terminal });
        world.run(20.0);
        assert_eq!(world.count("to the group"), 0, "{:#?}", world.trace);
        assert_eq!(world.lines(&["exit"]).len(), 1, "{:#?}", world.trace);
    }
}

#[test]
fn a_game_that_dies_of_the_stop_signal_at_once_is_worth_a_hint() {
    for (takes, hints) in [(0.1, 1), (0.3, 0)] {
        let mut world = World::at_ready(wrapper(), |world| world.child_takes = Some(secs(takes)));
        world.stop();
        world.run(5.0);
        assert_eq!(world.count("has died of the stop signal"), hints, "{takes}");
    }
    let mut world = World::at_ready(wrapper(), |_| ());
    world.stop();
    world.event(ended(ProcessEnd::Signaled(15)));
    world.run(1.0);
    world.event(Event::GroupEmpty);
    assert_eq!(world.count("has died of the stop signal"), 0, "a shell died, and the game behind it has saved");
}

#[test]
fn a_game_that_was_never_started_needs_no_hook() {
    let config = Config { wait_for_sdk: true, stop_hook: true, ..wrapper() };
    let mut world = World::started(config, |_| ());
    world.run(1.0);
    world.stop();
    world.run(5.0);
    assert_eq!(world.count("hook"), 0);
    assert_eq!(world.exit, Some(ExitReason::Stopped));
}
