//! The one loop: wait for an event or the next deadline, step the machine,
//! perform every effect in order.
//!
//! This is the state thread. It owns the machine and the SDK client, and it
//! decides nothing. While an answer is at hand, what the other threads have
//! sent meanwhile goes first, so that an event waits for one call at most.

use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::beat;
use crate::counter::scrape;
use crate::exit::ExitReason;
use crate::game::child::{Child, Ender, Processes};
use crate::game::hook;
use crate::game::relay::{Outputs, Relay};
use crate::insight::notify::Notifier;
use crate::insight::status::{self, News, Report};
use crate::log_lines::watch::{self, Watch};
use crate::machine::{Answer, Call, Config, Effect, Effects, Event, Machine, Notice, Phase};
use crate::probe::{self, Command};
use crate::sdk::Sdk;
use crate::sdk::stats::CallStats;
use crate::settings::{Probe, Settings, StopSettings};
use crate::worker::{Worker, panic_message};

/// So many events are taken before an answer at the most.
const EVENTS_BEFORE_ANSWER: usize = 64;

/// Everything that the state thread owns.
pub struct Runtime<S> {
    machine: Machine,
    settings: Settings,
    sdk: S,
    events: Receiver<Event>,
    sender: Sender<Event>,
    probe: Option<Worker<Command>>,
    watch: Option<Watch>,
    beat: Worker<Duration>,
    scrapes: Vec<scrape::Scrape>,
    status: Option<Worker<News>>,
    notifier: Option<Notifier>,
    /// The phase that others were told of last.
    phase: Phase,
    calls: CallStats,
    processes: Processes,
    /// Wrapper: what the child is, and the child once it was started.
    argv: Vec<OsString>,
    child: Option<Child>,
    /// Its output on the way through, where that is looked at.
    relay: Option<Relay>,
    /// The hook of the last allocation, ended or not.
    allocated_hook: Option<Ender>,
    /// The answer of the last call, until the machine has heard it.
    answer: Option<Answer>,
    events_since_answer: usize,
}

