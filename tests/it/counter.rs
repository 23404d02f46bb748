//! From the game's metrics page to the Counter: what is sent, what is not, and that nothing else notices.

use crate::scene::*;
use crate::support::shim::Builder;
use crate::support::{Answer, Game, Reply, ScriptedSdk, Shim, millis, secs, wait};

/// A game with this metrics page, an SDK server with Counter `players` 0/100, and a sidecar that is Ready.
fn counted(metrics: Reply) -> (Game, ScriptedSdk, Shim) {
    counted_with(metrics, |builder| builder)
}

fn counted_with(metrics: Reply, settings: impl FnOnce(Builder) -> Builder) -> (Game, ScriptedSdk, Shim) {
    let game = Game::open();
    game.reply_at("/metrics", metrics);
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = settings(counting(sidecar(&game), &game).sdk(&sdk)).spawn();
    shim.wait_for_line(READY, SOON);
    (game, sdk, shim)
}

fn metrics(game: &Game, text: &str) {
    game.reply_at("/metrics", Reply::text(text));
}

fn scrapes(game: &Game) -> usize {
    game.requests().iter().filter(|request| request.path == "/metrics").count()
}

/// So many scrapes from now on have come, and been taken in.
fn more_scrapes(game: &Game, count: usize) {
    let wanted = scrapes(game) + count;
    wait::until_true("more scrapes", SOON, || scrapes(game) >= wanted);
}

