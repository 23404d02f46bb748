//! What happens to signals: blocked by the first statement of main, so that a
//! blocked one stays pending (for PID 1 too) and none is lost before there is
//! somebody to hear it; then heard in one of two ways.
//!
//! The sidecar leaves them to ctrlc. The wrapper has to know which one came:
//! there the reaper's thread waits for them. What a stop means is not decided here.

use std::ffi::{OsString, c_int};
use std::io;
use std::sync::mpsc::Sender;
use std::time::Instant;

use nix::libc;

use crate::game::child::Processes;
use crate::game::reaper::Signaling;
use crate::game::sys::{self, Signals};
use crate::machine::Event;
use crate::settings::Hup;

/// Faults: blocked, they would kill the process or run in circles when the fault is its own.
const FAULTS: Signals =
    Signals::of(&[libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT, libc::SIGSYS]);
/// What the C libraries keep for themselves and unblock in every new thread.
const LIBC_OWN: Signals = Signals::of(&[32, 33]);
/// Meant for the process that touched the terminal, and never for its child. Blocked, they fail that access (TTIN) or
/// allow it (TTOU), and that is all.
const TERMINAL_ACCESS: Signals = Signals::of(&[libc::SIGTTIN, libc::SIGTTOU]);
/// What a sidecar is stopped with, and a wrapper unless HUP is passed on.
const STOP_SIGNALS: [c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
const STOPS: Signals = Signals::of(&STOP_SIGNALS);

/// More than any address space has.
const NO_ROOM: usize = 1 << (usize::BITS - 4);

/// All signals are blocked. To be turned into one of the two ways of hearing them, or released.
#[derive(Debug)]
#[must_use = "nothing hears a signal until this is turned into something that does"]
pub struct Blocked {
    old: Signals,
}

/// Blocks every signal that can be caught, but for the faults: the first statement of main.
pub fn block() -> Blocked {
    let old = sys::set_mask(blocked());
    if cfg!(target_env = "musl") {
        // musl unblocks 34, every glibc game's first real-time signal, when a process starts its first thread. So that
        // is done now, with a stack for which there is no room: nothing starts, and so nothing has to be waited for.
        // (Should it not come to that, the next thread is the first, and 34 is lost; nothing else is.)
        let first = std::thread::Builder::new().stack_size(NO_ROOM).spawn(|| ());
        drop(first.map(std::thread::JoinHandle::join));
        sys::set_mask(blocked());
    }
    if sys::ignored_at_start().contains(libc::SIGCHLD) {
        // Ignored, it makes the kernel reap, and a child's exit code is lost. Children get it back as it was.
        let _ = sys::set_ignored(libc::SIGCHLD, false);
    }
    Blocked { old }
}

/// Starts programs for a command that ends by itself, whose signals were released: the reaper must get its SIGCHLD.
/// Before any thread.
pub fn helpers(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Processes {
    let old = sys::set_mask(Signals::NONE);
    sys::set_mask(old.and(Signals::of(&[libc::SIGCHLD])));
    Processes::unstarted(old, environment, std::sync::mpsc::channel().0)
}

fn blocked() -> Signals {
    Signals::ALL.without(FAULTS).without(LIBC_OWN)
}

impl Blocked {
    /// Hears nothing: signals do what they did before. For the commands that end by themselves.
    pub fn release(self) {
        sys::set_mask(self.old);
    }

    /// Reports INT, TERM and HUP as [`Event::StopRequested`] through ctrlc, those included that came since the start.
    ///
    /// One that was ignored when the process started stays ignored: that is what nohup is for, and what keeps Ctrl-C
    /// from a script's background jobs.
    /// Programs started later get `environment`, but for systemd's notification variables.
    ///
    /// # Errors
    /// Where ctrlc cannot start its thread or set its handlers.
    pub(crate) fn sidecar(
        self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        events: Sender<Event>,
    ) -> io::Result<Processes> {
        let report = events.clone();
        ctrlc::set_handler(move || {
            let _ = report.send(Event::StopRequested(Instant::now()));
        })
        .map_err(io::Error::other)?;
        for signal in STOP_SIGNALS.into_iter().filter(|&signal| sys::ignored_at_start().contains(signal)) {
            sys::set_ignored(signal, true)?;
        }
        // Only now: a blocked signal silences ctrlc, and one that came before is delivered here. A parent that blocked
        // the stop signals cannot have meant this program. CHLD stays with the reaper of the stop hook.
        sys::set_mask(self.old.without(STOPS).and(Signals::of(&[libc::SIGCHLD])));
        Ok(Processes::unstarted(self.old, environment, events))
    }

    /// Starts the reaper's thread. From now on it reports each stop signal as [`Event::StopRequested`]; from the child's
    /// start on it forwards every other signal to the child alone, those included that came before, but for CHLD, TTIN,
    /// TTOU and the faults.
    ///
    /// Stop signals are TERM, INT and HUP. One that was ignored when the process started is forwarded instead: the child
    /// ignores it too, unless it has a handler of its own (nohup's HUP, a background job's INT). So is HUP where
    /// `AGONES_SHIM_HUP=pass` asks for it.
    /// Programs started later get `environment`, but for systemd's notification variables.
    ///
    /// # Errors
    /// Where the thread cannot be started, or the kernel refuses the orphans.
    pub(crate) fn wrapper(
        self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        hup: Hup,
        events: Sender<Event>,
    ) -> io::Result<Processes> {
        let passed_hup = if hup == Hup::Pass { Signals::of(&[libc::SIGHUP]) } else { Signals::NONE };
        let stops = STOPS.without(passed_hup).without(sys::ignored_at_start());
        let forwarded =
            blocked().without(stops).without(TERMINAL_ACCESS).without(Signals::of(&[libc::SIGCHLD, KILL, STOP]));
        Processes::wrapper(self.old, environment, Signaling { stops, forwarded }, events)
    }
}

// The two that cannot be caught; in the set they would only be noise.
const KILL: c_int = libc::SIGKILL;
const STOP: c_int = libc::SIGSTOP;
