//! Whole environments: what each command makes of them, message for message.

use std::ffi::OsString;
use std::fmt::Debug;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use proptest::prelude::*;

use super::super::engine::check;
use super::super::engine::row::{all, rows};
use super::super::{Host, Hup, LogFormat, Probe, SdkMode, Secret, Source, StopScope, Warning};
use super::*;

pub(super) fn environment(variables: &[(&str, &str)]) -> Vec<Variable> {
    variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// With a readiness probe, so that it is not the error.
pub(super) fn with_probe(variables: &[(&str, &str)]) -> Vec<Variable> {
    let mut all = environment(variables);
    all.push(("AGONES_SHIM_READY_TCP".into(), "7777".into()));
    all
}

pub(super) fn wrapper_settings(variables: &[(&str, &str)]) -> Settings {
    match wrapper(with_probe(variables)) {
        Ok((settings, warnings)) => {
            assert_eq!(warnings, [], "{variables:?}");
            settings
        }
        Err(rejected) => panic!("{variables:?}: {rejected}"),
    }
}

pub(super) fn lines<T: Debug>(parsed: Parsed<T>) -> Vec<String> {
    parsed.expect_err("something is wrong").to_string().lines().map(String::from).collect()
}

pub(super) fn warnings(variables: &[(&str, &str)]) -> Vec<String> {
    let (_, warnings) = wrapper(with_probe(variables)).unwrap_or_else(|rejected| panic!("{rejected}"));
    warnings.iter().map(Warning::to_string).collect()
}

#[test]
fn everything_can_be_set() {
    let settings = wrapper_settings(&[
        ("AGONES_SHIM_READY_HTTP", "http://localhost:8080/healthz"),
        ("AGONES_SHIM_READY_INTERVAL_SECS", "0.25"),
        ("AGONES_SHIM_READY_TIMEOUT_SECS", "600"),
        ("AGONES_SHIM_READY_QUERY", "a2s://:27015"),
        ("AGONES_SHIM_LIVE_TCP", "7777, [::1]:7778"),
        ("AGONES_SHIM_LIVE_QUERY", "mumble://10.0.0.7:64738,udp://:1/00ff"),
        ("AGONES_SHIM_LIVE_FAILURE_THRESHOLD", "4"),
        ("AGONES_SHIM_PROBE_TIMEOUT_SECS", "1"),
        ("AGONES_SHIM_HEALTH_INTERVAL_SECS", "2"),
        ("AGONES_SHIM_COUNTER_NAME", "players"),
        ("AGONES_SHIM_COUNTER_METRICS_URL", "http://ann:secret@127.0.0.1:9000/metrics"),
        ("AGONES_SHIM_COUNTER_METRIC", "players_online"),
        ("AGONES_SHIM_COUNTER_MISSING", "zero"),
        ("AGONES_SHIM_COUNTER_INTERVAL_SECS", "10"),
        ("AGONES_SHIM_COUNTER_2_NAME", "slots"),
        ("AGONES_SHIM_COUNTER_2_QUERY", "a2s://:27015"),
        ("AGONES_SHIM_COUNTER_2_CAPACITY", "1"),
        ("AGONES_SHIM_COUNTER_2_INTERVAL_SECS", "5"),
        ("AGONES_SHIM_SDK", "required"),
        ("AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS", "20"),
        ("AGONES_SHIM_SDK_CALL_TIMEOUT_SECS", "2.5"),
        ("AGONES_SDK_GRPC_PORT", "19357"),
        ("AGONES_SDK_GRPC_HOST", "::1"),
        ("AGONES_SHIM_WAIT_FOR_SDK", "1"),
        ("AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS", "7"),
        ("AGONES_SHIM_STOP_SIGNAL", "int"),
        ("AGONES_SHIM_STOP_SCOPE", "child"),
        ("AGONES_SHIM_STOP_TIMEOUT_SECS", "25"),
        ("AGONES_SHIM_HUP", "pass"),
        ("AGONES_SHIM_STOP_HOOK", "rcon 'save all'"),
        ("AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS", "20"),
        ("AGONES_SHIM_STATUS_ADDR", "0.0.0.0:9360"),
        ("AGONES_SHIM_LOG", "debug"),
        ("AGONES_SHIM_LOG_FORMAT", "json"),
    ]);
    let seconds = Duration::from_secs;
    let shown = |probes: &[Probe]| probes.iter().map(Probe::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(&settings.readiness.probes),
        ["tcp localhost:7777", "http http://localhost:8080/healthz", "query a2s://localhost:27015"]
    );
    let liveness =
        ["tcp localhost:7777", "tcp [::1]:7778", "query mumble://10.0.0.7:64738", "query udp://localhost:1/00ff"];
    assert_eq!(shown(&settings.liveness.probes), liveness);
    assert_eq!(settings.readiness.interval, Some(Duration::from_millis(250)));
    assert_eq!(settings.readiness.timeout, Some(seconds(600)));
    assert_eq!(settings.liveness.failure_threshold.map(std::num::NonZero::get), Some(4));
    assert_eq!(settings.liveness.probe_timeout, seconds(1));
    assert_eq!(settings.liveness.interval, Some(seconds(2)));
    let [first, second] = &settings.counters[..] else { panic!("{:?}", settings.counters) };
    let Source::Metrics { url, metric, missing_is_zero: true } = &first.source else { panic!("{first:?}") };
    assert_eq!((first.name.as_deref(), metric.name.as_str()), (Some("players"), "players_online"));
    assert_eq!(url.url, "http://127.0.0.1:9000/metrics");
    assert_eq!(url.credentials, Some(Secret("ann:secret".into())));
    assert_eq!((first.interval, first.publish_capacity, &first.list), (seconds(10), false, &None));
    let Source::Query { target, .. } = &second.source else { panic!("{second:?}") };
    assert_eq!((second.name.as_deref(), target.to_string().as_str()), (Some("slots"), "a2s://localhost:27015"));
    assert_eq!((second.interval, second.publish_capacity, &second.list), (seconds(5), true, &None));
    assert_eq!(settings.sdk.mode, SdkMode::Required);
    assert_eq!(settings.sdk.connect_timeout, seconds(20));
    assert_eq!(settings.sdk.call_timeout, Duration::from_millis(2500));
    assert_eq!(settings.sdk.endpoint.to_string(), "[::1]:19357");
    assert!(settings.sdk.wait);
    assert_eq!(settings.stop.shutdown_timeout, seconds(7));
    assert_eq!((settings.stop.signal.map(|signal| signal.number), settings.stop.scope), (Some(2), StopScope::Child));
    assert_eq!((settings.stop.timeout, settings.stop.hup), (Some(seconds(25)), Hup::Pass));
    let hook = settings.stop.hook.expect("a hook");
    assert_eq!((hook.argv, hook.timeout), (vec!["rcon".to_owned(), "save all".to_owned()], seconds(20)));
    assert_eq!(settings.status_addr.map(|addr| addr.to_string()), Some("0.0.0.0:9360".into()));
    assert_eq!((settings.log.filter.as_str(), settings.log.format), ("debug", LogFormat::Json));
}

#[test]
fn all_errors_come_at_once_in_the_tables_order() {
    let wrong = [
        ("AGONES_SHIM_LOG_FORMAT", "xml"),
        ("AGONES_SHIM_SDK", "on"),
        ("AGONES_SHIM_STOP_SIGNAL", "KILL"),
        ("AGONES_SHIM_LIST_NAME", "names"),
        ("AGONES_SHIM_COUNTER_3_QUERY", "a2s:27015"),
        ("AGONES_SHIM_COUNTER_3_NAME", "third"),
        ("AGONES_SHIM_COUNTER_METRIC", "m"),
        ("AGONES_SHIM_READY_HTTP", "https://localhost/,localhost:80"),
        ("AGONES_SHIM_PROBE_TIMEOUT_SECS", "5s"),
        ("AGONES_SHIM_REDAY_TCP", "7777"),
        ("AGONES_SDK_GRPC_PORT", "70000"),
        ("AGONES_SHIM_STATUS_ADDR", ":9360"),
    ];
    assert_eq!(
        lines(wrapper(environment(&wrong))),
        [
            r#"AGONES_SHIM_READY_HTTP: "https://localhost/" is not supported: this build has no TLS (write http://, which the game has to serve)"#,
            r#"AGONES_SHIM_READY_HTTP: "localhost:80" is not a URL (write http:// in front)"#,
            r#"AGONES_SHIM_PROBE_TIMEOUT_SECS: "5s" is not a number of seconds (write 5)"#,
            "AGONES_SHIM_COUNTER_NAME: is not set, but AGONES_SHIM_COUNTER_METRIC is (a Counter has a name and a source: AGONES_SHIM_COUNTER_METRICS_URL with AGONES_SHIM_COUNTER_METRIC, AGONES_SHIM_COUNTER_QUERY, AGONES_SHIM_COUNTER_JSON_URL with AGONES_SHIM_COUNTER_JSON_COUNT, AGONES_SHIM_COUNTER_EXEC, AGONES_SHIM_COUNTER_LOG or AGONES_SHIM_COUNTER_JOIN_LOG with AGONES_SHIM_COUNTER_LEAVE_LOG)",
            "AGONES_SHIM_COUNTER_METRICS_URL: is not set, but AGONES_SHIM_COUNTER_METRIC is (a Counter has a name and a source: AGONES_SHIM_COUNTER_METRICS_URL with AGONES_SHIM_COUNTER_METRIC, AGONES_SHIM_COUNTER_QUERY, AGONES_SHIM_COUNTER_JSON_URL with AGONES_SHIM_COUNTER_JSON_COUNT, AGONES_SHIM_COUNTER_EXEC, AGONES_SHIM_COUNTER_LOG or AGONES_SHIM_COUNTER_JOIN_LOG with AGONES_SHIM_COUNTER_LEAVE_LOG)",
            r#"AGONES_SHIM_COUNTER_3_QUERY: "a2s:27015" is not a query (write protocol://:port, as a2s://:27015)"#,
            r#"AGONES_SHIM_LIST_NAME: "names" needs AGONES_SHIM_COUNTER_QUERY: the names come with its answer (write a2s://:27015), or AGONES_SHIM_COUNTER_JOIN_LOG"#,
            r#"AGONES_SHIM_SDK: "on" is not auto, off or required"#,
            r#"AGONES_SDK_GRPC_PORT: "70000" is not a port (write a number from 1 to 65535)"#,
            r#"AGONES_SHIM_STOP_SIGNAL: "KILL" cannot be caught, so it is no graceful stop (write TERM or INT)"#,
            r#"AGONES_SHIM_STATUS_ADDR: ":9360" has no host (write 9360 for all addresses)"#,
            r#"AGONES_SHIM_LOG_FORMAT: "xml" is not auto, text or json"#,
            "warning: AGONES_SHIM_REDAY_TCP: is not a setting (did you mean AGONES_SHIM_READY_TCP?)",
        ]
    );
}

#[test]
fn what_a_command_does_not_read_is_no_error_to_it() {
    let wrapper_only = with_probe(&[("AGONES_SHIM_STOP_SIGNAL", "KILL"), ("AGONES_SHIM_HUP", "x")]);
    let (_, warnings) = sidecar(wrapper_only.clone()).expect("not read");
    assert_eq!(
        warnings.iter().map(Warning::to_string).collect::<Vec<_>>(),
        [
            r#"AGONES_SHIM_STOP_SIGNAL: "KILL" cannot be caught, so it is no graceful stop (write TERM or INT); a sidecar does not read it"#,
            r#"AGONES_SHIM_HUP: "x" is not stop or pass; a sidecar does not read it"#,
        ]
    );
    assert_eq!(lines(wrapper(wrapper_only)).len(), 2);

    let everything = environment(&[
        ("AGONES_SHIM_READY_TCP", "x"),
        ("AGONES_SHIM_STATUS_ADDR", "x"),
        ("AGONES_SDK_GRPC_PORT", "x"),
        ("AGONES_SHIM_UNHEARD_OF", "x"),
        ("AGONES_SHIM_LOG", "inof"),
    ]);
    let names = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(lines(probe(everything.clone()))), ["AGONES_SHIM_READY_TCP", "AGONES_SHIM_LOG"]);
    assert_eq!(names(lines(sdk(everything.clone()))), ["AGONES_SDK_GRPC_PORT", "AGONES_SHIM_LOG"]);
    assert_eq!(names(lines(status(everything))), ["AGONES_SHIM_STATUS_ADDR", "AGONES_SHIM_LOG"]);
}

