//! The SDK server comes late, goes, and comes back.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::State;

#[test]
fn without_an_sdk_server_it_tries_four_times_a_second_for_a_minute_and_then_once() {
    let mut world = World::started(config(), |world| {
        world.ready = true;
        world.server.reachable = false;
    });
    world.run(59.9);
    assert_eq!(world.count("call Connect"), 240);
    world.run(10.0);
    assert_eq!(world.count("call Connect"), 250);
    assert_eq!(world.lines(&["NO AGONES SDK", "ready, with no SDK"]).len(), 2, "{:#?}", world.trace);
    assert_eq!(world.machine.phase, Phase::Ready, "probe-only, Served is Ready");
    assert_eq!(world.exit, None);
}

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
    assert_eq!(world.count("call Connect with a beat"), 1, "at once, not at the next tick: {:#?}", world.trace);
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

/// Restarted between two calls, with the next connection there at once: nothing ever refused.
#[test]
fn a_restart_that_nobody_could_see_is_a_lost_server_all_the_same() {
    let mut world = World::at_ready(labelled(counting("players", config())), |world| {
        let counter = crate::sdk::game_server::Counter { count: 0, capacity: 10 };
        world.server.game.counters.insert("players".into(), counter);
    });
    world.run(2.0);
    world.event(scraped(7));
    // It goes within the batch time, and with it what was acknowledged.
    world.server.gone = true;
    world.server.game.counters.get_mut("players").expect("declared").count = 0;
    world.server.game.labels.clear();
    world.trace.clear();
    world.run(6.0);
    assert_eq!(world.count("the SDK server is lost"), 1, "{:#?}", world.trace);
    assert_eq!(world.server.game.counters["players"].count, 7, "{:#?}", world.trace);
    assert_eq!(world.server.game.labels["agones.dev/sdk-map"], "dust");
    assert_eq!(world.count("call Ready"), 0);
    world.trace.clear();
    world.run(60.0);
    assert_eq!(world.count("GetGameServer"), 0, "nothing is looked at while nothing changes");
}

/// It stood still and comes back: the same one, which has everything that it was told.
#[test]
fn a_server_that_was_slow_is_told_nothing_again() {
    let mut world = World::at_ready(labelled(counting("players", config())), |world| {
        let counter = crate::sdk::game_server::Counter { count: 0, capacity: 10 };
        world.server.game.counters.insert("players".into(), counter);
    });
    world.event(scraped(7));
    world.run(2.0);
    world.server.silent = true;
    world.run(10.0);
    assert_eq!(world.count("the SDK server is lost"), 1, "{:#?}", world.trace);
    world.trace.clear();
    world.server.silent = false;
    world.run(5.0);
    assert_eq!(world.count("the SDK server is back"), 1);
    assert_eq!(world.count("Update") + world.count("SetLabel") + world.count("Ready"), 0, "{:#?}", world.trace);
}

