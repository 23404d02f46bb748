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
                format!("{:?} from {} every {:?}", counter.name, counter.url, counter.interval)
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
                let words: Vec<String> = hook.argv.iter().map(|word| format!("{word:?}")).collect();
                format!("{}, for at most {:?}", words.join(" "), hook.timeout)
            }),
        ),
        ("status", settings.status_addr.as_ref().map_or("off".into(), |addr| format!("http://{addr}/status"))),
    ]
}

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
