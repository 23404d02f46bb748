//! From the game's own query port to the Counter: how many play, and how many may.

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::query_game::{QueryGame, a2s, a2s_with, quake3};
use crate::support::shim::Builder;
use crate::support::{Answer, Game, ScriptedSdk, Shim, millis, secs, wait};

/// The same, publishing what this game answers as Counter `players`, asked every 0.2 s.
fn asking(builder: Builder, protocol: &str, game: &QueryGame) -> Builder {
    builder
        .set("COUNTER_NAME", "players")
        .set("COUNTER_QUERY", format!("{protocol}://127.0.0.1:{}", game.port()))
        .set("COUNTER_INTERVAL_SECS", "0.2")
}

/// A game that answers `quake3`, an SDK server with Counter `players` 0/100, a sidecar that is Ready.
fn counted(
    names: &[&str],
    most: u32,
    settings: impl FnOnce(Builder) -> Builder,
) -> (QueryGame, ScriptedSdk, Shim, Game) {
    let (game, mut asked) = (Game::open(), QueryGame::closed());
    asked.answer(quake3(names, most));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = settings(asking(sidecar(&game), "quake3", &asked)).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    (asked, sdk, shim, game)
}

fn with_capacity(builder: Builder) -> Builder {
    builder.set("COUNTER_CAPACITY", 1)
}

/// So many more questions have come, and the answers been taken in.
fn more_questions(game: &QueryGame, count: usize) {
    game.wait_for_questions(game.asked().len() + count, SOON);
}

fn updates(sdk: &ScriptedSdk) -> Vec<String> {
    sdk.calls_of("UpdateCounter").into_iter().map(|call| call.detail).collect()
}

#[test]
fn players_are_counted_by_query_and_the_capacity_stays_as_declared() {
    let (mut game, sdk, mut shim, _port) = counted(&["ann", "bob"], 16, |shim| shim);
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=2");
    more_questions(&game, 3);
    sdk.assert_count("UpdateCounter", 1);
    game.answer(quake3(&[], 16));
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=0");
    assert_eq!(sdk.capacity("players"), Some(100));
    stops_cleanly(&mut shim);
}

#[test]
fn the_games_maximum_becomes_the_capacity_in_one_call_with_the_count() {
    let (mut game, sdk, mut shim, _port) = counted(&["ann"], 16, with_capacity);
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=1/16");
    // Above the old maximum, below the new one; then the other way round.
    game.answer(quake3(&["x"; 20], 32));
    sdk.wait_for_count("UpdateCounter", 2, SOON);
    game.answer(quake3(&["x"; 3], 8));
    sdk.wait_for_count("UpdateCounter", 3, SOON);
    game.answer(quake3(&["x"; 4], 8));
    sdk.wait_for_count("UpdateCounter", 4, SOON);
    assert_eq!(updates(&sdk), ["players=1/16", "players=20/32", "players=3/8", "players=4"]);
    // More than the maximum: clamped, and said once.
    game.answer(quake3(&["x"; 9], 8));
    assert_eq!(sdk.wait_for_count("UpdateCounter", 5, SOON).detail, "players=8");
    shim.wait_for_line(CLAMPED, SOON);
    more_questions(&game, 3);
    assert_eq!(shim.count_lines(CLAMPED), 1);
    sdk.assert_none("GetCounter");
    stops_cleanly(&mut shim);
}

#[test]
fn a_game_that_does_not_answer_keeps_its_count() {
    let (mut game, sdk, mut shim, _port) = counted(&["ann"], 16, with_capacity);
    sdk.wait_for_call("UpdateCounter", SOON);
    game.fall_silent();
    assert!(shim.wait_for_line(SCRAPE_FAILED, SOON).text.contains("timed out after 0.2s"));
    game.close();
    more_beats(&sdk, 5);
    let mark = shim.mark();
    // Players before it says how many it takes: it is starting.
    game.answer(quake3(&[], 0));
    more_questions(&game, 3);
    sdk.assert_count("UpdateCounter", 1);
    assert_eq!(shim.count_lines(SCRAPE_FAILED), 1);
    game.answer(quake3(&["ann", "bob"], 16));
    shim.wait_for_line_after(mark, SCRAPE_WORKS, SOON);
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=2");
    stops_cleanly(&mut shim);
}

