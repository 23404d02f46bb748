//! One Counter: what was read goes to the SDK server when it has changed.
//!
//! 0 <= count <= capacity holds in every call, so that no other reader ever sees it broken: a capacity that is
//! published goes out in one call with the count that has to fit it.

use std::time::Instant;

use super::event::Reading;
use super::publish::Next;
use super::read_back::Outstanding;
use super::{Call, CounterSnapshot, Effect, Effects, Notice};
use crate::sdk::call::CallError;
use crate::sdk::game_server::{Counter, GameServer};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CounterState {
    name: String,
    publish_capacity: bool,
    /// The last good reading.
    reading: Option<u64>,
    /// The game's own maximum, where it becomes the capacity: never 0, and kept when an answer does not tell it.
    maximum: Option<i64>,
    /// What the SDK server took last, since it was last connected.
    sent: Sent,
    /// Whether the GameServer shows that.
    outstanding: Outstanding,
    /// The update under way.
    sending: Sent,
    /// The capacity, as far as it is known.
    capacity: Option<i64>,
    /// The capacity was asked for since the last update that was taken.
    capacity_asked: bool,
    next: Next,
    /// What a warning has been written about and not yet taken back.
    rejected: Option<String>,
    clamped: bool,
}

/// `None` is not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sent {
    count: Option<i64>,
    capacity: Option<i64>,
}

