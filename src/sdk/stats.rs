//! What the SDK calls were like: how many of each method, how they ended, how
//! long they took.
//!
//! Owned by the runtime, which makes the calls. Decides nothing and is read by
//! the status endpoint alone.

use std::time::Duration;

use super::call::{Answer, Call, CallErrorKind};

/// Upper bounds of the latency histogram: a healthy SDK server on loopback
/// answers within the first, and the last is past the default call timeout.
pub const BUCKETS: [Duration; 7] = [
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_millis(2500),
];

/// Agones' own names of the methods; `Connect` opens a connection and sends a beat, or another question.
const METHODS: [&str; 13] = [
    "Connect",
    "GetGameServer",
    "Ready",
    "Allocate",
    "Shutdown",
    "Health",
    "GetCounter",
    "UpdateCounter",
    "GetList",
    "AddListValue",
    "RemoveListValue",
    "SetLabel",
    "SetAnnotation",
];

/// How a call can end.
pub const OUTCOMES: [&str; 4] = ["ok", "timeout", "unavailable", "rejected"];

/// All calls since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStats([MethodStats; METHODS.len()]);

/// The calls of one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodStats {
    /// How many ended how, in the order of [`OUTCOMES`].
    pub outcomes: [u64; OUTCOMES.len()],
    /// How many took no longer than each of [`BUCKETS`].
    pub within: [u64; BUCKETS.len()],
    /// How long they took together.
    pub sum: Duration,
    /// The error of the last one that failed.
    pub last_error: Option<String>,
}

impl MethodStats {
    /// How many calls there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}

impl CallStats {
    /// Counts a call that has ended.
    pub fn record(&mut self, call: &Call, answer: &Answer, took: Duration) {
        let method = &mut self.0[place(call)];
        let error = answer.error();
        let outcome = match error.map(|error| error.kind) {
            None => 0,
            Some(CallErrorKind::DeadlineExceeded) => 1,
            Some(CallErrorKind::Unavailable) => 2,
            Some(CallErrorKind::Rejected) => 3,
        };
        method.outcomes[outcome] += 1;
        for (within, bound) in method.within.iter_mut().zip(BUCKETS) {
            *within += u64::from(took <= bound);
        }
        method.sum = method.sum.saturating_add(took);
        if let Some(error) = error {
            method.last_error = Some(error.message.clone());
        }
    }

    /// The methods that were called, by name.
    pub fn methods(&self) -> impl Iterator<Item = (&'static str, &MethodStats)> {
        METHODS.into_iter().zip(&self.0).filter(|(_, stats)| stats.count() > 0)
    }
}

/// In [`METHODS`].
fn place(call: &Call) -> usize {
    match call {
        Call::Connect { .. } => 0,
        Call::GetGameServer => 1,
        Call::Ready => 2,
        Call::Allocate => 3,
        Call::Shutdown => 4,
        Call::Health => 5,
        Call::GetCounter(_) => 6,
        Call::UpdateCounter { .. } => 7,
        Call::GetList(_) => 8,
        Call::AddListValue { .. } => 9,
        Call::RemoveListValue { .. } => 10,
        Call::SetLabel(_) => 11,
        Call::SetAnnotation(_) => 12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::call::CallError;
    use crate::settings::KeyValue;

    #[test]
    fn calls_are_counted_by_method_and_outcome_with_cumulative_buckets() {
        let mut stats = CallStats::default();
        let failed = |kind| Answer::Health(Err(CallError { kind, message: format!("{kind:?}") }));
        stats.record(&Call::Health, &Answer::Health(Ok(())), Duration::from_micros(300));
        stats.record(&Call::Health, &failed(CallErrorKind::Rejected), Duration::from_millis(3));
        stats.record(&Call::Health, &failed(CallErrorKind::DeadlineExceeded), Duration::from_secs(3));
        let update = Call::UpdateCounter { name: "players".into(), count: 7, capacity: None };
        stats.record(&update, &Answer::UpdateCounter(Ok(())), Duration::from_millis(1));
        let methods: Vec<_> = stats.methods().collect();
        assert_eq!(methods.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["Health", "UpdateCounter"]);
        assert_eq!(methods[0].1.outcomes, [1, 1, 0, 1]);
        assert_eq!(methods[0].1.within, [1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(methods[0].1.sum, Duration::from_micros(3_003_300));
        assert_eq!(methods[0].1.last_error.as_deref(), Some("DeadlineExceeded"));
        assert_eq!(methods[1].1.within, [0, 1, 1, 1, 1, 1, 1], "a bound belongs to its bucket");
    }

    #[test]
    fn every_call_has_the_place_of_its_name() {
        let text = String::new;
        let pair = KeyValue { key: "map".into(), value: "dust".into() };
        let calls = [
            Call::SetLabel(pair.clone()),
            Call::SetAnnotation(pair),
            Call::Connect { beat: true },
            Call::GetGameServer,
            Call::Ready,
            Call::Allocate,
            Call::Shutdown,
            Call::Health,
            Call::GetCounter(text()),
            Call::UpdateCounter { name: text(), count: 1, capacity: None },
            Call::GetList(text()),
            Call::AddListValue { name: text(), value: text() },
            Call::RemoveListValue { name: text(), value: text() },
        ];
        for call in calls {
            assert!(format!("{call:?}").starts_with(METHODS[place(&call)]), "{call:?}");
        }
    }
}
