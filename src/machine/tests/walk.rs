//! A walk over everything that can happen, with invariants after each step.
//!
//! Which way it goes is a matter of bytes: random ones here, a fuzzer's in `fuzz/fuzz_targets/machine.rs`.

use std::time::Duration;

use super::super::*;
use super::world::{config, error, pair, report, wrapper};
use crate::sdk::call::{CallErrorKind, Peer};
use crate::sdk::game_server::{Counter, List, State};
use crate::settings::{StopScope, StopSignal};

/// Rolls what the bytes say; 0 for ever once they are used up.
struct Dice<'a>(&'a [u8]);

impl Dice<'_> {
    fn roll(&mut self, sides: u64) -> u64 {
        let mut rolled = 0;
        for _ in 0..=sides.ilog2() / 8 {
            if let Some((&byte, rest)) = self.0.split_first() {
                (rolled, self.0) = (rolled << 8 | u64::from(byte), rest);
            }
        }
        rolled % sides
    }
}

const STATES: [State; 10] = [
    State::Creating,
    State::Scheduled,
    State::RequestReady,
    State::Ready,
    State::Allocated,
    State::Reserved,
    State::Shutdown,
    State::Unhealthy,
    State::Error,
    State::Unset,
];

/// What the invariants remember.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub call: Option<Call>,
    /// The state of the last look, cleared by Ready().
    looked: Option<GameServer>,
    connected: bool,
    /// A server that is still there has a Ready(), or may have it; Allocate() was called for it.
    ready_queued: bool,
    allocation_kept: bool,
    /// It was said that there is no SDK server, and none has come since.
    probe_only: bool,
    wrapper: bool,
    pub starts: usize,
    pub exits: usize,
    sdk_off: bool,
    /// The way out has begun, for this reason.
    stopping: Option<StopReason>,
    /// And it has been said how Shutdown() went.
    told: bool,
    gave_up: bool,
    killed: bool,
    /// How the last liveness round went, and what each source said last.
    alive: Option<bool>,
    readings: [Option<u64>; 3],
    /// Readiness rounds, and a liveness round, are under way.
    pub awaiting: bool,
    pub checking: bool,
    /// The metrics endpoint is read, the hook runs, the child has ended.
    pub scraping: bool,
    pub hook: bool,
    pub allocated_hook: bool,
    pub child_ended: bool,
    /// It could not be executed.
    pub never_ran: bool,
    /// The group is being listed, the stop line is being written.
    pub listing: bool,
    pub writing: bool,
    /// The line's time is not over before then; the stop signal was sent.
    line: Option<Instant>,
    signaled: bool,
    /// The connection is up as far as the answers show; Shutdown() was called, and needs no more of that.
    link_up: bool,
    shutdown_called: bool,
    shutdown_done: bool,
    /// Of the configuration.
    has_line: bool,
    line_time: Duration,
    child_has_signal: bool,
    has_stop_timeout: bool,
    allocates: bool,
    gives_back: bool,
    /// The allocation that the last look showed, and the readings of 0 in a row since, as far as 4.
    allocation: Option<String>,
    zeros: u8,
    /// An own Allocate() over a Ready GameServer that the server has, or may have, over this value of `last-allocated`
    /// and since when; one that did not come into being.
    own_call: Option<(String, Instant)>,
    /// Another's allocation shows.
    foreign: bool,
    /// The `last-allocated` of an allocation that is the shim's own by the model.
    own: Option<String>,
    /// What the first source said last, if it could be read.
    players: Option<u64>,
    /// Own Ready() calls that gave an allocation back, and own Allocate() calls for players.
    pub given_back: u32,
    pub occupied: u32,
}

