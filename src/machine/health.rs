//! Liveness rounds and beats.
//!
//! Until the game has been served, beats are unconditional: a slow start is
//! no hang. From then on, and from the start for a GameServer that has been
//! Ready before, a beat goes out only if the last liveness round passed.

use std::time::{Duration, Instant};

use super::config::{DEFAULT_HEALTH_INTERVAL, DEFAULT_PATIENCE};
use super::{Call, Effect, Effects, HealthCounts, Machine, Notice, Phase, ProbeReport, StopReason, failures};
use crate::duration::seconds;
use crate::sdk::call::CallError;
use crate::settings::SdkMode;

/// Fewer failed rounds than this never mean that a server is gone.
const MIN_THRESHOLD: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Health {
    /// Liveness rounds are run, and beats depend on them.
    pub(super) watching: bool,
    /// How the last liveness round ended; `None` before the first.
    pub(super) alive: Option<bool>,
    /// A round has been asked for and has not ended: since when, or since it was last counted as overdue.
    checking: Option<Instant>,
    /// Rounds that should have begun since the one under way did; they count as failed.
    overdue: u32,
    /// Failed rounds in a row.
    pub(super) failed_rounds: u32,
    /// A beat is to go out as soon as no call is under way.
    pub(super) beat_wanted: bool,
    /// A beat that was due did not go out: the next good news sends it.
    beat_owed: bool,
    /// The SDK server rejected the last beat.
    rejected: bool,
    /// Read by snapshots only.
    pub(super) counts: HealthCounts,
    /// When the last one was confirmed.
    pub(super) last_beat: Option<Instant>,
}

impl Machine {
    /// `AGONES_SHIM_HEALTH_INTERVAL_SECS`, else the smaller of 5 s and half of the GameServer's period.
    pub(super) fn health_interval(&self) -> Duration {
        self.config.health_interval.unwrap_or_else(|| {
            let period = self.game_server.as_ref().and_then(|game_server| game_server.health.period);
            period.map_or(DEFAULT_HEALTH_INTERVAL, |period| DEFAULT_HEALTH_INTERVAL.min(period / 2))
        })
    }

    /// The smallest number of rounds, at least 3, that lasts as long as Agones' own patience.
    pub(super) fn failure_threshold(&self) -> u32 {
        self.config.live_failure_threshold.unwrap_or_else(|| {
            let patience = self.game_server.as_ref().and_then(|game_server| game_server.health.patience());
            let patience = patience.unwrap_or(DEFAULT_PATIENCE).as_nanos();
            let rounds = patience.div_ceil(self.health_interval().as_nanos().max(1));
            u32::try_from(rounds).unwrap_or(u32::MAX).max(MIN_THRESHOLD)
        })
    }

    /// From now on beats depend on liveness; `alive` is what is known already.
    pub(super) fn watch_liveness(&mut self, now: Instant, alive: bool, out: &mut Effects) {
        if self.health.watching {
            return;
        }
        self.health.watching = true;
        if alive {
            self.health.alive = Some(true);
        } else {
            self.health.beat_owed = std::mem::take(&mut self.health.beat_wanted);
            self.check_liveness(now, out);
        }
    }

    pub(super) fn health_due(&mut self, now: Instant, out: &mut Effects) {
        if self.health.watching && self.stop.is_none() {
            match self.health.checking {
                None => self.check_liveness(now, out),
                // Before it is served, a round may wait for readiness probes that are not its own. Two that are due at
                // once were held up by a call: the first has only just begun.
                Some(since) if self.phase >= Phase::Served && now - since >= self.health_interval() * 3 / 4 => {
                    self.round_is_overdue(now, out);
                }
                Some(_) => {}
            }
        }
        self.beat_at_once();
        if self.may_end_by_itself() {
            self.look_soon();
        }
        self.count_missed_beat();
    }

    /// A beat was due: did it have to stay behind, and why?
    fn count_missed_beat(&mut self) {
        if self.config.sdk == SdkMode::Off || self.stop.is_some() {
            return;
        }
        if !self.is_alive() {
            // Before the first round nothing is known that would hold it back: it waits, and goes out after.
            self.health.counts.withheld += u64::from(self.health.alive.is_some());
        } else if self.link.ever && !self.link.up {
            self.health.counts.failed += 1;
        }
    }

