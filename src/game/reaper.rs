//! The one thread that signals, reaps and starts processes. It waits for
//! signals, SIGCHLD among them, and for nothing else, so that neither a signal
//! to the child nor a zombie ever waits for the SDK, or for an exec: it forks,
//! and hears later what has come of it.
//!
//! That one thread does it all is what makes process numbers safe: one can
//! belong to somebody else only after it was reaped here. It reports ends and
//! stop requests, and decides nothing about them.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::game::group;
use crate::game::job_control::Terminal;
use crate::game::start_error::StartError;
use crate::game::sys::{self, Lifeline, Program, Report, Signals, Spawned, Status};
use crate::log_line;
use crate::machine::{Event, Notice, ProcessEnd};
use crate::worker::panic_message;

/// How often to look, after the child's end, whether its group has a process left whose end nobody reports to us.
const GROUP_POLL: Duration = Duration::from_millis(50);

/// How often to look whether zombies are all that it has: that reads all of /proc.
const ZOMBIE_POLL: Duration = Duration::from_secs(1);

/// Which signals to hear, and what to do with them.
#[derive(Debug)]
pub(crate) struct Signaling {
    /// Reported as stop requests.
    pub stops: Signals,
    /// Sent to the child alone.
    pub forwarded: Signals,
}

/// What the thread can be asked for. It answers where there is something to answer.
#[derive(Debug)]
pub(crate) enum Command {
    /// Start the child. The answer comes before the exec.
    StartChild(Program, Sender<io::Result<Report>>),
    /// The child's exec has succeeded or failed.
    ChildExecuted(Result<(), StartError>),
    /// Start another program.
    StartHelper {
        /// What to start.
        program: Program,
        /// What its signals are for.
        id: HelperId,
        /// Hears of its end, or why it could not be started or executed.
        report: Sender<io::Result<ProcessEnd>>,
        /// Kill what is left of its group when it has ended.
        is_swept: bool,
    },
    /// Kill those groups now, and start no more of them.
    Sweep(Sender<()>),
    /// Signal the child, unless it has ended.
    SignalChild(c_int),
    /// Signal the child's group, unless it is empty.
    SignalGroup(c_int),
    /// Signal these processes, where they are still of the child's group.
    SignalMembers(Vec<i32>, c_int),
    /// Stop the child and this process, as Ctrl-Z would, and let both go on.
    Suspend(Sender<()>),
    /// Report who is left of the child's group.
    ListGroup,
    /// Signal the group of another program, unless that program has ended.
    SignalHelper(HelperId, c_int),
}

/// Tells one helper from all others, before it has a process number and after somebody else may have it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HelperId(Arc<()>);

/// Starts the thread; all signals that it is to hear are blocked by then. A SIGCHLD to this process makes it look at
/// its commands.
pub(crate) fn start(signaling: Option<Signaling>, events: Sender<Event>) -> io::Result<Sender<Command>> {
    let (sender, commands) = mpsc::channel();
    let terminal = signaling.as_ref().and_then(|_| Terminal::of_stdin());
    let obituary = events.clone();
    let mut reaper =
        Reaper { signaling, events, commands, child: None, helpers: HashMap::new(), is_swept: false, terminal };
    thread::Builder::new().name("reaper".to_owned()).spawn(move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| reaper.run())) {
            let _ = obituary.send(Event::ThreadDied { thread: "reaper", message: panic_message(&*panic) });
        }
    })?;
    Ok(sender)
}

struct Reaper {
    signaling: Option<Signaling>,
    events: Sender<Event>,
    commands: Receiver<Command>,
    child: Option<Game>,
    helpers: HashMap<Pid, Helper>,
    /// No more programs whose groups are to be killed.
    is_swept: bool,
    terminal: Option<Terminal>,
}

/// Another program.
struct Helper {
    id: HelperId,
    executed: Report,
    report: Sender<io::Result<ProcessEnd>>,
    /// What is left of its group when it has ended is killed.
    is_swept: bool,
    lifeline: Option<Lifeline>,
}

/// The child, and what is left of its group.
struct Game {
    pid: Pid,
    /// It was executed, or died on the way.
    is_started: bool,
    ended: bool,
    /// How, and whether it held the terminal, until that is reported.
    end: Option<(ProcessEnd, bool)>,
    group_empty: bool,
    /// It has a terminal of its own, for as long as this is open.
    session: Option<io::PipeWriter>,
    /// When its group was looked for in /proc.
    looked: Option<Instant>,
}

impl Game {
    /// Its end is known outside, and what is left of its group is looked for.
    fn leaves_group(&self) -> bool {
        self.ended && self.is_started && !self.group_empty
    }
}

impl Helper {
    fn ended(self, pid: Pid, end: ProcessEnd) {
        if self.is_swept {
            // The number is its group's as long as the group has a process; where it has none, this fails.
            let _ = sys::kill(-pid.as_raw(), libc::SIGKILL);
        } else if let Some(lifeline) = self.lifeline {
            // What a hook leaves behind on purpose stays, as ever.
            lifeline.release();
        }
        // It has ended, so this does not wait.
        let _ = self.report.send(self.executed.wait().map_or(Ok(end), Err));
    }
}

