//! The machine's named timers: a table of deadlines, no clock.

use std::time::Instant;

/// Each thing that the machine waits for by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The next attempt to reach the SDK server.
    Connect,
    /// `AGONES_SHIM_SDK_CONNECT_TIMEOUT_SECS`.
    SdkConnectTimeout,
    /// `AGONES_SHIM_READY_TIMEOUT_SECS`.
    ReadyTimeout,
    /// An SDK server that is still missing is warned about.
    NoBeats,
    /// The next line that names another reason why the game is not ready.
    Reason,
    /// The next line that says what is being waited for.
    WaitReport,
    /// The next look at the GameServer on the way to Ready.
    ReadyLook,
    /// The next look at the GameServer of a child that is held.
    AddressLook,
    /// The next try to read the GameServer of a new connection.
    Look,
    /// The next look for what was acknowledged and does not show yet.
    ReadBack,
    /// The next try of the Counters and the List that were rejected.
    PublishRetry,
    /// The next try of labels and annotations that were rejected.
    MetadataRetry,
    /// The next look for an allocation.
    AllocationLook,
    /// The next look for an own Allocate().
    SelfAllocationLook,
    /// The next step of delivering and confirming Shutdown().
    ShutdownStep,
    /// `AGONES_SHIM_SHUTDOWN_TIMEOUT_SECS`.
    ShutdownBound,
    /// The time that the game has to end after the line on its stdin.
    StopLine,
    /// The next look at who is left of the child's group.
    GroupLook,
    /// `AGONES_SHIM_STOP_TIMEOUT_SECS`.
    Kill,
    /// The end of waiting for what SIGKILL was sent to.
    Leave,
}

const ALL: [Timer; 20] = [
    Timer::Connect,
    Timer::SdkConnectTimeout,
    Timer::ReadyTimeout,
    Timer::NoBeats,
    Timer::Reason,
    Timer::WaitReport,
    Timer::ReadyLook,
    Timer::AddressLook,
    Timer::Look,
    Timer::ReadBack,
    Timer::PublishRetry,
    Timer::MetadataRetry,
    Timer::AllocationLook,
    Timer::SelfAllocationLook,
    Timer::ShutdownStep,
    Timer::ShutdownBound,
    Timer::StopLine,
    Timer::GroupLook,
    Timer::Kill,
    Timer::Leave,
];

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Timers([Option<Instant>; ALL.len()]);

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        self.0[timer as usize] = Some(at);
    }

    /// Fires then, or when it was to fire before that.
    pub(super) fn set_earlier(&mut self, timer: Timer, at: Instant) {
        let set = &mut self.0[timer as usize];
        *set = Some(set.map_or(at, |before| before.min(at)));
    }

    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize].is_some()
    }

    pub(super) fn cancel(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    pub(super) fn cancel_all(&mut self) {
        self.0 = Default::default();
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().flatten().min().copied()
    }

    /// Takes the timer that has been due longest, so that each fires once and in order.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let due = ALL.into_iter().filter_map(|timer| Some((self.0[timer as usize]?, timer)));
        let (at, timer) = due.min_by_key(|(at, _)| *at)?;
        (at <= now).then(|| {
            self.cancel(timer);
            timer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_timer_has_a_place_of_its_own() {
        for (place, timer) in ALL.into_iter().enumerate() {
            assert_eq!(timer as usize, place);
        }
    }

    #[test]
    fn due_timers_fire_once_and_in_the_order_of_their_deadlines() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut timers = Timers::default();
        timers.set(Timer::Connect, at(3));
        timers.set(Timer::Leave, at(1));
        timers.set(Timer::ReadyLook, at(2));
        assert_eq!(timers.next_deadline(), Some(at(1)));
        assert_eq!(timers.take_due(at(0)), None);
        assert_eq!(timers.take_due(at(2)), Some(Timer::Leave));
        assert_eq!(timers.take_due(at(2)), Some(Timer::ReadyLook));
        assert_eq!(timers.take_due(at(2)), None);
        assert_eq!(timers.next_deadline(), Some(at(3)));
    }
}
