//! What `agones-shim check` shows.

use super::super::Rejected;
use super::super::engine::check::{self, Page};

fn page(variables: &[(&str, &str)], all: bool) -> Result<Page, Rejected> {
    check::page(variables.iter().map(|(name, value)| (name.into(), value.into())), all)
}

fn checked(variables: &[(&str, &str)]) -> Result<String, Rejected> {
    page(variables, true).map(|page| page.text)
}

#[test]
fn a_plain_environment_is_shown_with_its_defaults() {
    let wanted = "\
readiness: tcp localhost:7777
readiness rounds: every 50ms while refused, every 1s once something answers
waiting for readiness: for ever
liveness: the readiness set
beats: every 5s, or half of the GameServer's health.periodSeconds where that is less
the server is gone after: as many failed rounds as last as long as Agones' own patience, at least 3
Counter: none
SDK server: localhost:9357, if there is one
the wrapper starts the game: at once
labels at Ready: none
annotations at Ready: none
hook at each allocation: none
Allocate() of a server that is Ready with players on: no
Ready() of a server that players allocated and left: never
Shutdown() of a server that is Allocated and empty: never
Shutdown() of a server that is Ready and not allocated: never
the wrapper stops the game with: SIGTERM (15) to its process group, and never kills
stop hook: none
status: off

AGONES_SHIM_READY_TCP=7777 (set)
AGONES_SHIM_READY_HTTP= (unset)
AGONES_SHIM_READY_QUERY= (unset)
AGONES_SHIM_READY_TEXT= (unset)
AGONES_SHIM_READY_LOG= (unset)
AGONES_SHIM_READY_LOG_COUNT=1 (default)
AGONES_SHIM_READY_FILE= (unset)
AGONES_SHIM_READY_EXEC= (unset)
AGONES_SHIM_READY_INTERVAL_SECS= (default: adaptive)
AGONES_SHIM_READY_TIMEOUT_SECS=0 (default)
AGONES_SHIM_LIVE_TCP= (default: readiness set)
AGONES_SHIM_LIVE_HTTP= (default: readiness set)
AGONES_SHIM_LIVE_QUERY= (default: readiness set)
AGONES_SHIM_LIVE_EXEC= (default: readiness set)
AGONES_SHIM_LIVE_FAILURE_THRESHOLD= (default: 3 or more)
AGONES_SHIM_PROBE_TIMEOUT_SECS=2 (default)
AGONES_SHIM_HEALTH_INTERVAL_SECS= (default: 5 or less)
AGONES_SHIM_GAME_LOG_FILE= (unset)
AGONES_SHIM_GAME_LOG_RELAY=0 (default)
AGONES_SHIM_COUNTER_NAME= (unset)
AGONES_SHIM_COUNTER_METRICS_URL= (unset)
AGONES_SHIM_COUNTER_METRIC= (unset)
AGONES_SHIM_COUNTER_MISSING=keep (default)
AGONES_SHIM_COUNTER_QUERY= (unset)
AGONES_SHIM_COUNTER_JSON_URL= (unset)
AGONES_SHIM_COUNTER_JSON_COUNT= (unset)
AGONES_SHIM_COUNTER_JSON_CAPACITY= (unset)
AGONES_SHIM_COUNTER_JSON_HEADER= (unset)
AGONES_SHIM_COUNTER_EXEC= (unset)
AGONES_SHIM_COUNTER_LOG= (unset)
AGONES_SHIM_COUNTER_JOIN_LOG= (unset)
AGONES_SHIM_COUNTER_LEAVE_LOG= (unset)
AGONES_SHIM_COUNTER_CAPACITY=0 (default)
AGONES_SHIM_COUNTER_BOTS=1 (default)
AGONES_SHIM_COUNTER_INTERVAL_SECS=30 (default)
AGONES_SHIM_LIST_NAME= (unset)
AGONES_SHIM_SDK=auto (default)
AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS=30 (default)
AGONES_SHIM_SDK_CALL_TIMEOUT_SECS=2 (default)
AGONES_SDK_GRPC_PORT=9357 (default)
AGONES_SDK_GRPC_HOST=localhost (default)
AGONES_SHIM_WAIT_FOR_SDK=0 (default)
AGONES_SHIM_LABELS= (unset)
AGONES_SHIM_ANNOTATIONS= (unset)
AGONES_SHIM_ALLOCATED_HOOK= (unset)
AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS=5 (default)
AGONES_SHIM_ALLOCATE_ON_PLAYERS=0 (default)
AGONES_SHIM_EMPTY_READY_SECS=0 (default)
AGONES_SHIM_IDLE_SHUTDOWN_SECS=0 (default)
AGONES_SHIM_MAX_AGE_SECS=0 (default)
AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS=8 (default)
AGONES_SHIM_STOP_SIGNAL=TERM (default)
AGONES_SHIM_STOP_OK_CODES= (unset)
AGONES_SHIM_STOP_SCOPE=group (default)
AGONES_SHIM_STOP_TIMEOUT_SECS=0 (default)
AGONES_SHIM_HUP=stop (default)
AGONES_SHIM_STOP_LINE= (unset)
AGONES_SHIM_STOP_LINE_TIMEOUT_SECS=30 (default)
AGONES_SHIM_TTY=0 (default)
AGONES_SHIM_STOP_HOOK= (unset)
AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS=5 (default)
AGONES_SHIM_RCON_PASSWORD= (unset)
AGONES_SHIM_RCON_PASSWORD_FILE= (unset)
AGONES_SHIM_STATUS_ADDR= (default: off)
AGONES_SHIM_LOG=info (default)
AGONES_SHIM_LOG_FORMAT=auto (default)
";
    assert_eq!(checked(&[("AGONES_SHIM_READY_TCP", "7777")]), Ok(wanted.into()));
}

