//! The status endpoint: `/healthz`, `/readyz`, `/metrics` and `/status`.
//!
//! One thread with non-blocking sockets and poll(2). Whatever clients do, they
//! get a fixed number of connections, bytes and seconds, and the last
//! descriptors are left to the rest of the shim. It asks the state thread for
//! a report at most twenty times a second and waits for nobody but the kernel:
//! while nobody asks, it sleeps. It decides nothing, and its end is not the
//! shim's: after a bug here it begins anew.

mod connection;
mod json;
mod listener;
mod metrics;
mod page;
mod process;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit};

use self::connection::Connection;
use self::page::Page;
use crate::log_line::write;
use crate::machine::{Event, Notice, Phase, Snapshot};
use crate::net::resolve::Resolver;
use crate::sdk::stats::CallStats;
use crate::settings::StatusAddr;
use crate::settings::insight::ANSWER_TIMEOUT;
use crate::worker::{Worker, panic_message};

/// Connections at the same time; one more closes the oldest.
const CONNECTIONS: usize = 32;
/// New connections a turn, so that those who are there get theirs.
const ACCEPTED_A_TURN: usize = 16;
/// Descriptors that are left for probes, the scrape and the SDK client, however many clients come.
const SPARE_DESCRIPTORS: u64 = 16;
/// Pause before the next accept when the system has no descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// Between tries to listen.
const LISTEN_INTERVAL: Duration = Duration::from_secs(1);
/// A report this young answers the next client too.
const FRESH: Duration = Duration::from_millis(50);
/// The state thread usually answers within microseconds: wait for it before looking at the sockets again.
const ANSWER_SOON: Duration = Duration::from_millis(10);
/// And look for its answer this often later on.
const ANSWER_LOOK: Duration = Duration::from_millis(20);

/// What the state thread tells the endpoint.
#[derive(Debug)]
pub enum News {
    /// The shim is in this phase now.
    Phase(Phase),
    /// Answer to [`Event::StatusAsked`].
    Report(Box<Report>),
}

/// How things stand, for `/status` and `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The machine.
    pub snapshot: Snapshot,
    /// The SDK client.
    pub calls: CallStats,
    /// Where the SDK server is looked for.
    pub sdk_endpoint: String,
}

impl Report {
    fn mode(&self) -> &'static str {
        if self.snapshot.wrapper { "wrapper" } else { "sidecar" }
    }
}

/// Starts the endpoint.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn(addr: StatusAddr, events: Sender<Event>) -> io::Result<Worker<News>> {
    Worker::spawn("status", events, move |news, events| {
        let mut phase = Phase::Waiting;
        loop {
            let mut door = Door::new(&addr, news, events, phase);
            match catch_unwind(AssertUnwindSafe(|| door.serve())) {
                Ok(()) => return,
                Err(panic) => {
                    phase = door.phase;
                    write(&Notice::StatusFailed { message: panic_message(&*panic) });
                    std::thread::sleep(LISTEN_INTERVAL);
                }
            }
        }
    })
}

/// Asserts for arbitrary bytes what has to hold for every request's head: it does not matter in which pieces it comes,
/// and what cannot be understood is answered. Called by the fuzz target and by the replay of its corpus.
///
/// # Panics
///
/// When an invariant does not hold: a bug in this module.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let bytes = bytes.get(..page::REQUEST_CAP).unwrap_or(bytes);
    let whole = page::read(bytes);
    if let Some(Err(answer)) = &whole {
        assert!(answer.starts_with(b"HTTP/1.1 4") && answer.windows(4).any(|end| end == b"\r\n\r\n"), "{answer:?}");
    }
    let first = (0..bytes.len()).find_map(|end| page::read(&bytes[..end]));
    assert!(first.is_none() || first == whole, "{first:?} of a part, {whole:?} of the whole");
}

struct Door<'a> {
    addr: &'a StatusAddr,
    news: &'a Receiver<News>,
    events: &'a Sender<Event>,
    resolver: Resolver,
    listeners: Vec<TcpListener>,
    /// The next try to listen, while there are none.
    listen_at: Instant,
    /// What was said about listening last.
    said: Option<Result<(), String>>,
    /// No accepting before this.
    accept_at: Instant,
    /// The oldest first.
    connections: Vec<Connection>,
    phase: Phase,
    report: Option<Known>,
    /// A question is with the state thread.
    asked: bool,
    /// It is about the GameServer too.
    asked_game_server: bool,
}

