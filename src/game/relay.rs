//! The child's output on its way through the shim, looked at for the line that says that the game is ready.
//!
//! One thread a stream, which does nothing else: a reader that stalls makes the child wait as it would without the
//! shim, and neither signals nor beats. What is read is written at once and unchanged, and only then looked at. Where
//! the shim's own output is a terminal, the child's is one too, of the same size. Where stdout and stderr are one, the
//! child has one, so that the order of what it writes is kept across both.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use crate::game::child::WindowSize;
use crate::game::sys::{self, STDERR, STDOUT};
use crate::log_lines::lines::Lines;
use crate::machine::Event;
use crate::net::deadline::Deadline;
use crate::settings::Pattern;
use crate::worker::Worker;

/// Passed on at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;
/// A line without an end that nothing has come behind for so long is looked at as it is: a prompt.
const REST: u16 = 100;
/// Between looks at the terminal's size: the kernel tells only the child, whose group has the terminal.
const SIZE_INTERVAL: u16 = 200;
/// How long the last output of a child that is gone may take to be read by whoever reads it.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(3);

/// What the child has for its stdout and stderr, where that is not the shim's own.
pub type Outputs = [Option<Arc<OwnedFd>>; 2];

/// The streams of one child.
#[derive(Debug)]
pub struct Relay {
    streams: Vec<Handle>,
}

#[derive(Debug)]
struct Handle {
    /// Dropped, it ends the looking.
    looking: Option<Worker<Infallible>>,
    /// Dropped, it ends the stream once all was delivered that can be read then.
    running: Option<OwnedFd>,
    ended: Receiver<Infallible>,
}

impl Relay {
    /// Starts to pass on what is written to the outputs that this gives. Both are closed here when the child has them.
    ///
    /// # Errors
    /// The system refuses a pipe, a pseudo-terminal or a thread.
    pub fn start(pattern: &Pattern, size: &WindowSize, events: &Sender<Event>) -> io::Result<(Self, Outputs)> {
        let mut relay = Self { streams: Vec::new() };
        let mut outputs: Outputs = [None, None];
        for (at, sink) in [STDOUT, STDERR].into_iter().enumerate() {
            // What was closed at the start stays closed for the child.
            if sys::closed_at_start(sink) {
                continue;
            }
            if at == 1 && outputs[0].is_some() && is_same(STDOUT, STDERR) {
                outputs = [outputs[0].clone(), outputs[0].clone()];
                continue;
            }
            let (source, output, window) = if sys::window_size(sink).is_some() {
                let (master, slave) = sys::terminal_like(sink)?;
                (master, slave, Some(size.clone()))
            } else {
                let (reader, writer) = io::pipe()?;
                (reader.into(), writer.into(), None)
            };
            let lines = Some(Lines::new(pattern.clone()));
            relay.streams.push(spawn(Stream { source, sink, window, lines, is_finishing: false }, events)?);
            outputs[at] = Some(Arc::new(output));
        }
        Ok((relay, outputs))
    }

    /// The line was seen: what comes is passed on and not looked at any more.
    pub fn stop_looking(&mut self) {
        for stream in &mut self.streams {
            stream.looking = None;
        }
    }

    /// The child is gone: delivers what it has left. A daemon of its that still has the streams is not waited for, nor
    /// a reader that does not read.
    pub fn finish(mut self) {
        for stream in &mut self.streams {
            stream.running = None;
        }
        let deadline = Deadline::after(LAST_OUTPUT_TIMEOUT);
        let is_lost = |stream: &Handle| match deadline.left() {
            Some(left) => stream.ended.recv_timeout(left).is_err_and(|error| error == RecvTimeoutError::Timeout),
            None => stream.ended.try_recv() == Err(TryRecvError::Empty),
        };
        if self.streams.iter().filter(|stream| is_lost(stream)).count() > 0 {
            log::warn!("the game's last output is lost: whatever reads it has stopped reading");
        }
    }
}

