//! A game that behaves as a row of `tests/data/games.tsv` says, as a process of its own.
//!
//! It is this test binary, started again with one hidden test selected, as the child of the shim. Files in the directory
//! that it is started in are the hand that plays it: it loads until there is a `ready`, and `players` says how many are
//! there. It leaves a file `saved` where it was stopped in the way that it saves on, and no other.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use nix::sys::signal::{SigHandler, Signal, signal};

use super::stand_in_net;
use super::wait::{let_pass, millis};

/// Holds the row.
pub const ROW: &str = "STAND_IN_ROW";
/// Hold the ports of its query, its page in JSON and its remote console, where it has them.
pub const PORTS: [&str; 3] = ["STAND_IN_QUERY", "STAND_IN_JSON", "STAND_IN_CONSOLE"];
/// Who plays, as many of them as there are.
pub const NAMES: [&str; 2] = ["Ann", "Bob"];
/// The password of its page and of its remote console.
pub const PASSWORD: &str = "secret";
/// What the C library gathers before it writes, where stdout is no terminal.
const BLOCK: usize = 4096;

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    line: String,
    columns: Vec<String>,
}

impl Row {
    /// All rows.
    pub fn all() -> Vec<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/games.tsv");
        let table = fs::read_to_string(path).expect("the table is there");
        let mut lines = table.lines().filter(|line| !line.starts_with('#'));
        let columns: Vec<String> = lines.next().expect("a head").split('\t').map(str::to_owned).collect();
        lines.map(|line| Self { line: line.to_owned(), columns: columns.clone() }).collect()
    }

    /// The row of this line.
    fn of(line: &str) -> Self {
        Self::all().into_iter().find(|row| row.line == line).expect("a line of the table")
    }

    /// As it stands in the table.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// A column's value; nothing where that is `-`.
    pub fn get(&self, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|known| known == column).unwrap_or_else(|| panic!("no column {column}"));
        self.line.split('\t').nth(at).filter(|value| *value != "-" && *value != "none")
    }

    /// The file in `examples/games/`.
    pub fn file(&self) -> &str {
        self.get("file").expect("each has one")
    }

    fn number_behind(&self, column: &str, mark: &str) -> Option<i32> {
        self.get(column)?.strip_prefix(mark)?.parse().ok()
    }
}

/// The command line of the process, to be put after `--`.
pub fn command() -> Vec<String> {
    let own = std::env::current_exe().expect("the test binary knows where it is");
    let own = own.to_str().expect("it is text").to_owned();
    let name = format!("{}::plays_its_row", module_path!().split_once("::").expect("a module").1);
    vec![own, name, "--exact".into(), "--ignored".into(), "--nocapture".into()]
}

/// The process itself; does nothing in an ordinary run of all ignored tests.
#[test]
#[ignore = "a process for other tests, not a test"]
fn plays_its_row() {
    if let Ok(row) = std::env::var(ROW) {
        StandIn::new(Row::of(&row)).play();
    }
}

