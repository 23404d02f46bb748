//! A pseudo-terminal with a program on it, and a hand at the keyboard.
//!
//! The program leads a session of its own that the terminal controls, as one behind a terminal window or `docker run
//! -it` does.

use std::ffi::{OsStr, c_int};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::output::{Output, Stream};
use super::{proc, wait};

/// Ctrl-C.
pub const INTERRUPT: &str = "\x03";
/// Ctrl-Z.
pub const SUSPEND: &str = "\x1a";
/// Ctrl-\.
pub const QUIT: &str = "\x1c";

/// See the module.
pub struct Terminal {
    /// `None` once it was hung up. A program of its own reads a copy: it can be ended, a read on a thread cannot.
    master: Option<File>,
    reader: Child,
    child: Child,
    output: Output,
}

impl Terminal {
    /// Starts a program on a new terminal of 80 x 24.
    #[track_caller]
    pub fn start<A: AsRef<OsStr>>(argv: impl IntoIterator<Item = A>, vars: &[(&str, &str)]) -> Self {
        let (master, slave) = pair();
        let copy = || slave.try_clone().expect("a descriptor");
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .args(argv)
            .env_clear()
            .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C"), ("PS1", "prompt\n")])
            .envs(vars.iter().copied())
            .stdin(copy())
            .stdout(copy())
            .stderr(copy());
        let child = proc::with_default_signals(&mut command).spawn().expect("setsid starts");
        drop(command);
        drop(slave);
        set_size(&master, 24, 80);
        let output = Output::new();
        let copy = master.try_clone().expect("a descriptor");
        let mut reader =
            Command::new("cat").stdin(copy).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("cat starts");
        output.read(Stream::Stdout, reader.stdout.take().expect("piped"));
        Self { master: Some(master), reader, child, output }
    }

    /// Types.
    pub fn type_in(&mut self, keys: &str) {
        self.master().write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Closes the window.
    pub fn hang_up(&mut self) {
        let _ = self.reader.kill();
        let _ = self.reader.wait();
        self.master = None;
    }

    fn master(&self) -> &File {
        self.master.as_ref().expect("it was not hung up")
    }

    /// Changes the window's size.
    pub fn resize(&self, rows: u16, columns: u16) {
        set_size(self.master(), rows, columns);
    }

    /// The number of lines so far.
    pub fn mark(&self) -> usize {
        self.output.lines().len()
    }

    /// The first line after a mark that is exactly this (what was typed is echoed, and may contain it).
    #[track_caller]
    pub fn wait_for(&self, mark: usize, line: &str, within: Duration) -> String {
        self.wait(mark, line, within, |text| text == line)
    }

    /// The first line after a mark that contains this.
    #[track_caller]
    pub fn wait_for_part(&self, mark: usize, part: &str, within: Duration) -> String {
        self.wait(mark, part, within, |text| text.contains(part))
    }

    #[track_caller]
    fn wait(&self, mark: usize, what: &str, within: Duration, wanted: impl Fn(&str) -> bool) -> String {
        match self.output.wait(mark, within, |line| wanted(line.text.trim_end_matches('\r'))) {
            Some(line) => line.text,
            None => panic!("no line {what:?} within {within:?}\n{}", self.output),
        }
    }

    /// Some line contains this, now or within this time.
    pub fn shows(&self, part: &str, within: Duration) -> bool {
        self.output.wait(0, within, |line| line.text.contains(part)).is_some()
    }

    /// Lines so far that contain this.
    pub fn lines_with(&self, part: &str) -> usize {
        self.output.matching(part).len()
    }

    /// The program's pid.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid is an int")
    }

    /// The group in the foreground.
    pub fn foreground(&self) -> i32 {
        // SAFETY: no pointers.
        unsafe { libc::tcgetpgrp(self.master().as_raw_fd()) }
    }

    /// Waits for the program's end; a signal's number is negative.
    #[track_caller]
    pub fn expect_exit(&mut self, within: Duration) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let status = wait::poll(within, || self.child.try_wait().expect("a child of our own"));
        let Some(status) = status else { panic!("still running after {within:?}\n{}", self.output) };
        status.code().or(status.signal().map(|signal| -signal)).expect("it has ended")
    }
}

/// Both ends of a new terminal, closed on exec: openpty(3) would hand the master on, and no window would ever close.
fn pair() -> (File, File) {
    let open = |path: &str| {
        let mut options = File::options();
        options.read(true).write(true).custom_flags(libc::O_NOCTTY);
        options.open(path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let master = open("/dev/ptmx");
    let (unlocked, mut number): (c_int, c_int) = (0, 0);
    // SAFETY: both are live ints.
    unsafe {
        assert_eq!(libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked), 0, "unlock the terminal");
        assert_eq!(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTN, &raw mut number), 0, "the terminal's number");
    }
    let slave = open(&format!("/dev/pts/{number}"));
    (master, slave)
}

fn set_size(master: &File, rows: u16, columns: u16) {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the size is live.
    assert_eq!(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }, 0, "set the size");
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.reader.kill();
        let _ = self.reader.wait();
        if let Ok(None) = self.child.try_wait() {
            for pid in proc::descendants(self.pid()) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
