//! `agones-shim sdk CALL` and `agones-shim probe`: one call, one round, an exit code.

use std::time::Instant;

use grpcio::RpcStatusCode;

use crate::support::game::Reply;
use crate::support::shim::Finished;
use crate::support::{Answer, Game, Port, ScriptedSdk, millis, secs, shim};

fn sdk(server: &ScriptedSdk, words: &[&str]) -> Finished {
    shim().sdk(server).arg("sdk").args(words).run(secs(20))
}

fn quiet(finished: &Finished) {
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
}

#[test]
fn every_call_arrives_once_and_says_nothing_when_it_worked() {
    let server = ScriptedSdk::start();
    for (words, method, detail) in [
        (&["ready"][..], "Ready", ""),
        (&["health"], "Health", ""),
        (&["allocate"], "Allocate", ""),
        (&["reserve", "30"], "Reserve", "30"),
        (&["label", "mode", "-x"], "SetLabel", "mode=-x"),
        (&["annotation", "map", "de dust"], "SetAnnotation", "map=de dust"),
        (&["shutdown"], "Shutdown", ""),
    ] {
        quiet(&sdk(&server, words));
        server.assert_count(method, 1);
        let call = server.calls_of(method).remove(0);
        assert!(call.detail.contains(detail), "{call:?}");
    }
    server.assert_none("GetGameServer");
}

