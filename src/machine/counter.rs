//! The Counter: what was read goes to the SDK server when it has changed.
//!
//! A failed reading keeps the previous value: zero would tell an autoscaler
//! that the server has emptied. Nothing here touches the rest of the life cycle.

use std::time::{Duration, Instant};

use super::event::CallError;
use super::{Call, CounterSnapshot, Effect, Effects, Machine, Notice, Timer};
use crate::game_server::{Counter, GameServer};

/// A Counter that was rejected is tried again this often.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CounterState {
    name: String,
    /// The last good reading.
    reading: Option<u64>,
    /// The count that the SDK server took last, since it was last connected.
    sent: Option<i64>,
    /// The count of the update under way.
    sending: i64,
    /// The capacity, as far as it is known.
    capacity: Option<i64>,
    /// The capacity was asked for since the last update that was taken.
    capacity_asked: bool,
    next: Next,
    /// What a warning has been written about and not yet taken back.
    scrape_failing: bool,
    rejected: bool,
    clamped: bool,
    /// What the last of those warnings was about.
    error: Option<String>,
}

/// The call that the Counter needs next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    Nothing,
    /// Learn the capacity.
    Get,
    Update,
    /// Rejected: the retry timer decides.
    Wait,
}

impl CounterState {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            reading: None,
            sent: None,
            sending: 0,
            capacity: None,
            capacity_asked: false,
            next: Next::Nothing,
            scrape_failing: false,
            rejected: false,
            clamped: false,
            error: None,
        }
    }

    pub(super) fn snapshot(&self) -> CounterSnapshot {
        CounterSnapshot {
            name: self.name.clone(),
            reading: self.reading,
            sent: self.sent,
            capacity: self.capacity,
            error: self.error.clone().filter(|_| self.scrape_failing || self.rejected),
        }
    }

    /// The SDK server was lost: whoever comes back may not know the count.
    pub(super) fn forget_sent(&mut self) {
        self.sent = None;
        self.capacity_asked = false;
        self.next = self.due();
    }

    pub(super) fn learn_capacity(&mut self, game_server: &GameServer) {
        if let Some(counter) = game_server.counters.get(&self.name) {
            self.capacity = Some(counter.capacity);
        }
    }

    /// The reading as the SDK server can take it, as far as that is known.
    fn target(&self) -> Option<i64> {
        let reading = i64::try_from(self.reading?).unwrap_or(i64::MAX);
        Some(self.capacity.map_or(reading, |capacity| reading.min(capacity.max(0))))
    }

    /// What the reading asks for. The capacity may have been raised since it was learnt: ask before clamping.
    fn due(&self) -> Next {
        match self.target() {
            Some(_) if self.is_above_capacity() => Next::Get,
            Some(target) if Some(target) != self.sent => Next::Update,
            _ => Next::Nothing,
        }
    }

    fn is_above_capacity(&self) -> bool {
        self.reading.zip(self.target()).is_some_and(|(reading, target)| i128::from(reading) > i128::from(target))
    }
}

impl Machine {
    pub(super) fn scraped(&mut self, now: Instant, reading: Result<u64, String>, out: &mut Effects) {
        match reading {
            Ok(reading) => self.reading_taken(now, reading),
            Err(_) => self.reading_failed(),
        }
        let Some(counter) = &mut self.counter else { return };
        let name = counter.name.clone();
        match reading {
            Ok(reading) => {
                if std::mem::take(&mut counter.scrape_failing) {
                    out.push(Effect::Log(Notice::ScrapeWorks { name, reading }));
                }
                counter.reading = Some(reading);
                counter.clamped &= counter.is_above_capacity();
                if counter.next == Next::Nothing {
                    counter.next = counter.due();
                }
            }
            Err(reason) => {
                counter.error = Some(reason.clone());
                if !std::mem::replace(&mut counter.scrape_failing, true) {
                    out.push(Effect::Log(Notice::ScrapeFailed { name, reason }));
                }
            }
        }
    }

    pub(super) fn next_counter_call(&mut self) -> Option<Call> {
        if self.stop.is_some() {
            return None;
        }
        let counter = self.counter.as_mut()?;
        match counter.next {
            Next::Nothing | Next::Wait => None,
            Next::Get => Some(Call::GetCounter),
            Next::Update => {
                counter.sending = counter.target()?;
                Some(Call::UpdateCounter(counter.sending))
            }
        }
    }

    pub(super) fn counter_read(&mut self, now: Instant, outcome: Result<Counter, CallError>, out: &mut Effects) {
        let link_up = self.link.up;
        let Some(counter) = &mut self.counter else { return };
        match outcome {
            Ok(found) => {
                counter.capacity = Some(found.capacity);
                counter.capacity_asked = true;
                let above = counter.is_above_capacity();
                if above && !counter.clamped {
                    out.push(Effect::Log(Notice::CounterClamped {
                        name: counter.name.clone(),
                        reading: counter.reading.unwrap_or_default(),
                        capacity: found.capacity,
                    }));
                }
                counter.clamped = above;
                counter.next = if counter.target() == counter.sent { Next::Nothing } else { Next::Update };
            }
            Err(error) if link_up => self.counter_rejected(now, error, out),
            Err(_) => {}
        }
    }

    pub(super) fn counter_updated(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        let link_up = self.link.up;
        let Some(counter) = &mut self.counter else { return };
        match outcome {
            Ok(()) => {
                let (name, count) = (counter.name.clone(), counter.sending);
                counter.sent = Some(count);
                counter.capacity_asked = false;
                counter.next = if counter.target() == counter.sent { Next::Nothing } else { counter.due() };
                out.push(Effect::Log(if std::mem::take(&mut counter.rejected) {
                    Notice::CounterWorks { name, count }
                } else {
                    Notice::CounterSet { name, count }
                }));
            }
            // Out of range and undeclared come under one code: the capacity, asked for once, tells them apart.
            Err(_) if link_up && !counter.capacity_asked => counter.next = Next::Get,
            Err(error) if link_up => self.counter_rejected(now, error, out),
            Err(_) => {}
        }
    }

    fn counter_rejected(&mut self, now: Instant, error: CallError, out: &mut Effects) {
        let Some(counter) = &mut self.counter else { return };
        counter.next = Next::Wait;
        counter.error = Some(error.message.clone());
        counter.capacity_asked = false;
        self.timers.set(Timer::CounterRetry, now + RETRY_INTERVAL);
        if !std::mem::replace(&mut counter.rejected, true) {
            let name = counter.name.clone();
            out.push(Effect::Log(Notice::CounterRejected { name, error: error.message }));
        }
    }

    pub(super) fn counter_retry_due(&mut self) {
        if let Some(counter) = self.counter.as_mut().filter(|counter| counter.next == Next::Wait) {
            counter.next = Next::Update;
        }
    }
}
