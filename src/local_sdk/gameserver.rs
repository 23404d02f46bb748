//! The one GameServer: calls and time in, replies and changes out.
//!
//! Pure: no clock, no I/O. `now` is the time since the server started. State
//! calls only enqueue; everything else that happens, happens in `tick`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::change::{Change, State};
use super::counters::{Counters, Lists};
use super::health::{HealthWatch, Look};
use super::json::Writer;
use super::metadata;
use super::request::{Code, Outcome, Refusal, Reply, Request};
use super::stamp;
use super::timers::{Timer, Timers};
use crate::manifest::spec::Spec;
use crate::sdk::proto::sdk::{self, game_server};

/// How long the controller takes to see a state: about 25 ms pass from RequestReady to Ready, measured with Agones 1.60.
pub const CONTROLLER_DELAY: Duration = Duration::from_millis(25);

/// The annotation that says when it was last allocated.
const LAST_ALLOCATED: &str = "agones.dev/last-allocated";

/// What a GameServer is made of, beside its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The SDK server writes what was enqueued this much later.
    pub batch: Duration,
    /// The wall clock when the server started, since 1970.
    pub epoch: Duration,
    /// Where the world sees it.
    pub address: String,
    /// Its ports, by name, as the world sees them.
    pub ports: Vec<(String, u16)>,
}

/// The GameServer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameServer {
    name: String,
    namespace: String,
    setting: Setting,
    born: Duration,
    state: State,
    /// The state that was asked for last. Once Unhealthy it stays that.
    wanted: Option<State>,
    /// What the SDK asked for since the last batch, to say where it came too late.
    asked: Option<State>,
    reserve_for: Option<Duration>,
    deleted_at: Option<i64>,
    /// When it was last allocated, by the wall clock.
    allocated_at: Duration,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    batched_labels: BTreeMap<String, String>,
    batched_annotations: BTreeMap<String, String>,
    counters: Counters,
    lists: Lists,
    health: HealthWatch,
    timers: Timers,
    revision: i64,
}

impl GameServer {
    /// Placed on its node just now, its game still loading.
    #[must_use]
    pub fn new(spec: Spec, setting: Setting, now: Duration) -> Self {
        let health = HealthWatch::new(spec.health, now);
        let mut timers = Timers::default();
        if let Some(at) = health.first_look(now) {
            timers.set(Timer::Health, at);
        }
        Self {
            name: spec.name,
            namespace: spec.namespace,
            setting,
            born: now,
            state: State::Scheduled,
            wanted: None,
            asked: None,
            reserve_for: None,
            deleted_at: None,
            allocated_at: Duration::ZERO,
            labels: spec.labels,
            annotations: spec.annotations,
            batched_labels: BTreeMap::new(),
            batched_annotations: BTreeMap::new(),
            counters: Counters::new(spec.counters),
            lists: Lists::new(spec.lists),
            health,
            timers,
            revision: 1,
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// It goes, and takes its ports with it.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.deleted_at.is_some()
    }

    /// No Shutdown() will show any more, or it does.
    #[must_use]
    pub fn is_at_its_end(&self) -> bool {
        self.is_ending() || self.state == State::Unhealthy
    }

    /// What `/gshealthz` says.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.health.is_healthy()
    }

    /// Until when calls wait that need the API server.
    #[must_use]
    pub fn api_delayed_until(&self) -> Duration {
        self.timers.writes_held_until()
    }

