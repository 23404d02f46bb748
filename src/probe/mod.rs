//! The probe thread: readiness rounds until one passes, liveness rounds when asked.
//!
//! It reports what it sees and judges nothing: thresholds and what follows
//! from them live in the machine. A round runs its probes at the same time, so
//! that one that hangs does not delay the others' verdicts, and the next round
//! begins when the last has ended.

pub(crate) mod exec;
mod schedule;
mod target;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

pub use self::schedule::{Schedule, Try};
pub use self::target::{Outcome, Prober};
use crate::game::child::Launcher;
use crate::machine::{Event, ProbeReport};
use crate::settings::{LivenessSettings, Settings};
use crate::worker::Worker;

/// What the probe thread is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Run readiness rounds, from now, until one has passed.
    AwaitReadiness,
    /// Run one liveness round.
    CheckLiveness,
    /// Lines seen so far that the log probe waits for.
    LinesSeen(u32),
}

/// Starts the probe thread; it is idle until it is told something. Probes that run a program need a launcher.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn(settings: &Settings, launcher: Option<&Launcher>, events: Sender<Event>) -> io::Result<Worker<Command>> {
    let (probers, readiness, liveness) =
        Prober::shared(&settings.readiness.probes, &settings.liveness.probes, launcher);
    let rounds = Rounds { probers, timeout: settings.liveness.probe_timeout };
    let interval = settings.readiness.interval;
    Worker::spawn("probe", events, move |commands, events| {
        run(rounds, &readiness, &liveness, interval, commands, events);
    })
}

/// Runs one liveness round, here and now.
#[must_use]
pub fn liveness_round(settings: &LivenessSettings, launcher: Option<&Launcher>) -> Vec<ProbeReport> {
    let (probers, _, liveness) = Prober::shared(&[], &settings.probes, launcher);
    Rounds { probers, timeout: settings.probe_timeout }.run(&liveness)
}

fn run(
    mut rounds: Rounds,
    readiness: &[usize],
    liveness: &[usize],
    interval: Option<Duration>,
    commands: &Receiver<Command>,
    events: &Sender<Event>,
) {
    let mut waiting: Option<Waiting> = None;
    loop {
        let command = match &waiting {
            Some(waiting) => {
                commands.recv_timeout(waiting.schedule.next_due().saturating_duration_since(Instant::now()))
            }
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let event = match command {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(Command::AwaitReadiness) => {
                waiting = Some(Waiting::new(readiness.len(), interval));
                None
            }
            Ok(Command::CheckLiveness) => Some(Event::LivenessChecked(rounds.run(liveness))),
            Ok(Command::LinesSeen(lines)) => {
                for prober in rounds.lines_seen(lines) {
                    if let (Some(waiting), Some(probe)) =
                        (&mut waiting, readiness.iter().position(|&place| place == prober))
                    {
                        waiting.schedule.urge(probe, Instant::now());
                    }
                }
                None
            }
            Err(RecvTimeoutError::Timeout) => {
                waiting.as_mut().and_then(|waiting| waiting.round(&mut rounds, readiness))
            }
        };
        if matches!(event, Some(Event::ReadinessPassed(_))) {
            waiting = None;
        }
        if event.is_some_and(|event| events.send(event).is_err()) {
            return;
        }
    }
}

/// A wait for readiness.
struct Waiting {
    schedule: Schedule,
    /// The last outcome of each probe.
    last: Vec<Option<ProbeReport>>,
    /// The reasons that were reported last.
    reported: Vec<Option<Result<(), String>>>,
}

impl Waiting {
    fn new(probes: usize, interval: Option<Duration>) -> Self {
        let schedule = Schedule::new(probes, interval, Instant::now());
        Self { schedule, last: vec![None; probes], reported: Vec::new() }
    }

    /// Runs what is due. Reports a pass, and failures whose reasons have changed.
    fn round(&mut self, rounds: &mut Rounds, readiness: &[usize]) -> Option<Event> {
        let began = Instant::now();
        let due = self.schedule.due(began);
        if due.is_empty() {
            return None;
        }
        let probers: Vec<usize> = due.iter().map(|&probe| readiness[probe]).collect();
        let outcomes = rounds.outcomes(&probers);
        let tries: Vec<_> = due.iter().zip(&outcomes).map(|(&probe, outcome)| (probe, outcome.as_try())).collect();
        for (&probe, outcome) in due.iter().zip(outcomes) {
            self.last[probe] = Some(rounds.report(readiness[probe], outcome));
        }
        if self.schedule.record(&tries, began, Instant::now()) {
            return Some(Event::ReadinessPassed(self.last.drain(..).flatten().collect()));
        }
        let reasons: Vec<_> =
            self.last.iter().map(|report| report.as_ref().map(|report| report.outcome.clone())).collect();
        let news = reasons != self.reported && reasons.iter().flatten().any(Result::is_err);
        news.then(|| {
            self.reported = reasons;
            Event::ReadinessFailed(self.last.iter().flatten().cloned().collect())
        })
    }
}

/// The probes and their deadline.
struct Rounds {
    probers: Vec<Prober>,
    timeout: Duration,
}

impl Rounds {
    fn run(&mut self, probers: &[usize]) -> Vec<ProbeReport> {
        let outcomes = self.outcomes(probers);
        probers.iter().zip(outcomes).map(|(&prober, outcome)| self.report(prober, outcome)).collect()
    }

    /// Tells the probers of lines; the places of those that pass from now on.
    fn lines_seen(&mut self, lines: u32) -> Vec<usize> {
        let told = self.probers.iter_mut().map(|prober| prober.lines_seen(lines));
        told.enumerate().filter(|(_, passes)| *passes).map(|(place, _)| place).collect()
    }

    fn report(&self, prober: usize, outcome: Outcome) -> ProbeReport {
        let probe = self.probers[prober].name().to_owned();
        let Outcome { result, took, .. } = outcome;
        log::debug!(probe, took:?, result = result.as_ref().err().map_or("passed", String::as_str); "probe");
        ProbeReport { probe, outcome: result, took }
    }

    /// Runs these probers at the same time; the first on this thread.
    fn outcomes(&mut self, wanted: &[usize]) -> Vec<Outcome> {
        let timeout = self.timeout;
        let mut chosen: Vec<_> = self.probers.iter_mut().enumerate().filter(|(at, _)| wanted.contains(at)).collect();
        let mut outcomes: Vec<(usize, Outcome)> = scope(|scope| {
            let mut here = Vec::new();
            let mut threads = Vec::new();
            let first = chosen.pop();
            for (at, prober) in chosen {
                match Builder::new().spawn_scoped(scope, move || prober.probe(timeout)) {
                    Ok(thread) => threads.push((at, thread)),
                    Err(error) => here.push((at, Outcome::failed(format!("no thread for it: {error}")))),
                }
            }
            here.extend(first.map(|(at, prober)| (at, prober.probe(timeout))));
            let joined = threads.into_iter().map(|(at, thread)| {
                // A panic in a probe is a bug of the whole thread.
                (at, thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            });
            here.extend(joined);
            here
        });
        outcomes.sort_by_key(|(at, _)| wanted.iter().position(|wanted| wanted == at));
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }
}
