//! An SDK server that answers as the test says, and remembers every call.
//!
//! It behaves well unless told otherwise: state calls show up a moment later, Counters are checked against their
//! capacity. It judges nothing (no health enforcement, no timers of its own): `agones-shim local-sdk` is for that.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agones_shim::testing::sdk::proto::sdk::GameServer;
use agones_shim::testing::sdk::proto::sdk::game_server::status::{CounterStatus, ListStatus};
use agones_shim::testing::sdk::proto::sdk::game_server::{ObjectMeta, Spec, Status, spec::Health};
use grpcio::{ChannelBuilder, EnvBuilder, Environment, RpcStatusCode, Server, ServerBuilder, ServerCredentials};

use super::ports::Port;
use super::wait::{millis, secs};

#[path = "scripted_service.rs"]
mod service;

/// What a call is answered with.
#[derive(Clone, Debug)]
pub enum Answer {
    /// As a server in good health would.
    Ok,
    /// With this status; nothing happens.
    Error(RpcStatusCode, String),
    /// Not for this long, and nothing happens; then OK, should anyone still listen.
    Hang(Duration),
    /// OK, and nothing ever happens.
    Ignored,
    /// It happens, and the answer comes this much later.
    Late(Duration),
}

impl Answer {
    /// UNAVAILABLE.
    pub fn unavailable() -> Self {
        Self::Error(RpcStatusCode::UNAVAILABLE, "scripted: try again".to_owned())
    }

    /// UNKNOWN, the code of all plain errors of Counters.
    pub fn unknown(text: &str) -> Self {
        Self::Error(RpcStatusCode::UNKNOWN, text.to_owned())
    }

    /// What a server says that has never heard of the method's service.
    pub fn unimplemented() -> Self {
        Self::Error(RpcStatusCode::UNIMPLEMENTED, "unknown service agones.dev.sdk.beta.SDK".to_owned())
    }
}

/// When an acknowledged state call shows in the GameServer.
#[derive(Clone, Copy, Debug)]
pub enum Applies {
    /// This much after the call.
    After(Duration),
    /// Never.
    Never,
}

/// One call that was made.
#[derive(Clone, Debug)]
pub struct Call {
    /// `Ready`, `Health`, `UpdateCounter`, ...; each message of a Health stream counts as one.
    pub method: &'static str,
    /// When it came.
    pub at: Instant,
    /// What it asked for, in short: `players=5`; of a Ready() the state that it met.
    pub detail: String,
}

/// See the module. Clones of its handle would race for the port: there are none.
pub struct ScriptedSdk {
    port: Port,
    shared: Arc<Shared>,
    server: Option<Server>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    calls: Vec<Call>,
    scripts: BTreeMap<&'static str, Script>,
    applies: BTreeMap<&'static str, Applies>,
    game_server: GameServer,
    /// The state asked for last, and when it shows: a later call rides on the timer that runs.
    pending: Option<(Instant, &'static str)>,
    /// Ends every hang: the server is going.
    closing: bool,
}

struct Script {
    next: VecDeque<Answer>,
    default: Answer,
}

impl ScriptedSdk {
    /// One that listens on 127.0.0.1; its GameServer is `Scheduled`, health 5 s / 3, no Counters.
    pub fn start() -> Self {
        let mut sdk = Self::reserved();
        sdk.open();
        sdk
    }

    /// The same, not listening yet: [`Self::open`] does.
    pub fn reserved() -> Self {
        Self::on(Port::reserve())
    }