#[test]
fn a_second_counter_may_ask_another_server_in_another_protocol() {
    let mut lobby = QueryGame::closed();
    lobby.answer(a2s(7, 8));
    let (_game, sdk, mut shim, _port) = counted(&["ann"], 16, |shim| {
        shim.set("COUNTER_2_NAME", "lobby")
            .set("COUNTER_2_QUERY", format!("a2s://127.0.0.1:{}", lobby.port()))
            .set("COUNTER_2_CAPACITY", 1)
            .set("COUNTER_2_INTERVAL_SECS", "0.2")
    });
    wait::until_true("1 player", SOON, || sdk.counter("players") == Some(1));
    assert!(shim.wait_for_line(COUNTER_REJECTED, SOON).text.contains("counter=lobby"), "it is not declared");
    stops_cleanly(&mut shim);

    let sdk = ScriptedSdk::start();
    sdk.set_counter("lobby", 0, 1000);
    let game = Game::open();
    // The first may be left out.
    let mut shim = sidecar(&game)
        .set("COUNTER_2_NAME", "lobby")
        .set("COUNTER_2_QUERY", format!("a2s://127.0.0.1:{}", lobby.port()))
        .set("COUNTER_2_CAPACITY", 1)
        .sdk(&sdk)
        .spawn();
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "lobby=7/8");
    stops_cleanly(&mut shim);
}

