//! What is read of the game and published: a reading goes to the Counter and to the List of its source.
//!
//! A failed reading keeps what was published: zero would tell an autoscaler that the server has emptied. Nothing here
//! touches the rest of the life cycle, and its calls come after all others.

use std::time::{Duration, Instant};

use super::counter::CounterState;
use super::event::Reading;
use super::list::ListState;
use super::{Call, Effect, Effects, Machine, Notice, Publishes, Timer};
use crate::sdk::call::{CallError, CallErrorKind};
use crate::sdk::game_server::{Counter, GameServer, List};

/// A Counter or List that was rejected is tried again this often.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// One that got no answer: as long as the SDK server's API server is away, each try is a call that hangs.
pub(super) const LATE_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// While one fails its warning is repeated this often: logs are rotated, and whoever reads them came later.
const WARNING_INTERVAL: Duration = Duration::from_secs(3600);

/// One source and what it is published as.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Publication {
    /// Why there is no reading.
    failure: Option<String>,
    /// When a warning has said so last.
    warned: Option<Instant>,
    /// When a warning has said last that the SDK server takes nothing.
    warned_of_rejection: Option<Instant>,
    /// The first reading has come, and said whether the metric is there.
    begun: bool,
    pub(super) counter: Option<CounterState>,
    pub(super) list: Option<ListState>,
}

/// The call that a Counter or a List needs next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    Nothing,
    /// Learn what the SDK server has.
    Get,
    /// Change it.
    Change,
    /// Rejected: the retry timer decides.
    Wait,
}

impl Publication {
    pub(super) fn new(publishes: &Publishes) -> Self {
        Self {
            failure: None,
            warned: None,
            warned_of_rejection: None,
            begun: false,
            counter: publishes.counter.clone().map(|name| CounterState::new(name, publishes.capacity)),
            list: publishes.list.clone().map(ListState::new),
        }
    }

    /// As log lines name it.
    fn name(&self) -> String {
        let counter = self.counter.as_ref().map(CounterState::name);
        counter.or_else(|| self.list.as_ref().map(ListState::name)).unwrap_or_default().to_owned()
    }

    pub(super) fn failure(&self) -> Option<&String> {
        self.failure.as_ref()
    }

    /// The SDK server was lost: whoever comes back may know nothing.
    pub(super) fn forget(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.forget();
        }
        if let Some(list) = &mut self.list {
            list.forget();
        }
    }

    pub(super) fn learn(&mut self, game_server: &GameServer) {
        if let Some(counter) = &mut self.counter {
            counter.learn(game_server);
        }
    }

    /// What was acknowledged shows, or does not.
    pub(super) fn looked(&mut self, now: Instant, game_server: &GameServer) {
        if let Some(counter) = &mut self.counter {
            counter.looked(now, game_server);
        }
        if let Some(list) = &mut self.list {
            list.looked(now, game_server);
        }
    }

    pub(super) fn has_outstanding(&self) -> bool {
        let counter = self.counter.as_ref().is_some_and(CounterState::is_outstanding);
        counter || self.list.as_ref().is_some_and(ListState::is_outstanding)
    }

    fn read(&mut self, reading: Reading, out: &mut Effects) {
        let name = self.name();
        self.warned = None;
        if self.failure.take().is_some() {
            out.push(Effect::Log(Notice::ScrapeWorks { name: name.clone(), reading: reading.count }));
        }
        if !std::mem::replace(&mut self.begun, true) && reading.missing {
            out.push(Effect::Log(Notice::MetricMissing { name }));
        }
        if let Some(counter) = &mut self.counter {
            counter.read(&reading, out);
        }
        if let Some(list) = &mut self.list {
            list.read(reading.names, out);
        }
    }

    fn failed(&mut self, now: Instant, reason: String, out: &mut Effects) {
        self.failure = Some(reason.clone());
        if self.warned.is_none_or(|warned| now - warned >= WARNING_INTERVAL) {
            self.warned = Some(now);
            out.push(Effect::Log(Notice::ScrapeFailed { name: self.name(), reason }));
        }
    }

    /// What is rejected has been warned about when that began, less than a retry ago.
    fn repeat_rejection(&mut self, now: Instant, out: &mut Effects) {
        let counter = self.counter.as_ref().and_then(CounterState::rejection);
        let notices = [counter, self.list.as_ref().and_then(ListState::rejection)].into_iter().flatten();
        let mut notices = notices.peekable();
        if notices.peek().is_none() {
            self.warned_of_rejection = None;
        } else if now - *self.warned_of_rejection.get_or_insert(now) >= WARNING_INTERVAL {
            self.warned_of_rejection = Some(now);
            out.extend(notices.map(Effect::Log));
        }
    }
}

