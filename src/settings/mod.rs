//! What the shim was told, after every variable has been read and understood.
//!
//! `table.rs` has one row per variable, `parse.rs` turns rows and an
//! environment into [`Settings`] or into *all* errors at once, `help.rs` makes
//! `--help` and the README's table from the same rows, `check.rs` the output of
//! `agones-shim check`. Nothing here reads the process's own environment: it is
//! passed in.

mod address;
pub mod check;
mod counter;
mod draft;
mod filter;
#[doc(hidden)]
pub mod fuzz;
pub mod help;
mod judge;
mod metadata;
pub mod parse;
pub(crate) mod pattern;
mod query;
mod row;
mod show;
mod signal;
mod suggest;
pub mod table;
mod url;
mod values;
mod words;

pub use address::status_addr;
pub(crate) use address::tcp;
pub use pattern::Pattern;
pub(crate) use suggest::nearest;
pub(crate) use values::{one_of, quote, seconds};

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use crate::counter::exposition::Selector;

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// All must pass in one round before the game server counts as served.
    pub readiness: Vec<Probe>,
    /// All must pass in a round for a beat to go out. Already resolved: the
    /// readiness set where nothing else was set.
    pub liveness: Vec<Probe>,
    /// Time between readiness rounds; `None` is adaptive.
    pub ready_interval: Option<Duration>,
    /// Give up waiting for readiness; `None` is never.
    pub ready_timeout: Option<Duration>,
    /// Failed liveness rounds in a row that mean the server is gone; `None`
    /// derives it from Agones' own patience.
    pub live_failure_threshold: Option<NonZeroU32>,
    /// One probe, connect to last byte.
    pub probe_timeout: Duration,
    /// Beat and liveness interval; `None` derives it from the GameServer.
    pub health_interval: Option<Duration>,
    /// What is read at an interval and published.
    pub counters: Vec<CounterSettings>,
    /// Whether there has to be an SDK server.
    pub sdk: SdkMode,
    /// Where the SDK server listens.
    pub sdk_endpoint: Endpoint,
    /// When to say that there is no SDK server (or, required, to give up).
    pub sdk_connect_timeout: Duration,
    /// Deadline of every single SDK call.
    pub sdk_call_timeout: Duration,
    /// Bound on delivering and confirming Shutdown().
    pub shutdown_timeout: Duration,
    /// How the wrapper stops its child.
    pub stop: StopSettings,
    /// The wrapper holds its child until the GameServer's address is known.
    pub wait_for_sdk: bool,
    /// Labels set at Ready.
    pub labels: Vec<KeyValue>,
    /// Annotations set at Ready.
    pub annotations: Vec<KeyValue>,
    /// Program run when the GameServer is allocated, if any.
    pub allocated_hook: Option<Hook>,
    /// Shutdown() once Allocated and empty for so long; `None` is never.
    pub idle_shutdown: Option<Duration>,
    /// Shutdown() once Ready and not allocated for so long; `None` is never.
    pub max_age: Option<Duration>,
    /// Program run at stop, if any.
    pub stop_hook: Option<Hook>,
    /// Status endpoint; `None` is off.
    pub status_addr: Option<StatusAddr>,
    /// What is logged, and how.
    pub log: LogSettings,
}

impl Settings {
    /// What the log probe waits for, if there is one.
    #[must_use]
    pub fn log_probe(&self) -> Option<&LogTarget> {
        self.readiness.iter().find_map(|probe| if let Probe::Log(target) = probe { Some(target) } else { None })
    }
}

/// What `agones-shim probe` reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSettings {
    /// Never empty; resolved like [`Settings::liveness`].
    pub liveness: Vec<Probe>,
    /// One probe, connect to last byte.
    pub probe_timeout: Duration,
    /// What is logged, and how.
    pub log: LogSettings,
}

/// What `agones-shim sdk CALL` reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SdkSettings {
    /// Where the SDK server listens.
    pub endpoint: Endpoint,
    /// Deadline of the connection and of the call, each.
    pub call_timeout: Duration,
    /// What is logged, and how.
    pub log: LogSettings,
}

/// What `agones-shim status` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusSettings {
    /// Where the status endpoint of the running shim listens, if it has one.
    pub status_addr: Option<StatusAddr>,
    /// What is logged, and how.
    pub log: LogSettings,
}

/// One probe, as written in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A port that must accept.
    Tcp(TcpTarget),
    /// A URL that must answer 2xx.
    Http(HttpTarget),
    /// A server that must answer its query protocol.
    Query(QueryTarget),
    /// A line that must have been written.
    Log(LogTarget),
    /// A path that must exist.
    File(String),
    /// A program and its arguments, never empty: it must exit with 0.
    Exec(Vec<String>),
}

impl Probe {
    /// It tells whether the game server lives now, and not only that it once began.
    #[must_use]
    pub fn tells_life(&self) -> bool {
        !matches!(self, Self::Log(_) | Self::File(_))
    }
}

