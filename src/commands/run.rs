//! The sidecar and the wrapper, put together: settings in, exit reason out.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::mpsc::channel;

use super::find;
use super::output::{refused, reject};
use crate::exit::ExitReason;
use crate::game::signals::Blocked;
use crate::game::stdio::stdin_ends;
use crate::insight::logging;
use crate::insight::notify::Notifier;
use crate::log_line;
use crate::machine::{Config, Notice, catalogue};
use crate::runtime::Runtime;
use crate::sdk::GrpcSdk;
use crate::sdk::other_shim::{self, Mark, OtherShim};
use crate::settings::{SdkMode, SdkSettings, Settings, Variable, Warning};

/// Runs beside the game.
#[must_use]
pub(super) fn sidecar(signals: Blocked, environment: Vec<Variable>) -> ExitReason {
    run(signals, environment, None)
}

/// Runs around the game.
#[must_use]
pub(super) fn wrapper(signals: Blocked, environment: Vec<Variable>, argv: &[OsString]) -> ExitReason {
    run(signals, environment, Some(argv))
}

fn run(signals: Blocked, environment: Vec<Variable>, argv: Option<&[OsString]>) -> ExitReason {
    let (settings, warnings) = match Settings::read(argv.is_some(), environment.clone()) {
        Ok(parsed) => parsed,
        Err(rejected) => return reject(&rejected),
    };
    let log = match logging::start(&settings.log, &environment) {
        Ok(log) => log,
        Err(error) => return refused("cannot start logging", &error),
    };
    let reason = life(signals, environment, argv, settings, &warnings)
        .unwrap_or_else(|error| refused("the system refuses what agones-shim needs", &error));
    // An image's entrypoint ends in `--`, and somebody has given it one of our commands.
    let program = argv.and_then(|argv| argv.first()?.to_str()).and_then(find);
    if let Some(command) = program.filter(|_| reason == ExitReason::NotFound) {
        let name = command.name;
        log::error!(
            id = catalogue::COMMAND_AS_PROGRAM;
            "{name} is a command of agones-shim: write agones-shim {name}, without -- (docker run --entrypoint)"
        );
    }
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
        log::warn!(id = catalogue::SETTING_WARNING; "{warning}");
    }
    // std seeds each such hasher anew from the kernel's random numbers.
    let chance = RandomState::new().hash_one(std::process::id());
    let is_own_stdin = argv.is_some() && settings.stop.line.is_none() && !settings.stop.tty;
    let config = Config {
        stdin_ends: is_own_stdin && stdin_ends(),
        ..Config::new(&settings, argv.is_some(), pod_name(&environment), chance)
    };
    let notifier = Notifier::new(&environment).unwrap_or_else(|error| {
        log_line::write(&Notice::NotifyUnusable { error: error.to_string() });
        None
    });
    let (events, received) = channel();
    let processes = match argv {
        Some(_) => signals.wrapper(environment, settings.stop.hup, events.clone())?,
        None => signals.sidecar(environment, events.clone())?,
    };
    log_line::write(&started(&settings, argv.is_some()));
    // Kept until the end, so that a second shim can warn.
    let _mark = mark(&settings.sdk);
    let sdk = GrpcSdk::new(settings.sdk.endpoint.clone(), settings.sdk.call_timeout);
    let argv = argv.unwrap_or_default().to_vec();
    Ok(Runtime::new(settings, config, sdk, processes, notifier, argv, (events, received))?.run())
}

/// Marks this process as the SDK server's one shim, and warns where there is another.
fn mark(sdk: &SdkSettings) -> Option<Mark> {
    if sdk.mode == SdkMode::Off {
        return None;
    }
    other_shim::mark(&sdk.endpoint).unwrap_or_else(|OtherShim(pid)| {
        log_line::write(&Notice::SecondShim { sdk: sdk.endpoint.to_string(), pid });
        None
    })
}

fn started(settings: &Settings, wrapper: bool) -> Notice {
    let sdk = match settings.sdk.mode {
        SdkMode::Off => "off".to_owned(),
        SdkMode::Auto | SdkMode::Required => settings.sdk.endpoint.to_string(),
    };
    let readiness: Vec<String> = settings.readiness.probes.iter().map(ToString::to_string).collect();
    Notice::Started {
        version: env!("CARGO_PKG_VERSION"),
        mode: if wrapper { "wrapper" } else { "sidecar" },
        sdk,
        readiness: readiness.join(", "),
    }
}

/// The name of the Pod that this runs in; only Kubernetes sets the first variable. Where the downward API gives it as
/// `POD_NAME`, that is it; else the hostname, which is the node's in a Pod with hostNetwork.
fn pod_name(environment: &[Variable]) -> Option<String> {
    let value = |wanted: &str| environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    value("KUBERNETES_SERVICE_HOST")?;
    let name = value("POD_NAME").filter(|name| !name.is_empty());
    name.map_or_else(nix::unistd::gethostname, Ok).ok()?.into_string().ok()
}
