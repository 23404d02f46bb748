//! Every short sequence of events, breadth first, with the walk's invariants.
//!
//! Machines that look alike are explored once. How deep it goes is a matter of
//! states, not of time, so that a slow computer sees the same. What was met is
//! counted: every event in every phase in which it can come.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::time::Duration;

use super::super::*;
use super::walk::{Seen, check, members, reading};
use super::world::{config, error, not_scraped, pair, report, wrapper};
use crate::sdk::call::{CallError, CallErrorKind, Peer};
use crate::sdk::game_server::{Counter, List, State};
use crate::settings::StopSignal;

/// States explored from each beginning, unless EXPLORE_STATES says how many: by hand, minutes go deeper.
const STATES: usize = 20_000;

#[derive(Clone)]
struct Node {
    machine: Machine,
    seen: Seen,
    now: Instant,
    /// Allocations are told apart.
    self_allocates: bool,
}

impl Node {
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{:?} {:?}", self.machine, self.seen).hash(&mut hasher);
        hasher.finish()
    }

    /// Everything that can happen next.
    fn events(&self) -> Vec<Event> {
        let refused = || "connection refused".to_owned();
        let mut events = vec![
            Event::Tick,
            Event::StopRequested(self.now),
            Event::HealthDue,
            Event::StatusAsked { game_server: true },
            Event::ThreadDied { thread: "probe", message: "a bug".into() },
        ];
        if self.seen.awaiting {
            events.push(Event::ReadinessPassed(report(Ok(()))));
            events.push(Event::ReadinessFailed(report(Err(refused()))));
        }
        if self.seen.checking {
            events.push(Event::LivenessChecked(report(Ok(()))));
            events.push(Event::LivenessChecked(report(Err(refused()))));
        }
        if self.seen.scraping {
            events.push(Event::Scraped { source: 0, outcome: Ok(reading(0, &[])) });
            events.push(Event::Scraped { source: 0, outcome: Ok(reading(2, &["ann", "bob"])) });
            events.push(Event::Scraped { source: 0, outcome: Ok(reading(9, &["cid"])) });
            events.push(not_scraped("HTTP 500"));
        }
        if self.seen.starts > 0 && !self.seen.child_ended {
            events.push(Event::ChildStarted { pid: 7 });
            events.push(Event::ChildNotStarted(ExitReason::NotFound));
            events.push(Event::ChildEnded { end: ProcessEnd::Exited(0), held_terminal: true });
            events.push(Event::ChildEnded { end: ProcessEnd::Exited(0), held_terminal: false });
            events.push(Event::ChildEnded { end: ProcessEnd::Signaled(9), held_terminal: false });
        }
        if self.seen.child_ended {
            events.push(Event::GroupEmpty);
        }
        if self.seen.listing {
            events.push(Event::GroupListed(members(0)));
            events.push(Event::GroupListed(members(1 << 14)));
        }
        if self.seen.writing {
            events.push(Event::StopLineWritten(Ok(())));
            events.push(Event::StopLineWritten(Err("closed".into())));
        }
        if self.seen.hook {
            events.push(Event::HookEnded(Ok(())));
            events.push(Event::HookEnded(Err("exit code 3".into())));
        }
        if self.seen.allocated_hook {
            events.push(Event::AllocatedHookEnded(Ok(())));
        }
        if let Some(call) = &self.seen.call {
            let mut answers = answers(call);
            if self.self_allocates && *call == Call::GetGameServer {
                answers.extend(["1", "2"].map(|stamp| Answer::GameServer(Ok(allocated(stamp)))));
            }
            events.extend(answers.into_iter().map(Event::Answered));
        }
        events
    }

    fn after(&self, event: &Event) -> Self {
        let mut next = self.clone();
        match event {
            Event::Tick => next.now = next.machine.next_deadline().unwrap_or(next.now).max(next.now),
            // Nothing but a deadline takes time, so that more of the ways there lead to the same state.
            Event::Answered(_) => next.seen.call = None,
            Event::ReadinessPassed(_) => next.seen.awaiting = false,
            Event::LivenessChecked(_) => next.seen.checking = false,
            Event::ChildEnded { .. } => next.seen.child_ended = true,
            Event::ChildNotStarted(_) => (next.seen.child_ended, next.seen.never_ran) = (true, true),
            Event::HookEnded(_) => next.seen.hook = false,
            Event::GroupListed(_) => next.seen.listing = false,
            Event::StopLineWritten(_) => next.seen.writing = false,
            _ => {}
        }
        let mut effects = Effects::new();
        next.machine.step(next.now, event.clone(), &mut effects);
        check(&mut next.seen, next.now, event, &effects);
        let says_why =
            |effect: &Effect| matches!(effect, Effect::Log(Notice::Ready { .. } | Notice::ReadyProbeOnly { .. }));
        let became_ready = next.machine.phase == Phase::Ready && self.machine.phase != Phase::Ready;
        assert!(!became_ready || effects.iter().any(says_why), "Ready for no reason: {event:?} {effects:?}");
        next
    }
}

