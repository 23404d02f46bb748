//! `agones-shim probe`: one liveness round, silent where it passes.

use std::ffi::OsString;

use super::args::{Usage, nothing};
use super::output::{refused, reject, say};
use super::{Command, Reads};
use crate::exit::ExitReason;
use crate::game::signals;
use crate::probe;
use crate::settings::{LivenessSettings, Probe, Variable, liveness};

pub(super) static COMMAND: Command = Command {
    name: "probe",
    arguments: "",
    summary: "one round of the liveness probes: exit 0 or 69",
    words: &[],
    details: &[
        "For a HEALTHCHECK, or an exec probe of Kubernetes, in an image without a shell. Says which probe failed and why. \
         Where readiness is a line or a file alone, liveness is the life of the game's process, and it exits with 0.",
    ],
    reads: Reads::Some(liveness::ROUND),
    run,
};

fn run(args: Vec<OsString>, environment: Vec<Variable>) -> Result<ExitReason, Usage> {
    nothing(&COMMAND, args)?;
    Ok(round(environment))
}

fn round(environment: Vec<Variable>) -> ExitReason {
    let variables = environment.clone();
    let settings = match LivenessSettings::read(environment) {
        Ok((settings, _)) => settings,
        Err(rejected) => return reject(&rejected),
    };
    if settings.probes.is_empty() {
        say("there is nothing to ask: without a liveness probe the game lives as long as its process does");
        return ExitReason::Stopped;
    }
    let runs_programs = settings.probes.iter().any(|probe| matches!(probe, Probe::Exec(_)));
    let launcher = match runs_programs.then(|| signals::helpers(variables)).map(|mut processes| processes.launcher()) {
        Some(Err(error)) => return refused("cannot start the thread that starts programs", &error),
        Some(Ok(launcher)) => Some(launcher),
        None => None,
    };
    let reports = probe::liveness_round(&settings, launcher.as_ref());
    let failed =
        reports.iter().filter_map(|report| Some(format!("{}: {}", report.probe, report.outcome.as_ref().err()?)));
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        return ExitReason::Stopped;
    }
    say(&failed.join("\n"));
    ExitReason::GameServerGone
}
