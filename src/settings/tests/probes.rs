//! Whole environments: what readiness and liveness can be told by.

use super::super::Probe;
use super::environments::*;
use super::*;

#[test]
fn a_readiness_probe_is_required_of_a_shim_alone() {
    let none = "no readiness probe is set: for example AGONES_SHIM_READY_TCP=7777 (agones-shim --help)";
    // An empty variable counts as unset, and liveness alone is not enough.
    let variables = environment(&[("AGONES_SHIM_READY_TCP", ""), ("AGONES_SHIM_LIVE_TCP", "7777")]);
    assert_eq!(lines(sidecar(variables.clone())), [none]);
    assert_eq!(lines(wrapper(variables.clone())), [none]);
    assert!(probe(variables).is_ok());
    assert!(sdk([]).is_ok());
    assert!(status([]).is_ok());
    assert_eq!(
        lines(probe([])),
        ["AGONES_SHIM_LIVE_TCP: is not set, nor is any other probe: there is nothing to probe (write the game's port)"]
    );
    for begun in ["TEXT", "LOG", "FILE"] {
        let (settings, _) = probe(environment(&[(&format!("AGONES_SHIM_READY_{begun}"), "up")])).expect("a wrapper's");
        assert!(settings.probes.is_empty());
    }
}

#[test]
fn setting_any_liveness_list_replaces_the_whole_set() {
    let ready = ("AGONES_SHIM_READY_HTTP", "http://localhost/");
    let shown = |settings: Settings| settings.liveness.probes.iter().map(Probe::to_string).collect::<Vec<_>>();
    assert_eq!(shown(wrapper_settings(&[ready])), ["tcp localhost:7777", "http http://localhost/"]);
    assert_eq!(shown(wrapper_settings(&[ready, ("AGONES_SHIM_LIVE_TCP", "1")])), ["tcp localhost:1"]);
    assert_eq!(shown(wrapper_settings(&[ready, ("AGONES_SHIM_LIVE_HTTP", "http://[::1]/")])), ["http http://[::1]/"]);
    let query = ("AGONES_SHIM_LIVE_QUERY", "a2s://:27015");
    assert_eq!(shown(wrapper_settings(&[ready, query])), ["query a2s://localhost:27015"]);
}

#[test]
fn a_query_alone_is_a_readiness_probe_and_the_liveness_set() {
    let variables = || environment(&[("AGONES_SHIM_READY_QUERY", "quake3://:27960, udp://10.0.0.7:7/00")]);
    let shown = |probes: &[Probe]| probes.iter().map(Probe::to_string).collect::<Vec<_>>();
    let wanted = ["query quake3://localhost:27960", "query udp://10.0.0.7:7/00"];
    let (settings, warnings) = sidecar(variables()).expect("all is well");
    assert_eq!(
        (shown(&settings.readiness.probes), shown(&settings.liveness.probes), warnings),
        (wanted.map(Into::into).into(), wanted.map(Into::into).into(), vec![])
    );
    assert_eq!(shown(&probe(variables()).expect("all is well").0.probes), wanted);
}

