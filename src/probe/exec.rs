//! A program that tells by its exit code whether the game server is ready, or alive.
//!
//! Nothing of it stays: its group is killed at the deadline and after its own end. What it writes is read so that it
//! never waits for a reader, and dropped but for the last line, which tells the reason where it fails.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::game::child::{Helper, Launcher, NoEnd};
use crate::game::hook::verdict;
use crate::machine::ProcessEnd;
use crate::net::deadline::Deadline;

/// How often to look whether it has ended while something else holds the pipe that it writes to.
const LOOK: Duration = Duration::from_millis(50);
/// After SIGKILL, for the kernel to carry it out.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// Shown of what it wrote last, in bytes.
const SHOWN: usize = 160;

/// A program that is run again and again, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The last one, where not even SIGKILL has ended it: it hangs in the kernel, on a mount that is dead.
    stuck: Option<Helper>,
}

impl Program {
    /// Runs it once; the last line that it wrote.
    ///
    /// # Errors
    /// Why it does not pass: it cannot be started, is not over in time (its exec included), or ends in another way than
    /// with 0. With what it wrote last.
    pub(crate) fn run(&mut self, launcher: &Launcher, argv: &[String], deadline: Deadline) -> Result<String, String> {
        if let Some(helper) = self.stuck.take_if(|helper| !matches!(helper.wait(Duration::ZERO), Err(NoEnd::Yet))) {
            drop(helper);
        } else if self.stuck.is_some() {
            return Err("the one of an earlier round hangs and cannot be killed: is the file system there?".to_owned());
        }
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let (reader, writer) = io::pipe().map_err(|error| format!("no pipe for its output: {error}"))?;
        let helper = launcher.start_probe(&argv, writer.into());
        let mut said = LastLine::default();
        let result = match await_end(&helper, reader, &mut said, deadline) {
            Ok(end) => verdict(end),
            Err(error) => {
                helper.signal_group(libc::SIGKILL);
                if let Err(NoEnd::Yet) = helper.wait(LAST_BREATH) {
                    self.stuck = Some(helper);
                }
                Err(error)
            }
        };
        result.map_err(|reason| said.behind(reason))?;
        Ok(String::from_utf8_lossy(&said.line).trim().to_owned())
    }
}

fn await_end(
    helper: &Helper,
    reader: PipeReader,
    said: &mut LastLine,
    deadline: Deadline,
) -> Result<ProcessEnd, String> {
    let mut reader = Some(reader);
    loop {
        let left = deadline.left().ok_or_else(|| deadline.to_string())?;
        let is_open = reader.as_mut().is_some_and(|pipe| read(pipe, left.min(LOOK), said));
        match helper.wait(if reader.is_some() { Duration::ZERO } else { left }) {
            Ok(end) => {
                // What it wrote before its end is there by now; what a daemon of it writes later is nobody's.
                while let Some(pipe) = &mut reader
                    && is_readable(pipe, Duration::ZERO)
                    && deadline.left().is_some()
                    && read(pipe, LOOK, said)
                {}
                return Ok(end);
            }
            Err(NoEnd::Yet) => {}
            Err(NoEnd::Ever(error)) => return Err(error),
        }
        if !is_open {
            reader = None;
        }
    }
}

/// Takes what comes within this time; false where nothing can come any more.
fn read(pipe: &mut PipeReader, within: Duration, said: &mut LastLine) -> bool {
    if !is_readable(pipe, within) {
        return true;
    }
    let mut buffer = [0; 4096];
    match pipe.read(&mut buffer) {
        Ok(0) => false,
        Ok(length) => {
            said.push(&buffer[..length]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}

fn is_readable(pipe: &PipeReader, within: Duration) -> bool {
    let timeout = PollTimeout::try_from(within.max(Duration::from_millis(u64::from(!within.is_zero()))));
    let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, timeout.unwrap_or(PollTimeout::MAX)).is_ok_and(|ready| ready > 0)
}

/// The last line with something in it.
#[derive(Debug, Default)]
struct LastLine {
    line: Vec<u8>,
    is_over: bool,
}

impl LastLine {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                self.is_over = true;
                continue;
            }
            if self.is_over && !byte.is_ascii_whitespace() {
                self.line.clear();
                self.is_over = false;
            }
            if !self.is_over && self.line.len() < SHOWN {
                self.line.push(byte);
            }
        }
    }

    fn behind(&self, reason: String) -> String {
        match String::from_utf8_lossy(&self.line).trim() {
            "" => reason,
            line => format!("{reason}, it said {line:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let mut said = LastLine::default();
        text.as_bytes().chunks(3).for_each(|piece| said.push(piece));
        said.behind("exit code 1".into())
    }

    #[test]
    fn the_reason_ends_with_the_last_line_that_has_something_in_it() {
        for (text, wanted) in [
            ("", "exit code 1"),
            ("\n \n", "exit code 1"),
            ("no\nserver\n\n  \n", r#"exit code 1, it said "server""#),
            ("no\r\n\tserver \x1b[0m", r#"exit code 1, it said "server \u{1b}[0m""#),
        ] {
            assert_eq!(said(text), wanted, "{text:?}");
        }
        assert_eq!(said(&"x".repeat(1000)), format!("exit code 1, it said {:?}", "x".repeat(SHOWN)));
    }
}