#[test]
fn a_reading_is_sent_at_ready_and_again_only_when_it_changes() {
    let (game, sdk, mut shim) = counted(Reply::text("# TYPE m gauge\nm 3\n"));
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=3");
    more_scrapes(&game, 5);
    sdk.assert_count("UpdateCounter", 1);
    metrics(&game, "m 4\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=4");
    assert_eq!(sdk.counter("players"), Some(4));
    metrics(&game, "m 0\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 3, SOON).detail, "players=0");
    let request = game.requests().into_iter().find(|request| request.path == "/metrics").expect("a scrape");
    assert!(request.head.to_ascii_lowercase().contains("accept: text/plain"), "{}", request.head);
    stops_cleanly(&mut shim);
}

#[test]
fn nothing_is_scraped_before_ready() {
    let mut game = Game::open();
    metrics(&game, "m 3\n");
    let mut other = Game::closed();
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = counting(sidecar(&other), &game).sdk(&sdk).spawn();
    more_beats(&sdk, 5);
    assert_eq!(scrapes(&game), 0);
    other.listen();
    sdk.wait_for_call("UpdateCounter", SOON);
    stops_cleanly(&mut shim);
    game.die();
}

/// Cases 27 to 33: what is a reading, and what keeps the previous value.
#[test]
fn good_text_is_read_and_bad_text_keeps_the_previous_value() {
    let (game, sdk, mut shim) = counted_with(Reply::text("m 50\n"), |shim| shim.set("COUNTER_INTERVAL_SECS", "0.1"));
    sdk.wait_for_call("UpdateCounter", SOON);
    let cases: [(&str, Option<&str>); 18] = [
        ("m{n=\"cluster}prod\"} 7\n", Some("players=7")),
        ("m{e=\"{a,b}\",d=\"x\"} 3\n", Some("players=3")),
        ("m { map = \"de dust\" } \t 5 \n", Some("players=5")),
        ("m{a=\"b\"}12\n", Some("players=12")),
        ("m{ nonsense\n\nm 9\r\n", Some("players=9")),
        ("m 1e1\n", Some("players=10")),
        ("m 2.7\n", Some("players=3")),
        ("m{a=\"1\"} 2\nm{a=\"2\"} 4\n", Some("players=6")),
        ("m NaN\n", None),
        ("m +Inf\n", None),
        ("m -1\n", None),
        ("m 1e300\n", None),
        ("m_max 9\n", None),
        ("# HELP m m 4\n", None),
        ("", None),
        ("<html>It works!</html>", None),
        ("\u{0}\u{1}\u{2}", None),
        ("m 8 1700000000000\n# EOF", Some("players=8")),
    ];
    for (text, wanted) in cases {
        let before = sdk.count("UpdateCounter");
        metrics(&game, text);
        if let Some(detail) = wanted {
            assert_eq!(sdk.wait_for_count("UpdateCounter", before + 1, SOON).detail, detail, "{text:?}");
        } else {
            more_scrapes(&game, 3);
            sdk.assert_count("UpdateCounter", before);
        }
    }
    more_beats(&sdk, 2);
    stops_cleanly(&mut shim);
}

#[test]
fn labels_select_the_series() {
    let text = "m{map=\"a\",mode=\"x\"} 5\nm{map=\"b\"} 70\nm{mode=\"y\",map=\"a\"} 6\n";
    let (_game, sdk, mut shim) = counted_with(Reply::text(text), |shim| shim.set("COUNTER_METRIC", "m{map=\"a\"}"));
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=11");
    stops_cleanly(&mut shim);
}

/// Zero would tell an autoscaler that the server has emptied.
#[test]
fn a_scrape_that_fails_keeps_the_value_and_warns_once() {
    let (mut game, sdk, mut shim) = counted(Reply::text("m 5\n"));
    sdk.wait_for_call("UpdateCounter", SOON);
    let mut warnings = 0;
    for (bad, part) in [
        (Reply::text("m 6\n").with_status(500), "500"),
        (Reply::redirect("/elsewhere"), "302"),
        (Reply::status(204), "204"),
        (Reply::text("m NaN\n"), ""),
        (Reply::text("other 1\n"), ""),
    ] {
        let mark = shim.mark();
        game.reply_at("/metrics", bad);
        let line = shim.wait_for_line_after(mark, SCRAPE_FAILED, SOON).text;
        assert!(line.contains(part), "{line}");
        more_scrapes(&game, 3);
        warnings += 1;
        assert_eq!(shim.count_lines(SCRAPE_FAILED), warnings, "quiet until it works again");
        metrics(&game, "m 5\n");
        shim.wait_for_line_after(mark, SCRAPE_WORKS, SOON);
    }
    sdk.assert_count("UpdateCounter", 1);
    game.die();
    assert_eq!(sdk.counter("players"), Some(5));
    drop(shim);
}

#[test]
fn a_metrics_port_that_refuses_is_a_warning_and_nothing_more() {
    let (game, refused) = (Game::open(), Game::closed());
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = counting(sidecar(&game), &refused).sdk(&sdk).spawn();
    let line = shim.wait_for_line(SCRAPE_FAILED, SOON).text;
    assert!(line.contains("connection refused"), "{line}");
    more_beats(&sdk, 5);
    assert_eq!(shim.count_lines(SCRAPE_FAILED), 1);
    sdk.assert_none("UpdateCounter");
    stops_cleanly(&mut shim);
}

#[test]
fn a_metrics_page_that_drips_holds_nothing_up() {
    let (_game, sdk, mut shim) = counted(Reply::text("m 5\n".repeat(50)).dripping(1));
    shim.wait_for_line(SCRAPE_FAILED, SOON);
    more_beats(&sdk, 10);
    sdk.assert_none("UpdateCounter");
    stops_cleanly(&mut shim);
}

#[test]
fn a_metrics_page_of_100_mib_is_refused_at_the_cap_in_little_memory() {
    let (_game, sdk, mut shim) =
        counted_with(Reply::huge("m 1\n", 100 * 1024 * 1024), |shim| shim.set("COUNTER_INTERVAL_SECS", "30"));
    let line = shim.wait_for_line(SCRAPE_FAILED, secs(40)).text;
    assert!(line.contains("16 MiB"), "{line}");
    assert!(shim.rss() < 64 * 1024 * 1024, "{} bytes resident", shim.rss());
    more_beats(&sdk, 3);
    sdk.assert_none("UpdateCounter");
    stops_cleanly(&mut shim);
}

/// A line that never ends must not be collected.
#[test]
fn a_single_line_of_10_mib_is_survived_in_little_memory() {
    let (_game, sdk, mut shim) =
        counted_with(Reply::huge("x", 10 * 1024 * 1024), |shim| shim.set("COUNTER_INTERVAL_SECS", "30"));
    shim.wait_for_line(SCRAPE_FAILED, secs(40));
    assert!(shim.rss() < 64 * 1024 * 1024, "{} bytes resident", shim.rss());
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
}

/// Case 34.
#[test]
fn a_reading_above_the_capacity_is_clamped_and_warned_about_once() {
    let (game, sdk, mut shim) = counted(Reply::text("m 150\n"));
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=100");
    for value in 151..155 {
        metrics(&game, &format!("m {value}\n"));
        more_scrapes(&game, 2);
    }
    assert_eq!(shim.count_lines(CLAMPED), 1);
    assert_eq!(sdk.counter("players"), Some(100));
    metrics(&game, "m 99\n");
    let wanted =
        |calls: &[crate::support::scripted_sdk::Call]| calls.last().filter(|c| c.detail == "players=99").cloned();
    sdk.wait_for("players=99", SOON, |calls| {
        let updates: Vec<_> = calls.iter().filter(|call| call.method == "UpdateCounter").cloned().collect();
        wanted(&updates)
    });
    // A new episode is a new warning.
    metrics(&game, "m 150\n");
    wait::until_true("a second warning", SOON, || shim.count_lines(CLAMPED) == 2);
    stops_cleanly(&mut shim);
}

/// The capacity may be changed while the game runs.
#[test]
fn a_raised_capacity_is_used() {
    let (game, sdk, mut shim) = counted(Reply::text("m 150\n"));
    sdk.wait_for_call("UpdateCounter", SOON);
    sdk.set_counter("players", 100, 1000);
    metrics(&game, "m 151\n");
    wait::until_true("151 players", SOON, || sdk.counter("players") == Some(151));
    stops_cleanly(&mut shim);
}

#[test]
fn a_capacity_of_zero_is_a_hard_zero() {
    let game = Game::open();
    metrics(&game, "m 5\n");
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 0);
    let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
    shim.wait_for_line(CLAMPED, SOON);
    more_beats(&sdk, 3);
    assert!(sdk.calls_of("UpdateCounter").iter().all(|call| call.detail == "players=0"), "{}", sdk.story());
    stops_cleanly(&mut shim);
}

