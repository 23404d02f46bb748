//! A world around the machine: a fake clock that jumps to the next deadline, a
//! game, an SDK server, a child; everything that happens goes into a trace.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::*;
pub(super) use crate::sdk::call::{CallError, CallErrorKind, Peer};
use crate::sdk::game_server::{List, State};
use crate::settings::{KeyValue, Settings};

pub fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// What a sidecar's machine is told with nothing set but a readiness probe, and beats every 5 s.
pub fn config() -> Config {
    let environment = [("AGONES_SHIM_READY_TCP", "7777"), ("AGONES_SHIM_HEALTH_INTERVAL_SECS", "5")];
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    let (settings, _) = Settings::read(false, environment).expect("good settings");
    Config::new(&settings, false, None, 0)
}

pub fn wrapper() -> Config {
    Config { wrapper: true, ..config() }
}

/// With a Counter of this name.
pub fn counting(name: &str, config: Config) -> Config {
    let publishes = Publishes { counter: Some(name.into()), ..Publishes::default() };
    Config { publishes: vec![publishes], ..config }
}

/// The first source was read as this count.
pub fn scraped(count: u64) -> Event {
    Event::Scraped { source: 0, outcome: Ok(Reading { count, ..Reading::default() }) }
}

pub fn not_scraped(reason: &str) -> Event {
    Event::Scraped { source: 0, outcome: Err(reason.into()) }
}

/// The SDK server of the world.
#[derive(Clone, Debug)]
pub struct Server {
    pub reachable: bool,
    /// Every call hangs until its deadline.
    pub silent: bool,
    pub game: GameServer,
    pub lists: BTreeMap<String, List>,
    /// Calls of this name are rejected.
    pub rejects: Vec<&'static str>,
    /// Calls of this name hang until their deadline, and what they ask for happens all the same.
    pub hangs: Vec<&'static str>,
    /// The connection of before has ended: whoever connects next meets another server.
    pub gone: bool,
    /// Ready() and Shutdown() show this long after the call; `None` is never.
    pub applies_after: Option<Duration>,
    /// Labels and annotations are acknowledged, and lost.
    pub loses_metadata: bool,
    pending: Option<(Instant, State)>,
}

/// Machine, clock and surroundings.
pub struct World {
    pub machine: Machine,
    pub start: Instant,
    pub now: Instant,
    pub server: Server,
    /// Readiness rounds pass.
    pub ready: bool,
    /// Liveness rounds pass.
    pub alive: bool,
    /// A liveness round lasts so long.
    pub round_takes: Duration,
    round_ends: Instant,
    pub trace: Vec<String>,
    /// Every line, with its fields.
    pub notices: Vec<Notice>,
    pub exit: Option<ExitReason>,
    /// The hook ends this long after it was started.
    pub hook_takes: Option<Duration>,
    /// The child ends this long after its stop signal.
    pub child_takes: Option<Duration>,
    /// What the listing of the child's group shows.
    pub group: Vec<GroupMember>,
    /// How writing the stop line goes; `None`: its stdin is full.
    pub line: Option<Result<(), String>>,
    /// Not even SIGKILL ends the child.
    pub immortal: bool,
    awaiting: bool,
    interval: Option<(Duration, Instant)>,
    later: Vec<(Instant, Event)>,
}

impl World {
    pub fn new(config: Config) -> Self {
        let start = Instant::now();
        let game_server = GameServer {
            name: "game-1".into(),
            state: State::Scheduled,
            health: crate::sdk::game_server::Health {
                disabled: false,
                period: Some(secs(5.0)),
                failure_threshold: Some(3),
            },
            ..GameServer::default()
        };
        let server = Server {
            reachable: true,
            silent: false,
            game: game_server,
            lists: BTreeMap::new(),
            rejects: Vec::new(),
            hangs: Vec::new(),
            gone: true,
            applies_after: Some(secs(0.5)),
            loses_metadata: false,
            pending: None,
        };
        Self {
            machine: Machine::new(config, start),
            start,
            now: start,
            server,
            ready: false,
            alive: true,
            round_takes: Duration::ZERO,
            round_ends: start,
            trace: Vec::new(),
            notices: Vec::new(),
            exit: None,
            hook_takes: None,
            child_takes: None,
            group: Vec::new(),
            line: Some(Ok(())),
            immortal: false,
            awaiting: false,
            interval: None,
            later: Vec::new(),
        }
    }

