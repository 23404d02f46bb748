//! One probe of one target: a TCP connect, an HTTP GET or a query, inside its timeout.

use std::time::{Duration, Instant};

use super::Try;
use crate::deadline::Deadline;
use crate::http;
use crate::query;
use crate::resolve::Resolver;
use crate::settings::Probe;

/// The body of a probed page is read to this size and dropped.
const BODY_CAP: usize = 64 * 1024;

/// How one try of one probe went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The reason, where it failed.
    pub result: Result<(), String>,
    /// Something accepted the connection.
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
}

impl Prober {
    /// Of one probe.
    #[must_use]
    pub fn new(probe: Probe) -> Self {
        Self { name: probe.to_string(), probe, resolver: Resolver::new() }
    }

    /// One prober for each probe of both sets, and the sets as places in that
    /// list: a probe in both sets is one, with one resolver.
    #[must_use]
    pub fn shared(readiness: &[Probe], liveness: &[Probe]) -> (Vec<Self>, Vec<usize>, Vec<usize>) {
        let mut probers: Vec<Self> = Vec::new();
        let mut places = |set: &[Probe]| {
            let mut places: Vec<usize> = Vec::new();
            for probe in set {
                let found = probers.iter().position(|prober| prober.probe == *probe);
                let place = found.unwrap_or_else(|| {
                    probers.push(Self::new(probe.clone()));
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

    /// Tries once.
    pub fn probe(&mut self, timeout: Duration) -> Outcome {
        let began = Instant::now();
        let deadline = Deadline::after(timeout);
        let (host, port) = match &self.probe {
            Probe::Tcp(target) => (&target.host, target.port),
            Probe::Http(target) => (&target.host, target.port),
            Probe::Query(target) => (&target.host, target.port),
        };
        let addresses = match self.resolver.addresses(host, port, deadline) {
            Ok(addresses) => addresses,
            Err(reason) => return Outcome { took: began.elapsed(), ..Outcome::failed(reason) },
        };
        let (result, connected) = match &self.probe {
            Probe::Tcp(_) => match http::connect(&addresses, deadline) {
                Ok(_) => (Ok(()), true),
                Err(failure) => (Err(failure.reason), failure.connected),
            },
            Probe::Http(target) => match http::get(target, &addresses, deadline, None, BODY_CAP, |_: &[u8]| ()) {
                Ok(response) if response.is_success() => (Ok(()), true),
                Ok(response) => (Err(response.describe()), true),
                Err(failure) => (Err(failure.reason), failure.connected),
            },
            Probe::Query(target) => match query::ask(target, &addresses, false, deadline) {
                Ok(_) => (Ok(()), true),
                Err(failure) => (Err(failure.reason), failure.connected),
            },
        };
        Outcome { result, connected, took: began.elapsed() }
    }
}
