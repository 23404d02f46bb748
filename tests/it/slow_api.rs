//! An API server that is slow or away: the SDK server leaves calls unanswered and answers beats.
//!
//! 30 s are documented and scaled to a quarter here, and more so the call timeout of 2 s and the health interval of 5 s.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::query_game::{QueryGame, quake3};
use crate::support::shim::Builder;
use crate::support::{Answer, Game, ScriptedSdk, Shim, millis, secs, wait};

const CALLS: [&str; 10] = [
    "GetGameServer",
    "Ready",
    "Health",
    "SetLabel",
    "SetAnnotation",
    "GetCounter",
    "UpdateCounter",
    "GetList",
    "AddListValue",
    "RemoveListValue",
];
const INTERVAL: Duration = Duration::from_millis(500);
/// A beat that is late loses the link, and the machine is busy.
const CALL_TIMEOUT: Duration = Duration::from_millis(1500);
/// An interval and a call's deadline are documented. The machine is busy.
const LONGEST_SILENCE: Duration = Duration::from_secs(4);

fn publishing(port: &Game, game: &QueryGame) -> Builder {
    sidecar(port)
        .set("HEALTH_INTERVAL_SECS", INTERVAL.as_secs_f64())
        .set("SDK_CALL_TIMEOUT_SECS", CALL_TIMEOUT.as_secs_f64())
        .set("COUNTER_NAME", "players")
        .set("COUNTER_QUERY", format!("quake3://127.0.0.1:{}", game.port()))
        .set("COUNTER_INTERVAL_SECS", "0.1")
        .set("LIST_NAME", "names")
        .set("LABELS", "map=dust")
        .set("ANNOTATIONS", "motd=hello")
}

/// The longest time without a beat since then.
fn longest_silence(sdk: &ScriptedSdk, since: Instant) -> Duration {
    let beats = sdk.calls_of("Health").into_iter().map(|call| call.at).filter(|at| *at > since);
    let times: Vec<Instant> = [since].into_iter().chain(beats).chain([Instant::now()]).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
}

/// From the start on, and from Ready on.
#[test]
fn each_call_that_hangs_leaves_beats_and_shutdown_alone() {
    let cases = CALLS.into_iter().flat_map(|call| [(call, true), (call, false)]);
    let threads: Vec<_> =
        cases.map(|(call, from_ready_on)| thread::spawn(move || one_call_hangs(call, from_ready_on))).collect();
    for thread in threads {
        thread.join().expect("its case holds");
    }
}

fn one_call_hangs(call: &'static str, from_ready_on: bool) {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(quake3(&["ann"], 64));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 64).set_list("names", 64, &["zoe"]);
    let hang = || {
        sdk.always(call, Answer::Hang(secs(30)));
    };
    if !from_ready_on {
        hang();
    }
    let mut shim: Shim = publishing(&port, &game).sdk(&sdk).spawn();
    if from_ready_on {
        shim.wait_for_line(READY, SOON);
        hang();
    }
    sdk.wait_for_call("Health", SOON);
    let began = Instant::now();
    for names in [["bob"], ["cid"], ["dee"], ["eva"], ["fay"], ["gus"], ["hal"], ["ina"]] {
        game.answer(quake3(&names, 64));
        wait::let_pass(secs(1));
    }
    let silence = longest_silence(&sdk, began);
    assert!(silence < LONGEST_SILENCE, "{call}: {silence:?} without a beat; {}", sdk.story());
    if call != "Health" {
        shim.assert_no_line(SDK_LOST);
    }
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    sdk.always(call, Answer::Ok);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown", "{call}");
}

/// The one call that is made at the stop alone.
#[test]
fn a_shutdown_that_hangs_leaves_beats_alone_and_lands_after() {
    let (port, mut game) = (Game::open(), QueryGame::closed());
    game.answer(quake3(&["ann"], 64));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 64).set_list("names", 64, &[]);
    sdk.always("Shutdown", Answer::Hang(secs(30)));
    let mut shim = publishing(&port, &game).set("SHUTDOWN_TIMEOUT_SECS", 60).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", SOON);
    let began = Instant::now();
    wait::let_pass(secs(8));
    let silence = longest_silence(&sdk, began);
    assert!(silence < LONGEST_SILENCE, "{silence:?} without a beat; {}", sdk.story());
    shim.assert_no_line(SDK_LOST);
    sdk.always("Shutdown", Answer::Ok);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown", "{}", sdk.story());
}

/// With a server that judges: a health period of 1 s, three of them missed and it is Unhealthy.
#[test]
fn a_slow_api_server_makes_no_server_unhealthy_and_shutdown_lands_after() {
    let manifest = "
apiVersion: agones.dev/v1
kind: GameServer
metadata: { name: slow }
spec:
  health: { initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 3 }
  counters: { players: { count: 0, capacity: 64 } }
  template: { spec: { containers: [ { name: game, image: x } ] } }
";
    let file = std::env::temp_dir().join(format!("agones-shim-slow-{}.yaml", std::process::id()));
    std::fs::write(&file, manifest).expect("a file in the temporary directory");
    let sdk = LocalSdk::start(&["-f", file.to_str().expect("UTF-8")]);
    let game = Game::open();
    game.reply_at("/metrics", crate::support::Reply::text("m 3\n"));
    let builder = counting(sidecar(&game), &game).unset("AGONES_SHIM_HEALTH_INTERVAL_SECS");
    let mut shim = builder.set("MAX_AGE_SECS", 3600).sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Ready", SOON);
    sdk.post("/local/allocate", "");
    assert_eq!(sdk.post("/local/api-delay", "10").status, 200);
    game.reply_at("/metrics", crate::support::Reply::text("m 4\n"));
    shim.wait_for_line("leaves a call unanswered", SOON);
    // GET /gameserver waits too: the answer is that of the time after.
    wait::let_pass(secs(10));
    wait::until_true("the Counter shows", SOON, || sdk.get("/gameserver").body.contains(r#""count":"4""#));
    assert_eq!(sdk.state(), "Allocated");
    shim.assert_no_line(SDK_LOST);
    shim.wait_for_line("answers its calls again", SOON);
    sdk.post("/local/api-delay", "3");
    wait::let_pass(millis(500));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    sdk.wait_for_state("Shutdown", SOON);
    let _ = std::fs::remove_file(file);
}