/// The last report.
struct Known {
    report: Report,
    at: Instant,
    /// What it says of the GameServer is no older than it may be.
    game_server: bool,
}

impl<'a> Door<'a> {
    fn new(addr: &'a StatusAddr, news: &'a Receiver<News>, events: &'a Sender<Event>, phase: Phase) -> Self {
        let now = Instant::now();
        Self {
            addr,
            news,
            events,
            resolver: Resolver::new(),
            listeners: Vec::new(),
            listen_at: now,
            said: None,
            accept_at: now,
            connections: Vec::new(),
            phase,
            report: None,
            asked: false,
            asked_game_server: false,
        }
    }

    /// Returns when the shim has no use for it any more.
    fn serve(&mut self) {
        while self.turn().is_continue() {}
    }

    fn turn(&mut self) -> ControlFlow<()> {
        self.listen();
        self.wait();
        let now = Instant::now();
        self.connections.retain(|connection| !connection.is_over(now));
        self.accept(now);
        self.answer()?;
        let now = Instant::now();
        self.connections.retain(|connection| !connection.is_over(now));
        ControlFlow::Continue(())
    }

    fn listen(&mut self) {
        if !self.listeners.is_empty() || Instant::now() < self.listen_at {
            return;
        }
        self.listen_at = Instant::now() + LISTEN_INTERVAL;
        let outcome = listener::open(self.addr, &mut self.resolver).map(|listeners| self.listeners = listeners);
        if self.said.as_ref() != Some(&outcome) {
            let addr = self.addr.to_string();
            write(&match outcome.clone() {
                Ok(()) => Notice::StatusServed { addr },
                Err(error) => Notice::StatusNotServed { addr, error },
            });
            self.said = Some(outcome);
        }
    }

