//! Whole environments with Counters: sources, numbers, what needs them.

use std::time::Duration;

use super::super::{CounterSettings, Source};
use super::environments::*;
use super::*;

const SOURCES: &str = "a Counter has a name and a source: AGONES_SHIM_COUNTER_METRICS_URL with AGONES_SHIM_COUNTER_METRIC, AGONES_SHIM_COUNTER_QUERY, AGONES_SHIM_COUNTER_JSON_URL with AGONES_SHIM_COUNTER_JSON_COUNT, AGONES_SHIM_COUNTER_EXEC, AGONES_SHIM_COUNTER_LOG or AGONES_SHIM_COUNTER_JOIN_LOG with AGONES_SHIM_COUNTER_LEAVE_LOG";

#[test]
fn the_three_of_a_counter_on_a_metrics_page_are_set_together_or_not_at_all() {
    let three = [
        ("AGONES_SHIM_COUNTER_NAME", "players"),
        ("AGONES_SHIM_COUNTER_METRICS_URL", "http://localhost/"),
        ("AGONES_SHIM_COUNTER_METRIC", "m"),
    ];
    for missing in 0..3 {
        let mut two = three.to_vec();
        let (name, _) = two.remove(missing);
        let (first, second) = (two[0].0, two[1].0);
        let wanted = format!("{name}: is not set, but {first} and {second} are ({SOURCES})");
        assert_eq!(lines(sidecar(with_probe(&two))), [wanted]);
    }
    // A wrong one is not a missing one.
    let wrong = [three[0], ("AGONES_SHIM_COUNTER_METRICS_URL", "ftp://u:secret@host/"), three[2]];
    assert_eq!(
        lines(sidecar(with_probe(&wrong))),
        [r#"AGONES_SHIM_COUNTER_METRICS_URL: "ftp://***@host/" is not an http:// URL"#]
    );
    assert!(wrapper_settings(&[("AGONES_SHIM_COUNTER_INTERVAL_SECS", "5")]).counters.is_empty());
}

#[test]
fn what_cannot_be_meant_together_of_a_counter_is_an_error_that_names_the_variable() {
    let name = |name: &'static str| ("AGONES_SHIM_COUNTER_NAME", name);
    let query = |query: &'static str| ("AGONES_SHIM_COUNTER_QUERY", query);
    let list = ("AGONES_SHIM_LIST_NAME", "names");
    let second = ("AGONES_SHIM_COUNTER_2_NAME", "players");
    let second_sources = SOURCES.replace("COUNTER_", "COUNTER_2_");
    for (variables, wanted) in [
        (vec![query("a2s://:1")], format!("AGONES_SHIM_COUNTER_NAME: is not set, but AGONES_SHIM_COUNTER_QUERY is ({SOURCES})")),
        (
            vec![name("a"), query("a2s://:1"), ("AGONES_SHIM_COUNTER_METRIC", "m")],
            "AGONES_SHIM_COUNTER_QUERY: is set, but AGONES_SHIM_COUNTER_METRIC is too (a Counter has one source: AGONES_SHIM_COUNTER_METRICS_URL with AGONES_SHIM_COUNTER_METRIC, AGONES_SHIM_COUNTER_QUERY, AGONES_SHIM_COUNTER_JSON_URL with AGONES_SHIM_COUNTER_JSON_COUNT, AGONES_SHIM_COUNTER_EXEC, AGONES_SHIM_COUNTER_LOG or AGONES_SHIM_COUNTER_JOIN_LOG with AGONES_SHIM_COUNTER_LEAVE_LOG)".into(),
        ),
        (
            vec![name("a"), query("udp://:1/ff")],
            r#"AGONES_SHIM_COUNTER_QUERY: "udp://:1/ff" does not say how many players there are (write a protocol that does, as a2s://:27015)"#.into(),
        ),
        (
            vec![("AGONES_SHIM_COUNTER_CAPACITY", "1")],
            r#"AGONES_SHIM_COUNTER_CAPACITY: "1" needs AGONES_SHIM_COUNTER_QUERY, whose answer has the capacity, and AGONES_SHIM_COUNTER_NAME (write 0, or unset it)"#.into(),
        ),
        (
            vec![name("a"), query("a2s://:1"), ("AGONES_SHIM_COUNTER_MISSING", "zero")],
            r#"AGONES_SHIM_COUNTER_MISSING: "zero" is about a metric, so it needs AGONES_SHIM_COUNTER_METRICS_URL (write keep, or unset it)"#.into(),
        ),
        (
            vec![("AGONES_SHIM_COUNTER_2_QUERY", "a2s://:1")],
            format!("AGONES_SHIM_COUNTER_2_NAME: is not set, but AGONES_SHIM_COUNTER_2_QUERY is ({second_sources})"),
        ),
        (
            vec![name("players"), query("a2s://:1"), second, ("AGONES_SHIM_COUNTER_2_QUERY", "a2s://:2")],
            r#"AGONES_SHIM_COUNTER_2_NAME: "players" is the name of AGONES_SHIM_COUNTER_NAME too (a Counter has one source)"#.into(),
        ),
        (
            vec![second, ("AGONES_SHIM_COUNTER_2_QUERY", "a2s://:2"), list],
            r#"AGONES_SHIM_LIST_NAME: "names" needs AGONES_SHIM_COUNTER_QUERY: the names come with its answer (write a2s://:27015), or AGONES_SHIM_COUNTER_JOIN_LOG"#.into(),
        ),
        (
            vec![query("mumble://:1"), list],
            r#"AGONES_SHIM_LIST_NAME: "names" cannot be filled: mumble's answer has no names in it (a2s, quake3, quake and teeworlds have them)"#.into(),
        ),
        (
            vec![query("minecraft://:1"), list],
            r#"AGONES_SHIM_LIST_NAME: "names" cannot be filled: minecraft's answer names a dozen players at random (a2s, quake3, quake and teeworlds name all)"#.into(),
        ),
        (
            vec![query("quake3://:1"), ("AGONES_SHIM_LIST_NAME", " names")],
            r#"AGONES_SHIM_LIST_NAME: " names" is not the name of a List: it has a blank at an end or a control character in it"#.into(),
        ),
    ] {
        assert_eq!(lines(sidecar(with_probe(&variables))), [wanted], "{variables:?}");
    }
    let settings = wrapper_settings(&[query("quake3://:1"), list]);
    assert_eq!((&settings.counters[0].name, settings.counters[0].list.as_deref()), (&None, Some("names")));
}

#[test]
fn nine_counters_are_read_in_the_order_of_their_numbers_whichever_are_left_out() {
    let mut variables = Vec::new();
    for number in [9, 2, 5] {
        let name = |name: &str| format!("AGONES_SHIM_COUNTER_{number}_{name}");
        let url = format!("http://127.0.0.1:{number}/");
        variables.extend([
            (name("NAME"), format!("c{number}")),
            (name("METRICS_URL"), url),
            (name("METRIC"), "m".into()),
        ]);
    }
    let borrowed: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let counters = wrapper_settings(&borrowed).counters;
    let names: Vec<_> = counters.iter().filter_map(|counter| counter.name.as_deref()).collect();
    assert_eq!(names, ["c2", "c5", "c9"]);
    assert!(counters.iter().all(|counter| counter.interval == Duration::from_secs(30)), "each has its defaults");
}

#[test]
fn a_misspelt_numbered_name_keeps_its_number_in_the_suggestion() {
    assert_eq!(
        warnings(&[
            ("AGONES_SHIM_COUNTER_0_NAME", "x"),
            ("AGONES_SHIM_COUNTER_10_NAME", "x"),
            ("AGONES_SHIM_COUNTER_1_NAME", "x"),
            ("AGONES_SHIM_COUNTER_2_BANANA_SPLIT", "x"),
            ("AGONES_SHIM_COUNTER_2_METRICS", "x"),
            ("AGONES_SHIM_COUNTER_2_NAEM", "x"),
            ("AGONES_SHIM_COUNTER_99999999999999999999_QUERY", "x"),
            ("AGONES_SHIM_COUNTER2_NAME", "x"),
        ]),
        [
            "AGONES_SHIM_COUNTER2_NAME: is not a setting (did you mean AGONES_SHIM_COUNTER_NAME?)",
            "AGONES_SHIM_COUNTER_0_NAME: is not a setting (did you mean AGONES_SHIM_COUNTER_NAME?)",
            "AGONES_SHIM_COUNTER_10_NAME: is not a setting (Counters are numbered from 2 to 9)",
            "AGONES_SHIM_COUNTER_1_NAME: is not a setting (did you mean AGONES_SHIM_COUNTER_NAME?)",
            "AGONES_SHIM_COUNTER_2_BANANA_SPLIT: is not a setting (--help lists them all)",
            "AGONES_SHIM_COUNTER_2_METRICS: is not a setting (did you mean AGONES_SHIM_COUNTER_2_METRIC?)",
            "AGONES_SHIM_COUNTER_2_NAEM: is not a setting (did you mean AGONES_SHIM_COUNTER_2_NAME?)",
            "AGONES_SHIM_COUNTER_99999999999999999999_QUERY: is not a setting (Counters are numbered from 2 to 9)",
        ]
    );
}

#[test]
fn a_service_that_is_called_like_a_counter_is_no_setting() {
    assert_eq!(
        warnings(&[
            ("AGONES_SHIM_COUNTER_2_PORT", "tcp://10.0.0.1:80"),
            ("AGONES_SHIM_COUNTER_2_SERVICE_HOST", "10.0.0.1"),
            ("AGONES_SHIM_COUNTER_2_SERVICE_PORT", "80"),
            ("AGONES_SHIM_COUNTER_2_SERVICE_PORT_HTTP", "80"),
            ("AGONES_SHIM_COUNTER_2_PORT_80_TCP", "tcp://10.0.0.1:80"),
            ("AGONES_SHIM_COUNTER_2_PORT_80_TCP_ADDR", "10.0.0.1"),
        ]),
        [""; 0]
    );
}

#[test]
fn a_metric_may_name_labels() {
    let three = |metric| {
        with_probe(&[
            ("AGONES_SHIM_COUNTER_NAME", "players"),
            ("AGONES_SHIM_COUNTER_METRICS_URL", "http://localhost/"),
            ("AGONES_SHIM_COUNTER_METRIC", metric),
        ])
    };
    let (settings, _) = sidecar(three(r#"online{map="a,b"}"#)).expect("a selector");
    let Source::Metrics { metric, .. } = &settings.counters[0].source else { panic!("{settings:?}") };
    assert_eq!(metric.labels, [("map".into(), "a,b".into())]);
    let wrong = lines(sidecar(three("9lives")));
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with("AGONES_SHIM_COUNTER_METRIC: '9lives' "), "{wrong:?}");
}

#[test]
fn idleness_needs_a_counter_to_tell() {
    let idle = ("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "600");
    assert_eq!(
        lines(sidecar(with_probe(&[idle]))),
        [
            r#"AGONES_SHIM_IDLE_SHUTDOWN_SECS: "600" needs a Counter to tell that nobody is there (set AGONES_SHIM_COUNTER_NAME)"#
        ]
    );
    let settings = wrapper_settings(&[
        idle,
        ("AGONES_SHIM_COUNTER_NAME", "players"),
        ("AGONES_SHIM_COUNTER_METRICS_URL", "http://localhost/"),
        ("AGONES_SHIM_COUNTER_METRIC", "m"),
    ]);
    assert_eq!(settings.allocation.idle_shutdown, Some(Duration::from_secs(600)));
    // Whichever Counter has the source, and a List's source too.
    for source in [
        vec![("AGONES_SHIM_COUNTER_2_NAME", "players"), ("AGONES_SHIM_COUNTER_2_QUERY", "a2s://:1")],
        vec![
            ("AGONES_SHIM_COUNTER_9_NAME", "players"),
            ("AGONES_SHIM_COUNTER_9_METRICS_URL", "http://localhost/"),
            ("AGONES_SHIM_COUNTER_9_METRIC", "m"),
        ],
        vec![("AGONES_SHIM_LIST_NAME", "names"), ("AGONES_SHIM_COUNTER_QUERY", "a2s://:1")],
    ] {
        assert_eq!(warnings(&[&[idle][..], &source].concat()), [""; 0], "{source:?}");
    }
}

#[test]
fn players_that_allocate_need_a_counter_and_an_empty_server_has_one_way_to_go() {
    let (on_players, empty) = (("AGONES_SHIM_ALLOCATE_ON_PLAYERS", "1"), ("AGONES_SHIM_EMPTY_READY_SECS", "300"));
    let counter = [("AGONES_SHIM_COUNTER_NAME", "players"), ("AGONES_SHIM_COUNTER_QUERY", "a2s://:1")];
    let errors = |variables: &[&[(&'static str, &'static str)]]| lines(sidecar(with_probe(&variables.concat())));
    assert_eq!(
        errors(&[&[on_players, empty]]),
        [
            r#"AGONES_SHIM_ALLOCATE_ON_PLAYERS: "1" needs a Counter to tell that players are on (set AGONES_SHIM_COUNTER_NAME)"#,
            r#"AGONES_SHIM_EMPTY_READY_SECS: "300" needs a Counter to tell that nobody is there (set AGONES_SHIM_COUNTER_NAME)"#,
        ]
    );
    assert_eq!(
        errors(&[&[empty], &counter]),
        [
            r#"AGONES_SHIM_EMPTY_READY_SECS: "300" gives back what players have allocated, and nothing else (set AGONES_SHIM_ALLOCATE_ON_PLAYERS=1)"#
        ]
    );
    assert_eq!(
        errors(&[&[on_players, empty, ("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "600")], &counter]),
        [
            r#"AGONES_SHIM_EMPTY_READY_SECS: "300" makes an empty server Ready again, and AGONES_SHIM_IDLE_SHUTDOWN_SECS shuts it down: set one of them"#
        ]
    );
    let settings = wrapper_settings(&[&[on_players, empty][..], &counter].concat());
    assert_eq!(
        (settings.allocation.on_players, settings.allocation.empty_ready),
        (true, Some(Duration::from_secs(300)))
    );
    let settings = wrapper_settings(&[&[on_players, ("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "600")][..], &counter].concat());
    assert_eq!((settings.allocation.on_players, settings.allocation.empty_ready), (true, None));
}

#[test]
fn a_counter_by_lines_has_patterns_that_go_together() {
    let (name, log) = (("AGONES_SHIM_COUNTER_NAME", "players"), ("AGONES_SHIM_COUNTER_LOG", r"players: (\d+)"));
    let (join, leave) =
        (("AGONES_SHIM_COUNTER_JOIN_LOG", "^(.+) joined"), ("AGONES_SHIM_COUNTER_LEAVE_LOG", "^(.+) left"));
    let list = ("AGONES_SHIM_LIST_NAME", "names");
    for good in [&[name, log][..], &[name, join, leave], &[name, log, join, leave], &[list, join, leave]] {
        let (settings, _) = wrapper(with_probe(good)).expect("good");
        assert!(matches!(settings.counters[..], [CounterSettings { source: Source::Lines(_), .. }]), "{good:?}");
    }
    let need = |variable: &str| format!("AGONES_SHIM_COUNTER_{variable}");
    for (wrong, variable, message) in [
        (
            &[name, join][..],
            need("LEAVE_LOG"),
            "is not set, but AGONES_SHIM_COUNTER_NAME and AGONES_SHIM_COUNTER_JOIN_LOG are",
        ),
        (&[name, log, leave], need("JOIN_LOG"), "is not set, but "),
        (
            &[join, leave],
            need("NAME"),
            "is not set, but AGONES_SHIM_COUNTER_JOIN_LOG and AGONES_SHIM_COUNTER_LEAVE_LOG are",
        ),
        (
            &[name, log, ("AGONES_SHIM_COUNTER_EXEC", "count")],
            need("LOG"),
            "is set, but AGONES_SHIM_COUNTER_EXEC is too",
        ),
        (
            &[name, ("AGONES_SHIM_COUNTER_LOG", "players")],
            need("LOG"),
            "\"players\" has no group for the number of players (write (\\d+)",
        ),
        (
            &[name, join, ("AGONES_SHIM_COUNTER_LEAVE_LOG", "left")],
            need("LEAVE_LOG"),
            "\"left\" has no group that says who it is, and AGONES_SHIM_COUNTER_JOIN_LOG has one",
        ),
        (
            &[list, ("AGONES_SHIM_COUNTER_JOIN_LOG", "in"), ("AGONES_SHIM_COUNTER_LEAVE_LOG", "out")],
            "AGONES_SHIM_LIST_NAME".into(),
            "\"names\" cannot be filled: AGONES_SHIM_COUNTER_JOIN_LOG has no group for the name",
        ),
    ] {
        let found = lines(wrapper(with_probe(wrong)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("{variable}: {message}")), "{found:?}");
    }
    let found = lines(sidecar(with_probe(&[name, join, leave])));
    assert!(
        found.len() == 2 && found.iter().all(|line| line.contains("cannot read what the game writes")),
        "{found:?}"
    );
    assert!(sidecar(with_probe(&[name, join, leave, ("AGONES_SHIM_GAME_LOG_FILE", "/log")])).is_ok());
    let numbered = [("AGONES_SHIM_COUNTER_2_NAME", "bots"), ("AGONES_SHIM_COUNTER_2_LOG", r"bots: (\d+)")];
    assert!(wrapper(with_probe(&numbered)).is_ok());
}
