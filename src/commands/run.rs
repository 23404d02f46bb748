//! The sidecar and the wrapper, put together: settings in, exit reason out.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::sync::mpsc::channel;

use crate::exit::ExitReason;
use crate::game::signals::Blocked;
use crate::insight::logging;
use crate::insight::notify::Notifier;
use crate::machine::{Config, Notice};
use crate::runtime::{self, Runtime};
use crate::sdk::GrpcSdk;
use crate::settings::parse::{self, Rejected, Variable, Warning};
use crate::settings::{SdkMode, Settings};

/// Runs beside the game.
#[must_use]
pub fn sidecar(signals: Blocked, environment: Vec<Variable>) -> ExitReason {
    run(signals, environment, None)
}

/// Runs around the game.
#[must_use]
pub fn wrapper(signals: Blocked, environment: Vec<Variable>, argv: &[OsString]) -> ExitReason {
    run(signals, environment, Some(argv))
}

fn run(signals: Blocked, environment: Vec<Variable>, argv: Option<&[OsString]>) -> ExitReason {
    let parsed = if argv.is_some() { parse::wrapper(environment.clone()) } else { parse::sidecar(environment.clone()) };
    let (settings, warnings) = match parsed {
        Ok(parsed) => parsed,
        Err(rejected) => return reject(&rejected),
    };
    let log = match logging::start(&settings.log) {
        Ok(log) => log,
        Err(error) => return refused("cannot start logging", &error),
    };
    let reason = life(signals, environment, argv, settings, &warnings)
        .unwrap_or_else(|error| refused("the system refuses what agones-shim needs", &error));
    log.flush();
    reason
}

fn life(
    signals: Blocked,
    environment: Vec<Variable>,
    argv: Option<&[OsString]>,
    settings: Settings,
    warnings: &[Warning],
) -> io::Result<ExitReason> {
    for warning in warnings {
        log::warn!("{warning}");
    }
    // std seeds each such hasher anew from the kernel's random numbers.
    let chance = RandomState::new().hash_one(std::process::id());
    let config = Config::new(&settings, argv.is_some(), pod_hostname(&environment), chance);
    let notifier = Notifier::new(&environment).unwrap_or_else(|error| {
        runtime::write(&Notice::NotifyUnusable { error: error.to_string() });
        None
    });
    let (events, received) = channel();
    let processes = match argv {
        Some(_) => signals.wrapper(environment, settings.stop.hup, events.clone())?,
        None => signals.sidecar(environment, events.clone())?,
    };
    runtime::write(&started(&settings, argv.is_some()));
    let sdk = GrpcSdk::new(settings.sdk_endpoint.clone(), settings.sdk_call_timeout);
    let argv = argv.unwrap_or_default().to_vec();
    Ok(Runtime::new(settings, config, sdk, processes, notifier, argv, (events, received))?.run())
}

fn started(settings: &Settings, wrapper: bool) -> Notice {
    let sdk = match settings.sdk {
        SdkMode::Off => "off".to_owned(),
        SdkMode::Auto | SdkMode::Required => settings.sdk_endpoint.to_string(),
    };
    let readiness: Vec<String> = settings.readiness.iter().map(ToString::to_string).collect();
    Notice::Started {
        version: env!("CARGO_PKG_VERSION"),
        mode: if wrapper { "wrapper" } else { "sidecar" },
        sdk,
        readiness: readiness.join(", "),
    }
}

/// A Pod's hostname is its name, unless it has hostNetwork. Only Kubernetes sets this variable.
fn pod_hostname(environment: &[Variable]) -> Option<String> {
    let inside = environment.iter().any(|(name, _)| name == "KUBERNETES_SERVICE_HOST");
    inside.then(nix::unistd::gethostname)?.ok()?.into_string().ok()
}

/// Every error of the environment on stderr, before anything was done.
#[must_use]
pub fn reject(rejected: &Rejected) -> ExitReason {
    say(&rejected.to_string());
    ExitReason::Config
}

/// What the system does not give.
pub(crate) fn refused(what: &str, error: &io::Error) -> ExitReason {
    say(&format!("{what}: {error}"));
    ExitReason::System
}

/// A line for people where there is no log: each of its lines names the program.
pub fn say(text: &str) {
    let lines: String = text.lines().flat_map(|line| ["agones-shim: ", line, "\n"]).collect();
    // A closed stderr is no reason to fail.
    let _ = io::stderr().write_all(lines.as_bytes());
}
