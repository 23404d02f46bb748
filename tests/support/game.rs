//! A fake game server in this process: a TCP port, an HTTP health page and a metrics page, all as bad as a
//! test needs them.
//!
//! It says nothing of its own accord and logs nothing; for a game that can be frozen see `game_process.rs`.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::listener::{Listener, OnConnection};
use super::ports::Port;
use super::wait::{self, secs};

/// How a request, or a bare connection, is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<String>,
    body: Vec<u8>,
    /// The body is this many bytes of `body` again and again.
    repeated_to: Option<usize>,
    delay: Duration,
    drip: Option<u32>,
    silent: bool,
    cut: bool,
}

impl Reply {
    /// An HTTP answer with this status and no body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            repeated_to: None,
            delay: Duration::ZERO,
            drip: None,
            silent: false,
            cut: false,
        }
    }

    /// 200 with this text (any bytes) as body.
    pub fn text(body: impl AsRef<[u8]>) -> Self {
        Self { body: body.as_ref().to_owned(), ..Self::status(200) }
    }

    /// 302 to `location`.
    pub fn redirect(location: &str) -> Self {
        Self { headers: vec![format!("Location: {location}")], ..Self::status(302) }
    }

    /// 200 with a body of `size` bytes, `line` again and again.
    pub fn huge(line: &str, size: usize) -> Self {
        Self { repeated_to: Some(size), ..Self::text(line) }
    }

    /// Accepts, keeps the connection open, never says a word.
    pub fn silence() -> Self {
        Self { silent: true, ..Self::status(200) }
    }

    /// The same, but its head promises a byte that does not come before the connection ends.
    pub fn cut(self) -> Self {
        Self { cut: true, ..self }
    }

    /// The same, begun this much later.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The same, so many bytes a second, headers included.
    pub fn dripping(self, bytes_per_second: u32) -> Self {
        Self { drip: Some(bytes_per_second), ..self }
    }

    /// The same with another status.
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// One request that came in.
#[derive(Clone, Debug)]
pub struct Request {
    /// When its head was complete.
    pub at: Instant,
    /// Its path and query.
    pub path: String,
    /// Request line and headers, as they came.
    pub head: String,
}

/// See the module.
pub struct Game {
    shared: Arc<Shared>,
    listener: Listener,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    default: Reply,
    once: Vec<Reply>,
    paths: Vec<(String, Reply)>,
    connections: Vec<Instant>,
    requests: Vec<Request>,
    streams: Vec<(usize, TcpStream)>,
    served: usize,
    gone: bool,
}

impl Game {
    /// One whose port is reserved and refuses; once open it answers every request with 200.
    pub fn closed() -> Self {
        Self::closed_on(Port::reserve())
    }

    /// The same, open.
    pub fn open() -> Self {
        let mut game = Self::closed();
        game.listen();
        game
    }

    /// The same on any loopback port, closed.
    pub fn closed_on(port: Port) -> Self {
        let state = State {
            default: Reply::status(200),
            once: Vec::new(),
            paths: Vec::new(),
            connections: Vec::new(),
            requests: Vec::new(),
            streams: Vec::new(),
            served: 0,
            gone: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let on_connection: OnConnection = {
            let shared = Arc::clone(&shared);
            Arc::new(move |stream| {
                let _ = shared.serve(stream);
            })
        };
        Self { shared, listener: Listener::closed(port, on_connection) }
    }

    /// Opens the port.
    pub fn listen(&mut self) {
        self.shared.lock().gone = false;
        self.listener.open();
    }

    /// Dies: closes the port and every connection.
    pub fn die(&mut self) {
        self.listener.close();
        self.shared.end_streams();
    }

    /// The port's number.
    pub fn port(&self) -> u16 {
        self.addr().port()
    }

    /// Where it listens once it is open.
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// `http://ADDR/path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr())
    }

