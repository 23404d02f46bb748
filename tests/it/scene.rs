//! What the sidecar tests share: how a sidecar is started in them, and the words by which its lines are known.
//!
//! The words are here once, so that a better wording costs one line. Times are scaled down by settings; a
//! deadline is about three times what is documented.

use std::time::Duration;

use crate::support::shim::Builder;
use crate::support::{Game, ScriptedSdk, Shim, millis, secs, shim};

/// A wait for something that should come at once, on a machine that is busy with other things.
pub const SOON: Duration = secs_const(10);
/// The longest that an orderly stop can take at the default settings, and some.
pub const STOP: Duration = secs_const(20);

pub const CONNECTED: &str = "connected to the SDK server";
pub const PROBE_ONLY: &str = "running probe-only";
pub const NO_SDK: &str = "NO AGONES SDK SERVER";
pub const SDK_LOST: &str = "the SDK server is lost";
pub const SDK_BACK: &str = "the SDK server is back";
pub const FOREIGN: &str = "ANOTHER POD'S SDK SERVER";
pub const SERVED: &str = "every readiness probe has passed";
pub const READY: &str = "the GameServer is ready";
pub const READY_PROBE_ONLY: &str = "ready, with no SDK server to tell";
pub const READY_FAILED: &str = "Ready() failed";
pub const READY_TIMED_OUT: &str = "did not become ready within AGONES_SHIM_READY_TIMEOUT_SECS";
pub const NOT_CALLING_READY: &str = "not calling Ready()";
pub const WAITING: &str = "waiting for the game server";
pub const LIVENESS_FAILED: &str = "liveness failed";
pub const LIVENESS_BACK: &str = "liveness is back";
pub const LIVENESS_LOST: &str = "the game server is gone";
pub const HEALTH_DISABLED: &str = "spec.health.disabled is set";
pub const INTERVAL_TOO_LONG: &str = "AGONES_SHIM_HEALTH_INTERVAL_SECS below";
pub const SCRAPE_FAILED: &str = "no reading for the Counter";
pub const SCRAPE_WORKS: &str = "the Counter has a reading again";
pub const CLAMPED: &str = "above the Counter's capacity";
pub const COUNTER_REJECTED: &str = "the SDK server rejects the Counter";
pub const LIST_REJECTED: &str = "the SDK server rejects the List";
pub const LIST_FULL: &str = "the List is full";
pub const STOPPING: &str = "stopping";
pub const STOP_REPEATED: &str = "stop signal repeated";
pub const SHUTDOWN_LANDED: &str = "Shutdown() has landed";
pub const SHUTDOWN_POINTLESS: &str = "not waiting for Shutdown()";
pub const SHUTDOWN_UNDELIVERED: &str = "not confirmed within AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS";
pub const SHUTDOWN_SDK_LEFT: &str = "the SDK server has left";
pub const NEVER_REACHED: &str = "no SDK server was ever reached";

const fn secs_const(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A sidecar beside this game, by TCP, with a beat and a liveness round every 0.2 s.
pub fn sidecar(game: &Game) -> Builder {
    shim().set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", "0.2")
}

/// The same, by HTTP.
pub fn http_sidecar(game: &Game) -> Builder {
    shim().set("READY_HTTP", game.url("/health")).set("HEALTH_INTERVAL_SECS", "0.2")
}

/// The same, publishing the metric `m` as Counter `players`, read every 0.2 s.
pub fn counting(builder: Builder, game: &Game) -> Builder {
    builder
        .set("COUNTER_NAME", "players")
        .set("COUNTER_METRICS_URL", game.url("/metrics"))
        .set("COUNTER_METRIC", "m")
        .set("COUNTER_INTERVAL_SECS", "0.2")
}

/// An open game, an SDK server and a sidecar that is Ready.
pub fn ready() -> (Game, ScriptedSdk, Shim) {
    ready_with(|builder| builder)
}

/// The same with further settings.
pub fn ready_with(settings: impl FnOnce(Builder) -> Builder) -> (Game, ScriptedSdk, Shim) {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = settings(sidecar(&game).sdk(&sdk)).spawn();
    shim.wait_for_line(READY, SOON);
    (game, sdk, shim)
}

/// `count` beats from now on.
#[track_caller]
pub fn more_beats(sdk: &ScriptedSdk, count: usize) {
    sdk.wait_for_count("Health", sdk.count("Health") + count, SOON);
}

/// No beat for `time`, but for one that was under way.
#[track_caller]
pub fn no_more_beats(sdk: &ScriptedSdk, time: Duration) {
    crate::support::wait::let_pass(millis(100));
    let before = sdk.count("Health");
    crate::support::wait::let_pass(time);
    let after = sdk.count("Health");
    assert_eq!(before, after, "beats go on; {}", sdk.story());
}

/// Stops it by SIGTERM and waits for a clean end.
#[track_caller]
pub fn stops_cleanly(shim: &mut Shim) {
    shim.signal(nix::sys::signal::Signal::SIGTERM);
    shim.expect_code(0, STOP);
}

/// A fault that has to last longer than `secs` documented seconds.
pub fn beyond(documented: u64) -> Duration {
    secs(documented * 3)
}
