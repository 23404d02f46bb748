//! `make demo`, as a newcomer meets it: it shows what it promises, and whenever it is stopped nothing is left.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::shim::{Builder, Shim};
use crate::support::wait::poll;
use crate::support::{client, proc, secs};

/// The demo as cargo builds it; `None` in a run that tests another binary than cargo's.
fn demo() -> Option<Builder> {
    if std::env::var_os("SHIM_UNDER_TEST").is_some() {
        eprintln!("skipped: the demo runs what cargo built, not SHIM_UNDER_TEST");
        return None;
    }
    // `cargo test --test it` builds no examples; where they are built already this takes no time.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--example=demo", "--example=demo_game"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.expect("cargo runs").success(), "the demo does not build");
    Some(Builder::of(demo_path()))
}

fn demo_path() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_agones-shim")).parent().expect("it is in a directory");
    target.join("examples/demo")
}

/// Waits for its end; everything that it had started has ended too.
#[track_caller]
fn expect_clean_end(demo: &mut Shim, started: &[i32], within: Duration) -> i32 {
    let code = demo.expect_exit(within);
    for &pid in started {
        if poll(secs(1), || (!proc::is_alive(pid)).then_some(())).is_none() {
            demo.fail(&format!("process {pid}, which the demo had started, is still there"));
        }
    }
    code
}

#[test]
fn it_shows_ready_players_and_shutdown_and_leaves_nothing_running() {
    let Some(demo) = demo() else { return };
    let mut demo = demo.var("DEMO_SECS", "12").spawn();
    let first = demo.wait_for_line(" | ", secs(30)).text;
    demo.wait_for_line("GameServer Ready", secs(30));
    let address =
        first.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address comes first");
    let page = client::get(address.parse().expect("an address"), "/", secs(5)).expect("the page is there");
    assert!(page.body.contains("data-from=\"local-sdk\""), "{}", page.body);
    let started = proc::descendants(demo.pid());
    assert_eq!(started.len(), 3, "SDK server, game and shim");
    demo.wait_for_line("GameServer Ready, 3 players", secs(30));
    demo.wait_for_line("GameServer Shutdown", secs(60));
    demo.wait_for_line("saving the world", secs(30));
    assert_eq!(expect_clean_end(&mut demo, &started, secs(30)), 0);
}

#[test]
fn ctrl_c_drains_it() {
    let Some(demo) = demo() else { return };
    let mut demo = demo.var("DEMO_SECS", "600").spawn();
    demo.wait_for_line("GameServer Ready", secs(30));
    let started = proc::descendants(demo.pid());
    demo.signal(Signal::SIGINT);
    assert_eq!(expect_clean_end(&mut demo, &started, secs(30)), 0);
    assert_eq!(demo.count_lines("GameServer Shutdown"), 1);
}

#[test]
fn interrupted_in_any_phase_it_leaves_nothing_running() {
    let Some(_) = demo() else { return };
    for (phase, signal) in [
        ("sdk |", Signal::SIGINT),
        ("loading the map", Signal::SIGTERM),
        ("game | open on", Signal::SIGHUP),
        ("draining:", Signal::SIGINT),
    ] {
        let Some(demo) = demo() else { return };
        let mut demo = demo.var("DEMO_SECS", "6").spawn();
        demo.wait_for_line(phase, secs(60));
        let started = proc::descendants(demo.pid());
        assert!(!started.is_empty(), "{phase}: nothing runs");
        demo.signal(signal);
        expect_clean_end(&mut demo, &started, secs(40));
    }
}

#[test]
fn it_says_what_could_not_be_started() {
    let Some(_) = demo() else { return };
    // A copy elsewhere finds no shim beside it.
    let elsewhere = std::env::temp_dir().join(format!("agones-shim-demo-{}", std::process::id()));
    let examples = elsewhere.join("examples");
    std::fs::create_dir_all(&examples).expect("the temporary directory can be written");
    let copy = examples.join("demo");
    std::fs::copy(demo_path(), &copy).expect("the demo can be read");
    let run = Builder::of(&copy).run(secs(20));
    std::fs::remove_dir_all(&elsewhere).expect("it was made above");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("agones-shim: No such file"), "{}", run.stdout);
}
