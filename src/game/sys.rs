//! The few system calls that no crate in the tree offers in the form that an
//! init needs: masks and waits with real-time signals, fork and exec, the
//! dispositions that the process was started with.
//!
//! All of the crate's `unsafe` is here, but for what keeps gRPC quiet
//! (`quiet.rs`). Nothing is decided here, and nothing is called that Linux 4.4
//! does not have (no pidfd, no clone3, no close_range).

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use nix::libc;
use nix::sys::termios::{self, OutputFlags, SetArg};
use nix::unistd::Pid;

use crate::machine::ProcessEnd;

/// Bytes of the kernel's signal set.
const SIGNALS_SIZE: usize = size_of::<u64>();

/// A set of signals 1 to 64 in the kernel's own layout.
///
/// Not nix's `SigSet`: that one cannot name a real-time signal, and panics when it waits for one. The C libraries'
/// own sets leave out the signals that they use themselves; musl's leaves out 34, which is the first real-time signal
/// of every glibc game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals(u64);

impl Signals {
    /// No signal.
    pub const NONE: Self = Self(0);
    /// Every signal, KILL and STOP included.
    pub const ALL: Self = Self(u64::MAX);

    /// These signals; numbers outside 1 to 64 are left out.
    #[must_use]
    pub const fn of(numbers: &[c_int]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < numbers.len() {
            bits |= bit(numbers[i]);
            i += 1;
        }
        Self(bits)
    }

    /// Those of this set and those of the other.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of this set without those of the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The signal is in the set.
    #[must_use]
    pub const fn contains(self, signal: c_int) -> bool {
        self.0 & bit(signal) != 0
    }
}

const fn bit(signal: c_int) -> u64 {
    if signal >= 1 && signal <= 64 { 1 << (signal - 1) } else { 0 }
}

/// Sets the calling thread's mask and returns the one before.
pub fn set_mask(mask: Signals) -> Signals {
    let mut old = Signals::NONE;
    // SAFETY: both pointers are to 8 live bytes, as the size says. The raw call and not the C library's: that one drops
    // the signals which the library keeps for itself from the set. It has no way to fail with these arguments.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            ptr::from_ref(&mask.0),
            ptr::from_mut(&mut old.0),
            SIGNALS_SIZE,
        );
    }
    old
}

/// Waits for one of these blocked signals, for ever or this long. `None`: none came in time, or a handler ran.
#[must_use]
pub fn wait_for_signal(signals: Signals, timeout: Option<Duration>) -> Option<c_int> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    // SAFETY: the set is 8 live bytes, no siginfo is asked for, and the timeout is null or lives on this stack.
    let signal = unsafe {
        libc::syscall(
            libc::SYS_rt_sigtimedwait,
            ptr::from_ref(&signals.0),
            ptr::null_mut::<libc::siginfo_t>(),
            timeout.as_ref().map_or(ptr::null(), ptr::from_ref),
            SIGNALS_SIZE,
        )
    };
    c_int::try_from(signal).ok().filter(|&signal| signal > 0)
}

/// Sends a signal, real-time ones included, to a process, or to a group where the number is negative.
///
/// # Errors
/// Those of kill(2): `ESRCH` where nothing is left to signal.
pub fn kill(target: c_int, signal: c_int) -> io::Result<()> {
    // SAFETY: kill takes no pointers.
    check(unsafe { libc::kill(target, signal) }).map(drop)
}

/// Ends the process, and runs nothing of what was registered for its end.
pub fn exit(code: u8) -> ! {
    // SAFETY: no pointers, and it does not return.
    unsafe { libc::_exit(code.into()) }
}

/// What waitpid(2) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The process has ended and was reaped.
    Ended(ProcessEnd),
    /// The process was stopped by this signal.
    Stopped(c_int),
}

/// Takes the next status of any child without waiting; `None` when there is none to take.
#[must_use]
pub fn next_status() -> Option<(Pid, Status)> {
    loop {
        let mut status = 0;
        // SAFETY: status is live. Not nix's waitpid: it fails for a child that died of a real-time signal, having
        // reaped it.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
        if pid <= 0 {
            return None;
        }
        if let Some(status) = decode(status) {
            return Some((Pid::from_raw(pid), status));
        }
    }
}

fn decode(status: c_int) -> Option<Status> {
    if libc::WIFEXITED(status) {
        Some(Status::Ended(ProcessEnd::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))))
    } else if libc::WIFSIGNALED(status) {
        Some(Status::Ended(ProcessEnd::Signaled(libc::WTERMSIG(status))))
    } else if libc::WIFSTOPPED(status) {
        Some(Status::Stopped(libc::WSTOPSIG(status)))
    } else {
        None
    }
}

