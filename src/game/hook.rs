//! The hooks: a program that may save the game before it is stopped, and one
//! that hears of allocations.
//!
//! Bounded whatever they do: each is ended after its timeout, and nothing waits
//! for descriptors that it may have handed on. A failure is reported and means
//! nothing here.

use std::ffi::{OsString, c_int};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::sys::signal::Signal;

use crate::duration::seconds;
use crate::game::child::{Ender, Helper, NoEnd, Processes};
use crate::machine::{Event, ProcessEnd};
use crate::settings::Hook;

/// Between SIGTERM and SIGKILL, and once more for the kernel to carry that out.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts the hook with these variables besides and reports its end, or why it could not be started, as `ended`:
/// exactly one, within the hook's timeout and a second, its exec included. It has no stdin; what it writes goes to this
/// process's stderr.
///
/// What is returned can end it sooner; `None` where it was not started.
pub(crate) fn start(
    processes: &mut Processes,
    hook: &Hook,
    variables: Vec<(OsString, OsString)>,
    ended: fn(Result<(), String>) -> Event,
    events: Sender<Event>,
) -> Option<Ender> {
    let argv: Vec<OsString> = hook.argv.iter().map(OsString::from).collect();
    let (timeout, variable) = (hook.timeout, hook.timeout_variable);
    let obituary = events.clone();
    let watched = processes.start_helper(&argv, variables).and_then(|helper| {
        let handle = helper.ender();
        thread::Builder::new()
            .name("hook".to_owned())
            .spawn(move || {
                let _ = events.send(ended(watch(&helper, timeout, variable)));
            })
            .map(|_| handle)
    });
    watched.inspect_err(|error| drop(obituary.send(ended(Err(format!("no thread to watch it: {error}")))))).ok()
}

fn watch(helper: &Helper, timeout: Duration, variable: &str) -> Result<(), String> {
    match helper.wait(timeout) {
        Ok(end) => verdict(end),
        Err(NoEnd::Ever(error)) => Err(error),
        Err(NoEnd::Yet) => {
            for signal in [libc::SIGTERM, libc::SIGKILL] {
                helper.signal_group(signal);
                if helper.wait(LAST_WORDS).is_ok() {
                    break;
                }
            }
            Err(format!("timed out after {} ({variable} gives it longer)", seconds(timeout)))
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
