//! Ports, hosts, URLs, proxies and injected variables: what is connected to, and what is refused at the start.

use crate::scene::*;
use crate::support::{Game, Port, Reply, ScriptedSdk, secs, shim, wait};

/// Case 22: a bare port and `localhost` mean loopback, IPv4 or IPv6, whichever accepts.
#[test]
fn a_bare_port_and_localhost_find_either_loopback() {
    for v6 in [false, true] {
        // The port of the other family is reserved as well, so that nobody else answers there.
        let (port, _twin) = loop {
            let v4 = Port::reserve();
            match v4.twin_v6() {
                Some(twin) if v6 => break (twin, v4),
                Some(twin) => break (v4, twin),
                None => {}
            }
        };
        let mut game = Game::closed_on(port);
        game.listen();
        let number = game.port();
        for settings in [
            vec![("READY_TCP", number.to_string())],
            vec![("READY_TCP", format!("localhost:{number}"))],
            vec![("READY_HTTP", format!("http://localhost:{number}/"))],
        ] {
            let sdk = ScriptedSdk::start();
            let mut shim = settings.iter().fold(shim(), |shim, (name, value)| shim.set(name, value)).sdk(&sdk).spawn();
            shim.wait_for_line(READY, SOON);
            stops_cleanly(&mut shim);
        }
    }
}

/// Case 23.
#[test]
fn a_bad_address_is_an_error_at_the_start_that_names_variable_and_item() {
    for bad in ["::1:8085", "host:", ":80", "70000", "0", "a b:1", "8085,,", "-1", "8085 8086", "[::1]", "[::1:80", "x"]
    {
        let finished = shim().set("READY_TCP", bad).run(SOON);
        assert_eq!(finished.code, 78, "{bad:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("AGONES_SHIM_READY_TCP"), "{bad:?}: {}", finished.stderr);
    }
    for bad in
        ["127.0.0.1:80", "https://127.0.0.1/", "ftp://x/", "http://", "http://:80/", "http://h:99999/", "/health"]
    {
        let finished = shim().set("READY_HTTP", bad).run(SOON);
        assert_eq!(finished.code, 78, "{bad:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("AGONES_SHIM_READY_HTTP"), "{bad:?}: {}", finished.stderr);
    }
}

/// All errors at once, and no side effect before them: not even a connection.
#[test]
fn all_errors_are_reported_at_once_before_anything_happens() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let finished = sidecar(&game)
        .sdk(&sdk)
        .set("READY_HTTP", "https://127.0.0.1/")
        .set("PROBE_TIMEOUT_SECS", "5s")
        .set("LIVE_FAILURE_THRESHOLD", "many")
        .set("COUNTER_NAME", "players")
        .set("SDK", "maybe")
        .run(SOON);
    assert_eq!(finished.code, 78);
    for name in ["READY_HTTP", "PROBE_TIMEOUT_SECS", "LIVE_FAILURE_THRESHOLD", "COUNTER_METRIC", "SDK"] {
        assert!(finished.stderr.contains(&format!("AGONES_SHIM_{name}")), "{name}: {}", finished.stderr);
    }
    assert!(game.connections().is_empty());
    assert!(sdk.calls().is_empty());
}

/// Case 26, with the real binary for what is never a number of seconds.
#[test]
fn a_bad_number_of_seconds_is_an_error_and_never_a_default() {
    for name in [
        "READY_INTERVAL_SECS",
        "READY_TIMEOUT_SECS",
        "PROBE_TIMEOUT_SECS",
        "HEALTH_INTERVAL_SECS",
        "COUNTER_INTERVAL_SECS",
        "SDK_CONNECT_TIMEOUT_SECS",
        "SDK_CALL_TIMEOUT_SECS",
        "SHUTDOWN_TIMEOUT_SECS",
        "STOP_TIMEOUT_SECS",
        "STOP_HOOK_TIMEOUT_SECS",
    ] {
        for bad in ["5s", "-1", "1e9", "5,5", "\u{665}", "nan", "inf", "0x5", "."] {
            // `check` reads all of them, the sidecar only its own.
            let finished = shim().set("READY_TCP", "8085").set(name, bad).arg("check").run(SOON);
            assert_eq!(finished.code, 78, "{name}={bad:?}: {}", finished.stderr);
            let full = format!("AGONES_SHIM_{name}");
            assert!(finished.stderr.contains(&full), "{name}={bad:?}: {}", finished.stderr);
            assert!(!finished.stderr.contains("panicked"), "{name}={bad:?}: {}", finished.stderr);
        }
    }
}

/// Case 24.
#[test]
fn proxy_variables_are_ignored() {
    let game = Game::open();
    game.reply_at("/metrics", Reply::text("m 7\n"));
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    // A proxy that would be noticed, instead of one that refuses.
    let proxy = Game::open();
    proxy.reply(Reply::status(502));
    let mut builder = counting(sidecar(&game), &game).set("READY_HTTP", game.url("/health")).sdk(&sdk);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "grpc_proxy", "https_proxy", "HTTPS_PROXY"] {
        builder = builder.var(name, format!("http://{}", proxy.addr()));
    }
    let mut shim = builder.var("NO_PROXY", "").var("no_proxy", "").spawn();
    shim.wait_for_line(READY, SOON);
    sdk.wait_for_call("UpdateCounter", SOON);
    more_beats(&sdk, 3);
    stops_cleanly(&mut shim);
    assert!(proxy.connections().is_empty(), "something went through the proxy");
}

