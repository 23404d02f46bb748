//! The report as JSON for people and scripts. Pure.
//!
//! A stable format: fields may be added, none is renamed, none changes its
//! type. What is not known, or does not exist here, is null. Every time is a
//! number of seconds.

use std::time::Duration;

use crate::insight::status::Report;
use crate::machine::{CounterSnapshot, Round, Snapshot};
use crate::sdk::json::Writer;
use crate::sdk::stats::OUTCOMES;
use crate::settings::SdkMode;

/// The whole page.
#[must_use]
pub fn write(report: &Report) -> String {
    let mut out = Writer::pretty();
    let snapshot = &report.snapshot;
    out.object(|out| {
        out.field("version", |out| out.string(env!("CARGO_PKG_VERSION")));
        out.field("mode", |out| out.string(report.mode()));
        out.field("uptime_seconds", |out| seconds(out, snapshot.uptime));
        out.field("phase", |out| out.string(snapshot.phase.as_str()));
        out.field("phase_seconds", |out| seconds(out, snapshot.phase_age));
        let waiting = snapshot.waiting.as_ref();
        out.field("waiting_for", |out| text(out, waiting.map(|waiting| waiting.what)));
        out.field("last_failure", |out| text(out, waiting.map(|waiting| waiting.last_failure.as_str())));
        out.field("child", |out| text(out, snapshot.child));
        out.field("sdk", |out| link(out, report));
        out.field("gameserver", |out| game_server(out, snapshot));
        out.field("readiness", |out| round(out, snapshot.readiness.as_ref()));
        out.field("liveness", |out| round(out, snapshot.liveness.as_ref()));
        out.field("health", |out| health(out, snapshot));
        out.field("beats", |out| beats(out, snapshot));
        out.field("counter", |out| match snapshot.counters.first() {
            Some(first) => counter(out, first),
            None => out.raw("null"),
        });
        out.field("counters", |out| out.list(&snapshot.counters, counter));
        out.field("list", |out| list(out, snapshot));
        out.field("stop", |out| stop(out, snapshot));
        out.field("calls", |out| calls(out, report));
    });
    out.finish() + "\n"
}

fn link(out: &mut Writer, report: &Report) {
    let link = &report.snapshot.link;
    let mode = match link.mode {
        SdkMode::Auto => "auto",
        SdkMode::Off => "off",
        SdkMode::Required => "required",
    };
    out.object(|out| {
        out.field("mode", |out| out.string(mode));
        out.field("endpoint", |out| out.string(&report.sdk_endpoint));
        out.field("up", |out| out.raw(link.up));
        out.field("probe_only", |out| out.raw(link.probe_only));
        out.field("seconds", |out| seconds(out, link.age));
        out.field("attempts", |out| out.raw(link.attempts));
        out.field("restarts", |out| out.raw(link.restarts));
        out.field("last_error", |out| text(out, link.last_error.as_deref()));
    });
}

fn game_server(out: &mut Writer, snapshot: &Snapshot) {
    let Some((game_server, age)) = &snapshot.game_server else { return out.raw("null") };
    out.object(|out| {
        out.field("name", |out| out.string(&game_server.name));
        out.field("state", |out| out.string(game_server.state.as_str()));
        out.field("deleting", |out| out.raw(game_server.deleting));
        out.field("address", |out| text(out, Some(game_server.address.as_str()).filter(|address| !address.is_empty())));
        out.field("seconds", |out| seconds(out, *age));
    });
}

fn round(out: &mut Writer, round: Option<&Round>) {
    let Some(round) = round else { return out.raw("null") };
    out.object(|out| {
        out.field("seconds", |out| seconds(out, round.age));
        out.field("probes", |out| {
            out.list(&round.reports, |out, report| {
                out.object(|out| {
                    out.field("probe", |out| out.string(&report.probe));
                    out.field("passed", |out| out.raw(report.outcome.is_ok()));
                    out.field("reason", |out| text(out, report.outcome.as_ref().err().map(String::as_str)));
                    out.field("took_seconds", |out| fine_seconds(out, report.took));
                });
            });
        });
    });
}

fn health(out: &mut Writer, snapshot: &Snapshot) {
    let health = &snapshot.health;
    out.object(|out| {
        out.field("watching", |out| out.raw(health.watching));
        out.field("alive", |out| number(out, health.alive));
        out.field("failed_rounds", |out| out.raw(health.failed_rounds));
        out.field("threshold", |out| out.raw(health.threshold));
        out.field("rounds_passed", |out| out.raw(health.counts.rounds_passed));
        out.field("rounds_failed", |out| out.raw(health.counts.rounds_failed));
    });
}

fn beats(out: &mut Writer, snapshot: &Snapshot) {
    let health = &snapshot.health;
    out.object(|out| {
        out.field("interval_seconds", |out| seconds(out, health.interval));
        out.field("sent", |out| out.raw(health.counts.sent));
        out.field("withheld", |out| out.raw(health.counts.withheld));
        out.field("failed", |out| out.raw(health.counts.failed));
        out.field("last_sent_seconds", |out| match health.last_beat_age {
            Some(age) => seconds(out, age),
            None => out.raw("null"),
        });
    });
}

fn counter(out: &mut Writer, counter: &CounterSnapshot) {
    out.object(|out| {
        out.field("name", |out| out.string(&counter.name));
        out.field("reading", |out| number(out, counter.reading));
        out.field("sent", |out| number(out, counter.sent));
        out.field("capacity", |out| number(out, counter.capacity));
        out.field("error", |out| text(out, counter.error.as_deref()));
    });
}

fn list(out: &mut Writer, snapshot: &Snapshot) {
    let Some(list) = &snapshot.list else { return out.raw("null") };
    out.object(|out| {
        out.field("name", |out| out.string(&list.name));
        out.field("names", |out| number(out, list.names));
        out.field("values", |out| number(out, list.values));
        out.field("capacity", |out| number(out, list.capacity));
        out.field("error", |out| text(out, list.error.as_deref()));
    });
}

fn stop(out: &mut Writer, snapshot: &Snapshot) {
    let Some(stop) = &snapshot.stop else { return out.raw("null") };
    out.object(|out| {
        out.field("reason", |out| out.string(stop.reason));
        out.field("seconds", |out| seconds(out, stop.age));
        out.field("shutdown", |out| out.string(stop.shutdown));
        out.field("hook_running", |out| out.raw(stop.hook_running));
    });
}

fn calls(out: &mut Writer, report: &Report) {
    out.list(report.calls.methods(), |out, (method, stats)| {
        out.object(|out| {
            out.field("method", |out| out.string(method));
            for (outcome, count) in OUTCOMES.iter().zip(stats.outcomes) {
                out.field(outcome, |out| out.raw(count));
            }
            out.field("seconds", |out| fine_seconds(out, stats.sum));
            out.field("last_error", |out| text(out, stats.last_error.as_deref()));
        });
    });
}

fn seconds(out: &mut Writer, duration: Duration) {
    out.raw(format_args!("{:.3}", duration.as_secs_f64()));
}

/// For what takes microseconds.
fn fine_seconds(out: &mut Writer, duration: Duration) {
    out.raw(format_args!("{:.6}", duration.as_secs_f64()));
}

fn text(out: &mut Writer, text: Option<&str>) {
    match text {
        Some(text) => out.string(text),
        None => out.raw("null"),
    }
}

fn number(out: &mut Writer, number: Option<impl std::fmt::Display>) {
    match number {
        Some(number) => out.raw(number),
        None => out.raw("null"),
    }
}
