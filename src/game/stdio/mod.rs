//! What the child has for its stdin, its outputs and its terminal where that is not the shim's own, in one place.
//!
//! Without a setting that asks for it there is nothing here: the child has the shim's own streams, and no thread, pipe
//! or terminal stands between. Where the shim's own output is a terminal, the child's is one too, of the same size.
//! Where stdout and stderr are one, the child has one, so that the order of what it writes is kept across both.

mod output;
mod pty;

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use self::output::Output;
use crate::game::child::Console;
use crate::game::sys::{self, STDERR, STDOUT};
use crate::machine::Event;
use crate::net::deadline::Deadline;
use crate::settings::Pattern;

/// How long the last output of a child that is gone may take to be read by whoever reads it.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(3);

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
    outputs: Vec<Output>,
}

impl Stdio {
    /// Starts to pass on what the child writes, and to look for the pattern in it.
    ///
    /// # Errors
    /// The system refuses a pipe, a pseudo-terminal or a thread.
    pub fn open(pattern: &Pattern, console: &Console, events: &Sender<Event>) -> io::Result<(Self, ChildStdio)> {
        let (mut stdio, mut child) = (Self::default(), ChildStdio::default());
        for (at, sink) in [(1, STDOUT), (2, STDERR)] {
            // What was closed at the start stays closed for the child.
            if sys::closed_at_start(sink) {
                continue;
            }
            if at == 2 && child.descriptors[1].is_some() && is_same(STDOUT, STDERR) {
                child.descriptors[2] = child.descriptors[1].clone();
                continue;
            }
            let (source, output, window) = if sys::window_size(sink).is_some() {
                let (master, slave) = pty::like(sink)?;
                (master, slave, Some(console.clone()))
            } else {
                let (reader, writer) = io::pipe()?;
                (reader.into(), writer.into(), None)
            };
            stdio.outputs.push(Output::start(source, sink, window, Some(pattern), events)?);
            child.descriptors[at] = Some(Arc::new(output));
        }
        Ok((stdio, child))
    }

    /// The line was seen: what comes is passed on and not looked at any more.
    pub fn stop_looking(&mut self) {
        self.outputs.iter_mut().for_each(Output::stop_looking);
    }

    /// The child is gone: delivers what it has left. A daemon of its that still has the streams is not waited for, nor
    /// a reader that does not read.
    pub fn finish(mut self) {
        self.outputs.iter_mut().for_each(Output::begin_to_finish);
        let deadline = Deadline::after(LAST_OUTPUT_TIMEOUT);
        if self.outputs.iter().filter(|output| !output.is_finished(deadline)).count() > 0 {
            log::warn!("the game's last output is lost: whatever reads it has stopped reading");
        }
    }
}

/// Both are one pipe, file or terminal.
fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |fd: BorrowedFd<'_>| {
        let metadata = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((metadata.dev(), metadata.ino(), metadata.rdev()))
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
