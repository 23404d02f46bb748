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
use crate::counter::{scrape, tally};
use crate::exit::ExitReason;
use crate::game::arguments;
use crate::game::child::{Child, Ender, Processes};
use crate::game::hook;
use crate::game::stdio::{self, ChildStdio, Stdio, Wanted};
use crate::insight::notify::Notifier;
use crate::insight::status::{self, News, Report};
use crate::log_line::write;
use crate::log_lines::counted::{CountedLines, Told};
use crate::log_lines::lines::Lines;
use crate::log_lines::watch::Watch;
use crate::machine::{Config, Effect, Effects, Event, Machine, Notice, Phase};
use crate::net::deadline::Deadline;
use crate::probe::{self, Command};
use crate::sdk::Sdk;
use crate::sdk::call::{Answer, Call};
use crate::sdk::stats::CallStats;
use crate::settings::{CounterSettings, Probe, Settings, Source, StopSettings};
use crate::worker::{Worker, panic_message};

/// Most events that are taken before an answer.
const EVENTS_BEFORE_ANSWER: usize = 64;

/// Everything that the state thread owns.
pub struct Runtime<S> {
    machine: Machine,
    settings: Settings,
    sdk: S,
    events: Receiver<Event>,
    sender: Sender<Event>,
    probe: Option<Worker<Command>>,
    /// What is looked for in what the game writes.
    lines: Lines,
    watch: Option<Watch>,
    tallies: Vec<tally::TallyWorker>,
    beat: Worker<Duration>,
    scrapes: Vec<scrape::Scrape>,
    status: Option<Worker<News>>,
    /// A report waits for the call under way.
    report_owed: bool,
    notifier: Option<Notifier>,
    /// The phase that others were told of last.
    phase: Phase,
    calls: CallStats,
    processes: Processes,
    /// Wrapper: what the child is, and the child once it was started.
    argv: Vec<OsString>,
    child: Option<Child>,
    /// Its process number, once it runs.
    child_pid: Option<i32>,
    /// Its streams on the way through, where they are not the shim's own.
    stdio: Option<Stdio>,
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
        let (lines, tallies) = line_sources(&settings, &sender)?;
        let write = stdio::to_stdout().filter(|_| settings.game_log.relay);
        let file = settings.game_log.file.as_ref().filter(|_| write.is_some() || !lines.is_done());
        // A game that is not started yet has written nothing: what is in the file is of an earlier one.
        let watch = file.map(|file| Watch::start(file, lines.clone(), config.wrapper, write, sender.clone()));
        Ok(Self {
            machine: Machine::new(config, Instant::now()),
            probe: Some(probe::spawn(&settings, launcher.as_ref(), sender.clone())?),
            watch: watch.transpose()?,
            lines,
            tallies,
            beat: beat::spawn(sender.clone())?,
            scrapes: Vec::new(),
            status: settings.status_addr.clone().map(|addr| status::spawn(addr, sender.clone())).transpose()?,
            report_owed: false,
            phase: Phase::Waiting,
            calls: CallStats::default(),
            child: None,
            child_pid: None,
            stdio: None,
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
        if let Some(watch) = self.watch.filter(|_| self.settings.game_log.relay)
            && !watch.finish(Deadline::after(stdio::LAST_OUTPUT_TIMEOUT))
        {
            stdio::warn_of_loss();
        }
        if let Some(stdio) = self.stdio {
            stdio.finish();
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
            let (asked, answered) = (matches!(event, Event::StatusAsked { .. }), matches!(event, Event::Answered(_)));
            match event {
                Event::ChildStarted { pid } => self.child_pid = Some(pid),
                Event::ChildEnded { .. } => self.stdio.iter().for_each(Stdio::release_keyboard),
                _ => {}
            }
            self.machine.step(Instant::now(), event, &mut effects);
            // What is read because of a question belongs into its answer: one call, which has a deadline.
            let is_read = asked && effects.contains(&Effect::Call(Call::GetGameServer));
            let is_read_now = answered && std::mem::take(&mut self.report_owed);
            self.report_owed |= is_read;
            self.tell_status(asked && !is_read || is_read_now);
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
        let answer = self.sdk.call(call);
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
            Effect::StopProbing => {
                self.probe = None;
                // What it writes on its way out is passed on too.
                if !self.settings.game_log.relay {
                    self.watch = None;
                }
            }
            Effect::ReportLines(lines) => self.tell_probe(Command::LinesSeen(lines)),
            Effect::StopWatching => {
                self.lines.stop_waiting();
                if self.lines.is_done() && !self.settings.game_log.relay {
                    self.watch = None;
                }
                self.watch.iter().for_each(Watch::stop_waiting);
                self.stdio.iter_mut().for_each(Stdio::stop_waiting);
            }
            Effect::SetHealthInterval(interval) => self.beat.tell(interval),
            Effect::StartScraping => self.start_scraping(),
            Effect::StartChild(variables) => self.start_child(variables),
            Effect::SendStopSignal => self.to_child(Child::send_stop_signal),
            Effect::TerminateGroup => self.to_child(|child, _| child.terminate_group()),
            Effect::TerminateMembers(pids) => self.to_child(|child, _| child.terminate_members(pids)),
            Effect::Kill => self.to_child(Child::kill),
            Effect::ListGroup => self.to_child(|child, _| child.list_group()),
            Effect::WriteStopLine => self.write_stop_line(),
            Effect::StartStopHook(reason) => self.start_stop_hook(reason.as_str()),
            Effect::StartAllocatedHook(variables) => self.start_allocated_hook(variables),
            Effect::EndAllocatedHook => self.allocated_hook.iter().for_each(Ender::end),
            Effect::Call(_) | Effect::Exit(_) => unreachable!("the loop takes these itself"),
        }
    }

    fn start_child(&mut self, variables: Vec<(String, String)>) {
        if self.settings.sdk.wait {
            let (argv, missing) = arguments::filled(&self.argv, &variables);
            self.argv = argv;
            if !missing.is_empty() {
                write(&Notice::ArgumentsNotFilled { names: missing.join(", ") });
            }
        }
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let started = self.open_stdio().and_then(|stdio| self.processes.start_child(&self.argv, variables, stdio));
        match started {
            Ok(child) => self.child = Some(child),
            Err(error) => {
                write(&Notice::ChildNotStarted { error: error.to_string() });
                self.report(Event::ChildNotStarted(ExitReason::System));
            }
        }
    }

    /// What the child has for its stdin and outputs where that is not the shim's own.
    fn open_stdio(&mut self) -> io::Result<ChildStdio> {
        let is_output = self.settings.game_log.file.is_none() && !self.lines.is_done();
        let wanted = Wanted {
            terminal: self.settings.stop.tty,
            lines: self.settings.stop.line.is_some(),
            looked_for: is_output.then_some(&self.lines),
        };
        let processes = &mut self.processes;
        let Some((stdio, child)) = Stdio::open(wanted, || processes.console(), &self.sender)? else {
            return Ok(ChildStdio::default());
        };
        self.stdio = Some(stdio);
        Ok(child)
    }

    fn write_stop_line(&self) {
        let is_asked = match (&self.stdio, &self.settings.stop.line) {
            (Some(stdio), Some(line)) => stdio.write_lines(&line.lines),
            _ => false,
        };
        if !is_asked {
            self.report(Event::StopLineWritten(Err("the game's stdin is not the shim's to write to".into())));
        }
    }

    fn to_child(&self, tell: impl FnOnce(&Child, &StopSettings)) {
        if let Some(child) = &self.child {
            tell(child, &self.settings.stop);
        }
    }

    fn start_stop_hook(&mut self, reason: &str) {
        if let Some(hook) = &self.settings.stop.hook {
            let variables = [("AGONES_SHIM_STOP_REASON".into(), reason.into())];
            let variables = variables.into_iter().chain(child_pid(self.child_pid)).collect();
            hook::start(&mut self.processes, hook, variables, Event::HookEnded, self.sender.clone());
        }
    }

    fn start_allocated_hook(&mut self, variables: Vec<(String, String)>) {
        if let Some(hook) = &self.settings.allocation.hook {
            let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
            let variables = variables.chain(child_pid(self.child_pid)).collect();
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
        self.tallies.iter().for_each(|tally| tally.tell(Told::Begin));
        let is_read = |(_, counter): &(usize, &CounterSettings)| !matches!(counter.source, Source::Lines(_));
        for (source, counter) in self.settings.counters.iter().enumerate().filter(is_read) {
            let launcher = matches!(counter.source, Source::Exec(_)).then(|| self.processes.launcher()).transpose();
            match launcher.and_then(|launcher| scrape::spawn(source, counter, launcher, self.sender.clone())) {
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

/// What is looked for in the lines that the game writes, and who keeps the tally of each source that counts by them.
fn line_sources(settings: &Settings, events: &Sender<Event>) -> io::Result<(Lines, Vec<tally::TallyWorker>)> {
    let (mut counted, mut tallies) = (Vec::new(), Vec::new());
    for (source, counter) in settings.counters.iter().enumerate() {
        if let Source::Lines(lines) = &counter.source {
            let tells_names = counter.list.is_some() && lines.has_names();
            let tally = tally::spawn(source, lines, tells_names, counter.interval, events.clone())?;
            counted.push(CountedLines::new(lines.clone(), tally.sender()));
            tallies.push(tally);
        }
    }
    Ok((Lines::new(settings.log_probe().map(|target| target.pattern.clone()), counted), tallies))
}

/// A hook is told the child's process number.
fn child_pid(pid: Option<i32>) -> Option<(OsString, OsString)> {
    pid.map(|pid| ("AGONES_SHIM_CHILD_PID".into(), pid.to_string().into()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::game::sys::Signals;
    use crate::sdk::call::Peer;
    use crate::sdk::game_server::{GameServer, State};

    /// An SDK server's client with a bug in its beats; it tells what else was called.
    struct Broken {
        calls: Sender<String>,
        state: State,
    }

    impl Sdk for Broken {
        fn call(&mut self, call: &Call) -> Answer {
            let name = format!("{call:?}").split(' ').next().unwrap_or_default().to_owned();
            self.calls.send(name).expect("the test listens");
            match call {
                Call::Connect { .. } => Answer::Connected(Ok(Peer::New)),
                Call::GetGameServer => {
                    Answer::GameServer(Ok(GameServer { state: self.state.clone(), ..GameServer::default() }))
                }
                Call::Shutdown => {
                    self.state = State::Shutdown;
                    Answer::Shutdown(Ok(()))
                }
                Call::Health => {
                    assert_eq!(self.state, State::Shutdown, "a bug, on purpose");
                    Answer::Health(Ok(()))
                }
                call => panic!("{call:?} was not expected"),
            }
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
        assert_eq!(calls[..5], ["Connect", "GetGameServer", "Health", "Connect", "Shutdown"], "{calls:?}");
    }
}
