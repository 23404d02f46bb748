//! Games that are asked over UDP (and Minecraft over TCP): when are they ready, and what is no answer? The real binary
//! against a game that answers what the test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::scene::*;
use crate::support::query_game::{QueryGame, a2s, quake3};
use crate::support::shim::Builder;
use crate::support::{Port, ScriptedSdk, secs, shim, wait};

/// A sidecar that asks this game, with a liveness round every 0.2 s.
fn asking(game: &QueryGame, protocol: &str) -> Builder {
    shim()
        .set("READY_QUERY", format!("{protocol}://:{}", game.port()))
        .set("PROBE_TIMEOUT_SECS", "0.3")
        .set("HEALTH_INTERVAL_SECS", "0.2")
}

/// All protocols over UDP, with what stands behind the port.
const PROTOCOLS: [(&str, &str); 7] =
    [("a2s", ""), ("bedrock", ""), ("quake3", ""), ("quake", ""), ("teeworlds", ""), ("mumble", ""), ("udp", "/ff00")];

/// A whole start: closed, bound and loading, up. Ready() comes with the last, once.
#[test]
fn a_game_is_ready_when_it_answers_that_it_takes_players() {
    let mut game = QueryGame::closed();
    let sdk = ScriptedSdk::start();
    let mut shim = asking(&game, "a2s").sdk(&sdk).set("READY_INTERVAL_SECS", "0.1").spawn();
    let line = shim.wait_for_line(WAITING, SOON).text;
    assert!(line.contains(&format!("query a2s://localhost:{}: connection refused", game.port())), "{line}");
    game.fall_silent();
    game.wait_for_questions(4, SOON);
    sdk.assert_none("Ready");
    // 256 slots: more than the byte holds.
    game.answer(a2s(3, 0));
    sdk.wait_for_call("Ready", SOON);
    shim.wait_for_line(READY, SOON);
    more_beats(&sdk, 2);
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut shim);
}

/// Case 52: a UDP "dial" always succeeds, and means nothing.
#[test]
fn a_udp_port_with_nothing_behind_it_is_not_ready() {
    for (protocol, rest) in PROTOCOLS {
        let game = QueryGame::closed();
        let query = format!("{protocol}://:{}{rest}", game.port());
        let mut shim = shim().set("READY_QUERY", query).set("READY_TIMEOUT_SECS", "0.5").without_sdk().spawn();
        shim.expect_code(69, SOON);
        let line = shim.wait_for_line(READY_TIMED_OUT, SOON).text;
        assert!(line.contains("connection refused"), "{protocol}: {line}");
    }
}

#[test]
fn a_silent_game_is_not_ready_and_is_asked_three_times_a_round() {
    for (protocol, rest) in PROTOCOLS {
        let mut game = QueryGame::closed();
        game.fall_silent();
        let query = format!("{protocol}://127.0.0.1:{}{rest}", game.port());
        let probe = shim().set("LIVE_QUERY", &query).set("PROBE_TIMEOUT_SECS", "0.3").arg("probe").run(SOON);
        assert_eq!(probe.code, 69, "{protocol}");
        assert!(probe.stderr.contains("timed out after 0.3s"), "{protocol}: {}", probe.stderr);
        let each = if protocol == "teeworlds" { 2 } else { 1 };
        assert_eq!(game.asked().len(), 3 * each, "{protocol}");
        let first = game.asked()[0].from;
        assert!(game.asked().iter().all(|asked| asked.from == first), "one socket a try");
    }
}

#[test]
fn a_malformed_answer_is_not_ready_and_says_what_came() {
    for (protocol, rest) in PROTOCOLS.into_iter().filter(|(protocol, _)| *protocol != "udp") {
        let mut game = QueryGame::closed();
        game.answer(|_| vec![b"\xfdhello".to_vec()]);
        let query = format!("{protocol}://:{}{rest}", game.port());
        let probe = shim().set("LIVE_QUERY", &query).arg("probe").run(SOON);
        let wanted = if protocol == "mumble" { "ends too early" } else { "begins with fd 68 65 6c 6c 6f" };
        assert_eq!(probe.code, 69, "{protocol}");
        let line =
            format!("agones-shim: query {}: no {protocol} answer: it {wanted}\n", query.replace("//:", "//localhost:"));
        assert_eq!(probe.stderr, line);
    }
}