fn answers(call: &Call) -> Vec<Answer> {
    let failures = || [CallErrorKind::Unavailable, CallErrorKind::DeadlineExceeded, CallErrorKind::Rejected].map(error);
    let plain = |answer: fn(Result<(), CallError>) -> Answer| {
        let mut answers = vec![answer(Ok(()))];
        answers.extend(failures().map(|error| answer(Err(error))));
        answers
    };
    let looks = |answer: fn(Result<GameServer, CallError>) -> Answer| {
        let states = [
            State::Scheduled,
            State::RequestReady,
            State::Ready,
            State::Allocated,
            State::Shutdown,
            State::Unhealthy,
            State::Unset,
        ];
        let mut answers: Vec<Answer> = states.into_iter().map(|state| answer(Ok(shown(state)))).collect();
        answers.extend(failures().map(|error| answer(Err(error))));
        answers
    };
    match call {
        Call::Connect { .. } => {
            let mut answers = [Peer::New, Peer::Same].map(|peer| Answer::Connected(Ok(peer))).to_vec();
            answers.extend(failures().map(|error| Answer::Connected(Err(error))));
            answers
        }
        Call::GetGameServer => looks(Answer::GameServer),
        Call::Ready => plain(Answer::Ready),
        Call::Allocate => plain(Answer::Allocate),
        Call::Shutdown => plain(Answer::Shutdown),
        Call::Health => plain(Answer::Health),
        Call::SetLabel(_) => plain(Answer::SetLabel),
        Call::SetAnnotation(_) => plain(Answer::SetAnnotation),
        Call::UpdateCounter { .. } => plain(Answer::UpdateCounter),
        Call::AddListValue { .. } => plain(Answer::AddListValue),
        Call::RemoveListValue { .. } => plain(Answer::RemoveListValue),
        Call::GetList(_) => {
            let values =
                |values: &[&str]| List { capacity: 2, values: values.iter().map(ToString::to_string).collect() };
            let mut answers = vec![Answer::GetList(Ok(values(&[]))), Answer::GetList(Ok(values(&["bob", "zoe"])))];
            answers.extend(failures().map(|error| Answer::GetList(Err(error))));
            answers
        }
        Call::GetCounter(_) => {
            let mut answers = vec![Answer::GetCounter(Ok(Counter { count: 0, capacity: 3 }))];
            answers.extend(failures().map(|error| Answer::GetCounter(Err(error))));
            answers
        }
    }
}

/// What has happened by the time that a GameServer in this state counts as Ready.
fn until_ready(state: State) -> Vec<Event> {
    let game_server = shown(state);
    vec![
        Event::Answered(Answer::Connected(Ok(Peer::New))),
        Event::Answered(Answer::GameServer(Ok(game_server.clone()))),
        Event::Answered(Answer::Health(Ok(()))),
        Event::ReadinessPassed(report(Ok(()))),
        Event::Answered(Answer::GameServer(Ok(game_server))),
    ]
}

fn shown(state: State) -> GameServer {
    GameServer { state, address: "203.0.113.7".into(), ..GameServer::default() }
}

fn allocated(stamp: &str) -> GameServer {
    let mut shown = shown(State::Allocated);
    shown.annotations.insert("agones.dev/last-allocated".into(), stamp.into());
    shown
}