impl<S: Sdk> Runtime<S> {
    /// Starts the threads that always run. `argv` is the wrapper's program, `notifier` the service manager's socket.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(
        settings: Settings,
        config: Config,
        sdk: S,
        mut processes: Processes,
        notifier: Option<Notifier>,
        argv: Vec<OsString>,
        (sender, events): (Sender<Event>, Receiver<Event>),
    ) -> io::Result<Self> {
        let runs_programs = settings
            .readiness
            .probes
            .iter()
            .chain(&settings.liveness.probes)
            .any(|probe| matches!(probe, Probe::Exec(_)));
        let launcher = if runs_programs { Some(processes.launcher()?) } else { None };
        // A game that is not started yet has written nothing: what is in the file is of an earlier one.
        let watch = settings.log_probe().map(|target| watch::spawn(target, config.wrapper, sender.clone()));
        Ok(Self {
            machine: Machine::new(config, Instant::now()),
            probe: Some(probe::spawn(&settings, launcher.as_ref(), sender.clone())?),
            watch: watch.transpose()?.flatten(),
            beat: beat::spawn(sender.clone())?,
            scrapes: Vec::new(),
            status: settings.status_addr.clone().map(|addr| status::spawn(addr, sender.clone())).transpose()?,
            phase: Phase::Waiting,
            calls: CallStats::default(),
            child: None,
            relay: None,
            allocated_hook: None,
            notifier,
            settings,
            sdk,
            processes,
            argv,
            answer: None,
            events_since_answer: 0,
            events,
            sender,
        })
    }

    /// Runs until the machine says that it is time to leave.
    ///
    /// A panic in it is a bug like one in any other thread: a new machine takes
    /// over, whose only business is the way out. A second one ends the process.
    pub fn run(mut self) -> ExitReason {
        let mut effects = Effects::new();
        self.machine.start(Instant::now(), &mut effects);
        let reason = catch_unwind(AssertUnwindSafe(|| self.turn(effects))).unwrap_or_else(|panic| {
            let mut effects = Effects::new();
            self.answer = None;
            self.machine = self.machine.take_over(Instant::now());
            let event = Event::ThreadDied { thread: "main", message: panic_message(&*panic) };
            self.machine.step(Instant::now(), event, &mut effects);
            catch_unwind(AssertUnwindSafe(|| self.turn(effects))).unwrap_or(ExitReason::Bug)
        });
        self.processes.sweep();
        if let Some(relay) = self.relay {
            relay.finish();
        }
        reason
    }

    fn turn(&mut self, mut effects: Effects) -> ExitReason {
        self.notify();
        loop {
            for effect in effects.drain(..) {
                match effect {
                    Effect::Call(call) => self.answer = Some(self.call(&call)),
                    Effect::Exit(reason) => return reason,
                    effect => self.perform(effect),
                }
            }
            let event = self.next_event();
            let asked = event == Event::StatusAsked;
            self.machine.step(Instant::now(), event, &mut effects);
            self.tell_status(asked);
            self.notify();
        }
    }

    fn notify(&mut self) {
        let view = self.machine.view();
        if let Some(notice) = self.notifier.as_mut().and_then(|notifier| notifier.turn(view)) {
            write(&notice);
        }
    }

    /// How things stand, to the status endpoint: the phase when it changes, the rest when it is asked for.
    fn tell_status(&mut self, asked: bool) {
        let Some(status) = &self.status else { return };
        let phase = self.machine.view().phase;
        if std::mem::replace(&mut self.phase, phase) != phase {
            status.tell(News::Phase(phase));
        }
        if asked {
            status.tell(News::Report(Box::new(Report {
                snapshot: self.machine.snapshot(Instant::now()),
                calls: self.calls.clone(),
                sdk_endpoint: self.settings.sdk.endpoint.to_string(),
            })));
        }
    }

    /// What the others have sent goes before an answer; without one, wait.
    fn next_event(&mut self) -> Event {
        if self.answer.is_some()
            && self.events_since_answer < EVENTS_BEFORE_ANSWER
            && let Ok(event) = self.events.try_recv()
        {
            self.events_since_answer += 1;
            return event;
        }
        self.events_since_answer = 0;
        if let Some(answer) = self.answer.take() {
            return Event::Answered(answer);
        }
        let Some(deadline) = self.machine.next_deadline() else {
            // This struct holds a sender itself, so the channel cannot be closed.
            return self.events.recv().unwrap_or(Event::Tick);
        };
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Event::Tick,
        }
    }

    fn call(&mut self, call: &Call) -> Answer {
        let began = Instant::now();
        let answer = match call {
            Call::Connect => Answer::Connected(self.sdk.connect()),
            Call::GetGameServer => Answer::GameServer(self.sdk.game_server()),
            Call::Ready => Answer::Ready(self.sdk.ready()),
            Call::Shutdown => Answer::Shutdown(self.sdk.shutdown()),
            Call::Health => Answer::Health(self.sdk.health()),
            Call::GetCounter(name) => Answer::GetCounter(self.sdk.counter(name)),
            Call::UpdateCounter { name, count, capacity } => {
                Answer::UpdateCounter(self.sdk.update_counter(name, *count, *capacity))
            }
            Call::GetList(name) => Answer::GetList(self.sdk.list(name)),
            Call::AddListValue { name, value } => Answer::AddListValue(self.sdk.add_list_value(name, value)),
            Call::RemoveListValue { name, value } => Answer::RemoveListValue(self.sdk.remove_list_value(name, value)),
            Call::SetLabel(pair) => Answer::SetLabel(self.sdk.set_label(pair)),
            Call::SetAnnotation(pair) => Answer::SetAnnotation(self.sdk.set_annotation(pair)),
        };
        let took = began.elapsed();
        self.calls.record(call, &answer, took);
        log::debug!(call:? = call, took:?, answer = answer.summary(); "SDK call");
        answer
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Log(notice) => write(&notice),
            Effect::AwaitReadiness => self.tell_probe(Command::AwaitReadiness),
            Effect::CheckLiveness => self.tell_probe(Command::CheckLiveness),
            Effect::StopProbing => (self.probe, self.watch) = (None, None),
            Effect::ReportLines(lines) => self.tell_probe(Command::LinesSeen(lines)),
            Effect::StopWatching => {
                self.watch = None;
                if let Some(relay) = &mut self.relay {
                    relay.stop_looking();
                }
            }
            Effect::SetHealthInterval(interval) => self.beat.tell(interval),
            Effect::StartScraping => self.start_scraping(),
            Effect::StartChild(variables) => self.start_child(variables),
            Effect::SendStopSignal => self.to_child(Child::send_stop_signal),
            Effect::TerminateGroup => self.to_child(|child, _| child.terminate_group()),
            Effect::KillGroup => self.to_child(|child, _| child.kill_group()),
            Effect::StartStopHook(reason) => self.start_stop_hook(reason),
            Effect::StartAllocatedHook(variables) => self.start_allocated_hook(variables),
            Effect::EndAllocatedHook => self.allocated_hook.iter().for_each(Ender::end),
            Effect::Call(_) | Effect::Exit(_) => unreachable!("the loop takes these itself"),
        }
    }

    fn start_child(&mut self, variables: Vec<(String, String)>) {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let outputs = match self.start_relay() {
            Ok(outputs) => outputs,
            Err(error) => {
                log::error!("the game's output cannot be looked at for AGONES_SHIM_READY_LOG: {error}");
                return self.report(Event::ChildNotStarted(ExitReason::System));
            }
        };
        match self.processes.start_child(&self.argv, variables, outputs) {
            Ok(child) => self.child = Some(child),
            Err(error) => {
                log::error!("{}", error.message);
                self.report(Event::ChildNotStarted(error.reason));
            }
        }
    }

    /// What the child writes goes through the shim where a line of it is waited for; elsewhere it has the shim's own.
    fn start_relay(&mut self) -> io::Result<Outputs> {
        let Some(target) = self.settings.log_probe().filter(|target| target.file.is_none()) else {
            return Ok([None, None]);
        };
        let size = self.processes.window_size()?;
        let (relay, outputs) = Relay::start(&target.pattern, &size, &self.sender)?;
        self.relay = Some(relay);
        Ok(outputs)
    }

    fn to_child(&self, tell: impl FnOnce(&Child, &StopSettings)) {
        if let Some(child) = &self.child {
            tell(child, &self.settings.stop);
        }
    }

    fn start_stop_hook(&mut self, reason: &str) {
        if let Some(hook) = &self.settings.stop.hook {
            let variables = [("AGONES_SHIM_STOP_REASON".into(), reason.into())];
            let variables = variables.into_iter().chain(child_pid(self.child.as_ref())).collect();
            hook::start(&mut self.processes, hook, variables, Event::HookEnded, self.sender.clone());
        }
    }

    fn start_allocated_hook(&mut self, variables: Vec<(String, String)>) {
        if let Some(hook) = &self.settings.allocation.hook {
            let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
            let variables = variables.chain(child_pid(self.child.as_ref())).collect();
            self.allocated_hook =
                hook::start(&mut self.processes, hook, variables, Event::AllocatedHookEnded, self.sender.clone());
        }
    }

    fn tell_probe(&self, command: Command) {
        if let Some(probe) = &self.probe {
            probe.tell(command);
        }
    }

    fn start_scraping(&mut self) {
        for (source, counter) in self.settings.counters.iter().enumerate() {
            match scrape::spawn(source, counter, self.sender.clone()) {
                Ok(scrape) => self.scrapes.push(scrape),
                // A thread that cannot be started is one that has died.
                Err(error) => {
                    let message = format!("it could not be started: {error}");
                    self.report(Event::ThreadDied { thread: "scrape", message });
                }
            }
        }
    }

    fn report(&self, event: Event) {
        // The receiver is this struct's own.
        let _ = self.sender.send(event);
    }
}

