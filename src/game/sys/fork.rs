//! Fork and exec, as an init needs them: a group of its own, the dispositions and descriptors of the shim's own start, a
//! terminal's session, and nobody who waits for an exec.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nix::libc;
use nix::unistd::Pid;

use super::{CLOSED_AT_START, Signals, check, ignored_at_start, last_errno, set_ignored, set_mask};

/// Where a program's lifeline is, at the least: the last descriptor that costs a small process no bigger table.
const LIFELINE: c_int = 63;
/// Which signal tells of a descriptor (asm-generic/fcntl.h); libc leaves it out.
const F_SETSIG: c_int = 10;

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
    /// Waits for as long as the exec takes, which may be forever, and not at all once the process has ended. `None`:
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