    /// Starts the machine; `setup` changes the world before.
    pub fn started(config: Config, setup: impl FnOnce(&mut Self)) -> Self {
        let mut world = Self::new(config);
        setup(&mut world);
        let mut effects = Effects::new();
        world.machine.start(world.now, &mut effects);
        world.perform(effects);
        world
    }

    /// A world whose GameServer has become Ready, with an empty trace.
    pub fn at_ready(config: Config, setup: impl FnOnce(&mut Self)) -> Self {
        let mut world = Self::started(config, |world| {
            world.ready = true;
            setup(world);
        });
        world.run(2.0);
        assert_eq!(world.machine.phase, Phase::Ready, "{:#?}", world.trace);
        world.trace.clear();
        world
    }

    pub fn event(&mut self, event: Event) {
        let mut effects = Effects::new();
        self.machine.step(self.now, event, &mut effects);
        self.perform(effects);
    }

    /// Lets time pass, from deadline to deadline.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + secs(seconds);
        while self.exit.is_none() {
            let tick = self.interval.map(|(_, at)| at);
            let later = self.later.iter().map(|(at, _)| *at).min();
            let next = [self.machine.next_deadline(), tick, later].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            if tick.is_some_and(|tick| tick <= self.now) {
                let (interval, at) = self.interval.expect("it ticks");
                self.interval = Some((interval, at + interval));
                self.event(Event::HealthDue);
            } else if let Some(place) = self.later.iter().position(|(at, _)| *at <= self.now) {
                let (_, event) = self.later.remove(place);
                self.event(event);
            } else {
                self.event(Event::Tick);
            }
        }
        self.now = self.now.max(end);
    }

    /// Somebody takes the GameServer for a match.
    pub fn allocate(&mut self) {
        self.settle();
        self.note("-> allocated");
        self.server.game.state = State::Allocated;
        let at = format!("{:?}", self.now - self.start);
        self.server.game.annotations.insert("agones.dev/last-allocated".into(), at);
    }

    pub fn stop(&mut self) {
        self.note("-> stop signal");
        self.event(Event::StopRequested(self.now));
    }

    /// Something happens this many seconds from now.
    pub fn later(&mut self, seconds: f64, event: Event) {
        self.later.push((self.now + secs(seconds), event));
    }

    /// The call under way is answered now, with what the server shows.
    pub fn answer_late(&mut self) {
        self.later.retain(|(_, event)| !matches!(event, Event::Answered(_)));
        let shown = self.server.game.clone();
        self.event(Event::Answered(Answer::GameServer(Ok(shown))));
    }

    /// The game opens now.
    pub fn open(&mut self) {
        self.ready = true;
        if std::mem::take(&mut self.awaiting) {
            self.event(Event::ReadinessPassed(report(Ok(()))));
        }
    }

    pub fn note(&mut self, what: &str) {
        let at = (self.now - self.start).as_secs_f64();
        self.trace.push(format!("{at:.2} {what}"));
    }

    /// The lines of the trace that contain one of these words.
    pub fn lines(&self, words: &[&str]) -> Vec<&str> {
        self.trace.iter().map(String::as_str).filter(|line| words.iter().any(|word| line.contains(word))).collect()
    }

    pub fn count(&self, word: &str) -> usize {
        self.lines(&[word]).len()
    }

    fn perform(&mut self, effects: Effects) {
        let mut answer = None;
        for effect in effects {
            match effect {
                Effect::Log(notice) => {
                    let Description { level, text, .. } = notice.describe();
                    if level != log::Level::Debug {
                        let short: String = text.chars().take(60).collect();
                        self.note(&format!("{} {short}", level.as_str().to_lowercase()));
                    }
                    self.notices.push(notice);
                }
                Effect::Call(call) => {
                    self.note(&format!("call {}", told(&call)));
                    assert!(answer.is_none(), "two calls in one step");
                    answer = Some(self.serve(&call));
                }
                Effect::AwaitReadiness => {
                    if self.ready {
                        self.later.push((self.now, Event::ReadinessPassed(report(Ok(())))));
                    } else {
                        self.awaiting = true;
                        let failed = report(Err("connection refused".into()));
                        self.later.push((self.now, Event::ReadinessFailed(failed)));
                    }
                }
                Effect::CheckLiveness => {
                    let outcome = if self.alive { Ok(()) } else { Err("connection refused".into()) };
                    assert!(self.round_ends <= self.now, "one liveness round at a time");
                    self.round_ends = self.now + self.round_takes;
                    self.later.push((self.round_ends, Event::LivenessChecked(report(outcome))));
                }
                Effect::SetHealthInterval(interval) => self.interval = Some((interval, self.now + interval)),
                Effect::StopProbing => self.awaiting = false,
                Effect::Exit(reason) => {
                    self.note(&format!("exit {}", reason.code()));
                    self.exit = Some(reason);
                }
                Effect::StartStopHook(reason) => {
                    self.note(&format!("hook {reason}"));
                    if let Some(takes) = self.hook_takes {
                        self.later.push((self.now + takes, Event::HookEnded(Ok(()))));
                    }
                }
                Effect::StartAllocatedHook(variables) => {
                    let find = |name: &str| variables.iter().find(|(other, _)| other == name).map(|(_, value)| value);
                    let annotations = find("AGONES_GAMESERVER_ANNOTATIONS").cloned().unwrap_or_default();
                    self.note(&format!("allocated hook {annotations}"));
                    if let Some(takes) = self.hook_takes {
                        self.later.push((self.now + takes, Event::AllocatedHookEnded(Ok(()))));
                    }
                }
                Effect::EndAllocatedHook => self.note("TERM to the allocated hook"),
                Effect::SendStopSignal => {
                    self.note("stop signal to the child");
                    if let Some(takes) = self.child_takes {
                        self.child_ends(takes, ProcessEnd::Signaled(15));
                    }
                }
                Effect::StartChild(variables) => {
                    let names: Vec<_> = variables.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                    self.note(&format!("start the child{}", names.concat()));
                }
                Effect::TerminateGroup => self.note("TERM to the group"),
                Effect::TerminateMembers(pids) => self.note(&format!("TERM to {pids:?} of the group")),
                Effect::ListGroup => {
                    let members = self.group.clone();
                    self.later.push((self.now, Event::GroupListed(members)));
                }
                Effect::WriteStopLine => {
                    self.note("stop line");
                    if let Some(outcome) = self.line.clone() {
                        self.later.push((self.now, Event::StopLineWritten(outcome)));
                    }
                }
                Effect::Kill => {
                    self.note("KILL to the group");
                    if !self.immortal {
                        self.child_ends(Duration::ZERO, ProcessEnd::Signaled(9));
                    }
                }
                Effect::StartScraping => self.note("scrape"),
                Effect::ReportLines(lines) => self.note(&format!("lines {lines}")),
                Effect::StopWatching => self.note("stop watching"),
            }
        }
        if let Some((takes, answer)) = answer {
            if takes.is_zero() {
                self.event(Event::Answered(answer));
            } else {
                // A blocking call: the state thread sees nothing else meanwhile.
                self.now += takes;
                self.later.push((self.now, Event::Answered(answer)));
            }
        }
    }

    fn child_ends(&mut self, after: Duration, end: ProcessEnd) {
        let at = self.now + after;
        self.later.push((at, Event::ChildEnded { end, held_terminal: false }));
        self.later.push((at, Event::GroupEmpty));
    }

    /// What the server was asked for shows once it is due; Allocated with when, as Agones writes it down.
    pub fn settle(&mut self) {
        if let Some((at, state)) = self.server.pending.take_if(|(at, _)| *at <= self.now) {
            if state == State::Allocated {
                let stamp = format!("{:?} by the SDK", at - self.start);
                self.server.game.annotations.insert("agones.dev/last-allocated".into(), stamp);
            }
            self.server.game.state = state;
        }
    }

    fn serve(&mut self, call: &Call) -> (Duration, Answer) {
        self.settle();
        let connecting = matches!(call, Call::Connect { .. });
        self.server.gone |= !self.server.reachable;
        let rejection = || error(CallErrorKind::Rejected);
        let name = format!("{call:?}");
        let (takes, failure) = if !self.server.reachable {
            (Duration::ZERO, Some(error(CallErrorKind::Unavailable)))
        } else if self.server.gone && !connecting {
            // It was restarted since the last call, and the connection went with the one of before.
            (Duration::ZERO, Some(error(CallErrorKind::Unavailable)))
        } else if self.server.hangs.iter().any(|hanging| name.starts_with(hanging)) {
            (secs(2.0), Some(error(CallErrorKind::DeadlineExceeded)))
        } else if self.server.silent {
            (secs(if connecting { 0.5 } else { 2.0 }), Some(error(CallErrorKind::DeadlineExceeded)))
        } else if self.server.rejects.iter().any(|rejected| name.starts_with(rejected)) {
            (Duration::ZERO, Some(error(CallErrorKind::Rejected)))
        } else {
            (Duration::ZERO, None)
        };
        let outcome = failure.map_or(Ok(()), Err);
        if outcome.is_ok() || self.server.hangs.iter().any(|hanging| name.starts_with(hanging)) {
            let state = match call {
                Call::Ready => Some(State::Ready),
                Call::Allocate => Some(State::Allocated),
                Call::Shutdown => Some(State::Shutdown),
                _ => None,
            };
            if let (Some(state), Some(after)) = (state, self.server.applies_after) {
                self.server.pending = Some((self.now + after, state));
            }
        }
        if outcome.is_ok() && !self.server.loses_metadata {
            let shown = |pair: &KeyValue| (format!("agones.dev/sdk-{}", pair.key), pair.value.clone());
            match call {
                Call::SetLabel(pair) => self.server.game.labels.extend([shown(pair)]),
                Call::SetAnnotation(pair) => self.server.game.annotations.extend([shown(pair)]),
                _ => {}
            }
        }
        self.server.game.lists.clone_from(&self.server.lists);
        let game_server = outcome.clone().map(|()| self.server.game.clone());
        let answer = match call {
            Call::Connect { .. } => Answer::Connected(
                outcome.map(|()| if std::mem::take(&mut self.server.gone) { Peer::New } else { Peer::Same }),
            ),
            Call::GetGameServer => Answer::GameServer(game_server),
            Call::Ready => Answer::Ready(outcome),
            Call::Allocate => Answer::Allocate(outcome),
            Call::Shutdown => Answer::Shutdown(outcome),
            Call::Health => Answer::Health(outcome),
            Call::SetLabel(_) => Answer::SetLabel(outcome),
            Call::SetAnnotation(_) => Answer::SetAnnotation(outcome),
            Call::GetCounter(name) => Answer::GetCounter(
                outcome.and_then(|()| self.server.game.counters.get(name).copied().ok_or_else(rejection)),
            ),
            Call::UpdateCounter { name, count, capacity } => Answer::UpdateCounter(outcome.and_then(|()| {
                let counter = self.server.game.counters.get_mut(name).ok_or_else(rejection)?;
                let capacity = capacity.unwrap_or(counter.capacity);
                if !(0..=capacity).contains(count) {
                    return Err(rejection());
                }
                (counter.count, counter.capacity) = (*count, capacity);
                Ok(())
            })),
            Call::GetList(name) => {
                Answer::GetList(outcome.and_then(|()| self.server.lists.get(name).cloned().ok_or_else(rejection)))
            }
            Call::AddListValue { name, value } => Answer::AddListValue(outcome.and_then(|()| {
                let list = self.server.lists.get_mut(name).ok_or_else(rejection)?;
                let full = i64::try_from(list.values.len()).is_ok_and(|values| values >= list.capacity);
                if full || list.values.contains(value) {
                    return Err(rejection());
                }
                list.values.push(value.clone());
                Ok(())
            })),
            Call::RemoveListValue { name, value } => Answer::RemoveListValue(outcome.and_then(|()| {
                let list = self.server.lists.get_mut(name).ok_or_else(rejection)?;
                let place = list.values.iter().position(|held| held == value).ok_or_else(rejection)?;
                list.values.remove(place);
                Ok(())
            })),
        };
        (takes, answer)
    }
}

