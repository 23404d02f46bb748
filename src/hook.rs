//! The stop hook: a program that may save the game before it is stopped.
//!
//! Bounded whatever it does: it is ended after its timeout, and nothing waits
//! for descriptors that it may have handed on. Its failure is reported and
//! means nothing here.

use std::ffi::{OsString, c_int};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::child::{Helper, Processes};
use crate::machine::{Event, ProcessEnd, seconds};
use crate::settings::StopHook;

/// Between SIGTERM and SIGKILL, and once more for the kernel to carry that out.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts the hook and reports its end, or why it could not be started, as [`Event::HookEnded`]: exactly one, within
/// the hook's timeout and a second.
///
/// Its environment has `AGONES_SHIM_STOP_REASON`, and `AGONES_SHIM_CHILD_PID` where there is a child. It has no stdin;
/// what it writes goes to this process's stderr.
pub fn start(processes: &mut Processes, hook: &StopHook, reason: &str, child: Option<Pid>, events: Sender<Event>) {
    let argv: Vec<OsString> = hook.argv.iter().map(OsString::from).collect();
    let mut variables = vec![("AGONES_SHIM_STOP_REASON".into(), reason.into())];
    variables.extend(child.map(|pid| ("AGONES_SHIM_CHILD_PID".into(), pid.to_string().into())));
    let timeout = hook.timeout;
    let obituary = events.clone();
    let watched = processes.start_helper(&argv, variables).map_err(|error| error.message).and_then(|helper| {
        thread::Builder::new()
            .name("hook".to_owned())
            .spawn(move || {
                let _ = events.send(Event::HookEnded(watch(&helper, timeout)));
            })
            .map_err(|error| format!("no thread to watch it: {error}"))
    });
    if let Err(error) = watched {
        let _ = obituary.send(Event::HookEnded(Err(error)));
    }
}

fn watch(helper: &Helper, timeout: Duration) -> Result<(), String> {
    match helper.end.recv_timeout(timeout) {
        Ok(end) => verdict(end),
        Err(RecvTimeoutError::Disconnected) => Err("the reaper's thread has died".to_owned()),
        Err(RecvTimeoutError::Timeout) => {
            for signal in [libc::SIGTERM, libc::SIGKILL] {
                helper.signal_group(signal);
                if helper.end.recv_timeout(LAST_WORDS).is_ok() {
                    break;
                }
            }
            Err(format!("timed out after {}", seconds(timeout)))
        }
    }
}

/// How a program went that ends with 0 where all is well.
///
/// # Errors
/// `exit code 3`, `killed by SIGSEGV`.
pub(crate) fn verdict(end: ProcessEnd) -> Result<(), String> {
    match end {
        ProcessEnd::Exited(0) => Ok(()),
        ProcessEnd::Exited(code) => Err(format!("exit code {code}")),
        ProcessEnd::Signaled(signal) => Err(format!("killed by {}", name(signal))),
    }
}

fn name(signal: c_int) -> String {
    Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |signal| signal.to_string())
}
