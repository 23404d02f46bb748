//! The players' names on an Agones List.

use crate::scene::*;
use crate::support::query_game::{QueryGame, a2s, quake3};
use crate::support::{Answer, Game, ScriptedSdk, Shim, secs, wait};

/// A game that answers `quake3` with these names, an SDK server with the List `names`, a sidecar that is Ready.
fn listed(names: &[&str], capacity: i64, values: &[&str]) -> (QueryGame, ScriptedSdk, Shim, Game) {
    let sdk = ScriptedSdk::start();
    sdk.set_list("names", capacity, values);
    let (game, shim, port) = listing(names, &sdk);
    (game, sdk, shim, port)
}

fn listing(names: &[&str], sdk: &ScriptedSdk) -> (QueryGame, Shim, Game) {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(quake3(names, 64));
    let mut shim = sidecar(&port)
        .set("COUNTER_QUERY", format!("quake3://127.0.0.1:{}", game.port()))
        .set("COUNTER_INTERVAL_SECS", "0.2")
        .set("LIST_NAME", "names")
        .sdk(sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    (game, shim, port)
}

fn becomes(sdk: &ScriptedSdk, wanted: &[&str]) {
    wait::until_true(&format!("names {wanted:?}"), SOON, || sdk.list("names") == wanted);
}

fn more_questions(game: &QueryGame, count: usize) {
    game.wait_for_questions(game.asked().len() + count, SOON);
}

/// What was done to the List, in order.
fn changes(sdk: &ScriptedSdk) -> Vec<String> {
    let calls = sdk.calls().into_iter().filter(|call| ["AddListValue", "RemoveListValue"].contains(&call.method));
    calls.map(|call| call.detail).collect()
}

#[test]
fn names_come_and_go_one_by_one_and_the_list_holds_nothing_else() {
    let (mut game, sdk, mut shim, _port) = listed(&["ann", "^1bob^7"], 10, &["left over", "ann"]);
    becomes(&sdk, &["ann", "bob"]);
    assert_eq!(changes(&sdk), ["names-left over", "names+bob"]);
    let first =
        sdk.calls().into_iter().find(|call| call.method.ends_with("List") || call.method.ends_with("ListValue"));
    assert_eq!(first.map(|call| call.method), Some("GetList"));
    more_questions(&game, 4);
    assert!(sdk.count("GetList") <= 2, "read before the change and confirmed after it: {}", sdk.story());
    game.answer(quake3(&["cid", "bob", "bob", ""], 64));
    becomes(&sdk, &["bob", "cid"]);
    game.answer(quake3(&[], 64));
    becomes(&sdk, &[]);
    sdk.assert_none("UpdateList");
    sdk.assert_none("UpdateCounter");
    stops_cleanly(&mut shim);
}

#[test]
fn a_full_list_is_one_warning_and_keeps_those_who_are_on_it() {
    let (mut game, sdk, mut shim, _port) = listed(&["ann", "bob", "cid"], 2, &["cid"]);
    shim.wait_for_line(LIST_FULL, SOON);
    assert_eq!(sdk.list("names"), ["ann", "cid"]);
    more_questions(&game, 4);
    assert_eq!(shim.count_lines(LIST_FULL), 1);
    game.answer(quake3(&["bob", "cid"], 64));
    becomes(&sdk, &["bob", "cid"]);
    stops_cleanly(&mut shim);
}

#[test]
fn a_list_that_the_server_does_not_take_is_one_warning_with_the_remedy() {
    for answer in [None, Some(Answer::unknown("CountsAndLists not enabled")), Some(Answer::unimplemented())] {
        let sdk = ScriptedSdk::start();
        if let Some(answer) = answer {
            sdk.always("GetList", answer.clone()).always("AddListValue", answer);
        }
        let (game, mut shim, _port) = listing(&["ann"], &sdk);
        let line = shim.wait_for_line(LIST_REJECTED, SOON).text;
        assert!(
            line.contains("spec.lists") && line.contains("CountsAndLists") && line.contains("list=names"),
            "{line}"
        );
        more_questions(&game, 4);
        more_beats(&sdk, 5);
        assert_eq!(shim.count_lines(LIST_REJECTED), 1);
        assert!(sdk.count("GetList") + sdk.count("AddListValue") <= 2, "each minute: {}", sdk.story());
        shim.assert_no_line(SDK_LOST);
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown");
    }
}

#[test]
fn what_somebody_else_did_meanwhile_is_no_error() {
    let (mut game, sdk, mut shim, _port) = listed(&["ann"], 10, &[]);
    becomes(&sdk, &["ann"]);
    // What a server says when somebody else was faster.
    sdk.next("AddListValue", Answer::unknown("already exists. Value: bob already in List: names"));
    sdk.next("RemoveListValue", Answer::unknown("not found: value ann not in list names"));
    game.answer(quake3(&["bob"], 64));
    becomes(&sdk, &["bob"]);
    shim.assert_no_line(LIST_REJECTED);
    stops_cleanly(&mut shim);
}

#[test]
fn a_restarted_sdk_server_gets_the_names_again() {
    let (mut game, mut sdk, mut shim, _port) = listed(&["ann", "bob"], 10, &[]);
    becomes(&sdk, &["ann", "bob"]);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    game.answer(quake3(&["bob"], 64));
    more_questions(&game, 2);
    sdk.set_list("names", 10, &["zoe"]);
    sdk.open();
    becomes(&sdk, &["bob"]);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

/// Beats go on between the calls for a crowd, and a stop follows at once.
#[test]
fn a_crowd_of_names_holds_up_neither_beats_nor_the_stop() {
    let names: Vec<String> = (0..60).map(|number| format!("p{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sdk = ScriptedSdk::start();
    sdk.set_list("names", 100, &[]).always("AddListValue", Answer::Late(secs(1) / 5));
    let (_game, mut shim, _port) = listing(&names, &sdk);
    sdk.wait_for_call("AddListValue", SOON);
    let beats = sdk.count("Health");
    sdk.wait_for_count("AddListValue", 11, SOON);
    assert!(sdk.count("Health") >= beats + 3, "beats go on: {}", sdk.story());
    let begun = std::time::Instant::now();
    stops_cleanly(&mut shim);
    assert!(begun.elapsed() < secs(6), "{:?}", begun.elapsed());
    let calls = sdk.calls();
    let stop = calls.iter().position(|call| call.method == "Shutdown").expect("a Shutdown");
    assert!(calls[stop..].iter().all(|call| call.method != "AddListValue"), "{}", sdk.story());
}

#[test]
fn a_server_that_hides_its_players_keeps_the_list_and_is_a_warning() {
    let (mut game, sdk, mut shim, _port) = listed(&["ann"], 10, &[]);
    becomes(&sdk, &["ann"]);
    let mut hiding = QueryGame::closed();
    // It tells how many there are, and does not answer when asked who.
    hiding.answer(a2s(3, 16));
    stops_cleanly(&mut shim);
    game.close();
    let port = Game::open();
    sdk.set_state("Scheduled");
    let mut shim = sidecar(&port)
        .set("COUNTER_QUERY", format!("a2s://127.0.0.1:{}", hiding.port()))
        .set("COUNTER_INTERVAL_SECS", "0.4")
        .set("LIST_NAME", "names")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line("without its players' names", SOON);
    assert_eq!(sdk.list("names"), ["ann"]);
    stops_cleanly(&mut shim);
}