impl Seen {
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            wrapper: config.wrapper,
            has_line: config.stop_line.is_some(),
            line_time: config.stop_line.unwrap_or_default(),
            child_has_signal: config.stop_signal.is_some(),
            has_stop_timeout: config.stop_timeout.is_some(),
            allocates: config.allocate_on_players,
            gives_back: config.empty_ready.is_some(),
            ..Self::default()
        }
    }

    /// What the stop signal and Shutdown() depend on.
    fn hear(&mut self, now: Instant, event: &Event) {
        match event {
            // A repeated one goes one step on.
            Event::StopRequested(_) if self.line.is_some() => self.line = Some(now),
            Event::StopLineWritten(outcome) => {
                self.line = Some(outcome.as_ref().map_or(now, |()| now + self.line_time()));
            }
            Event::Answered(Answer::Connected(Ok(_))) => self.link_up = true,
            Event::Answered(answer) => {
                self.link_up &= answer.error().is_none_or(|error| error.kind == CallErrorKind::Rejected);
            }
            _ => {}
        }
    }

    /// Whose the allocation is, by the letter: the shim's own is the one that shows after the batch time of its own
    /// Allocate(), where none showed before.
    fn look_whose(&mut self, now: Instant, shown: &GameServer) {
        let allocated = shown.state == State::Allocated && !shown.deleting;
        let stamp = shown.last_allocated();
        if !allocated {
            (self.own, self.foreign) = (None, false);
        } else if self.own.as_deref().is_some_and(|own| own != stamp) {
            (self.own, self.foreign) = (None, true);
        } else if self.own.is_none() && !self.foreign {
            let waited = |at: Instant| shown.local_mode || now - at >= Duration::from_millis(500);
            let own = self.own_call.as_ref().is_some_and(|(over, at)| over != stamp && waited(*at));
            (self.own, self.foreign) = (own.then(|| stamp.to_owned()), !own);
        }
        // It has landed, or something came later than it.
        let is_over = |at: Instant| match shown.state {
            State::Ready => false,
            State::Allocated if allocated => shown.local_mode || now - at >= Duration::from_millis(500),
            _ => now - at >= Duration::from_secs(1) || shown.deleting,
        };
        self.own_call.take_if(|(_, at)| is_over(*at));
    }

    fn wants_shutdown(&self) -> bool {
        !self.sdk_off && self.stopping.is_some_and(StopReason::wants_shutdown)
    }

    /// Where nobody's grace period ends the game, the line shares 10 s with the signal.
    fn line_time(&self) -> Duration {
        let gives_up = self.stopping.is_some_and(|reason| reason >= StopReason::Readiness);
        let bound = Duration::from_millis(if self.has_stop_timeout { 2500 } else { 5000 });
        if gives_up { self.line_time.min(bound) } else { self.line_time }
    }
}

/// Who is left of the group, ignoring these signals.
#[must_use]
pub fn members(ignored: u64) -> Vec<GroupMember> {
    vec![GroupMember { pid: 17, name: "game".into(), ignored }]
}

const NAMES: [&str; 4] = ["ann", "bob", "\u{7}", ""];

/// Counts and names that have little to do with each other: the capacity may be 0, and lower than the count.
#[must_use]
pub fn reading(count: u64, names: &[&str]) -> Reading {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Reading { count, capacity: Some(count % 4), names: Some(names), ..Reading::default() }
}

fn game_server(dice: &mut Dice) -> GameServer {
    let mut game_server = GameServer {
        state: STATES[usize::try_from(dice.roll(10)).expect("small")].clone(),
        deleting: dice.roll(10) == 0,
        local_mode: dice.roll(4) == 0,
        ..GameServer::default()
    };
    if dice.roll(2) == 0 {
        game_server.address = "203.0.113.7".into();
    }
    let allocated = dice.roll(3).to_string();
    game_server.annotations.insert("agones.dev/last-allocated".into(), allocated);
    let capacity = i64::try_from(dice.roll(5)).expect("small");
    game_server.counters.insert("players".into(), Counter { count: 0, capacity });
    game_server
}

