//! An SDK server that restarts between two calls, at once or later, with what it had acknowledged and not written lost.
//! What counts is what the server shows in the end. Nothing here waits for the shim to notice.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::query_game::{QueryGame, quake3};
use crate::support::scripted_sdk::Applies;
use crate::support::shim::Builder;
use crate::support::{Game, ScriptedSdk, millis, wait};

const GAPS: [Duration; 4] = [Duration::ZERO, millis_const(200), millis_const(1000), millis_const(3000)];

const fn millis_const(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What comes back after the restart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Back {
    /// What had been written.
    Kept,
    /// A GameServer that has never been Ready.
    Empty,
}

fn everywhere(case: impl Fn(Duration, Back) + Send + Sync + Copy + 'static) {
    let cases = GAPS.into_iter().flat_map(|gap| [(gap, Back::Kept), (gap, Back::Empty)]);
    let threads: Vec<_> = cases.map(|(gap, back)| thread::spawn(move || case(gap, back))).collect();
    for thread in threads {
        thread.join().expect("its case holds");
    }
}

/// A Counter and a List by query, a label and an annotation. So few calls that none falls into a short gap.
fn publishing(port: &Game, game: &QueryGame) -> Builder {
    sidecar(port)
        .set("HEALTH_INTERVAL_SECS", "1")
        .set("COUNTER_NAME", "players")
        .set("COUNTER_QUERY", format!("quake3://127.0.0.1:{}", game.port()))
        .set("COUNTER_INTERVAL_SECS", "30")
        .set("LIST_NAME", "names")
        .set("LABELS", "map=dust")
        .set("ANNOTATIONS", "motd=hello")
}

fn shows_everything(sdk: &ScriptedSdk) -> bool {
    let mut all = sdk.counter("players") == Some(1) && sdk.list("names") == ["ann"];
    sdk.edit(|game_server| {
        let meta = game_server.object_meta.clone().unwrap_or_default();
        all &= meta.labels.get("agones.dev/sdk-map").is_some_and(|value| value == "dust");
        all &= meta.annotations.get("agones.dev/sdk-motd").is_some_and(|value| value == "hello");
    });
    all
}

#[test]
fn what_was_acknowledged_and_not_written_is_published_again() {
    everywhere(|gap, back| {
        let (port, mut game) = (Game::open(), QueryGame::closed());
        game.answer(quake3(&["ann"], 64));
        let mut sdk = ScriptedSdk::start();
        sdk.batch(millis(500)).set_counter("players", 0, 64).set_list("names", 64, &[]);
        let mut shim = publishing(&port, &game).sdk(&sdk).spawn();
        for call in ["SetLabel", "SetAnnotation", "UpdateCounter", "AddListValue"] {
            sdk.wait_for_call(call, SOON);
        }
        assert!(!shows_everything(&sdk), "it was to be killed within the batch time");
        sdk.crash();
        if back == Back::Empty {
            sdk.set_state("Scheduled");
        }
        let readies = sdk.count("Ready");
        wait::let_pass(gap);
        sdk.open();
        wait::until_true(&format!("everything shows, {gap:?} {back:?}"), SOON, || shows_everything(&sdk));
        wait::until_true("it is Ready", SOON, || sdk.state() == "Ready");
        assert_eq!(sdk.count("Ready") - readies, usize::from(back == Back::Empty), "{}", sdk.story());
        // And then it is quiet: nothing is published twice to a server that has it.
        let published = |sdk: &ScriptedSdk| {
            ["SetLabel", "SetAnnotation", "UpdateCounter", "AddListValue"].map(|call| sdk.count(call))
        };
        let before = published(&sdk);
        wait::let_pass(millis(1500));
        assert_eq!(published(&sdk), before, "{}", sdk.story());
        stops_cleanly(&mut shim);
        assert_eq!(sdk.state(), "Shutdown");
    });
}

#[test]
fn a_ready_on_its_way_is_called_again_when_its_server_has_gone() {
    everywhere(|gap, _| {
        let port = Game::open();
        let mut sdk = ScriptedSdk::start();
        sdk.applies("Ready", Applies::After(millis(500)));
        let mut shim = sidecar(&port).sdk(&sdk).spawn();
        sdk.wait_for_call("Ready", SOON);
        sdk.crash();
        wait::let_pass(gap);
        sdk.open();
        wait::until_true(&format!("it is Ready, {gap:?}"), SOON, || sdk.state() == "Ready");
        sdk.assert_count("Ready", 2);
        shim.wait_for_line(READY, SOON);
        stops_cleanly(&mut shim);
    });
}

/// The same with a process that is really killed, and another in its place: it comes back empty.
#[test]
fn a_local_sdk_server_that_is_killed_and_started_again_gets_everything() {
    for gap in [Duration::ZERO, millis(200)] {
        let game = Game::open();
        game.reply_at("/metrics", crate::support::Reply::text("m 7\n"));
        let mut sdk = LocalSdk::start(&[]);
        let mut shim = counting(sidecar(&game), &game).set("LABELS", "map=dust").sdk_port(sdk.port()).spawn();
        sdk.wait_for_state("Ready", SOON);
        wait::until_true("the Counter is acknowledged", SOON, || sdk.calls().contains("UpdateCounter"));
        let grpc: SocketAddr = sdk.grpc();
        sdk.process().signal(Signal::SIGKILL);
        sdk.process().expect_exit(SOON);
        wait::let_pass(gap);
        let again = LocalSdk::start_at(&grpc.to_string(), &[]);
        again.wait_for_state("Ready", SOON);
        wait::until_true("label and Counter show", SOON, || {
            let body = again.get("/gameserver").body;
            body.contains(r#""agones.dev/sdk-map":"dust""#) && body.contains(r#""count":"7""#)
        });
        stops_cleanly(&mut shim);
        again.wait_for_state("Shutdown", SOON);
    }
}