/// FAULTS F28: each call alone hangs for 30 s. Beats keep their rhythm but for one call's deadline, no link is lost,
/// and Shutdown() is delivered.
#[test]
fn a_call_that_hangs_delays_no_beat_and_loses_no_link() {
    let calls = ["GetGameServer", "UpdateCounter", "GetCounter", "SetLabel", "GetList", "AddListValue"];
    for interval in [1.0, 2.0, 5.0] {
        for first in [true, false] {
            for hanging in calls.map(|call| vec![call]).into_iter().chain([calls.to_vec()]) {
                let config = Config {
                    health_interval: Some(secs(interval)),
                    allocated_hook: true,
                    max_age: Some(secs(1e6)),
                    publishes: vec![Publishes {
                        counter: Some("players".into()),
                        capacity: false,
                        list: Some("names".into()),
                    }],
                    ..labelled(config())
                };
                let mut world = World::started(config, |world| {
                    world.ready = true;
                    let counter = crate::sdk::game_server::Counter { count: 0, capacity: 10 };
                    world.server.game.counters.insert("players".into(), counter);
                    let list = crate::sdk::game_server::List { capacity: 5, values: Vec::new() };
                    world.server.lists.insert("names".into(), list);
                    if first {
                        world.server.hangs.clone_from(&hanging);
                    }
                });
                world.run(3.0);
                world.server.hangs.clone_from(&hanging);
                world.trace.clear();
                let began = world.now;
                for count in 0..30 {
                    let outcome = Ok(Reading { count, names: Some(vec![format!("p{count}")]), ..Reading::default() });
                    world.event(Event::Scraped { source: 0, outcome });
                    world.run(1.0);
                }
                let story = || format!("{hanging:?} every {interval}: {:#?}", world.trace);
                assert_eq!(world.count("is lost"), 0, "{}", story());
                let at = |line: &&str| line.split(' ').next().and_then(|at| at.parse::<f64>().ok()).expect("a time");
                let beats: Vec<f64> = world.lines(&["call Health"]).iter().map(at).collect();
                let mut last = (began - world.start).as_secs_f64();
                for beat in beats.into_iter().chain([(world.now - world.start).as_secs_f64()]) {
                    assert!(beat - last <= interval + 2.01, "{last} {beat} {}", story());
                    last = beat;
                }
                world.stop();
                world.run(3.0);
                assert_eq!(world.server.game.state, State::Shutdown, "{hanging:?} {:#?}", world.trace);
            }
        }
    }
}

fn labelled(config: Config) -> Config {
    Config { labels: vec![pair("map", "dust")], ..config }
}

#[test]
fn a_game_server_that_is_not_named_like_the_pod_is_a_loud_warning() {
    let long = "n".repeat(70);
    for (hostname, name, warned) in [
        (None, "game-1", 0),
        (Some("game-1"), "game-1", 0),
        (Some("node-7"), "game-1", 1),
        (Some(&long[..63]), long.as_str(), 0),
    ] {
        let config = Config { pod_name: hostname.map(str::to_owned), ..config() };
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
    let inside = || Config { pod_name: Some("game-1".into()), ..config() };
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

#[test]
fn whoever_asks_how_things_stand_sees_the_gameserver_of_the_last_interval_at_a_call_an_interval() {
    let mut world = World::started(config(), |world| world.ready = true);
    world.run(20.0);
    let before = world.count("call GetGameServer");
    world.run(60.0);
    assert_eq!(world.count("call GetGameServer"), before, "nobody asks: nothing is read");
    world.event(Event::StatusAsked { game_server: false });
    world.run(0.1);
    assert_eq!(world.count("call GetGameServer"), before, "/healthz shows nothing of it");
    for _ in 0..100 {
        world.event(Event::StatusAsked { game_server: true });
        world.run(0.1);
    }
    let reads = world.count("call GetGameServer") - before;
    let interval = world.machine.health_interval().as_secs_f64();
    assert!((2..=4).contains(&reads), "{reads} reads in 10 s at {interval} s");
    world.server.game.state = State::Allocated;
    world.run(interval);
    world.event(Event::StatusAsked { game_server: true });
    world.run(0.1);
    let snapshot = world.machine.snapshot(world.now);
    let (game_server, age) = snapshot.game_server.expect("it was read");
    assert_eq!(game_server.state, State::Allocated);
    assert!(age < secs(1.0), "{age:?}");
}

#[test]
fn an_sdk_server_that_leaves_the_question_open_is_asked_once_an_interval_all_the_same() {
    let mut world = World::started(config(), |world| world.ready = true);
    world.run(20.0);
    world.server.reachable = false;
    world.run(10.0);
    let before = world.count("call GetGameServer");
    for _ in 0..20 {
        world.event(Event::StatusAsked { game_server: true });
    }
    world.run(1.0);
    assert_eq!(world.count("call GetGameServer"), before, "there is no link");
}
