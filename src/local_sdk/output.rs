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
    written: Receiver<()>,
    lost: usize,
}

impl Output {
    /// Starts the writing thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start() -> io::Result<Self> {
        let (lines, queue) = mpsc::sync_channel::<String>(ROOM);
        let (done, written) = mpsc::sync_channel(1);
        thread::Builder::new().name("local-sdk-output".into()).spawn(move || {
            write_lines(&queue, io::stdout());
            let _ = done.send(());
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
