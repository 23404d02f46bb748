//! Players drive the life: they allocate a Ready server, and an own allocation that stays empty is given back. Asserted
//! on the server's side: its state, its calls, and what a Fleet would do to it.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::shim::Builder;
use crate::support::{Game, Reply, Shim, secs, wait};

const ALLOCATED: &str = "shows Allocated, by its players";
const GIVEN_BACK: &str = "empty for AGONES_SHIM_EMPTY_READY_SECS";
const KEPT: &str = "this allocation may be somebody else's";

/// An empty game, a local SDK server and a sidecar that is Ready; 1 s of emptiness gives an own allocation back.
struct Scene {
    game: Game,
    sdk: LocalSdk,
    shim: Shim,
}

impl Scene {
    fn start() -> Self {
        Self::with(|builder| builder.set("EMPTY_READY_SECS", 1))
    }

    fn with(more: impl FnOnce(Builder) -> Builder) -> Self {
        let game = Game::open();
        game.reply_at("/metrics", Reply::text("m 0\n"));
        let sdk = LocalSdk::start(&[]);
        let mut shim = more(browser(&game)).sdk_port(sdk.port()).spawn();
        shim.wait_for_line(READY, SOON);
        Self { game, sdk, shim }
    }

    fn players(&self, count: u32) {
        self.game.reply_at("/metrics", Reply::text(format!("m {count}\n")));
    }

    /// Players have come, and the shim's own allocation shows and was read back.
    fn occupied(more: impl FnOnce(Builder) -> Builder) -> Self {
        let mut scene = Self::with(more);
        scene.players(2);
        scene.sdk.wait_for_state("Allocated", SOON);
        scene.shim.wait_for_line(ALLOCATED, SOON);
        scene
    }

    fn readings(&self, count: usize) {
        let scrapes = || self.game.requests().iter().filter(|request| request.path == "/metrics").count();
        let wanted = scrapes() + count + 1;
        wait::until_true("more readings", SOON, || scrapes() >= wanted);
    }

    fn assert_stays(&self, state: &str) {
        self.readings(15);
        assert_eq!(self.sdk.state(), state, "{}", self.sdk.calls());
    }

    /// A Fleet that shrinks would remove it.
    fn is_chosen(&self) -> bool {
        let body = self.sdk.get("/local/fleet-scale-down").body;
        body.parse::<Value>().expect("JSON")["chosen"].as_bool().expect("yes or no")
    }
}

fn browser(game: &Game) -> Builder {
    counting(sidecar(game), game).set("ALLOCATE_ON_PLAYERS", 1)
}

/// The methods of the calls that came by gRPC, the oldest first.
fn methods(sdk: &LocalSdk) -> Vec<String> {
    let calls: Value = sdk.calls().parse().expect("JSON");
    let calls = calls.as_array().expect("a list");
    let by_grpc = calls.iter().filter(|call| call["via"] == "grpc");
    by_grpc.map(|call| call["method"].as_str().expect("a name").to_owned()).collect()
}

fn count(sdk: &LocalSdk, method: &str) -> usize {
    methods(sdk).iter().filter(|called| *called == method).count()
}

/// The state is read right before the last call of this method.
fn assert_looked_before(sdk: &LocalSdk, method: &str) {
    let methods = methods(sdk);
    let at = methods.iter().rposition(|called| called == method).expect("a call");
    assert_eq!(methods[at - 1], "GetGameServer", "{methods:?}");
}

#[test]
fn players_on_a_ready_server_allocate_it_once_and_a_fleet_spares_it() {
    let mut scene = Scene::with(|builder| builder);
    scene.assert_stays("Ready");
    assert!(scene.is_chosen(), "nobody is on it");
    scene.players(1);
    scene.sdk.wait_for_state("Allocated", SOON);
    assert!(!scene.is_chosen());
    assert_looked_before(&scene.sdk, "Allocate");
    scene.assert_stays("Allocated");
    // Without AGONES_SHIM_EMPTY_READY_SECS it stays so.
    scene.players(0);
    scene.assert_stays("Allocated");
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (1, 1));
    stops_cleanly(&mut scene.shim);
    assert_eq!(scene.sdk.state(), "Shutdown");
}

#[test]
fn an_own_allocation_that_stays_empty_is_given_back_and_taken_again() {
    let mut scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1));
    scene.assert_stays("Allocated");
    scene.players(0);
    scene.sdk.wait_for_state("Ready", SOON);
    assert_looked_before(&scene.sdk, "Ready");
    assert!(scene.is_chosen());
    scene.assert_stays("Ready");
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (1, 2));
    scene.players(3);
    scene.sdk.wait_for_state("Allocated", SOON);
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (2, 2));
    stops_cleanly(&mut scene.shim);
}

#[test]
fn an_allocation_from_outside_is_never_given_back() {
    let mut scene = Scene::start();
    scene.sdk.post("/local/allocate", "");
    scene.players(2);
    scene.readings(3);
    scene.players(0);
    scene.assert_stays("Allocated");
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (0, 1));
    stops_cleanly(&mut scene.shim);
}