/// What has happened by the time that an own Allocate() is called.
fn until_self_allocated() -> Vec<Event> {
    let mut events = until_ready(State::Ready);
    events.extend([
        Event::Scraped { source: 0, outcome: Ok(reading(0, &[])) },
        Event::Scraped { source: 0, outcome: Ok(reading(2, &[])) },
        Event::Answered(Answer::GetCounter(Ok(Counter { count: 0, capacity: 3 }))),
        Event::Answered(Answer::UpdateCounter(Ok(()))),
        Event::Answered(Answer::GameServer(Ok(shown(State::Ready)))),
    ]);
    events
}

/// What has happened by the time that Ready() is called, the connection being old enough for it, and then answered.
fn until(answers: &[Answer]) -> Vec<Event> {
    let mut events = vec![
        Event::Answered(Answer::Connected(Ok(Peer::New))),
        Event::Answered(Answer::GameServer(Ok(shown(State::Scheduled)))),
        Event::Answered(Answer::Health(Ok(()))),
        Event::Tick,
        Event::ReadinessPassed(report(Ok(()))),
        Event::Answered(Answer::GameServer(Ok(shown(State::Scheduled)))),
    ];
    for answer in answers {
        events.extend([Event::Answered(answer.clone()), Event::Tick]);
    }
    if matches!(answers, [.., Answer::GameServer(_)]) {
        events.pop();
    }
    events
}

/// How often which event came in which phase.
type Met = BTreeMap<(Phase, String), usize>;

/// `ReadinessPassed`; of an answer `Ready Ok` or `Ready Rejected`.
fn kind(event: &Event) -> String {
    let name = |text: &str| text.chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
    match event {
        Event::Answered(answer) => {
            let outcome = answer.error().map_or_else(|| "Ok".to_owned(), |error| format!("{:?}", error.kind));
            format!("{} {outcome}", name(&format!("{answer:?}")))
        }
        event => name(&format!("{event:?}")),
    }
}

fn begin(config: Config) -> Node {
    let now = Instant::now();
    let mut seen = Seen::new(&config);
    let self_allocates = config.allocate_on_players;
    let mut machine = Machine::new(config, now);
    let mut effects = Effects::new();
    machine.start(now, &mut effects);
    check(&mut seen, now, &Event::Tick, &effects);
    Node { machine, seen, now, self_allocates }
}

/// A machine that has come to this phase on the straight way.
fn arrive(config: Config, phase: Phase) -> Node {
    let mut node = begin(config);
    let mut called_ready = false;
    for _ in 0..20 {
        if node.machine.phase >= phase {
            return node;
        }
        called_ready |= node.seen.call == Some(Call::Ready);
        let state = if called_ready { State::Ready } else { State::Scheduled };
        let address = "203.0.113.7".to_owned();
        let event = match &node.seen.call {
            Some(Call::GetGameServer) => {
                Event::Answered(Answer::GameServer(Ok(GameServer { state, address, ..GameServer::default() })))
            }
            Some(call) => Event::Answered(answers(call).remove(0)),
            None if phase == Phase::Stopping => Event::StopRequested(node.now),
            None if node.seen.awaiting => Event::ReadinessPassed(report(Ok(()))),
            None => Event::Tick,
        };
        node = node.after(&event);
    }
    panic!("{phase:?} was not reached: {:#?}", node.machine);
}

/// Explores from there; returns how many states and how deep.
fn explore(start: Node, states: usize, met: &mut Met) -> (usize, usize) {
    let mut known = HashSet::from([start.key()]);
    let mut frontier = vec![start];
    let mut depth = 0;
    while !frontier.is_empty() && known.len() < states {
        depth += 1;
        let mut next = Vec::new();
        for node in &frontier {
            for event in node.events() {
                *met.entry((node.machine.phase, kind(&event))).or_default() += 1;
                let after = node.after(&event);
                if after.seen.occupied > node.seen.occupied {
                    *met.entry((node.machine.phase, "Allocate() for players".into())).or_default() += 1;
                }
                if after.seen.given_back > node.seen.given_back {
                    *met.entry((node.machine.phase, "Ready() of an own allocation".into())).or_default() += 1;
                }
                if known.insert(after.key()) && after.seen.exits == 0 {
                    next.push(after);
                }
            }
            if known.len() >= states {
                break;
            }
        }
        frontier = next;
    }
    (known.len(), depth)
}

