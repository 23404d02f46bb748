//! A second Ready() takes a GameServer out of Allocated: what a slow SDK server, one that is gone, and a shim that was
//! killed and started again make of the one. Looked at on the SDK server's side.

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::{Answer, Applies, Game, ScriptedSdk, Shim, millis, secs, wait};

fn allocate_by_hand(sdk: &ScriptedSdk) {
    // Unlike `set_state` this leaves what is queued where it is.
    sdk.edit(|game_server| "Allocated".clone_into(&mut game_server.status.get_or_insert_default().state));
}

/// Once the shim has seen Ready or later: still Allocated, after the one Ready().
#[track_caller]
fn assert_match_is_left_alone(shim: &mut Shim, sdk: &ScriptedSdk) {
    shim.wait_for_line(READY, SOON);
    wait::let_pass(secs(2));
    assert_eq!(sdk.state(), "Allocated", "{}", sdk.story());
    sdk.assert_count("Ready", 1);
}

/// How many of its calls are a Ready().
fn readies(local: &LocalSdk) -> usize {
    local.calls().matches("\"Ready\"").count()
}

#[test]
fn an_sdk_server_that_stands_still_after_ready_gets_no_second_one_and_the_match_stays() {
    let game = Game::open();
    // Long enough that Ready() is still queued when it goes on.
    let mut local = LocalSdk::start(&["--batch-ms", "5000"]);
    let mut shim = sidecar(&game).sdk_port(local.port()).spawn();
    shim.wait_for_line("calling Ready()", SOON);
    wait::until_true("Ready() to arrive", SOON, || readies(&local) == 1);
    local.process().signal(Signal::SIGSTOP);
    wait::let_pass(millis(2400));
    local.process().signal(Signal::SIGCONT);
    wait::until_true("an allocation", secs(20), || local.post("/local/allocate", "{}").status == 200);
    shim.wait_for_line(READY, SOON);
    wait::let_pass(secs(3));
    assert_eq!(local.state(), "Allocated", "{}", local.calls());
    assert_eq!(readies(&local), 1, "{}", local.calls());
}

#[test]
fn a_write_that_hangs_for_11_s_gets_no_second_ready_and_a_warning_says_what_is_waited_for() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.applies("Ready", Applies::After(secs(11)));
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    let line = shim.wait_for_line("Ready() is with the SDK server but does not show", beyond(10)).text;
    assert!(line.contains("state=Scheduled"), "{line}");
    wait::until_true("Ready to show", secs(10), || sdk.state() == "Ready");
    sdk.set_state("Allocated");
    assert_match_is_left_alone(&mut shim, &sdk);
    sdk.assert_none("Allocate");
    stops_cleanly(&mut shim);
}

#[test]
fn looks_that_hang_with_the_write_lead_to_no_second_ready() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.applies("Ready", Applies::After(secs(5)));
    let mut shim = sidecar(&game).set("SDK_CALL_TIMEOUT_SECS", "0.3").sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    sdk.always("GetGameServer", Answer::Hang(secs(1)));
    wait::let_pass(secs(3));
    sdk.always("GetGameServer", Answer::Ok);
    wait::until_true("Ready to show", secs(10), || sdk.state() == "Ready");
    sdk.set_state("Allocated");
    assert_match_is_left_alone(&mut shim, &sdk);
    stops_cleanly(&mut shim);
}

#[test]
fn a_ready_that_got_no_answer_is_not_called_again() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::Late(secs(3))).applies("Ready", Applies::After(secs(4)));
    let mut shim = sidecar(&game).set("SDK_CALL_TIMEOUT_SECS", "0.5").sdk(&sdk).spawn();
    shim.wait_for_line("no answer to Ready()", SOON);
    wait::until_true("Ready to show", secs(10), || sdk.state() == "Ready");
    sdk.set_state("Allocated");
    assert_match_is_left_alone(&mut shim, &sdk);
    stops_cleanly(&mut shim);
}

#[test]
fn a_ready_that_an_sdk_server_took_with_it_is_called_again() {
    let game = Game::open();
    let mut sdk = ScriptedSdk::start();
    sdk.applies("Ready", Applies::Never);
    let mut shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.applies("Ready", Applies::After(millis(500)));
    sdk.open();
    sdk.wait_for_count("Ready", 2, SOON);
    wait::until_true("Ready to show", SOON, || sdk.state() == "Ready");
    shim.wait_for_line(READY, SOON);
    let calls: Vec<_> = sdk.calls().into_iter().filter(|call| call.method != "Health").collect();
    let second = calls.iter().rposition(|call| call.method == "Ready").expect("there were two");
    assert_eq!(calls[second - 1].method, "GetGameServer", "{}", sdk.story());
    stops_cleanly(&mut shim);
}

#[test]
fn a_shim_that_is_killed_and_started_again_leaves_the_ready_that_is_under_way_alone() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.applies("Ready", Applies::After(millis(500)));
    let shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.signal(Signal::SIGKILL);
    let mut again = sidecar(&game).sdk(&sdk).spawn();
    wait::until_true("Ready to show", SOON, || sdk.state() == "Ready");
    sdk.set_state("Allocated");
    again.wait_for_line(READY, SOON);
    wait::let_pass(secs(2));
    assert_eq!(sdk.state(), "Allocated", "{}", sdk.story());
    sdk.assert_count("Ready", 1);
    stops_cleanly(&mut again);
}

#[test]
fn a_ready_of_a_killed_shim_that_lands_after_the_next_one_s_call_costs_no_allocation() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.applies("Ready", Applies::Never);
    let shim = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    shim.signal(Signal::SIGKILL);
    sdk.applies("Ready", Applies::After(millis(600))).applies("Allocate", Applies::After(millis(600)));
    let mut again = sidecar(&game).sdk(&sdk).spawn();
    sdk.wait_for_count("Ready", 2, SOON);
    // The first one's write has landed, and somebody took the server: the second one is still queued.
    allocate_by_hand(&sdk);
    sdk.wait_for_call("Allocate", SOON);
    again.wait_for_line(READY, SOON);
    wait::let_pass(secs(2));
    assert_eq!(sdk.state(), "Allocated", "{}", sdk.story());
    sdk.assert_count("Allocate", 1);
    sdk.assert_count("Ready", 2);
    stops_cleanly(&mut again);
}