impl CounterState {
    pub(super) fn new(name: String, publish_capacity: bool) -> Self {
        Self {
            name,
            publish_capacity,
            reading: None,
            maximum: None,
            sent: Sent::default(),
            outstanding: Outstanding::default(),
            sending: Sent::default(),
            capacity: None,
            capacity_asked: false,
            next: Next::Nothing,
            rejected: None,
            clamped: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What a warning says of it while the SDK server rejects it.
    pub(super) fn rejection(&self) -> Option<Notice> {
        Some(Notice::CounterRejected { name: self.name.clone(), error: self.rejected.clone()? })
    }

    /// `failure` is why there is no reading.
    pub(super) fn snapshot(&self, failure: Option<&String>) -> CounterSnapshot {
        CounterSnapshot {
            name: self.name.clone(),
            reading: self.reading,
            sent: self.sent.count,
            capacity: self.capacity,
            error: failure.or(self.rejected.as_ref()).cloned(),
        }
    }

    /// Whoever comes back may not know what was sent.
    pub(super) fn forget(&mut self) {
        self.sent = Sent::default();
        self.outstanding = Outstanding::default();
        self.capacity_asked = false;
        self.next = self.due();
    }

    pub(super) fn is_outstanding(&self) -> bool {
        self.outstanding.is_open()
    }

    /// What was sent shows, or does not.
    pub(super) fn looked(&mut self, now: Instant, game_server: &GameServer) {
        let Sent { count, capacity } = self.sent;
        let shown = game_server.counters.get(&self.name);
        let shown = shown.is_some_and(|shown| {
            count == Some(shown.count) && capacity.is_none_or(|capacity| capacity == shown.capacity)
        });
        if self.outstanding.looked(now, shown) && self.next == Next::Nothing {
            self.sent = Sent::default();
            self.next = self.due();
        }
    }

    pub(super) fn learn(&mut self, game_server: &GameServer) {
        if let Some(counter) = game_server.counters.get(&self.name) {
            self.capacity = Some(counter.capacity);
        }
    }

    pub(super) fn read(&mut self, reading: &Reading, out: &mut Effects) {
        self.reading = Some(reading.count);
        if self.publish_capacity {
            let maximum = reading.capacity.and_then(|most| i64::try_from(most).ok()).filter(|most| *most > 0);
            self.maximum = maximum.or(self.maximum);
        }
        self.clamped &= self.is_above_capacity();
        if self.maximum.is_some() {
            self.warn_where_clamped(out);
        }
        if self.next == Next::Nothing {
            self.next = self.due();
        }
    }

    pub(super) fn next_call(&mut self) -> Option<Call> {
        match self.next {
            Next::Nothing | Next::Wait => None,
            Next::Get => Some(Call::GetCounter(self.name.clone())),
            Next::Change => {
                let count = self.target()?;
                let capacity = self.maximum.filter(|_| self.maximum != self.sent.capacity);
                self.sending = Sent { count: Some(count), capacity };
                Some(Call::UpdateCounter { name: self.name.clone(), count, capacity })
            }
        }
    }

    /// Its capacity was asked for.
    pub(super) fn got(&mut self, found: Counter, out: &mut Effects) {
        self.capacity = Some(found.capacity);
        self.capacity_asked = true;
        if self.maximum.is_some_and(|maximum| maximum != found.capacity) {
            // Somebody has changed what was sent, and the count may not fit.
            self.sent.capacity = None;
        }
        self.warn_where_clamped(out);
        self.next = if self.is_sent() { Next::Nothing } else { Next::Change };
    }

    /// The update under way was taken.
    pub(super) fn taken(&mut self, now: Instant, out: &mut Effects) {
        let Sent { count, capacity } = self.sending;
        self.outstanding.acknowledged(now, self.sent == Sent::default());
        self.sent = Sent { count, capacity: capacity.or(self.sent.capacity) };
        self.capacity = capacity.or(self.capacity);
        self.capacity_asked = false;
        self.next = if self.is_sent() { Next::Nothing } else { self.due() };
        let (name, count) = (self.name.clone(), count.unwrap_or_default());
        out.push(Effect::Log(match self.rejected.take() {
            Some(_) => Notice::CounterWorks { name, count },
            None => Notice::CounterSet { name, count },
        }));
    }

    /// No answer: whether it was taken nobody knows.
    pub(super) fn unanswered(&mut self) {
        if self.next == Next::Change {
            self.sent = Sent::default();
        }
        self.next = Next::Wait;
    }

    /// Whether it has to wait for [`CounterState::retry`].
    pub(super) fn refused(&mut self, error: CallError, out: &mut Effects) -> bool {
        if self.next == Next::Change && !self.capacity_asked {
            // Out of range and undeclared come under one code: the capacity, asked for once, tells them apart.
            self.next = Next::Get;
            return false;
        }
        self.next = Next::Wait;
        self.capacity_asked = false;
        if self.rejected.replace(error.message.clone()).is_none() {
            let name = self.name.clone();
            out.push(Effect::Log(Notice::CounterRejected { name, error: error.message }));
        }
        true
    }

    pub(super) fn retry(&mut self) {
        if self.next == Next::Wait {
            self.next = Next::Change;
        }
    }

    /// The reading as the SDK server can take it, as far as that is known.
    fn target(&self) -> Option<i64> {
        let reading = i64::try_from(self.reading?).unwrap_or(i64::MAX);
        Some(self.maximum.or(self.capacity).map_or(reading, |capacity| reading.min(capacity.max(0))))
    }

    fn is_sent(&self) -> bool {
        self.target() == self.sent.count && (self.maximum.is_none() || self.maximum == self.sent.capacity)
    }

    /// What the reading asks for. A capacity that is not ours may have been raised since it was learnt: ask before
    /// clamping.
    fn due(&self) -> Next {
        match self.reading {
            Some(_) if self.maximum.is_none() && self.is_above_capacity() => Next::Get,
            Some(_) if !self.is_sent() => Next::Change,
            _ => Next::Nothing,
        }
    }

    fn is_above_capacity(&self) -> bool {
        self.reading.zip(self.target()).is_some_and(|(reading, target)| i128::from(reading) > i128::from(target))
    }

    fn warn_where_clamped(&mut self, out: &mut Effects) {
        let above = self.is_above_capacity();
        if above && !self.clamped {
            out.push(Effect::Log(Notice::CounterClamped {
                name: self.name.clone(),
                reading: self.reading.unwrap_or_default(),
                capacity: self.target().unwrap_or_default(),
            }));
        }
        self.clamped = above;
    }
}
