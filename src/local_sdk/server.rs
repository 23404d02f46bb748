//! The one thread that owns the GameServer: commands come in over a channel,
//! replies go back over the channel that each one carries. Nothing here waits
//! for anyone but the clock and that channel.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::calls::{Calls, Via};
use super::change::{Change, State};
use super::feed::Feed;
use super::gameserver::{GameServer, Setting};
use super::options::Options;
use super::output::Output;
use super::ports::{self, Ports};
use super::request::{Code, Outcome, Refusal, Reply, Request};
use crate::insight::page;
use crate::manifest::spec::Spec;
use crate::sdk::proto::sdk;

/// A watcher that is this many GameServers behind is let go.
pub const WATCH_ROOM: usize = 64;
/// The longest that an edge waits for this thread, which never waits itself.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);
/// Between tries of a call that waits for a slow API server.
const LATER: Duration = Duration::from_millis(50);
/// What shows at the end of a drain can be read for so long: a shim looks ten times a second.
const SHOWN_FOR: Duration = Duration::from_millis(500);
/// The most characters of a call or a change that are printed.
const MAX_LINE: usize = 500;
/// So many watchers; past it the oldest is let go.
const MAX_WATCHERS: usize = 64;

/// A viewer of the page that is this many frames behind is let go, and comes again.
pub const VIEW_ROOM: usize = 8;
/// So many viewers; past it the oldest is let go.
const MAX_VIEWERS: usize = 16;

/// Where a viewer's frames go.
pub type Viewer = SyncSender<Outcome>;

/// Where a watcher's GameServers go. When it closes, the stream ends.
pub type Watcher = SyncSender<Arc<sdk::GameServer>>;

/// What the edges ask of the thread.
#[derive(Debug)]
pub enum Command {
    /// One call.
    Call {
        /// Which side it came in by.
        via: Via,
        /// The call.
        request: Request,
        /// Where the answer goes; a beat has none.
        reply: Option<SyncSender<Outcome>>,
    },
    /// The GameServer now, and at each change.
    Watch {
        /// Which side it came in by.
        via: Via,
        /// Where they go.
        watcher: Watcher,
    },
    /// Everything that the page shows, now and as it happens.
    View(Viewer),
    /// The page, with all that is known in it as text.
    Page(SyncSender<Outcome>),
    /// What `/gshealthz` says.
    IsHealthy(SyncSender<Outcome>),
    /// `GET /local/calls`.
    ListCalls(SyncSender<Outcome>),
    /// SIGTERM or SIGINT.
    Stop,
}

/// The way to the thread, for one side.
#[derive(Clone, Debug)]
pub struct Door {
    commands: Sender<Command>,
    via: Via,
}

impl Door {
    /// Makes one.
    #[must_use]
    pub fn new(commands: Sender<Command>, via: Via) -> Self {
        Self { commands, via }
    }

    /// Performs one call, and waits for as long as the API server makes it wait.
    ///
    /// # Errors
    /// The GameServer's refusal, or UNAVAILABLE while the server ends.
    pub fn call(&self, request: &Request) -> Outcome {
        loop {
            match self.try_call(request.clone()) {
                Ok(Reply::Later) => thread::sleep(LATER),
                outcome => return outcome,
            }
        }
    }

    /// Performs one call, or says that it has to wait: for those who may not.
    ///
    /// # Errors
    /// As [`Door::call`].
    pub fn try_call(&self, request: Request) -> Outcome {
        self.ask(|reply| Command::Call { via: self.via, request, reply: Some(reply) })
    }

    /// Passes a beat on.
    pub fn beat(&self) {
        let _ = self.commands.send(Command::Call { via: self.via, request: Request::Health, reply: None });
    }

    /// Starts a watch.
    pub fn watch(&self, watcher: Watcher) {
        let _ = self.commands.send(Command::Watch { via: self.via, watcher });
    }

    /// Starts a view.
    pub fn view(&self, viewer: Viewer) {
        let _ = self.commands.send(Command::View(viewer));
    }

    /// The page.
    ///
    /// # Errors
    /// UNAVAILABLE while the server ends.
    pub fn page(&self) -> Outcome {
        self.ask(Command::Page)
    }