    /// How all requests are answered from now on.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.shared.lock().default = reply;
        self
    }

    /// How one request to come is answered; several are used up in order.
    pub fn reply_once(&self, reply: Reply) -> &Self {
        self.shared.lock().once.push(reply);
        self
    }

    /// How requests for this path are answered from now on.
    pub fn reply_at(&self, path: &str, reply: Reply) -> &Self {
        let mut state = self.shared.lock();
        state.paths.retain(|(known, _)| known != path);
        state.paths.push((path.to_owned(), reply));
        drop(state);
        self
    }

    /// When each connection came, so far.
    pub fn connections(&self) -> Vec<Instant> {
        self.shared.lock().connections.clone()
    }

    /// Each request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Forgets the connections and requests so far, for a game that is to live for hours.
    pub fn forget(&self) {
        let mut state = self.shared.lock();
        state.connections.clear();
        state.requests.clear();
    }

    /// Waits until there have been so many connections.
    #[track_caller]
    pub fn wait_for_connections(&self, count: usize, within: Duration) {
        wait::until_true(&format!("{count} connections to the game"), within, || self.connections().len() >= count);
    }

    /// Waits until there have been so many requests.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize, within: Duration) {
        wait::until_true(&format!("{count} requests to the game"), within, || self.requests().len() >= count);
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        self.die();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_streams(&self) {
        let mut state = self.lock();
        state.gone = true;
        for (_, stream) in state.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let copy = stream.try_clone()?;
        let (number, silent) = {
            let mut state = self.lock();
            state.connections.push(Instant::now());
            state.served += 1;
            let number = state.served;
            state.streams.push((number, copy));
            (number, state.default.silent && state.once.is_empty() && state.paths.is_empty())
        };
        let outcome = self.converse(stream, silent);
        self.lock().streams.retain(|(other, _)| *other != number);
        outcome
    }

    fn converse(&self, mut stream: TcpStream, silent: bool) -> std::io::Result<()> {
        if !silent {
            while let Some(request) = read_head(&mut stream)? {
                let closes = request.head.to_ascii_lowercase().contains("connection: close");
                let reply = self.lock().answer(request);
                self.write(&mut stream, &reply)?;
                if closes {
                    stream.shutdown(Shutdown::Write)?;
                }
            }
        }
        // Silent or not, the connection ends with its peer or with the game.
        stream.set_read_timeout(None)?;
        let mut rest = [0; 1024];
        while matches!(stream.read(&mut rest), Ok(read) if read > 0) {}
        Ok(())
    }

    fn write(&self, stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
        use std::fmt::Write as _;
        if reply.silent {
            self.pause(secs(3600));
        }
        self.pause(reply.delay);
        let size = reply.repeated_to.unwrap_or(reply.body.len());
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
        // 1xx, 204 and 304 have no body and may not promise one.
        if !matches!(reply.status, 204 | 304) {
            let _ = write!(head, "Content-Length: {}\r\n", size + usize::from(reply.cut));
        }
        for header in &reply.headers {
            let _ = write!(head, "{header}\r\n");
        }
        head += "\r\n";
        let body: Vec<u8> =
            reply.body.iter().copied().cycle().take(size.min(reply.body.len().max(1024 * 1024))).collect();
        if let Some(rate) = reply.drip {
            for byte in head.as_bytes().iter().chain(&body) {
                stream.write_all(&[*byte])?;
                self.pause(secs(1) / rate.max(1));
            }
            return Ok(());
        }
        stream.write_all(head.as_bytes())?;
        let mut left = size;
        while left > 0 {
            // Whole pieces, so that a line that is repeated stays whole too.
            let whole = body.len() / reply.body.len() * reply.body.len();
            let piece = &body[..left.min(whole)];
            stream.write_all(piece)?;
            left -= piece.len();
        }
        if reply.cut {
            stream.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// Lets time pass, unless the game dies.
    fn pause(&self, time: Duration) {
        if !time.is_zero() {
            let _ = self.changed.wait_timeout_while(self.lock(), time, |state| !state.gone);
        }
    }
}

impl State {
    fn answer(&mut self, request: Request) -> Reply {
        let path = request.path.clone();
        self.requests.push(request);
        if let Some((_, reply)) = self.paths.iter().find(|(known, _)| *known == path) {
            return reply.clone();
        }
        if self.once.is_empty() { self.default.clone() } else { self.once.remove(0) }
    }
}

/// Reads one request's head; `None` when the peer has nothing (more) to ask.
fn read_head(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > 64 * 1024 || stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    Ok(Some(Request { at: Instant::now(), path, head }))
}
