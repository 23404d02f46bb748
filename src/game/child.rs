//! Handles of the programs that the shim starts: the game, the hooks, the programs of probes.
//!
//! A handle here only asks, and waits for nothing: every fork, every wait and every signal to a child is done by the
//! reaper's thread, so that a process number can never be used after it was reaped. An exec may hang for as long as
//! the mount that the program is on; what comes of it is an event, or comes with the helper's end. When to signal is
//! decided by the machine.

use std::ffi::{OsString, c_int};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::unistd::Pid;

use crate::game::reaper::{self, Command, HelperId, Signaling};
use crate::game::spawn::{Surroundings, Variable};
use crate::game::start_error::StartError;
use crate::game::stdio::ChildStdio;
use crate::game::sys::{self, Program, Report, Signals};
use crate::log_line;
use crate::machine::{Event, Notice, ProcessEnd};
use crate::settings::{StopScope, StopSettings};

/// How long the reaper may take to end the programs of the probes.
const SWEEP_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts programs and owns what they need.
#[derive(Debug)]
pub struct Processes {
    reaper: Option<Sender<Command>>,
    events: Sender<Event>,
    surroundings: Surroundings,
    /// Probes start programs too.
    has_probes: bool,
}

/// Starts the programs of the probes, from whatever thread.
#[derive(Clone, Debug)]
pub struct Launcher {
    reaper: Sender<Command>,
    surroundings: Surroundings,
}

impl Processes {
    /// Without a thread, until a program is started.
    pub(crate) fn unstarted(
        mask: Signals,
        environment: impl IntoIterator<Item = Variable>,
        events: Sender<Event>,
    ) -> Self {
        Self { reaper: None, events, surroundings: Surroundings::new(mask, environment), has_probes: false }
    }

    /// With a thread that waits for signals and reaps orphans.
    pub(crate) fn wrapper(
        mask: Signals,
        environment: impl IntoIterator<Item = Variable>,
        signaling: Signaling,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        // No reason to keep the game from running: qemu's user mode and other stand-ins for Linux know no subreaper.
        if std::process::id() != 1
            && let Err(errno) = nix::sys::prctl::set_child_subreaper(true)
        {
            log_line::write(&Notice::NotSubreaper { error: errno.desc().into() });
        }
        let mut processes = Self::unstarted(mask, environment, events);
        processes.reaper = Some(reaper::start(Some(signaling), processes.events.clone())?);
        Ok(processes)
    }

    /// Wrapper: starts the child, once, with these variables besides. [`Event::ChildStarted`] says that it runs, or
    /// [`Event::ChildNotStarted`] that it cannot be executed. Then its end is [`Event::ChildEnded`], the end of the
    /// last process of its group [`Event::GroupEmpty`].
    ///
    /// # Errors
    /// The system refuses a thread. Nothing is reported then.
    pub(crate) fn start_child(
        &mut self,
        argv: &[OsString],
        variables: Vec<Variable>,
        stdio: ChildStdio,
    ) -> io::Result<Child> {
        let program = self.surroundings.program(argv, variables);
        let program = Program { stdio: stdio.descriptors, has_terminal: stdio.is_terminal, ..program };
        let (argv, path) = (argv.to_vec(), self.surroundings.path().to_owned());
        let reaper = self.reaper()?.clone();
        let child = Child { reaper: reaper.clone() };
        let (answer, forked) = mpsc::channel::<io::Result<Report>>();
        // A thread of its own, for as long as the exec takes: nobody else waits for one.
        thread::Builder::new().name("spawn".to_owned()).spawn(move || {
            let failure = match forked.recv() {
                Ok(Ok(report)) => report.wait(),
                Ok(Err(error)) => Some(error),
                // The reaper has died, and has said so.
                Err(_) => return,
            };
            let outcome = failure.map_or(Ok(()), |error| Err(StartError::new(&argv, &path, &error)));
            ask(&reaper, Command::ChildExecuted(outcome));
        })?;
        // Once that thread exists, but not by it: the child need not wait until it runs.
        ask(&child.reaper, Command::StartChild(program, answer));
        Ok(child)
    }

    /// Starts any other program, detached: no stdin, and what it writes goes to stderr. It gets these variables
    /// besides.
    ///
    /// # Errors
    /// The system refuses the reaper's thread.
    pub(crate) fn start_helper(&mut self, argv: &[OsString], variables: Vec<Variable>) -> io::Result<Helper> {
        let reaper = self.reaper()?.clone();
        Ok(Launcher { reaper, surroundings: self.surroundings.clone() }.start(argv, variables, None))
    }

    /// What the probes start their programs with.
    ///
    /// # Errors
    /// The system refuses the reaper's thread.
    pub fn launcher(&mut self) -> io::Result<Launcher> {
        self.has_probes = true;
        let reaper = self.reaper()?.clone();
        Ok(Launcher { reaper, surroundings: self.surroundings.clone() })
    }

    /// What the child's streams tell the reaper.
    ///
    /// # Errors
    /// The system refuses the reaper's thread.
    pub(crate) fn console(&mut self) -> io::Result<Console> {
        Ok(Console(self.reaper()?.clone()))
    }

    /// Kills what the probes have started and keeps them from starting more: nothing of it outlives this process.
    pub(crate) fn sweep(&self) {
        if let Some(reaper) = self.reaper.as_ref().filter(|_| self.has_probes) {
            let (answer, answered) = mpsc::channel();
            ask(reaper, Command::Sweep(answer));
            let _ = answered.recv_timeout(SWEEP_TIMEOUT);
        }
    }

