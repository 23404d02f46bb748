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
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use nix::libc;
use nix::unistd::Pid;

use crate::machine::ProcessEnd;

/// Where a program's lifeline is, at the least: the last descriptor that costs a small process no bigger table.
const LIFELINE: c_int = 63;
/// Which signal tells of a descriptor (asm-generic/fcntl.h); libc leaves it out.
const F_SETSIG: c_int = 10;
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

/// Whether this process may execute a file, its mount included.
///
/// # Errors
/// EACCES: it may not, or nobody may because of `noexec`.
pub(crate) fn may_execute(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a NUL and outlives the call.
    check(unsafe { libc::access(path.as_ptr(), libc::X_OK) }).map(drop)
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

/// Reads and writes on this end return at once.
///
/// # Errors
/// None that is known.
pub fn set_nonblocking(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no pointers.
    unsafe {
        let flags = check(libc::fcntl(descriptor.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)).map(drop)
    }
}

/// Unlocks the other end of a new pseudo-terminal; its number under /dev/pts.
///
/// # Errors
/// It is no `/dev/ptmx`.
pub fn unlock_terminal(master: BorrowedFd<'_>) -> io::Result<c_int> {
    let (unlocked, mut number): (c_int, c_int) = (0, 0);
    // SAFETY: both are live ints.
    unsafe {
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked))?;
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTN, &raw mut number))?;
    }
    Ok(number)
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
    /// Reads /dev/null, writes to this process's stderr where nothing else is said, and does not outlive this process.
    pub detached: bool,
    /// What it has for stdin, stdout and stderr, where that is something else. Never one of the descriptors 0 to 2.
    pub stdio: [Option<Arc<OwnedFd>>; 3],
    /// Its stdin is a terminal of its own, which is to control its session.
    pub has_terminal: bool,
}

/// A process on its way to a program.
#[derive(Debug)]
pub struct Spawned {
    /// Its number, which is its group's too.
    pub pid: Pid,
    /// What has come of the exec.
    pub report: Report,
    /// Of a detached program.
    pub lifeline: Option<Lifeline>,
    /// Of a program with a terminal: dropped, it ends the leader of its session, and the terminal is hung up.
    pub session: Option<io::PipeWriter>,
}

/// The end of a pipe that closes when a program is executed; where it cannot be, the reason comes first.
#[derive(Debug)]
pub struct Report(io::PipeReader);

impl Report {
    /// Waits for as long as the exec takes, which may be for ever, and not at all once the process has ended. `None`:
    /// the program runs, or the process was killed on its way there.
    pub fn wait(mut self) -> Option<io::Error> {
        let mut errno = [0; size_of::<c_int>()];
        self.0.read_exact(&mut errno).ok()?;
        Some(io::Error::from_raw_os_error(c_int::from_ne_bytes(errno)))
    }
}

/// Ends a program's whole group when this process ends, however that happens: the kernel kills the group when the last
/// writer of this pipe is gone. (`PR_SET_PDEATHSIG` kills the program alone, and not what it has started.)
#[derive(Debug)]
pub struct Lifeline {
    reader: io::PipeReader,
    _writer: io::PipeWriter,
}

impl Lifeline {
    /// What is left of the group may stay.
    pub fn release(self) {
        // SAFETY: no pointers.
        unsafe { libc::fcntl(self.reader.as_raw_fd(), libc::F_SETFL, 0) };
    }
}

/// Starts a program in a process group of its own, with the dispositions and standard descriptors that this process
/// was started with. Returns before the exec.
///
/// Not `std::process::Command`: that one waits for the exec, and for a child that could not execute, which nobody may
/// do beside a thread that reaps; and with glibc it runs a file that is no program in a shell, with musl it does not.
/// Only the thread that reaps may call this, and it must live for as long as the program.
///
/// # Errors
/// The system refuses a process or a descriptor.
pub fn spawn(program: &Program) -> io::Result<Spawned> {
    let argv = pointers(&program.argv);
    let envp = pointers(&program.envp);
    // Everything here closes on exec.
    let null = if program.detached { Some(std::fs::File::open("/dev/null")?) } else { None };
    let lifeline = if program.detached {
        let (reader, writer) = io::pipe()?;
        Some(Lifeline { reader, _writer: writer })
    } else {
        None
    };
    let (report, reporter) = io::pipe()?;
    // SAFETY: no pointers.
    let parent = unsafe { libc::getpid() };
    // Until the new process has its own dispositions: a handler of this one's must not run there.
    let mask = set_mask(Signals::ALL);
    // SAFETY: the child calls async-signal-safe functions alone until it execs or exits (other threads may have held
    // the allocator's lock), and allocates nothing.
    let forked = unsafe {
        match &program.stdio[0] {
            Some(terminal) if program.has_terminal => fork_on_terminal(terminal.as_raw_fd()),
            _ => check(libc::fork()).map(|pid| (pid, None)),
        }
    };
    if let Ok((0, _)) = forked {
        let stdin = null.as_ref().map(AsRawFd::as_raw_fd);
        let lifeline = lifeline.as_ref().map(|lifeline| lifeline.reader.as_raw_fd());
        // SAFETY: this is the child, and both arrays end with a null pointer and point into `program`.
        let errno = unsafe {
            if lifeline.is_some_and(|lifeline| !end_with(parent, lifeline)) {
                libc::_exit(127);
            }
            become_program(program, stdin, argv.as_ptr(), envp.as_ptr())
        };
        // SAFETY: 4 live bytes; a pipe takes them at once. _exit runs nothing of the parent's.
        unsafe {
            libc::write(reporter.as_raw_fd(), (&raw const errno).cast::<c_void>(), size_of::<c_int>());
            libc::_exit(127)
        }
    }
    set_mask(mask);
    let (pid, session) = forked?;
    // Here too, so that the group is there for whoever signals it next. It fails once the program runs.
    // SAFETY: no pointers.
    unsafe { libc::setpgid(pid, pid) };
    Ok(Spawned { pid: Pid::from_raw(pid), report: Report(report), lifeline, session })
}

