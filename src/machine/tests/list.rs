//! The List: the players' names come and go, and nothing else is on it.

use super::super::*;
use super::world::*;
use crate::sdk::game_server::List;

fn listing(capacity: i64, values: &[&str]) -> World {
    let publishes = Publishes { list: Some("names".into()), ..Publishes::default() };
    World::at_ready(Config { publishes: vec![publishes], ..config() }, |world| declare(world, capacity, values))
}

fn declare(world: &mut World, capacity: i64, values: &[&str]) {
    let values = values.iter().map(ToString::to_string).collect();
    world.server.lists.insert("names".into(), List { capacity, values });
}

fn read(world: &mut World, names: &[&str]) {
    let count = names.len().try_into().expect("a few");
    let names = names.iter().map(ToString::to_string).collect();
    let reading = Reading { count, names: Some(names), ..Reading::default() };
    world.event(Event::Scraped { source: 0, outcome: Ok(reading) });
}

/// What the List holds, sorted.
fn held(world: &World) -> String {
    let mut values = world.server.lists["names"].values.clone();
    values.sort();
    values.join(" ")
}

/// The List's calls, and the trace begins anew.
fn calls(world: &mut World) -> Vec<String> {
    let calls = world.lines(&["List"]).into_iter().filter_map(|line| Some(line.split_once("call ")?.1.to_owned()));
    let calls = calls.collect();
    world.trace.clear();
    calls
}

#[test]
fn names_are_added_and_removed_one_by_one_and_read_back() {
    let mut world = listing(10, &[]);
    read(&mut world, &["bob", "ann"]);
    assert_eq!(calls(&mut world), ["GetList names", "AddListValue names ann", "AddListValue names bob"]);
    world.run(2.0);
    assert_eq!(world.lines(&["call"]).len(), 1, "one look settles both: {:#?}", world.trace);
    assert_eq!(world.count("call GetGameServer"), 1);
    read(&mut world, &["ann", "bob"]);
    assert_eq!(calls(&mut world), [""; 0]);
    read(&mut world, &["cid", "ann"]);
    assert_eq!(calls(&mut world), ["GetList names", "RemoveListValue names bob", "AddListValue names cid"]);
    assert_eq!(held(&world), "ann cid");
    read(&mut world, &[]);
    assert_eq!(held(&world), "");
}

#[test]
fn what_was_on_the_list_and_is_no_player_goes() {
    let mut world = listing(3, &["old", "ann", "older"]);
    read(&mut world, &["ann", "bob"]);
    assert_eq!(held(&world), "ann bob");
    // Somebody else writes to it: that is seen with the next change.
    world.server.lists.get_mut("names").expect("it is there").values.push("zoe".into());
    read(&mut world, &["bob"]);
    assert_eq!(held(&world), "bob");
}

/// The SDK server merges a batch of removals and additions in its own order: a value that was added and removed within
/// one can stay.
#[test]
fn a_removal_that_did_not_hold_is_made_again() {
    let mut world = listing(10, &["ann"]);
    read(&mut world, &[]);
    world.server.lists.get_mut("names").expect("it is there").values.push("ann".into());
    world.trace.clear();
    read(&mut world, &[]);
    world.run(15.0);
    assert_eq!(calls(&mut world), ["GetList names", "RemoveListValue names ann"]);
    assert_eq!(held(&world), "");
}

/// FAULTS F21: one value that is refused holds up no other, and is tried again in a minute.
#[test]
fn a_name_that_is_refused_holds_up_no_other() {
    let mut world = listing(10, &[]);
    world.server.rejects = vec!["AddListValue { name: \"names\", value: \"bad\""];
    read(&mut world, &["bad", "cid", "dee"]);
    assert_eq!(held(&world), "cid dee");
    read(&mut world, &["bad", "cid", "dee"]);
    assert_eq!(world.count("AddListValue names bad"), 2, "somebody else may have been faster: once more");
    assert_eq!(world.count("rejects the List"), 1, "{:#?}", world.trace);
    world.trace.clear();
    read(&mut world, &["ann", "bad", "dee"]);
    assert_eq!(held(&world), "ann dee");
    assert_eq!(world.count("value: \"bad\"") + world.count("AddListValue names bad"), 0, "{:#?}", world.trace);
    world.run(61.0);
    assert_eq!(world.count("AddListValue names bad"), 1, "{:#?}", world.trace);
    world.server.rejects.clear();
    world.run(61.0);
    assert_eq!(held(&world), "ann bad dee");
    assert_eq!(world.count("the List is accepted"), 1, "{:#?}", world.trace);
}