/// Case 35.
#[test]
fn a_counter_that_the_server_does_not_take_is_one_warning_with_the_remedy() {
    let answers = [
        Answer::unknown("counter not found: players"),
        Answer::unknown("not found. players Counter not found"),
        Answer::unknown("CountsAndLists not enabled"),
        Answer::unimplemented(),
    ];
    for answer in answers {
        let game = Game::open();
        metrics(&game, "m 5\n");
        let sdk = ScriptedSdk::start();
        sdk.always("GetCounter", answer.clone()).always("UpdateCounter", answer.clone());
        let mut shim = counting(sidecar(&game), &game).sdk(&sdk).spawn();
        let line = shim.wait_for_line(COUNTER_REJECTED, SOON).text;
        assert!(line.contains("spec.counters") && line.contains("CountsAndLists"), "{line}");
        shim.wait_for_line(READY, SOON);
        metrics(&game, "m 6\n");
        more_scrapes(&game, 5);
        more_beats(&sdk, 5);
        assert_eq!(shim.count_lines(COUNTER_REJECTED), 1, "{answer:?}");
        let tries = sdk.count("UpdateCounter") + sdk.count("GetCounter");
        assert!(tries <= 4, "{tries} calls in a few seconds, where one a minute is documented");
        sdk.assert_count("Ready", 1);
        shim.assert_no_line(SDK_LOST);
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown");
    }
}

