//! The link to the SDK server.

use std::fmt;
use std::num::NonZeroU16;
use std::time::Duration;

use super::engine::read::{self, Findings, Mode, Parsed, Values, Variable};
use super::engine::row::{AnySetting, Fact, Setting, Subject};
use super::insight::{ANSWER_TIMEOUT, LOGS, LogSettings, status_endpoint};
use super::text::address::lone_host;
use super::text::plain::{port, seconds, switch, word};
use super::text::target::Host;

static MODE: Setting<SdkMode> = Setting::one("AGONES_SHIM_SDK", "MODE", |text| {
    word(text, &[("auto", SdkMode::Auto), ("off", SdkMode::Off), ("required", SdkMode::Required)])
})
.help("`auto` uses an SDK server when there is one; `off` never connects; `required` starts a wrapper's game once it is there, and exits 75 at the connect timeout")
.default("auto")
.common("auto; off: never connect; required: exit 75 without");

static CONNECT_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Without an SDK server for this long, log that only the probes run, and keep trying")
    .default("30");

static CALL_TIMEOUT: Setting<Duration> = Setting::one("AGONES_SHIM_SDK_CALL_TIMEOUT_SECS", "SECONDS", seconds)
    .help("Deadline of every single call to the SDK server")
    .default("2");

static PORT: Setting<NonZeroU16> =
    Setting::one("AGONES_SDK_GRPC_PORT", "PORT", port).help("Port of the SDK server; set by Agones").default("9357");

static HOST: Setting<Host> = Setting::one("AGONES_SDK_GRPC_HOST", "HOST", lone_host)
    .help("Host of the SDK server; `localhost` is 127.0.0.1 and ::1, with no resolver")
    .default("localhost");

static WAIT: Setting<bool> = Setting::one("AGONES_SHIM_WAIT_FOR_SDK", "SWITCH", switch)
    .help("Wrapper: `1` starts the child once the GameServer's address and ports are known, or the connect timeout is over; it gets them as `AGONES_GAMESERVER_*`")
    .default("0")
    .wrapper_only();

pub(super) static SUBJECT: Subject = Subject {
    heading: "SDK server",
    rows: &[&MODE, &CONNECT_TIMEOUT, &CALL_TIMEOUT, &PORT, &HOST, &WAIT],
    given: &[],
    check,
    facts,
};

/// What one call needs.
pub(crate) const CALL: &[&[&dyn AnySetting]] = &[&[&CALL_TIMEOUT, &PORT, &HOST], LOGS];

/// `AGONES_SHIM_SDK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SdkMode {
    /// Use an SDK server when there is one.
    Auto,
    /// Never connect.
    Off,
    /// Exit 75 when there is none within the connect timeout.
    Required,
}

/// Host and port of the SDK server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// `localhost` unless set.
    pub host: Host,
    /// 9357 unless set.
    pub port: NonZeroU16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The link to the SDK server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SdkSettings {
    /// Whether there has to be an SDK server.
    pub mode: SdkMode,
    /// Where it listens.
    pub endpoint: Endpoint,
    /// When to say that there is no SDK server (or, required, to give up).
    pub connect_timeout: Duration,
    /// Deadline of every single call.
    pub call_timeout: Duration,
    /// The wrapper holds its child until the GameServer's address is known.
    pub wait: bool,
}

impl SdkSettings {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            mode: values.or_default(&MODE),
            endpoint: Endpoint { host: values.or_default(&HOST), port: values.or_default(&PORT) },
            connect_timeout: values.or_default(&CONNECT_TIMEOUT),
            call_timeout: values.or_default(&CALL_TIMEOUT),
            wait: values.or_default(&WAIT),
        }
    }

    /// For one call, with what is logged of it.
    ///
    /// # Errors
    ///
    /// Every wrong variable that it reads.
    pub(crate) fn read(environment: impl IntoIterator<Item = Variable>) -> Parsed<(Self, LogSettings)> {
        let parsed = read::some(CALL, |_, _| (), environment);
        parsed.map(|(values, warnings)| ((Self::new(&values), LogSettings::new(&values)), warnings))
    }
}

/// Warns about each of these variables that is set while there is nobody to tell.
pub(super) fn warn_if_off(values: &Values, variables: &[&'static str], findings: &mut Findings) {
    let is_off = values.get(&MODE) == Some(SdkMode::Off);
    for variable in variables.iter().filter(|variable| is_off && values.is_set(variable)) {
        findings.warn(*variable, format!("has no effect with {}=off", MODE.name()));
    }
}

fn check(_: Mode, values: &Values, findings: &mut Findings) {
    let timeout = values.or_default(&CALL_TIMEOUT);
    if timeout >= ANSWER_TIMEOUT && status_endpoint(values).is_some() {
        let message = "is not below the 3 s after which /healthz says that the shim hangs: a livenessProbe on it would kill \
                       a shim whose SDK server is slow (write 2, or probe /healthz with a timeout and threshold above this)";
        findings.warn(CALL_TIMEOUT.name(), format!("{} {message}", values.quoted(CALL_TIMEOUT.name())));
    }
}

fn facts(values: &Values) -> Vec<Fact> {
    let settings = SdkSettings::new(values);
    let (endpoint, timeout) = (&settings.endpoint, settings.connect_timeout);
    let server = match settings.mode {
        SdkMode::Auto => format!("{endpoint}, if there is one"),
        SdkMode::Off => "never connected".into(),
        SdkMode::Required => format!("{endpoint}, exit 75 without one for {timeout:?}"),
    };
    let start = if settings.wait && settings.mode != SdkMode::Off {
        format!("once the GameServer's address is known, after {timeout:?} without it")
    } else if settings.mode == SdkMode::Required {
        format!("once the SDK server is there, and not at all without one for {timeout:?}")
    } else {
        "at once".into()
    };
    vec![("SDK server", server), ("the wrapper starts the game", start)]
}
