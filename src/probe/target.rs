//! One probe of one target, inside its timeout: a TCP connect, an HTTP GET, a query, a line that was seen, a file, a
//! program.

use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use super::{Try, exec};
use crate::game::child::Launcher;
use crate::log_lines::watch;
use crate::net::deadline::Deadline;
use crate::net::http::{self, Failure};
use crate::net::resolve::Resolver;
use crate::query::{self, Wanted};
use crate::settings::{Host, LogTarget, Probe};

/// The body of a probed page is read to this size and dropped.
const BODY_CAP: usize = 64 * 1024;

/// How one try of one probe went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The reason, where it failed.
    pub result: Result<(), String>,
    /// Something accepted the connection, or a try costs more than one that is refused: not at once again.
    pub connected: bool,
    /// Connect to last byte.
    pub took: Duration,
}

impl Outcome {
    pub(super) fn failed(reason: String) -> Self {
        Self { result: Err(reason), connected: false, took: Duration::ZERO }
    }

    pub(super) fn as_try(&self) -> Try {
        match (&self.result, self.connected) {
            (Ok(()), _) => Try::Passed,
            (Err(_), true) => Try::Answered,
            (Err(_), false) => Try::Refused,
        }
    }
}

/// A probe with what it keeps from one round to the next.
#[derive(Debug)]
pub struct Prober {
    probe: Probe,
    name: String,
    /// Its own: a name that hangs delays nobody else.
    resolver: Resolver,
    /// Lines that were seen so far, as the machine counts them.
    lines: u32,
    launcher: Option<Launcher>,
    program: exec::Program,
}

impl Prober {
    /// Of one probe. One that runs a program needs a launcher.
    #[must_use]
    pub fn new(probe: Probe, launcher: Option<Launcher>) -> Self {
        Self {
            name: probe.to_string(),
            probe,
            resolver: Resolver::new(),
            lines: 0,
            launcher,
            program: exec::Program::default(),
        }
    }

    /// One prober for each probe of both sets, and the sets as places in that
    /// list: a probe in both sets is one, with one resolver.
    #[must_use]
    pub fn shared(
        readiness: &[Probe],
        liveness: &[Probe],
        launcher: Option<&Launcher>,
    ) -> (Vec<Self>, Vec<usize>, Vec<usize>) {
        let mut probers: Vec<Self> = Vec::new();
        let mut places = |set: &[Probe]| {
            let mut places: Vec<usize> = Vec::new();
            for probe in set {
                let found = probers.iter().position(|prober| prober.probe == *probe);
                let place = found.unwrap_or_else(|| {
                    probers.push(Self::new(probe.clone(), launcher.cloned()));
                    probers.len() - 1
                });
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            places
        };
        let (readiness, liveness) = (places(readiness), places(liveness));
        (probers, readiness, liveness)
    }

    /// As logs name it: `tcp localhost:7777`, `http http://localhost:8080/healthz`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes note of the lines that were seen so far; true where that makes it pass from now on.
    pub fn lines_seen(&mut self, lines: u32) -> bool {
        let Probe::Log(target) = &self.probe else { return false };
        let had_enough = self.lines >= target.count.get();
        self.lines = lines;
        !had_enough && lines >= target.count.get()
    }

    /// Tries once.
    pub fn probe(&mut self, timeout: Duration) -> Outcome {
        let began = Instant::now();
        let deadline = Deadline::after(timeout);
        let (result, connected) = match &self.probe {
            Probe::Tcp(target) => over(&mut self.resolver, &target.host, target.port, deadline, |addresses| {
                http::connect(addresses, deadline).map(|_| Ok(()))
            }),
            Probe::Http(target) => over(&mut self.resolver, &target.host, target.port, deadline, |addresses| {
                let response = http::get(target, addresses, deadline, &[], BODY_CAP, |_: &[u8]| ())?;
                Ok(if response.is_success() { Ok(()) } else { Err(response.describe()) })
            }),
            Probe::Query(target) => over(&mut self.resolver, &target.host, target.port, deadline, |addresses| {
                query::ask(target, addresses, Wanted::COUNTS, deadline).map(|_| Ok(()))
            }),
            Probe::Log(target) => (line(target, self.lines), true),
            Probe::File(path) => (fs::metadata(path).map(drop).map_err(|error| reason(&error)), false),
            Probe::Exec(argv) => match &self.launcher {
                Some(launcher) => (self.program.run(launcher, argv, deadline).map(drop), true),
                None => (Err("nothing to start it with".into()), true),
            },
        };
        Outcome { result, connected, took: began.elapsed() }
    }
}

/// Asks something at these addresses; with whether anything was there.
fn over(
    resolver: &mut Resolver,
    host: &Host,
    port: NonZeroU16,
    deadline: Deadline,
    ask: impl FnOnce(&[SocketAddr]) -> Result<Result<(), String>, Failure>,
) -> (Result<(), String>, bool) {
    match resolver.addresses(host, port, deadline).map(|addresses| ask(&addresses)) {
        Ok(Ok(result)) => (result, true),
        Ok(Err(failure)) => (Err(failure.reason), failure.connected),
        Err(reason) => (Err(reason), false),
    }
}

/// Whether enough lines were seen; where not, what of them, or why none can be.
fn line(target: &LogTarget, seen: u32) -> Result<(), String> {
    let count = target.count.get();
    if seen >= count {
        return Ok(());
    }
    if let Some(path) = &target.file {
        watch::open(path).map_err(|error| format!("{path}: {}", reason(&error)))?;
    }
    Err(match count {
        1 => "no line matches yet".to_owned(),
        _ => format!("{seen} of {count} lines match yet"),
    })
}

/// Without the number that std puts behind it.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