fn answer(call: &Call, dice: &mut Dice) -> Answer {
    let failure = match dice.roll(6) {
        0 => Some(error(CallErrorKind::Unavailable)),
        1 => Some(error(CallErrorKind::DeadlineExceeded)),
        2 => Some(error(CallErrorKind::Rejected)),
        _ => None,
    };
    let outcome = failure.map_or(Ok(()), Err);
    match call {
        Call::Connect { .. } => {
            Answer::Connected(outcome.map(|()| if dice.roll(2) == 0 { Peer::New } else { Peer::Same }))
        }
        Call::GetGameServer => Answer::GameServer(outcome.map(|()| game_server(dice))),
        Call::Ready => Answer::Ready(outcome),
        Call::Allocate => Answer::Allocate(outcome),
        Call::Shutdown => Answer::Shutdown(outcome),
        Call::Health => Answer::Health(outcome),
        Call::GetCounter(_) => Answer::GetCounter(outcome.map(|()| Counter { count: 0, capacity: 3 })),
        Call::UpdateCounter { .. } => Answer::UpdateCounter(outcome),
        Call::GetList(_) => {
            let values = NAMES.into_iter().filter(|_| dice.roll(2) == 0).map(str::to_owned).collect();
            let capacity = i64::try_from(dice.roll(4)).expect("small");
            Answer::GetList(outcome.map(|()| List { capacity, values }))
        }
        Call::AddListValue { .. } => Answer::AddListValue(outcome),
        Call::RemoveListValue { .. } => Answer::RemoveListValue(outcome),
        Call::SetLabel(_) => Answer::SetLabel(outcome),
        Call::SetAnnotation(_) => Answer::SetAnnotation(outcome),
    }
}

fn event(dice: &mut Dice, now: Instant) -> Event {
    let outcome = |dice: &mut Dice| if dice.roll(3) == 0 { Err("connection refused".into()) } else { Ok(()) };
    match dice.roll(42) {
        40 => Event::ChildNotStarted(ExitReason::NotFound),
        41 => Event::StatusAsked { game_server: true },
        0 => Event::StopRequested(now),
        1 => Event::ThreadDied { thread: "probe", message: "a bug".into() },
        2 => Event::ChildEnded {
            end: if dice.roll(2) == 0 { ProcessEnd::Exited(0) } else { ProcessEnd::Signaled(9) },
            held_terminal: dice.roll(2) == 0,
        },
        3 if dice.roll(2) == 0 => Event::GroupListed(members(dice.roll(2) << 14)),
        3 => Event::GroupEmpty,
        4 if dice.roll(2) == 0 => Event::AllocatedHookEnded(outcome(dice)),
        4 if dice.roll(3) == 0 => Event::StopLineWritten(outcome(dice)),
        4 => Event::HookEnded(outcome(dice)),
        5..=10 => Event::HealthDue,
        11..=16 => Event::LivenessChecked(report(outcome(dice))),
        17..=20 => Event::ReadinessPassed(report(Ok(()))),
        21..=22 => Event::ReadinessFailed(report(Err("HTTP 503".into()))),
        23..=26 => {
            let source = usize::try_from(dice.roll(3)).expect("small");
            let names: Vec<&str> = NAMES.into_iter().filter(|_| dice.roll(2) == 0).collect();
            let outcome = if dice.roll(4) == 0 { Err("NaN".into()) } else { Ok(reading(dice.roll(6) / 2, &names)) };
            Event::Scraped { source, outcome }
        }
        _ => Event::Tick,
    }
}

