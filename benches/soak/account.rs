//! Two books of the same calls: the shim's `/metrics`, and what the SDK server has seen.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use crate::support::ScriptedSdk;

/// The metrics, as they were read.
pub struct Page(String);

impl Page {
    pub fn read(status: SocketAddr) -> Option<Self> {
        crate::world::get(status, "/metrics").map(Self)
    }

    /// The value of `agones_shim_<sample>`.
    pub fn value(&self, sample: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix("agones_shim_")?.strip_prefix(sample)?.strip_prefix(' '))
    }

    fn calls(&self, method: &str, outcome: &str) -> u64 {
        let sample = format!("sdk_calls_total{{method=\"{method}\",outcome=\"{outcome}\"}}");
        self.value(&sample).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// One method's entries.
#[derive(Clone, Copy)]
struct Entry {
    /// By the server.
    seen: u64,
    /// By the shim: confirmed, and not.
    ok: u64,
    failed: u64,
    /// Calls that may have been of this method: a connection is proven by a beat, where one may be sent.
    perhaps: u64,
}

/// Both books at one moment.
pub struct Account(BTreeMap<&'static str, Entry>);

/// The shim's names of a method of the server's.
const METHODS: [(&str, &[&str]); 6] = [
    ("Health", &["Health"]),
    ("Ready", &["Ready"]),
    ("Shutdown", &["Shutdown"]),
    ("GetCounter", &["GetCounter"]),
    ("UpdateCounter", &["UpdateCounter"]),
    ("GetGameServer", &["GetGameServer"]),
];

impl Account {
    pub fn of(page: &Page, sdk: &ScriptedSdk) -> Self {
        let entry = |&(method, names): &(&'static str, &[&str])| {
            let count = |outcomes: &[&str]| -> u64 {
                names.iter().flat_map(|name| outcomes.iter().map(|outcome| page.calls(name, outcome))).sum()
            };
            let failed = count(&["timeout", "unavailable", "rejected"]);
            let connects =
                || ["ok", "timeout", "unavailable", "rejected"].map(|outcome| page.calls("Connect", outcome));
            let perhaps = if method == "Health" { connects().iter().sum() } else { 0 };
            (method, Entry { seen: sdk.count(method) as u64, ok: count(&["ok"]), failed, perhaps })
        };
        Self(METHODS.iter().map(entry).collect())
    }

    pub fn seen(&self, method: &str) -> u64 {
        self.0[method].seen
    }

    /// What cannot be: calls that the shim counts as confirmed and nobody saw, calls that came from nowhere, and, from
    /// one moment of peace to a later one, calls that only one side has counted.
    pub fn disagrees_with(&self, later: &Self) -> Option<String> {
        for (method, entry) in &later.0 {
            // The page is older than the server's count by a call or two.
            let slack = 3;
            if entry.ok > entry.seen {
                return Some(format!("{method}: {} confirmed, {} seen", entry.ok, entry.seen));
            }
            let made = entry.ok + entry.failed + entry.perhaps;
            if entry.seen > made + slack {
                return Some(format!("{method}: {} seen, {made} made", entry.seen));
            }
            let before = self.0[method];
            let (seen, ok) = (entry.seen - before.seen, entry.ok - before.ok);
            if seen.abs_diff(ok) > slack || entry.failed != before.failed {
                let failed = entry.failed - before.failed;
                return Some(format!("{method}, in peace: {seen} seen, {ok} confirmed, {failed} failed"));
            }
        }
        None
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |(method, entry): (&&str, &Entry)| {
            format!("{method} {} seen, {} confirmed, {} failed", entry.seen, entry.ok, entry.failed)
        };
        f.write_str(&self.0.iter().map(entry).collect::<Vec<_>>().join("; "))
    }
}
