//! Every setting, one row each: the only place that knows their names.
//!
//! The parser, `--help`, the README's table and `check` are made from these
//! rows. A new setting is a row here, a field in `draft.rs` and one in
//! [`super::Settings`].

pub use super::row::{Default, Group, Reader, Setting};

use super::values::{self, counter_name, list_name, quote, rounds, seconds, seconds_or_zero, word};
use super::{
    Hup, LogFormat, SdkMode, StopScope, address, counter, filter, metadata, pattern, query, signal, url, words,
};

/// The whole life cycle.
const SHIM: &[Reader] = &[Reader::Sidecar, Reader::Wrapper];
/// What concerns the child.
const WRAPPER: &[Reader] = &[Reader::Wrapper];
/// What a round of probes needs.
const PROBES: &[Reader] = &[Reader::Sidecar, Reader::Wrapper, Reader::Probe];
/// What a call needs.
const CALLS: &[Reader] = &[Reader::Sidecar, Reader::Wrapper, Reader::Sdk];
/// What the status endpoint needs.
const STATUS: &[Reader] = &[Reader::Sidecar, Reader::Wrapper, Reader::Status];
/// What everyone needs.
const EVERYONE: &[Reader] =
    &[Reader::Sidecar, Reader::Wrapper, Reader::Probe, Reader::Sdk, Reader::LocalSdk, Reader::Status];

/// The variable of the readiness probes over TCP.
pub(super) const READY_TCP: &str = "AGONES_SHIM_READY_TCP";
/// The variable of the readiness probes over HTTP.
pub(super) const READY_HTTP: &str = "AGONES_SHIM_READY_HTTP";
/// The variable of the readiness probes that query.
pub(super) const READY_QUERY: &str = "AGONES_SHIM_READY_QUERY";
/// The variable of the line that means readiness.
pub(super) const READY_LOG: &str = "AGONES_SHIM_READY_LOG";
/// The variable of how many such lines it takes.
pub(super) const READY_LOG_COUNT: &str = "AGONES_SHIM_READY_LOG_COUNT";
/// The variable of the file that they are written to.
pub(super) const READY_LOG_FILE: &str = "AGONES_SHIM_READY_LOG_FILE";
/// The variable of the files whose existence means readiness.
pub(super) const READY_FILE: &str = "AGONES_SHIM_READY_FILE";
/// The variable of the program that tells readiness.
pub(super) const READY_EXEC: &str = "AGONES_SHIM_READY_EXEC";
/// The variable of the liveness probes over TCP.
pub(super) const LIVE_TCP: &str = "AGONES_SHIM_LIVE_TCP";
/// The variable of the liveness probes over HTTP.
pub(super) const LIVE_HTTP: &str = "AGONES_SHIM_LIVE_HTTP";
/// The variable of the liveness probes that query.
pub(super) const LIVE_QUERY: &str = "AGONES_SHIM_LIVE_QUERY";
/// The variable of the program that tells liveness.
pub(super) const LIVE_EXEC: &str = "AGONES_SHIM_LIVE_EXEC";
/// The variables of readiness probes of all kinds.
pub(super) const READINESS: [&str; 6] = [READY_TCP, READY_HTTP, READY_QUERY, READY_LOG, READY_FILE, READY_EXEC];
/// The variables of liveness probes of all kinds.
pub(super) const LIVENESS: [&str; 4] = [LIVE_TCP, LIVE_HTTP, LIVE_QUERY, LIVE_EXEC];
/// The variable of the labels.
pub(super) const LABELS: &str = "AGONES_SHIM_LABELS";
/// The variable of the annotations.
pub(super) const ANNOTATIONS: &str = "AGONES_SHIM_ANNOTATIONS";
/// The variable of the hook of allocations.
pub(super) const ALLOCATED_HOOK: &str = "AGONES_SHIM_ALLOCATED_HOOK";
/// The variable of the bound on being empty.
pub(super) const IDLE_SHUTDOWN: &str = "AGONES_SHIM_IDLE_SHUTDOWN_SECS";
/// The variable of the bound on not being allocated.
pub(super) const MAX_AGE: &str = "AGONES_SHIM_MAX_AGE_SECS";
/// The variable of the stop hook.
pub(super) const STOP_HOOK: &str = "AGONES_SHIM_STOP_HOOK";
/// The variable of its timeout.
pub(super) const STOP_HOOK_TIMEOUT: &str = "AGONES_SHIM_STOP_HOOK_TIMEOUT_SECS";
/// The variable of the status endpoint.
pub(super) const STATUS_ADDR: &str = "AGONES_SHIM_STATUS_ADDR";
/// The variable of the log filter.
pub(super) const LOG: &str = "AGONES_SHIM_LOG";

