//! The one thread that signals, reaps and starts processes. It waits for
//! signals, SIGCHLD among them, and for nothing else, so that neither a signal
//! to the child nor a zombie ever waits for the SDK.
//!
//! That one thread does it all is what makes process numbers safe: one can
//! belong to somebody else only after it was reaped here. It reports ends and
//! stop requests, and decides nothing about them.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc;
use nix::unistd::Pid;

use crate::game::group;
use crate::game::sys::{self, Program, Signals, Status};
use crate::game::terminal::Terminal;
use crate::machine::{Event, ProcessEnd};
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
    /// Start the child.
    StartChild(Program, Sender<io::Result<Pid>>),
    /// Start another program.
    StartHelper {
        /// What to start.
        program: Program,
        /// Hears whether it was started.
        answer: Sender<io::Result<Pid>>,
        /// Hears of its end.
        report: Sender<ProcessEnd>,
        /// Kill what is left of its group when it has ended.
        is_swept: bool,
    },
    /// Kill those groups now, and start no more of them.
    Sweep(Sender<()>),
    /// Signal the child, unless it has ended.
    SignalChild(c_int),
    /// Signal the child's group, unless it is empty.
    SignalGroup(c_int),
    /// Report who is left of the child's group.
    ListGroup,
    /// Signal the group of another program, unless that program has ended.
    SignalHelper(Pid, c_int),
}

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
    report: Sender<ProcessEnd>,
    /// What is left of its group when it has ended is killed.
    is_swept: bool,
}

/// The child, and what is left of its group.
struct Game {
    pid: Pid,
    ended: bool,
    group_empty: bool,
    /// When its group was looked for in /proc.
    looked: Option<Instant>,
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

    /// Before the child exists, what is to be forwarded stays pending in the kernel.
    fn awaited(&self) -> Signals {
        let reaping = Signals::of(&[libc::SIGCHLD]);
        match &self.signaling {
            None => reaping,
            Some(signaling) if self.child.is_none() => reaping.and(signaling.stops),
            Some(signaling) => reaping.and(signaling.stops).and(signaling.forwarded),
        }
    }

    /// A process of the child's group may be the child of a stranger, who reaps it: then no SIGCHLD comes.
    fn patience(&self) -> Option<Duration> {
        self.child.as_ref().filter(|child| child.ended && !child.group_empty).map(|_| GROUP_POLL)
    }

    fn hear(&mut self, signal: c_int) {
        let Some(signaling) = &self.signaling else { return };
        if signaling.stops.contains(signal) {
            let _ = self.events.send(Event::StopRequested(Instant::now()));
        } else if signal == libc::SIGCONT && self.terminal.is_some() {
            self.resume_child();
        } else {
            self.signal_child(signal);
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::StartChild(program, answer) => {
                let started = self.start_child(program);
                let _ = answer.send(started);
            }
            Command::StartHelper { program, answer, report, is_swept } => {
                let is_late = is_swept && self.is_swept;
                let started = if is_late { Err(io::Error::other("the shim is leaving")) } else { sys::spawn(&program) };
                if let Ok(pid) = started {
                    self.helpers.insert(pid, Helper { report, is_swept });
                }
                let _ = answer.send(started);
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
            Command::ListGroup => {
                let members = self.child.as_ref().map(|child| group::members(child.pid)).unwrap_or_default();
                let _ = self.events.send(Event::GroupListed(members));
            }
            Command::SignalHelper(pid, signal) => {
                if self.helpers.contains_key(&pid) {
                    let _ = sys::kill(-pid.as_raw(), signal);
                }
            }
        }
    }

    fn start_child(&mut self, mut program: Program) -> io::Result<Pid> {
        program.foreground = self.terminal.as_ref().is_some_and(Terminal::is_ours);
        let started = sys::spawn(&program);
        if program.foreground
            && let Some(terminal) = &mut self.terminal
        {
            terminal.taken_at_start(started.is_ok());
        }
        let pid = started?;
        self.child = Some(Game { pid, ended: false, group_empty: false, looked: None });
        Ok(pid)
    }

    /// Errors are no news: the process may just have ended, and a zombie takes any signal.
    fn signal_child(&self, signal: c_int) {
        if let Some(child) = self.child.as_ref().filter(|child| !child.ended) {
            let _ = sys::kill(child.pid.as_raw(), signal);
        }
    }

    fn signal_group(&self, signal: c_int) {
        if let Some(child) = self.child.as_ref().filter(|child| !child.group_empty) {
            let _ = sys::kill(-child.pid.as_raw(), signal);
        }
    }

    fn take_in(&mut self, pid: Pid, status: Status) {
        let is_child = self.child.as_ref().is_some_and(|child| child.pid == pid && !child.ended);
        match status {
            Status::Ended(end) if is_child => self.child_ended(pid, end),
            Status::Ended(end) => {
                if let Some(helper) = self.helpers.remove(&pid) {
                    if helper.is_swept {
                        // The number is its group's as long as the group has a process; where it has none, this fails.
                        let _ = sys::kill(-pid.as_raw(), libc::SIGKILL);
                    }
                    let _ = helper.report.send(end);
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
            held_terminal = terminal.is_held_by(pid);
            if held_terminal {
                terminal.take_back(pid);
                terminal.restore_modes();
            }
        }
        if let Some(child) = &mut self.child {
            child.ended = true;
        }
        let _ = self.events.send(Event::ChildEnded { end, held_terminal });
    }

    fn look_for_group(&mut self) {
        let Some(child) = self.child.as_mut().filter(|child| child.ended && !child.group_empty) else { return };
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

    fn resume_child(&mut self) {
        if let (Some(terminal), Some(child)) = (&mut self.terminal, &self.child)
            && !child.ended
        {
            terminal.pass_on(child.pid);
            self.signal_group(libc::SIGCONT);
        }
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
