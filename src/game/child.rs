//! Programs that the shim starts: found as execvp(3) finds them, executed as
//! if the shim were not there, with an error that says what to do where they
//! cannot be.
//!
//! A handle here only asks: every fork, every wait and every signal to a child
//! is done by the reaper's thread, so that a process number can never be used
//! after it was reaped. When to signal is decided by the machine.

use std::ffi::{CString, OsStr, OsString, c_int};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use nix::libc;
use nix::unistd::Pid;

use crate::exit::ExitReason;
use crate::game::reaper::{self, Command, Signaling};
use crate::game::relay::Outputs;
use crate::game::sys::{self, Program, Signals};
use crate::machine::{Event, Notice, ProcessEnd};
use crate::runtime;
use crate::settings::{StopScope, StopSettings};

/// What systemd tells one process, which is this one. Exact names: a game may well have a `LISTEN_ADDRESS`.
const SYSTEMD_VARIABLES: [&str; 7] =
    ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"];
/// Where to look when there is no PATH: execvp(3) of musl.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// How long the reaper may take to end the programs of the probes.
const SWEEP_TIMEOUT: Duration = Duration::from_millis(500);

type Variable = (OsString, OsString);

/// Starts programs and owns what they need.
#[derive(Debug)]
pub struct Processes {
    reaper: Option<Sender<Command>>,
    events: Sender<Event>,
    surroundings: Surroundings,
    /// Probes start programs too.
    has_probes: bool,
}

/// What every program gets.
#[derive(Clone, Debug)]
struct Surroundings {
    mask: Signals,
    environment: Vec<Variable>,
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
        let environment =
            environment.into_iter().filter(|(name, _)| !SYSTEMD_VARIABLES.iter().any(|variable| name == variable));
        Self {
            reaper: None,
            events,
            surroundings: Surroundings { mask, environment: environment.collect() },
            has_probes: false,
        }
    }

    /// With a thread that hears signals and takes in orphans.
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
            runtime::write(&Notice::NotSubreaper { error: errno.desc().into() });
        }
        let mut processes = Self::unstarted(mask, environment, events);
        processes.reaper = Some(reaper::start(Some(signaling), processes.events.clone())?);
        Ok(processes)
    }

    /// Wrapper: starts the child, once, with these variables besides, and these outputs where it is not to have the
    /// shim's own. Its end is [`Event::ChildEnded`], the end of the
    /// last process of its group [`Event::GroupEmpty`].
    ///
    /// # Errors
    /// Where it cannot be executed, with the exit code and what to do. Nothing is reported then.
    pub fn start_child(
        &mut self,
        argv: &[OsString],
        variables: Vec<Variable>,
        outputs: Outputs,
    ) -> Result<Child, StartError> {
        let program = Program { outputs, ..self.surroundings.program(argv, variables) };
        let reaper = self.reaper().map_err(|error| StartError::system(argv, &error))?;
        let (answer, answered) = mpsc::channel();
        ask(reaper, Command::StartChild(program, answer));
        match answered.recv() {
            Ok(Ok(pid)) => Ok(Child { pid, reaper: reaper.clone() }),
            Ok(Err(error)) => Err(StartError::new(argv, self.surroundings.path(), &error)),
            Err(_) => Err(StartError::system(argv, &io::Error::other("the reaper's thread has died"))),
        }
    }

    /// Starts any other program, detached: no stdin, and what it writes goes to stderr. It gets these variables
    /// besides.
    ///
    /// # Errors
    /// Where it cannot be executed, with what to do.
    pub(crate) fn start_helper(&mut self, argv: &[OsString], variables: Vec<Variable>) -> Result<Helper, StartError> {
        let reaper = self.reaper().map_err(|error| StartError::system(argv, &error))?.clone();
        Launcher { reaper, surroundings: self.surroundings.clone() }.start(argv, variables, None)
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

    /// Tells the child that its terminal's size has changed.
    ///
    /// # Errors
    /// The system refuses the reaper's thread.
    pub fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize(self.reaper()?.clone()))
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
    ///
    /// # Errors
    /// Where it cannot be executed, with what to do.
    pub(crate) fn start_probe(&self, argv: &[OsString], output: OwnedFd) -> Result<Helper, StartError> {
        self.start(argv, Vec::new(), Some(output))
    }

    fn start(
        &self,
        argv: &[OsString],
        variables: Vec<Variable>,
        output: Option<OwnedFd>,
    ) -> Result<Helper, StartError> {
        let is_swept = output.is_some();
        let output = output.map(Arc::new);
        let program = self.surroundings.program(argv, variables);
        let program = Program { detached: true, outputs: [output.clone(), output], ..program };
        let (answer, answered) = mpsc::channel();
        let (report, end) = mpsc::channel();
        ask(&self.reaper, Command::StartHelper { program, answer, report, is_swept });
        match answered.recv() {
            Ok(Ok(pid)) => Ok(Helper { pid, end, reaper: self.reaper.clone() }),
            Ok(Err(error)) => Err(StartError::new(argv, self.surroundings.path(), &error)),
            Err(_) => Err(StartError::system(argv, &io::Error::other("the reaper's thread has died"))),
        }
    }
}