impl Machine {
    pub(super) fn scraped(&mut self, now: Instant, source: usize, outcome: Result<Reading, String>, out: &mut Effects) {
        // Whether anybody is there, the first source tells.
        match &outcome {
            Ok(reading) if source == 0 => {
                self.reading_taken(now, reading.count.max(reading.busy.into()));
                self.players_read(now, Some(reading.count));
            }
            Err(_) if source == 0 => {
                self.reading_failed();
                self.players_read(now, None);
            }
            _ => {}
        }
        let Some(publication) = self.publications.get_mut(source) else { return };
        match outcome {
            Ok(reading) => publication.read(reading, out),
            // A game that stops answers no more, and that is no news.
            Err(_) if self.stop.is_some() => {}
            Err(reason) => publication.failed(now, reason, out),
        }
    }

    /// Counters first: they are one call each, a List may need many.
    pub(super) fn next_publish_call(&mut self) -> Option<Call> {
        if self.stop.is_some() {
            return None;
        }
        let counter = self.counters().find_map(CounterState::next_call);
        counter.or_else(|| self.lists().find_map(ListState::next_call))
    }

    fn counters(&mut self) -> impl Iterator<Item = &mut CounterState> {
        self.publications.iter_mut().filter_map(|publication| publication.counter.as_mut())
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut ListState> {
        self.publications.iter_mut().filter_map(|publication| publication.list.as_mut())
    }

    pub(super) fn counter_answered(
        &mut self,
        now: Instant,
        call: Option<Call>,
        outcome: Result<Option<Counter>, CallError>,
        out: &mut Effects,
    ) {
        let Some(Call::GetCounter(name) | Call::UpdateCounter { name, .. }) = call else { return };
        // After a loss the state is new, and an error says nothing about it.
        let link_up = self.link.up;
        let Some(counter) = self.counters().find(|counter| counter.name() == name) else { return };
        match outcome {
            Ok(Some(found)) => counter.got(found, out),
            Ok(None) => {
                counter.taken(now, out);
                self.read_back_soon(now);
            }
            Err(error) if error.kind == CallErrorKind::DeadlineExceeded => {
                counter.unanswered();
                self.retry_within(now, LATE_RETRY_INTERVAL);
            }
            Err(error) if link_up => {
                if counter.refused(error, out) {
                    self.retry_within(now, RETRY_INTERVAL);
                }
            }
            Err(_) => {}
        }
    }

    pub(super) fn list_answered(
        &mut self,
        now: Instant,
        call: Option<Call>,
        outcome: Result<Option<List>, CallError>,
        out: &mut Effects,
    ) {
        let link_up = self.link.up;
        let Some(list) = self.lists().next() else { return };
        match outcome {
            Ok(Some(found)) => list.got(found, out),
            Ok(None) => {
                list.taken(now, call, out);
                self.read_back_soon(now);
            }
            Err(error) if error.kind == CallErrorKind::DeadlineExceeded => {
                list.unanswered();
                self.retry_within(now, LATE_RETRY_INTERVAL);
            }
            Err(error) if link_up => {
                list.refused(call, error, out);
                self.retry_within(now, RETRY_INTERVAL);
            }
            Err(_) => {}
        }
    }

    /// All that wait are tried together, so that one timer does for them.
    fn retry_within(&mut self, now: Instant, interval: Duration) {
        self.timers.set_earlier(Timer::PublishRetry, now + interval);
    }

    pub(super) fn publish_retry_due(&mut self, now: Instant, out: &mut Effects) {
        self.publications.iter_mut().for_each(|publication| publication.repeat_rejection(now, out));
        self.counters().for_each(CounterState::retry);
        self.lists().for_each(ListState::retry);
    }
}
