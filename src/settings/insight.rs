//! Logs and the status endpoint.

use std::time::Duration;

use super::engine::read::{self, Findings, Mode, Parsed, Values, Variable};
use super::engine::row::{AnySetting, Default, Fact, Setting, Subject};
use super::text::address::status_addr;
use super::text::filter;
use super::text::plain::word;
use super::text::target::StatusAddr;

/// Taken in every game server Pod by Agones' SDK server.
const TAKEN_PORTS: [u16; 3] = [9357, 9358, 8080];

/// How long the endpoint waits for the state thread, which may be inside an SDK call: its deadline is 2 s by default.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

static STATUS_ADDR: Setting<StatusAddr> = Setting::one("AGONES_SHIM_STATUS_ADDR", "ADDRESS", status_addr)
    .help("Where `/` (a page for the browser), `/healthz`, `/readyz`, `/metrics` and `/status` are served, as `0.0.0.0:9360`. A bare port means all addresses")
    .otherwise(Default::Words("off"))
    .common("where to serve status and metrics: 0.0.0.0:9360");

static LOG: Setting<String> = Setting::one("AGONES_SHIM_LOG", "FILTER", filter::checked)
    .help(
        "What is logged, in env_logger's syntax: `debug`, `agones_shim::probe=debug,warn`. Unset, `RUST_LOG` works too",
    )
    .default("info")
    .or_variable("RUST_LOG")
    .common("what is logged: error, warn, info, debug");

static LOG_FORMAT: Setting<LogFormat> = Setting::one("AGONES_SHIM_LOG_FORMAT", "FORMAT", |text| {
    word(text, &[("auto", LogFormat::Auto), ("text", LogFormat::Text), ("json", LogFormat::Json)])
})
.help("`text`, `json`, or `auto`: text on a terminal, JSON elsewhere")
.default("auto");

pub(super) static SUBJECT: Subject =
    Subject { heading: "Logs and status", rows: &[&STATUS_ADDR, &LOG, &LOG_FORMAT], given: &[], check, facts };

/// What every command reads.
pub(crate) const LOGS: &[&dyn AnySetting] = &[&LOG, &LOG_FORMAT];
/// What it takes to find the status endpoint.
pub(crate) const STATUS: &[&[&dyn AnySetting]] = &[&[&STATUS_ADDR], LOGS];

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// env_logger's filter syntax, already checked.
    pub filter: String,
    /// Text or JSON.
    pub format: LogFormat,
}

impl LogSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self { filter: values.or_default(&LOG), format: values.or_default(&LOG_FORMAT) }
    }
}

/// `AGONES_SHIM_LOG_FORMAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// `key=value` text.
    Text,
    /// JSON lines with Agones' own keys.
    Json,
}

/// Where the status endpoint listens; `None` is nowhere.
pub(crate) fn status_endpoint(values: &Values) -> Option<StatusAddr> {
    values.get(&STATUS_ADDR)
}

/// The same, for a command that looks there.
///
/// # Errors
///
/// Every wrong variable that it reads.
pub(crate) fn read_status_endpoint(environment: impl IntoIterator<Item = Variable>) -> Parsed<Option<StatusAddr>> {
    read::some(STATUS, |_, _| (), environment).map(|(values, warnings)| (status_endpoint(&values), warnings))
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    let Some(StatusAddr::AllAddresses(port) | StatusAddr::Host(_, port)) = status_endpoint(values) else { return };
    if TAKEN_PORTS.contains(&port.get()) {
        let message =
            format!("cannot work in a game server's Pod: Agones' SDK server listens on {port} there (write 9360)");
        findings.warn(STATUS_ADDR.name(), format!("{} {message}", values.quoted(STATUS_ADDR.name())));
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    vec![("status", status_endpoint(values).map_or("off".into(), |addr| format!("http://{addr}/status")))]
}