/// What cannot be: the metrics are read from Ready on, a hook runs on the way out, and a child's end before it either
/// ends the shim or begins the way out.
const IMPOSSIBLE: [(Phase, &str); 14] = [
    (Phase::Waiting, "Scraped"),
    (Phase::Served, "Scraped"),
    (Phase::Waiting, "HookEnded"),
    (Phase::Served, "HookEnded"),
    (Phase::Ready, "HookEnded"),
    (Phase::Waiting, "GroupEmpty"),
    (Phase::Served, "GroupEmpty"),
    (Phase::Ready, "GroupEmpty"),
    (Phase::Waiting, "GroupListed"),
    (Phase::Served, "GroupListed"),
    (Phase::Ready, "GroupListed"),
    (Phase::Waiting, "StopLineWritten"),
    (Phase::Served, "StopLineWritten"),
    (Phase::Ready, "StopLineWritten"),
];

/// Every event in every phase in which it can come, and every way in which every call can end.
fn assert_coverage(met: &Met) {
    let events = [
        "Tick",
        "StopRequested",
        "HealthDue",
        "StatusAsked",
        "ThreadDied",
        "ReadinessPassed",
        "ReadinessFailed",
        "LivenessChecked",
        "Scraped",
        "ChildNotStarted",
        "ChildEnded",
        "GroupEmpty",
        "GroupListed",
        "StopLineWritten",
        "HookEnded",
    ];
    for phase in [Phase::Waiting, Phase::Served, Phase::Ready, Phase::Stopping] {
        for event in events {
            let possible = !IMPOSSIBLE.contains(&(phase, event));
            assert_eq!(met.contains_key(&(phase, event.to_owned())), possible, "{event} in {phase:?}");
        }
    }
    for call in ["Connected", "GameServer", "Ready", "Allocate", "Shutdown", "Health", "GetCounter", "UpdateCounter"] {
        for outcome in ["Ok", "Unavailable", "DeadlineExceeded", "Rejected"] {
            let answer = format!("{call} {outcome}");
            assert!(met.keys().any(|(_, kind)| *kind == answer), "the answer {answer} never came");
        }
    }
}

#[test]
fn no_short_sequence_of_events_breaks_an_invariant() {
    let publishing = |capacity, list: Option<&str>| {
        let publishes = Publishes { counter: Some("players".into()), capacity, list: list.map(str::to_owned) };
        Config { publishes: vec![publishes], ..config() }
    };
    let configs = [
        (
            "sidecar with a Counter",
            publishing(false, None),
            until(&[Answer::Ready(Ok(())), Answer::GameServer(Ok(shown(State::Allocated)))]),
        ),
        ("sidecar with a Counter, its capacity and a List", publishing(true, Some("names")), vec![]),
        ("sidecar that needs an SDK server", Config { sdk: SdkMode::Required, ..config() }, vec![]),
        ("wrapper", wrapper(), until(&[])),
        ("sidecar", config(), until(&[Answer::Ready(Err(error(CallErrorKind::DeadlineExceeded)))])),
        (
            "wrapper with hook and bounds",
            Config {
                stop_hook: true,
                stop_timeout: Some(Duration::from_secs(5)),
                ready_timeout: Some(Duration::from_secs(20)),
                ..wrapper()
            },
            vec![],
        ),
        (
            "wrapper with hook, line and INT",
            Config {
                stop_hook: true,
                stop_line: Some(Duration::from_secs(30)),
                stop_signal: Some(StopSignal { number: 2, name: "SIGINT".into() }),
                ..wrapper()
            },
            vec![],
        ),
        ("wrapper that waits for its address", Config { wait_for_sdk: true, ..wrapper() }, vec![]),
        (
            "wrapper that needs an SDK server and waits for its address",
            Config {
                sdk: SdkMode::Required,
                wait_for_sdk: true,
                stop_hook: true,
                ready_timeout: Some(Duration::from_secs(20)),
                ..wrapper()
            },
            vec![],
        ),
        (
            "sidecar that ends when it is empty",
            Config { idle_shutdown: Some(Duration::ZERO), ..publishing(false, None) },
            until_ready(State::Allocated),
        ),
        (
            "sidecar whose players allocate",
            Config { allocate_on_players: true, ..publishing(false, None) },
            until_self_allocated(),
        ),
        (
            "wrapper that has labels, a hook of allocations and an age",
            Config {
                labels: vec![pair("map", "dust")],
                annotations: vec![pair("motd", "hello")],
                allocated_hook: true,
                max_age: Some(Duration::from_secs(6)),
                ..wrapper()
            },
            until_ready(State::Ready),
        ),
    ];
    let wanted = std::env::var("EXPLORE_STATES").ok().and_then(|states| states.parse().ok()).unwrap_or(STATES);
    let (mut met, mut all) = (Met::new(), 0);
    for (name, config, events) in configs {
        let mut starts =
            [Phase::Waiting, Phase::Ready, Phase::Stopping].map(|phase| arrive(config.clone(), phase)).to_vec();
        if !events.is_empty() {
            starts.push(events.iter().fold(begin(config), |node, event| node.after(event)));
        }
        for start in starts {
            let phase = start.machine.phase;
            let (states, depth) = explore(start, wanted, &mut met);
            println!("{name}, from {phase:?} on: {states} states, {depth} events deep");
            assert!(states > 1000, "{name}: {states}");
            all += states;
        }
    }
    let (steps, kinds) = (met.values().sum::<usize>(), met.len());
    // Past the harness's capture, so that every run shows how far it went.
    let _ = writeln!(
        std::io::stderr().lock(),
        "the machine was checked in {all} states, by {steps} steps of {kinds} kinds (events and answers by phase)"
    );
    assert_coverage(&met);
}

