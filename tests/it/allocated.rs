//! The hook of allocations: once for each, told everything, bounded.

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::{Answer, Applies, Game, ScriptedSdk, Shim, millis, secs, wait};

const RUNNING: &str = "was allocated, running the hook";
const ENDED: &str = "the hook of the allocation has ended";
const FAILED: &str = "the hook of the allocation failed";

/// An open game, a local SDK server and a sidecar with this hook that is Ready.
fn hooked(hook: &str) -> (Game, LocalSdk, Shim) {
    let game = Game::open();
    let sdk = LocalSdk::start(&[]);
    let mut shim = sidecar(&game).set("ALLOCATED_HOOK", hook).sdk_port(sdk.port()).spawn();
    shim.wait_for_line(READY, SOON);
    (game, sdk, shim)
}

#[test]
fn an_allocation_runs_the_hook_within_about_a_second_and_tells_it_everything() {
    let game = Game::open();
    let sdk = LocalSdk::start(&[]);
    let mut shim = sidecar(&game)
        .set("ALLOCATED_HOOK", "sh -c 'env | grep ^AGONES_GAMESERVER_; echo pid ${AGONES_SHIM_CHILD_PID-none}'")
        .set("LABELS", "map=dust")
        .set("ANNOTATIONS", "motd=\"hello, world\"")
        .var("PATH", "/usr/bin:/bin")
        .sdk_port(sdk.port())
        .spawn();
    shim.wait_for_line(READY, SOON);
    wait::until_true("the label", SOON, || sdk.get("/gameserver").body.contains("sdk-map"));
    assert_eq!(sdk.post("/local/allocate", "").status, 200);
    shim.wait_for_line(RUNNING, secs(5));
    shim.wait_for_line(ENDED, SOON);
    for part in [
        "AGONES_GAMESERVER_NAME=",
        "AGONES_GAMESERVER_ADDRESS=127.0.0.1",
        "AGONES_GAMESERVER_STATE=Allocated",
        "AGONES_GAMESERVER_LABEL_AGONES_DEV_SDK_MAP=dust",
        "AGONES_GAMESERVER_ANNOTATION_AGONES_DEV_SDK_MOTD=hello, world",
        "AGONES_GAMESERVER_ANNOTATION_AGONES_DEV_LAST_ALLOCATED=20",
        "\"agones.dev/sdk-map\":\"dust\"",
        "\"agones.dev/sdk-motd\":\"hello, world\"",
        "pid none",
    ] {
        assert_eq!(shim.count_lines(part), 1, "{part}\n{}", shim.output());
    }
    shim.assert_stays(secs(2));
    assert_eq!(shim.count_lines(RUNNING), 1);
    stops_cleanly(&mut shim);
}

#[test]
fn each_allocation_is_one_run() {
    let (_game, sdk, mut shim) = hooked("true");
    for run in 1..=2 {
        sdk.post("/local/allocate", "");
        wait::until_true("a run", SOON, || shim.count_lines(ENDED) == run);
        sdk.post("/ready", "{}");
        sdk.wait_for_state("Ready", SOON);
    }
    shim.assert_stays(millis(1500));
    assert_eq!(shim.count_lines(RUNNING), 2);
    stops_cleanly(&mut shim);
}

/// As the cluster does it: the annotation tells one allocation from the next.
fn allocate(sdk: &ScriptedSdk, stamp: &str) {
    sdk.edit(|game_server| {
        "Allocated".clone_into(&mut game_server.status.get_or_insert_default().state);
        let annotations = &mut game_server.object_meta.get_or_insert_default().annotations;
        annotations.insert("agones.dev/last-allocated".to_owned(), stamp.to_owned());
    });
}

/// An allocation shows before the shim's own Ready() does, which would undo it: Allocate() is called to keep it. The hook
/// has run for it.
fn kept(sdk: &ScriptedSdk) -> (Game, Shim) {
    let game = Game::open();
    // The allocation is there by the time that the shim knows Ready() to be on its way.
    sdk.next("Ready", Answer::Late(millis(500))).applies("Ready", Applies::Never).applies("Allocate", Applies::Never);
    let mut shim = sidecar(&game).set("ALLOCATED_HOOK", "true").sdk(sdk).spawn();
    sdk.wait_for_call("Ready", SOON);
    allocate(sdk, "1");
    sdk.wait_for_call("Allocate", SOON);
    shim.wait_for_line(ENDED, SOON);
    (game, shim)
}

#[test]
fn an_allocate_that_is_refused_swallows_no_later_allocation_s_hook() {
    let sdk = ScriptedSdk::start();
    sdk.next("Allocate", Answer::unknown("scripted: refused"));
    let (_game, mut shim) = kept(&sdk);
    shim.wait_for_line("Allocate() failed", SOON);
    allocate(&sdk, "2");
    wait::until_true("the next run", SOON, || shim.count_lines(ENDED) == 2);
    stops_cleanly(&mut shim);
}