/// How many are there.
pub fn players() -> usize {
    fs::read_to_string("players").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// What happens to it.
pub enum Event {
    /// A line on its console, or a command over its remote one.
    Line(String),
    /// The end of its stdin.
    End,
}

struct StandIn {
    row: Row,
    output: Output,
    events: Receiver<Event>,
    sender: Sender<Event>,
    /// The lines that it still has to be told before it saves.
    wanted: Vec<String>,
    on_it: usize,
}

impl StandIn {
    fn new(row: Row) -> Self {
        let (sender, events) = mpsc::channel();
        let (how, what) = row.get("stop").and_then(|stop| stop.split_once(':')).expect("each is stopped somehow");
        let lines: Vec<String> = what.split("\\n").map(str::to_owned).collect();
        let wanted = if how == "signal" { Vec::new() } else { lines.into_iter().rev().collect() };
        Self { output: Output::new(&row), events, sender, wanted, on_it: 0, row }
    }

    fn play(mut self) -> ! {
        self.take_signals();
        // Only the line on its console comes from there.
        let is_console = self.row.get("stop").is_some_and(|stop| stop.starts_with("line:"));
        read_stdin(self.sender.clone(), is_console);
        // On a line of its own: the test harness has begun one.
        self.output.line("");
        self.output.line("Loading the world");
        fs::write("started", "").expect("its directory can be written");
        let mut is_ready = false;
        loop {
            if !is_ready && Path::new("ready").exists() {
                is_ready = true;
                stand_in_net::serve(&self.row, &self.sender);
                let done = self.row.get("done_line").expect("each has one").to_owned();
                self.output.line(&done);
            }
            self.come_and_go();
            match SIGNAL.load(Ordering::Relaxed) {
                0 => {}
                number => self.signalled(number),
            }
            match self.events.recv_timeout(millis(10)) {
                Ok(Event::Line(line)) if self.wanted.last() == Some(&line) => {
                    self.wanted.pop();
                    if self.wanted.is_empty() {
                        count_down(&line);
                        self.save(self.row.number_behind("exit", "").expect("a number"));
                    }
                }
                Ok(Event::Line(line)) => self.output.line(&format!("Unknown command: {line:?}")),
                Ok(Event::End) => self.at_the_end_of_stdin(),
                Err(_) => {}
            }
        }
    }

    /// Only what it knows is caught: the rest does to it what it does to any process.
    fn take_signals(&self) {
        let term = match self.row.get("term") {
            Some("ignores") => SigHandler::SigIgn,
            Some("dies") => SigHandler::SigDfl,
            _ => SigHandler::Handler(note),
        };
        // SAFETY: the handler only stores a number.
        unsafe { signal(Signal::SIGTERM, term) }.expect("it can be set");
        if let Some(name) = self.row.get("stop").and_then(|stop| stop.strip_prefix("signal:")) {
            let own: Signal = format!("SIG{name}").parse().expect("a signal");
            // SAFETY: as above.
            unsafe { signal(own, SigHandler::Handler(note)) }.expect("it can be set");
        }
    }

    fn signalled(&mut self, number: i32) -> ! {
        let name = Signal::try_from(number).expect("one that was caught").as_str();
        let own = self.row.get("stop").and_then(|stop| stop.strip_prefix("signal:"));
        let column = if own.is_some_and(|own| name == format!("SIG{own}")) { ("exit", "") } else { ("term", "saves:") };
        self.save(self.row.number_behind(column.0, column.1).expect("a number"))
    }

    /// Takes a while, in which it can be killed.
    fn save(&mut self, code: i32) -> ! {
        self.output.line("Saving");
        let_pass(millis(300));
        fs::write("saved", "").expect("its directory can be written");
        self.output.line("Saved");
        self.output.flush();
        exit(code)
    }

    fn at_the_end_of_stdin(&self) {
        match self.row.get("eof") {
            Some("exit") => exit(0),
            Some("spin") => fs::write("spinning", "").expect("its directory can be written"),
            _ => {}
        }
    }

    fn come_and_go(&mut self) {
        let (before, now) = (self.on_it, players());
        self.on_it = now;
        let times = if self.row.get("again").is_some() { 2 } else { 1 };
        for who in before..now {
            self.tell("join_line", who, times);
        }
        for who in now..before {
            self.tell("leave_line", who, 1);
        }
    }

    fn tell(&mut self, column: &str, who: usize, times: usize) {
        let Some(line) = self.row.get(column) else { return };
        let (id, number) = (format!("7656119000000000{who}"), who.to_string());
        let line = line.replace("{name}", NAMES[who]).replace("{id}", &id).replace("{n}", &number);
        for _ in 0..times {
            self.output.line(&line);
        }
    }
}

/// `Shutdown 30 bye`: it plays on for as long as it has told its players, at ten times the speed; a signal that it dies of
/// cuts that short.
fn count_down(line: &str) {
    let seconds: u64 = line.split(' ').find_map(|word| word.parse().ok()).unwrap_or(0);
    let_pass(millis(seconds * 100));
}

static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(number: i32) {
    SIGNAL.store(number, Ordering::Relaxed);
}

fn read_stdin(events: Sender<Event>, is_console: bool) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if is_console && events.send(Event::Line(line.trim_end().to_owned())).is_err() {
                return;
            }
        }
        let _ = events.send(Event::End);
    });
}

/// Its stdout, with what is odd about it.
struct Output {
    is_utf16: bool,
    has_cursor: bool,
    is_block: bool,
    pending: Vec<u8>,
}

impl Output {
    fn new(row: &Row) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self {
            is_utf16: row.get("wine") == Some("utf16") && !is_terminal,
            has_cursor: row.get("wine") == Some("cursor"),
            is_block: row.get("buffer") == Some("block") && !is_terminal,
            pending: Vec::new(),
        }
    }

    fn line(&mut self, text: &str) {
        let text = text.replace("\\e", "\x1b");
        let text = if self.has_cursor { text.replace(' ', "\x1b[1C") } else { text };
        if self.is_utf16 {
            self.pending.extend(format!("{text}\r\n").encode_utf16().flat_map(u16::to_le_bytes));
        } else {
            self.pending.extend(format!("{text}\n").bytes());
        }
        if !self.is_block || self.pending.len() >= BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut stdout = io::stdout().lock();
        // Nobody may read any more.
        let _ = stdout.write_all(&self.pending).and_then(|()| stdout.flush());
        self.pending.clear();
    }
}