#[test]
fn a_restarted_sdk_server_gets_count_and_capacity_again() {
    let (_game, mut sdk, mut shim, _port) = counted(&["ann"], 16, with_capacity);
    sdk.wait_for_call("UpdateCounter", SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.set_counter("players", 0, 100);
    sdk.open();
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=1/16");
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

#[test]
fn a_stop_does_not_wait_for_a_question_or_for_an_update_that_hangs() {
    let (mut game, sdk, mut shim, _port) = counted(&["ann"], 16, |shim| shim.set("COUNTER_INTERVAL_SECS", "9"));
    sdk.wait_for_call("UpdateCounter", SOON);
    game.fall_silent();
    more_questions(&game, 1);
    let begun = std::time::Instant::now();
    stops_cleanly(&mut shim);
    assert!(begun.elapsed() < secs(6), "{:?}", begun.elapsed());

    let (mut game, sdk, mut shim, _port) = counted(&["ann"], 16, |shim| shim);
    sdk.wait_for_call("UpdateCounter", SOON);
    sdk.always("UpdateCounter", Answer::Hang(secs(60)));
    game.answer(quake3(&[], 16));
    sdk.wait_for_new_call("UpdateCounter", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

/// Case 62: a server full of bots is empty.
#[test]
fn bots_can_be_left_out_of_the_count_and_keep_no_server_from_ending_idle() {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(a2s_with(10, 16, 10, None));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 5, 100);
    let mut shim =
        asking(sidecar(&port), "a2s", &game).set("COUNTER_BOTS", 0).set("IDLE_SHUTDOWN_SECS", "2").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    wait::until_true("nobody plays", SOON, || sdk.counter("players") == Some(0));
    sdk.set_state("Allocated");
    sdk.wait_for_call("Shutdown", secs(20));
    shim.expect_code(0, SOON);

    game.answer(quake3(&["ann"], 16));
    for (protocol, wanted) in [
        (
            "minecraft",
            "\"0\" cannot be done with minecraft: its answer does not tell bots from players (a2s and quake3 do",
        ),
        ("quake", "\"0\" cannot be done with quake"),
    ] {
        let finished = asking(sidecar(&port), protocol, &game).set("COUNTER_BOTS", 0).run(SOON);
        assert_eq!(finished.code, 78, "{}", finished.stderr);
        assert!(finished.stderr.contains(&format!("AGONES_SHIM_COUNTER_BOTS: {wanted}")), "{}", finished.stderr);
    }
    let alone = sidecar(&port).set("COUNTER_BOTS", 0).run(SOON);
    assert_eq!(alone.code, 78, "{}", alone.stderr);
    assert!(alone.stderr.contains("\"0\" needs AGONES_SHIM_COUNTER_QUERY"), "{}", alone.stderr);
}

/// Case 63, and names that are none: the count goes out and the List stays.
#[test]
fn an_a2s_server_that_does_not_name_its_players_is_counted_and_its_list_stays() {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(a2s_with(2, 16, 0, Some(&["ann", "bob"])));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    sdk.set_list("names", 10, &[]);
    let mut shim = asking(sidecar(&port), "a2s", &game)
        .set("COUNTER_INTERVAL_SECS", "1")
        .set("LIST_NAME", "names")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    wait::until_true("two names", SOON, || sdk.list("names") == ["ann", "bob"]);
    for (count, names) in [(3, None), (4, Some(&[][..])), (5, Some(&["Max Players"][..])), (6, Some(&["ann", ""][..]))]
    {
        game.answer(a2s_with(count, 16, 0, names));
        wait::until_true("the count", SOON, || sdk.counter("players") == Some(count.into()));
        assert_eq!(sdk.list("names"), ["ann", "bob"], "{names:?}");
    }
    stops_cleanly(&mut shim);
}

/// The same: the names have a quarter of the reading's time, 8 s here.
#[test]
fn names_that_never_come_do_not_hold_up_the_count() {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(a2s_with(7, 16, 0, None));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    sdk.set_list("names", 10, &[]);
    let builder = asking(sidecar(&port), "a2s", &game).set("COUNTER_INTERVAL_SECS", 8).set("LIST_NAME", "names");
    let mut shim = builder.sdk(&sdk).spawn();
    let counted = sdk.wait_for_call("UpdateCounter", secs(20)).at;
    let asked = game.asked().into_iter().find(|asked| asked.bytes.starts_with(b"\xff\xff\xff\xffU"));
    let waited = counted - asked.expect("a question for names").at;
    assert!(waited < secs(5), "it waited {waited:?} for names");
    stops_cleanly(&mut shim);
}

/// The SDK server that behaves like the cluster's takes it all.
#[test]
fn the_local_sdk_server_shows_count_capacity_and_names() {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(quake3(&["^1ann", "bob"], 16));
    let sdk = LocalSdk::start(&[]);
    let mut shim = asking(sidecar(&port), "quake3", &game)
        .set("COUNTER_CAPACITY", 1)
        .set("LIST_NAME", "players")
        .sdk_port(sdk.port())
        .spawn();
    shim.wait_for_line(READY, SOON);
    let body = |path: &str| sdk.get(path).body.replace(' ', "");
    wait::until_true("2 of 16", SOON, || {
        let counter = body("/v1beta1/counters/players");
        counter.contains("\"count\":\"2\"") && counter.contains("\"capacity\":\"16\"")
    });
    let list = |values: &str| body("/v1beta1/lists/players").contains(&format!("\"values\":[{values}]"));
    wait::until_true("two names", SOON, || list("\"ann\",\"bob\""));
    wait::let_pass(millis(700));
    game.answer(quake3(&["bob", "cid"], 4));
    wait::until_true("two other names", SOON, || list("\"bob\",\"cid\""));
    game.answer(quake3(&[], 4));
    wait::until_true("nobody", SOON, || list("") && body("/v1beta1/counters/players").contains("\"count\":\"0\""));
    stops_cleanly(&mut shim);
}