/// Holds what was done against what may be done.
pub fn check(seen: &mut Seen, now: Instant, event: &Event, effects: &Effects) {
    check_answer(seen, event);
    match event {
        Event::Answered(Answer::Connected(Ok(_))) => seen.zeros = 0,
        Event::Answered(Answer::GameServer(Ok(game_server))) => {
            seen.looked = Some(game_server.clone());
            seen.connected = true;
            let is_allocated = game_server.state == State::Allocated && !game_server.deleting;
            let allocation = is_allocated.then(|| game_server.last_allocated().to_owned());
            let is_same = seen.allocation == allocation;
            seen.zeros = if is_same { seen.zeros } else { 0 };
            seen.allocation = allocation;
            seen.look_whose(now, game_server);
        }
        Event::LivenessChecked(reports) => seen.alive = Some(reports.iter().all(|report| report.outcome.is_ok())),
        Event::Scraped { source, outcome } => {
            if let (Ok(reading), Some(last)) = (outcome, seen.readings.get_mut(*source)) {
                *last = Some(reading.count);
            }
            let is_zero = outcome.as_ref().is_ok_and(|reading| reading.count == 0) && seen.allocation.is_some();
            if *source == 0 {
                seen.players = outcome.as_ref().ok().map(|reading| reading.count);
                seen.zeros = if is_zero { seen.zeros.saturating_add(1).min(4) } else { 0 };
            }
        }
        Event::AllocatedHookEnded(_) => seen.allocated_hook = false,
        _ => {}
    }
    seen.hear(now, event);
    assert!(seen.exits == 0, "nothing was stepped after the exit");
    for effect in effects {
        assert!(seen.exits == 0, "nothing follows the exit");
        match effect {
            Effect::Call(call) => check_call(seen, now, call),
            Effect::AwaitReadiness => seen.awaiting = true,
            Effect::CheckLiveness => seen.checking = true,
            Effect::StartScraping => seen.scraping = true,
            Effect::StartStopHook(_) => {
                assert!(!seen.wrapper || seen.starts > 0, "a hook for a game that was never started");
                seen.hook = true;
            }
            Effect::StartAllocatedHook(_) => {
                assert!(!std::mem::replace(&mut seen.allocated_hook, true), "one at a time");
                assert_eq!(seen.stopping, None, "no hook begins on the way out");
            }
            Effect::StartChild(_) => {
                assert_eq!(seen.stopping, None, "no child is started on the way out");
                seen.starts += 1;
            }
            Effect::SendStopSignal => {
                assert!(seen.starts > 0, "there is no child");
                let may_come = seen.line.map_or(!seen.has_line || seen.child_ended, |until| until <= now);
                assert!(may_come, "there is a line, and its time is not over");
                assert!(seen.child_has_signal, "it was told to send none");
                seen.signaled = true;
            }
            Effect::WriteStopLine => {
                assert!(
                    seen.starts > 0 && !seen.signaled && seen.line.is_none(),
                    "the line comes once, before the signal"
                );
                seen.writing = true;
                seen.line = Some(now + seen.line_time());
            }
            Effect::ListGroup => {
                assert!(!std::mem::replace(&mut seen.listing, true), "one at a time");
                assert!(seen.starts > 0 && seen.stopping.is_some(), "nobody is to be looked for");
            }
            Effect::TerminateGroup | Effect::TerminateMembers(_) => {
                assert!(seen.starts > 0 && seen.child_ended, "its leader lives");
            }
            Effect::Kill => {
                let gives_up = seen.stopping.is_some_and(|reason| reason >= StopReason::Readiness);
                assert!(
                    gives_up || seen.has_stop_timeout || seen.child_ended,
                    "nobody said that a save may be cut short"
                );
                seen.killed = true;
            }
            Effect::Exit(reason) => check_exit(seen, *reason),
            Effect::Log(notice) => check_notice(seen, event, effects, notice),
            Effect::StopProbing
            | Effect::SetHealthInterval(_)
            | Effect::ReportLines(_)
            | Effect::StopWatching
            | Effect::EndAllocatedHook => {}
        }
        let begins = matches!(effect, Effect::AwaitReadiness | Effect::CheckLiveness | Effect::StartScraping);
        assert!(seen.stopping.is_none() || !begins, "nothing begins on the way out: {effect:?}");
    }
    assert!(seen.starts <= 1, "the child is started once");
    let starts = effects.iter().any(|effect| matches!(effect, Effect::StartChild(_)));
    let stops = effects.iter().any(|effect| matches!(effect, Effect::Log(Notice::Stopping { .. })));
    assert!(!(starts && stops), "a child is started only to be stopped: {effects:?}");
    if matches!(event, Event::Answered(Answer::Connected(Ok(_)))) && seen.wants_shutdown() && seen.exits == 0 {
        let is_called = effects.contains(&Effect::Call(Call::Shutdown));
        assert!(is_called || seen.shutdown_done, "whoever comes is told, however late: {effects:?}");
    }
}

