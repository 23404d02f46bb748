//! The SDK server comes late, goes, and comes back (SPEC.md 2.2).

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

#[test]
fn without_an_sdk_server_it_tries_every_second_and_says_probe_only_once() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.reachable = false;
    });
    world.run(60.0);
    assert_eq!(world.count("call Connect"), 61);
    assert_eq!(world.lines(&["NO AGONES SDK", "ready, with no SDK"]).len(), 2, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready, "probe-only, Served is Ready");
    assert_eq!(world.exit, None);
}

// CASES.md 10
#[test]
fn an_sdk_server_that_is_45_s_late_still_gets_its_ready() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.reachable = false;
    });
    world.run(45.0);
    world.server.reachable = true;
    world.run(3.0);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
    assert_eq!(world.count("call Health"), 1);
    assert_eq!(world.count("info the GameServer is ready"), 1);
}

#[test]
fn a_late_sdk_server_gets_no_ready_for_a_game_that_has_died() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.reachable = false;
    });
    world.run(40.0);
    (world.ready, world.alive) = (false, false);
    world.run(5.0);
    world.server.reachable = true;
    world.run(30.0);
    assert_eq!(world.count("call Ready"), 0, "{:#?}", world.trace);
    assert_eq!(world.count("call Health"), 0);
    assert_eq!(world.exit.map(ExitReason::code), Some(69));
}

#[test]
fn a_silent_sdk_server_is_tried_every_second_too() {
    let mut world = World::started(config(), |world| world.server.silent = true);
    world.run(10.0);
    assert!((10..=11).contains(&world.count("call Connect")), "{:#?}", world.trace);
}

#[test]
fn required_without_an_sdk_server_ends_with_75_without_shutdown() {
    let mut config = config();
    config.sdk = SdkMode::Required;
    config.sdk_connect_timeout = secs(3.0);
    let mut world = World::started(config, |world| world.server.reachable = false);
    world.run(10.0);
    assert_eq!(world.exit.map(ExitReason::code), Some(75));
    assert_eq!(world.count("call Shutdown"), 0);
}

#[test]
fn required_is_satisfied_once_it_was_connected() {
    let mut config = config();
    config.sdk = SdkMode::Required;
    config.sdk_connect_timeout = secs(3.0);
    let mut world = World::started(config, |_| ());
    world.run(1.0);
    world.server.reachable = false;
    world.run(60.0);
    assert_eq!(world.exit, None);
}

#[test]
fn off_never_connects_and_served_is_ready() {
    let mut config = config();
    config.sdk = SdkMode::Off;
    let mut world = World::started(config, |world| world.ready = true);
    world.run(60.0);
    assert_eq!(world.count("call"), 0);
    assert_eq!(world.machine.phase, Phase::Ready);
}

// CASES.md 9
#[test]
fn after_a_loss_beats_resume_the_counter_is_sent_again_and_ready_is_not() {
    let mut world = World::at_ready(counting("players", config()), |world| {
        world
            .server
            .game
            .counters
            .insert("players".into(), crate::sdk::game_server::Counter { count: 0, capacity: 10 });
    });
    world.event(scraped(7));
    world.server.reachable = false;
    world.run(10.0);
    assert_eq!(world.count("the SDK server is lost"), 1);
    world.trace.clear();
    world.server.reachable = true;
    world.run(1.5);
    assert_eq!(world.count("call Health"), 1, "at once, not at the next tick: {:#?}", world.trace);
    assert_eq!(world.count("call UpdateCounter players=7"), 1);
    assert_eq!(world.count("call Ready"), 0);
}

#[test]
fn an_sdk_server_that_comes_back_with_a_fresh_game_server_gets_its_ready() {
    let mut world = World::at_ready(config(), |_| ());
    world.server.reachable = false;
    world.run(6.0);
    world.server.reachable = true;
    world.server.game.state = State::Scheduled;
    world.run(3.0);
    assert_eq!(world.count("call Ready"), 1, "{:#?}", world.trace);
}

// CASES.md 41
#[test]
fn a_game_server_that_is_not_named_like_the_pod_is_a_loud_warning() {
    let long = "n".repeat(70);
    for (hostname, name, warned) in [
        (None, "game-1", 0),
        (Some("game-1"), "game-1", 0),
        (Some("node-7"), "game-1", 1),
        (Some(&long[..63]), long.as_str(), 0),
    ] {
        let config = Config { pod_hostname: hostname.map(str::to_owned), ..config() };
        let mut world = World::started(config, |world| world.server.game.name = name.into());
        world.run(1.0);
        assert_eq!(world.count("ANOTHER POD'S"), warned, "{hostname:?} {name}");
    }
}

// F5
#[test]
fn a_link_that_was_found_late_and_is_lost_again_makes_nobody_probe_only() {
    let mut world = World::started(config(), |world| world.server.reachable = false);
    world.run(35.0);
    assert_eq!(world.count("NO AGONES SDK"), 1);
    assert!(world.machine.is_probe_only());
    world.server.reachable = true;
    world.run(2.0);
    world.server.reachable = false;
    world.run(5.0);
    assert!(!world.machine.is_probe_only());
    world.open();
    world.run(1.0);
    assert_eq!(world.machine.phase, Phase::Served, "Agones does not know it yet: {:#?}", world.trace);
    world.server.reachable = true;
    world.run(4.0);
    assert_eq!(world.machine.phase, Phase::Ready, "{:#?}", world.trace);
    assert_eq!(world.count("call Ready"), 1);
}

// H2
#[test]
fn inside_kubernetes_a_missing_sdk_server_is_a_warning_before_agones_loses_its_patience() {
    let inside = || Config { pod_hostname: Some("game-1".into()), ..config() };
    let missing = "warn NO BEAT REACHES AGONES";
    for (config, reachable, warned) in [(inside(), false, 1), (inside(), true, 0), (config(), false, 0)] {
        let mut world = World::started(config, |world| world.server.reachable = reachable);
        world.run(25.0);
        assert_eq!(world.count(missing), warned, "{:#?}", world.trace);
        assert_eq!(
            world.lines(&[missing]),
            vec!["3.00 warn NO BEAT REACHES AGONES: the SDK server cannot be reached. Ag"; warned]
        );
    }
    let off = World::started(Config { sdk: SdkMode::Off, ..inside() }, |_| ());
    assert_eq!(off.count("warn AGONES_SHIM_SDK=off inside Kubernetes"), 1, "{:#?}", off.trace);
}
