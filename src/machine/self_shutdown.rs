//! Ends that nobody has to ask for: an allocated server that stays empty, and
//! a Ready one that nobody takes.
//!
//! Both end by Shutdown(), and only on a look that has just shown the state
//! that allows it. What remains is the SDK server's batch time, some 0.5 s: an
//! allocation that lands between the look and the write is shut down with it.
//! Agones offers no call that would tell.

use std::time::{Duration, Instant};

use super::allocation::{Change, is_allocated};
use super::{Effect, Effects, Machine, Notice, Phase, StopReason};
use crate::sdk::game_server::{GameServer, State};

/// Readings in a row that must be 0: one may come while the players change maps.
const MIN_READINGS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelfShutdown {
    /// Since when it has been seen Ready without interruption.
    ready_since: Option<Instant>,
    /// While it is Allocated, as last seen.
    empty: Option<Empty>,
}

/// Readings of 0 in a row, all made after the allocation was seen.
#[derive(Clone, Debug, Default, PartialEq)]
struct Empty {
    /// A reading has ended since the allocation was seen: the next one began after it.
    fresh: bool,
    count: u32,
    /// The first and the last of them.
    span: Option<(Instant, Instant)>,
}

impl Empty {
    /// Nobody was there for this long, by enough readings.
    fn lasted(&self) -> Option<Duration> {
        let (first, last) = self.span.filter(|_| self.count >= MIN_READINGS)?;
        Some(last - first)
    }
}

impl SelfShutdown {
    /// How long the allocation has been empty, by enough readings.
    pub(super) fn empty_for(&self) -> Option<Duration> {
        self.empty.as_ref().and_then(Empty::lasted)
    }
}

impl Machine {
    /// It has to be known what others do to the GameServer.
    pub(super) fn may_end_by_itself(&self) -> bool {
        self.config.idle_shutdown.is_some() || self.config.max_age.is_some()
    }

    pub(super) fn self_shutdown_looked(&mut self, now: Instant, game_server: &GameServer, change: Change) {
        let SelfShutdown { ready_since, empty } = &mut self.self_shutdown;
        if change != Change::Nothing {
            (*ready_since, *empty) = (None, None);
        }
        if game_server.state == State::Ready && !game_server.deleting {
            ready_since.get_or_insert(now);
        }
        if is_allocated(game_server) {
            empty.get_or_insert_default();
        }
    }

    /// The SDK server is back: readings made while it was away prove nothing about an allocation that nobody saw.
    pub(super) fn self_shutdown_reconnected(&mut self) {
        self.self_shutdown.empty = None;
    }

    /// The first Counter was read.
    pub(super) fn reading_taken(&mut self, now: Instant, reading: u64) {
        let Some(empty) = &mut self.self_shutdown.empty else { return };
        if reading > 0 {
            *empty = Empty { fresh: true, ..Empty::default() };
        } else if std::mem::replace(&mut empty.fresh, true) {
            empty.count = empty.count.saturating_add(1);
            empty.span = Some((empty.span.map_or(now, |(first, _)| first), now));
        }
        if self.idle_for().is_some() {
            self.look_soon();
        }
    }

    /// The first Counter could not be read: players may have come and gone unseen.
    pub(super) fn reading_failed(&mut self) {
        if let Some(empty) = &mut self.self_shutdown.empty {
            *empty = Empty { fresh: true, ..Empty::default() };
        }
    }

    /// A look has just shown the GameServer: does it end here?
    pub(super) fn shut_down_if_due(&mut self, now: Instant, out: &mut Effects) {
        if self.stop.is_some() || self.phase != Phase::Ready {
            return;
        }
        let aged = self.self_shutdown.ready_since.map(|since| now - since).filter(|age| {
            let max_age = self.config.max_age;
            max_age.is_some_and(|max_age| *age >= max_age) && !self.is_occupied()
        });
        let (reason, notice) = if let Some(ready_for) = aged {
            (StopReason::Age, Notice::TooOld { ready_for })
        } else if let Some(empty_for) = self.idle_for() {
            (StopReason::Idle, Notice::Idle { empty_for })
        } else {
            return;
        };
        out.push(Effect::Log(notice));
        self.begin_stop(now, reason, out);
    }

    fn idle_for(&self) -> Option<Duration> {
        let wanted = self.config.idle_shutdown?;
        self.self_shutdown.empty_for().filter(|lasted| *lasted >= wanted)
    }
}