/// What an answer says about the server's queue and the link.
fn check_answer(seen: &mut Seen, event: &Event) {
    let Event::Answered(answer) = event else { return };
    if *answer == Answer::Connected(Ok(Peer::New)) {
        (seen.ready_queued, seen.own_call) = (false, None);
    }
    if let Answer::Allocate(Err(error)) = answer
        && error.kind != CallErrorKind::DeadlineExceeded
    {
        seen.own_call = None;
    }
    match answer.error().map(|error| error.kind) {
        None | Some(CallErrorKind::DeadlineExceeded) if matches!(answer, Answer::Ready(_)) => {
            (seen.ready_queued, seen.allocation_kept) = (true, false);
        }
        None if matches!(answer, Answer::Connected(_)) => seen.probe_only = false,
        _ => {}
    }
}

fn check_call(seen: &mut Seen, now: Instant, call: &Call) {
    assert_eq!(seen.call, None, "one call at a time");
    assert!(!seen.sdk_off, "it was told to make no calls");
    seen.call = Some(call.clone());
    match call {
        // A look is the cause of one Ready() and no more.
        Call::Ready => {
            let looked = seen.looked.take().expect("the state was read before Ready()");
            let local = looked.local_mode && looked.state == State::Ready;
            assert_eq!(seen.stopping, None, "Ready() on the way out would undo Shutdown()");
            if looked.state == State::Allocated && !looked.is_condemned() {
                let own = seen.own.take();
                assert_eq!(own.as_deref(), Some(looked.last_allocated()), "the allocation is another's: {looked:?}");
                assert!(seen.gives_back && seen.zeros >= 3 && seen.players == Some(0), "it is not empty: {seen:?}");
                assert_ne!(seen.alive, Some(false), "a dead game is given back");
                seen.given_back += 1;
                return seen.looked = None;
            }
            assert!(!looked.is_condemned() && (looked.state.is_before_ready() || local), "{looked:?}");
            assert!(!seen.ready_queued, "a second Ready() to a server that has one could undo an allocation");
        }
        Call::Allocate => {
            let looked = seen.looked.take().expect("the state was read before Allocate()");
            if seen.allocates && looked.state == State::Ready && !looked.is_condemned() {
                assert!(seen.players.is_some_and(|players| players > 0), "nobody is there: {seen:?}");
                assert!(seen.own_call.is_none(), "Allocate() is not repeated while the server that has it is there");
                assert_eq!(seen.stopping, None, "Allocate() on the way out would undo Shutdown()");
                seen.own_call = Some((looked.last_allocated().to_owned(), now));
                seen.occupied += 1;
                return;
            }
            assert!(looked.state == State::Allocated && !looked.is_condemned(), "{looked:?}");
            assert!(seen.ready_queued, "nothing of the shim's own puts the allocation at risk");
            assert!(!std::mem::replace(&mut seen.allocation_kept, true), "Allocate() is not repeated");
            assert_eq!(seen.stopping, None, "Allocate() on the way out would undo Shutdown()");
        }
        Call::Shutdown => {
            assert!(!seen.gave_up, "a crash must not look like a clean end");
            assert!(seen.stopping.is_some(), "nobody asked for an end");
            seen.shutdown_called = true;
        }
        Call::Health | Call::Connect { beat: true } => {
            assert!(!seen.gave_up, "no beats for a game that is gone");
            assert!(seen.stopping.is_some() || seen.alive != Some(false), "no beats while liveness fails");
        }
        Call::UpdateCounter { name, count, capacity } => {
            let source = name.strip_prefix("counter-").and_then(|source| source.parse::<usize>().ok()).unwrap_or(0);
            let reading = seen.readings[source];
            let read = reading.is_some_and(|reading| u64::try_from(*count).is_ok_and(|count| count <= reading));
            assert!(read, "{count} was never read: {reading:?}");
            assert!(capacity.is_none_or(|capacity| capacity > 0 && *count <= capacity), "{call:?}");
            assert_eq!(seen.stopping, None, "no count is sent on the way out");
        }
        Call::AddListValue { value, .. } => {
            assert!(!value.is_empty() && !value.contains(char::is_control), "{call:?}");
        }
        Call::SetLabel(_) | Call::SetAnnotation(_) => {
            assert!(seen.connected && seen.stopping.is_none(), "{call:?}");
        }
        Call::Connect { beat: false }
        | Call::GetGameServer
        | Call::GetCounter(_)
        | Call::GetList(_)
        | Call::RemoveListValue { .. } => {}
    }
    if !matches!(call, Call::Connect { .. } | Call::GetGameServer) {
        seen.looked = None;
    }
}

