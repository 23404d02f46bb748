//! `agones-shim check`: the resolved settings, or every error in them.
//!
//! A pure function from an environment to text; main prints it. Passwords in
//! URLs are `***`.

use std::fmt::Write;

use super::draft::Draft;
use super::parse::{Reading, Rejected, Variable};
use super::table::{self, Default, Reader};
use super::values::shown_name;
use super::{CounterSettings, Hook, Hup, JsonSource, KeyValue, Probe, SdkMode, Settings, Source, StopScope, counter};
use crate::sdk::game_server::SDK_PREFIX;

/// What is resolved, line by line: `NAME=value`, where it came from, then what
/// follows from the values together, then the warnings.
///
/// # Errors
///
/// Everything that is wrong with any setting, whoever reads it.
pub fn check(environment: impl IntoIterator<Item = Variable>) -> Result<String, Rejected> {
    let reading = Reading::of(Reader::Check, environment);
    let mut text = String::new();
    for (setting, number) in counter::variables() {
        // Of the eight Counters that may follow the first, those that there are.
        if number > 1 && !counter::variables().any(|(row, of)| of == number && reading.is_set(&row.variable_of(of))) {
            continue;
        }
        let variable = setting.variable_of(number);
        match (reading.shown.get(&variable), setting.default) {
            (Some(shown), _) => {
                let source = if variable == table::LOG && reading.is_rust_log { "RUST_LOG" } else { "set" };
                let _ = writeln!(text, "{variable}={} ({source})", one_line(shown));
            }
            (None, Default::Text(default)) => {
                let _ = writeln!(text, "{variable}={default} (default)");
            }
            // Another of them replaces the default set.
            (None, _) if is_liveness(&variable) && reading.shown.keys().any(|set| is_liveness(set)) => {
                let _ = writeln!(text, "{variable}= (unset)");
            }
            (None, Default::Words(default)) => {
                let _ = writeln!(text, "{variable}= (default: {default})");
            }
            (None, Default::Nothing) => {
                let _ = writeln!(text, "{variable}= (unset)");
            }
        }
    }
    let (settings, warnings) = reading.finish(Draft::settings)?;
    text.push('\n');
    for (name, fact) in facts(&settings) {
        let _ = writeln!(text, "{name}: {fact}");
    }
    if !warnings.is_empty() {
        text.push('\n');
    }
    for warning in warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    Ok(text)
}

fn is_liveness(variable: &str) -> bool {
    table::LIVENESS.contains(&variable)
}