/// Case 36, scaled: at most one update an interval, and the stop does not wait behind them.
#[test]
fn a_gauge_that_never_rests_is_sent_once_an_interval() {
    let (game, sdk, mut shim) = counted_with(Reply::text("m 1\n"), |shim| shim.set("COUNTER_INTERVAL_SECS", "0.5"));
    let first = sdk.wait_for_call("UpdateCounter", SOON);
    for value in 0..50 {
        metrics(&game, &format!("m {}\n", value % 90 + 2));
        wait::let_pass(millis(100));
    }
    let updates = sdk.count("UpdateCounter");
    let intervals = first.at.elapsed().as_millis() / 500;
    assert!(updates as u128 <= intervals + 2, "{updates} updates in {intervals} intervals");
    assert!(updates >= 4, "{updates} updates in {intervals} intervals");
    sdk.always("UpdateCounter", Answer::Hang(secs(60)));
    metrics(&game, "m 99\n");
    sdk.wait_for_new_call("UpdateCounter", SOON);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn credentials_in_the_metrics_url_are_sent_and_never_shown() {
    let game = Game::open();
    metrics(&game, "m 5\n");
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let url = format!("http://user:hunter2@{}/metrics", game.addr());
    let mut shim =
        counting(sidecar(&game), &game).set("COUNTER_METRICS_URL", url).set("LOG", "trace").sdk(&sdk).spawn();
    sdk.wait_for_call("UpdateCounter", SOON);
    let request = game.requests().into_iter().find(|request| request.path == "/metrics").expect("a scrape");
    // user:hunter2 in base64.
    assert!(request.head.contains("Basic dXNlcjpodW50ZXIy"), "{}", request.head);
    game.reply_at("/metrics", Reply::status(500));
    shim.wait_for_line(SCRAPE_FAILED, SOON);
    shim.assert_no_line("hunter2");
    shim.assert_no_line("dXNlcjpodW50ZXIy");
    stops_cleanly(&mut shim);
}

/// With `AGONES_SHIM_COUNTER_MISSING=zero` a page without the metric empties the server, and nothing else does.
#[test]
fn a_metric_that_is_dropped_while_nobody_plays_is_zero_where_that_is_set() {
    let (mut game, sdk, mut shim) = counted_with(Reply::text("m 5\n"), |shim| shim.set("COUNTER_MISSING", "zero"));
    sdk.wait_for_call("UpdateCounter", SOON);
    for bad in [
        Reply::text("").with_status(500),
        Reply::text("other 1\n").cut(),
        Reply::text("other 1\noth"),
        Reply::text("<html>It works!</html>\n"),
        Reply::text("m NaN\n"),
        Reply::redirect("/elsewhere"),
    ] {
        let (mark, shown) = (shim.mark(), format!("{bad:?}"));
        game.reply_at("/metrics", bad);
        shim.wait_for_line_after(mark, SCRAPE_FAILED, SOON);
        more_scrapes(&game, 2);
        assert_eq!(sdk.counter("players"), Some(5), "{shown}");
        metrics(&game, "m 5\n");
        shim.wait_for_line_after(mark, SCRAPE_WORKS, SOON);
    }
    sdk.assert_count("UpdateCounter", 1);
    metrics(&game, "other 1\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=0");
    metrics(&game, "m 3\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 3, SOON).detail, "players=3");
    metrics(&game, "");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 4, SOON).detail, "players=0");
    metrics(&game, "m 2\n");
    sdk.wait_for_count("UpdateCounter", 5, SOON);
    game.die();
    shim.wait_for_line("connection refused", SOON);
    assert_eq!(sdk.counter("players"), Some(2));
    shim.assert_no_line("which counts as 0");
}

#[test]
fn several_counters_are_read_and_sent_each_by_itself() {
    let (other, broken) = (Game::open(), Game::closed());
    other.reply_at("/metrics", Reply::text("rooms 7\nm 99\n"));
    let (game, sdk, mut shim) = counted_with(Reply::text("m 5\n"), |shim| {
        shim.set("COUNTER_2_NAME", "rooms")
            .set("COUNTER_2_METRICS_URL", other.url("/metrics"))
            .set("COUNTER_2_METRIC", "rooms")
            .set("COUNTER_2_INTERVAL_SECS", "0.2")
            .set("COUNTER_9_NAME", "nothing")
            .set("COUNTER_9_METRICS_URL", broken.url("/metrics"))
            .set("COUNTER_9_METRIC", "m")
    });
    // Declared late, so that it is rejected: the first is not held up by it.
    assert!(shim.wait_for_line(COUNTER_REJECTED, SOON).text.contains("counter=rooms"));
    wait::until_true("5 players", SOON, || sdk.counter("players") == Some(5));
    metrics(&game, "m 6\n");
    wait::until_true("6 players", SOON, || sdk.counter("players") == Some(6));
    assert!(shim.wait_for_line(SCRAPE_FAILED, SOON).text.contains("counter=nothing"));
    more_beats(&sdk, 3);
    assert!(sdk.count("GetCounter") + sdk.count("UpdateCounter") < 10, "{}", sdk.story());
    stops_cleanly(&mut shim);
}

#[test]
fn two_counters_of_one_page_are_both_published() {
    let game = Game::open();
    metrics(&game, "m 5\nrooms 2\n");
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100).set_counter("rooms", 0, 10);
    let mut shim = counting(sidecar(&game), &game)
        .set("COUNTER_2_NAME", "rooms")
        .set("COUNTER_2_METRICS_URL", game.url("/metrics"))
        .set("COUNTER_2_METRIC", "rooms")
        .set("COUNTER_2_INTERVAL_SECS", "0.2")
        .sdk(&sdk)
        .spawn();
    let both = || (sdk.counter("players"), sdk.counter("rooms"));
    wait::until_true("both", SOON, || both() == (Some(5), Some(2)));
    metrics(&game, "m 6\nrooms 30\n");
    wait::until_true("both again", SOON, || both() == (Some(6), Some(10)));
    assert!(shim.wait_for_line(CLAMPED, SOON).text.contains("counter=rooms"));
    stops_cleanly(&mut shim);
}
