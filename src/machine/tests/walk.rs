//! A random walk over everything that can happen, with invariants after each step.

use std::time::Duration;

use super::super::*;
use super::world::{config, error, pair, report, wrapper};
use crate::game_server::{Counter, List, State};

/// A small generator, so that a failing walk can be told by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % sides
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
    pub starts: usize,
    pub exits: usize,
    shutdowns: usize,
    connected: bool,
    signaled: bool,
    gave_up: bool,
    /// Readiness rounds, and a liveness round, are under way.
    pub awaiting: bool,
    pub checking: bool,
    /// The metrics endpoint is read, the hook runs, the child has ended.
    pub scraping: bool,
    pub hook: bool,
    pub allocated_hook: bool,
    pub child_ended: bool,
    /// The allocation that the last look showed, and the readings of 0 in a row since, as far as 4.
    allocation: Option<String>,
    zeros: u8,
}

const NAMES: [&str; 4] = ["ann", "bob", "\u{7}", ""];

/// Counts and names that have little to do with each other: the capacity may be 0, and lower than the count.
pub fn reading(count: u64, names: &[&str]) -> Reading {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Reading { count, missing: false, capacity: Some(count % 4), names: Some(names) }
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
        Call::Connect => Answer::Connected(outcome.map(|()| game_server(dice))),
        Call::GetGameServer => Answer::GameServer(outcome.map(|()| game_server(dice))),
        Call::Ready => Answer::Ready(outcome),
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

fn event(dice: &mut Dice) -> Event {
    let outcome = |dice: &mut Dice| if dice.roll(3) == 0 { Err("connection refused".into()) } else { Ok(()) };
    match dice.roll(40) {
        0 => Event::StopRequested,
        1 => Event::ThreadDied { thread: "probe", message: "a bug".into() },
        2 => Event::ChildEnded {
            end: if dice.roll(2) == 0 { ProcessEnd::Exited(0) } else { ProcessEnd::Signaled(9) },
            held_terminal: dice.roll(2) == 0,
        },
        3 => Event::GroupEmpty,
        4 if dice.roll(2) == 0 => Event::AllocatedHookEnded(outcome(dice)),
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

pub fn check(seen: &mut Seen, event: &Event, effects: &Effects) {
    if let Event::Answered(Answer::Connected(Ok(game_server)) | Answer::GameServer(Ok(game_server))) = event {
        seen.looked = Some(game_server.clone());
        seen.connected = true;
        let is_allocated = game_server.state == State::Allocated && !game_server.deleting;
        let allocation = is_allocated.then(|| game_server.last_allocated().to_owned());
        let is_same = seen.allocation == allocation && !matches!(event, Event::Answered(Answer::Connected(_)));
        seen.zeros = if is_same { seen.zeros } else { 0 };
        seen.allocation = allocation;
    }
    match event {
        Event::Scraped { source: 0, outcome: Ok(reading) } if reading.count == 0 && seen.allocation.is_some() => {
            seen.zeros = seen.zeros.saturating_add(1).min(4);
        }
        Event::Scraped { source: 0, .. } => seen.zeros = 0,
        Event::AllocatedHookEnded(_) => seen.allocated_hook = false,
        _ => {}
    }
    assert_eq!(seen.exits, 0, "nothing was stepped after the exit");
    for effect in effects {
        assert_eq!(seen.exits, 0, "nothing follows the exit");
        match effect {
            Effect::Call(call) => {
                assert_eq!(seen.call, None, "one call at a time");
                seen.call = Some(call.clone());
                if *call == Call::Ready {
                    let looked = seen.looked.take().expect("the state was read before Ready()");
                    let local = looked.local_mode && looked.state == State::Ready;
                    assert!(!looked.is_condemned() && (looked.state.is_before_ready() || local), "{looked:?}");
                }
                if *call == Call::Shutdown {
                    seen.shutdowns += 1;
                    assert!(!seen.gave_up, "a crash must not look like a clean end");
                }
                if let Call::UpdateCounter { count, capacity, .. } = call {
                    assert!(
                        *count >= 0 && capacity.is_none_or(|capacity| capacity > 0 && *count <= capacity),
                        "{call:?}"
                    );
                }
                if let Call::AddListValue { value, .. } = call {
                    assert!(!value.is_empty() && !value.contains(char::is_control), "{call:?}");
                }
                if matches!(call, Call::SetLabel(_) | Call::SetAnnotation(_)) {
                    assert!(seen.connected && seen.shutdowns == 0 && seen.exits == 0);
                }
                if !matches!(call, Call::Connect | Call::GetGameServer) {
                    seen.looked = None;
                }
            }
            Effect::AwaitReadiness => seen.awaiting = true,
            Effect::CheckLiveness => seen.checking = true,
            Effect::StopProbing => (seen.awaiting, seen.checking) = (false, false),
            Effect::StartScraping => seen.scraping = true,
            Effect::StartStopHook(_) => seen.hook = true,
            Effect::StartAllocatedHook(_) => {
                assert!(!std::mem::replace(&mut seen.allocated_hook, true), "one at a time");
                assert!(seen.shutdowns == 0);
            }
            Effect::Log(notice @ (Notice::Idle { .. } | Notice::TooOld { .. })) => {
                let Event::Answered(Answer::GameServer(Ok(shown))) = event else { panic!("{event:?} was no look") };
                let state = if matches!(notice, Notice::Idle { .. }) { State::Allocated } else { State::Ready };
                assert!(shown.state == state && !shown.deleting, "{notice:?} of {shown:?}");
                assert!(state == State::Ready || seen.zeros >= 3, "{seen:?}");
                assert!(effects.contains(&Effect::Call(Call::Shutdown)), "nothing comes between look and Shutdown()");
            }
            Effect::StartChild(_) => seen.starts += 1,
            Effect::SendStopSignal => seen.signaled = true,
            Effect::KillGroup => assert!(seen.signaled || seen.starts > 0),
            Effect::Exit(_) => seen.exits += 1,
            Effect::Log(Notice::LivenessLost { .. } | Notice::ReadyTimedOut { .. } | Notice::SdkRequired { .. }) => {
                seen.gave_up = true;
            }
            _ => {}
        }
    }
    assert!(seen.starts <= 1, "the child is started once");
}

fn walk(number: u64) -> usize {
    let mut dice = Dice(number * 2 + 1);
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
    config.idle_shutdown = (dice.roll(3) == 0).then(|| Duration::from_secs(dice.roll(3)));
    config.max_age = (dice.roll(3) == 0).then(|| Duration::from_secs(dice.roll(20)));
    config.wait_for_sdk = dice.roll(3) == 0;
    config.ready_timeout = (dice.roll(3) == 0).then(|| Duration::from_secs(20));
    config.stop_timeout = (dice.roll(3) == 0).then(|| Duration::from_secs(5));
    config.sdk =
        [SdkMode::Auto, SdkMode::Auto, SdkMode::Required, SdkMode::Off][usize::try_from(dice.roll(4)).expect("small")];
    let wrapper = config.wrapper;
    let mut now = Instant::now();
    let mut machine = Machine::new(config, now);
    let mut seen = Seen::default();
    let mut effects = Effects::new();
    machine.start(now, &mut effects);
    check(&mut seen, &Event::Tick, &effects);
    for step in 0..400 {
        if seen.exits > 0 {
            return step;
        }
        let event = match seen.call.take_if(|_| dice.roll(2) == 0) {
            Some(call) => Event::Answered(answer(&call, &mut dice)),
            None => event(&mut dice),
        };
        // A child that there is not does not end, and a round that nobody asked for does not pass.
        let possible = match event {
            Event::ChildEnded { .. } | Event::GroupEmpty => wrapper && seen.starts > 0,
            Event::ReadinessPassed(_) => std::mem::take(&mut seen.awaiting),
            Event::ReadinessFailed(_) => seen.awaiting,
            Event::LivenessChecked(_) => std::mem::take(&mut seen.checking),
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
        check(&mut seen, &event, &effects);
    }
    // Whatever happened: a stop that is carried out ends it.
    for step in 0..200 {
        if seen.exits > 0 {
            break;
        }
        assert!(step < 199, "walk {number}: it does not end: {machine:#?}");
        let event = match (step, seen.call.take()) {
            (0, call) => {
                seen.call = call;
                Event::StopRequested
            }
            (_, Some(call)) => Event::Answered(answer(&call, &mut dice)),
            (20, None) => Event::HookEnded(Ok(())),
            (40, None) if wrapper => Event::ChildEnded { end: ProcessEnd::Exited(0), held_terminal: false },
            (41, None) if wrapper => Event::GroupEmpty,
            _ => Event::Tick,
        };
        now = machine.next_deadline().unwrap_or(now).max(now);
        effects.clear();
        machine.step(now, event.clone(), &mut effects);
        check(&mut seen, &event, &effects);
    }
    400
}

#[test]
fn whatever_happens_the_invariants_hold_and_a_stop_ends_it() {
    let steps: usize = (0..20_000).map(walk).sum();
    assert!(steps > 200_000, "the walks are long enough to meet something: {steps}");
}