#[test]
fn a_bad_time_is_an_error_or_what_the_table_says_it_means() {
    for setting in all().filter(|row| row.variable.ends_with("_SECS")) {
        let variable = setting.variable;
        for (text, meant) in [
            ("5s", "5"),
            ("-1", "5 or 0.5"),
            (" ", "5 or 0.5"),
            ("5,5", "5 or 0.5"),
            ("٥", "5 or 0.5"),
            ("1e3", "5 or 0.5"),
            ("1e9", "5 or 0.5"),
            ("nan", "5 or 0.5"),
            ("+5", "5"),
        ] {
            let wanted = format!("{variable}: {text:?} is not a number of seconds (write {meant})");
            assert_eq!(lines(wrapper(with_probe(&[(variable, text)]))), [wanted]);
        }
        let wanted = format!(r#"{variable}: "1000000000" is more than ten years (write at most 315360000)"#);
        assert_eq!(lines(wrapper(with_probe(&[(variable, "1000000000")]))), [wanted]);
        let zero = wrapper(with_probe(&[(variable, "0")]));
        if setting.help.contains("; 0 is never") {
            let (settings, _) = zero.expect("0 is never");
            assert_eq!((settings.readiness.timeout, settings.stop.timeout), (None, None));
            assert_eq!((settings.allocation.idle_shutdown, settings.allocation.max_age), (None, None));
            assert_eq!(settings.allocation.empty_ready, None);
        } else {
            let wanted = format!(r#"{variable}: "0" is not a number of seconds above 0 (write 1 or 0.5)"#);
            assert_eq!(lines(zero), [wanted]);
        }
    }
}

#[test]
fn what_kubernetes_injects_is_ignored_without_a_word() {
    let injected = [
        ("AGONES_SHIM_SERVICE_HOST", "10.0.0.1"),
        ("AGONES_SHIM_SERVICE_PORT", "80"),
        ("AGONES_SHIM_SERVICE_PORT_STATUS", "80"),
        ("AGONES_SHIM_PORT", "tcp://10.0.0.1:80"),
        ("AGONES_SHIM_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("AGONES_SHIM_PORT_80_TCP_PROTO", "tcp"),
        ("AGONES_SHIM_PORT_80_TCP_PORT", "80"),
        ("AGONES_SHIM_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("AGONES_SHIM_PORT_7777_UDP", "udp://10.0.0.1:7777"),
        // A Service called agones-shim-status.
        ("AGONES_SHIM_STATUS_SERVICE_HOST", "10.0.0.1"),
        ("AGONES_SHIM_STATUS_SERVICE_PORT", "9360"),
        ("AGONES_SHIM_STATUS_PORT", "tcp://10.0.0.1:9360"),
        ("AGONES_SHIM_STATUS_PORT_9360_TCP_ADDR", "10.0.0.1"),
        // The shim's own, in the environment of its hook.
        ("AGONES_SHIM_STOP_REASON", "stop"),
        ("AGONES_SHIM_CHILD_PID", "7"),
    ];
    assert_eq!(warnings(&injected), [""; 0]);
}

#[test]
fn an_unknown_name_is_a_warning_with_the_nearest_known_one() {
    assert_eq!(
        warnings(&[
            ("AGONES_SHIM_HEALTH_INTERVAL", "5"),
            ("AGONES_SHIM_LIVENESS_TCP", "5"),
            ("AGONES_SHIM_PORT_80_QUIC", "x"),
            ("AGONES_SHIM_GAME_PORT", "7777"),
            ("AGONES_SHIM_\u{1b}[2J", "x"),
            ("AGONES_SHIMMER", "x"),
            ("agones_shim_ready_tcp", "x"),
        ]),
        [
            "AGONES_SHIM_\\u{1b}[2J: is not a setting (--help lists them all)",
            "AGONES_SHIM_GAME_PORT: is not a setting (--help lists them all)",
            "AGONES_SHIM_HEALTH_INTERVAL: is not a setting (did you mean AGONES_SHIM_HEALTH_INTERVAL_SECS?)",
            "AGONES_SHIM_LIVENESS_TCP: is not a setting (did you mean AGONES_SHIM_LIVE_TCP?)",
            "AGONES_SHIM_PORT_80_QUIC: is not a setting (--help lists them all)",
        ]
    );
}

#[test]
fn values_that_work_and_will_not_have_been_meant_are_warned_about() {
    let hook = ("AGONES_SHIM_STOP_HOOK", "save");
    assert_eq!(
        warnings(&[hook, ("AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS", "20.5")]),
        [
            r#"AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS: "20.5" may be too long: Kubernetes kills a Pod 30 s after the stop, Docker a container after 10 s, unless told otherwise"#
        ]
    );
    assert_eq!(warnings(&[hook, ("AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS", "20")]), [""; 0]);
    let none = ("AGONES_SHIM_STOP_SIGNAL", "none");
    assert_eq!(warnings(&[hook, none]), [""; 0]);
    assert_eq!(
        warnings(&[none]),
        [
            r#"AGONES_SHIM_STOP_SIGNAL: "none" and no AGONES_SHIM_STOP_LINE or AGONES_SHIM_STOP_HOOK: nothing but Shutdown() tells the game to stop"#
        ]
    );
    assert_eq!(
        warnings(&[("AGONES_SHIM_STOP_HOOK", "save && exit")]),
        [
            "AGONES_SHIM_STOP_HOOK: & is passed on as it stands, since no shell runs the hook (put it in quotes, or write sh -c '...')"
        ]
    );
    for addr in ["9357", "127.0.0.1:9358", "[::]:8080"] {
        let port = addr.rsplit(':').next().unwrap();
        assert_eq!(
            warnings(&[("AGONES_SHIM_STATUS_ADDR", addr)]),
            [format!(
                r#"AGONES_SHIM_STATUS_ADDR: "{addr}" cannot work in a game server's Pod: Agones' SDK server listens on {port} there (write 9360)"#
            )]
        );
    }
}

#[test]
fn a_text_that_no_line_will_have_and_a_pattern_that_does_not_match_its_own_are_warned_about() {
    for (variable, value, wanted) in [
        ("TEXT", "[Server] Up", None),
        ("TEXT", r#"say "up""#, None),
        ("TEXT", "/srv/game/", None),
        (
            "TEXT",
            r#""Server is up""#,
            Some(
                "has quotes around it, which are a part of the value here (docker's --env-file keeps them; write Server is up)",
            ),
        ),
        ("LOG", "/up/", Some("has slashes around it, which a line would need too (write up)")),
        ("LOG", r"\[Server\] Up", None),
        ("LOG", "[Ss]erver up$", None),
        (
            "LOG",
            "[Server] Up",
            Some(
                r"as a regular expression does not match its own text (set AGONES_SHIM_READY_TEXT to it instead, or write \[Server\] Up)",
            ),
        ),
    ] {
        let variable = format!("AGONES_SHIM_READY_{variable}");
        let found = warnings(&[(&variable, value)]);
        let value_shown = value.replace('"', "\\\"");
        let wanted: Vec<String> =
            wanted.map(|text| format!("{variable}: \"{value_shown}\" {text}")).into_iter().collect();
        assert_eq!(found, wanted, "{value}");
    }
}

/// Docker's --env-file keeps them, where a shell and systemd take them away.
#[test]
fn quotes_around_a_value_are_spoken_of_whatever_becomes_of_it() {
    let kept = "has quotes around it, which are a part of the value here (docker's --env-file keeps them; write";
    for (variable, value, shown, remedy) in
        [("STOP_LINE", r#""stop""#, r#"\"stop\""#, "stop"), ("READY_FILE", "'/srv/up'", "'/srv/up'", "/srv/up")]
    {
        let variable = format!("AGONES_SHIM_{variable}");
        assert_eq!(warnings(&[(&variable, value)]), [format!(r#"{variable}: "{shown}" {kept} {remedy})"#)]);
    }
    for (variable, value, shown, remedy) in [
        ("READY_TCP", r#""8085""#, r#"\"8085\""#, "8085"),
        ("STOP_LINE_TIMEOUT_SECS", "'5'", "'5'", "5"),
        ("LABELS", "'map=dust'", "'map=dust'", "map=dust"),
        (
            "READY_HTTP",
            r#""http://ann:pw@127.0.0.1:80/up""#,
            r#"\"http://***@127.0.0.1:80/up\""#,
            "http://***@127.0.0.1:80/up",
        ),
    ] {
        let variable = format!("AGONES_SHIM_{variable}");
        let errors = lines(wrapper(with_probe(&[("AGONES_SHIM_STOP_LINE", "stop"), (&variable, value)])));
        assert_eq!(errors, [format!(r#"{variable}: "{shown}" {kept} {remedy})"#)]);
    }
    // Of a command line they are split off, a text may have some of its own, and what is wrong without them stays so.
    assert_eq!(
        warnings(&[("AGONES_SHIM_STOP_HOOK", r#""/srv/save""#), ("AGONES_SHIM_READY_TEXT", r#""a" or "b""#)]),
        [""; 0]
    );
    let errors = lines(wrapper(with_probe(&[("AGONES_SHIM_READY_INTERVAL_SECS", r#""x""#)])));
    assert!(errors.len() == 1 && !errors[0].contains("keeps them"), "{errors:?}");
}

#[test]
fn a_sidecar_says_which_of_its_settings_are_the_wrappers_alone() {
    let variables =
        with_probe(&[("AGONES_SHIM_STOP_LINE", "stop"), ("AGONES_SHIM_STOP_HOOK", "save"), ("AGONES_SHIM_TTY", "1")]);
    let (_, warnings) = sidecar(variables).unwrap_or_else(|rejected| panic!("{rejected}"));
    let remedy = "(start the game with agones-shim -- PROGRAM, or unset it)";
    let wanted = ["STOP_LINE", "TTY"]
        .map(|name| format!("AGONES_SHIM_{name}: is set, but a sidecar has no child that it could be about {remedy}"));
    let mut found: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn an_sdk_call_that_outlasts_healthz_is_warned_about_where_there_is_an_endpoint() {
    let (call, open) = (("AGONES_SHIM_SDK_CALL_TIMEOUT_SECS", "3"), ("AGONES_SHIM_STATUS_ADDR", "9360"));
    let found = warnings(&[call, open]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(r#"AGONES_SHIM_SDK_CALL_TIMEOUT_SECS: "3" is not below the 3 s after which /healthz"#)
    );
    assert_eq!(warnings(&[call]), [""; 0]);
    assert_eq!(warnings(&[("AGONES_SHIM_SDK_CALL_TIMEOUT_SECS", "2.9"), open]), [""; 0]);
}

#[test]
fn labels_and_the_rest_say_that_they_need_agones() {
    assert_eq!(
        warnings(&[
            ("AGONES_SHIM_SDK", "off"),
            ("AGONES_SHIM_LABELS", "map=dust"),
            ("AGONES_SHIM_ALLOCATED_HOOK", "say go > log"),
            ("AGONES_SHIM_MAX_AGE_SECS", "60"),
        ]),
        [
            "AGONES_SHIM_LABELS: has no effect with AGONES_SHIM_SDK=off",
            "AGONES_SHIM_ALLOCATED_HOOK: > is passed on as it stands, since no shell runs the hook (put it in quotes, or write sh -c '...')",
            "AGONES_SHIM_ALLOCATED_HOOK: has no effect with AGONES_SHIM_SDK=off",
            "AGONES_SHIM_MAX_AGE_SECS: has no effect with AGONES_SHIM_SDK=off",
        ]
    );
    assert_eq!(warnings(&[("AGONES_SHIM_LABELS", "map=dust"), ("AGONES_SHIM_MAX_AGE_SECS", "60")]), [""; 0]);
}

#[test]
fn every_bad_label_and_annotation_is_named() {
    let wrong = [("AGONES_SHIM_LABELS", "map=de dust,mode"), ("AGONES_SHIM_ANNOTATIONS", "a/b=1")];
    assert_eq!(
        lines(sidecar(with_probe(&wrong))),
        [
            r#"AGONES_SHIM_LABELS: "map=de dust" is not a label: its value has ' ' in it, and letters, digits, - _ . are allowed (only an annotation takes any value)"#,
            r#"AGONES_SHIM_LABELS: "mode" is not a label (write key=value, and a value with a comma in double quotes)"#,
            r#"AGONES_SHIM_ANNOTATIONS: "a/b=1" has a / in its key: Agones puts agones.dev/sdk- in front, and one is all"#,
        ]
    );
}

#[test]
fn the_log_filter_is_ours_then_rust_log_then_info() {
    let filter = |variables: &[(&str, &str)]| sdk(environment(variables)).map(|((_, log), _)| log.filter);
    assert_eq!(filter(&[]), Ok("info".into()));
    assert_eq!(filter(&[("RUST_LOG", "warn")]), Ok("warn".into()));
    assert_eq!(filter(&[("RUST_LOG", "warn"), ("AGONES_SHIM_LOG", "debug")]), Ok("debug".into()));
    assert_eq!(filter(&[("RUST_LOG", "warn"), ("AGONES_SHIM_LOG", "")]), Ok("warn".into()));
    // Perhaps the game's, in another crate's syntax.
    let ((_, log), warnings) = sdk(environment(&[("RUST_LOG", "game[span{x=1}]=info")])).expect("starts");
    assert_eq!(log.filter, "info");
    assert_eq!(
        warnings.iter().map(Warning::to_string).collect::<Vec<_>>(),
        [
            r#"RUST_LOG: "game[span{x=1}]=info" is not a log filter (write info, or agones_shim::probe=debug); it is ignored"#
        ]
    );
}

#[test]
fn values_that_are_no_text_are_an_error_that_names_the_variable() {
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let mut variables = with_probe(&[]);
    variables.push(("AGONES_SHIM_LIVE_TCP".into(), bytes(b"\xff80")));
    variables.push(("AGONES_SHIM_READY_HTTP".into(), bytes(b"http://u:se\xffcret@host/")));
    variables.push((bytes(b"AGONES_SHIM_\xff"), "x".into()));
    variables.push((bytes(b"\xff"), bytes(b"\xff")));
    assert_eq!(
        lines(wrapper(variables)),
        [
            r#"AGONES_SHIM_READY_HTTP: "http://***@host/" is not UTF-8 text"#,
            "AGONES_SHIM_LIVE_TCP: \"\u{fffd}80\" is not UTF-8 text",
            "warning: AGONES_SHIM_\u{fffd}: is not a setting (--help lists them all)",
        ]
    );
}

#[test]
fn of_two_variables_with_one_name_the_first_counts() {
    let variables =
        environment(&[("AGONES_SHIM_READY_TCP", ""), ("AGONES_SHIM_READY_TCP", "1"), ("AGONES_SHIM_READY_TCP", "2")]);
    let (settings, _) = sidecar(variables).expect("a probe");
    assert_eq!(settings.readiness.probes[0].to_string(), "tcp localhost:1");
}

#[test]
fn a_status_port_and_a_host_are_kept_apart() {
    let (addr, _) = status(environment(&[("AGONES_SHIM_STATUS_ADDR", "localhost:9360")])).expect("an address");
    assert!(matches!(addr, Some(StatusAddr::Host(Host::Loopback, port)) if port.get() == 9360));
}

/// Any bytes, those that the parsers look for more often than others.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(1_u8..=255, 0..8),
        proptest::sample::select(vec![
            "http://",
            "https://",
            "[",
            "]",
            "::1",
            ":",
            "@",
            ",",
            "/",
            "?",
            "#",
            "%",
            "0",
            ".",
            "5",
            "80",
            "localhost",
            "TERM",
            "RTMIN+",
            "'",
            "\"",
            "\\",
            "$",
            "=",
            "{",
            "}",
            "m",
            "info",
            "auto",
            " ",
            "\t",
            "\n",
            "9999999999999999999999",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_in_any_variable_give_a_setting_or_an_error_that_names_it(
        row in 0..rows().count(),
        bytes in hostile(),
    ) {
        let variable = rows().nth(row).expect("a row").row().variable;
        // All three of a Counter, and a probe, so that only this one can be wrong.
        let mut variables = vec![(variable.into(), OsString::from_vec(bytes.clone()))];
        variables.extend(environment(&[
            ("AGONES_SHIM_READY_TCP", "7777"),
            ("AGONES_SHIM_COUNTER_NAME", "players"),
            ("AGONES_SHIM_COUNTER_METRICS_URL", "http://localhost/"),
            ("AGONES_SHIM_COUNTER_METRIC", "m"),
        ]));
        let checked = check::page(variables.clone(), true);
        match wrapper(variables) {
            Ok((settings, _)) => {
                let text = checked.expect("check agrees").text;
                let at_least = rows().count() + 1;
                prop_assert!(text.lines().count() > at_least);
                prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
                for probe in settings.readiness.probes.iter().chain(&settings.liveness.probes) {
                    if let Probe::Http(target) = probe {
                        prop_assert!(ureq::http::Uri::try_from(target.url.as_str()).is_ok());
                        let authority = target.url["http://".len()..].split(['/', '?']).next().unwrap_or_default();
                        prop_assert!(!authority.contains('@') && !target.url.contains('#'));
                    }
                }
            }
            Err(rejected) => {
                prop_assert!(!bytes.is_empty());
                prop_assert!(!rejected.errors.is_empty());
                for error in &rejected.errors {
                    prop_assert_eq!(&error.variable, variable);
                    prop_assert!(error.message.len() < 10_000 && !error.message.chars().any(char::is_control));
                }
                prop_assert_eq!(checked.expect_err("check agrees"), rejected);
            }
        }
    }

    #[test]
    fn a_password_is_never_shown(
        password in "[a-z0-9,/?#@: %]{0,4}SECRET[a-z0-9,/?#@: %]{0,4}",
        variable in proptest::sample::select(vec!["AGONES_SHIM_READY_HTTP", "AGONES_SHIM_COUNTER_METRICS_URL"]),
        tail in "[:,/]?[a-z0 ]{0,3}",
    ) {
        let url = format!("http://ann:{password}@host{tail}");
        let set = environment(&[
            (variable, &url),
            ("AGONES_SHIM_READY_TCP", "7777"),
            ("AGONES_SHIM_COUNTER_NAME", "players"),
            ("AGONES_SHIM_COUNTER_METRICS_URL", "http://localhost/"),
            ("AGONES_SHIM_COUNTER_METRIC", "m"),
        ]);
        let shown = match check::page(set, true) {
            Ok(page) => page.text,
            Err(rejected) => rejected.to_string(),
        };
        prop_assert!(!shown.contains("SECRET"), "{url}: {shown}");
    }
}