    fn reaper(&mut self) -> io::Result<&Sender<Command>> {
        if self.reaper.is_none() {
            self.reaper = Some(reaper::start(None, self.events.clone())?);
        }
        self.reaper.as_ref().ok_or_else(|| io::Error::other("no reaper"))
    }
}

impl Launcher {
    /// Starts the program of a probe. What it writes goes there; what is left of its group is killed when it ends.
    pub(crate) fn start_probe(&self, argv: &[OsString], output: OwnedFd) -> Helper {
        self.start(argv, Vec::new(), Some(output))
    }

    fn start(&self, argv: &[OsString], variables: Vec<Variable>, output: Option<OwnedFd>) -> Helper {
        let is_swept = output.is_some();
        let output = output.map(Arc::new);
        let program = self.surroundings.program(argv, variables);
        let program = Program { detached: true, stdio: [None, output.clone(), output], ..program };
        let (report, end) = mpsc::channel();
        let id = HelperId::default();
        ask(&self.reaper, Command::StartHelper { program, id: id.clone(), report, is_swept });
        Helper {
            end,
            argv: argv.to_vec(),
            path: self.surroundings.path().to_owned(),
            ender: Ender { id, reaper: self.reaper.clone() },
        }
    }
}

/// Hands a command to the reaper, and wakes it: it waits for signals.
fn ask(reaper: &Sender<Command>, command: Command) {
    if reaper.send(command).is_ok() {
        let _ = sys::kill(Pid::this().as_raw(), libc::SIGCHLD);
    }
}

/// What the child's streams tell the reaper.
#[derive(Clone, Debug)]
pub(crate) struct Console(Sender<Command>);

impl Console {
    /// The size of the child's terminal has changed, and that is not the one which controls it: its group gets the
    /// signal that the kernel would send.
    pub fn window_has_changed(&self) {
        ask(&self.0, Command::SignalGroup(libc::SIGWINCH));
    }

    /// Stops the child and the shim, and returns when they go on. For a thread that nobody waits for.
    pub fn suspend(&self) {
        let (answer, answered) = mpsc::channel();
        ask(&self.0, Command::Suspend(answer));
        let _ = answered.recv();
    }
}

/// The game.
#[derive(Clone, Debug)]
pub struct Child {
    reaper: Sender<Command>,
}

impl Child {
    /// Sends the stop signal to the child's group, or to the child alone. Nothing is sent to what has ended.
    pub fn send_stop_signal(&self, stop: &StopSettings) {
        if let Some(signal) = &stop.signal {
            ask(&self.reaper, Command::signal(stop.scope, signal.number));
        }
    }

    /// Sends SIGTERM to what is left of the child's group.
    pub fn terminate_group(&self) {
        ask(&self.reaper, Command::SignalGroup(libc::SIGTERM));
    }

    /// Sends SIGTERM to these of the child's group.
    pub fn terminate_members(&self, pids: Vec<i32>) {
        ask(&self.reaper, Command::SignalMembers(pids, libc::SIGTERM));
    }

    /// Sends SIGKILL to what is left of the child's group, or to the child alone.
    pub fn kill(&self, stop: &StopSettings) {
        ask(&self.reaper, Command::signal(stop.scope, libc::SIGKILL));
    }

    /// Asks for [`Event::GroupListed`].
    pub fn list_group(&self) {
        ask(&self.reaper, Command::ListGroup);
    }
}

impl Command {
    fn signal(scope: StopScope, signal: c_int) -> Self {
        match scope {
            StopScope::Group => Self::SignalGroup(signal),
            StopScope::Child => Self::SignalChild(signal),
        }
    }
}

/// A program beside the child: a hook, or that of a probe.
#[derive(Debug)]
pub(crate) struct Helper {
    end: Receiver<io::Result<ProcessEnd>>,
    argv: Vec<OsString>,
    path: OsString,
    ender: Ender,
}

/// Why there is no end of a helper.
#[derive(Debug)]
pub(crate) enum NoEnd {
    /// It runs, or is on its way there.
    Yet,
    /// It never ran, or nobody can tell: in words.
    Ever(String),
}

impl Helper {
    /// Waits for its end. The time is that of its exec too.
    ///
    /// # Errors
    /// The time is over, or it could not be started.
    pub fn wait(&self, timeout: Duration) -> Result<ProcessEnd, NoEnd> {
        match self.end.recv_timeout(timeout) {
            Ok(Ok(end)) => Ok(end),
            Ok(Err(error)) => Err(NoEnd::Ever(StartError::new(&self.argv, &self.path, &error).message)),
            Err(RecvTimeoutError::Timeout) => Err(NoEnd::Yet),
            Err(RecvTimeoutError::Disconnected) => Err(NoEnd::Ever("the reaper's thread has died".to_owned())),
        }
    }

    /// Sends a signal to its group, unless it has ended.
    pub fn signal_group(&self, signal: c_int) {
        self.ender.signal(signal);
    }

    /// For someone else than who waits for its end.
    pub fn ender(&self) -> Ender {
        self.ender.clone()
    }
}

/// Ends a helper that another thread waits for.
#[derive(Clone, Debug)]
pub(crate) struct Ender {
    id: HelperId,
    reaper: Sender<Command>,
}

impl Ender {
    /// Sends SIGTERM to its group, unless it has ended.
    pub fn end(&self) {
        self.signal(libc::SIGTERM);
    }

    fn signal(&self, signal: c_int) {
        ask(&self.reaper, Command::SignalHelper(self.id.clone(), signal));
    }
}