impl Surroundings {
    fn path(&self) -> &OsStr {
        self.environment.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(DEFAULT_PATH), |(_, path)| path)
    }

    fn program(&self, argv: &[OsString], variables: Vec<Variable>) -> Program {
        let mut environment = self.environment.clone();
        environment.retain(|(name, _)| !variables.iter().any(|(other, _)| other == name));
        environment.extend(variables);
        Program {
            candidates: candidates(argv.first().map_or(OsStr::new(""), OsString::as_os_str), self.path()),
            argv: argv.iter().filter_map(|argument| c_string(argument.as_bytes())).collect(),
            // A variable with a NUL byte cannot be handed over at all; one that was inherited cannot have any.
            envp: environment
                .iter()
                .filter_map(|(name, value)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
                .collect(),
            mask: self.mask,
            foreground: false,
            detached: false,
            outputs: [None, None],
        }
    }
}

/// The paths that execvp(3) would try. An empty name has none.
fn candidates(program: &OsStr, path: &OsStr) -> Vec<CString> {
    let name = program.as_bytes();
    if name.contains(&b'/') {
        return c_string(name).into_iter().collect();
    }
    if name.is_empty() {
        return Vec::new();
    }
    path.as_bytes()
        .split(|&byte| byte == b':')
        .filter_map(|directory| {
            // An empty entry is the working directory.
            let directory = if directory.is_empty() { b"." } else { directory };
            c_string(&[directory, b"/", name].concat())
        })
        .collect()
}

fn c_string(bytes: &[u8]) -> Option<CString> {
    CString::new(bytes).ok()
}

/// Hands a command to the reaper, and wakes it: it waits for signals.
fn ask(reaper: &Sender<Command>, command: Command) {
    if reaper.send(command).is_ok() {
        let _ = sys::kill(Pid::this().as_raw(), libc::SIGCHLD);
    }
}

/// The size of the child's terminal, where that is not the shim's.
#[derive(Clone, Debug)]
pub struct WindowSize(Sender<Command>);

impl WindowSize {
    /// Signals the child's group, as the kernel does.
    pub fn has_changed(&self) {
        ask(&self.0, Command::SignalGroup(libc::SIGWINCH));
    }
}

/// The game.
#[derive(Clone, Debug)]
pub struct Child {
    pid: Pid,
    reaper: Sender<Command>,
}

impl Child {
    /// Its process number, which is its group's too.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.pid
    }

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
    pid: Pid,
    /// Its end.
    pub end: Receiver<ProcessEnd>,
    reaper: Sender<Command>,
}

impl Helper {
    /// Sends a signal to its group, unless it has ended.
    pub fn signal_group(&self, signal: c_int) {
        ask(&self.reaper, Command::SignalHelper(self.pid, signal));
    }

    /// For someone else than who waits for its end.
    pub fn ender(&self) -> Ender {
        Ender { pid: self.pid, reaper: self.reaper.clone() }
    }
}

/// Ends a helper that another thread waits for.
#[derive(Debug)]
pub(crate) struct Ender {
    pid: Pid,
    reaper: Sender<Command>,
}

impl Ender {
    /// Sends SIGTERM to its group, unless it has ended.
    pub fn end(&self) {
        ask(&self.reaper, Command::SignalHelper(self.pid, libc::SIGTERM));
    }
}

