//! The few system calls that no crate in the tree offers in the form that an
//! init needs: masks and waits with real-time signals, terminals, the
//! dispositions that the process was started with; `fork` starts programs.
//!
//! All of the crate's `unsafe` is in these two files, but for what keeps gRPC quiet
//! (`quiet.rs`). Nothing is decided here, and nothing is called that Linux 4.4
//! does not have (no pidfd, no clone3, no close_range).

#![allow(unsafe_code)]

mod fork;

use std::ffi::{CString, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use nix::libc;
use nix::unistd::Pid;

use crate::machine::ProcessEnd;

pub use self::fork::{Lifeline, Program, Report, Spawned, spawn};

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

/// Waits for one of these blocked signals, forever or this long. `None`: none came in time, or a handler ran.
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

fn last_errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