/// A datagram from anywhere but the asked address is nobody's answer, even if all else about it is right.
#[test]
fn an_answer_from_another_port_is_no_answer() {
    let mut game = QueryGame::closed();
    game.answer_from_elsewhere(|_| vec![b"yes".to_vec()]);
    let query = format!("udp://:{}/00", game.port());
    let probe = |game: &QueryGame| {
        assert!(game.port() > 0);
        shim().set("LIVE_QUERY", &query).set("PROBE_TIMEOUT_SECS", "0.5").arg("probe").run(SOON)
    };
    let spoofed = probe(&game);
    assert_eq!(spoofed.code, 69);
    assert!(spoofed.stderr.contains("timed out after 0.5s"), "{}", spoofed.stderr);
    assert!(!game.asked().is_empty());
    game.answer(|_| vec![b"yes".to_vec()]);
    assert_eq!(probe(&game).code, 0);
}

#[test]
fn an_answer_to_another_question_is_no_answer() {
    let mut game = QueryGame::closed();
    game.answer(|question| {
        let mut reply = [&[0, 1, 3, 4], &question[4..12], &[0, 0, 0, 2, 0, 0, 0, 100, 0, 0, 0, 0]].concat();
        reply[11] ^= 1;
        vec![reply]
    });
    let query = format!("mumble://:{}", game.port());
    let probe = shim().set("LIVE_QUERY", query).set("PROBE_TIMEOUT_SECS", "0.3").arg("probe").run(SOON);
    assert_eq!(probe.code, 69);
    assert!(
        probe.stderr.contains("no mumble answer: it belongs to another ping; timed out after 0.3s"),
        "{}",
        probe.stderr
    );
}

#[test]
fn a_question_that_is_lost_is_asked_again() {
    let mut game = QueryGame::closed();
    let lost = std::sync::atomic::AtomicBool::new(false);
    game.answer(move |_| {
        let is_first = !lost.swap(true, std::sync::atomic::Ordering::SeqCst);
        if is_first { Vec::new() } else { vec![b"yes".to_vec()] }
    });
    let query = format!("udp://:{}/00", game.port());
    assert_eq!(shim().set("LIVE_QUERY", query).arg("probe").run(SOON).code, 0);
    assert_eq!(game.asked().len(), 2);
}

#[test]
fn a_server_on_one_of_the_loopback_addresses_is_found() {
    for mut game in [QueryGame::closed(), QueryGame::closed_v6()] {
        game.answer(a2s(1, 8));
        let sdk = ScriptedSdk::start();
        let mut shim = asking(&game, "a2s").sdk(&sdk).spawn();
        sdk.wait_for_call("Ready", SOON);
        stops_cleanly(&mut shim);
    }
}

/// The kernel takes datagrams for a frozen process, so only a question tells.
#[test]
fn liveness_is_lost_when_the_game_freezes_and_not_when_it_misses_a_round() {
    let mut game = QueryGame::closed();
    game.answer(a2s(1, 8));
    let sdk = ScriptedSdk::start();
    let mut shim = asking(&game, "a2s").set("LIVE_FAILURE_THRESHOLD", "3").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    game.fall_silent();
    let line = shim.wait_for_line(LIVENESS_FAILED, SOON).text;
    assert!(line.contains("timed out after 0.3s"), "{line}");
    game.answer(a2s(1, 8));
    shim.wait_for_line(LIVENESS_BACK, SOON);
    game.fall_silent();
    shim.expect_code(69, SOON);
    shim.wait_for_line(LIVENESS_LOST, SOON);
    sdk.assert_none("Shutdown");
}

#[test]
fn readiness_may_be_a_query_and_liveness_a_port() {
    let mut game = QueryGame::closed();
    game.answer(a2s(1, 8));
    let tcp = crate::support::Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = asking(&game, "a2s").set("LIVE_TCP", tcp.port()).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    game.close();
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
}