/// A hook is told the child's process number.
fn child_pid(child: Option<&Child>) -> Option<(OsString, OsString)> {
    child.map(|child| ("AGONES_SHIM_CHILD_PID".into(), child.pid().to_string().into()))
}

/// Writes a line of the machine.
pub fn write(notice: &Notice) {
    let (level, message, fields) = notice.render();
    log::logger().log(
        &log::Record::builder()
            .level(level)
            .target(env!("CARGO_CRATE_NAME"))
            .args(format_args!("{message}"))
            .key_values(&fields)
            .build(),
    );
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::game::sys::Signals;
    use crate::machine::CallError;
    use crate::sdk::game_server::{Counter, GameServer, List, State};
    use crate::settings::KeyValue;

    /// An SDK server's client with a bug in its beats; it tells what else was called.
    struct Broken {
        calls: Sender<&'static str>,
        state: State,
    }

    impl Broken {
        fn called(&self, call: &'static str) {
            self.calls.send(call).expect("the test listens");
        }
    }

    impl Sdk for Broken {
        fn connect(&mut self) -> Result<GameServer, CallError> {
            self.called("connect");
            self.game_server()
        }

        fn game_server(&mut self) -> Result<GameServer, CallError> {
            Ok(GameServer { state: self.state.clone(), ..GameServer::default() })
        }

        fn ready(&mut self) -> Result<(), CallError> {
            self.called("ready");
            Ok(())
        }

        fn shutdown(&mut self) -> Result<(), CallError> {
            self.called("shutdown");
            self.state = State::Shutdown;
            Ok(())
        }

        fn health(&mut self) -> Result<(), CallError> {
            self.called("health");
            assert_eq!(self.state, State::Shutdown, "a bug, on purpose");
            Ok(())
        }

        fn counter(&mut self, _: &str) -> Result<Counter, CallError> {
            Ok(Counter::default())
        }

        fn update_counter(&mut self, _: &str, _: i64, _: Option<i64>) -> Result<(), CallError> {
            Ok(())
        }

        fn list(&mut self, _: &str) -> Result<List, CallError> {
            Ok(List::default())
        }

        fn add_list_value(&mut self, _: &str, _: &str) -> Result<(), CallError> {
            Ok(())
        }

        fn remove_list_value(&mut self, _: &str, _: &str) -> Result<(), CallError> {
            Ok(())
        }

        fn set_label(&mut self, _: &KeyValue) -> Result<(), CallError> {
            Ok(())
        }

        fn set_annotation(&mut self, _: &KeyValue) -> Result<(), CallError> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_of_the_state_thread_goes_through_shutdown_and_ends_with_70() {
        // Nobody listens on port 1.
        let environment = [("AGONES_SHIM_READY_TCP".into(), "127.0.0.1:1".into())];
        let (settings, _) = Settings::read(false, environment).expect("good settings");
        let config = Config::new(&settings, false, None, 0);
        let (calls, called) = channel();
        let (sender, events) = channel();
        let processes = Processes::unstarted(Signals::NONE, [], sender.clone());
        let sdk = Broken { calls, state: State::Scheduled };
        let runtime = Runtime::new(settings, config, sdk, processes, None, Vec::new(), (sender, events));
        assert_eq!(runtime.expect("threads").run(), ExitReason::Bug);
        let calls: Vec<_> = called.iter().collect();
        assert_eq!(calls[..4], ["connect", "health", "connect", "shutdown"], "{calls:?}");
    }
}
