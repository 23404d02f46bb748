//! The child's stdin where it is not the shim's own: what comes on the shim's is passed on byte for byte, its end is
//! not (games spin or close their console at an end), and the stop line is written behind it.
//!
//! One thread. A child that does not read holds up nothing but what is meant for it: its end is never waited for but
//! with a deadline.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use super::keyboard::Keyboard;
use super::pty;
use crate::game::sys::{self, STDIN};
use crate::machine::Event;
use crate::net::deadline::Deadline;
use crate::worker::Worker;

/// Passed on at once.
const CHUNK: usize = 4096;
/// How long the child may take to make room for the stop line.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the thread may take to give the keyboard back.
const END_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Debug)]
enum Command {
    Line(Vec<String>),
    ReleaseKeyboard,
}

/// The thread's handle.
#[derive(Debug)]
pub(super) struct Input {
    worker: Worker<Command>,
    /// Written to, it makes the thread look at its commands; dropped, it ends it.
    wake: OwnedFd,
    ended: Receiver<()>,
}

impl Input {
    /// Begins to pass on. `game` is the shim's end of the child's stdin, from now on non-blocking.
    ///
    /// # Errors
    /// The system refuses a pipe or a thread.
    pub fn start(game: OwnedFd, keyboard: Option<Keyboard>, events: &Sender<Event>) -> io::Result<Self> {
        sys::set_nonblocking(game.as_fd())?;
        let (woken, wake) = io::pipe()?;
        let (end, ended) = channel();
        let own_is_open = !sys::closed_at_start(STDIN);
        let worker = Worker::spawn("input", events.clone(), move |commands, events| {
            let mut stream = Stream {
                game: Some(game),
                woken: woken.into(),
                own_is_open,
                keyboard,
                pending: Vec::new(),
                is_mid_line: false,
            };
            stream.run(commands, events);
            if let Some(keyboard) = &mut stream.keyboard {
                keyboard.release();
            }
            let _ = end.send(());
        })?;
        Ok(Self { worker, wake: wake.into(), ended })
    }

    /// Writes these lines; answered by [`Event::StopLineWritten`].
    pub fn write_lines(&self, lines: &[String]) {
        self.tell(Command::Line(lines.to_vec()));
    }

    /// The child has ended: Ctrl-C is for the shim again.
    pub fn release_keyboard(&self) {
        self.tell(Command::ReleaseKeyboard);
    }

    /// Ends it, with the keyboard as it was.
    pub fn finish(self) {
        drop(self.wake);
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }

    fn tell(&self, command: Command) {
        self.worker.tell(command);
        let _ = write(&self.wake, &[0]);
    }
}

struct Stream {
    /// `None` once the child has closed its stdin.
    game: Option<OwnedFd>,
    woken: OwnedFd,
    own_is_open: bool,
    keyboard: Option<Keyboard>,
    /// Read, and not yet taken by the child.
    pending: Vec<u8>,
    /// What the child has got so far ends inside of a line.
    is_mid_line: bool,
}

