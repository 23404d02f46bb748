//! What the child has for its stdin, its outputs and its terminal where that is not the shim's own, in one place.
//!
//! Without a setting that asks for it there is nothing here: the child has the shim's own streams, and no thread, pipe
//! or terminal stands between. With a stop line the child's stdin is a pipe that stays open; with
//! `AGONES_SHIM_TTY=1`, or where the shim's stdin is a terminal then, all three streams are a terminal of its own, which
//! controls its session. To look for a line, its outputs alone come through here: where the shim's own output is a terminal, the child's is one too, of the same size.
//! Where stdout and stderr are one, the child has one, so that the order of what it writes is kept across both.

mod input;
mod keyboard;
mod output;
mod pty;

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use self::input::Input;
use self::keyboard::Keyboard;
use self::output::Output;
use crate::game::child::Console;
use crate::game::sys::{self, STDERR, STDIN, STDOUT};
use crate::log_lines::lines::Lines;
use crate::machine::{Event, catalogue};
use crate::net::deadline::Deadline;

/// How long to wait for the last output of a child that has ended to be read.
pub(crate) const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(3);

/// The child's ends of its streams. They are closed here when the child has them.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    /// Of stdin, stdout and stderr; `None` is the shim's own.
    pub descriptors: [Option<Arc<OwnedFd>>; 3],
    /// All three are a terminal of its own.
    pub is_terminal: bool,
}

/// The shim's ends of the child's streams.
#[derive(Debug, Default)]
pub(crate) struct Stdio {
    input: Option<Input>,
    outputs: Vec<Output>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// A terminal of its own.
    pub terminal: bool,
    /// Lines can be written to its stdin.
    pub lines: bool,
    /// These are looked for in what it writes.
    pub looked_for: Option<&'a Lines>,
}

impl Stdio {
    /// Starts to pass on what goes to the child and comes from it; `None` where nothing is asked for.
    ///
    /// # Errors
    /// The system refuses a pipe, a pseudo-terminal or a thread.
    pub fn open(
        wanted: Wanted<'_>,
        console: impl FnOnce() -> io::Result<Console>,
        events: &Sender<Event>,
    ) -> io::Result<Option<(Self, ChildStdio)>> {
        if wanted.terminal || wanted.lines && sys::window_size(STDIN).is_some() {
            Self::on_terminal(wanted.looked_for, &console()?, events).map(Some)
        } else if wanted.lines || wanted.looked_for.is_some() {
            Self::on_pipes(wanted, &console()?, events).map(Some)
        } else {
            Ok(None)
        }
    }

    fn on_terminal(
        looked_for: Option<&Lines>,
        console: &Console,
        events: &Sender<Event>,
    ) -> io::Result<(Self, ChildStdio)> {
        let (master, slave) = pty::console()?;
        let keyboard = Keyboard::new(&master, console)?;
        let output = Output::start(master.try_clone()?, STDOUT, None, looked_for.cloned(), events)?;
        let input = Input::start(master, keyboard, events)?;
        let slave = Arc::new(slave);
        let descriptors = [Some(slave.clone()), Some(slave.clone()), Some(slave)];
        Ok((Self { input: Some(input), outputs: vec![output] }, ChildStdio { descriptors, is_terminal: true }))
    }

    fn on_pipes(wanted: Wanted<'_>, console: &Console, events: &Sender<Event>) -> io::Result<(Self, ChildStdio)> {
        let (mut stdio, mut child) = (Self::default(), ChildStdio::default());
        if wanted.lines {
            let (reader, writer) = io::pipe()?;
            stdio.input = Some(Input::start(writer.into(), None, events)?);
            child.descriptors[0] = Some(Arc::new(reader.into()));
        }
        if wanted.looked_for.is_none() {
            return Ok((stdio, child));
        }
        for (at, sink) in [(1, STDOUT), (2, STDERR)] {
            // What was closed at the start stays closed for the child.
            if sys::closed_at_start(sink) {
                continue;
            }
            if at == 2 && child.descriptors[1].is_some() && is_same(STDOUT, STDERR) {
                let output = child.descriptors[1].clone();
                child.descriptors[2] = output;
                continue;
            }
            let (source, output, window) = if sys::window_size(sink).is_some() {
                let (master, slave) = pty::like(sink)?;
                (master, slave, Some(console.clone()))
            } else {
                let (reader, writer) = io::pipe()?;
                (reader.into(), writer.into(), None)
            };
            stdio.outputs.push(Output::start(source, sink, window, wanted.looked_for.cloned(), events)?);
            child.descriptors[at] = Some(Arc::new(output));
        }
        Ok((stdio, child))
    }

    /// The line that was waited for was seen.
    pub fn stop_waiting(&mut self) {
        self.outputs.iter_mut().for_each(Output::stop_waiting);
    }

    /// Writes these lines to the child's stdin; false where that is not ours. Answered by [`Event::StopLineWritten`].
    pub fn write_lines(&self, lines: &[String]) -> bool {
        self.input.as_ref().inspect(|input| input.write_lines(lines)).is_some()
    }

    /// The child has ended, and the keyboard is the shim's again.
    pub fn release_keyboard(&self) {
        self.input.iter().for_each(Input::release_keyboard);
    }

    /// The child is gone: delivers what it has left. A daemon of its that still has the streams is not waited for, nor
    /// a reader that does not read.
    pub fn finish(mut self) {
        self.outputs.iter_mut().for_each(Output::begin_to_finish);
        let deadline = Deadline::after(LAST_OUTPUT_TIMEOUT);
        if self.outputs.iter().filter(|output| !output.is_finished(deadline)).count() > 0 {
            warn_of_loss();
        }
        if let Some(input) = self.input {
            input.finish();
        }
    }
}

/// Of the end of the game's output, or of its log where that is passed on.
pub(crate) fn warn_of_loss() {
    log::warn!(id = catalogue::OUTPUT_LOST; "the game's last output is lost: whatever reads it has stopped reading");
}

/// What writes to the shim's stdout, where it has one: false where nobody will ever read it.
pub(crate) fn to_stdout() -> Option<fn(&[u8]) -> bool> {
    (!sys::closed_at_start(STDOUT)).then_some(output::to_stdout)
}

/// The shim's own stdin, which the child has too, has an end: closed, the null device, a file, or a pipe that nobody
/// writes to any more.
pub(crate) fn stdin_ends() -> bool {
    let metadata = || File::from(STDIN.try_clone_to_owned().ok()?).metadata().ok();
    let null = || Some(std::fs::metadata("/dev/null").ok()?.rdev());
    let is_empty = || metadata().is_some_and(|own| own.is_file() || own.rdev() != 0 && Some(own.rdev()) == null());
    let mut fds = [PollFd::new(STDIN, PollFlags::empty())];
    let mut has_no_writer = || poll(&mut fds, PollTimeout::ZERO).is_ok() && fds[0].any() == Some(true);
    sys::closed_at_start(STDIN) || is_empty() || has_no_writer()
}

/// Both are one pipe, file or terminal.
fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |fd: BorrowedFd<'_>| {
        let metadata = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((metadata.dev(), metadata.ino(), metadata.rdev()))
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