    /// The same on any loopback port.
    pub fn on(port: Port) -> Self {
        let state = State {
            calls: Vec::new(),
            scripts: BTreeMap::new(),
            applies: BTreeMap::new(),
            game_server: game_server(),
            pending: None,
            closing: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        Self { port, shared, server: None }
    }

    /// Starts to listen, on the same port as ever.
    pub fn open(&mut self) {
        if self.server.is_some() {
            return;
        }
        self.shared.lock().closing = false;
        let env = environment();
        let args = ChannelBuilder::new(Arc::clone(&env)).reuse_port(false).build_args();
        let mut server = ServerBuilder::new(env)
            .channel_args(args)
            .requests_slot_per_cq(16)
            .register_service(service::build(&self.shared))
            .build()
            .expect("a gRPC server can be made");
        let addr = self.port.addr().to_string();
        super::wait::until(&format!("a gRPC server on {addr}"), secs(5), || {
            server.add_listening_port(&addr, ServerCredentials::insecure()).ok()
        });
        server.start();
        self.server = Some(server);
    }

    /// Stops listening and ends every connection; what it knows it keeps.
    pub fn close(&mut self) {
        {
            self.shared.lock().closing = true;
            self.shared.changed.notify_all();
        }
        if let Some(mut server) = self.server.take() {
            let ended = server.shutdown();
            server.cancel_all_calls();
            let _ = futures_executor::block_on(ended);
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Where it listens.
    pub fn addr(&self) -> std::net::SocketAddr {
        self.port.addr()
    }

    /// The answer of one call of `method` to come; several are used up in order.
    pub fn next(&self, method: &'static str, answer: Answer) -> &Self {
        self.shared.lock().script(method).next.push_back(answer);
        self
    }

    /// The answer of all calls of `method` for which there is no [`Self::next`].
    pub fn always(&self, method: &'static str, answer: Answer) -> &Self {
        self.shared.lock().script(method).default = answer;
        self
    }

    /// The answer of all calls of all methods for which there is no [`Self::next`].
    pub fn always_all(&self, answer: &Answer) -> &Self {
        for method in service::METHODS {
            self.always(method, answer.clone());
        }
        self
    }

    /// When `Ready`, `Shutdown`, ... shows up after it was acknowledged; 50 ms by default.
    pub fn applies(&self, method: &'static str, when: Applies) -> &Self {
        self.shared.lock().applies.insert(method, when);
        self
    }

    /// The GameServer is in this state now, and nothing pends.
    pub fn set_state(&self, state: &str) -> &Self {
        self.shared.lock().pending = None;
        self.edit(|game_server| state.clone_into(&mut status(game_server).state))
    }

    /// The state that GetGameServer would answer now.
    pub fn state(&self) -> String {
        status(&mut self.shared.lock().current()).state.clone()
    }

    /// Someone deletes the GameServer.
    pub fn set_deleting(&self) -> &Self {
        self.edit(|game_server| meta(game_server).deletion_timestamp = 1_700_000_000)
    }

    /// The GameServer carries this label.
    pub fn set_label(&self, key: &str, value: &str) -> &Self {
        self.edit(|game_server| {
            meta(game_server).labels.insert(key.to_owned(), value.to_owned());
        })
    }

    /// `spec.health` of the GameServer.
    pub fn set_health(&self, period_seconds: i32, failure_threshold: i32) -> &Self {
        self.edit(|game_server| {
            let health = Health { period_seconds, failure_threshold, ..Health::default() };
            game_server.spec = Some(Spec { health: Some(health) });
        })
    }

    /// The GameServer declares this Counter.
    pub fn set_counter(&self, name: &str, count: i64, capacity: i64) -> &Self {
        self.edit(|game_server| {
            status(game_server).counters.insert(name.to_owned(), CounterStatus { count, capacity });
        })
    }

    /// A Counter's value, where it is declared.
    pub fn counter(&self, name: &str) -> Option<i64> {
        status(&mut self.shared.lock().current()).counters.get(name).map(|counter| counter.count)
    }

    /// A Counter's capacity, where it is declared.
    pub fn capacity(&self, name: &str) -> Option<i64> {
        status(&mut self.shared.lock().current()).counters.get(name).map(|counter| counter.capacity)
    }

    /// The GameServer declares this List.
    pub fn set_list(&self, name: &str, capacity: i64, values: &[&str]) -> &Self {
        let values = values.iter().map(ToString::to_string).collect();
        self.edit(|game_server| {
            status(game_server).lists.insert(name.to_owned(), ListStatus { capacity, values });
        })
    }

    /// What a List holds, sorted, where it is declared.
    pub fn list(&self, name: &str) -> Vec<String> {
        let mut values = status(&mut self.shared.lock().current()).lists.remove(name).unwrap_or_default().values;
        values.sort();
        values
    }

    /// Changes the GameServer in any other way.
    pub fn edit(&self, change: impl FnOnce(&mut GameServer)) -> &Self {
        let mut state = self.shared.lock();
        state.settle();
        change(&mut state.game_server);
        drop(state);
        self
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// Every call of `method` so far.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        self.shared.lock().calls.iter().filter(|call| call.method == method).cloned().collect()
    }

    /// How many calls of `method` there were so far.
    pub fn count(&self, method: &str) -> usize {
        self.shared.lock().count(method)
    }

    /// The first call of `method` ever.
    #[track_caller]
    pub fn wait_for_call(&self, method: &str, within: Duration) -> Call {
        self.wait_for_count(method, 1, within)
    }

    /// The `count`th call of `method` ever.
    #[track_caller]
    pub fn wait_for_count(&self, method: &str, count: usize, within: Duration) -> Call {
        self.wait_for(&format!("call {count} of {method}"), within, |calls| {
            calls.iter().filter(|call| call.method == method).nth(count - 1).cloned()
        })
    }

    /// The next call of `method` from now on.
    #[track_caller]
    pub fn wait_for_new_call(&self, method: &str, within: Duration) -> Call {
        self.wait_for_count(method, self.count(method) + 1, within)
    }

    /// Whatever `find` finds in the calls so far.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, within: Duration, find: impl Fn(&[Call]) -> Option<T>) -> T {
        let deadline = Instant::now() + within;
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = find(&state.calls) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let story = state.story();
                drop(state);
                panic!("no {what} within {within:?}; {story}");
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// No call of `method` so far.
    #[track_caller]
    pub fn assert_none(&self, method: &str) {
        self.assert_count(method, 0);
    }

    /// Exactly so many calls of `method` so far.
    #[track_caller]
    pub fn assert_count(&self, method: &str, count: usize) {
        let state = self.shared.lock();
        if state.count(method) != count {
            let story = state.story();
            drop(state);
            panic!("not {count} calls of {method}; {story}");
        }
    }

    /// What was called, for a test that fails.
    pub fn story(&self) -> String {
        self.shared.lock().story()
    }
}

impl Drop for ScriptedSdk {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.story());
        }
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, unless the server goes.
    fn hang(&self, time: Duration) {
        if !time.is_zero() {
            let _ = self.changed.wait_timeout_while(self.lock(), time, |state| !state.closing);
        }
    }
}

impl State {
    fn record(&mut self, method: &'static str, mut detail: String) {
        if method == "Ready" {
            detail.clone_from(&status(&mut self.current()).state);
        }
        self.calls.push(Call { method, at: Instant::now(), detail });
    }