/// All settings, in the order of help and README.
pub const SETTINGS: &[Setting] = &[
    Setting {
        variable: READY_TCP,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "PORTS",
        help: "Ports that must accept: `8085`, `host:8085`, `[::1]:8085`, several with commas. A bare port means loopback, IPv4 or IPv6, whichever accepts",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| ports(text).map(|targets| draft.ready_tcp = Some(targets)),
    },
    Setting {
        variable: READY_HTTP,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "URLS",
        help: "`http://` URLs that must answer 2xx, several with commas. At least one readiness probe of any kind is required",
        readers: PROBES,
        is_url: true,
        parse: |draft, text| url::list(text).map(|targets| draft.ready_http = Some(targets)),
    },
    Setting {
        variable: READY_QUERY,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "QUERIES",
        help: "Queries that must be answered: `a2s://:27015`, `minecraft://host:25565`, `udp://:7777/HEX`; also bedrock, quake3, quake, teeworlds, mumble. No host means loopback",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| query::list(text).map(|targets| draft.ready_query = Some(targets)),
    },
    Setting {
        variable: READY_LOG,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "REGEX",
        help: "Regular expression that a line must match: of the child's stdout or stderr in the wrapper, else of `AGONES_SHIM_READY_LOG_FILE`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, pattern::pattern).map(|pattern| draft.ready_log = Some(pattern)),
    },
    Setting {
        variable: READY_LOG_COUNT,
        group: Group::Readiness,
        default: Default::Text("1"),
        value: "LINES",
        help: "So many lines must match `AGONES_SHIM_READY_LOG`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, values::lines).map(|lines| draft.ready_log_count = Some(lines)),
    },
    Setting {
        variable: READY_LOG_FILE,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "PATH",
        help: "File whose lines are looked at; it may come late, be rotated or truncated. The wrapper passes over what is in it at the start",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, values::path).map(|path| draft.ready_log_file = Some(path)),
    },
    Setting {
        variable: READY_FILE,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "PATHS",
        help: "Files that must exist, several with commas. One of an earlier run counts too: let the game's start remove it",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| paths(text).map(|paths| draft.ready_file = Some(paths)),
    },
    Setting {
        variable: READY_EXEC,
        group: Group::Readiness,
        default: Default::Nothing,
        value: "COMMAND",
        help: "Program that must exit 0 within the probe timeout; its process group is killed after. Arguments split like a shell's words, no shell needed",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| command(text).map(|words| draft.ready_exec = Some(words)),
    },
    Setting {
        variable: "AGONES_SHIM_READY_INTERVAL_SECS",
        group: Group::Readiness,
        default: Default::Words("adaptive"),
        value: "SECONDS",
        help: "Time between readiness rounds. Adaptive is 0.05 s while refused, 1 s once something answers but not yet well",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.ready_interval = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_READY_TIMEOUT_SECS",
        group: Group::Readiness,
        default: Default::Text("0"),
        value: "SECONDS",
        help: "Give up waiting for readiness after so long, and exit 69; 0 is never",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds_or_zero).map(|time| draft.ready_timeout = Some(time)),
    },
    Setting {
        variable: LIVE_TCP,
        group: Group::Liveness,
        default: Default::Words("readiness set"),
        value: "PORTS",
        help: "Liveness probes, written like `AGONES_SHIM_READY_TCP`. Setting any liveness probe replaces the whole default set",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| ports(text).map(|targets| draft.live_tcp = Some(targets)),
    },
    Setting {
        variable: LIVE_HTTP,
        group: Group::Liveness,
        default: Default::Words("readiness set"),
        value: "URLS",
        help: "Liveness probes, written like `AGONES_SHIM_READY_HTTP`. Setting any liveness probe replaces the whole default set",
        readers: PROBES,
        is_url: true,
        parse: |draft, text| url::list(text).map(|targets| draft.live_http = Some(targets)),
    },
    Setting {
        variable: LIVE_QUERY,
        group: Group::Liveness,
        default: Default::Words("readiness set"),
        value: "QUERIES",
        help: "Liveness probes, written like `AGONES_SHIM_READY_QUERY`. Setting any liveness probe replaces the whole default set",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| query::list(text).map(|targets| draft.live_query = Some(targets)),
    },
    Setting {
        variable: LIVE_EXEC,
        group: Group::Liveness,
        default: Default::Words("readiness set"),
        value: "COMMAND",
        help: "Program that must exit 0, written like `AGONES_SHIM_READY_EXEC`. Setting any liveness probe replaces the whole default set",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| command(text).map(|words| draft.live_exec = Some(words)),
    },
    Setting {
        variable: "AGONES_SHIM_LIVE_FAILURE_THRESHOLD",
        group: Group::Liveness,
        default: Default::Words("3 or more"),
        value: "ROUNDS",
        help: "Failed liveness rounds in a row that mean the server is gone: exit 69. Unset, the smallest number from 3 on that lasts as long as Agones' own patience",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, rounds).map(|rounds| draft.live_failure_threshold = Some(rounds)),
    },
    Setting {
        variable: "AGONES_SHIM_PROBE_TIMEOUT_SECS",
        group: Group::Liveness,
        default: Default::Text("2"),
        value: "SECONDS",
        help: "Time that one probe may take, connect to last byte, readiness and liveness alike",
        readers: PROBES,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.probe_timeout = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_HEALTH_INTERVAL_SECS",
        group: Group::Liveness,
        default: Default::Words("5 or less"),
        value: "SECONDS",
        help: "Time between beats, and between liveness rounds. Unset, the smaller of 5 s and half of the GameServer's own `health.periodSeconds`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.health_interval = Some(time)),
    },
    Setting {
        variable: counter::NAME,
        group: Group::Counter,
        default: Default::Nothing,
        value: "NAME",
        help: "Counter to publish; must exist in the GameServer's spec",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, counter_name).map(|name| draft.counter_name = Some(name)),
    },
    Setting {
        variable: counter::METRICS_URL,
        group: Group::Counter,
        default: Default::Nothing,
        value: "URL",
        help: "Where its value is read: a Prometheus text endpoint, `http://` only",
        readers: SHIM,
        is_url: true,
        parse: |draft, text| {
            let target = url::http(text).map_err(|wrong| vec![format!("{} {wrong}", quote(&url::shown(&[text], 0)))]);
            target.map(|target| draft.counter_url = Some(target))
        },
    },
    Setting {
        variable: counter::METRIC,
        group: Group::Counter,
        default: Default::Nothing,
        value: "METRIC",
        help: "Metric to read: `name` or `name{label=\"value\",...}`, all series that match are summed",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            // Its errors begin with the quoted text themselves.
            let metric = text.parse().map_err(|wrong| vec![wrong]);
            metric.map(|metric| draft.counter_metric = Some(metric))
        },
    },
    Setting {
        variable: counter::MISSING,
        group: Group::Counter,
        default: Default::Text("keep"),
        value: "ACTION",
        help: "What a metrics page without the metric means: `keep` the last value, or `zero` where the game drops a series when nobody is there",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            let words = [("keep", false), ("zero", true)];
            one(text, |text| word(text, &words)).map(|zero| draft.counter_missing_is_zero = Some(zero))
        },
    },
    Setting {
        variable: counter::QUERY,
        group: Group::Counter,
        default: Default::Nothing,
        value: "QUERY",
        help: "Where the value is read instead: a server that is asked how many play, `protocol://host:port`, as `a2s://:27015`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, counter::counted).map(|target| draft.counter_query = Some(target)),
    },
    Setting {
        variable: counter::JSON_URL,
        group: Group::Counter,
        default: Default::Nothing,
        value: "URL",
        help: "Where the value is read instead: a page in JSON, `http://` only",
        readers: SHIM,
        is_url: true,
        parse: |draft, text| {
            let target = url::http(text).map_err(|wrong| vec![format!("{} {wrong}", quote(&url::shown(&[text], 0)))]);
            target.map(|target| draft.counter_json_url = Some(target))
        },
    },
    Setting {
        variable: counter::JSON_COUNT,
        group: Group::Counter,
        default: Default::Nothing,
        value: "POINTER",
        help: "Place of the value on the page, as a JSON pointer: `/players/online`. An array or object counts its length",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, str::parse).map(|pointer| draft.counter_json_count = Some(pointer)),
    },
    Setting {
        variable: counter::JSON_CAPACITY,
        group: Group::Counter,
        default: Default::Nothing,
        value: "POINTER",
        help: "Place of the most that it can be, which becomes the Counter's capacity",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, str::parse).map(|pointer| draft.counter_json_capacity = Some(pointer)),
    },
    Setting {
        variable: counter::JSON_HEADER,
        group: Group::Counter,
        default: Default::Nothing,
        value: "HEADER",
        help: "Header sent with the request for the page, `Name: value`; never shown",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            let header = url::header(text).map_err(|wrong| vec![format!("\"***\" {wrong}")]);
            header.map(|header| draft.counter_json_header = Some(header))
        },
    },
    Setting {
        variable: counter::EXEC,
        group: Group::Counter,
        default: Default::Nothing,
        value: "COMMAND",
        help: "Program that prints the value instead: its last line is `COUNT`, or `COUNT CAPACITY`, and it exits 0. Written like `AGONES_SHIM_READY_EXEC`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| command(text).map(|words| draft.counter_exec = Some(words)),
    },
    Setting {
        variable: counter::CAPACITY,
        group: Group::Counter,
        default: Default::Text("0"),
        value: "SWITCH",
        help: "`1` makes the most players that the queried server takes the Counter's capacity",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            one(text, |text| word(text, &[("0", false), ("1", true)])).map(|on| draft.counter_capacity = Some(on))
        },
    },
    Setting {
        variable: counter::BOTS,
        group: Group::Counter,
        default: Default::Text("1"),
        value: "SWITCH",
        help: "`0` leaves bots out of the count, where the query's answer tells them: a2s and quake3",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            one(text, |text| word(text, &[("0", false), ("1", true)])).map(|on| draft.counter_bots = Some(on))
        },
    },
    Setting {
        variable: "AGONES_SHIM_COUNTER_INTERVAL_SECS",
        group: Group::Counter,
        default: Default::Text("30"),
        value: "SECONDS",
        help: "Time between readings, which is also the longest that one may take if it is below 10",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.counter_interval = Some(time)),
    },
    Setting {
        variable: counter::LIST_NAME,
        group: Group::Counter,
        default: Default::Nothing,
        value: "NAME",
        help: "List that holds the names of the players that `AGONES_SHIM_COUNTER_QUERY` finds, and nothing else; must exist in the spec",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, list_name).map(|name| draft.list_name = Some(name)),
    },
    Setting {
        variable: "AGONES_SHIM_SDK",
        group: Group::Sdk,
        default: Default::Text("auto"),
        value: "MODE",
        help: "`auto` uses an SDK server when there is one; `off` never connects; `required` exits 75 when there is none within the connect timeout",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| {
            let words = [("auto", SdkMode::Auto), ("off", SdkMode::Off), ("required", SdkMode::Required)];
            one(text, |text| word(text, &words)).map(|mode| draft.sdk = Some(mode))
        },
    },
    Setting {
        variable: "AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS",
        group: Group::Sdk,
        default: Default::Text("30"),
        value: "SECONDS",
        help: "Without an SDK server for so long, say that only the probes run, and go on trying",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.sdk_connect_timeout = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_SDK_CALL_TIMEOUT_SECS",
        group: Group::Sdk,
        default: Default::Text("2"),
        value: "SECONDS",
        help: "Deadline of every single call to the SDK server",
        readers: CALLS,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.sdk_call_timeout = Some(time)),
    },
    Setting {
        variable: "AGONES_SDK_GRPC_PORT",
        group: Group::Sdk,
        default: Default::Text("9357"),
        value: "PORT",
        help: "Port of the SDK server; set by Agones",
        readers: CALLS,
        is_url: false,
        parse: |draft, text| one(text, values::port).map(|port| draft.sdk_port = Some(port)),
    },
    Setting {
        variable: "AGONES_SDK_GRPC_HOST",
        group: Group::Sdk,
        default: Default::Text("localhost"),
        value: "HOST",
        help: "Host of the SDK server; `localhost` is 127.0.0.1 and ::1, with no resolver",
        readers: CALLS,
        is_url: false,
        parse: |draft, text| one(text, address::lone_host).map(|host| draft.sdk_host = Some(host)),
    },
    Setting {
        variable: "AGONES_SHIM_WAIT_FOR_SDK",
        group: Group::Sdk,
        default: Default::Text("0"),
        value: "SWITCH",
        help: "Wrapper: `1` starts the child once the GameServer's address and ports are known, or the connect timeout is over; it gets them as `AGONES_GAMESERVER_*`",
        readers: WRAPPER,
        is_url: false,
        parse: |draft, text| {
            one(text, |text| word(text, &[("0", false), ("1", true)])).map(|wait| draft.wait_for_sdk = Some(wait))
        },
    },
    Setting {
        variable: LABELS,
        group: Group::State,
        default: Default::Nothing,
        value: "PAIRS",
        help: "Labels that the GameServer gets at Ready: `key=value`, several with commas; Agones puts `agones.dev/sdk-` in front of each key",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| metadata::labels(text).map(|pairs| draft.labels = Some(pairs)),
    },
    Setting {
        variable: ANNOTATIONS,
        group: Group::State,
        default: Default::Nothing,
        value: "PAIRS",
        help: "Annotations, written like `AGONES_SHIM_LABELS`; a value with commas goes in double quotes: `motd=\"hello, world\"`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| metadata::annotations(text).map(|pairs| draft.annotations = Some(pairs)),
    },
    Setting {
        variable: ALLOCATED_HOOK,
        group: Group::State,
        default: Default::Nothing,
        value: "COMMAND",
        help: "Program run once for each allocation, with `AGONES_GAMESERVER_*` in its environment; written like `AGONES_SHIM_STOP_HOOK`",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| command(text).map(|words| draft.allocated_hook = Some(words)),
    },
    Setting {
        variable: "AGONES_SHIM_ALLOCATED_HOOK_TIMEOUT_SECS",
        group: Group::State,
        default: Default::Text("5"),
        value: "SECONDS",
        help: "Time that this hook may take",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.allocated_hook_timeout = Some(time)),
    },
    Setting {
        variable: IDLE_SHUTDOWN,
        group: Group::State,
        default: Default::Text("0"),
        value: "SECONDS",
        help: "Shutdown() once the server was Allocated and the Counter read as 0, three times or more, for so long; 0 is never",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds_or_zero).map(|time| draft.idle_shutdown = Some(time)),
    },
    Setting {
        variable: MAX_AGE,
        group: Group::State,
        default: Default::Text("0"),
        value: "SECONDS",
        help: "Shutdown() once the server was Ready and not allocated for so long, a tenth more or less by chance; 0 is never",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds_or_zero).map(|time| draft.max_age = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS",
        group: Group::Stop,
        default: Default::Text("8"),
        value: "SECONDS",
        help: "Time for delivering and confirming Shutdown()",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.shutdown_timeout = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_STOP_SIGNAL",
        group: Group::Stop,
        default: Default::Text("TERM"),
        value: "SIGNAL",
        help: "Wrapper: what the child is stopped with, as `TERM`, `SIGINT`, `15` or `RTMIN+3`",
        readers: WRAPPER,
        is_url: false,
        parse: |draft, text| one(text, signal::stop_signal).map(|signal| draft.stop_signal = Some(signal)),
    },
    Setting {
        variable: "AGONES_SHIM_STOP_SCOPE",
        group: Group::Stop,
        default: Default::Text("group"),
        value: "SCOPE",
        help: "Wrapper: the stop signal goes to the child's process `group` (a shell entrypoint passes nothing on) or to the `child` alone",
        readers: WRAPPER,
        is_url: false,
        parse: |draft, text| {
            let words = [("group", StopScope::Group), ("child", StopScope::Child)];
            one(text, |text| word(text, &words)).map(|scope| draft.stop_scope = Some(scope))
        },
    },
    Setting {
        variable: "AGONES_SHIM_STOP_TIMEOUT_SECS",
        group: Group::Stop,
        default: Default::Text("0"),
        value: "SECONDS",
        help: "Wrapper: kill the child's group this long after the stop signal; 0 is never: the orchestrator's own grace period decides",
        readers: WRAPPER,
        is_url: false,
        parse: |draft, text| one(text, seconds_or_zero).map(|time| draft.stop_timeout = Some(time)),
    },
    Setting {
        variable: "AGONES_SHIM_HUP",
        group: Group::Stop,
        default: Default::Text("stop"),
        value: "ACTION",
        help: "Wrapper: what SIGHUP does, `stop`, or `pass` it on to the child",
        readers: WRAPPER,
        is_url: false,
        parse: |draft, text| {
            let words = [("stop", Hup::Stop), ("pass", Hup::Pass)];
            one(text, |text| word(text, &words)).map(|hup| draft.hup = Some(hup))
        },
    },
    Setting {
        variable: STOP_HOOK,
        group: Group::Stop,
        default: Default::Nothing,
        value: "COMMAND",
        help: "Program run at stop, before the stop signal: a save over RCON, say. Arguments split like a shell's words, no shell needed",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| command(text).map(|words| draft.stop_hook = Some(words)),
    },
    Setting {
        variable: STOP_HOOK_TIMEOUT,
        group: Group::Stop,
        default: Default::Text("5"),
        value: "SECONDS",
        help: "Time that the stop hook may take",
        readers: SHIM,
        is_url: false,
        parse: |draft, text| one(text, seconds).map(|time| draft.stop_hook_timeout = Some(time)),
    },
    Setting {
        variable: STATUS_ADDR,
        group: Group::Insight,
        default: Default::Words("off"),
        value: "ADDRESS",
        help: "Where `/healthz`, `/readyz`, `/metrics` and `/status` are served, as `0.0.0.0:9360`. A bare port means all addresses",
        readers: STATUS,
        is_url: false,
        parse: |draft, text| one(text, address::status_addr).map(|addr| draft.status_addr = Some(addr)),
    },
    Setting {
        variable: LOG,
        group: Group::Insight,
        default: Default::Text("info"),
        value: "FILTER",
        help: "What is logged, in env_logger's syntax: `debug`, `agones_shim::probe=debug,warn`. Unset, `RUST_LOG` works too",
        readers: EVERYONE,
        is_url: false,
        parse: |draft, text| one(text, filter::checked).map(|filter| draft.log = Some(filter)),
    },
    Setting {
        variable: "AGONES_SHIM_LOG_FORMAT",
        group: Group::Insight,
        default: Default::Text("auto"),
        value: "FORMAT",
        help: "`text`, `json`, or `auto`: text on a terminal, JSON elsewhere",
        readers: EVERYONE,
        is_url: false,
        parse: |draft, text| {
            let words = [("auto", LogFormat::Auto), ("text", LogFormat::Text), ("json", LogFormat::Json)];
            one(text, |text| word(text, &words)).map(|format| draft.log_format = Some(format))
        },
    },
];

/// There is a setting of this name, with a number in it or without.
#[must_use]
pub fn is_setting(variable: &str) -> bool {
    counter::variables().any(|(setting, number)| setting.variable_of(number) == variable)
}

/// A value that is one, with its quoted text in front of what is wrong.
fn one<T>(text: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Vec<String>> {
    parse(text).map_err(|wrong| vec![format!("{} {wrong}", quote(text))])
}

/// A list of paths.
fn paths(text: &str) -> Result<Vec<String>, Vec<String>> {
    values::list(text, |items, index| values::path(items[index]), |items, index| items[index].to_owned())
}

/// A command line. The message shows of it no more than its program.
fn command(text: &str) -> Result<words::Words, Vec<String>> {
    words::split(text).map_err(|wrong| vec![format!("{} {wrong}", quote(&words::shown(text)))])
}

/// A list of TCP targets.
fn ports(text: &str) -> Result<Vec<super::TcpTarget>, Vec<String>> {
    values::list(text, |items, index| address::tcp(items[index]), |items, index| items[index].to_owned())
}

#[cfg(test)]
mod tests;