fn check_notice(seen: &mut Seen, event: &Event, effects: &Effects, notice: &Notice) {
    match notice {
        Notice::Idle { .. } | Notice::TooOld { .. } => {
            let Event::Answered(Answer::GameServer(Ok(shown))) = event else { panic!("{event:?} was no look") };
            let state = if matches!(notice, Notice::Idle { .. }) { State::Allocated } else { State::Ready };
            assert!(shown.state == state && !shown.deleting, "{notice:?} of {shown:?}");
            assert!(state == State::Ready || seen.zeros >= 3, "{seen:?}");
            assert!(effects.contains(&Effect::Call(Call::Shutdown)), "nothing comes between look and Shutdown()");
        }
        Notice::SdkOff | Notice::SdkOffInKubernetes => seen.sdk_off = true,
        Notice::ProbeOnly { .. } => seen.probe_only = true,
        Notice::ReadyProbeOnly { .. } => {
            assert!(seen.sdk_off || seen.probe_only, "ready before Agones knows it");
        }
        Notice::Ready { .. } => match event {
            Event::Answered(Answer::Allocate(_)) => {}
            Event::Answered(Answer::GameServer(Ok(shown))) => assert!(shown.state.is_ready_or_later(), "{shown:?}"),
            event => panic!("{event:?} does not show Ready"),
        },
        Notice::SdkRequired { .. } => {
            assert_eq!(seen.starts, 0, "a child was started only to be stopped");
            seen.gave_up |= seen.stopping.is_none();
        }
        Notice::ReadyTimedOut { .. } => {
            assert!(!seen.wrapper || seen.starts > 0, "the deadline of a game that was never started");
            seen.gave_up |= seen.stopping.is_none();
        }
        Notice::SdkLost { .. } => {
            let Event::Answered(answer) = event else { panic!("{event:?} loses no link") };
            let kind = answer.error().map(|error| error.kind);
            let late_beat = kind == Some(CallErrorKind::DeadlineExceeded) && matches!(answer, Answer::Health(_));
            assert!(late_beat || kind == Some(CallErrorKind::Unavailable), "{answer:?} loses no link");
        }
        Notice::Stopping { reason } => {
            assert_eq!(seen.stopping, None, "the way out begins once");
            seen.stopping = Some(*reason);
        }
        Notice::LivenessLost { .. } => seen.gave_up |= seen.stopping.is_none(),
        Notice::ShutdownConfirmed { .. } | Notice::ShutdownPointless { .. } => {
            (seen.told, seen.shutdown_done) = (true, true);
        }
        Notice::ShutdownUndelivered { .. }
        | Notice::ShutdownSdkLeft { .. }
        | Notice::ShutdownNoSdk { .. }
        | Notice::StopRepeated => seen.told = true,
        _ => {}
    }
}

