//! The file that a game logs to, watched for the line that says that it is ready.
//!
//! It need not be there yet, may be rotated (the old file is read to its end first) and truncated, or written anew in
//! its place. It is looked at ten times a second and not through inotify, which sees nothing of what another machine or
//! container writes on some file systems. Nobody looks once the line was seen.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use nix::libc;

use crate::log_lines::lines::Lines;
use crate::log_lines::passed::PassedLines;
use crate::machine::Event;
use crate::settings::LogTarget;
use crate::worker::Worker;

/// Between looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// Read at once.
const CHUNK: usize = 64 * 1024;
/// Chunks of one look: a file that grows faster than it is read is looked at again at once.
const CHUNKS: usize = 64;
/// So much in front of the position is compared to tell a file that was written anew.
const MARK: usize = 128;

/// The thread that watches; it ends when this is dropped.
pub type Watch = Worker<Infallible>;

/// Starts to watch the target's file, if it has one. `is_old` passes over what is in it now.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn(target: &LogTarget, is_old: bool, events: Sender<Event>) -> io::Result<Option<Watch>> {
    let Some(path) = &target.file else { return Ok(None) };
    let lines = Lines::new(target.pattern.clone());
    let mut tail = if is_old { Tail::at_end(path, lines) } else { Tail::new(path, lines) };
    let worker = Worker::spawn("watch", events, move |commands, events| {
        let mut passed = PassedLines::default();
        loop {
            let look = tail.look();
            if look.matches > 0 && events.send(Event::LinesSeen(look.matches)).is_err() {
                return;
            }
            if let Some(event) = passed.report(&mut tail.lines, Instant::now()) {
                let _ = events.send(event);
            }
            let interval = if look.is_behind { Duration::ZERO } else { INTERVAL };
            if commands.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    });
    worker.map(Some)
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
    lines: Lines,
    open: Option<Open>,
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
        Self { path: path.to_owned(), lines, open: None }
    }

    /// What is in the file now is not read.
    fn at_end(path: &str, lines: Lines) -> Self {
        let mut tail = Self::new(path, lines);
        tail.open = Open::new(path).ok().and_then(|open| open.at_end().ok());
        tail
    }

    fn look(&mut self) -> Look {
        let mut look = Look { matches: 0, is_behind: false };
        let mut has_grown = false;
        if let Some(open) = &mut self.open {
            (look, has_grown) = open.read(&mut self.lines);
            // Not before it was read to its end: it may have been moved away since the last look.
            if !look.is_behind && open.is_replaced(&self.path) {
                look.matches += open.read(&mut self.lines).0.matches;
                self.open = None;
                self.lines.start_over();
            }
        }
        if self.open.is_none()
            && let Ok(mut open) = Open::new(&self.path)
        {
            let (new, grown) = open.read(&mut self.lines);
            (look, has_grown) = (Look { matches: look.matches + new.matches, ..new }, grown);
            self.open = Some(open);
        }
        if !has_grown && self.lines.has_news() {
            look.matches += u32::from(self.lines.rest());
        }
        look
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
    fn read(&mut self, lines: &mut Lines) -> (Look, bool) {
        let mut look = Look { matches: 0, is_behind: false };
        if self.is_rewritten() {
            self.position = 0;
            self.mark.clear();
            lines.start_over();
        }
        let start = self.position;
        let mut chunk = vec![0; CHUNK];
        for _ in 0..CHUNKS {
            // An error that stays is told by the probe, which opens the file itself.
            let length = match self.file.read_at(&mut chunk, self.position) {
                Ok(0) => return (look, self.position > start),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return (look, self.position > start),
            };
            look.matches += lines.push(&chunk[..length]);
            self.position += length as u64;
            self.mark.extend_from_slice(&chunk[length.saturating_sub(MARK)..length]);
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
            Tail::new(&self.path(), Lines::new(pattern("up").expect("good")))
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
        let mut tail = Tail::at_end(&log.path(), log.tail().lines);
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
