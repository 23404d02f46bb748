//! The one loop: wait for an event or the next deadline, step the machine,
//! perform every effect in order.
//!
//! This is the state thread. It owns the machine and the SDK client, and it
//! decides nothing. While an answer is at hand, what the other threads have
//! sent meanwhile goes first, so that an event waits for one call at most.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::beat;
use crate::exit::ExitReason;
use crate::machine::{Answer, Call, Config, Effect, Effects, Event, Machine, Notice};
use crate::probe::{self, Command};
use crate::scrape;
use crate::sdk::Sdk;
use crate::settings::Settings;
use crate::worker::Worker;

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
    beat: Worker<Duration>,
    scrape: Option<scrape::Scrape>,
}

impl<S: Sdk> Runtime<S> {
    /// Starts the threads that always run.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(
        settings: Settings,
        config: Config,
        sdk: S,
        (sender, events): (Sender<Event>, Receiver<Event>),
    ) -> io::Result<Self> {
        Ok(Self {
            machine: Machine::new(config, Instant::now()),
            probe: Some(probe::spawn(&settings, sender.clone())?),
            beat: beat::spawn(sender.clone())?,
            scrape: None,
            settings,
            sdk,
            events,
            sender,
        })
    }

    /// Runs until the machine says that it is time to leave.
    pub fn run(mut self) -> ExitReason {
        let mut effects = Effects::new();
        let (mut answer, mut taken) = (None, 0);
        self.machine.start(Instant::now(), &mut effects);
        loop {
            for effect in std::mem::take(&mut effects) {
                match effect {
                    Effect::Call(call) => answer = Some(self.call(&call)),
                    Effect::Exit(reason) => return reason,
                    effect => self.perform(effect),
                }
            }
            let event = self.next_event(&mut answer, &mut taken);
            self.machine.step(Instant::now(), event, &mut effects);
        }
    }

    /// What the others have sent goes before an answer; without one, wait.
    fn next_event(&mut self, answer: &mut Option<Answer>, taken: &mut usize) -> Event {
        if answer.is_some() {
            if *taken < EVENTS_BEFORE_ANSWER
                && let Ok(event) = self.events.try_recv()
            {
                *taken += 1;
                return event;
            }
            *taken = 0;
            if let Some(answer) = answer.take() {
                return Event::Answered(answer);
            }
        }
        let Some(deadline) = self.machine.next_deadline() else {
            // The runtime holds a sender itself, so this waits and cannot fail.
            return self.events.recv().unwrap_or(Event::Tick);
        };
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Event::Tick,
        }
    }

    fn call(&mut self, call: &Call) -> Answer {
        let counter = self.settings.counter.as_ref().map_or("", |counter| counter.name.as_str());
        let began = Instant::now();
        let answer = match call {
            Call::Connect => Answer::Connected(self.sdk.connect()),
            Call::GetGameServer => Answer::GameServer(self.sdk.game_server()),
            Call::Ready => Answer::Ready(self.sdk.ready()),
            Call::Shutdown => Answer::Shutdown(self.sdk.shutdown()),
            Call::Health => Answer::Health(self.sdk.health()),
            Call::GetCounter => Answer::GetCounter(self.sdk.counter(counter)),
            Call::UpdateCounter(count) => Answer::UpdateCounter(self.sdk.update_counter(counter, *count)),
        };
        log::debug!(call:? = call, took:? = began.elapsed(), answer:? = answer; "SDK call");
        answer
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Log(notice) => write(&notice),
            Effect::AwaitReadiness => self.tell_probe(Command::AwaitReadiness),
            Effect::CheckLiveness => self.tell_probe(Command::CheckLiveness),
            Effect::StopProbing => self.probe = None,
            Effect::SetHealthInterval(interval) => self.beat.tell(interval),
            Effect::StartScraping => self.start_scraping(),
            Effect::SendStopSignal | Effect::TerminateGroup | Effect::KillGroup | Effect::StartStopHook(_) => {}
            Effect::Call(_) | Effect::Exit(_) => unreachable!("the loop takes these itself"),
        }
    }

    fn tell_probe(&self, command: Command) {
        if let Some(probe) = &self.probe {
            probe.tell(command);
        }
    }

    fn start_scraping(&mut self) {
        let Some(counter) = &self.settings.counter else { return };
        match scrape::spawn(counter, self.sender.clone()) {
            Ok(scrape) => self.scrape = Some(scrape),
            Err(error) => self.report_death("scrape", &error),
        }
    }

    /// A thread that could not be started is one that has died.
    fn report_death(&self, thread: &'static str, error: &io::Error) {
        let message = format!("it could not be started: {error}");
        // The receiver is this struct's own.
        let _ = self.sender.send(Event::ThreadDied { thread, message });
    }
}

fn write(notice: &Notice) {
    let (level, message, fields) = notice.render();
    log::logger().log(
        &log::Record::builder()
            .level(level)
            .target("agones_shim")
            .args(format_args!("{message}"))
            .key_values(&fields)
            .build(),
    );
}