fn check_exit(seen: &mut Seen, reason: ExitReason) {
    seen.exits += 1;
    assert!(seen.starts == 0 || seen.child_ended || seen.killed, "the child is left behind: {reason:?}");
    // The reason that came first gives the code.
    let right = match seen.stopping {
        Some(StopReason::Readiness | StopReason::Liveness) => reason == ExitReason::GameServerGone,
        Some(StopReason::NoSdk) => reason == ExitReason::NoSdk,
        Some(StopReason::Bug) => reason == ExitReason::Bug,
        // A start that failed is the child's end, whatever came before it.
        _ if seen.never_ran && reason == ExitReason::NotFound => true,
        Some(_) => matches!(reason, ExitReason::Stopped | ExitReason::Child(_)),
        None => matches!(reason, ExitReason::Child(_)),
    };
    assert!(right, "{:?} ends with {reason:?}", seen.stopping);
    let is_lost = seen.link_up && seen.wants_shutdown() && !seen.shutdown_called;
    assert!(!is_lost, "Shutdown() was never called, and somebody was there to be called");
    // Shutdown() is never lost in silence: it landed, or a line says why not.
    assert!(seen.stopping.is_none() || seen.gave_up || seen.sdk_off || seen.told, "Shutdown() was forgotten");
}

/// Walks as the bytes say; returns how many steps.
///
/// # Panics
///
/// When an invariant does not hold: a bug in the machine.
#[must_use]
pub fn fuzz(bytes: &[u8]) -> usize {
    let mut dice = Dice(bytes);
    let mut config = if dice.roll(2) == 0 { config() } else { wrapper() };
    config.publishes = (0..dice.roll(3))
        .map(|source| Publishes {
            counter: (dice.roll(4) > 0).then(|| format!("counter-{source}")),
            capacity: dice.roll(2) == 0,
            list: (source == 0 && dice.roll(2) == 0).then(|| "names".into()),
        })
        .collect();
    config.stop_hook = dice.roll(3) == 0;
    config.allocated_hook = dice.roll(3) == 0;
    config.labels = if dice.roll(3) == 0 { vec![pair("map", "dust"), pair("mode", "ffa")] } else { vec![] };
    config.annotations = if dice.roll(3) == 0 { vec![pair("motd", "hello")] } else { vec![] };
    config.allocate_on_players = dice.roll(2) == 0;
    config.empty_ready = (config.allocate_on_players && dice.roll(2) == 0).then(|| Duration::from_secs(dice.roll(3)));
    config.idle_shutdown = (dice.roll(3) == 0).then(|| Duration::from_secs(dice.roll(3)));
    config.max_age = (dice.roll(3) == 0).then(|| Duration::from_secs(dice.roll(20)));
    config.wait_for_sdk = dice.roll(3) == 0;
    config.ready_timeout = (dice.roll(3) == 0).then(|| Duration::from_secs(20));
    config.stop_timeout = (dice.roll(3) == 0).then(|| Duration::from_secs(5));
    config.sdk =
        [SdkMode::Auto, SdkMode::Auto, SdkMode::Required, SdkMode::Off][usize::try_from(dice.roll(4)).expect("small")];
    config.stop_line = (dice.roll(3) == 0).then(|| Duration::from_secs(dice.roll(40)));
    config.stop_signal = [None, Some(2), Some(15), Some(15)][usize::try_from(dice.roll(4)).expect("small")]
        .map(|number| StopSignal { number, name: format!("SIG{number}") });
    config.stop_scope = if dice.roll(4) == 0 { StopScope::Child } else { StopScope::Group };
    let wrapper = config.wrapper;
    let mut seen = Seen::new(&config);
    let mut now = Instant::now();
    let mut machine = Machine::new(config, now);
    let mut effects = Effects::new();
    machine.start(now, &mut effects);
    check(&mut seen, now, &Event::Tick, &effects);
    let mut steps = 0;
    for step in 0..400 {
        if seen.exits > 0 || dice.0.is_empty() && step > 0 {
            break;
        }
        steps = step;
        let event = match seen.call.take_if(|_| dice.roll(2) == 0) {
            Some(call) => Event::Answered(answer(&call, &mut dice)),
            None => event(&mut dice, now),
        };
        // A child that there is not does not end, and a round that nobody asked for does not pass.
        let possible = match event {
            Event::ChildEnded { .. } => wrapper && seen.starts > 0 && !std::mem::replace(&mut seen.child_ended, true),
            Event::GroupEmpty => seen.child_ended,
            Event::ChildNotStarted(_) => {
                let never_ran = wrapper && seen.starts > 0 && !std::mem::replace(&mut seen.child_ended, true);
                seen.never_ran |= never_ran;
                never_ran
            }
            Event::ReadinessPassed(_) => std::mem::take(&mut seen.awaiting),
            Event::ReadinessFailed(_) => seen.awaiting,
            Event::LivenessChecked(_) => std::mem::take(&mut seen.checking),
            Event::Scraped { .. } => seen.scraping,
            Event::HookEnded(_) => std::mem::take(&mut seen.hook),
            Event::GroupListed(_) => std::mem::take(&mut seen.listing),
            Event::StopLineWritten(_) => std::mem::take(&mut seen.writing),
            _ => true,
        };
        if !possible {
            continue;
        }
        if matches!(event, Event::Tick) {
            now = machine.next_deadline().unwrap_or(now).max(now);
        }
        now += Duration::from_millis(dice.roll(300));
        effects.clear();
        machine.step(now, event.clone(), &mut effects);
        check(&mut seen, now, &event, &effects);
    }
    // Whatever happened: a stop that is carried out ends it.
    for step in 0..2000 {
        if seen.exits > 0 {
            break;
        }
        assert!(step < 1999, "it does not end: {machine:#?}");
        let event = match (step, seen.call.take()) {
            (0, call) => {
                seen.call = call;
                Event::StopRequested(now)
            }
            (_, Some(call)) => Event::Answered(answer(&call, &mut dice)),
            (20.., None) if std::mem::take(&mut seen.hook) => Event::HookEnded(Ok(())),
            (40.., None) if seen.starts > 0 && !seen.child_ended => {
                seen.child_ended = true;
                Event::ChildEnded { end: ProcessEnd::Exited(0), held_terminal: false }
            }
            (41.., None) if seen.child_ended => Event::GroupEmpty,
            _ => Event::Tick,
        };
        now = machine.next_deadline().unwrap_or(now).max(now);
        effects.clear();
        machine.step(now, event.clone(), &mut effects);
        check(&mut seen, now, &event, &effects);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xorshift64*
    fn random_bytes(seed: u64) -> Vec<u8> {
        let mut state = seed * 2 + 1;
        let number = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            Some(state.wrapping_mul(0x2545_F491_4F6C_DD1D))
        };
        std::iter::from_fn(number).take(300).flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn whatever_happens_the_invariants_hold_and_a_stop_ends_it() {
        let mut steps = 0;
        for number in 0..20_000 {
            let walked = std::panic::catch_unwind(|| fuzz(&random_bytes(number)));
            steps += walked.unwrap_or_else(|_| panic!("walk {number}"));
        }
        assert!(steps > 200_000, "the walks are long enough to meet something: {steps}");
    }

    #[test]
    fn the_corpus_of_the_fuzzer_holds_the_invariants() {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/machine");
        let mut replayed = 0;
        for entry in std::fs::read_dir(&corpus).expect("the corpus is checked in") {
            let path = entry.expect("a readable directory").path();
            let bytes = std::fs::read(&path).expect("a readable file");
            let walked = std::panic::catch_unwind(|| fuzz(&bytes));
            assert!(walked.is_ok(), "{} breaks an invariant", path.display());
            replayed += 1;
        }
        assert!(replayed >= 15, "only {replayed} inputs in {}", corpus.display());
    }
}
