//! The report as Prometheus reads it: text format 0.0.4. Pure but for `process`.
//!
//! Names follow Prometheus' rules: one prefix, base units, `_total` where it
//! only grows; `promtool check metrics` is among the tests.

use std::fmt::Display;
use std::time::Duration;

use crate::insight::status::{Report, process};
use crate::machine::{CounterSnapshot, ListSnapshot, Phase, Round};
use crate::sdk::stats::{BUCKETS, OUTCOMES};

const PHASES: [Phase; 4] = [Phase::Waiting, Phase::Served, Phase::Ready, Phase::Stopping];

/// All metrics.
#[must_use]
pub fn write(report: &Report) -> String {
    let mut out = Text(String::with_capacity(8 * 1024));
    let snapshot = &report.snapshot;
    out.family("build_info", "gauge", "Version and mode of agones-shim, always 1.");
    out.sample("build_info", &[("version", env!("CARGO_PKG_VERSION")), ("mode", report.mode())], 1);
    out.family("uptime_seconds", "gauge", "Time since the start.");
    out.sample("uptime_seconds", &[], seconds(snapshot.uptime));
    out.family("phase", "gauge", "1 for the phase that the shim is in, 0 for the others.");
    for phase in PHASES {
        out.sample("phase", &[("phase", phase.as_str())], i32::from(phase == snapshot.phase));
    }
    out.family("phase_age_seconds", "gauge", "Time since the present phase began.");
    out.sample("phase_age_seconds", &[], seconds(snapshot.phase_age));
    link(&mut out, report);
    probes(&mut out, report);
    health(&mut out, report);
    published(&mut out, report);
    calls(&mut out, report);
    process(&mut out);
    out.0
}

fn link(out: &mut Text, report: &Report) {
    let link = &report.snapshot.link;
    out.family("sdk_up", "gauge", "1 while there is a connection to the SDK server.");
    out.sample("sdk_up", &[], i32::from(link.up));
    out.family("sdk_link_age_seconds", "gauge", "Time since the SDK server came, was lost, or was first looked for.");
    out.sample("sdk_link_age_seconds", &[], seconds(link.age));
    out.family("sdk_connect_attempts_total", "counter", "Attempts to connect to the SDK server.");
    out.sample("sdk_connect_attempts_total", &[], link.attempts);
    out.family("sdk_link_restarts_total", "counter", "How often the SDK server came back after it was lost.");
    out.sample("sdk_link_restarts_total", &[], link.restarts);
    if let Some((game_server, age)) = &report.snapshot.game_server {
        out.family("gameserver_state", "gauge", "1 for the state that the SDK server last showed.");
        out.sample("gameserver_state", &[("state", game_server.state.as_str())], 1);
        out.family("gameserver_age_seconds", "gauge", "Time since the GameServer was last read.");
        out.sample("gameserver_age_seconds", &[], seconds(*age));
    }
}

fn probes(out: &mut Text, report: &Report) {
    let rounds = [("readiness", &report.snapshot.readiness), ("liveness", &report.snapshot.liveness)];
    if rounds.iter().all(|(_, round)| round.is_none()) {
        return;
    }
    let each = |out: &mut Text, name: &str, value: &dyn Fn(&crate::machine::ProbeReport) -> String| {
        for (kind, round) in rounds {
            let reports = round.as_ref().map_or(&[][..], |round: &Round| &round.reports);
            for probe in reports {
                out.sample(name, &[("kind", kind), ("probe", &probe.probe)], value(probe));
            }
        }
    };
    out.family("probe_success", "gauge", "1 where the probe's last run passed.");
    each(out, "probe_success", &|probe| i32::from(probe.outcome.is_ok()).to_string());
    out.family("probe_duration_seconds", "gauge", "Time that the probe's last run took.");
    each(out, "probe_duration_seconds", &|probe| seconds(probe.took));
}

fn health(out: &mut Text, report: &Report) {
    let health = &report.snapshot.health;
    let counts = &health.counts;
    out.family("liveness_rounds_total", "counter", "Liveness rounds by result.");
    out.sample("liveness_rounds_total", &[("result", "passed")], counts.rounds_passed);
    out.sample("liveness_rounds_total", &[("result", "failed")], counts.rounds_failed);
    out.family("liveness_failed_rounds", "gauge", "Failed liveness rounds in a row.");
    out.sample("liveness_failed_rounds", &[], health.failed_rounds);
    out.family("liveness_threshold_rounds", "gauge", "So many failed rounds in a row mean that the server is gone.");
    out.sample("liveness_threshold_rounds", &[], health.threshold);
    out.family("health_interval_seconds", "gauge", "Time between beats, and between liveness rounds.");
    out.sample("health_interval_seconds", &[], seconds(health.interval));
    out.family(
        "beats_total",
        "counter",
        "Beats that were due: confirmed by the SDK server, withheld because the game server failed its liveness \
         probes, or failed on the way.",
    );
    for (outcome, count) in [("sent", counts.sent), ("withheld", counts.withheld), ("failed", counts.failed)] {
        out.sample("beats_total", &[("outcome", outcome)], count);
    }
    if let Some(age) = health.last_beat_age {
        out.family("beat_age_seconds", "gauge", "Time since the last confirmed beat.");
        out.sample("beat_age_seconds", &[], seconds(age));
    }
}

