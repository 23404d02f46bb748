//! The file that a game logs to, watched for lines, and passed on to stdout where that is asked for.
//!
//! It need not be there yet, may be rotated (the old file is read to its end first) and truncated, or written anew in
//! its place. It is looked at ten times a second and not through inotify, which sees nothing of what another machine or
//! container writes on some file systems; less often once the line that says that it is ready was seen.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use nix::libc;

use super::lines::Lines;
use super::passed::PassedLines;
use super::relay::{Relay, Write};
use crate::machine::Event;
use crate::net::deadline::Deadline;
use crate::worker::Worker;

/// Between looks while somebody waits for a line, or for what is passed on.
const INTERVAL: Duration = Duration::from_millis(100);
/// Between looks for lines that count.
const LATER_INTERVAL: Duration = Duration::from_millis(250);
/// Read at once.
const CHUNK: usize = 64 * 1024;
/// Chunks of one look: a file that grows faster than it is read is looked at again at once.
const CHUNKS: usize = 64;
/// So much in front of the position is compared to tell a file that was written anew.
const MARK: usize = 128;

/// The line that was waited for was seen.
#[derive(Debug)]
struct StopWaiting;

/// The thread that watches; dropped, it looks once more and ends.
#[derive(Debug)]
pub struct Watch {
    worker: Worker<StopWaiting>,
    ended: Receiver<Infallible>,
}

impl Watch {
    /// Starts to look for these lines in the file. `is_old` passes over what is in it now; `write` gets what is not.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(
        path: &str,
        lines: Lines,
        is_old: bool,
        write: Option<Write>,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let mut tail = Tail::new(path, lines);
        tail.text.relay = write.map(Relay::new);
        if is_old {
            tail.pass_over();
        }
        let (end, ended) = channel();
        let worker = Worker::spawn("watch", events, move |commands, events| {
            let _end: Sender<Infallible> = end;
            tail.run(commands, events);
        })?;
        Ok(Self { worker, ended })
    }

    /// The line that was waited for was seen.
    pub fn stop_waiting(&self) {
        self.worker.tell(StopWaiting);
    }

    /// What is in the file by now is passed on; false where that takes longer.
    #[must_use]
    pub fn finish(self, deadline: Deadline) -> bool {
        drop(self.worker);
        self.ended.recv_timeout(deadline.left().unwrap_or_default()) != Err(RecvTimeoutError::Timeout)
    }
}

/// Opens a file to be watched: a plain file, and never one whose opening would wait.
///
/// # Errors
/// It is not there, may not be read, or is no file.
pub fn open(path: &str) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    matches: u32,
    /// There is more to read already.
    is_behind: bool,
}

/// The end of a file, wherever it goes.
struct Tail {
    path: String,
    text: Text,
    open: Option<Open>,
}

/// What becomes of the text.
struct Text {
    lines: Lines,
    relay: Option<Relay>,
    /// Kept for its memory.
    chunk: Vec<u8>,
}

/// One file, read so far.
struct Open {
    file: File,
    /// Device and inode.
    identity: (u64, u64),
    position: u64,
    /// What stands in front of the position.
    mark: Vec<u8>,
}

impl Tail {
    fn new(path: &str, lines: Lines) -> Self {
        Self { path: path.to_owned(), text: Text { lines, relay: None, chunk: vec![0; CHUNK] }, open: None }
    }

    /// What is in the file now is not read.
    fn pass_over(&mut self) {
        self.open = Open::new(&self.path).ok().and_then(|open| open.at_end().ok());
    }

