//! What a process writes, line by line, with the instant at which each line came.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Where a line was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line, without its end.
#[derive(Clone, Debug)]
pub struct Line {
    /// When it was read.
    pub at: Instant,
    /// Where it was written.
    pub stream: Stream,
    /// Invalid UTF-8 is replaced.
    pub text: String,
}

/// All lines so far. Clones show the same lines.
#[derive(Clone)]
pub struct Output {
    since: Instant,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<Line>,
    readers: usize,
}

impl Output {
    /// An empty one; lines are shown relative to now.
    pub fn new() -> Self {
        Self { since: Instant::now(), shared: Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }) }
    }

    /// Reads `pipe` to its end on a thread of its own.
    pub fn read(&self, stream: Stream, pipe: impl Read + Send + 'static) {
        self.lock().readers += 1;
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while matches!(pipe.read_until(b'\n', &mut line), Ok(read) if read > 0) {
                let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                line.clear();
                shared.lock().lines.push(Line { at: Instant::now(), stream, text });
                shared.changed.notify_all();
            }
            shared.lock().readers -= 1;
            shared.changed.notify_all();
        });
    }

    /// Every line so far.
    pub fn lines(&self) -> Vec<Line> {
        self.lock().lines.clone()
    }

    /// Every line so far that contains `part`.
    pub fn matching(&self, part: &str) -> Vec<Line> {
        self.lock().lines.iter().filter(|line| line.text.contains(part)).cloned().collect()
    }

    /// The first line from number `from` on that `wanted` accepts, or `None` once `within` has passed (at once
    /// where nothing can write any more).
    pub fn wait(&self, from: usize, within: Duration, wanted: impl Fn(&Line) -> bool) -> Option<Line> {
        let deadline = Instant::now() + within;
        let mut state = self.lock();
        loop {
            if let Some(line) = state.lines.iter().skip(from).find(|line| wanted(line)) {
                return Some(line.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.readers == 0 {
                return None;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until both pipes are at their end, at most `within`: some grandchild may still hold them.
    pub fn wait_for_end(&self, within: Duration) {
        let state = self.lock();
        let _ = self.shared.changed.wait_timeout_while(state, within, |state| state.readers > 0);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.lines() {
            let mark = if line.stream == Stream::Stdout { "out" } else { "err" };
            writeln!(f, "{:9.3}s {mark}| {}", line.at.saturating_duration_since(self.since).as_secs_f64(), line.text)?;
        }
        Ok(())
    }
}