/// Refused is cheap and tried often; silence is not, whatever the probe's timeout.
#[test]
fn a_silent_game_is_not_flooded_with_questions() {
    let mut game = QueryGame::closed();
    game.fall_silent();
    let query = format!("udp://:{}/00", game.port());
    let mut shim = shim().set("READY_QUERY", query).without_sdk().spawn();
    game.wait_for_questions(1, SOON);
    game.wait_for_questions(4, secs(20));
    wait::let_pass(secs(3));
    let asked = game.asked().len();
    let seconds = usize::try_from(shim.started().elapsed().as_secs()).expect("few");
    assert!(asked <= (seconds + 1) * 2, "{asked} questions in {seconds} s");
    stops_cleanly(&mut shim);
}

#[test]
fn questions_leave_no_descriptors_and_no_threads() {
    let (mut silent, refused, mut odd) = (QueryGame::closed(), QueryGame::closed(), QueryGame::closed());
    silent.fall_silent();
    odd.answer(|_| vec![b"no".to_vec()]);
    let ports = [silent.port(), refused.port(), odd.port()].map(|port| format!("a2s://:{port}"));
    let mut shim = shim()
        .set("READY_QUERY", ports.join(","))
        .set("PROBE_TIMEOUT_SECS", "0.05")
        .set("READY_INTERVAL_SECS", "0.001")
        .without_sdk()
        .spawn();
    silent.wait_for_questions(10, SOON);
    let (descriptors, threads, memory) = (shim.fd_count(), shim.threads(), shim.rss());
    silent.wait_for_questions(150, secs(30));
    // Each of the three may have both of its sockets open when looked at, and its thread.
    assert!(shim.fd_count() <= descriptors + 6, "{} descriptors, {descriptors} before", shim.fd_count());
    assert!(shim.threads() <= threads + 2, "{} threads, {threads} before", shim.threads());
    assert!(shim.rss() <= memory + 4 * 1024 * 1024, "{} bytes, {memory} before", shim.rss());
    stops_cleanly(&mut shim);
}

#[test]
fn minecraft_is_asked_over_tcp() {
    let port = Port::reserve();
    let sdk = ScriptedSdk::start();
    let mut shim = shim()
        .set("READY_QUERY", format!("minecraft://:{}", port.number()))
        .set("PROBE_TIMEOUT_SECS", "1")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line("connection refused", SOON);
    let listener = TcpListener::bind(port.addr()).expect("it is reserved for this test");
    let server = std::thread::spawn(move || {
        let statuses = [
            None,
            Some(r#"{"players":{"online":0,"max":0}}"#),
            Some(r#"{"players":{"online":1,"max":20,"sample":[{"name":"Ann"}]},"description":"hi"}"#),
        ];
        let mut questions = Vec::new();
        for status in statuses {
            let (mut stream, mut question, mut length) = accepted(&listener);
            // The old ping, after the connection that was closed without a word.
            while question[..length] == *b"\xfe\x01" {
                (stream, question, length) = accepted(&listener);
            }
            questions.push(question[..length].to_vec());
            let Some(status) = status else { continue };
            let length = u8::try_from(status.len()).expect("a short status");
            let packet = [&[length + 2, 0, length], status.as_bytes()].concat();
            for byte in packet {
                stream.write_all(&[byte]).expect("it is read");
                stream.flush().expect("it is read");
            }
        }
        questions
    });
    shim.wait_for_line(READY, SOON);
    let port = port.number().to_be_bytes();
    let wanted = [b"\x13\0\xff\xff\xff\xff\x0f\x09localhost".as_slice(), &port, b"\x01\x01\0"].concat();
    for question in server.join().expect("no panic") {
        assert_eq!(question, wanted);
    }
    stops_cleanly(&mut shim);
}

fn accepted(listener: &TcpListener) -> (TcpStream, [u8; 64], usize) {
    let (mut stream, _) = listener.accept().expect("it is asked");
    let mut question = [0; 64];
    let length = stream.read(&mut question).expect("a question");
    (stream, question, length)
}

/// Serves one connection after the other, as this says of its first bytes, until the test ends.
fn minecraft(answer: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut question = [0; 256];
            let length = stream.read(&mut question).unwrap_or(0);
            // What is no question it closes on.
            let _ = answer(&question[..length]).map(|answer| stream.write_all(&answer));
        }
    });
    port
}