    /// When `tick` is due next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.timers.next()
    }

    /// Performs one call. `LocalReset` is not for one GameServer to carry out;
    /// it answers OK and does nothing.
    ///
    /// # Errors
    /// The refusals of Agones' SDK server 1.60, in its words.
    pub fn call(&mut self, now: Duration, request: &Request, changes: &mut Vec<Change>) -> Outcome {
        match request {
            Request::Ready => self.ask_for(now, State::RequestReady, None),
            Request::Allocate => self.ask_for(now, State::Allocated, None),
            Request::Shutdown => self.ask_for(now, State::Shutdown, None),
            Request::Reserve(seconds) => {
                // 0 is for ever, and so is nonsense.
                let duration = u64::try_from(*seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs);
                self.ask_for(now, State::Reserved, duration);
            }
            Request::Health => {
                if self.health.beat(now) {
                    changes.push(Change::BeatsBack);
                }
            }
            Request::GetGameServer | Request::WatchGameServer => {
                return Ok(Reply::GameServer(Box::new(self.snapshot())));
            }
            Request::SetLabel(pair) => {
                metadata::check_label(pair)?;
                self.batched_labels.insert(pair.key.clone(), pair.value.clone());
                self.timers.start(Timer::Labels, now + self.setting.batch);
            }
            Request::SetAnnotation(pair) => {
                metadata::check_annotation(pair)?;
                self.batched_annotations.insert(pair.key.clone(), pair.value.clone());
                self.timers.start(Timer::Annotations, now + self.setting.batch);
            }
            Request::GetCounter(name) => return self.counters.get(name).map(Reply::Counter),
            Request::GetList(name) => return self.lists.get(name).map(Reply::List),
            Request::UpdateCounter(update) => {
                let counter = self.counters.update(update.clone())?;
                self.timers.start(Timer::Counters, now + self.setting.batch);
                return Ok(Reply::Counter(counter));
            }
            Request::UpdateList(update) => return self.change_list(now, |lists| lists.update(update.clone())),
            Request::AddListValue(value) => return self.change_list(now, |lists| lists.add(value.clone())),
            Request::RemoveListValue(value) => return self.change_list(now, |lists| lists.remove(value.clone())),
            Request::LocalAllocate | Request::LocalUnhealthy if self.refusal(request).is_some() => {
                let message = self.refusal(request).unwrap_or_default();
                return Err(Refusal { code: Code::FailedPrecondition, message });
            }
            Request::LocalAllocate => {
                self.show_state(now, State::Allocated, "allocator", changes);
            }
            Request::LocalUnhealthy => {
                self.wanted = Some(State::Unhealthy);
                self.write_state(now, State::Unhealthy, "as asked", changes);
            }
            Request::LocalDelete => self.delete(now, "as asked", changes),
            Request::LocalFleetScaleDown => return Ok(Reply::Text(self.fleet_scale_down())),
            Request::LocalReset => {}
            Request::LocalApiDelay(delay) => self.timers.hold_writes_until(now + *delay),
        }
        Ok(Reply::Empty)
    }

    /// Why the cluster would not do that now: the allocator, the controller, or `kubectl delete`, which is no error but
    /// in vain.
    #[must_use]
    pub fn refusal(&self, request: &Request) -> Option<String> {
        match request {
            // One that is Allocated can be allocated once more: for games that take several matches.
            Request::LocalAllocate => (!matches!(self.state, State::Ready | State::Allocated) || self.is_deleted())
                .then(|| {
                    format!("only a Ready or Allocated GameServer can be allocated, this one is {}", self.ending())
                }),
            Request::LocalUnhealthy => (self.is_ending() || self.state == State::Unhealthy)
                .then(|| format!("this GameServer is {} and stays that", self.ending())),
            Request::LocalDelete => self.is_deleted().then(|| "this GameServer is being deleted already".to_owned()),
            _ => None,
        }
    }

    /// Whether a Fleet that shrinks, or rolls, would remove it, as JSON. Agones never chooses one that is Allocated or
    /// Reserved; among the others, any may go.
    fn fleet_scale_down(&self) -> String {
        let held = matches!(self.state, State::Allocated | State::Reserved);
        let mut out = Writer::compact();
        out.object(|out| {
            out.field("state", |out| out.string(self.state.as_str()));
            out.field("chosen", |out| out.raw(!held && !self.is_ending()));
            out.field("reason", |out| {
                out.string(if self.is_ending() {
                    "it goes already"
                } else if held {
                    "a Fleet never removes an Allocated or Reserved GameServer"
                } else {
                    "a Fleet that shrinks or rolls removes it, whoever plays on it"
                });
            });
        });
        out.finish()
    }

    /// How its beats are.
    #[must_use]
    pub fn health(&self) -> &HealthWatch {
        &self.health
    }

    /// When it shows Unhealthy, if no beat comes before.
    #[must_use]
    pub fn unhealthy_at(&self) -> Option<Duration> {
        if self.is_ending() || self.state == State::Unhealthy {
            return None;
        }
        let look = self.timers.at(Timer::Health)?;
        let asked = if self.health.is_healthy() { None } else { self.timers.at(Timer::State) };
        Some(asked.unwrap_or_else(|| self.health.last_look(look) + self.setting.batch))
    }

    /// What Counters and Lists show, by `C.name` and `L.name`.
    pub fn numbers(&self) -> impl Iterator<Item = (String, i64)> + '_ {
        let counters = self.counters.shown().iter().map(|(name, counter)| (format!("C.{name}"), counter.count));
        let length = |list: &crate::manifest::spec::List| i64::try_from(list.values.len()).unwrap_or(i64::MAX);
        counters.chain(self.lists.shown().iter().map(move |(name, list)| (format!("L.{name}"), length(list))))
    }

    /// Performs everything that is due.
    pub fn tick(&mut self, now: Duration, changes: &mut Vec<Change>) {
        while let Some((timer, at)) = self.timers.take_due(now) {
            match timer {
                Timer::State => {
                    if let Some(wanted) = self.wanted {
                        self.write_state(at, wanted, "", changes);
                    }
                }
                Timer::Controller => self.controller_looks(at, changes),
                Timer::Reserve => {
                    changes.push(Change::ReservationOver);
                    self.ask_for(at, State::RequestReady, None);
                }
                Timer::Health => self.look_at_beats(at, changes),
                Timer::Labels => {
                    let batch = std::mem::take(&mut self.batched_labels);
                    self.write_metadata(batch, Change::Label, changes);
                }
                Timer::Annotations => {
                    let batch = std::mem::take(&mut self.batched_annotations);
                    self.write_metadata(batch, Change::Annotation, changes);
                }
                Timer::Counters => {
                    let batch = self.counters.flush().into_iter();
                    self.shown(batch.map(|(name, counter)| Change::Counter(name, counter)), changes);
                }
                Timer::Lists => {
                    let batch = self.lists.flush().into_iter();
                    self.shown(batch.map(|(name, list)| Change::List(name, list)), changes);
                }
            }
        }
    }

    /// The GameServer as GetGameServer shows it.
    #[must_use]
    pub fn snapshot(&self) -> sdk::GameServer {
        let health = self.health.health();
        let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let counters = self.counters.shown().iter().map(|(name, counter)| {
            let status = game_server::status::CounterStatus { count: counter.count, capacity: counter.capacity };
            (name.clone(), status)
        });
        let lists = self.lists.shown().iter().map(|(name, list)| {
            let status = game_server::status::ListStatus { capacity: list.capacity, values: list.values.clone() };
            (name.clone(), status)
        });
        let ports = self.setting.ports.iter();
        sdk::GameServer {
            object_meta: Some(game_server::ObjectMeta {
                name: self.name.clone(),
                namespace: self.namespace.clone(),
                uid: format!("00000000-0000-4000-8000-{:012x}", self.wall(self.born) & 0xffff_ffff_ffff),
                resource_version: self.revision.to_string(),
                generation: self.revision,
                creation_timestamp: self.wall(self.born),
                deletion_timestamp: self.deleted_at.unwrap_or(0),
                annotations: self.annotations.clone(),
                labels: self.labels.clone(),
            }),
            spec: Some(game_server::Spec {
                health: Some(game_server::spec::Health {
                    disabled: health.disabled,
                    period_seconds: number(health.period_seconds),
                    failure_threshold: number(health.failure_threshold),
                    initial_delay_seconds: number(health.initial_delay_seconds),
                }),
            }),
            status: Some(game_server::Status {
                state: self.state.as_str().to_owned(),
                address: self.setting.address.clone(),
                ports: ports
                    .map(|(name, port)| game_server::status::Port { name: name.clone(), port: i32::from(*port) })
                    .collect(),
                players: None,
                counters: counters.collect(),
                lists: lists.collect(),
                addresses: vec![game_server::status::Address {
                    r#type: "InternalIP".to_owned(),
                    address: self.setting.address.clone(),
                }],
            }),
        }
    }

    /// Enqueues a state. The last one wins, on the timer that already runs.
    fn ask_for(&mut self, now: Duration, state: State, reserve_for: Option<Duration>) {
        if state != State::Unhealthy {
            self.timers.stop(Timer::Reserve);
            self.reserve_for = reserve_for;
            self.asked = Some(state);
        }
        if self.wanted != Some(State::Unhealthy) {
            self.wanted = Some(state);
        }
        self.timers.start(Timer::State, now + self.setting.batch);
    }

    /// Writes a state, unless the GameServer is past that.
    fn write_state(&mut self, now: Duration, wanted: State, by: &'static str, changes: &mut Vec<Change>) {
        let asked = self.asked.take();
        if self.is_ending() || self.state == State::Unhealthy {
            let because = self.ending();
            changes.extend(asked.map(|wanted| Change::Ignored { wanted, because }));
            return;
        }
        self.show_state(now, wanted, by, changes);
        match wanted {
            State::RequestReady | State::Shutdown => self.timers.set(Timer::Controller, now + CONTROLLER_DELAY),
            State::Reserved => {
                if let Some(duration) = self.reserve_for {
                    self.timers.set(Timer::Reserve, now + duration);
                }
            }
            State::Unhealthy => {
                self.timers.stop(Timer::Health);
                self.timers.stop(Timer::Reserve);
            }
            State::Scheduled | State::Ready | State::Allocated => {}
        }
    }

    fn show_state(&mut self, now: Duration, to: State, by: &'static str, changes: &mut Vec<Change>) {
        if to == State::Allocated {
            // Another one each time, however fast they come.
            self.allocated_at = (self.setting.epoch + now).max(self.allocated_at + Duration::from_nanos(1));
            let stamp = stamp::rfc3339_nano(unix_seconds(self.allocated_at), self.allocated_at.subsec_nanos());
            self.annotations.insert(LAST_ALLOCATED.to_owned(), stamp);
        }
        let from = std::mem::replace(&mut self.state, to);
        let by = if to == State::Unhealthy && by.is_empty() { "health" } else { by };
        self.shown([Change::State { from, to, by }], changes);
    }

    /// The controller turns RequestReady into Ready and deletes what is Shutdown.
    fn controller_looks(&mut self, now: Duration, changes: &mut Vec<Change>) {
        match self.state {
            State::RequestReady if !self.is_deleted() => self.show_state(now, State::Ready, "controller", changes),
            State::Shutdown => self.delete(now, "controller", changes),
            _ => {}
        }
    }

    fn delete(&mut self, now: Duration, by: &'static str, changes: &mut Vec<Change>) {
        if self.deleted_at.is_none() {
            self.deleted_at = Some(self.wall(now));
            self.shown([Change::Deleted { by }], changes);
        }
    }

    fn look_at_beats(&mut self, now: Duration, changes: &mut Vec<Change>) {
        if self.is_ending() {
            return;
        }
        self.timers.set(Timer::Health, self.health.next_look(now));
        if let Look::Missed { failures, age } = self.health.look(now) {
            let threshold = self.health.health().failure_threshold;
            changes.push(Change::BeatMissed { failures, threshold, age });
        }
        if !self.health.is_healthy() {
            self.ask_for(now, State::Unhealthy, None);
        }
    }

    fn change_list(
        &mut self,
        now: Duration,
        change: impl FnOnce(&mut Lists) -> Result<crate::sdk::proto::beta::List, Refusal>,
    ) -> Outcome {
        let list = change(&mut self.lists)?;
        self.timers.start(Timer::Lists, now + self.setting.batch);
        Ok(Reply::List(list))
    }

    fn write_metadata(
        &mut self,
        batch: BTreeMap<String, String>,
        change: fn(String, String) -> Change,
        changes: &mut Vec<Change>,
    ) {
        for (key, value) in batch {
            let key = format!("{}{key}", metadata::PREFIX);
            // The API server's check, of the key with its prefix. It would refuse
            // the whole batch, and again at each retry; here the others go on.
            if let Some(error) = metadata::key_error(&key) {
                changes.push(Change::MetadataRefused(key, error));
                continue;
            }
            let change = change(key.clone(), value.clone());
            match change {
                Change::Label(..) => self.labels.insert(key, value),
                _ => self.annotations.insert(key, value),
            };
            self.shown([change], changes);
        }
    }

    /// One write of the GameServer is one revision, whatever it changes.
    fn shown(&mut self, news: impl IntoIterator<Item = Change>, changes: &mut Vec<Change>) {
        changes.extend(news);
        self.revision += 1;
    }

    fn is_ending(&self) -> bool {
        self.is_deleted() || self.state == State::Shutdown
    }

    fn ending(&self) -> &'static str {
        if self.is_deleted() { "being deleted" } else { self.state.as_str() }
    }

    fn wall(&self, now: Duration) -> i64 {
        unix_seconds(self.setting.epoch + now)
    }
}

fn unix_seconds(since_epoch: Duration) -> i64 {
    i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