/// Forks a process of this one's into a session that the terminal controls. A process of ours leads that session and does
/// nothing else: were the program itself its leader, the kernel would hang up on all the others when it ends, on a server
/// that saves behind its shell, say.
///
/// # Safety
/// As for fork: async-signal-safe functions alone, where the number is 0.
unsafe fn fork_on_terminal(terminal: c_int) -> io::Result<(c_int, Option<io::PipeWriter>)> {
    let (hold, holder) = io::pipe()?;
    let (mut told, teller) = io::pipe()?;
    // SAFETY: see above; the pointers are null, or to live ints.
    unsafe {
        if check(libc::fork())? == 0 {
            drop((holder, told));
            libc::setsid();
            libc::ioctl(terminal, libc::TIOCSCTTY, 0);
            let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
            // The shim is its parent, who alone reaps. The raw call: no wrapper of fork's takes a flag. With no stack of
            // its own it returns twice as fork does.
            let pid = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0);
            let number = match pid {
                0 => libc::getpid(),
                -1 => -last_errno(),
                _ => 0,
            };
            if pid == 0 {
                libc::setpgid(0, 0);
            }
            if number != 0 {
                libc::write(teller.as_raw_fd(), (&raw const number).cast::<c_void>(), size_of::<c_int>());
            }
            if pid == 0 {
                return Ok((0, None));
            }
            lead(hold.as_raw_fd());
        }
    }
    drop(teller);
    let mut number = [0; size_of::<c_int>()];
    // Nothing that waits stands between the two forks and the answer.
    told.read_exact(&mut number)?;
    match c_int::from_ne_bytes(number) {
        errno if errno < 0 => Err(io::Error::from_raw_os_error(-errno)),
        pid => Ok((pid, Some(holder))),
    }
}

/// Leads a session until the other end of the pipe is closed. Every other descriptor is closed here.
///
/// # Safety
/// Only in a child after fork.
unsafe fn lead(hold: c_int) -> ! {
    // SAFETY: the pointer is to a live byte.
    unsafe {
        libc::dup2(hold, 0);
        if libc::syscall(libc::SYS_close_range, 1, c_int::MAX, 0) == -1 {
            for fd in 1..1024 {
                libc::close(fd);
            }
        }
        let mut byte = 0u8;
        while libc::read(0, (&raw mut byte).cast::<c_void>(), 1) == -1 && last_errno() == libc::EINTR {}
        libc::_exit(0)
    }
}

/// Ties the calling process and its group to the life of its parent; false where that is over already.
///
/// # Safety
/// Only in a child after fork.
unsafe fn end_with(parent: c_int, lifeline: c_int) -> bool {
    // SAFETY: no pointers. The copy outlives the exec, out of the way of scripts that use descriptors by number; where
    // there is none (a low limit, a kernel that is a stand-in), the program alone ends with its parent.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::fcntl(lifeline, libc::F_SETOWN, -libc::getpid()) == 0
            && libc::fcntl(lifeline, F_SETSIG, libc::SIGKILL) == 0
            && libc::fcntl(lifeline, libc::F_DUPFD, LIFELINE) != -1
        {
            libc::fcntl(lifeline, libc::F_SETFL, libc::O_ASYNC);
        }
        libc::getppid() == parent
    }
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
        if let Some(stdin) = stdin
            && (libc::dup2(stdin, libc::STDIN_FILENO) == -1
                || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) == -1)
        {
            return last_errno();
        }
        for (fd, descriptor) in (libc::STDIN_FILENO..).zip(&program.stdio) {
            if let Some(descriptor) = descriptor
                && libc::dup2(descriptor.as_raw_fd(), fd) == -1
            {
                return last_errno();
            }
        }
        if program.foreground {
            // Before exec, so that the program cannot read in the background. SIGTTOU is still blocked here, which
            // is what makes it allowed.
            libc::tcsetpgrp(libc::STDIN_FILENO, libc::getpid());
        }
        let ignored = ignored_at_start();
        for signal in 1..=64 {
            // Whatever Rust's runtime, ctrlc or gRPC did meanwhile. KILL, STOP and the C library's own refuse.
            let _ = set_ignored(signal, ignored.contains(signal));
        }
        if !program.detached {
            let closed = CLOSED_AT_START.load(Ordering::Relaxed);
            for (fd, descriptor) in (libc::STDIN_FILENO..).zip(&program.stdio) {
                if descriptor.is_none() && closed & (1 << fd) != 0 {
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