/// A sidecar that is ready by this query and counts by it, and what the SDK server then shows.
fn counted(query: &str) -> String {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let mut shim = shim()
        .set("READY_QUERY", query)
        .set("COUNTER_NAME", "players")
        .set("COUNTER_QUERY", query)
        .set("COUNTER_CAPACITY", 1)
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    let told = sdk.wait_for_call("UpdateCounter", SOON).detail;
    stops_cleanly(&mut shim);
    told
}

fn kick(text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    [&[0xff], &u16::try_from(units.len() / 2).expect("short").to_be_bytes()[..], &units].concat()
}

/// Case 64.
#[test]
fn a_minecraft_server_that_knows_the_old_ping_alone_is_ready_and_counted() {
    let port =
        minecraft(|question| (question == b"\xfe\x01").then(|| kick("\u{a7}1\x0061\x001.5.2\0A server\x003\x0020")));
    assert_eq!(counted(&format!("minecraft://127.0.0.1:{port}")), "players=3/20");
    // One that says why it closes.
    let port = minecraft(|question| {
        Some(kick(if question == b"\xfe\x01" { "A server\u{a7}4\u{a7}20" } else { "Protocol error" }))
    });
    assert_eq!(counted(&format!("minecraft://127.0.0.1:{port}")), "players=4/20");
}

/// Case 65.
#[test]
fn a_minecraft_server_behind_a_proxy_is_told_who_asks() {
    let port = minecraft(|question| {
        let end = question.windows(2).position(|pair| pair == b"\r\n")?;
        let line = std::str::from_utf8(&question[..end]).ok()?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["PROXY", "TCP4", "127.0.0.1", "127.0.0.1", from, to] = words[..] else { return None };
        let is_right = from.parse::<u16>().is_ok_and(|from| from > 0) && to.parse::<u16>().is_ok();
        let status = br#"{"players":{"online":5,"max":50}}"#;
        let length = u8::try_from(status.len()).ok()?;
        is_right.then(|| [&[length + 2, 0, length], &status[..]].concat())
    });
    assert_eq!(counted(&format!("minecraft://127.0.0.1:{port}?proxy=1")), "players=5/50");
    let without = shim().set("LIVE_QUERY", format!("minecraft://127.0.0.1:{port}")).arg("probe").run(SOON);
    assert_eq!(without.code, 69, "{}", without.stderr);
    assert!(without.stderr.contains("connection"), "{}", without.stderr);
}

#[test]
fn a_wrong_query_is_an_error_at_start_that_names_it() {
    for bad in ["a2s", "a2s://", "a2s://:0", "valve://:27015", "udp://:1", "udp://:1/0", "a2s://:1,,a2s://:2", " "] {
        let finished = shim().set("READY_QUERY", bad).run(SOON);
        assert_eq!(finished.code, 78, "{bad:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("AGONES_SHIM_READY_QUERY: "), "{bad:?}: {}", finished.stderr);
    }
    let checked = shim().set("READY_QUERY", "a2s://:27015,udp://[::1]:7/FF").arg("check").run(SOON);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    for line in ["readiness: query a2s://localhost:27015, query udp://[::1]:7/ff", "liveness: the readiness set"] {
        assert!(checked.stdout.lines().any(|found| found == line), "{line}: {}", checked.stdout);
    }
}

/// A game that is loading is asked without its log being filled: once a second after an answer.
#[test]
fn a_game_that_is_still_starting_is_asked_once_a_second() {
    let mut game = QueryGame::closed();
    game.answer(quake3(&[], 0));
    let mut shim = asking(&game, "quake3").without_sdk().spawn();
    shim.wait_for_line("still starting: it answers that it takes 0 players", SOON);
    game.wait_for_questions(2, SOON);
    wait::let_pass(secs(3));
    let asked = game.asked().len();
    let seconds = usize::try_from(shim.started().elapsed().as_secs()).expect("few");
    assert!(asked <= (seconds + 1) * 2, "{asked} questions in {seconds} s");
    stops_cleanly(&mut shim);
}
