//! The commands that end by themselves: everything but the sidecar and the wrapper.

pub mod cli;
mod rcon;
pub mod run;
mod status;

use std::io::{self, Write};

use crate::commands::cli::{Command, SdkCall, Usage};
use crate::commands::run::{refused, reject, say};
use crate::exit::ExitReason;
use crate::game::signal;
use crate::insight::logging;
use crate::local_sdk::{self, json, request};
use crate::machine::CallErrorKind;
use crate::probe;
use crate::sdk::once::{self, Reply};
use crate::settings::parse::{self, Variable};
use crate::settings::{Probe, StatusAddr, check, help};

/// Runs one.
#[must_use]
pub fn run(command: Result<Command, Usage>, environment: Vec<Variable>) -> ExitReason {
    match command {
        Err(usage) => {
            say(&usage.to_string());
            ExitReason::Usage
        }
        Ok(Command::Help) => print(&help::help()),
        Ok(Command::Version) => print(&help::version()),
        Ok(Command::Check) => match check::check(environment) {
            Ok(text) => print(&text),
            Err(rejected) => reject(&rejected),
        },
        Ok(Command::LocalSdk { args }) => local_sdk::run(args),
        Ok(Command::Sdk(call)) => sdk(&call, environment),
        Ok(Command::Probe) => probe(environment),
        Ok(Command::Rcon { args }) => rcon::run(&args, &environment),
        Ok(Command::Status { addr, watch }) => status(addr, watch, environment),
        Ok(Command::Sidecar | Command::Wrapper { .. }) => unreachable!("main runs these two itself"),
    }
}

/// One SDK call. Its answer goes to stdout as the JSON that Agones' HTTP gateway would have given.
fn sdk(call: &SdkCall, environment: Vec<Variable>) -> ExitReason {
    let settings = match parse::sdk(environment) {
        Ok((settings, _)) => settings,
        Err(rejected) => return reject(&rejected),
    };
    // Without a logger of ours, gRPC's C core writes lines of its own to stderr.
    let log = logging::start(&settings.log);
    let reason = match once::call(&settings, call) {
        Ok(Reply::Empty) => ExitReason::Stopped,
        Ok(Reply::GameServer(game_server)) => print_json(&request::Reply::GameServer(game_server)),
        Ok(Reply::Counter(counter)) => print_json(&request::Reply::Counter(counter)),
        Err(error) => {
            say(&format!("sdk {}: {}", call.name(), error.message));
            match error.kind {
                CallErrorKind::Rejected => ExitReason::Rejected,
                CallErrorKind::Unavailable | CallErrorKind::DeadlineExceeded => ExitReason::NoSdk,
            }
        }
    };
    // A system that refuses the log's thread has not kept the call from being made.
    if let Ok(log) = log {
        log.flush();
    }
    reason
}

fn print_json(reply: &request::Reply) -> ExitReason {
    print(&(json::reply(reply) + "\n"))
}

/// One liveness round: silent where it passes, else every probe that failed and why.
fn probe(environment: Vec<Variable>) -> ExitReason {
    let variables = environment.clone();
    let settings = match parse::probe(environment) {
        Ok((settings, _)) => settings,
        Err(rejected) => return reject(&rejected),
    };
    let runs_programs = settings.liveness.iter().any(|probe| matches!(probe, Probe::Exec(_)));
    let launcher = match runs_programs.then(|| signal::helpers(variables)).map(|mut processes| processes.launcher()) {
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

/// The address given, else that of the environment.
fn status(addr: Option<StatusAddr>, watch: bool, environment: Vec<Variable>) -> ExitReason {
    let addr = match addr {
        Some(addr) => Some(addr),
        None => match parse::status(environment) {
            Ok((settings, _)) => settings.status_addr,
            Err(rejected) => return reject(&rejected),
        },
    };
    let Some(addr) = addr else {
        say("status: no address (write agones-shim status 9360, or set AGONES_SHIM_STATUS_ADDR)");
        return ExitReason::Usage;
    };
    status::run(&addr, watch)
}

/// Text on stdout. Whoever closes it early has read enough.
fn print(text: &str) -> ExitReason {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitReason::Stopped
}