/// What it has asked for is answered, with this GameServer where it looks.
fn answered(mut node: Node, shown: &GameServer) -> Node {
    while let Some(call) = &node.seen.call {
        let answer = match call {
            Call::GetGameServer => Answer::GameServer(Ok(shown.clone())),
            Call::GetCounter(_) => Answer::GetCounter(Ok(Counter { count: 2, capacity: 3 })),
            call => answers(call).remove(0),
        };
        node = node.after(&Event::Answered(answer));
    }
    node
}

#[test]
fn no_short_sequence_gives_back_what_is_not_the_shim_s_own() {
    let publishes = Publishes { counter: Some("players".into()), ..Publishes::default() };
    let config = Config {
        allocate_on_players: true,
        empty_ready: Some(Duration::ZERO),
        allocated_hook: true,
        publishes: vec![publishes],
        ..config()
    };
    let read = |node: Node, count, shown: &GameServer| {
        let reading = Ok(Reading { count, ..Reading::default() });
        answered(node.after(&Event::Scraped { source: 0, outcome: reading }), shown)
    };
    let ready = shown(State::Ready);
    let start = until_ready(State::Ready).iter().fold(begin(config), |node, event| node.after(event));
    let start = answered(start, &ready).after(&Event::LivenessChecked(report(Ok(()))));
    let called = read(answered(start, &ready), 2, &ready);
    assert_eq!(called.seen.occupied, 1, "{:#?}", called.machine);
    let mut own = called.clone();
    for _ in 0..4 {
        let at = own.now - called.now;
        let shown = if at >= Duration::from_millis(500) { allocated("1") } else { ready.clone() };
        own = answered(own.after(&Event::Tick), &shown);
    }
    let mut empty = own.clone();
    for _ in 0..3 {
        empty = read(empty, 0, &allocated("1"));
    }
    assert_eq!((empty.seen.occupied, empty.seen.given_back), (1, 0), "{:#?}", empty.machine);
    let given_back = read(empty.clone(), 0, &allocated("1"));
    assert_eq!(given_back.seen.given_back, 1, "{:#?}", given_back.machine);
    let mut met = Met::new();
    for start in [called, own, empty, given_back] {
        explore(start, STATES, &mut met);
    }
    for call in ["Allocate() for players", "Ready() of an own allocation"] {
        assert!(met.get(&(Phase::Ready, call.to_owned())).is_some_and(|times| *times > 20), "{call}: {met:#?}");
    }
}