    fn check_liveness(&mut self, now: Instant, out: &mut Effects) {
        if self.health.checking.is_none() {
            self.health.checking = Some(now);
            out.push(Effect::CheckLiveness);
        }
    }

    /// A beat now if one may go out, else as soon as one may.
    pub(super) fn beat_at_once(&mut self) {
        let may = self.link.up && self.is_alive();
        self.health.beat_wanted = may;
        self.health.beat_owed = !may;
    }

    pub(super) fn is_alive(&self) -> bool {
        match &self.stop {
            Some(stop) => stop.may_beat(self.config.wrapper, self.health.alive),
            None => !self.health.watching || self.health.alive == Some(true),
        }
    }

    pub(super) fn next_beat(&mut self) -> Option<Call> {
        std::mem::take(&mut self.health.beat_wanted).then_some(Call::Health)
    }

    pub(super) fn beat_answered(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        match &outcome {
            Ok(()) => {
                self.health.counts.sent += 1;
                self.health.last_beat = Some(now);
            }
            Err(_) => self.health.counts.failed += 1,
        }
        match outcome {
            Ok(()) => {
                if std::mem::take(&mut self.health.rejected) {
                    out.push(Effect::Log(Notice::BeatsResumed));
                }
            }
            // A broken link has been reported; the beat is sent when it is back.
            Err(_) if !self.link.up => self.health.beat_owed = true,
            Err(error) => {
                if !std::mem::replace(&mut self.health.rejected, true) {
                    out.push(Effect::Log(Notice::BeatRejected { error: error.message }));
                }
            }
        }
    }

    pub(super) fn liveness_checked(&mut self, now: Instant, reports: &[ProbeReport], out: &mut Effects) {
        self.health.checking = None;
        let was_counted = std::mem::take(&mut self.health.overdue);
        if self.stop.is_some() || !self.health.watching {
            return;
        }
        if reports.iter().all(|report| report.outcome.is_ok()) {
            self.health.counts.rounds_passed += 1;
            let rounds = std::mem::take(&mut self.health.failed_rounds);
            if rounds > 0 {
                out.push(Effect::Log(Notice::LivenessRecovered { rounds }));
            }
            self.health.alive = Some(true);
            if self.health.beat_owed {
                self.beat_at_once();
            }
            return;
        }
        let (reason, overdue) = (failures(reports), was_counted > 0);
        if !overdue {
            self.count_failed_round();
        }
        self.report_failed_round(now, reason, out);
    }

    /// The next round would begin now, and one is still under way: that counts as failed, so that a threshold of
    /// rounds is a time. The line is left to the round's own report, which has the reason, unless the end is here first.
    fn round_is_overdue(&mut self, now: Instant, out: &mut Effects) {
        self.health.checking = Some(now);
        self.health.overdue = self.health.overdue.saturating_add(1);
        self.count_failed_round();
        if self.health.failed_rounds >= self.failure_threshold() {
            let waited = self.health_interval().saturating_mul(self.health.overdue);
            self.report_failed_round(now, format!("no answer yet after {}", seconds(waited)), out);
        }
    }

    fn count_failed_round(&mut self) {
        self.health.alive = Some(false);
        self.health.counts.rounds_failed += 1;
        self.health.failed_rounds = self.health.failed_rounds.saturating_add(1);
        self.health.beat_wanted = false;
    }

    fn report_failed_round(&mut self, now: Instant, reason: String, out: &mut Effects) {
        let (round, threshold) = (self.health.failed_rounds, self.failure_threshold());
        out.push(Effect::Log(Notice::LivenessFailed { reason: reason.clone(), round, threshold }));
        if round >= threshold {
            out.push(Effect::Log(Notice::LivenessLost { rounds: round, reason }));
            if self.game_server.as_ref().is_some_and(|game_server| game_server.health.disabled) {
                out.push(Effect::Log(Notice::HealthDisabled));
            }
            self.begin_stop(now, StopReason::Liveness, out);
        }
    }
}