/// Case 25.
#[test]
fn what_kubernetes_injects_for_a_service_of_this_name_is_ignored_silently() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .sdk(&sdk)
        .set("PORT", "tcp://10.0.0.1:80")
        .set("SERVICE_HOST", "10.0.0.1")
        .set("SERVICE_PORT", "80")
        .set("SERVICE_PORT_HTTP", "80")
        .set("PORT_80_TCP", "tcp://10.0.0.1:80")
        .set("PORT_80_TCP_ADDR", "10.0.0.1")
        .set("PORT_80_TCP_PORT", "80")
        .set("PORT_80_TCP_PROTO", "tcp")
        .spawn();
    shim.wait_for_line(READY, SOON);
    for name in ["AGONES_SHIM_PORT", "AGONES_SHIM_SERVICE"] {
        shim.assert_no_line(name);
    }
    stops_cleanly(&mut shim);
}

#[test]
fn a_misspelt_variable_is_a_warning_with_the_nearest_name() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).sdk(&sdk).set("READY_TIMEOUT_SEC", "5").spawn();
    let line = shim.wait_for_line("AGONES_SHIM_READY_TIMEOUT_SEC", SOON).text;
    assert!(line.contains("AGONES_SHIM_READY_TIMEOUT_SECS"), "{line}");
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .sdk(&sdk)
        .set("READY_HTTP", "")
        .set("PROBE_TIMEOUT_SECS", "")
        .set("COUNTER_NAME", "")
        .var("AGONES_SDK_GRPC_HOST", "")
        .spawn();
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
}

/// `.invalid` never resolves; a resolver that is slow must not hold up anything else.
#[test]
fn a_name_that_does_not_resolve_is_a_failed_probe() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game)
        .set("LIVE_TCP", format!("nowhere.invalid:{}", game.port()))
        .set("LIVE_FAILURE_THRESHOLD", "1000")
        .set("PROBE_TIMEOUT_SECS", "0.5")
        .sdk(&sdk)
        .spawn();
    shim.wait_for_line(READY, SOON);
    let line = shim.wait_for_line(LIVENESS_FAILED, SOON).text;
    assert!(line.contains("nowhere.invalid"), "{line}");
    let threads = shim.threads();
    wait::let_pass(secs(3));
    assert!(shim.threads() <= threads + 2, "{threads} threads, then {}", shim.threads());
    stops_cleanly(&mut shim);
}

/// One JSON line per event, with Agones' own keys, when nobody says otherwise and stderr is no terminal.
#[test]
fn logs_are_json_lines_where_stderr_is_no_terminal() {
    let game = Game::open();
    let sdk = ScriptedSdk::start();
    let mut shim = sidecar(&game).unset("AGONES_SHIM_LOG_FORMAT").sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    stops_cleanly(&mut shim);
    for line in shim.output().lines() {
        let text = line.text;
        assert!(text.starts_with('{') && text.ends_with('}'), "{text}");
        for key in ["\"time\":", "\"severity\":", "\"message\":"] {
            assert!(text.contains(key), "{key} is missing in {text}");
        }
    }
}

#[test]
fn stdout_stays_empty() {
    let (_game, _sdk, mut shim) = ready();
    stops_cleanly(&mut shim);
    let written = shim.output().lines();
    let on_stdout = written.iter().find(|line| line.stream == crate::support::output::Stream::Stdout);
    assert!(on_stdout.is_none(), "{on_stdout:?}");
}