    fn answer(&mut self, method: &'static str) -> Answer {
        let script = self.script(method);
        script.next.pop_front().unwrap_or_else(|| script.default.clone())
    }

    fn script(&mut self, method: &'static str) -> &mut Script {
        self.scripts.entry(method).or_insert_with(|| Script { next: VecDeque::new(), default: Answer::Ok })
    }

    /// Someone asked for a state, with this method.
    fn request(&mut self, method: &'static str, wanted: &'static str) {
        self.settle();
        let Applies::After(delay) = *self.applies.get(method).unwrap_or(&Applies::After(millis(50))) else { return };
        let due = self.pending.map_or_else(|| Instant::now() + delay, |(due, _)| due);
        self.pending = Some((due, wanted));
    }

    /// Applies what is due; nothing moves a GameServer that is at its end.
    fn settle(&mut self) {
        if let Some((_, wanted)) = self.pending.take_if(|(due, _)| *due <= Instant::now()) {
            let deleting = meta(&mut self.game_server).deletion_timestamp != 0;
            let state = &mut status(&mut self.game_server).state;
            if !deleting && !matches!(state.as_str(), "Shutdown" | "Unhealthy" | "Error") {
                wanted.clone_into(state);
            }
        }
    }

    fn current(&mut self) -> GameServer {
        self.settle();
        self.game_server.clone()
    }

    fn count(&self, method: &str) -> usize {
        self.calls.iter().filter(|call| call.method == method).count()
    }

    fn story(&self) -> String {
        use std::fmt::Write as _;
        let mut story = "the SDK server saw:\n".to_owned();
        let now = Instant::now();
        for call in &self.calls {
            let ago = now.saturating_duration_since(call.at).as_secs_f64();
            let _ = writeln!(story, "{ago:9.3}s ago {} {}", call.method, call.detail);
        }
        story + "---"
    }
}

/// One completion queue for all servers of the test binary: each would cost a dozen threads.
fn environment() -> Arc<Environment> {
    static ENVIRONMENT: OnceLock<Arc<Environment>> = OnceLock::new();
    Arc::clone(ENVIRONMENT.get_or_init(|| Arc::new(EnvBuilder::new().cq_count(1).name_prefix("scripted-sdk").build())))
}

fn game_server() -> GameServer {
    GameServer {
        object_meta: Some(ObjectMeta {
            name: "scripted".to_owned(),
            namespace: "default".to_owned(),
            ..ObjectMeta::default()
        }),
        spec: Some(Spec {
            health: Some(Health { disabled: false, period_seconds: 5, failure_threshold: 3, initial_delay_seconds: 5 }),
        }),
        status: Some(Status { state: "Scheduled".to_owned(), address: "192.0.2.1".to_owned(), ..Status::default() }),
    }
}

fn meta(game_server: &mut GameServer) -> &mut ObjectMeta {
    game_server.object_meta.get_or_insert_with(ObjectMeta::default)
}

fn status(game_server: &mut GameServer) -> &mut Status {
    game_server.status.get_or_insert_with(Status::default)
}