/// Not called "counter": Prometheus wants no type in a name.
fn published(out: &mut Text, report: &Report) {
    type Value<T> = fn(&T) -> Option<String>;
    let counters: [(_, _, Value<CounterSnapshot>); 4] = [
        ("published_reading", "Last good reading of what the Counter publishes.", |counter| counter.reading.map(shown)),
        ("published_sent", "Count that the SDK server took last.", |counter| counter.sent.map(shown)),
        ("published_capacity", "Capacity of the Counter.", |counter| counter.capacity.map(shown)),
        ("published_failing", "1 while there is no reading, or the SDK server does not take it.", |counter| {
            Some(shown(i32::from(counter.error.is_some())))
        }),
    ];
    for (name, help, value) in counters {
        let samples = report.snapshot.counters.iter().map(|counter| (counter.name.as_str(), value(counter)));
        out.gauges(name, help, "counter", samples);
    }
    let lists: [(_, _, Value<ListSnapshot>); 4] = [
        ("list_names", "Players' names in the last good reading.", |list| list.names.map(shown)),
        ("list_values", "Values that the List holds.", |list| list.values.map(shown)),
        ("list_capacity", "Capacity of the List.", |list| list.capacity.map(shown)),
        ("list_failing", "1 while there are no names, or the SDK server does not take them.", |list| {
            Some(shown(i32::from(list.error.is_some())))
        }),
    ];
    for (name, help, value) in lists {
        let samples = report.snapshot.list.iter().map(|list| (list.name.as_str(), value(list)));
        out.gauges(name, help, "list", samples);
    }
}

fn calls(out: &mut Text, report: &Report) {
    if report.calls.methods().next().is_none() {
        return;
    }
    out.family("sdk_calls_total", "counter", "SDK calls by method and outcome.");
    for (method, stats) in report.calls.methods() {
        for (outcome, count) in OUTCOMES.iter().zip(stats.outcomes) {
            out.sample("sdk_calls_total", &[("method", method), ("outcome", outcome)], count);
        }
    }
    out.family("sdk_call_duration_seconds", "histogram", "Time that SDK calls took.");
    for (method, stats) in report.calls.methods() {
        for (bound, count) in BUCKETS.iter().zip(stats.within) {
            let bound = bound.as_secs_f64().to_string();
            out.sample("sdk_call_duration_seconds_bucket", &[("method", method), ("le", &bound)], count);
        }
        out.sample("sdk_call_duration_seconds_bucket", &[("method", method), ("le", "+Inf")], stats.count());
        out.sample("sdk_call_duration_seconds_sum", &[("method", method)], seconds(stats.sum));
        out.sample("sdk_call_duration_seconds_count", &[("method", method)], stats.count());
    }
}

fn shown(value: impl Display) -> String {
    value.to_string()
}

fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}

/// Under the names that Prometheus' own libraries give them.
fn process(out: &mut Text) {
    let values = [
        ("resident_memory_bytes", "Resident memory size in bytes.", process::resident_bytes()),
        ("start_time_seconds", "Start time of the process since the Unix epoch in seconds.", process::start_time()),
    ];
    for (name, help, value) in values {
        if let Some(value) = value {
            out.0 += &format!("# HELP process_{name} {help}\n# TYPE process_{name} gauge\nprocess_{name} {value}\n");
        }
    }
}

struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.0 += &format!("# HELP agones_shim_{name} {help}\n# TYPE agones_shim_{name} {kind}\n");
    }

    /// A family with one label; nothing where no value is known.
    fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        samples: impl Iterator<Item = (&'a str, Option<String>)>,
    ) {
        let known: Vec<_> = samples.filter_map(|(of, value)| Some((of, value?))).collect();
        if !known.is_empty() {
            self.family(name, "gauge", help);
        }
        for (of, value) in known {
            self.sample(name, &[(label, of)], value);
        }
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0 += "agones_shim_";
        self.0 += name;
        for (at, (label, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            self.0 += &format!("{before}{label}=\"{}\"", escape(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        self.0 += &format!(" {value}\n");
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
