//! The calls seen so far, for `GET /local/calls` and for the summary at the end.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::json;
use super::request::{Refusal, Request};

/// So many calls are remembered, the newest ones: a day of beats.
const ROOM: usize = 20_000;

/// Which side a call came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Port 9357.
    Grpc,
    /// Port 9358.
    Http,
}

impl Via {
    /// For people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Http => "http",
        }
    }
}

/// What was asked for, and how it went.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    at: Duration,
    via: Via,
    method: &'static str,
    arguments: Vec<(&'static str, String)>,
    refusal: Option<Refusal>,
}

/// The record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    seen: VecDeque<Seen>,
    counts: BTreeMap<&'static str, u64>,
    refused: u64,
}

impl Calls {
    /// Remembers one.
    pub fn push(&mut self, at: Duration, via: Via, request: &Request, refusal: Option<Refusal>) {
        *self.counts.entry(request.method()).or_default() += 1;
        self.refused += u64::from(refusal.is_some());
        if self.seen.len() == ROOM {
            self.seen.pop_front();
        }
        self.seen.push_back(Seen { at, via, method: request.method(), arguments: request.arguments(), refusal });
    }

    /// There is a game that sends beats.
    #[must_use]
    pub fn has_beats(&self) -> bool {
        self.counts.contains_key(Request::Health.method())
    }

    /// The record as a JSON list, oldest first.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = json::Writer::compact();
        out.list(self.seen.iter(), |out, seen| {
            out.object(|out| {
                out.field("time_ms", |out| out.raw(seen.at.as_millis()));
                out.field("via", |out| out.string(seen.via.as_str()));
                out.field("method", |out| out.string(seen.method));
                out.field("arguments", |out| {
                    out.object(|out| {
                        for (name, value) in &seen.arguments {
                            out.field(name, |out| out.string(value));
                        }
                    });
                });
                out.field("code", |out| out.raw(seen.refusal.as_ref().map_or(0, |refusal| refusal.code as u8)));
                out.field("outcome", |out| {
                    out.string(seen.refusal.as_ref().map_or("OK", |refusal| refusal.message.as_str()));
                });
            });
        });
        out.finish()
    }

    /// `12 calls (10 Health, 2 Ready), 1 refused`.
    #[must_use]
    pub fn summary(&self) -> String {
        let total: u64 = self.counts.values().sum();
        let each: Vec<_> = self.counts.iter().map(|(method, count)| format!("{count} {method}")).collect();
        let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
        format!("{total} calls{each}, {} refused", self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_calls_are_kept_and_all_are_counted() {
        let mut calls = Calls::default();
        for number in 0..=ROOM {
            calls.push(Duration::from_millis(number as u64), Via::Grpc, &Request::Health, None);
        }
        let json: serde_json::Value = serde_json::from_str(&calls.to_json()).expect("JSON");
        assert_eq!(json.as_array().expect("a list").len(), ROOM);
        assert_eq!(json[0]["time_ms"], 1, "the oldest went");
        calls.push(Duration::ZERO, Via::Http, &Request::Ready, Some(Refusal::unknown("x".into())));
        assert_eq!(calls.summary(), format!("{} calls ({} Health, 1 Ready), 1 refused", ROOM + 2, ROOM + 1));
        assert_eq!(Calls::default().summary(), "0 calls, 0 refused");
    }
}
