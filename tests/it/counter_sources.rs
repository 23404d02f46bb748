//! Counts from a page in JSON and from a program, and pages that may have been cut.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::scene::*;
use crate::support::shim::Builder;
use crate::support::{Game, Reply, ScriptedSdk, shim, wait};

/// An SDK server with Counter `players` 0/100.
fn declared() -> ScriptedSdk {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    sdk
}

fn published(builder: Builder) -> Builder {
    builder.set("COUNTER_NAME", "players").set("COUNTER_INTERVAL_SECS", "0.2")
}

/// Case 67: what is no number keeps the value, and is one warning.
#[test]
fn a_page_in_json_is_counted_by_its_pointers() {
    let (game, sdk) = (Game::open(), declared());
    let page = |text: &str| {
        game.reply_at("/info", Reply::text(text));
    };
    page(r#"{"currentplayernum":5,"maxplayernum":16}"#);
    let url = game.url("/info").replace("http://", "http://ann:hunter2@");
    let mut shim = published(sidecar(&game))
        .set("COUNTER_JSON_URL", url)
        .set("COUNTER_JSON_COUNT", "/currentplayernum")
        .set("COUNTER_JSON_CAPACITY", "/maxplayernum")
        .set("COUNTER_JSON_HEADER", "X-Api-Key: s3cret")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=5/16");
    let head = game.requests().into_iter().find(|request| request.path == "/info").expect("asked").head;
    assert!(head.to_lowercase().contains("x-api-key: s3cret") && head.contains("Basic "), "{head}");
    let mark = shim.mark();
    page(r#"{"maxplayernum":16}"#);
    let line = shim.wait_for_line_after(mark, SCRAPE_FAILED, SOON).text;
    assert!(line.contains("/currentplayernum is not in the page"), "{line}");
    for text in [r#"{"currentplayernum":null}"#, r#"{"currentplayernum":"many"}"#, "no JSON", ""] {
        page(text);
        let seen = game.requests().len();
        wait::until_true("two more pages", SOON, || game.requests().len() >= seen + 2);
    }
    sdk.assert_count("UpdateCounter", 1);
    assert_eq!(shim.count_lines(SCRAPE_FAILED), 1, "one warning an episode");
    page(r#"{"currentplayernum":"6"}"#);
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=6");
    for secret in ["s3cret", "hunter2"] {
        assert_eq!(shim.count_lines(secret), 0, "{secret} is shown");
    }
    stops_cleanly(&mut shim);
}

#[test]
fn a_program_counts_with_or_without_a_capacity() {
    let (game, sdk) = (Game::open(), declared());
    let directory = std::env::temp_dir().join(format!("agones-shim-counter-exec-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory of our own");
    let said = directory.join("said");
    let says = |text: &str| {
        let new = directory.join("new");
        std::fs::write(&new, text).expect("written");
        std::fs::rename(&new, &said).expect("moved");
    };
    says("asking\n7 16\n");
    let mut shim = published(sidecar(&game)).set("COUNTER_EXEC", format!("cat {}", said.display())).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, "players=7/16");
    says("8\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 2, SOON).detail, "players=8");
    let mark = shim.mark();
    says("nobody\n");
    assert!(shim.wait_for_line_after(mark, SCRAPE_FAILED, SOON).text.contains("is not COUNT"));
    std::fs::remove_file(&said).expect("there");
    more_beats(&sdk, 4);
    sdk.assert_count("UpdateCounter", 2);
    says("0\n");
    assert_eq!(sdk.wait_for_count("UpdateCounter", 3, SOON).detail, "players=0");
    stops_cleanly(&mut shim);
    std::fs::remove_dir_all(&directory).expect("ours");
}

#[test]
fn two_sources_or_half_of_one_are_errors_that_name_them() {
    let game = Game::open();
    let with = |settings: &[(&str, &str)]| {
        let builder = settings.iter().fold(published(sidecar(&game)), |shim, (name, value)| shim.set(name, value));
        let finished = builder.arg("check").run(SOON);
        assert_eq!(finished.code, 78, "{}", finished.stdout);
        finished.stderr
    };
    let both = with(&[("COUNTER_EXEC", "count"), ("COUNTER_QUERY", "a2s://:1")]);
    assert!(both.contains("AGONES_SHIM_COUNTER_EXEC: is set, but AGONES_SHIM_COUNTER_QUERY is too"), "{both}");
    let half = with(&[("COUNTER_JSON_URL", "http://h/")]);
    assert!(half.contains("AGONES_SHIM_COUNTER_JSON_COUNT: is not set, but"), "{half}");
    let place = with(&[("COUNTER_JSON_URL", "http://h/"), ("COUNTER_JSON_COUNT", "players.online")]);
    assert!(place.contains(r#""players.online" is not a JSON pointer (write /players/online)"#), "{place}");
    let header =
        with(&[("COUNTER_JSON_URL", "http://h/"), ("COUNTER_JSON_COUNT", "/n"), ("COUNTER_JSON_HEADER", "s3cret")]);
    assert!(header.contains("is not a header (write Name: value)") && !header.contains("s3cret"), "{header}");
}

/// Answers every connection with these bytes and closes it.
fn answering(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            // All of the request: what stays unread at the close resets the connection.
            let (mut head, mut chunk) = (Vec::new(), [0; 4096]);
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(length @ 1..) = stream.read(&mut chunk) else { break };
                head.extend_from_slice(&chunk[..length]);
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// A number that was cut is a smaller number: an answer without a length has to end with its line.
#[test]
fn a_page_without_a_length_that_ends_inside_a_line_is_no_reading() {
    for (answer, wanted) in [
        ("HTTP/1.1 200 OK\r\n\r\nm 12", None),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nm 12", None),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nm 12", None),
        ("HTTP/1.1 200 OK\r\n\r\nm 12\n", Some("players=12")),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nm 12", Some("players=12")),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nm 12\r\n0\r\n\r\n", Some("players=12")),
    ] {
        let (game, sdk, port) = (Game::open(), declared(), answering(answer));
        let mut shim = published(sidecar(&game))
            .set("COUNTER_METRICS_URL", format!("http://127.0.0.1:{port}/"))
            .set("COUNTER_METRIC", "m")
            .sdk(&sdk)
            .spawn();
        shim.wait_for_line(READY, SOON);
        if let Some(wanted) = wanted {
            assert_eq!(sdk.wait_for_call("UpdateCounter", SOON).detail, wanted, "{answer:?}");
        } else {
            let line = shim.wait_for_line(SCRAPE_FAILED, SOON).text;
            assert!(line.contains("ends inside a line, so it may have been cut"), "{answer:?}: {line}");
            sdk.assert_none("UpdateCounter");
        }
        stops_cleanly(&mut shim);
    }
}

/// An interim answer may have fields (RFC 9110 section 15.2).
#[test]
fn an_interim_answer_fails_no_probe() {
    for answer in [
        "HTTP/1.1 100 Continue\r\nDate: today\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ] {
        let url = format!("http://127.0.0.1:{}/", answering(answer));
        let probe = shim().set("LIVE_HTTP", url).arg("probe").run(SOON);
        assert_eq!(probe.code, 0, "{}", probe.stderr);
    }
}

/// The longest URL that is taken is sent, with the longest user and password.
#[test]
fn the_longest_url_is_sent_and_a_longer_one_is_an_error_at_start() {
    let port = answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let user = "u".repeat(8 * 1024);
    for (begin, code) in [(format!("http://127.0.0.1:{port}/"), 0), (format!("http://{user}@127.0.0.1:{port}/"), 0)] {
        let url = format!("{begin}{}", "a".repeat(15 * 1024 - begin.len()));
        let probe = shim().set("LIVE_HTTP", &url).arg("probe").run(SOON);
        assert_eq!(probe.code, code, "{}", probe.stderr);
        let longer = shim().set("LIVE_HTTP", format!("{url}a")).arg("probe").run(SOON);
        assert_eq!(longer.code, 78, "{}", longer.stderr);
        assert!(longer.stderr.contains("is longer than a URL may be"), "{}", longer.stderr);
    }
}