    /// Waits until something can be done, and does it for the connections that are there.
    fn wait(&mut self) {
        let now = Instant::now();
        let may_accept = self.accept_at <= now;
        let listening = if may_accept { self.listeners.as_slice() } else { &[] };
        let mut wake = self.connections.iter().map(Connection::deadline).min();
        let mut earlier = |at: Instant| wake = Some(wake.map_or(at, |wake| wake.min(at)));
        if self.listeners.is_empty() {
            earlier(self.listen_at);
        }
        if !may_accept {
            earlier(self.accept_at);
        }
        if self.connections.iter().any(|connection| connection.question().is_some()) {
            earlier(now + ANSWER_LOOK);
        }
        let connected =
            self.connections.iter().map(|connection| PollFd::new(connection.as_fd(), connection.interest()));
        let accepting = listening.iter().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN));
        let mut sockets: Vec<PollFd<'_>> = connected.chain(accepting).collect();
        let timeout = wake.map_or(PollTimeout::NONE, |at| timeout(at.saturating_duration_since(now)));
        if poll(&mut sockets, timeout).is_err() {
            return;
        }
        let signs: Vec<PollFlags> = sockets.iter().map(|socket| socket.revents().unwrap_or(PollFlags::all())).collect();
        let broken = PollFlags::POLLERR | PollFlags::POLLNVAL;
        let (connected, accepting) = signs.split_at(self.connections.len());
        // A listener hangs up when somebody has taken its socket away.
        let lost = accepting.iter().any(|signs| signs.intersects(broken | PollFlags::POLLHUP));
        let now = Instant::now();
        for (connection, signs) in self.connections.iter_mut().zip(connected) {
            if signs.intersects(broken) {
                connection.give_up();
            } else if !signs.is_empty() {
                // Both directions are at their end: a client that waits for its answer has gone.
                if signs.contains(PollFlags::POLLHUP) && connection.question().is_some() {
                    connection.give_up();
                }
                connection.advance(now);
            }
        }
        if lost {
            self.lose_listeners("the socket is gone");
        }
    }

    fn accept(&mut self, now: Instant) {
        if self.accept_at > now {
            return;
        }
        let mut room = ACCEPTED_A_TURN;
        for at in 0..self.listeners.len() {
            while room > 0 {
                match self.listeners[at].accept() {
                    Ok((stream, _)) => {
                        room -= 1;
                        self.admit(stream, now);
                    }
                    Err(error) => match error.raw_os_error() {
                        // Nobody there, or gone before it was their turn.
                        _ if is_passing(&error) => break,
                        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
                            self.accept_at = now + ACCEPT_PAUSE;
                            return;
                        }
                        _ => return self.lose_listeners(&error.to_string()),
                    },
                }
            }
        }
    }

    fn admit(&mut self, stream: TcpStream, now: Instant) {
        if is_among_the_last(&stream) {
            return;
        }
        let Ok(mut connection) = Connection::new(stream, now) else { return };
        // Its request is often there already.
        connection.advance(now);
        if self.connections.len() >= CONNECTIONS {
            self.connections.remove(0);
        }
        self.connections.push(connection);
    }

    fn lose_listeners(&mut self, why: &str) {
        self.listeners.clear();
        self.listen_at = Instant::now() + LISTEN_INTERVAL;
        let error = format!("listening has ended: {why}");
        write(&Notice::StatusNotServed { addr: self.addr.to_string(), error: error.clone() });
        self.said = Some(Err(error));
    }

    /// Answers every client that can be answered, and asks the state thread where needed.
    fn answer(&mut self) -> ControlFlow<()> {
        self.hear()?;
        let now = Instant::now();
        let phase = self.phase;
        // The phase is told, so that a kubelet with a timeout of a second has its answer during a slow SDK call too.
        self.each_question(|request, _| (request.page == Page::Readyz).then(|| page::ready(request, phase)));
        if self.connections.iter().all(|connection| connection.question().is_none()) {
            return ControlFlow::Continue(());
        }
        // A report for `/healthz` alone shows an old GameServer.
        let game_server = self
            .connections
            .iter()
            .any(|connection| connection.question().is_some_and(|(request, _)| request.page != Page::Healthz));
        if !self.is_fresh(now, game_server) {
            if !self.asked {
                self.asked = true;
                self.asked_game_server = game_server;
                if self.events.send(Event::StatusAsked { game_server }).is_err() {
                    return ControlFlow::Break(());
                }
                match self.news.recv_timeout(ANSWER_SOON) {
                    Ok(news) => self.take(news),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
                }
            }
            self.hear()?;
        }
        let now = Instant::now();
        let report = self.report.take();
        let fresh = report.as_ref().filter(|known| now.saturating_duration_since(known.at) < FRESH);
        self.each_question(|request, since| match fresh {
            Some(known) if known.game_server || request.page == Page::Healthz => {
                Some(page::answered(request, &known.report))
            }
            _ if now.saturating_duration_since(since) >= ANSWER_TIMEOUT => Some(page::unanswered(request)),
            _ => None,
        });
        self.report = report;
        ControlFlow::Continue(())
    }

    fn is_fresh(&self, now: Instant, game_server: bool) -> bool {
        self.report
            .as_ref()
            .is_some_and(|known| now.saturating_duration_since(known.at) < FRESH && (known.game_server || !game_server))
    }

    fn each_question(&mut self, answer: impl Fn(page::Request, Instant) -> Option<Vec<u8>>) {
        let now = Instant::now();
        for connection in &mut self.connections {
            let bytes = connection.question().and_then(|(request, since)| answer(request, since));
            if let Some(bytes) = bytes {
                connection.answer(bytes, now);
            }
        }
    }

    /// Takes all news there are.
    fn hear(&mut self) -> ControlFlow<()> {
        loop {
            match self.news.try_recv() {
                Ok(news) => self.take(news),
                Err(TryRecvError::Empty) => return ControlFlow::Continue(()),
                Err(TryRecvError::Disconnected) => return ControlFlow::Break(()),
            }
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Phase(phase) => self.phase = phase,
            News::Report(report) => {
                self.asked = false;
                self.phase = report.snapshot.phase;
                let game_server = self.asked_game_server;
                self.report = Some(Known { report: *report, at: Instant::now(), game_server });
            }
        }
    }
}

/// Rounded up, so that poll does not wake before the time.
fn timeout(left: Duration) -> PollTimeout {
    let millis = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
    PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted | ConnectionReset)
        || matches!(error.raw_os_error(), Some(libc::EPROTO | libc::EPERM | libc::ENETDOWN | libc::EHOSTUNREACH))
}

/// Descriptors are numbered from the lowest free one, so a high number means that few are left.
fn is_among_the_last(stream: &TcpStream) -> bool {
    let number = u64::try_from(stream.as_fd().as_raw_fd()).unwrap_or(u64::MAX);
    getrlimit(Resource::RLIMIT_NOFILE).is_ok_and(|(limit, _)| number.saturating_add(SPARE_DESCRIPTORS) >= limit)
}