    /// What `/gshealthz` says.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.ask(Command::IsHealthy) == Ok(Reply::Health(true))
    }

    /// The calls seen so far.
    ///
    /// # Errors
    /// UNAVAILABLE while the server ends.
    pub fn calls(&self) -> Outcome {
        self.ask(Command::ListCalls)
    }

    // One type of answer for all: each type of channel costs 10 kB of code.
    fn ask(&self, command: impl FnOnce(SyncSender<Outcome>) -> Command) -> Outcome {
        let (reply, answer) = sync_channel(1);
        let sent = self.commands.send(command(reply)).ok();
        sent.and_then(|()| answer.recv_timeout(ANSWER_DEADLINE).ok()).unwrap_or_else(|| {
            Err(Refusal { code: Code::Unavailable, message: "the SDK server is stopping".to_owned() })
        })
    }
}

/// The thread's own things.
#[derive(Debug)]
pub struct LocalServer {
    start: Instant,
    options: Options,
    spec: Spec,
    setting: Setting,
    ports: Option<Ports>,
    game_server: GameServer,
    calls: Calls,
    watchers: Vec<Watcher>,
    feed: Feed,
    viewers: Vec<Viewer>,
    output: Output,
}

impl LocalServer {
    /// A GameServer on these ports, born now.
    #[must_use]
    pub fn new(options: Options, spec: Spec, mut setting: Setting, ports: Ports, output: Output) -> Self {
        setting.ports.clone_from(&ports.listed);
        let game_server = GameServer::new(spec.clone(), setting.clone(), Duration::ZERO);
        Self {
            start: Instant::now(),
            options,
            spec,
            setting,
            ports: Some(ports),
            game_server,
            calls: Calls::default(),
            watchers: Vec::new(),
            feed: Feed::default(),
            viewers: Vec::new(),
            output,
        }
    }

    /// Serves until it is told to stop, and prints the summary.
    pub fn run(mut self, commands: &Receiver<Command>) {
        self.feed.begin(Duration::ZERO, &self.game_server);
        self.publish(Duration::ZERO, &[Change::Placed]);
        let (mut leave_at, mut shown_until) = (None, None);
        loop {
            let frame = (!self.viewers.is_empty()).then(|| self.feed.due());
            let command = match self.game_server.next_deadline().into_iter().chain(frame).chain(leave_at).min() {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => commands.recv_timeout(at.saturating_sub(self.start.elapsed())),
            };
            let now = self.start.elapsed();
            let mut changes = Vec::new();
            self.game_server.tick(now, &mut changes);
            self.publish(now, &changes);
            match command {
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(Command::Stop) if leave_at.is_some() || !self.has_to_drain() => break,
                Ok(Command::Stop) => leave_at = Some(self.begin_to_drain(now)),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(command) => self.perform(now, command),
            }
            self.show(now);
            let Some(at) = leave_at else { continue };
            if now >= at {
                break;
            }
            if self.game_server.is_at_its_end() {
                // Whoever waits for it to show has to see it.
                leave_at = Some(at.min(*shown_until.get_or_insert(now + SHOWN_FOR)));
            }
        }
        let now = self.start.elapsed();
        self.hand_back_ports(now);
        let state = self.game_server.state().as_str();
        let summary = self.calls.summary();
        self.output.line(format!("local-sdk: stopped after {:.3}s, {state}; {summary}", now.as_secs_f64()));
        drop((self.watchers, self.viewers));
        self.output.finish();
    }

    /// A game is there whose Shutdown() a stop waits for.
    fn has_to_drain(&self) -> bool {
        self.calls.has_beats() && !self.game_server.is_at_its_end() && !self.options.grace.is_zero()
    }

    fn begin_to_drain(&mut self, now: Duration) -> Duration {
        let grace = self.options.grace;
        let text = format!(
            "waiting up to {}s for the GameServer to show Shutdown; a second signal ends it at once",
            grace.as_secs()
        );
        self.print(now, "stopping", &text);
        now + grace
    }

    fn perform(&mut self, now: Duration, command: Command) {
        match command {
            Command::Call { via, request, reply } => {
                let outcome = self.call(now, via, &request);
                // A caller that has gone needs no answer.
                let _ = reply.map(|reply| reply.try_send(outcome));
            }
            Command::Watch { via, watcher } => {
                if let Ok(Reply::GameServer(game_server)) = self.call(now, via, &Request::WatchGameServer) {
                    let _ = watcher.try_send(Arc::from(game_server));
                    if self.watchers.len() == MAX_WATCHERS {
                        self.watchers.remove(0);
                    }
                    self.watchers.push(watcher);
                }
            }
            Command::View(viewer) => {
                if self.viewers.is_empty() {
                    // Nobody has looked: what was is no news to the first who does.
                    drop(self.feed.frame(now, &self.game_server));
                }
                let _ = viewer.try_send(Ok(Reply::Text(self.feed.whole(now, &self.game_server))));
                if self.viewers.len() == MAX_VIEWERS {
                    self.viewers.remove(0);
                }
                self.viewers.push(viewer);
            }
            Command::Page(reply) => {
                let page = page::render("local-sdk", &self.feed.plain(now, &self.game_server));
                let _ = reply.try_send(Ok(Reply::Text(page)));
            }
            Command::IsHealthy(reply) => drop(reply.try_send(Ok(Reply::Health(self.game_server.is_healthy())))),
            Command::ListCalls(reply) => drop(reply.try_send(Ok(Reply::Text(self.calls.to_json())))),
            Command::Stop => {}
        }
    }