/// Standard input. Rust's runtime opens /dev/null in the place of a closed one, and nothing here closes it.
// SAFETY: descriptor 0 is open for as long as the process lives.
pub const STDIN: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(0) };

/// Standard output.
// SAFETY: as for standard input.
pub const STDOUT: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(1) };
/// Standard error.
// SAFETY: as for standard input.
pub const STDERR: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(2) };

/// The signals that were ignored when the process was started (nohup's SIGHUP, a parent's SIGPIPE).
static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
/// Which of the descriptors 0, 1 and 2 were closed then, as bits.
static CLOSED_AT_START: AtomicU8 = AtomicU8::new(0);

/// Runs before Rust's runtime, which ignores SIGPIPE and opens closed standard descriptors before main.
#[used]
// SAFETY: the section holds pointers to functions without arguments that run once, on the only thread, after the C
// library has set itself up; this one calls sigaction and fcntl and nothing of Rust's runtime.
#[unsafe(link_section = ".init_array")]
static REMEMBER_START: extern "C" fn() = remember_start;

extern "C" fn remember_start() {
    let mut ignored = 0;
    for signal in 1..=64 {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: the action is only written to, and read only where the call says that it was written.
        unsafe {
            if libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init_ref().sa_sigaction == libc::SIG_IGN
            {
                ignored |= bit(signal);
            }
        }
    }
    IGNORED_AT_START.store(ignored, Ordering::Relaxed);
    let mut closed = 0;
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no pointers.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            closed |= 1 << fd;
        }
    }
    CLOSED_AT_START.store(closed, Ordering::Relaxed);
}

/// The signals that were ignored when the process was started.
#[must_use]
pub fn ignored_at_start() -> Signals {
    Signals(IGNORED_AT_START.load(Ordering::Relaxed))
}

/// One of the standard descriptors was closed when the process was started.
#[must_use]
pub fn closed_at_start(fd: BorrowedFd<'_>) -> bool {
    CLOSED_AT_START.load(Ordering::Relaxed) & (1 << fd.as_raw_fd()) != 0
}

/// Rows, columns, and both in pixels, of a terminal; `None` where it is none.
#[must_use]
pub fn window_size(terminal: BorrowedFd<'_>) -> Option<[u16; 4]> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the size is live.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) }).ok()?;
    Some([size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel])
}

/// Sets what [`window_size`] gives.
///
/// # Errors
/// `ENOTTY` where it is no terminal.
pub fn set_window_size(terminal: BorrowedFd<'_>, size: [u16; 4]) -> io::Result<()> {
    let size = libc::winsize { ws_row: size[0], ws_col: size[1], ws_xpixel: size[2], ws_ypixel: size[3] };
    // SAFETY: the size is live.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }).map(drop)
}

/// Both ends of a new pseudo-terminal with the modes and the size of this one; the second is the program's. What is
/// written to it comes out unchanged: this one makes its line ends.
///
/// # Errors
/// There are no more, or no /dev/pts.
pub fn terminal_like(terminal: BorrowedFd<'_>) -> io::Result<(OwnedFd, OwnedFd)> {
    let open = |path: &str| {
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
        file.map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
    };
    let master = open("/dev/ptmx")?;
    let (unlocked, mut number): (c_int, c_int) = (0, 0);
    // SAFETY: both are live ints.
    unsafe {
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked))?;
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTN, &raw mut number))?;
    }
    let slave = open(&format!("/dev/pts/{number}"))?;
    let mut modes = termios::tcgetattr(terminal)?;
    modes.output_flags.remove(OutputFlags::OPOST);
    termios::tcsetattr(&slave, SetArg::TCSANOW, &modes)?;
    if let Some(size) = window_size(terminal) {
        set_window_size(master.as_fd(), size)?;
    }
    Ok((master.into(), slave.into()))
}

/// Makes the kernel ignore a signal, or treat it as it does by default.
///
/// # Errors
/// `EINVAL` for a signal that has only one disposition, or that the C library keeps for itself.
pub fn set_ignored(signal: c_int, ignored: bool) -> io::Result<()> {
    // SAFETY: an action of zeros is the default one, with no flags and an empty mask; async-signal-safe.
    check(unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
        libc::sigaction(signal, &raw const action, ptr::null_mut())
    })
    .map(drop)
}