#[test]
fn an_allocate_that_an_sdk_server_took_with_it_swallows_no_later_allocation_s_hook() {
    let mut sdk = ScriptedSdk::start();
    let (_game, mut shim) = kept(&sdk);
    sdk.crash();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.open();
    let looks = sdk.count("GetGameServer");
    sdk.wait_for_count("GetGameServer", looks + 2, SOON);
    allocate(&sdk, "2");
    wait::until_true("the next run", SOON, || shim.count_lines(ENDED) == 2);
    stops_cleanly(&mut shim);
}

#[test]
fn an_allocate_that_keeps_an_allocation_is_none_for_the_hook() {
    let sdk = ScriptedSdk::start();
    let (_game, mut shim) = kept(&sdk);
    allocate(&sdk, "written by the SDK server");
    sdk.wait_for_count("GetGameServer", sdk.count("GetGameServer") + 3, SOON);
    assert_eq!(shim.count_lines(RUNNING), 1, "{}", shim.output());
    allocate(&sdk, "2");
    wait::until_true("the next run", SOON, || shim.count_lines(ENDED) == 2);
    stops_cleanly(&mut shim);
}

#[test]
fn a_restart_beside_an_allocated_gameserver_does_not_run_it_again() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated");
    let mut shim = sidecar(&game).set("ALLOCATED_HOOK", "true").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    sdk.wait_for_count("GetGameServer", sdk.count("GetGameServer") + 3, SOON);
    shim.assert_no_line(RUNNING);
    stops_cleanly(&mut shim);
}

#[test]
fn a_hook_that_hangs_fails_or_is_missing_is_a_warning_and_nothing_else() {
    for (hook, reason) in [
        ("sh -c 'trap \"\" TERM; while :; do sleep 0.1; done'", "timed out after 0.5s"),
        ("sh -c 'exit 3'", "exit code 3"),
        ("/nowhere/hook", "was not found: check the path"),
    ] {
        let (_game, sdk, mut shim) = ready_with(|shim| {
            shim.set("ALLOCATED_HOOK", hook).set("ALLOCATED_HOOK_TIMEOUT_SECS", "0.5").var("PATH", "/usr/bin:/bin")
        });
        sdk.set_state("Allocated");
        let line = shim.wait_for_line(FAILED, SOON).text;
        assert!(line.contains(reason), "{line}");
        more_beats(&sdk, 2);
        sdk.set_state("Ready");
        sdk.wait_for_count("GetGameServer", sdk.count("GetGameServer") + 2, SOON);
        sdk.set_state("Allocated");
        wait::until_true("the next run", SOON, || shim.count_lines(FAILED) == 2);
        stops_cleanly(&mut shim);
    }
}

#[test]
fn beats_go_on_while_the_hook_runs_and_a_stop_ends_it() {
    let (_game, sdk, mut shim) = ready_with(|shim| {
        let hook = "sh -c 'trap \"echo told; exit 0\" TERM; echo running; while :; do sleep 0.05; done'";
        shim.set("ALLOCATED_HOOK", hook).set("ALLOCATED_HOOK_TIMEOUT_SECS", 60).var("PATH", "/usr/bin:/bin")
    });
    sdk.set_state("Allocated");
    shim.wait_for_line("running", SOON);
    more_beats(&sdk, 3);
    shim.signal(Signal::SIGTERM);
    shim.wait_for_line("told", SOON);
    shim.expect_code(0, STOP);
    assert!(shim.started().elapsed() < secs(50), "it was not waited for");
}

#[test]
fn a_wrapper_s_hook_knows_the_child() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .set("ALLOCATED_HOOK", "sh -c 'echo hook for $AGONES_SHIM_CHILD_PID'")
        .var("PATH", "/usr/bin:/bin")
        .sdk(&sdk)
        .args(["--", "sh", "-c", "trap 'exit 0' TERM; echo child $$; while :; do sleep 0.05; done"])
        .spawn();
    shim.wait_for_line(READY, SOON);
    let pid = shim.wait_for_line("child ", SOON).text["child ".len()..].to_owned();
    sdk.set_state("Allocated");
    shim.wait_for_line(&format!("hook for {pid}"), SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn the_gameserver_is_looked_at_only_where_something_depends_on_it() {
    let (_game, sdk, mut shim) = ready();
    let before = sdk.count("GetGameServer");
    more_beats(&sdk, 15);
    sdk.assert_count("GetGameServer", before);
    stops_cleanly(&mut shim);
}
