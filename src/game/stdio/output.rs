//! One stream of the child's output on its way through the shim, looked at for the line that says that the game is
//! ready, and for those that say who plays.
//!
//! One thread a stream, which does nothing else: a reader that stalls makes the child wait as it would without the
//! shim, and neither signals nor beats. What is read is written at once and unchanged, and only then looked at.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use super::pty;
use crate::game::child::Console;
use crate::game::sys::{self, STDOUT};
use crate::log_lines::lines::Lines;
use crate::log_lines::passed::PassedLines;
use crate::machine::Event;
use crate::net::deadline::Deadline;
use crate::worker::Worker;

/// Passed on at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;
/// An unfinished line is matched as it is (a prompt) once nothing has followed it for this long.
const REST: u16 = 100;
/// Between looks at the terminal's size: the kernel tells only the child, whose group has the terminal.
const SIZE_INTERVAL: u16 = 200;

/// One stream on its way.
#[derive(Debug)]
pub(super) struct Output {
    /// Dropped, it ends the wait for a line.
    looking: Option<Worker<Infallible>>,
    /// Dropped, it ends the stream once all was delivered that can be read then.
    running: Option<OwnedFd>,
    ended: Receiver<Infallible>,
}

impl Output {
    /// Passes on what comes from the source to the sink, and looks for lines in it.
    ///
    /// # Errors
    /// The system refuses a pipe or a thread.
    pub fn start(
        source: OwnedFd,
        sink: BorrowedFd<'static>,
        window: Option<Console>,
        lines: Option<Lines>,
        events: &Sender<Event>,
    ) -> io::Result<Self> {
        let mut stream = Stream { source, sink, window, lines, passed: PassedLines::default(), is_finishing: false };
        let (control, running) = io::pipe()?;
        let (end, ended) = channel::<Infallible>();
        let worker = Worker::spawn("output", events.clone(), move |looking, events| {
            let _end = end;
            stream.run(&control.into(), looking, events);
        })?;
        Ok(Self { looking: Some(worker), running: Some(running.into()), ended })
    }

    /// The line that was waited for was seen.
    pub fn stop_waiting(&mut self) {
        self.looking = None;
    }

    /// Nothing more is waited for than what can be read now.
    pub fn begin_to_finish(&mut self) {
        self.running = None;
    }

    /// It has ended within this time.
    pub fn is_finished(&self, deadline: Deadline) -> bool {
        match deadline.left() {
            Some(left) => self.ended.recv_timeout(left) != Err(RecvTimeoutError::Timeout),
            None => self.ended.try_recv() != Err(TryRecvError::Empty),
        }
    }
}

/// One stream.
struct Stream {
    source: OwnedFd,
    sink: BorrowedFd<'static>,
    /// The source is a terminal, and this tells the child of its size.
    window: Option<Console>,
    /// What looks for lines, while there is something to look for.
    lines: Option<Lines>,
    /// When the others are told of.
    passed: PassedLines,
    is_finishing: bool,
}

/// What a wait has ended with.
enum Next {
    Read,
    Rest,
    Report,
    End,
}

impl Stream {
    fn run(&mut self, control: &OwnedFd, looking: &Receiver<Infallible>, events: &Sender<Event>) {
        let mut buffer = vec![0; CHUNK];
        loop {
            let matches = match self.wait(control) {
                Next::End => return,
                Next::Report => 0,
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
            if let Some(lines) = &mut self.lines
                && let Some(event) = self.passed.report(lines, Instant::now())
            {
                let _ = events.send(event);
            }
            if let Some(lines) = &mut self.lines
                && looking.try_recv() == Err(TryRecvError::Disconnected)
            {
                lines.stop_waiting();
                if lines.is_done() {
                    self.lines = None;
                }
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
            let report = self.lines.as_ref().and_then(|lines| self.passed.wait(lines, Instant::now()));
            if report == Some(Duration::ZERO) {
                return Next::Report;
            }
            if let Some(wait) = report.filter(|_| self.window.is_none()) {
                timeout = PollTimeout::try_from(wait + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
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

/// Writes all of it to stdout; false where nobody will ever read it.
pub(super) fn to_stdout(bytes: &[u8]) -> bool {
    deliver(STDOUT, bytes)
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
fn follow_size(sink: BorrowedFd<'_>, source: &OwnedFd, window: &Console) {
    if let Some(size) = pty::size(sink)
        && sys::window_size(source.as_fd()) != Some(size)
        && sys::set_window_size(source.as_fd(), size).is_ok()
    {
        window.window_has_changed();
    }
}
