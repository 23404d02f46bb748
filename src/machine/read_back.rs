//! What was published is believed once the GameServer shows it, not when it was acknowledged: between the two lies
//! the SDK server's batch time, and whatever its API server takes.
//!
//! One look after the batch time settles everything that is outstanding, and nothing is looked at while nothing
//! changes. What does not show for long is published once more: a repeat is harmless for all that goes through here.

use std::time::{Duration, Instant};

use super::publish::Publication;
use super::{Machine, Timer};
use crate::sdk::game_server::GameServer;

/// The SDK server's batch time is 0.5 s.
const LOOK_AFTER: Duration = Duration::from_millis(750);
/// Between looks at what does not show.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// What does not show by then is published again: an API server that answered errors for 4 s was 4 s late.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Whether one value that was acknowledged shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outstanding {
    /// When it was acknowledged, while it has not shown.
    since: Option<Instant>,
    /// It was published for a second time. There is no third: somebody else wants it otherwise.
    again: bool,
}

impl Outstanding {
    /// The value of before, or another one, was acknowledged.
    pub(super) fn acknowledged(&mut self, now: Instant, same: bool) {
        self.since = Some(now);
        self.again &= same;
    }

    /// Another value is wanted from now on.
    pub(super) fn renew(&mut self) {
        self.again = false;
    }

    pub(super) fn is_open(self) -> bool {
        self.since.is_some()
    }

    /// A look has shown it, or has not. Whether it has to be published again.
    pub(super) fn looked(&mut self, now: Instant, shown: bool) -> bool {
        let Some(since) = self.since else { return false };
        if shown {
            *self = Self::default();
            return false;
        }
        if now - since < AGAIN_AFTER {
            return false;
        }
        self.since = None;
        !std::mem::replace(&mut self.again, true)
    }
}

impl Machine {
    /// Something was acknowledged that the GameServer has to show.
    pub(super) fn read_back_soon(&mut self, now: Instant) {
        if self.stop.is_none() {
            self.read_back_later(now + LOOK_AFTER);
        }
    }

    /// Looks then, unless a look comes before or nothing is outstanding.
    pub(super) fn read_back_later(&mut self, at: Instant) {
        if self.has_outstanding() && !self.timers.is_set(Timer::ReadBack) {
            self.timers.set(Timer::ReadBack, at);
        }
    }

    /// Handles every GetGameServer reply.
    pub(super) fn read_back(&mut self, now: Instant, game_server: &GameServer) {
        if self.stop.is_some() || !self.has_outstanding() {
            return;
        }
        self.publications.iter_mut().for_each(|publication| publication.looked(now, game_server));
        self.metadata.looked(now, game_server);
        if !self.has_outstanding() {
            self.timers.cancel(Timer::ReadBack);
        }
        self.read_back_later(now + LOOK_INTERVAL);
    }

    fn has_outstanding(&self) -> bool {
        self.metadata.has_outstanding() || self.publications.iter().any(Publication::has_outstanding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_shows_is_published_twice_and_then_left() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut outstanding = Outstanding::default();
        assert!(!outstanding.looked(at(0), false), "nothing was acknowledged");
        outstanding.acknowledged(at(0), false);
        assert!(!outstanding.looked(at(9), false));
        assert!(outstanding.looked(at(10), false));
        outstanding.acknowledged(at(11), true);
        assert!(outstanding.is_open());
        assert!(!outstanding.looked(at(40), false), "no third time");
        assert!(!outstanding.is_open());
        outstanding.acknowledged(at(50), false);
        assert!(!outstanding.looked(at(51), true));
        assert!(!outstanding.is_open(), "it shows");
    }
}