impl Stream {
    fn run(&mut self, commands: &Receiver<Command>, events: &Sender<Event>) {
        loop {
            let is_ours = self.keyboard.as_mut().is_none_or(Keyboard::turn);
            let [is_woken, is_readable, is_writable] = self.wait(is_ours);
            if is_woken {
                let mut bytes = [0; 64];
                if read(&self.woken, &mut bytes) == Ok(0) {
                    return;
                }
                loop {
                    match commands.try_recv() {
                        Ok(Command::Line(lines)) => {
                            let _ = events.send(Event::StopLineWritten(self.write_lines(&lines)));
                        }
                        Ok(Command::ReleaseKeyboard) => self.release_keyboard(),
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Disconnected) => return,
                    }
                }
            }
            if is_writable {
                self.write_pending();
            }
            if is_readable {
                self.read_own();
            }
        }
    }

    /// Waits until it was woken, there is something to read, or room for what was read; or for the keyboard's turn.
    fn wait(&mut self, is_ours: bool) -> [bool; 3] {
        let timeout = self.keyboard.as_ref().map_or(PollTimeout::NONE, |_| Keyboard::INTERVAL.into());
        let mut fds = vec![PollFd::new(self.woken.as_fd(), PollFlags::POLLIN)];
        let reads = self.own_is_open && is_ours && self.pending.is_empty() && self.game.is_some();
        if reads {
            fds.push(PollFd::new(STDIN, PollFlags::POLLIN));
        }
        let game = self.game.as_ref().filter(|_| !self.pending.is_empty());
        if let Some(game) = game {
            fds.push(PollFd::new(game.as_fd(), PollFlags::POLLOUT));
        }
        let _ = poll(&mut fds, timeout);
        let other = fds.get(1).is_some_and(|fd| fd.any() == Some(true));
        let [is_woken, is_gone] = [fds[0].any() == Some(true), !reads && fds.get(1).is_some_and(is_hung_up)];
        if is_gone {
            self.game_is_gone();
        }
        [is_woken, reads && other, !reads && other && !is_gone]
    }

    /// Nobody will read what there is.
    fn game_is_gone(&mut self) {
        self.game = None;
        self.pending.clear();
    }

    fn read_own(&mut self) {
        let mut buffer = [0; CHUNK];
        match read(STDIN, &mut buffer) {
            Ok(length) if length > 0 => {
                let bytes = &buffer[..length];
                let suspend = match (&self.keyboard, &self.game) {
                    (Some(_), Some(game)) => {
                        pty::suspend_key(game.as_fd()).and_then(|key| bytes.iter().position(|&byte| byte == key))
                    }
                    _ => None,
                };
                self.pending.extend_from_slice(bytes);
                self.write_pending();
                if let (Some(_), Some(keyboard)) = (suspend, &mut self.keyboard) {
                    keyboard.suspend();
                }
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // Its end, or a terminal that was hung up. It is not passed on.
            Ok(_) | Err(_) => self.own_is_open = false,
        }
    }

    /// Gives the child what it takes now.
    fn write_pending(&mut self) {
        while let Some(game) = self.game.as_ref().filter(|_| !self.pending.is_empty()) {
            match write(game, &self.pending) {
                Ok(length) => {
                    self.is_mid_line = self.pending[..length].last().is_some_and(|byte| !matches!(byte, b'\n' | b'\r'));
                    self.pending.drain(..length);
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => self.game_is_gone(),
            }
        }
    }

    fn write_lines(&mut self, lines: &[String]) -> Result<(), String> {
        let end = self.game.as_ref().map_or(b'\n', |game| pty::line_end(game.as_fd()));
        // Half a line that somebody was typing would make another of ours.
        if self.pending.last().map_or(self.is_mid_line, |byte| !matches!(byte, b'\n' | b'\r')) {
            self.pending.push(end);
        }
        for line in lines {
            self.pending.extend_from_slice(line.as_bytes());
            self.pending.push(end);
        }
        let deadline = Deadline::after(WRITE_TIMEOUT);
        loop {
            self.write_pending();
            let Some(game) = &self.game else { return Err("the game has closed its stdin".to_owned()) };
            if self.pending.is_empty() {
                return Ok(());
            }
            let Some(left) = deadline.left() else {
                return Err(format!("the game does not read its stdin: {deadline}"));
            };
            let left = PollTimeout::try_from(left.max(Duration::from_millis(1))).unwrap_or(PollTimeout::MAX);
            let mut fds = [PollFd::new(game.as_fd(), PollFlags::POLLOUT)];
            let _ = poll(&mut fds, left);
            if is_hung_up(&fds[0]) {
                self.game_is_gone();
            }
        }
    }

    fn release_keyboard(&mut self) {
        if let Some(mut keyboard) = self.keyboard.take() {
            keyboard.release();
            self.own_is_open = false;
        }
    }
}

/// A terminal that its last user has closed: it takes nothing any more, and says so by no error.
fn is_hung_up(fd: &PollFd) -> bool {
    fd.revents().is_some_and(|events| events.contains(PollFlags::POLLHUP) && !events.contains(PollFlags::POLLOUT))
}
