//! Short lives: each is stopped at a random moment, in the middle of a random fault, and Shutdown() still lands.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::dice::Dice;
use crate::support::{Answer, Game, Mode, Proxy, Reply, ScriptedSdk, millis, secs, shim, wait};
use crate::world::{GAME, INTERVAL, Kind};

/// What is wrong when the signal comes; healed within a second.
const TROUBLES: [&str; 8] = ["nothing", "sdk away", "link hangs", "link cut", "sdk hangs", "sdk fails", "game", "slow"];

/// Until the end; tells what there was.
pub fn run(seed: u64, end: Instant) -> String {
    let mut dice = Dice::new(seed);
    let (mut lives, mut delivered, mut never) = (0, 0, 0);
    while Instant::now() < end {
        lives += 1;
        if life(&mut dice, lives) {
            delivered += 1;
        } else {
            never += 1;
        }
    }
    format!(
        "\nLives: {lives} stopped at a random moment: {delivered} with Shutdown() landed, {never} before they had met \
         the SDK server"
    )
}

fn life(dice: &mut Dice, number: u32) -> bool {
    let kind = dice.pick(&[Kind::Sidecar, Kind::Wrapper]);
    let state = dice.pick(&["Scheduled", "Scheduled", "Creating", "Ready", "Allocated", "Reserved"]);
    let trouble = dice.pick(&TROUBLES);
    let (before, lasts) = (dice.millis(0, 800), dice.millis(0, 1000));
    let mut sdk = ScriptedSdk::start();
    sdk.set_state(state);
    let mut proxy = Proxy::in_front_of(sdk.addr());
    let mut game = if dice.once_in(4) { Game::closed() } else { Game::open() };
    let mut builder = shim()
        .sdk_port(proxy.port())
        .set("READY_HTTP", game.url("/"))
        .set("HEALTH_INTERVAL_SECS", INTERVAL.as_secs_f64())
        .set("LIVE_FAILURE_THRESHOLD", 1000)
        .set("SDK_CALL_TIMEOUT_SECS", "0.5");
    if kind == Kind::Wrapper {
        builder = builder.var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", GAME]);
    }
    let mut shim = builder.spawn();
    shim.wait_for_line(if kind == Kind::Wrapper { "the game is up" } else { "agones-shim has started" }, secs(20));
    wait::let_pass(before);
    match trouble {
        "sdk away" => sdk.close(),
        "link hangs" => proxy.set(Mode::Hang),
        "link cut" => proxy.set(Mode::Cut),
        "sdk hangs" => drop(sdk.always_all(&Answer::Hang(secs(60)))),
        "sdk fails" => drop(sdk.always_all(&Answer::unavailable())),
        "game" => game.die(),
        "slow" => drop(game.reply(Reply::status(200).after(millis(700)))),
        _ => {}
    }
    wait::let_pass(dice.millis(0, 100));
    let connected = shim.count_lines("connected to the SDK server") > 0;
    shim.signal(Signal::SIGTERM);
    let sent = Instant::now();
    wait::let_pass(lasts);
    sdk.always_all(&Answer::Ok);
    sdk.open();
    proxy.set(Mode::Pass);
    let code = shim.expect_exit(secs(20));
    let story = format!("life {number}: {kind:?}, {state}, {trouble} {lasts:?} from {before:?} on");
    if code != 0 {
        shim.fail(&format!("{story}: exit code {code}"));
    }
    for ready in sdk.calls_of("Ready") {
        if !["Scheduled", "Creating"].contains(&ready.detail.as_str()) {
            shim.fail(&format!("{story}: Ready() in the state {}", ready.detail));
        }
    }
    let landed = sdk.state() == "Shutdown";
    if connected && !landed {
        shim.fail(&format!("{story}: Shutdown() was lost; state {}; {}", sdk.state(), sdk.story()));
    }
    let took = shim.exited_at().expect("it has ended").saturating_duration_since(sent);
    if took > lasts + LONGEST {
        shim.fail(&format!("{story}: it took {took:?} to end"));
    }
    landed
}

/// From the end of a fault to the end of a stop: a call's deadline or two, a new connection, the state that shows.
const LONGEST: Duration = Duration::from_secs(6);
