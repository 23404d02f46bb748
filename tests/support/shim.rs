//! The real binary, started with nothing but the environment that the test gives, and watched.
//!
//! Every wait has a deadline, and one that passes panics with all that the process has written. What a test
//! started ends with it: dropping a [`Shim`] kills and reaps that one process, and ends what it had started.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::output::{Line, Output, Stream};
use super::ports::Port;
use super::scripted_sdk::ScriptedSdk;
use super::wait::{millis, secs};
use super::{proc, wait};

/// The binary that is tested: `SHIM_UNDER_TEST` (a static release build, say), or the one that cargo just built.
pub fn binary() -> PathBuf {
    std::env::var_os("SHIM_UNDER_TEST").map_or_else(|| env!("CARGO_BIN_EXE_agones-shim").into(), PathBuf::from)
}

/// A shim that is about to be started.
pub fn shim() -> Builder {
    Builder::of(binary())
}

/// What a process is started with.
#[must_use = "it starts with spawn()"]
pub struct Builder {
    program: PathBuf,
    prefix: Vec<OsString>,
    args: Vec<OsString>,
    vars: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    stdin: Stdio,
    stderr_is_read: bool,
    closed: Option<Port>,
}

impl Builder {
    /// Any program, under the same watch.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            prefix: Vec::new(),
            args: Vec::new(),
            vars: vec![("AGONES_SHIM_LOG_FORMAT".into(), "text".into())],
            directory: None,
            stdin: Stdio::null(),
            stderr_is_read: true,
            closed: None,
        }
    }

    /// Sets `AGONES_SHIM_<name>`; the last one counts.
    pub fn set(self, name: &str, value: impl Display) -> Self {
        self.var(format!("AGONES_SHIM_{name}"), value.to_string())
    }

    /// Sets any variable; the last one counts.
    pub fn var(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.vars.retain(|(known, _)| known != name.as_ref());
        self.vars.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Leaves a variable out that would be set by default.
    pub fn unset(mut self, name: &str) -> Self {
        self.vars.retain(|(known, _)| known != name);
        self
    }

    /// Appends an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Appends arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs it as `prefix... program args...`: `unshare`, `setpriv`, `sh -c '... exec "$@"' sh`.
    /// A first word without a slash is looked up in this process's PATH.
    pub fn behind<A: AsRef<OsStr>>(mut self, prefix: impl IntoIterator<Item = A>) -> Self {
        let words: Vec<OsString> = prefix.into_iter().map(|word| word.as_ref().to_owned()).collect();
        self.prefix.splice(0..0, words);
        self
    }

    /// Talks to the SDK server on this port of 127.0.0.1.
    pub fn sdk_port(self, port: u16) -> Self {
        self.var("AGONES_SDK_GRPC_PORT", port.to_string())
    }

    /// Talks to this SDK server.
    pub fn sdk(self, sdk: &ScriptedSdk) -> Self {
        self.sdk_port(sdk.port())
    }

    /// There is no SDK server: its port is reserved and refuses.
    pub fn without_sdk(mut self) -> Self {
        let port = Port::reserve();
        let number = port.number();
        self.closed = Some(port);
        self.sdk_port(number)
    }

    /// Where it starts; where the tests run by default.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// What it gets as standard input; nothing (`/dev/null`) by default.
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Standard error is a pipe that nobody reads: full after 64 KiB.
    pub fn stderr_unread(mut self) -> Self {
        self.stderr_is_read = false;
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn(self) -> Shim {
        let behind = !self.prefix.is_empty();
        let mut words = self.prefix;
        words.push(self.program.clone().into_os_string());
        words.extend(self.args);
        let mut command = Command::new(in_path(&words[0]));
        command.args(&words[1..]).env_clear().envs(self.vars);
        command.stdin(self.stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let started = Instant::now();
        let mut child = proc::with_default_signals(&mut command)
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", words[0].display()));
        let output = Output::new();
        output.read(Stream::Stdout, child.stdout.take().expect("piped above"));
        let stderr = child.stderr.take().expect("piped above");
        let unread_stderr = if self.stderr_is_read {
            output.read(Stream::Stderr, stderr);
            None
        } else {
            Some(stderr)
        };
        let ended = watch(&child);
        Shim {
            child,
            program: self.program,
            behind,
            started,
            output,
            ended,
            exit: None,
            unread_stderr,
            dumped: false,
            _closed: self.closed,
        }
    }

    /// Starts it and waits for its end: for runs that only print.
    #[track_caller]
    pub fn run(self, within: Duration) -> Finished {
        let mut shim = self.spawn();
        let code = shim.expect_exit(within);
        let text = |stream| {
            let lines = shim.output.lines();
            lines.into_iter().filter(|line| line.stream == stream).map(|line| line.text + "\n").collect()
        };
        Finished { code, stdout: text(Stream::Stdout), stderr: text(Stream::Stderr) }
    }
}

/// What a process that has ended left behind.
#[derive(Debug)]
pub struct Finished {
    /// As [`Shim::expect_exit`] gives it.
    pub code: i32,
    /// All of it.
    pub stdout: String,
    /// All of it.
    pub stderr: String,
}

/// A running process.
pub struct Shim {
    child: Child,
    program: PathBuf,
    behind: bool,
    started: Instant,
    output: Output,
    ended: Receiver<Instant>,
    exit: Option<(i32, Instant)>,
    unread_stderr: Option<std::process::ChildStderr>,
    dumped: bool,
    _closed: Option<Port>,
}

impl Shim {
    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// All it has written.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Its standard input, where the builder was given `Stdio::piped()`.
    pub fn stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }

    /// Closes our end of a standard error that nobody reads.
    pub fn drop_stderr(&mut self) {
        self.unread_stderr = None;
    }

    /// The number of lines so far, for [`Self::wait_for_line_after`].
    pub fn mark(&self) -> usize {
        self.output.lines().len()
    }

    /// The first line ever, on either stream, that contains `part`.
    #[track_caller]
    pub fn wait_for_line(&mut self, part: &str, within: Duration) -> Line {
        self.wait_for_line_after(0, part, within)
    }

    /// The first line after a [`Self::mark`] that contains `part`.
    #[track_caller]
    pub fn wait_for_line_after(&mut self, mark: usize, part: &str, within: Duration) -> Line {
        match self.output.wait(mark, within, |line| line.text.contains(part)) {
            Some(line) => line,
            None => self.fail(&format!("no line with {part:?} within {within:?}")),
        }
    }

    /// Lines so far that contain `part`.
    pub fn count_lines(&self, part: &str) -> usize {
        self.output.matching(part).len()
    }

    /// No line so far contains `part`.
    #[track_caller]
    pub fn assert_no_line(&mut self, part: &str) {
        if self.count_lines(part) > 0 {
            self.fail(&format!("a line with {part:?}, where none may be"));
        }
    }

    /// Waits for its end. The code it exited with, or the negative number of the signal it died of.
    #[track_caller]
    pub fn expect_exit(&mut self, within: Duration) -> i32 {
        match self.wait_for_exit(within) {
            Some(code) => code,
            None => self.fail(&format!("still running after {within:?}")),
        }
    }

    /// It ends with exactly this code.
    #[track_caller]
    pub fn expect_code(&mut self, code: i32, within: Duration) {
        let got = self.expect_exit(within);
        if got != code {
            self.fail(&format!("exit code {got}, where {code} was wanted"));
        }
    }

    /// When it ended, once [`Self::expect_exit`] has returned.
    pub fn exited_at(&self) -> Option<Instant> {
        self.exit.map(|(_, at)| at)
    }

    /// It has not ended.
    pub fn is_running(&mut self) -> bool {
        self.wait_for_exit(Duration::ZERO).is_none()
    }

    /// It goes on running for this long.
    #[track_caller]
    pub fn assert_stays(&mut self, time: Duration) {
        if let Some(code) = self.wait_for_exit(time) {
            self.fail(&format!("ended with {code}, where it was to stay"));
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        // Not reaped before `wait_for_exit`: the pid cannot have become another's.
        if self.exit.is_none() {
            kill(Pid::from_raw(self.pid()), signal).expect("a process of our own can be signalled");
        }
    }

    /// Its pid; behind an `unshare --fork` that of the program itself, not of what stands before it.
    pub fn pid(&self) -> i32 {
        let own = self.own_pid();
        if !self.behind {
            return own;
        }
        let runs = |pid: &i32| proc::runs(*pid, &self.program);
        let look = || {
            let found = std::iter::once(own).chain(proc::descendants(own)).find(runs);
            found.or((!proc::is_alive(own)).then_some(own))
        };
        wait::poll(secs(5), look).unwrap_or(own)
    }

    /// Open descriptors.
    pub fn fd_count(&self) -> usize {
        proc::fd_count(self.pid())
    }

    /// Resident memory, bytes.
    pub fn rss(&self) -> u64 {
        proc::rss(self.pid())
    }

    /// Threads.
    pub fn threads(&self) -> u64 {
        proc::threads(self.pid())
    }

    /// Panics with everything it has written.
    #[track_caller]
    pub fn fail(&mut self, what: &str) -> ! {
        self.dumped = true;
        panic!("{what}\n{}", self.story());
    }

    fn story(&self) -> String {
        let end = match self.exit {
            Some((code, at)) => format!("ended with {code} after {:?}", at.saturating_duration_since(self.started)),
            None => format!("running for {:?}", self.started.elapsed()),
        };
        format!("--- {} ({end}) wrote:\n{}---", self.program.display(), self.output)
    }

    fn own_pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid is an int")
    }

    fn wait_for_exit(&mut self, within: Duration) -> Option<i32> {
        if self.exit.is_none() {
            let at = self.ended.recv_timeout(within).ok()?;
            self.output.wait_for_end(secs(2));
            self.exit = Some((self.reap(), at));
        }
        self.exit.map(|(code, _)| code)
    }

    fn reap(&mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let status = self.child.wait().expect("a child of our own can be waited for");
        status.code().or(status.signal().map(|signal| -signal)).expect("it has ended")
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        if thread::panicking() && !self.dumped {
            eprintln!("{}", self.story());
        }
        if self.exit.is_none() {
            // The children first: once their parent is gone, nothing tells whose they were.
            for pid in proc::descendants(self.own_pid()) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Tells when the process ends, and leaves it to be reaped, so that its pid stays its own.
fn watch(child: &Child) -> Receiver<Instant> {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid is an int"));
    let (ended, receiver) = mpsc::channel();
    thread::spawn(move || {
        while let Err(nix::errno::Errno::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        let _ = ended.send(Instant::now());
    });
    receiver
}

/// A command as a path: the child's PATH is not ours.
fn in_path(word: &OsStr) -> PathBuf {
    let path = Path::new(word);
    if path.components().count() > 1 {
        return path.to_owned();
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&dirs)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|dir| dir.join(path))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| path.to_owned())
}
