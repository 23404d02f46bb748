//! SECURITY.md: secrets are shown nowhere, and no privilege is needed.

use crate::host::{NOBODY, possible};
use crate::scene::*;
use crate::support::shim::shim;
use crate::support::{Game, Port, Reply, ScriptedSdk, client, proc, secs, wait};

/// The secrets of one test and all that was said meanwhile.
struct Secrets(Vec<String>);

impl Secrets {
    #[track_caller]
    fn assert_hidden_in(&self, what: &str, text: &str) {
        assert!(!text.is_empty(), "{what} says nothing at all");
        for secret in &self.0 {
            assert!(!text.contains(secret), "{what} shows {secret}:\n{text}");
        }
    }
}

/// What Basic authorization carried, for the same search.
fn authorizations(game: &Game) -> Vec<String> {
    let heads = game.requests().into_iter().map(|request| request.head);
    heads.filter_map(|head| Some(head.split_once("Basic ")?.1.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn secrets_reach_no_log_no_page_and_no_command() {
    for format in ["text", "json"] {
        let game = Game::open();
        game.reply_at("/metrics", Reply::text("m 7\n"));
        let sdk = ScriptedSdk::start();
        sdk.set_counter("players", 0, 100);
        let status = Port::reserve();
        let url = |password: &str, path: &str| format!("http://ann:{password}@{}{path}", game.addr());
        let settings = [
            ("READY_HTTP", url("hunter2ready", "/health")),
            ("LIVE_HTTP", url("hunter2%40live", "/live")),
            ("COUNTER_METRICS_URL", url("hunter2metrics", "/metrics")),
            ("STOP_HOOK", "/bin/false --password hunter2hook".to_owned()),
            ("STATUS_ADDR", status.addr().to_string()),
            ("LOG", "trace".to_owned()),
            ("LOG_FORMAT", format.to_owned()),
            // A round for each answer below, and no end.
            ("LIVE_FAILURE_THRESHOLD", "1000".to_owned()),
        ];
        let with = |builder| {
            let builder = settings
                .iter()
                .fold(builder, |builder: crate::support::shim::Builder, (name, value)| builder.set(name, value));
            builder.sdk(&sdk).var("GAME_TOKEN", "hunter2token")
        };
        let mut sidecar = with(counting(sidecar(&game), &game).set("READY_TCP", game.port())).spawn();
        sdk.wait_for_call("UpdateCounter", SOON);
        more_beats(&sdk, 3);
        let mut secrets = Secrets(authorizations(&game));
        assert!(secrets.0.len() > 3, "the passwords were sent: {:?}", secrets.0);
        secrets.0.push("hunter2".to_owned());

        for (reply, reason) in [(Reply::status(401), "HTTP 401"), (Reply::text("m NaN\n").with_status(503), "HTTP 503")]
        {
            game.reply_at("/live", reply.clone()).reply_at("/metrics", reply);
            sidecar.wait_for_line(reason, SOON);
        }
        for page in ["/status", "/metrics", "/readyz", "/healthz"] {
            let answer = client::get(status.addr(), page, secs(5)).expect("the endpoint answers");
            secrets.assert_hidden_in(page, &(answer.head + &answer.body));
        }
        for command in [&["status"][..], &["check"], &["probe"], &["sdk", "gameserver"]] {
            let said = with(counting(shim(), &game).set("READY_TCP", game.port())).args(command).run(SOON);
            secrets.assert_hidden_in(command[0], &(said.stdout + &said.stderr));
        }
        sidecar.signal(nix::sys::signal::Signal::SIGTERM);
        sidecar.expect_code(0, STOP);
        secrets.assert_hidden_in("the log", &sidecar.output().to_string());
        assert!(sidecar.count_lines("TRACE") + sidecar.count_lines("debug") > 0, "the log was at its most talkative");
    }
}

/// What is wrong with a URL or a command is said without what may be a password in it.
#[test]
fn no_error_shows_a_secret() {
    for (name, value) in [
        ("READY_HTTP", "https://ann:hunter2@host/"),
        ("READY_HTTP", "http://ann:hunter2/more@host/"),
        ("READY_HTTP", "http://ann:hunter2,more@host/,http://host/"),
        ("READY_HTTP", "ann:hunter2@host"),
        ("COUNTER_METRICS_URL", "http://ann:hunter2%zz@host/"),
        ("STOP_HOOK", "save --password 'hunter2"),
        ("STOP_HOOK", "RCON_PASSWORD=hunter2 save \\"),
    ] {
        for command in [&[][..], &["check"], &["--", "/bin/true"]] {
            let end = shim().set("READY_TCP", 1).set(name, value).args(command).run(SOON);
            assert_eq!(end.code, 78, "{name}={value}: {end:?}");
            Secrets(vec!["hunter2".to_owned()]).assert_hidden_in(name, &(end.stdout + &end.stderr));
        }
    }
}

/// The wrapper's own words name its program and nothing that stands behind it.
#[test]
fn the_arguments_of_the_child_are_its_own() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let args = ["--", "sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done", "--password=hunter2"];
    let mut shim = sidecar(&game).sdk(&sdk).set("LOG", "trace").var("PATH", "/usr/bin:/bin").args(args).spawn();
    shim.wait_for_line("up", SOON);
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
    let refused = sidecar(&game).without_sdk().args(["--", "/nowhere/game", "--password=hunter2"]).run(SOON);
    assert_eq!(refused.code, 127);
    let secrets = Secrets(vec!["hunter2".to_owned()]);
    secrets.assert_hidden_in("the log", &shim.output().to_string());
    secrets.assert_hidden_in("the refusal", &refused.stderr);
}

/// Nobody, no capabilities, no new privileges, no file of any size, no core, few descriptors.
#[test]
fn a_wrapper_needs_no_privileges_and_writes_no_file() {
    let mut prefix = if proc::we_are_root() { NOBODY.to_vec() } else { vec!["setpriv", "--no-new-privs"] };
    prefix.extend(["prlimit", "--fsize=0:0", "--core=0:0", "--memlock=0:0", "--nofile=48:48", "--"]);
    let Some(prefix) = possible(&prefix) else { return };
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let status = Port::reserve();
    let script = "(sleep 0.1 &); trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done";
    let mut shim = counting(sidecar(&game), &game)
        .sdk(&sdk)
        .set("STATUS_ADDR", status.addr())
        .set("STOP_HOOK", "/bin/true")
        .var("PATH", "/usr/bin:/bin")
        .args(["--", "sh", "-c", script])
        .behind(prefix)
        .spawn();
    shim.wait_for_line("up", SOON);
    sdk.wait_for_call("UpdateCounter", SOON);
    let kernel = std::fs::read_to_string(format!("/proc/{}/status", shim.pid())).expect("it runs");
    assert!(kernel.contains("NoNewPrivs:\t1"), "{kernel}");
    if proc::we_are_root() {
        assert!(
            kernel.contains("CapEff:\t0000000000000000") && kernel.contains("CapBnd:\t0000000000000000"),
            "{kernel}"
        );
    }
    assert_eq!(client::get(status.addr(), "/readyz", secs(5)).expect("it answers").status, 200);
    wait::until_true("the orphan's end", SOON, || proc::children(shim.pid()).len() == 1);
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
    assert_eq!(sdk.state(), "Shutdown");
}
