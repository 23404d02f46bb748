//! Lines for people on stdout. A thread of its own writes them, so that a
//! terminal that was stopped with Ctrl-S, or a pipe that nobody reads, never
//! stops the GameServer's time. Lines that find no room are counted, not kept.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

/// Lines that wait to be written; some seconds of a very busy game.
const ROOM: usize = 4096;
/// How long the end waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Debug)]
pub struct Output {
    lines: SyncSender<String>,
    /// Closes when the last line is written.
    written: Receiver<String>,
    lost: usize,
}

impl Output {
    /// Starts the writing thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start() -> io::Result<Self> {
        let (lines, queue) = mpsc::sync_channel::<String>(ROOM);
        let (writing, written) = mpsc::sync_channel(0);
        thread::Builder::new().name("local-sdk-output".into()).spawn(move || {
            write_lines(&queue, io::stdout());
            drop(writing);
        })?;
        Ok(Self { lines, written, lost: 0 })
    }

    /// Writes one line, without waiting.
    pub fn line(&mut self, mut line: String) {
        if self.lost > 0 {
            line = format!("local-sdk: {} lines were lost, nobody read them\n{line}", self.lost);
        }
        match self.lines.try_send(line) {
            Ok(()) => self.lost = 0,
            // The reader is gone, or it is slow.
            Err(TrySendError::Disconnected(_) | TrySendError::Full(_)) => self.lost += 1,
        }
    }

    /// Waits a moment for what was not yet written.
    pub fn finish(self) {
        drop(self.lines);
        let _ = self.written.recv_timeout(LAST_LINES);
    }
}

/// Goes on reading after the pipe has closed, so that senders notice nothing.
fn write_lines(queue: &Receiver<String>, mut sink: impl Write) {
    let mut open = true;
    for mut line in queue {
        line.push('\n');
        open = open && sink.write_all(line.as_bytes()).and_then(|()| sink.flush()).is_ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes one line and then fails, as a pipe does whose reader went.
    struct Closing(Vec<u8>);

    impl Write for Closing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                self.0.extend(bytes);
                return Ok(bytes.len());
            }
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_written_to_once_and_read_from_to_the_end() {
        let (lines, queue) = mpsc::sync_channel(10);
        for line in ["a", "b", "c"] {
            lines.send(line.to_owned()).expect("room");
        }
        drop(lines);
        let mut sink = Closing(Vec::new());
        write_lines(&queue, &mut sink);
        assert_eq!(sink.0, b"a\n");
        assert!(queue.recv().is_err(), "nothing is left in it");
    }

    #[test]
    fn lines_without_room_are_counted_and_the_next_one_says_so() {
        let (lines, queue) = mpsc::sync_channel(1);
        let (_done, written) = mpsc::sync_channel(1);
        let mut output = Output { lines, written, lost: 0 };
        for line in ["a", "b", "c"] {
            output.line(line.to_owned());
        }
        assert_eq!(queue.recv().expect("kept"), "a");
        output.line("d".to_owned());
        assert_eq!(queue.recv().expect("kept"), "local-sdk: 2 lines were lost, nobody read them\nd");
    }
}
