//! Labels and annotations.

use super::super::*;
use super::world::*;

fn labelled() -> Config {
    let labels = vec![pair("map", "dust"), pair("mode", "ffa")];
    Config { labels, annotations: vec![pair("motd", "hello, world")], ..config() }
}

fn sets(world: &World) -> Vec<&str> {
    world.lines(&["call Set"])
}

#[test]
fn they_are_set_once_ready_shows_and_not_before() {
    let mut world = World::started(labelled(), |_| ());
    world.run(30.0);
    assert_eq!(world.count("call Set"), 0, "{:#?}", world.trace);
    world.open();
    world.run(100.0);
    assert_eq!(world.lines(&["call Ready", "call Set", "is ready"]).len(), 5, "{:#?}", world.trace);
    assert!(world.lines(&["is ready", "call Set"])[0].contains("is ready"));
    assert_eq!(world.server.game.labels["agones.dev/sdk-map"], "dust");
    assert_eq!(world.server.game.labels["agones.dev/sdk-mode"], "ffa");
    assert_eq!(world.server.game.annotations["agones.dev/sdk-motd"], "hello, world");
}

#[test]
fn what_shows_already_is_not_set_and_what_differs_is() {
    let world = World::at_ready(labelled(), |world| {
        world.server.game.labels.insert("agones.dev/sdk-map".into(), "dust".into());
        world.server.game.labels.insert("agones.dev/sdk-mode".into(), "old".into());
    });
    assert_eq!(world.server.game.labels["agones.dev/sdk-mode"], "ffa");
    let mut world = World::started(labelled(), |world| {
        world.ready = true;
        world.server.game.labels.insert("agones.dev/sdk-map".into(), "dust".into());
    });
    world.run(10.0);
    assert_eq!(sets(&world).len(), 2, "{:#?}", world.trace);
}

#[test]
fn they_are_compared_again_when_the_sdk_server_was_lost() {
    let mut world = World::at_ready(labelled(), |world| world.server.loses_metadata = true);
    world.run(60.0);
    assert_eq!(sets(&world).len(), 3, "what does not show is set once more a connection: {:#?}", world.trace);
    world.trace.clear();
    world.server.reachable = false;
    world.run(6.0);
    (world.server.reachable, world.server.loses_metadata) = (true, false);
    world.server.game.labels.insert("agones.dev/sdk-mode".into(), "ffa".into());
    world.run(20.0);
    assert_eq!(sets(&world).len(), 2, "{:#?}", world.trace);
}

#[test]
fn what_somebody_changes_is_left_alone() {
    let mut world = World::at_ready(Config { max_age: Some(secs(1e6)), ..labelled() }, |_| ());
    // By then they have shown.
    world.run(2.0);
    world.trace.clear();
    world.server.game.labels.clear();
    world.run(60.0);
    assert_eq!(world.count("call Set"), 0, "{:#?}", world.trace);
}

#[test]
fn one_that_is_rejected_is_one_warning_and_one_try_a_minute_and_the_rest_does_not_notice() {
    let mut world = World::at_ready(labelled(), |world| world.server.rejects = vec!["SetLabel"]);
    world.run(298.0);
    assert_eq!(world.count("call SetLabel"), 2 * 4, "{:#?}", world.lines(&["call SetLabel"]));
    assert_eq!(world.count("rejects a label"), 0, "warned about once, at Ready");
    assert_eq!(world.count("call Health"), 60);
    assert_eq!(world.server.game.annotations["agones.dev/sdk-motd"], "hello, world");
    world.server.rejects.clear();
    world.run(60.0);
    assert_eq!(world.count("the label or annotation is accepted"), 2);
    world.run(300.0);
    assert_eq!(world.count("call SetLabel"), 2 * 5);
}

#[test]
fn a_gameserver_that_is_allocated_already_gets_them_too() {
    let mut world = World::started(labelled(), |world| {
        world.ready = true;
        world.allocate();
    });
    world.run(1.0);
    assert_eq!(sets(&world).len(), 3, "{:#?}", world.trace);
    assert_eq!(world.count("call Ready"), 0);
}

#[test]
fn nothing_is_set_on_the_way_out() {
    let mut world = World::at_ready(labelled(), |world| world.server.rejects = vec!["SetLabel"]);
    world.server.rejects.clear();
    world.server.applies_after = None;
    world.stop();
    world.run(70.0);
    assert_eq!(world.count("call Set"), 0, "{:#?}", world.trace);
}