    fn run(&mut self, commands: &Receiver<StopWaiting>, events: &Sender<Event>) {
        let mut interval = INTERVAL;
        let mut passed = PassedLines::default();
        loop {
            let look = self.look_and_tell(events);
            if let Some(event) = passed.report(&mut self.text.lines, Instant::now()) {
                let _ = events.send(event);
            }
            match commands.recv_timeout(if look.is_behind { Duration::ZERO } else { interval }) {
                Ok(StopWaiting) => {
                    self.text.lines.stop_waiting();
                    if self.text.relay.is_none() {
                        interval = LATER_INTERVAL;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // Whoever waits for the end does so with a deadline.
        while self.text.relay.is_some() && self.look_and_tell(events).is_behind {}
        self.text.start_over();
    }

    fn look_and_tell(&mut self, events: &Sender<Event>) -> Look {
        let look = self.look();
        if look.matches > 0 {
            // Nobody listens any more when the shim is on its way out.
            let _ = events.send(Event::LinesSeen(look.matches));
        }
        look
    }

    fn look(&mut self) -> Look {
        let mut look = Look { matches: 0, is_behind: false };
        let mut has_grown = false;
        if let Some(open) = &mut self.open {
            (look, has_grown) = open.read(&mut self.text);
            // Not before it was read to its end: it may have been moved away since the last look.
            if !look.is_behind && open.is_replaced(&self.path) {
                look.matches += open.read(&mut self.text).0.matches;
                self.open = None;
                self.text.start_over();
            }
        }
        if self.open.is_none()
            && let Ok(mut open) = Open::new(&self.path)
        {
            let (new, grown) = open.read(&mut self.text);
            (look, has_grown) = (Look { matches: look.matches + new.matches, ..new }, grown);
            self.open = Some(open);
        }
        if !has_grown && self.text.lines.has_news() {
            look.matches += u32::from(self.text.lines.rest());
        }
        look
    }
}

impl Text {
    fn start_over(&mut self) {
        self.lines.start_over();
        if let Some(relay) = &mut self.relay {
            relay.end();
        }
    }
}

impl Open {
    fn new(path: &str) -> io::Result<Self> {
        let file = open(path)?;
        let metadata = file.metadata()?;
        Ok(Self { file, identity: (metadata.dev(), metadata.ino()), position: 0, mark: Vec::new() })
    }

    fn at_end(mut self) -> io::Result<Self> {
        self.position = self.file.metadata()?.len();
        let length = self.position.min(MARK as u64);
        let mut mark = vec![0; usize::try_from(length).unwrap_or(MARK)];
        self.file.read_exact_at(&mut mark, self.position - length)?;
        self.mark = mark;
        Ok(self)
    }

    /// Another file stands at the path.
    fn is_replaced(&self, path: &str) -> bool {
        fs::metadata(path).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) != self.identity)
    }

    /// Reads what is new; with whether there was something.
    fn read(&mut self, text: &mut Text) -> (Look, bool) {
        let mut look = Look { matches: 0, is_behind: false };
        if self.is_rewritten() {
            self.position = 0;
            self.mark.clear();
            text.start_over();
        }
        let start = self.position;
        for _ in 0..CHUNKS {
            // An error that stays is told by the probe, which opens the file itself.
            let length = match self.file.read_at(&mut text.chunk, self.position) {
                Ok(0) => return (look, self.position > start),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return (look, self.position > start),
            };
            let Text { lines, relay, chunk } = text;
            let new = &chunk[..length];
            look.matches += lines.push(new);
            if let Some(relay) = relay {
                relay.push(new);
            }
            self.position += length as u64;
            self.mark.extend_from_slice(&new[length.saturating_sub(MARK)..]);
            self.mark.drain(..self.mark.len().saturating_sub(MARK));
        }
        look.is_behind = true;
        (look, true)
    }

    /// It is shorter than what was read of it, or something else stands there.
    fn is_rewritten(&self) -> bool {
        let mut found = vec![0; self.mark.len()];
        let start = self.position - self.mark.len() as u64;
        match self.file.read_exact_at(&mut found, start) {
            Ok(()) => found != self.mark,
            Err(error) => error.kind() == io::ErrorKind::UnexpectedEof,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;
    use crate::settings::pattern::pattern;

    /// A directory of a test's own with one log in it.
    struct Log(PathBuf);

    impl Log {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("agones-shim-watch-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a directory of our own");
            Self(path)
        }

        fn path(&self) -> String {
            self.0.join("log").to_str().expect("UTF-8").to_owned()
        }

        fn append(&self, text: &str) {
            let mut file = OpenOptions::new().append(true).create(true).open(self.path()).expect("writable");
            file.write_all(text.as_bytes()).expect("written");
        }

        fn tail(&self) -> Tail {
            Tail::new(&self.path(), Lines::new(Some(pattern("up").expect("good")), Vec::new()))
        }
    }

    impl Drop for Log {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_that_comes_late_and_grows_is_read_line_by_line() {
        let log = Log::new("late");
        let mut tail = log.tail();
        assert_eq!(tail.look().matches, 0);
        log.append("up\nu");
        assert_eq!(tail.look().matches, 1);
        log.append("p\nnot\nup");
        assert_eq!(tail.look().matches, 1);
        assert_eq!(tail.look().matches, 1, "the last line rests, without an end");
        log.append(" and running\n");
        assert_eq!(tail.look().matches, 0, "it is the same line");
    }

    #[test]
    fn a_file_that_was_moved_away_is_read_to_its_end_before_the_new_one() {
        let log = Log::new("rotated");
        let mut tail = log.tail();
        log.append("begin\n");
        assert_eq!(tail.look().matches, 0);
        log.append("up\nu");
        fs::rename(log.path(), log.0.join("log.1")).expect("moved");
        assert_eq!(tail.look().matches, 1, "there is no new one yet");
        log.append("p\nup\n");
        assert_eq!(tail.look().matches, 1, "the end of one file and the beginning of the next are no line");
    }

    #[test]
    fn a_file_that_was_truncated_or_written_anew_is_read_from_its_beginning() {
        let log = Log::new("truncated");
        let mut tail = log.tail();
        log.append("one line\n");
        assert_eq!(tail.look().matches, 0);
        fs::write(log.path(), "up\n").expect("shorter");
        assert_eq!(tail.look().matches, 1);
        fs::write(log.path(), "up\nand much more than before\n").expect("longer");
        assert_eq!(tail.look().matches, 0, "it goes on as before: who could tell");
        fs::write(log.path(), "it is up\nand much more than before, indeed\n").expect("longer");
        assert_eq!(tail.look().matches, 1);
        fs::write(log.path(), "").expect("empty");
        assert_eq!(tail.look().matches, 0);
        log.append("up\n");
        assert_eq!(tail.look().matches, 1);
    }

    #[test]
    fn what_is_there_at_the_start_can_be_passed_over() {
        let log = Log::new("old");
        log.append("up\nup\n");
        let mut tail = log.tail();
        tail.pass_over();
        assert_eq!(tail.look().matches, 0);
        log.append("up\n");
        assert_eq!(tail.look().matches, 1);
        fs::write(log.path(), "a new run, and it is up\n").expect("written anew");
        assert_eq!(tail.look().matches, 1);
    }

    #[test]
    fn a_long_file_is_read_in_more_than_one_look() {
        let log = Log::new("long");
        log.append(&"x\n".repeat(CHUNK * CHUNKS / 2));
        log.append("up\n");
        let mut tail = log.tail();
        assert_eq!(tail.look(), Look { matches: 0, is_behind: true });
        assert_eq!(tail.look(), Look { matches: 1, is_behind: false });
    }

    #[test]
    fn only_a_plain_file_is_opened() {
        let log = Log::new("pipe");
        let made = std::process::Command::new("mkfifo").arg(log.path()).status().expect("mkfifo starts");
        assert!(made.success());
        assert_eq!(open(&log.path()).expect_err("a pipe").to_string(), "not a plain file");
        assert_eq!(open("/").expect_err("a directory").to_string(), "not a plain file");
        assert_eq!(log.tail().look().matches, 0);
    }
}