/// A program that is ready to be executed: all that the new process needs is allocated here, before the fork.
#[derive(Debug)]
pub struct Program {
    /// Paths to try in turn, as execvp(3) does.
    pub candidates: Vec<CString>,
    /// Arguments, the program's name first.
    pub argv: Vec<CString>,
    /// Environment, `NAME=value`.
    pub envp: Vec<CString>,
    /// The mask that it starts with.
    pub mask: Signals,
    /// Gets the terminal on descriptor 0 for its group.
    pub foreground: bool,
    /// Reads /dev/null and writes to this process's stderr, instead of having the same stdin and stdout.
    pub detached: bool,
    /// What it has for stdout and stderr, where that is something else. Never one of the descriptors 0 to 2.
    pub outputs: [Option<Arc<OwnedFd>>; 2],
}

/// Starts a program in a process group of its own, with the dispositions and standard descriptors that this process
/// was started with. Returns once it runs.
///
/// Not `std::process::Command`: that one waits for a child that could not execute, which nobody may do beside a thread
/// that reaps; and with glibc it runs a file that is no program in a shell, with musl it does not.
/// Only the thread that reaps may call this.
///
/// # Errors
/// Why it could not be started or executed, as execve(2) says.
pub fn spawn(program: &Program) -> io::Result<Pid> {
    let argv = pointers(&program.argv);
    let envp = pointers(&program.envp);
    let null = if program.detached { Some(std::fs::File::open("/dev/null")?) } else { None };
    // Both ends close on exec.
    let (mut report, reporter) = io::pipe()?;
    // SAFETY: the child calls async-signal-safe functions alone until it execs or exits (other threads may have held
    // the allocator's lock), and allocates nothing.
    let pid = check(unsafe { libc::fork() })?;
    if pid == 0 {
        let stdin = null.as_ref().map(AsRawFd::as_raw_fd);
        // SAFETY: this is the child, and both arrays end with a null pointer and point into `program`.
        let errno = unsafe { become_program(program, stdin, argv.as_ptr(), envp.as_ptr()) };
        // SAFETY: 4 live bytes; a pipe takes them at once. _exit runs nothing of the parent's.
        unsafe {
            libc::write(reporter.as_raw_fd(), (&raw const errno).cast::<c_void>(), size_of::<c_int>());
            libc::_exit(127)
        }
    }
    drop(reporter);
    let mut errno = [0; size_of::<c_int>()];
    if report.read_exact(&mut errno).is_err() {
        // The other end closed on exec without a word (or the process was killed on its way there; then it is reaped
        // like any other).
        return Ok(Pid::from_raw(pid));
    }
    // SAFETY: no pointers. The child is past its last line; this thread is the one that reaps.
    while unsafe { libc::waitpid(pid, ptr::null_mut(), 0) } == -1 && last_errno() == libc::EINTR {}
    Err(io::Error::from_raw_os_error(c_int::from_ne_bytes(errno)))
}

/// Turns the process, fresh from fork, into the program; returns the errno that says why it could not.
///
/// # Safety
/// Only in a child after fork. `argv` and `envp` are arrays of C strings that end with null.
unsafe fn become_program(
    program: &Program,
    stdin: Option<c_int>,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    // SAFETY: none of the calls takes a pointer but execve, whose arguments are the caller's.
    unsafe {
        libc::setpgid(0, 0);
        if program.foreground {
            // Before exec, so that the program cannot read in the background. SIGTTOU is still blocked here, which
            // is what makes it allowed.
            libc::tcsetpgrp(libc::STDIN_FILENO, libc::getpid());
        }
        if let Some(stdin) = stdin
            && (libc::dup2(stdin, libc::STDIN_FILENO) == -1
                || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) == -1)
        {
            return last_errno();
        }
        for (output, fd) in program.outputs.iter().zip([libc::STDOUT_FILENO, libc::STDERR_FILENO]) {
            if let Some(output) = output
                && libc::dup2(output.as_raw_fd(), fd) == -1
            {
                return last_errno();
            }
        }
        let ignored = ignored_at_start();
        for signal in 1..=64 {
            // Whatever Rust's runtime, ctrlc or gRPC did meanwhile. KILL, STOP and the C library's own refuse.
            let _ = set_ignored(signal, ignored.contains(signal));
        }
        if !program.detached {
            let closed = CLOSED_AT_START.load(Ordering::Relaxed);
            for fd in 0..3 {
                if closed & (1 << fd) != 0 {
                    libc::close(fd);
                }
            }
        }
        set_mask(program.mask);
        let mut denied = false;
        for path in &program.candidates {
            libc::execve(path.as_ptr(), argv, envp);
            match last_errno() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => denied = true,
                errno => return errno,
            }
        }
        if denied { libc::EACCES } else { libc::ENOENT }
    }
}

/// The array of pointers, with its final null, that execve(2) takes.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

fn last_errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