/// What follows from the values, for people.
fn facts(settings: &Settings) -> Vec<(&'static str, String)> {
    let stop = &settings.stop;
    let mut facts = vec![
        ("readiness", listed(&settings.readiness)),
        (
            "liveness",
            if settings.liveness.is_empty() {
                "the child's own life".into()
            } else if settings.liveness == settings.readiness {
                "the readiness set".into()
            } else {
                listed(&settings.liveness)
            },
        ),
        (
            "readiness rounds",
            match settings.ready_interval {
                Some(time) => format!("every {time:?}"),
                None => "every 50ms while refused, every 1s once something answers".into(),
            },
        ),
        ("waiting for readiness", settings.ready_timeout.map_or("for ever".into(), |time| format!("for {time:?}"))),
        (
            "beats",
            match settings.health_interval {
                Some(time) => format!("every {time:?}"),
                None => "every 5s, or half of the GameServer's health.periodSeconds where that is less".into(),
            },
        ),
        (
            "the server is gone after",
            match settings.live_failure_threshold {
                Some(rounds) => format!("{rounds} failed rounds"),
                None => "as many failed rounds as last as long as Agones' own patience, at least 3".into(),
            },
        ),
    ];
    facts.extend(published(&settings.counters));
    facts.extend([
        (
            "SDK server",
            match settings.sdk {
                SdkMode::Auto => format!("{}, if there is one", settings.sdk_endpoint),
                SdkMode::Off => "never connected".into(),
                SdkMode::Required => {
                    format!("{}, exit 75 without one for {:?}", settings.sdk_endpoint, settings.sdk_connect_timeout)
                }
            },
        ),
        (
            "the wrapper starts the game",
            if settings.wait_for_sdk && settings.sdk != SdkMode::Off {
                format!("once the GameServer's address is known, after {:?} without it", settings.sdk_connect_timeout)
            } else {
                "at once".into()
            },
        ),
        ("labels at Ready", pairs(&settings.labels)),
        ("annotations at Ready", pairs(&settings.annotations)),
        ("hook at each allocation", hook(settings.allocated_hook.as_ref())),
        (
            "Shutdown() of a server that is Allocated and empty",
            settings.idle_shutdown.map_or("never".into(), |time| format!("after {time:?}")),
        ),
        (
            "Shutdown() of a server that is Ready and not allocated",
            settings.max_age.map_or("never".into(), |time| format!("after {time:?}, a tenth more or less by chance")),
        ),
        (
            "the wrapper stops the game with",
            format!(
                "{} ({}) to {}, {}{}",
                stop.signal,
                stop.signal.number,
                match stop.scope {
                    StopScope::Group => "its process group",
                    StopScope::Child => "the child alone",
                },
                stop.timeout.map_or("and never kills".into(), |time| format!("SIGKILL after {time:?}")),
                match stop.hup {
                    Hup::Stop => "",
                    Hup::Pass => "; passes SIGHUP on",
                },
            ),
        ),
        ("stop hook", hook(settings.stop_hook.as_ref())),
        ("status", settings.status_addr.as_ref().map_or("off".into(), |addr| format!("http://{addr}/status"))),
    ]);
    if settings.log_probe().is_some_and(|target| target.file.is_none()) {
        facts.push((
            "as a sidecar",
            format!("refused: it cannot read the game's stdout (set {})", table::READY_LOG_FILE),
        ));
    } else if settings.liveness.is_empty() {
        let why = "refused: nothing tells it that the game has died (set an AGONES_SHIM_LIVE_ probe)";
        facts.push(("as a sidecar", why.into()));
    }
    facts
}

fn published(counters: &[CounterSettings]) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    for counter in counters {
        let CounterSettings { name, source, publish_capacity, interval, list } = counter;
        let (count, whose) = match source {
            Source::Metrics { url, metric, missing_is_zero } => {
                let login = if url.credentials.is_some() { LOGIN } else { "" };
                let zero = if *missing_is_zero { ", 0 where there is none," } else { "" };
                (format!("the sum of {}{zero} at {url}{login}", one_line(&metric.to_string())), String::new())
            }
            Source::Query { target, bots } => {
                let who = if *bots { "players" } else { "players without the bots" };
                (format!("the number of {who} at {target}"), target.to_string())
            }
            Source::Json(JsonSource { url, count, header, .. }) => {
                let login = if url.credentials.is_some() { LOGIN } else { "" };
                let header = header.as_ref().map(|header| format!(", asked with the header {}: ***,", header.name));
                (format!("{count} of the page {url}{login}{}", header.unwrap_or_default()), String::new())
            }
            Source::Exec(argv) => (format!("what {:?} prints", shown_name(&argv[0])), String::new()),
        };
        let capacity = if *publish_capacity { ", its capacity the most that it takes" } else { "" };
        if let Some(name) = name {
            facts.push(("Counter", format!("{name:?} is {count}{capacity}, read every {interval:?}")));
        }
        if let Some(list) = list {
            facts.push(("List", format!("{list:?} has the names of the players at {whose}, read every {interval:?}")));
        }
    }
    if !facts.iter().any(|(fact, _)| *fact == "Counter") {
        facts.insert(0, ("Counter", "none".into()));
    }
    facts
}

