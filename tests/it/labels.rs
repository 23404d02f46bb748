//! Labels and annotations: what the GameServer shows at Ready and after an outage, and what is refused.

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::shim::Builder;
use crate::support::{Answer, Game, ScriptedSdk, secs, shim, wait};

const REJECTED: &str = "rejects a label or an annotation";

fn labelled(game: &Game) -> Builder {
    sidecar(game)
        .set("LABELS", "map=dust, mode=ffa")
        .set("ANNOTATIONS", "motd=\"hello, world\",json=\"{\\\"a\\\":[1,2]}\"")
}

#[test]
fn the_gameserver_shows_them_once_it_is_ready_and_not_before() {
    let mut game = Game::closed();
    let sdk = LocalSdk::start(&[]);
    let mut shim = labelled(&game).sdk_port(sdk.port()).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    shim.wait_for_line(WAITING, SOON);
    assert!(!sdk.calls().contains("SetLabel"), "{}", sdk.calls());
    game.listen();
    sdk.wait_for_state("Ready", SOON);
    let wanted = [
        r#""agones.dev/sdk-map":"dust""#,
        r#""agones.dev/sdk-mode":"ffa""#,
        r#""agones.dev/sdk-motd":"hello, world""#,
        r#""agones.dev/sdk-json":"{\"a\":[1,2]}""#,
    ];
    wait::until_true("labels and annotations", SOON, || {
        let body = sdk.get("/gameserver").body;
        wanted.iter().all(|wanted| body.contains(wanted))
    });
    shim.assert_no_line(REJECTED);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.calls().matches("SetLabel").count(), 2, "{}", sdk.calls());
}

#[test]
fn after_an_outage_only_what_is_lacking_is_set_again() {
    let game = Game::open();
    let mut sdk = ScriptedSdk::start();
    sdk.set_label("agones.dev/sdk-mode", "ffa").next("SetLabel", Answer::Ignored);
    let mut shim = labelled(&game).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    sdk.wait_for_count("SetAnnotation", 2, SOON);
    more_beats(&sdk, 5);
    assert_eq!(details(&sdk, "SetLabel"), ["map=dust"]);
    sdk.close();
    shim.wait_for_line(SDK_LOST, SOON);
    sdk.open();
    sdk.wait_for_count("SetLabel", 2, SOON);
    more_beats(&sdk, 5);
    assert_eq!(details(&sdk, "SetLabel"), ["map=dust", "map=dust"]);
    assert_eq!(details(&sdk, "SetAnnotation"), ["motd=hello, world", r#"json={"a":[1,2]}"#]);
    stops_cleanly(&mut shim);
}

fn details(sdk: &ScriptedSdk, method: &str) -> Vec<String> {
    sdk.calls_of(method).into_iter().map(|call| call.detail).collect()
}

#[test]
fn one_that_is_rejected_is_one_warning_and_nothing_else_notices() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let refusal = Answer::Error(grpcio::RpcStatusCode::INVALID_ARGUMENT, "invalid label key \"map\"".to_owned());
    sdk.always("SetLabel", refusal).always("SetAnnotation", Answer::unimplemented());
    let mut shim = labelled(&game).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    sdk.wait_for_count("SetAnnotation", 2, SOON);
    more_beats(&sdk, 10);
    for (method, warning) in [("SetLabel", "kind=label key=map"), ("SetAnnotation", "kind=annotation key=motd")] {
        sdk.assert_count(method, 2);
        let line = shim.wait_for_line(warning, SOON).text;
        assert!(line.contains(REJECTED) && line.contains("error="), "{line}");
    }
    assert_eq!(shim.count_lines(REJECTED), 4, "one each");
    stops_cleanly(&mut shim);
}

#[test]
fn a_key_that_agones_would_never_get_rid_of_is_an_error_at_start() {
    let end = shim().set("READY_TCP", 7777).set("LABELS", "example.com/map=dust,x=de dust").run(secs(10));
    assert_eq!(end.code, 78, "{}", end.stderr);
    for line in [
        "agones-shim: AGONES_SHIM_LABELS: \"example.com/map=dust\" has a / in its key: Agones puts agones.dev/sdk- in front, and one is all",
        "agones-shim: AGONES_SHIM_LABELS: \"x=de dust\" is not a label: its value has ' ' in it, and letters, digits, - _ . are allowed (only an annotation takes any value)",
    ] {
        assert!(end.stderr.lines().any(|found| found == line), "{line}\n{}", end.stderr);
    }
}