fn spawn(mut stream: Stream, events: &Sender<Event>) -> io::Result<Handle> {
    let (control, running) = io::pipe()?;
    let (end, ended) = channel::<Infallible>();
    let worker = Worker::spawn("relay", events.clone(), move |looking, events| {
        let _end = end;
        stream.run(&control.into(), looking, events);
    })?;
    Ok(Handle { looking: Some(worker), running: Some(running.into()), ended })
}

/// One stream.
struct Stream {
    source: OwnedFd,
    sink: BorrowedFd<'static>,
    /// The source is a terminal, and this tells the child of its size.
    window: Option<WindowSize>,
    /// What looks for the line, until it was seen.
    lines: Option<Lines>,
    is_finishing: bool,
}

/// What a wait has ended with.
enum Next {
    Read,
    Rest,
    End,
}

impl Stream {
    fn run(&mut self, control: &OwnedFd, looking: &Receiver<Infallible>, events: &Sender<Event>) {
        let mut buffer = vec![0; CHUNK];
        loop {
            let matches = match self.wait(control) {
                Next::End => return,
                Next::Rest => self.lines.as_mut().map_or(0, |lines| u32::from(lines.rest())),
                Next::Read => match read(&self.source, &mut buffer) {
                    Ok(0) => return,
                    Ok(length) => {
                        if !deliver(self.sink, &buffer[..length]) {
                            // The source closes, so that the child learns of it as it would without the shim.
                            log::debug!("nobody reads the game's output any more");
                            return;
                        }
                        self.lines.as_mut().map_or(0, |lines| lines.push(&buffer[..length]))
                    }
                    Err(Errno::EINTR | Errno::EAGAIN) => 0,
                    // A terminal that nobody has open any more says EIO.
                    Err(_) => return,
                },
            };
            if matches > 0 {
                let _ = events.send(Event::LinesSeen(matches));
            }
            if self.lines.is_some() && looking.try_recv() == Err(TryRecvError::Disconnected) {
                self.lines = None;
            }
        }
    }

    /// Waits until something can be read, a line rests, or nothing will come any more.
    fn wait(&mut self, control: &OwnedFd) -> Next {
        loop {
            if let Some(window) = &self.window {
                follow_size(self.sink, &self.source, window);
            }
            let mut timeout = PollTimeout::NONE;
            if self.window.is_some() {
                timeout = SIZE_INTERVAL.into();
            }
            if self.lines.as_ref().is_some_and(Lines::has_news) {
                timeout = REST.into();
            }
            if self.is_finishing {
                timeout = PollTimeout::ZERO;
            }
            let mut fds =
                [PollFd::new(self.source.as_fd(), PollFlags::POLLIN), PollFd::new(control.as_fd(), PollFlags::empty())];
            let watched = if self.is_finishing { 1 } else { 2 };
            let ready = poll(&mut fds[..watched], timeout);
            if fds[0].any() == Some(true) {
                return Next::Read;
            }
            if self.is_finishing {
                return Next::End;
            }
            self.is_finishing = fds[1].any() == Some(true);
            if ready == Ok(0) && timeout == REST.into() {
                return Next::Rest;
            }
        }
    }
}

/// Writes all of it, however long that takes; false where nobody will ever read it.
fn deliver(sink: BorrowedFd<'_>, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(sink, bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::EINTR) => {}
            // Somebody else has made it non-blocking: it is shared with whoever started the shim.
            Err(Errno::EAGAIN) => {
                let _ = poll(&mut [PollFd::new(sink, PollFlags::POLLOUT)], PollTimeout::NONE);
            }
            Err(Errno::EPIPE) => return false,
            // A full disk, a terminal that was hung up: the game would be told and go on.
            Err(_) => return true,
        }
    }
    true
}

/// Gives the child's terminal the size of the shim's, and tells the child where that changes it.
fn follow_size(sink: BorrowedFd<'_>, source: &OwnedFd, window: &WindowSize) {
    if let Some(size) = sys::window_size(sink)
        && sys::window_size(source.as_fd()) != Some(size)
        && sys::set_window_size(source.as_fd(), size).is_ok()
    {
        window.has_changed();
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