#[test]
fn every_bad_item_of_a_port_list_is_named() {
    for variable in ["AGONES_SHIM_READY_TCP", "AGONES_SHIM_LIVE_TCP"] {
        let port = "is not a port (write a number from 1 to 65535)";
        for (text, wanted) in [
            ("::1:8085", vec![r#""::1:8085" is not a port or host:port (write [::1]:8085)"#.to_owned()]),
            ("host:", vec![r#""host:" has no port (write host:7777)"#.into()]),
            (":80", vec![r#"":80" has no host (write 80 for loopback)"#.into()]),
            ("70000", vec![format!(r#""70000" {port}"#)]),
            ("0", vec![format!(r#""0" {port}"#)]),
            (
                "a b:1",
                vec![
                    r#""a b:1" is not host:port: "a b" is not a host name or address (letters, digits, - and . only)"#
                        .into(),
                ],
            ),
            (
                "8085,,",
                vec![
                    r#"item 2 of "8085,," is empty (remove a comma)"#.into(),
                    r#"item 3 of "8085,," is empty (remove a comma)"#.into(),
                ],
            ),
            (" ", vec![r#""" has nothing in it (leave it unset instead)"#.into()]),
            (
                "1,x,0",
                vec![
                    r#""x" is not a port or host:port (write 7777 or 127.0.0.1:7777)"#.into(),
                    format!(r#""0" {port}"#),
                ],
            ),
        ] {
            let mut variables = environment(&[("AGONES_SHIM_READY_TCP", "1")]);
            variables.retain(|(name, _)| name != variable);
            variables.extend(environment(&[(variable, text)]));
            let wanted: Vec<String> = wanted.iter().map(|message| format!("{variable}: {message}")).collect();
            assert_eq!(lines(sidecar(variables)), wanted, "{text}");
        }
    }
    let settings = wrapper_settings(&[("AGONES_SHIM_LIVE_TCP", "[::1]:8085")]);
    assert_eq!(settings.liveness.probes[0].to_string(), "tcp [::1]:8085");
}

/// What of a game's beginning can be waited for, and what cannot stand for its life.
#[test]
fn lines_and_files_need_something_that_tells_life_beside_a_sidecar() {
    let log = ("AGONES_SHIM_READY_LOG", "Done");
    let file = ("AGONES_SHIM_GAME_LOG_FILE", "/var/log/game");
    let shown = |probes: &[Probe]| probes.iter().map(Probe::to_string).collect::<Vec<_>>();

    let (settings, warnings) = wrapper(environment(&[log])).expect("the child's output is there");
    assert_eq!(
        (shown(&settings.readiness.probes), settings.liveness.probes, warnings),
        (vec![r#"log "Done""#.into()], vec![], vec![])
    );

    assert_eq!(
        lines(sidecar(environment(&[log, ("AGONES_SHIM_LIVE_TCP", "1")]))),
        ["AGONES_SHIM_READY_LOG: is set, but AGONES_SHIM_GAME_LOG_FILE is not: a sidecar cannot read what the game \
          writes to its stdout (write the path of its log)"]
    );
    for (variables, variable) in [
        (vec![log, file], "AGONES_SHIM_READY_LOG"),
        (vec![("AGONES_SHIM_READY_FILE", "/run/ready")], "AGONES_SHIM_READY_FILE"),
    ] {
        let mut variables = environment(&variables);
        assert_eq!(
            lines(sidecar(variables.clone())),
            [format!(
                "{variable}: tells that the game server has begun and nothing of its end, so that a sidecar would beat \
                 for a dead game: set a liveness probe too (AGONES_SHIM_LIVE_TCP, AGONES_SHIM_LIVE_EXEC, ...)"
            )]
        );
        variables.extend(environment(&[("AGONES_SHIM_LIVE_EXEC", "check -x")]));
        let (settings, _) = sidecar(variables).expect("a liveness probe");
        assert_eq!(shown(&settings.liveness.probes), ["exec check"]);
    }
    let mixed = environment(&[log, file, ("AGONES_SHIM_READY_TCP", "1"), ("AGONES_SHIM_READY_EXEC", "a 'b c'")]);
    let (settings, _) = sidecar(mixed.clone()).expect("TCP tells life");
    assert_eq!(shown(&settings.readiness.probes), ["tcp localhost:1", r#"log "Done""#, "exec a"]);
    assert_eq!(shown(&settings.liveness.probes), ["tcp localhost:1", "exec a"]);
    assert_eq!(settings.liveness.probes[1], Probe::Exec(vec!["a".into(), "b c".into()]));
    assert_eq!(shown(&probe(mixed).expect("the same").0.probes), ["tcp localhost:1", "exec a"]);
    assert!(probe(environment(&[log])).expect("a wrapper's").0.probes.is_empty(), "its process alone tells");
}

#[test]
fn how_often_and_where_means_nothing_without_a_line() {
    let variables = [("AGONES_SHIM_READY_LOG_COUNT", "2"), ("AGONES_SHIM_GAME_LOG_FILE", "/var/log/game")];
    assert_eq!(
        lines(wrapper(with_probe(&variables))),
        [
            "AGONES_SHIM_READY_LOG_COUNT: is set, but neither AGONES_SHIM_READY_TEXT nor AGONES_SHIM_READY_LOG is: there is no \
             line to wait for (set one of them)",
            "AGONES_SHIM_GAME_LOG_FILE: is set, but nothing is looked for in it (set AGONES_SHIM_READY_TEXT or a \
             COUNTER_LOG, or AGONES_SHIM_GAME_LOG_RELAY=1)"
        ]
    );
    assert!(wrapper(with_probe(&[variables[1], ("AGONES_SHIM_GAME_LOG_RELAY", "1")])).is_ok());
    assert_eq!(
        lines(wrapper(with_probe(&[("AGONES_SHIM_GAME_LOG_RELAY", "1")]))),
        ["AGONES_SHIM_GAME_LOG_RELAY: \"1\" needs a file to pass on (set AGONES_SHIM_GAME_LOG_FILE)"]
    );
    for (text, wrong) in [
        ("0", r#""0" is not a number of lines above 0 (write 1 or more)"#),
        ("+1", r#""+1" is not a number of lines above 0 (write 1 or more)"#),
        ("4294967296", r#""4294967296" is too many lines (write at most 4294967295)"#),
    ] {
        let variables = [("AGONES_SHIM_READY_LOG", "x"), ("AGONES_SHIM_READY_LOG_COUNT", text)];
        assert_eq!(lines(wrapper(with_probe(&variables))), [format!("AGONES_SHIM_READY_LOG_COUNT: {wrong}")]);
    }
}

/// What people paste.
#[test]
fn a_line_is_told_by_text_or_by_a_pattern() {
    let text = ("AGONES_SHIM_READY_TEXT", r"[Server] Startup Completed\n)! For help, type ");
    let (settings, warnings) = wrapper(environment(&[text])).expect("good");
    let target = settings.log_probe().expect("a line");
    assert!(target.pattern.is_match(b"12:00 [Server] Startup Completed.") && warnings.is_empty());
    assert_eq!(
        lines(wrapper(environment(&[text, ("AGONES_SHIM_READY_LOG", "up")]))),
        [
            "AGONES_SHIM_READY_LOG: is set, but AGONES_SHIM_READY_TEXT too: a line is told by one of them (unset the other)"
        ]
    );
    assert_eq!(
        lines(sidecar(environment(&[text, ("AGONES_SHIM_LIVE_TCP", "1")]))),
        ["AGONES_SHIM_READY_TEXT: is set, but AGONES_SHIM_GAME_LOG_FILE is not: a sidecar cannot read what the game \
          writes to its stdout (write the path of its log)"]
    );
}

/// Its old name was in no release, and in examples.
#[test]
fn a_name_of_before_is_an_error_that_names_the_new_one() {
    let variables = [("AGONES_SHIM_READY_LOG", "up"), ("AGONES_SHIM_READY_LOG_FILE", "/log")];
    assert_eq!(
        lines(wrapper(environment(&variables))),
        ["AGONES_SHIM_READY_LOG_FILE: is called AGONES_SHIM_GAME_LOG_FILE now (rename it)"]
    );
}
