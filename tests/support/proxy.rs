//! A TCP proxy in front of any port, which passes, delays, drips, cuts, hangs or refuses as the test says.
//!
//! It knows nothing of what it carries.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::listener::{Listener, OnConnection};
use super::ports::Port;
use super::wait::{millis, secs};

/// What the proxy does from now on, with the connections it has and those to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Forwards at once.
    Pass,
    /// Forwards each piece this much later.
    Delay(Duration),
    /// Closes what there is, and whatever is accepted from now on.
    Cut,
    /// Accepts, keeps open, forwards nothing.
    Hang,
    /// Closes what there is, and does not listen.
    Refuse,
    /// Forwards so many bytes a second.
    Drip(u32),
}

/// See the module.
pub struct Proxy {
    shared: Arc<Shared>,
    listener: Listener,
}

struct Shared {
    upstream: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    mode: Mode,
    streams: Vec<TcpStream>,
    accepted: Vec<Instant>,
    gone: bool,
}

impl Proxy {
    /// One that passes, in front of `upstream` (which need not be there yet).
    pub fn in_front_of(upstream: SocketAddr) -> Self {
        let state = State { mode: Mode::Pass, streams: Vec::new(), accepted: Vec::new(), gone: false };
        let shared = Arc::new(Shared { upstream, state: Mutex::new(state), changed: Condvar::new() });
        let on_connection: OnConnection = {
            let shared = Arc::clone(&shared);
            Arc::new(move |client| shared.carry(&client))
        };
        let mut listener = Listener::closed(Port::reserve(), on_connection);
        listener.open();
        Self { shared, listener }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.listener.addr().port()
    }

    /// Changes what it does; holds when it returns.
    pub fn set(&mut self, mode: Mode) {
        if mode == Mode::Refuse {
            self.listener.close();
        }
        {
            let mut state = self.shared.lock();
            state.mode = mode;
            if matches!(mode, Mode::Cut | Mode::Refuse) {
                state.cut();
            }
        }
        self.shared.changed.notify_all();
        if mode != Mode::Refuse {
            self.listener.open();
        }
    }

    /// When each connection was accepted, so far.
    pub fn accepted(&self) -> Vec<Instant> {
        self.shared.lock().accepted.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.close();
        let mut state = self.shared.lock();
        state.gone = true;
        state.cut();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl State {
    /// Remembers a stream so that it can be cut; `false` when it is to be cut right away.
    fn keep(&mut self, stream: &TcpStream) -> bool {
        if self.gone || matches!(self.mode, Mode::Cut | Mode::Refuse) {
            return false;
        }
        match stream.try_clone() {
            Ok(copy) => {
                self.streams.push(copy);
                true
            }
            Err(_) => false,
        }
    }

    fn cut(&mut self) {
        for stream in self.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries one connection until either end closes or the mode says so.
    fn carry(self: &Arc<Self>, client: &TcpStream) {
        {
            let mut state = self.lock();
            state.accepted.push(Instant::now());
            if !state.keep(client) {
                return;
            }
            // A hanging proxy does not even connect: there may be nothing behind it.
            while state.mode == Mode::Hang && !state.gone {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.join(client);
        // Whoever was cut off has ended by now; a copy of its socket would stay for ever.
        self.lock().streams.retain(|stream| stream.peer_addr().is_ok());
    }

    /// Connects to what is behind and carries both ways until the end.
    fn join(self: &Arc<Self>, client: &TcpStream) {
        let Ok(server) = TcpStream::connect_timeout(&self.upstream, secs(5)) else {
            let _ = client.shutdown(Shutdown::Both);
            return;
        };
        if !self.lock().keep(&server) {
            let _ = client.shutdown(Shutdown::Both);
            return;
        }
        let (Ok(from_client), Ok(to_client), Ok(from_server)) =
            (client.try_clone(), client.try_clone(), server.try_clone())
        else {
            return;
        };
        let back = {
            let shared = Arc::clone(self);
            thread::spawn(move || shared.pump(from_server, to_client))
        };
        self.pump(from_client, server);
        let _ = back.join();
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        loop {
            let size = match self.lock().mode {
                Mode::Drip(_) => 1,
                _ => buffer.len(),
            };
            let read = match from.read(&mut buffer[..size]) {
                Ok(0) | Err(_) => break,
                Ok(read) => read,
            };
            if !self.may_forward() || to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        // Half-close: what comes the other way may still be under way.
        let _ = to.shutdown(Shutdown::Write);
    }

    /// Waits as the mode says; `false` when this connection is to end.
    fn may_forward(&self) -> bool {
        let mut state = self.lock();
        loop {
            if state.gone {
                return false;
            }
            let pause = match state.mode {
                Mode::Pass => return true,
                Mode::Cut | Mode::Refuse => return false,
                Mode::Delay(delay) => delay,
                Mode::Drip(rate) => secs(1) / rate.max(1),
                Mode::Hang => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            let mode = state.mode;
            let (again, waited) = self
                .changed
                .wait_timeout_while(state, pause.max(millis(1)), |state| state.mode == mode && !state.gone)
                .unwrap_or_else(PoisonError::into_inner);
            if waited.timed_out() {
                return true;
            }
            state = again;
        }
    }
}