/// A line that the game writes when it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// What it looks like.
    pub pattern: Pattern,
    /// So many such lines.
    pub count: NonZeroU32,
    /// Where it is written; `None` is the child's stdout and stderr.
    pub file: Option<String>,
}

/// A server that answers a query protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTarget {
    /// What it speaks.
    pub protocol: Protocol,
    /// No host is loopback: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
}

/// How a server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Valve's server queries.
    A2s,
    /// Minecraft Java's server list ping, over TCP.
    Minecraft,
    /// Minecraft Bedrock's (RakNet's) unconnected ping.
    Bedrock,
    /// Quake III's getstatus.
    Quake3,
    /// QuakeWorld's status.
    Quake,
    /// Teeworlds 0.6, which DDNet speaks, and 0.7.
    Teeworlds,
    /// Mumble's extended ping.
    Mumble,
    /// These bytes, which any answer will do for.
    Udp(Vec<u8>),
}

/// Where a TCP probe connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpTarget {
    /// A bare port means loopback, IPv4 or IPv6, whichever accepts: [`Host::Loopback`].
    pub host: Host,
    /// Never 0.
    pub port: NonZeroU16,
}

/// A host as far as it can be told apart without a resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// `localhost` or no host at all: 127.0.0.1 and ::1, never a resolver.
    Loopback,
    /// An address literal, without brackets.
    Ip(std::net::IpAddr),
    /// A name that needs a resolver.
    Name(String),
}

/// An `http://` URL in the parts that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    /// As written, without user information, for logs and messages.
    pub url: String,
    /// `user:password` of the URL, percent-decoded, sent as Basic authorization; never logged.
    pub credentials: Option<Secret>,
    /// Host to connect to.
    pub host: Host,
    /// Port to connect to; 80 where the URL has none.
    pub port: NonZeroU16,
}

/// Something that must not reach a log, the status page or `check`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// A source of readings, and what they are published as: a Counter, a List or both.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterSettings {
    /// Name of the Counter in the GameServer spec; `None` where the List is all.
    pub name: Option<String>,
    /// Where its value is read.
    pub source: Source,
    /// The source's maximum becomes the Counter's capacity.
    pub publish_capacity: bool,
    /// Time between readings.
    pub interval: Duration,
    /// Name of the List in the GameServer spec that gets the players' names.
    pub list: Option<String>,
}

/// Where a Counter's value is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A Prometheus text endpoint.
    Metrics {
        /// Where it is.
        url: HttpTarget,
        /// Which series to sum.
        metric: Selector,
        /// A text without any of them means 0.
        missing_is_zero: bool,
    },
    /// A server that says how many players it has.
    Query(QueryTarget),
}

/// `AGONES_SHIM_SDK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdkMode {
    /// Use an SDK server when there is one.
    Auto,
    /// Never connect.
    Off,
    /// Exit 75 when there is none within the connect timeout.
    Required,
}

/// Host and port of the SDK server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `localhost` unless set.
    pub host: Host,
    /// 9357 unless set.
    pub port: NonZeroU16,
}

/// How the wrapper stops its child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopSettings {
    /// What the child is stopped with.
    pub signal: StopSignal,
    /// What SIGHUP does.
    pub hup: Hup,
    /// SIGKILL to the child's group this long after the stop signal; `None` is never.
    pub timeout: Option<Duration>,
    /// Who gets the stop signal.
    pub scope: StopScope,
}

/// A signal number that can be sent, real-time ones included, with the name it was given by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopSignal {
    /// The kernel's number, 1 to 64.
    pub number: i32,
    /// `SIGTERM`, `SIGINT`, `SIGRTMIN+3`, ...
    pub name: String,
}

/// `AGONES_SHIM_HUP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hup {
    /// SIGHUP is a stop signal.
    Stop,
    /// SIGHUP goes to the child.
    Pass,
}

/// `AGONES_SHIM_STOP_SCOPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopScope {
    /// The child's process group.
    Group,
    /// The child alone.
    Child,
}

/// A label or an annotation, without the prefix that Agones puts in front of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// Never empty.
    pub key: String,
    /// May be empty.
    pub value: String,
}

/// A program run at stop, or at an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Program and arguments, never empty.
    pub argv: Vec<String>,
    /// Ended after this long.
    pub timeout: Duration,
}

/// Where the status endpoint listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusAddr {
    /// A bare port: every address, IPv4 and IPv6.
    AllAddresses(NonZeroU16),
    /// One address (`localhost` is both loopback addresses).
    Host(Host, NonZeroU16),
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// env_logger's filter syntax, already checked.
    pub filter: String,
    /// Text or JSON.
    pub format: LogFormat,
}

/// `AGONES_SHIM_LOG_FORMAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// `key=value` text.
    Text,
    /// JSON lines with Agones' own keys.
    Json,
}