impl Reaper {
    fn run(&mut self) {
        loop {
            let signal = sys::wait_for_signal(self.awaited(), self.patience());
            if let Some(signal) = signal.filter(|&signal| signal != libc::SIGCHLD) {
                self.hear(signal);
            }
            // The rest at every turn: a storm of signals with smaller numbers than SIGCHLD must not hold it up.
            while let Ok(command) = self.commands.try_recv() {
                self.obey(command);
            }
            while let Some((pid, status)) = sys::next_status() {
                self.take_in(pid, status);
            }
            self.look_for_group();
        }
    }

    /// Before the child is executed, what is to be forwarded stays pending in the kernel.
    fn awaited(&self) -> Signals {
        let reaping = Signals::of(&[libc::SIGCHLD]);
        match &self.signaling {
            None => reaping,
            Some(signaling) if self.child.as_ref().is_none_or(|child| !child.is_started) => {
                reaping.and(signaling.stops)
            }
            Some(signaling) => reaping.and(signaling.stops).and(signaling.forwarded),
        }
    }

    /// A process of the child's group may be the child of a stranger, who reaps it: then no SIGCHLD comes.
    fn patience(&self) -> Option<Duration> {
        self.child.as_ref().filter(|child| child.leaves_group()).map(|_| GROUP_POLL)
    }

    fn hear(&mut self, signal: c_int) {
        let Some(signaling) = &self.signaling else { return };
        if signaling.stops.contains(signal) {
            let _ = self.events.send(Event::StopRequested(Instant::now()));
        } else if signal == libc::SIGWINCH && self.has_session() {
            // Meant for the keyboard's thread, which looks by itself; the child's terminal tells the child.
        } else if signal == libc::SIGCONT && self.terminal.is_some() {
            self.resume_child();
        } else {
            self.signal_child(signal);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::StartChild(program, answer) => {
                let _ = answer.send(self.fork_child(program));
            }
            Command::ChildExecuted(outcome) => self.child_executed(outcome),
            Command::StartHelper { program, id, report, is_swept } => {
                let is_late = is_swept && self.is_swept;
                let started = if is_late { Err(io::Error::other("the shim is leaving")) } else { sys::spawn(&program) };
                match started {
                    Ok(Spawned { pid, report: executed, lifeline, .. }) => {
                        self.helpers.insert(pid, Helper { id, executed, report, is_swept, lifeline });
                    }
                    Err(error) => drop(report.send(Err(error))),
                }
            }
            Command::Sweep(answer) => {
                self.is_swept = true;
                for pid in self.helpers.iter().filter(|(_, helper)| helper.is_swept).map(|(pid, _)| pid) {
                    let _ = sys::kill(-pid.as_raw(), libc::SIGKILL);
                }
                let _ = answer.send(());
            }
            Command::SignalChild(signal) => self.signal_child(signal),
            Command::SignalGroup(signal) => self.signal_group(signal),
            Command::SignalMembers(pids, signal) => {
                if let Some(child) = &self.child {
                    group::signal(child.pid, &pids, signal);
                }
            }
            Command::Suspend(answer) => {
                self.suspend();
                let _ = answer.send(());
            }
            Command::ListGroup => {
                let members = self.child.as_ref().map(|child| group::members(child.pid)).unwrap_or_default();
                let _ = self.events.send(Event::GroupListed(members));
            }
            Command::SignalHelper(id, signal) => {
                let helper = self.helpers.iter().find(|(_, helper)| Arc::ptr_eq(&helper.id.0, &id.0));
                if let Some((pid, _)) = helper {
                    let _ = sys::kill(-pid.as_raw(), signal);
                }
            }
        }
    }

    fn fork_child(&mut self, mut program: Program) -> io::Result<Report> {
        let takes_terminal = !program.has_terminal && self.terminal.as_ref().is_some_and(Terminal::is_ours);
        program.foreground = takes_terminal || program.has_terminal;
        let Spawned { pid, report, session, .. } = sys::spawn(&program)?;
        if takes_terminal && let Some(terminal) = &mut self.terminal {
            terminal.taken_at_start();
        }
        self.child =
            Some(Game { pid, is_started: false, ended: false, end: None, group_empty: false, session, looked: None });
        Ok(report)
    }

    fn child_executed(&mut self, outcome: Result<(), StartError>) {
        if let Err(error) = outcome {
            if let Some(child) = self.child.take()
                && let Some(terminal) = &mut self.terminal
            {
                terminal.take_back(child.pid);
            }
            log_line::write(&Notice::ChildNotStarted { error: error.message });
            let _ = self.events.send(Event::ChildNotStarted(error.reason));
        } else if let Some(child) = &mut self.child {
            child.is_started = true;
            let _ = self.events.send(Event::ChildStarted { pid: child.pid.as_raw() });
            self.report_end();
        }
    }

    fn signal_child(&self, signal: c_int) {
        if let Some(child) = self.child.as_ref().filter(|child| !child.ended) {
            signal_game(child.pid.as_raw(), signal);
        }
    }