/// A call as the traces have it: `UpdateCounter players=3`, `AddListValue names ann`.
fn told(call: &Call) -> String {
    match call {
        Call::UpdateCounter { name, count, capacity: None } => format!("UpdateCounter {name}={count}"),
        Call::UpdateCounter { name, count, capacity: Some(capacity) } => {
            format!("UpdateCounter {name}={count}/{capacity}")
        }
        Call::GetCounter(name) => format!("GetCounter {name}"),
        Call::GetList(name) => format!("GetList {name}"),
        Call::AddListValue { name, value } => format!("AddListValue {name} {value}"),
        Call::RemoveListValue { name, value } => format!("RemoveListValue {name} {value}"),
        Call::Connect { beat: true } => "Connect with a beat".to_owned(),
        Call::Connect { beat: false } => "Connect".to_owned(),
        call => format!("{call:?}"),
    }
}

pub fn pair(key: &str, value: &str) -> KeyValue {
    KeyValue { key: key.into(), value: value.into() }
}

pub fn error(kind: CallErrorKind) -> CallError {
    CallError { kind, message: format!("{kind:?}") }
}

pub fn report(outcome: Result<(), String>) -> Vec<ProbeReport> {
    vec![ProbeReport { probe: "tcp localhost:7777".into(), outcome, took: Duration::ZERO }]
}