#[test]
fn an_own_allocation_that_is_allocated_again_from_outside_is_theirs() {
    let mut scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1));
    assert_eq!(scene.sdk.post("/local/allocate", "").status, 200);
    scene.players(0);
    scene.shim.wait_for_line(KEPT, SOON);
    scene.assert_stays("Allocated");
    assert_eq!(count(&scene.sdk, "Ready"), 1);
    assert_eq!(scene.shim.count_lines(KEPT), 1);
    stops_cleanly(&mut scene.shim);
}

#[test]
fn after_a_restart_the_allocation_is_kept_and_that_is_said_once() {
    let mut scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1));
    scene.shim.signal(Signal::SIGKILL);
    scene.players(0);
    scene.shim = browser(&scene.game).set("EMPTY_READY_SECS", 1).sdk_port(scene.sdk.port()).spawn();
    scene.shim.wait_for_line(KEPT, SOON);
    scene.shim.wait_for_line(READY, SOON);
    scene.assert_stays("Allocated");
    assert_eq!((count(&scene.sdk, "Ready"), scene.shim.count_lines(KEPT)), (1, 1));
    stops_cleanly(&mut scene.shim);
}

#[test]
fn a_player_who_joins_in_the_moment_of_the_return_wins() {
    let mut scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1));
    scene.players(0);
    scene.shim.wait_for_line(GIVEN_BACK, SOON);
    scene.players(1);
    wait::until_true("another Allocate()", SOON, || count(&scene.sdk, "Allocate") == 2);
    scene.sdk.wait_for_state("Allocated", SOON);
    scene.assert_stays("Allocated");
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (2, 2), "no flapping");
    stops_cleanly(&mut scene.shim);
}

#[test]
fn the_hook_runs_for_others_allocations_alone() {
    let running = "was allocated, running the hook";
    let mut scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1).set("ALLOCATED_HOOK", "true"));
    scene.assert_stays("Allocated");
    scene.shim.assert_no_line(running);
    scene.sdk.post("/local/allocate", "");
    scene.shim.wait_for_line(running, SOON);
    stops_cleanly(&mut scene.shim);
}

#[test]
fn an_sdk_server_that_dies_with_allocate_in_its_queue_is_followed_by_one_that_gets_it() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 2\n"));
    let mut sdk = LocalSdk::start(&["--batch-ms", "2000"]);
    let mut shim = browser(&game).set("EMPTY_READY_SECS", 1).sdk_port(sdk.port()).spawn();
    wait::until_true("Allocate()", SOON, || count(&sdk, "Allocate") == 1);
    let address = sdk.grpc().to_string();
    sdk.process().signal(Signal::SIGKILL);
    drop(sdk);
    let next = LocalSdk::start_at(&address, &[]);
    next.wait_for_state("Allocated", secs(30));
    assert_eq!(count(&next, "Allocate"), 1);
    stops_cleanly(&mut shim);
}

/// As the docs say it: the look for what came before the write sees the write.
#[test]
fn with_a_batch_time_that_is_too_short_an_own_allocation_is_never_given_back() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 2\n"));
    let sdk = LocalSdk::start(&["--batch-ms", "50"]);
    let builder = browser(&game).set("EMPTY_READY_SECS", 1).set("ALLOCATED_HOOK", "true");
    let mut shim = builder.sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Allocated", SOON);
    shim.wait_for_line(KEPT, SOON);
    shim.wait_for_line("was allocated, running the hook", SOON);
    game.reply_at("/metrics", Reply::text("m 0\n"));
    let scene = Scene { game, sdk, shim };
    scene.assert_stays("Allocated");
    assert_eq!((count(&scene.sdk, "Allocate"), count(&scene.sdk, "Ready")), (1, 1));
}

#[test]
fn with_idle_shutdown_an_own_allocation_ends_as_another_does() {
    let mut scene = Scene::occupied(|builder| builder.set("IDLE_SHUTDOWN_SECS", 1));
    scene.players(0);
    scene.shim.wait_for_line("reason=idle", SOON);
    scene.shim.expect_code(0, STOP);
    assert_eq!(scene.sdk.state(), "Shutdown");
}

#[test]
fn nothing_is_read_while_nothing_changes() {
    let scene = Scene::occupied(|builder| builder.set("EMPTY_READY_SECS", 1));
    for (players, state) in [(2, "Allocated"), (0, "Ready")] {
        scene.players(players);
        scene.sdk.wait_for_state(state, SOON);
        // What was published is read back first, for a second at most.
        let is_quiet = (0..5).any(|_| {
            let before = count(&scene.sdk, "GetGameServer");
            scene.readings(15);
            count(&scene.sdk, "GetGameServer") == before
        });
        assert!(is_quiet, "{state}: {:?}", methods(&scene.sdk));
    }
}