    fn signal_group(&self, signal: c_int) {
        if let Some(child) = self.child.as_ref().filter(|child| !child.group_empty) {
            signal_game(-child.pid.as_raw(), signal);
        }
    }

    fn take_in(&mut self, pid: Pid, status: Status) {
        let is_child = self.child.as_ref().is_some_and(|child| child.pid == pid && !child.ended);
        match status {
            Status::Ended(end) if is_child => self.child_ended(pid, end),
            Status::Ended(end) => {
                if let Some(helper) = self.helpers.remove(&pid) {
                    helper.ended(pid, end);
                } else {
                    log::debug!(pid = pid.as_raw(), end:% = end; "reaped an orphan");
                }
            }
            Status::Stopped(signal) if is_child => self.child_stopped(pid, signal),
            Status::Stopped(_) => {}
        }
    }

    fn child_ended(&mut self, pid: Pid, end: ProcessEnd) {
        let mut held_terminal = false;
        if let Some(terminal) = &mut self.terminal {
            let has_own = self.child.as_ref().is_some_and(|child| child.session.is_some());
            // The keys of the shim's own go to the child's while it is the shim's turn.
            held_terminal = if has_own { terminal.is_ours() } else { terminal.is_held_by(pid) };
            if held_terminal && !has_own {
                terminal.take_back(pid);
                terminal.restore_modes();
            }
        }
        if let Some(child) = &mut self.child {
            child.ended = true;
            child.end = Some((end, held_terminal));
        }
        self.report_end();
    }

    /// Not before it is known whether it was ever the game that ran.
    fn report_end(&mut self) {
        if let Some(child) = self.child.as_mut().filter(|child| child.is_started)
            && let Some((end, held_terminal)) = child.end.take()
        {
            let _ = self.events.send(Event::ChildEnded { end, held_terminal });
        }
    }

    fn look_for_group(&mut self) {
        let Some(child) = self.child.as_mut().filter(|child| child.leaves_group()) else { return };
        let gone = sys::kill(-child.pid.as_raw(), 0).is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
        // A zombie counts for kill(2), and whoever is its parent may never reap it.
        let is_time = child.looked.is_none_or(|looked| looked.elapsed() >= ZOMBIE_POLL);
        if !gone && is_time {
            child.looked = Some(Instant::now());
        }
        if gone || is_time && group::has_zombies_alone(child.pid) {
            child.group_empty = true;
            let _ = self.events.send(Event::GroupEmpty);
        }
    }

    /// Job control, as a shell's job has it. SIGSTOP is left out: nobody types it, and a game that somebody froze must
    /// stay under watch.
    fn child_stopped(&mut self, pid: Pid, signal: c_int) {
        if self.has_session() {
            return;
        }
        let Some(terminal) = &mut self.terminal else { return };
        if !matches!(signal, libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
            return;
        }
        if !terminal.is_ours() {
            terminal.take_back(pid);
            // Where nobody can wake us (PID 1, an orphaned group), the child must not stay stopped either: Ctrl-Z does
            // nothing then, as if the shim were not there. One that touched the terminal out of turn would stop again.
            if !stop_own_group() && signal != libc::SIGTSTP {
                return;
            }
        }
        self.resume_child();
    }

    fn has_session(&self) -> bool {
        self.child.as_ref().is_some_and(|child| child.session.is_some())
    }

    /// A group whose session is its own stops of no Ctrl-Z (POSIX: an orphaned one), so it is SIGSTOP. Where nobody can
    /// wake us, both go on at once.
    fn suspend(&self) {
        self.signal_group(libc::SIGSTOP);
        if self.terminal.is_some() {
            stop_own_group();
        }
        self.signal_group(libc::SIGCONT);
    }

    fn resume_child(&mut self) {
        if let (Some(terminal), Some(child)) = (&mut self.terminal, &self.child)
            && !child.ended
        {
            terminal.pass_on(child.pid);
            self.signal_group(libc::SIGCONT);
        }
    }
}

/// That a process has just ended is no news, and a zombie takes any signal; one that may not be signalled hears of no stop.
fn signal_game(target: c_int, signal: c_int) {
    let outcome = sys::kill(target, signal);
    if outcome.is_err_and(|error| error.raw_os_error() == Some(libc::EPERM)) {
        let signal = Signal::try_from(signal).map_or_else(|_| signal.to_string(), |known| known.as_str().to_owned());
        log_line::write(&Notice::SignalRefused { signal });
    }
}

/// Stops this process and its group, and returns once they go on; false if the kernel would not stop it.
fn stop_own_group() -> bool {
    if std::process::id() == 1 {
        return false;
    }
    let _ = sys::kill(0, libc::SIGTSTP);
    // Blocked in every thread, it stops the process here and nowhere else.
    let blocked = sys::set_mask(Signals::ALL.without(Signals::of(&[libc::SIGTSTP])));
    sys::set_mask(blocked);
    // Whatever woke us is still pending, and is consumed here.
    sys::wait_for_signal(Signals::of(&[libc::SIGCONT]), Some(Duration::ZERO)).is_some()
}