/// Why a program could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    /// What to leave with: 127 not found, 126 not executable, 71 anything else.
    pub reason: ExitReason,
    /// Names the program and says what to do.
    pub message: String,
}

impl StartError {
    /// What a shell says: 127 where there is no such file, 126 where there is but it is no program.
    ///
    /// A script whose first line names no interpreter is refused like a program for another machine, which it cannot
    /// be told from. A shell would guess and run it, and so do tini and dumb-init where their C library's execvp does
    /// (glibc's does, musl's does not); container runtimes refuse it as an entrypoint.
    fn new(argv: &[OsString], path: &OsStr, error: &io::Error) -> Self {
        let name = Self::name(argv);
        let file = Path::new(argv.first().map_or(OsStr::new(""), OsString::as_os_str));
        let has_slash = file.as_os_str().as_bytes().contains(&b'/');
        let (reason, message) = match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) if has_slash && file.exists() => (
                ExitReason::NotFound,
                format!(
                    "{name} is there, but what runs it is not: the interpreter in its first line, or the dynamic loader \
                     that it was linked with (a glibc program needs an image with glibc)"
                ),
            ),
            Some(libc::ENOENT | libc::ENOTDIR) if has_slash => {
                (ExitReason::NotFound, format!("{name} was not found: check the path"))
            }
            Some(libc::ENOENT) if file.as_os_str().is_empty() => {
                (ExitReason::NotFound, format!("{name} was not found: a program's name cannot be empty"))
            }
            Some(libc::ENOENT | libc::ENOTDIR) => (
                ExitReason::NotFound,
                format!("{name} was not found in PATH={}: write its full path", path.to_string_lossy()),
            ),
            Some(libc::EACCES) if has_slash && file.is_dir() => {
                (ExitReason::NotExecutable, format!("{name} is a directory, not a program"))
            }
            Some(libc::EACCES | libc::EPERM) => (
                ExitReason::NotExecutable,
                format!("{name} may not be executed: chmod +x it (or its volume is mounted noexec)"),
            ),
            Some(libc::ENOEXEC) => (
                ExitReason::NotExecutable,
                format!(
                    "{name} is neither a program for this machine nor a script: a script's first line has to name its \
                     interpreter, as in #!/bin/sh"
                ),
            ),
            Some(libc::ETXTBSY | libc::EINVAL | libc::EISDIR | libc::ELIBBAD) => {
                (ExitReason::NotExecutable, format!("{name} cannot be executed: {error}"))
            }
            _ => return Self::system(argv, error),
        };
        Self { reason, message }
    }

    fn system(argv: &[OsString], error: &io::Error) -> Self {
        Self { reason: ExitReason::System, message: format!("{} could not be started: {error}", Self::name(argv)) }
    }

    fn name(argv: &[OsString]) -> String {
        argv.first().map_or_else(|| "\"\"".to_owned(), |program| format!("{:?}", program.to_string_lossy()))
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StartError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(program: &str, path: &str) -> Vec<String> {
        let paths = candidates(OsStr::new(program), OsStr::new(path));
        paths.into_iter().map(|path| path.into_string().expect("UTF-8")).collect()
    }

    #[test]
    fn a_name_is_looked_up_in_path_and_a_path_is_not() {
        assert_eq!(tried("game", "/opt:/usr/bin"), ["/opt/game", "/usr/bin/game"]);
        assert_eq!(tried("./game", "/opt"), ["./game"]);
        assert_eq!(
            tried("game", "/opt::"),
            ["/opt/game", "./game", "./game"],
            "an empty entry is the working directory"
        );
        assert_eq!(tried("", "/opt"), [""; 0]);
    }

    #[test]
    fn a_variable_that_is_handed_in_replaces_an_inherited_one() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let inherited = [pair("A", "1"), pair("LISTEN_FDS", "3"), pair("B", "2"), pair("LISTEN_ADDRESS", "::")];
        let processes = Processes::unstarted(Signals::NONE, inherited, mpsc::channel().0);
        let program = processes.surroundings.program(&["game".into()], vec![pair("A", "3"), pair("C", "with\0nul")]);
        let envp: Vec<String> = program.envp.into_iter().map(|entry| entry.into_string().expect("UTF-8")).collect();
        assert_eq!(envp, ["B=2", "LISTEN_ADDRESS=::", "A=3"]);
    }
}