#[test]
fn names_that_no_list_should_hold_are_left_out_or_made_fit() {
    let mut world = listing(10, &[]);
    read(&mut world, &["", "\u{1b}[31mann\u{7}", "ann", "ann", "  "]);
    assert_eq!(held(&world), "[31mann ann");
}

#[test]
fn a_full_list_keeps_who_is_on_it_and_is_warned_about_once_an_episode() {
    let mut world = listing(2, &["zoe"]);
    for _ in 0..3 {
        read(&mut world, &["ann", "bob", "zoe"]);
    }
    assert_eq!(held(&world), "ann zoe");
    assert_eq!(world.count("the List is full"), 1);
    read(&mut world, &["bob", "zoe"]);
    assert_eq!(held(&world), "bob zoe", "there is room again");
    read(&mut world, &["ann", "bob", "zoe"]);
    assert_eq!(world.count("the List is full"), 2);
    world.server.lists.get_mut("names").expect("it is there").capacity = 5;
    read(&mut world, &["ann", "bob", "zoe"]);
    assert_eq!(held(&world), "ann bob zoe", "a capacity that was raised is used");
}

#[test]
fn an_undeclared_list_is_one_warning_and_one_try_a_minute() {
    let mut world = listing(0, &[]);
    world.server.lists.clear();
    for _ in 0..300 {
        read(&mut world, &["ann"]);
        world.run(1.0);
    }
    assert_eq!(world.count("rejects the List"), 1, "{:#?}", world.lines(&["warn"]));
    assert!((5..=6).contains(&world.count("call GetList")), "{:#?}", world.lines(&["List"]));
    assert_eq!(world.count("call Health"), 60, "the rest of the life cycle does not notice");
    declare(&mut world, 10, &[]);
    world.run(60.0);
    assert_eq!((held(&world).as_str(), world.count("the List is accepted")), ("ann", 1));
}

#[test]
fn a_name_that_is_refused_is_tried_twice_and_then_once_a_minute() {
    let mut world = listing(10, &[]);
    world.server.rejects = vec!["AddListValue"];
    for _ in 0..120 {
        read(&mut world, &["ann", "bob"]);
        world.run(1.0);
    }
    assert_eq!(world.count("rejects the List"), 1);
    assert!((6..=8).contains(&world.count("call AddListValue")), "{:#?}", world.lines(&["List"]));
    world.server.rejects.clear();
    world.run(60.0);
    assert_eq!((held(&world).as_str(), world.count("the List is accepted")), ("ann bob", 1));
}

#[test]
fn an_answer_without_names_keeps_the_list_and_is_warned_about_once_an_episode() {
    let mut world = listing(10, &[]);
    read(&mut world, &["ann"]);
    for _ in 0..3 {
        world.event(scraped(1));
        world.event(not_scraped("timed out after 2s"));
    }
    assert_eq!((held(&world).as_str(), world.count("without its players' names")), ("ann", 1));
    read(&mut world, &["ann"]);
    assert_eq!(world.count("names its players again"), 1);
    world.event(scraped(1));
    assert_eq!(world.count("without its players' names"), 2);
}

#[test]
fn names_that_come_while_the_sdk_server_is_away_are_on_the_list_when_it_is_back() {
    let mut world = listing(10, &[]);
    read(&mut world, &["ann"]);
    world.server.reachable = false;
    world.run(6.0);
    read(&mut world, &["bob"]);
    // It comes back without what it was told.
    declare(&mut world, 10, &["old"]);
    world.server.reachable = true;
    world.run(2.0);
    assert_eq!(held(&world), "bob");
}

#[test]
fn a_beat_and_the_stop_go_before_the_names_and_none_follows_the_stop() {
    let mut world = listing(1000, &[]);
    let names: Vec<String> = (0..200).map(|number| format!("player-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // The calls of this world take no time, so a List that is slow is one that is silent.
    world.server.silent = true;
    read(&mut world, &names);
    world.stop();
    world.server.silent = false;
    world.run(3.0);
    let order = world.lines(&["call GetList", "call AddListValue", "call Shutdown"]);
    assert_eq!(order.first().map(|line| line.contains("GetList")), Some(true), "{order:#?}");
    assert!(order[1..].iter().all(|line| line.contains("Shutdown")), "{order:#?}");
}