    fn call(&mut self, now: Duration, via: Via, request: &Request) -> Outcome {
        if request.waits_for_the_api_server() && now < self.game_server.api_delayed_until() {
            return Ok(Reply::Later);
        }
        let mut changes = Vec::new();
        let outcome = match request {
            Request::LocalReset => self.reset(now),
            request => self.game_server.call(now, request, &mut changes),
        };
        let topic = if outcome.is_ok() { "call" } else { "refused" };
        let reason = outcome.as_ref().err().map(|refusal| refusal.message.as_str()).unwrap_or_default();
        let colon = if reason.is_empty() { "" } else { ": " };
        self.print(now, topic, &format!("{request}{colon}{reason}"));
        self.feed.call(now, request, reason);
        if !request.is_local() {
            self.calls.push(now, via, request, outcome.as_ref().err().cloned());
        }
        self.publish(now, &changes);
        outcome
    }

    /// Prints the changes, and shows the GameServer to its watchers.
    fn publish(&mut self, now: Duration, changes: &[Change]) {
        self.feed.changed(now, changes, &self.game_server);
        for change in changes {
            self.print(now, change.topic(), &change.to_string());
            // A deleted GameServer keeps its ports in sight, but not in use.
            if matches!(change, Change::Deleted { .. }) {
                self.hand_back_ports(now);
                self.print(now, "deleted", "POST /local/reset, or the page's button, makes a new GameServer");
            }
        }
        if !changes.iter().any(Change::shows) || self.watchers.is_empty() {
            return;
        }
        let game_server = Arc::new(self.game_server.snapshot());
        let before = self.watchers.len();
        let mut slow = 0;
        self.watchers.retain(|watcher| match watcher.try_send(Arc::clone(&game_server)) {
            Ok(()) => true,
            Err(TrySendError::Disconnected(_)) => false,
            Err(TrySendError::Full(_)) => {
                slow += 1;
                false
            }
        });
        let gone = before - self.watchers.len() - slow;
        if slow > 0 {
            self.print(now, "watch", &format!("{slow} let go: {WATCH_ROOM} GameServers behind"));
        }
        if gone > 0 {
            self.print(now, "watch", &format!("{gone} ended"));
        }
    }

    /// Shows the viewers what has happened, when that is due.
    fn show(&mut self, now: Duration) {
        if !self.viewers.is_empty() && self.feed.due() <= now {
            let frame = Ok(Reply::Text(self.feed.frame(now, &self.game_server)));
            self.viewers.retain(|viewer| viewer.try_send(frame.clone()).is_ok());
        }
    }

    /// A new GameServer, as at the start.
    fn reset(&mut self, now: Duration) -> Outcome {
        self.ports = None;
        let ports = ports::pick(&self.spec.ports, &self.options.ports)
            .map_err(|message| Refusal { code: Code::ResourceExhausted, message })?;
        self.setting.ports.clone_from(&ports.listed);
        self.ports = Some(ports);
        let from = self.game_server.state();
        self.game_server = GameServer::new(self.spec.clone(), self.setting.clone(), now);
        self.calls = Calls::default();
        self.publish(now, &[Change::State { from, to: State::Scheduled, by: "reset" }]);
        self.feed.begin(now, &self.game_server);
        Ok(Reply::Empty)
    }

    fn hand_back_ports(&mut self, now: Duration) {
        if let Some(ports) = self.ports.take().filter(|ports| !ports.listed.is_empty()) {
            self.print(now, "ports", &format!("handed back: {}", ports.describe()));
        }
    }

    fn print(&mut self, now: Duration, topic: &str, text: &str) {
        // An annotation may be long; a line is for people.
        let text = text.char_indices().nth(MAX_LINE).map_or(text, |(end, _)| &text[..end]);
        self.output.line(format!("{:>8.3}s  {topic:<9} {text}", now.as_secs_f64()));
    }
}