#[test]
fn what_is_set_is_shown_resolved_and_passwords_never() {
    let text = checked(&[
        ("AGONES_SHIM_READY_HTTP", "http://ann:secret@localhost:8080/healthz,http://[::1]/"),
        ("AGONES_SHIM_READY_INTERVAL_SECS", "0.5"),
        ("AGONES_SHIM_READY_TIMEOUT_SECS", "600"),
        ("AGONES_SHIM_LIVE_TCP", " 7777 , host:1"),
        ("AGONES_SHIM_LIVE_FAILURE_THRESHOLD", "4"),
        ("AGONES_SHIM_HEALTH_INTERVAL_SECS", "2"),
        ("AGONES_SHIM_COUNTER_NAME", "players"),
        ("AGONES_SHIM_COUNTER_METRICS_URL", "http://bob:secret@127.0.0.1:9000/metrics"),
        ("AGONES_SHIM_COUNTER_METRIC", "online{map=\"dust\"}"),
        ("AGONES_SHIM_SDK", "required"),
        ("AGONES_SHIM_WAIT_FOR_SDK", "1"),
        ("AGONES_SHIM_LABELS", "map=dust, mode=ffa"),
        ("AGONES_SHIM_ANNOTATIONS", "motd=\"hello, world\""),
        ("AGONES_SHIM_ALLOCATED_HOOK", "rcon 'say go'"),
        ("AGONES_SHIM_IDLE_SHUTDOWN_SECS", "600"),
        ("AGONES_SHIM_MAX_AGE_SECS", "86400"),
        ("AGONES_SHIM_STOP_SIGNAL", "INT"),
        ("AGONES_SHIM_STOP_SCOPE", "child"),
        ("AGONES_SHIM_STOP_TIMEOUT_SECS", "25"),
        ("AGONES_SHIM_HUP", "pass"),
        ("AGONES_SHIM_STOP_HOOK", "rcon 'save all'\n| cat"),
        ("AGONES_SHIM_STATUS_ADDR", "9360"),
        ("AGONES_SHIM_STAUTS_ADDR", "9360"),
        ("RUST_LOG", "debug"),
    ])
    .expect("all is well");
    assert!(!text.contains("secret"), "{text}");
    for line in [
        "AGONES_SHIM_READY_HTTP=http://***@localhost:8080/healthz,http://[::1]/ (set)",
        "AGONES_SHIM_LIVE_TCP= 7777 , host:1 (set)",
        "AGONES_SHIM_LIVE_HTTP= (unset)",
        "AGONES_SHIM_COUNTER_METRICS_URL=http://***@127.0.0.1:9000/metrics (set)",
        "AGONES_SHIM_STOP_HOOK=rcon *** (set)",
        "AGONES_SHIM_LOG=debug (RUST_LOG)",
        "readiness: http http://localhost:8080/healthz (user and password ***), http http://[::1]/",
        "liveness: tcp localhost:7777, tcp host:1",
        "readiness rounds: every 500ms",
        "waiting for readiness: for 600s",
        "beats: every 2s",
        "the server is gone after: 4 failed rounds",
        "Counter: \"players\" is the sum of online{map=\"dust\"} at http://127.0.0.1:9000/metrics (user and password ***), read every 30s",
        "SDK server: localhost:9357, exit 75 without one for 30s",
        "the wrapper starts the game: once the GameServer's address is known, after 30s without it",
        "labels at Ready: agones.dev/sdk-map=\"dust\", agones.dev/sdk-mode=\"ffa\"",
        "annotations at Ready: agones.dev/sdk-motd=\"hello, world\"",
        "hook at each allocation: \"rcon\" with an argument, for at most 5s",
        "Shutdown() of a server that is Allocated and empty: after 600s",
        "Shutdown() of a server that is Ready and not allocated: after 86400s, a tenth more or less by chance",
        "the wrapper stops the game with: SIGINT (2) to the child alone, SIGKILL after 25s; passes SIGHUP on",
        "stop hook: \"rcon\" with 3 arguments, for at most 5s",
        "status: http://*:9360/status",
        "warning: AGONES_SHIM_STOP_HOOK: | is passed on as it stands, since no shell runs the hook (put it in quotes, or write sh -c '...')",
        "warning: AGONES_SHIM_STAUTS_ADDR: is not a setting (did you mean AGONES_SHIM_STATUS_ADDR?)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn lines_files_and_programs_are_shown_and_what_of_them_is_liveness() {
    let text = checked(&[
        ("AGONES_SHIM_READY_LOG", r"^Done \(\d"),
        ("AGONES_SHIM_READY_LOG_COUNT", "2"),
        ("AGONES_SHIM_READY_FILE", "/run/ready, /run/map"),
        ("AGONES_SHIM_READY_EXEC", "check --password secret | cat"),
    ])
    .expect("all is well");
    for line in [
        r#"readiness: log "^Done \(\d" (2 lines of the child's stdout and stderr), file /run/ready, file /run/map, exec check"#,
        "liveness: exec check",
        "as a sidecar: refused: it cannot read the game's stdout (set AGONES_SHIM_GAME_LOG_FILE)",
        "warning: AGONES_SHIM_READY_EXEC: | is passed on as it stands, since no shell runs the program (put it in quotes, or write sh -c '...')",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    let text = checked(&[("AGONES_SHIM_READY_LOG", ".*"), ("AGONES_SHIM_GAME_LOG_FILE", "/log")]).expect("warnings");
    for line in [
        r#"readiness: log ".*" (1 line of /log)"#,
        "liveness: the child's own life",
        "as a sidecar: refused: nothing tells it that the game has died (set an AGONES_SHIM_LIVE_ probe)",
        r#"warning: AGONES_SHIM_READY_LOG: ".*" matches every line, the first one too (write what only that line has)"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn numbered_counters_are_shown_where_they_are_set_each_with_its_defaults() {
    let text = checked(&[
        ("AGONES_SHIM_READY_TCP", "7777"),
        ("AGONES_SHIM_COUNTER_QUERY", "quake3://:27960"),
        ("AGONES_SHIM_LIST_NAME", "names"),
        ("AGONES_SHIM_COUNTER_3_NAME", "players"),
        ("AGONES_SHIM_COUNTER_3_QUERY", "a2s://game:27015"),
        ("AGONES_SHIM_COUNTER_3_CAPACITY", "1"),
        ("AGONES_SHIM_COUNTER_9_NAME", "rooms"),
        ("AGONES_SHIM_COUNTER_9_METRICS_URL", "http://bob:secret@127.0.0.1:9000/"),
        ("AGONES_SHIM_COUNTER_9_METRIC", "rooms"),
        ("AGONES_SHIM_COUNTER_9_MISSING", "zero"),
    ])
    .expect("all is well");
    assert!(!text.contains("secret") && !text.contains("COUNTER_2_"), "{text}");
    for line in [
        "AGONES_SHIM_COUNTER_3_NAME=players (set)",
        "AGONES_SHIM_COUNTER_3_INTERVAL_SECS=30 (default)",
        "AGONES_SHIM_COUNTER_9_METRICS_URL=http://***@127.0.0.1:9000/ (set)",
        "Counter: \"players\" is the number of players at a2s://game:27015, its capacity the most that it takes, read every 30s",
        "Counter: \"rooms\" is the sum of rooms, 0 where there is none, at http://127.0.0.1:9000/ (user and password ***), read every 30s",
        "List: \"names\" has the names of the players at quake3://localhost:27960, read every 30s",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
}

#[test]
fn check_reads_what_only_one_command_reads() {
    let rejected = checked(&[("AGONES_SHIM_HUP", "x"), ("AGONES_SDK_GRPC_PORT", "x")]).expect_err("three errors");
    let names: Vec<&str> = rejected.errors.iter().map(|error| error.variable.as_str()).collect();
    // The first is the lack of a readiness probe, which is no one variable's.
    assert_eq!(names, ["", "AGONES_SDK_GRPC_PORT", "AGONES_SHIM_HUP"]);
}

#[test]
fn without_all_only_what_is_set_is_listed_and_the_rest_is_counted() {
    let environment = [("AGONES_SHIM_READY_TCP", "7777"), ("AGONES_SHIM_REDAY_TCP", "1")];
    let all = page(&environment, true).expect("a warning").text;
    let unset = all.lines().filter(|line| line.starts_with("AGONES_") && !line.ends_with(" (set)")).count();
    let page = page(&environment, false).expect("a warning");
    assert!(page.has_warnings && unset > 50);
    let lines: Vec<&str> = page.text.lines().collect();
    let [.., warning, "", set, rest] = lines[..] else { panic!("{}", page.text) };
    assert_eq!(lines[0], "readiness: tcp localhost:7777", "the summary comes first");
    assert!(warning.starts_with("warning: AGONES_SHIM_REDAY_TCP: is not a setting"), "{warning}");
    assert_eq!(set, "AGONES_SHIM_READY_TCP=7777 (set)");
    assert_eq!(rest, format!("and {unset} settings that are not set (agones-shim check --all shows them)"));
}

#[test]
fn the_password_of_a_remote_console_is_shown_neither_where_it_is_good_nor_where_it_is_wrong() {
    let with = |more: &[(&str, &str)]| checked(&[&[("AGONES_SHIM_READY_TCP", "7777")], more].concat());
    let text = with(&[("AGONES_SHIM_RCON_PASSWORD", "hunter2")]).expect("it is good");
    assert!(!text.contains("hunter2") && text.contains("AGONES_SHIM_RCON_PASSWORD=*** (set)"), "{text}");
    let file = ("AGONES_SHIM_RCON_PASSWORD_FILE", "/run/secrets/rcon");
    let text = with(&[file]).expect("the file need not be there");
    assert!(text.contains("AGONES_SHIM_RCON_PASSWORD_FILE=/run/secrets/rcon (set)"), "{text}");
    for (wrong, more, message) in [
        ("hunter\u{7}2", &[][..], "\"***\" has a control character in it (a password is one line)"),
        ("hunter2", &[file], "AGONES_SHIM_RCON_PASSWORD is set too (leave one of them out)"),
    ] {
        let rejected = with(&[&[("AGONES_SHIM_RCON_PASSWORD", wrong)], more].concat()).expect_err("it is wrong");
        let text = format!("{rejected:?}");
        assert!(!text.contains("hunter"), "{text}");
        assert!(rejected.errors.iter().any(|error| error.message == message), "{text}");
    }
}

/// From an env file, whose quotes are a part of the value: the password is in the program's name.
#[test]
fn a_hook_in_one_pair_of_quotes_is_shown_without_its_arguments() {
    for variable in ["READY_EXEC", "LIVE_EXEC", "STOP_HOOK", "ALLOCATED_HOOK"] {
        let variable = format!("AGONES_SHIM_{variable}");
        let text = checked(&[("AGONES_SHIM_READY_TCP", "7777"), (&variable, "'rcon -p secret'")]).expect("a warning");
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains("rcon ***"), "{text}");
        assert!(
            text.contains(&format!("warning: {variable}: is one word, a program with blanks in its name")),
            "{text}"
        );
    }
}
