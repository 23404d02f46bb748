//! `agones-shim check`: the resolved settings, or every error in them.
//!
//! A pure function from an environment to text; main prints it. Passwords in
//! URLs are `***`.

use std::fmt::Write;

use super::draft::Draft;
use super::parse::{Reading, Rejected, Variable};
use super::table::{self, Default, Reader, SETTINGS};
use super::{Hup, Probe, SdkMode, Settings, StopScope};

/// What is resolved, line by line: `NAME=value`, where it came from, then what
/// follows from the values together, then the warnings.
///
/// # Errors
///
/// Everything that is wrong with any setting, whoever reads it.
pub fn check(environment: impl IntoIterator<Item = Variable>) -> Result<String, Rejected> {
    let reading = Reading::of(Reader::Check, environment);
    let mut text = String::new();
    for setting in SETTINGS {
        let variable = setting.variable;
        match (reading.shown.get(variable), setting.default) {
            (Some(shown), _) => {
                let source = if variable == table::LOG && reading.is_rust_log { "RUST_LOG" } else { "set" };
                let _ = writeln!(text, "{variable}={} ({source})", one_line(shown));
            }
            (None, Default::Text(default)) => {
                let _ = writeln!(text, "{variable}={default} (default)");
            }
            // The other of the two replaces the default set.
            (None, _) if is_liveness(variable) && reading.shown.keys().any(|set| is_liveness(set)) => {
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
    variable == table::LIVE_TCP || variable == table::LIVE_HTTP
}

/// What follows from the values, for people.
fn facts(settings: &Settings) -> Vec<(&'static str, String)> {
    let stop = &settings.stop;
    vec![
        ("readiness", listed(&settings.readiness)),
        (
            "liveness",
            if settings.liveness == settings.readiness {
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
        (
            "Counter",
            settings.counter.as_ref().map_or("none".into(), |counter| {
                let login = if counter.url.credentials.is_some() { LOGIN } else { "" };
                let (name, metric, url) = (&counter.name, one_line(&counter.metric.to_string()), &counter.url);
                format!("{name:?} is the sum of {metric} at {url}{login}, read every {:?}", counter.interval)
            }),
        ),
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
        (
            "stop hook",
            settings.stop_hook.as_ref().map_or("none".into(), |hook| {
                let arguments = match hook.argv.len() - 1 {
                    0 => "no arguments".to_owned(),
                    1 => "an argument".to_owned(),
                    count => format!("{count} arguments"),
                };
                format!("{:?} with {arguments}, for at most {:?}", hook.argv[0], hook.timeout)
            }),
        ),
        ("status", settings.status_addr.as_ref().map_or("off".into(), |addr| format!("http://{addr}/status"))),
    ]
}

/// Behind a URL that came with a user and a password.
const LOGIN: &str = " (user and password ***)";

/// Probes, with a mark where a password goes with one.
fn listed(probes: &[Probe]) -> String {
    let shown = probes.iter().map(|probe| match probe {
        Probe::Http(target) if target.credentials.is_some() => format!("{probe} (user and password ***)"),
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
AGONES_SHIM_READY_INTERVAL_SECS= (default: adaptive)
AGONES_SHIM_READY_TIMEOUT_SECS=0 (default)
AGONES_SHIM_LIVE_TCP= (default: readiness set)
AGONES_SHIM_LIVE_HTTP= (default: readiness set)
AGONES_SHIM_LIVE_FAILURE_THRESHOLD= (default: 3 or more)
AGONES_SHIM_PROBE_TIMEOUT_SECS=2 (default)
AGONES_SHIM_HEALTH_INTERVAL_SECS= (default: 5 or less)
AGONES_SHIM_COUNTER_NAME= (unset)
AGONES_SHIM_COUNTER_METRICS_URL= (unset)
AGONES_SHIM_COUNTER_METRIC= (unset)
AGONES_SHIM_COUNTER_INTERVAL_SECS=30 (default)
AGONES_SHIM_SDK=auto (default)
AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS=30 (default)
AGONES_SHIM_SDK_CALL_TIMEOUT_SECS=2 (default)
AGONES_SDK_GRPC_PORT=9357 (default)
AGONES_SDK_GRPC_HOST=localhost (default)
AGONES_SHIM_WAIT_FOR_SDK=0 (default)
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
    fn check_reads_what_only_one_command_reads() {
        let rejected = checked(&[("AGONES_SHIM_HUP", "x"), ("AGONES_SDK_GRPC_PORT", "x")]).expect_err("three errors");
        let names: Vec<&str> = rejected.errors.iter().map(|error| error.variable.as_str()).collect();
        assert_eq!(names, ["AGONES_SHIM_READY_TCP", "AGONES_SDK_GRPC_PORT", "AGONES_SHIM_HUP"]);
    }
}