#[test]
fn the_gameserver_is_printed_as_the_http_gateway_would() {
    let server = ScriptedSdk::start();
    server.set_state("Allocated").set_counter("players", 3, 64);
    let finished = sdk(&server, &["gameserver"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    assert_eq!(finished.stdout.lines().count(), 1, "one line for scripts");
    let json: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(json["status"]["state"], "Allocated");
    assert_eq!(json["status"]["counters"]["players"]["count"], "3", "64 bit numbers are strings");
    assert_eq!(json["object_meta"]["deletion_timestamp"], "0");
    assert_eq!(json["spec"]["health"]["period_seconds"], 5);
}

#[test]
fn a_counter_is_read_and_set() {
    let server = ScriptedSdk::start();
    server.set_counter("players", 3, 64);
    assert_eq!(
        sdk(&server, &["counter", "players"]).stdout,
        "{\"name\":\"players\",\"count\":\"3\",\"capacity\":\"64\"}\n"
    );
    let set = sdk(&server, &["counter", "players", "12"]);
    assert_eq!((set.code, set.stdout.as_str()), (0, "{\"name\":\"players\",\"count\":\"12\",\"capacity\":\"64\"}\n"));
    assert_eq!(server.counter("players"), Some(12));
}

#[test]
fn a_counter_that_was_set_but_cannot_be_read_back_is_a_success() {
    let server = ScriptedSdk::start();
    server.set_counter("players", 3, 64).always("GetCounter", Answer::unknown("not today"));
    quiet(&sdk(&server, &["counter", "players", "12"]));
}

#[test]
fn what_the_server_refuses_is_76_with_its_message() {
    let server = ScriptedSdk::start();
    server.always("SetLabel", Answer::Error(RpcStatusCode::INVALID_ARGUMENT, "invalid label key \"a b\"".into()));
    server.always("GetCounter", Answer::unknown("counter not found: nope"));
    server.always("Health", Answer::unknown("no"));
    for (words, text) in [
        (&["label", "a b", "x"][..], "agones-shim: sdk label: 3-INVALID_ARGUMENT: invalid label key \"a b\"\n"),
        (&["counter", "nope"], "agones-shim: sdk counter: 2-UNKNOWN: counter not found: nope\n"),
        (&["health"], "agones-shim: sdk health: 2-UNKNOWN: no\n"),
    ] {
        let finished = sdk(&server, words);
        assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (76, "", text));
    }
}

#[test]
fn nobody_there_is_75_at_once() {
    let began = Instant::now();
    let finished = shim().without_sdk().set("SDK_CALL_TIMEOUT_SECS", 15).args(["sdk", "ready"]).run(secs(20));
    assert_eq!(finished.code, 75, "{finished:?}");
    assert!(finished.stderr.starts_with("agones-shim: sdk ready: localhost:"), "{finished:?}");
    assert!(finished.stderr.ends_with(": connection refused\n"), "{finished:?}");
    assert!(began.elapsed() < secs(10), "{:?}", began.elapsed());
}

#[test]
fn no_answer_within_the_call_timeout_is_75_whether_it_hangs_in_the_call_or_before() {
    let server = ScriptedSdk::start();
    server.always("Health", Answer::Hang(secs(60))).always("Ready", Answer::Hang(secs(60)));
    for call in ["health", "ready"] {
        let finished = shim().sdk(&server).set("SDK_CALL_TIMEOUT_SECS", "0.5").args(["sdk", call]).run(secs(15));
        let wanted = format!("agones-shim: sdk {call}: no answer within the call's deadline of 0.5s\n");
        assert_eq!((finished.code, finished.stderr), (75, wanted));
    }
    // It accepts and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let finished = shim().sdk_port(port).set("SDK_CALL_TIMEOUT_SECS", "0.5").args(["sdk", "ready"]).run(secs(15));
    assert_eq!(finished.code, 75, "{finished:?}");
}

#[test]
fn sdk_needs_no_probes_and_reads_only_what_it_uses() {
    let server = ScriptedSdk::start();
    let builder = shim().sdk(&server).set("READY_TCP", "nonsense").set("PROBE_TIMEOUT_SECS", "5s");
    quiet(&builder.args(["sdk", "health"]).run(secs(20)));
    let wrong = shim().var("AGONES_SDK_GRPC_PORT", "no").args(["sdk", "health"]).run(secs(20));
    assert_eq!(wrong.code, 78, "{wrong:?}");
}

#[test]
fn health_can_be_looped_by_a_shell() {
    let server = ScriptedSdk::start();
    let program = crate::support::shim::binary();
    let script = "i=0; while [ $i -lt 5 ]; do \"$0\" sdk health || exit 9; i=$((i+1)); done";
    let loop_ = crate::support::shim::Builder::of("/bin/sh").sdk(&server).args(["-c", script]).arg(program);
    assert_eq!(loop_.run(secs(30)).code, 0);
    server.assert_count("Health", 5);
}

#[test]
fn probe_is_0_when_all_pass_and_69_with_every_reason_when_not() {
    let (up, down) = (Game::open(), Port::reserve());
    let (port, closed) = (up.port(), down.number());
    let passed = shim().set("LIVE_TCP", port).arg("probe").run(secs(20));
    quiet(&passed);

    up.reply(Reply::status(503));
    let failed = shim()
        .set("LIVE_TCP", format!("{port},{closed}"))
        .set("LIVE_HTTP", up.url("/healthz"))
        .arg("probe")
        .run(secs(20));
    assert_eq!((failed.code, failed.stdout.as_str()), (69, ""));
    let wanted = format!(
        "agones-shim: tcp localhost:{closed}: connection refused\nagones-shim: http {}: HTTP 503\n",
        up.url("/healthz")
    );
    assert_eq!(failed.stderr, wanted);
}

#[test]
fn probe_takes_the_readiness_set_where_no_liveness_set_is_given_and_runs_all_at_the_same_time() {
    let game = Game::open();
    quiet(&shim().set("READY_TCP", game.port()).arg("probe").run(secs(20)));

    game.reply(Reply::silence());
    let urls = (0..8).map(|page| game.url(&format!("/{page}"))).collect::<Vec<_>>().join(",");
    let began = Instant::now();
    let hung = shim().set("LIVE_HTTP", urls).set("PROBE_TIMEOUT_SECS", 1).arg("probe").run(secs(20));
    assert_eq!((hung.code, hung.stderr.matches("timed out after 1s").count()), (69, 8), "{hung:?}");
    assert!(began.elapsed() < secs(6), "one after the other they take 8 s: {:?}", began.elapsed());

    let nothing = shim().arg("probe").run(millis(20_000));
    assert_eq!(nothing.code, 78, "{nothing:?}");
    // The wrapper's child is alive, or nobody could ask: a HEALTHCHECK is well.
    let without = shim().set("READY_TEXT", "up").arg("probe").run(secs(20));
    assert_eq!((without.code, without.stderr.matches("there is nothing to ask").count()), (0, 1), "{without:?}");
}