fn hook(hook: Option<&Hook>) -> String {
    hook.map_or("none".into(), |hook| {
        let arguments = match hook.argv.len() - 1 {
            0 => "no arguments".to_owned(),
            1 => "an argument".to_owned(),
            count => format!("{count} arguments"),
        };
        format!("{:?} with {arguments}, for at most {:?}", hook.argv[0], hook.timeout)
    })
}

/// Labels or annotations, as they will show.
fn pairs(pairs: &[KeyValue]) -> String {
    let shown: Vec<String> = pairs.iter().map(|pair| format!("{SDK_PREFIX}{}={:?}", pair.key, pair.value)).collect();
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}

/// Behind a URL that came with a user and a password.
const LOGIN: &str = " (user and password ***)";

/// Probes, with a mark where a password goes with one.
fn listed(probes: &[Probe]) -> String {
    let shown = probes.iter().map(|probe| match probe {
        Probe::Http(target) if target.credentials.is_some() => format!("{probe} (user and password ***)"),
        Probe::Log(target) => {
            let lines = if target.count.get() == 1 { "line" } else { "lines" };
            let place = target.file.as_deref().unwrap_or("the child's stdout and stderr");
            format!("{probe} ({} {lines} of {place})", target.count)
        }
        _ => probe.to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Escapes for what would end the line or act on a terminal, and nothing else.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(variables: &[(&str, &str)]) -> Result<String, Rejected> {
        check(variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn a_plain_environment_is_shown_with_its_defaults() {
        let wanted = "\
AGONES_SHIM_READY_TCP=7777 (set)
AGONES_SHIM_READY_HTTP= (unset)
AGONES_SHIM_READY_QUERY= (unset)
AGONES_SHIM_READY_LOG= (unset)
AGONES_SHIM_READY_LOG_COUNT=1 (default)
AGONES_SHIM_READY_LOG_FILE= (unset)
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
AGONES_SHIM_IDLE_SHUTDOWN_SECS=0 (default)
AGONES_SHIM_MAX_AGE_SECS=0 (default)
AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS=8 (default)
AGONES_SHIM_STOP_SIGNAL=TERM (default)
AGONES_SHIM_STOP_SCOPE=group (default)
AGONES_SHIM_STOP_TIMEOUT_SECS=0 (default)
AGONES_SHIM_HUP=stop (default)
AGONES_SHIM_STOP_HOOK= (unset)
AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS=5 (default)
AGONES_SHIM_STATUS_ADDR= (default: off)
AGONES_SHIM_LOG=info (default)
AGONES_SHIM_LOG_FORMAT=auto (default)

readiness: tcp localhost:7777
liveness: the readiness set
readiness rounds: every 50ms while refused, every 1s once something answers
waiting for readiness: for ever
beats: every 5s, or half of the GameServer's health.periodSeconds where that is less
the server is gone after: as many failed rounds as last as long as Agones' own patience, at least 3
Counter: none
SDK server: localhost:9357, if there is one
the wrapper starts the game: at once
labels at Ready: none
annotations at Ready: none
hook at each allocation: none
Shutdown() of a server that is Allocated and empty: never
Shutdown() of a server that is Ready and not allocated: never
the wrapper stops the game with: SIGTERM (15) to its process group, and never kills
stop hook: none
status: off
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
            "as a sidecar: refused: it cannot read the game's stdout (set AGONES_SHIM_READY_LOG_FILE)",
            "warning: AGONES_SHIM_READY_EXEC: | is passed on as it stands, since no shell runs the program (put it in quotes, or write sh -c '...')",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
        }
        let text =
            checked(&[("AGONES_SHIM_READY_LOG", ".*"), ("AGONES_SHIM_READY_LOG_FILE", "/log")]).expect("warnings");
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
        assert_eq!(names, ["AGONES_SHIM_READY_TCP", "AGONES_SDK_GRPC_PORT", "AGONES_SHIM_HUP"]);
    }
}
