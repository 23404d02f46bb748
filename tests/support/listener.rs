//! A listener that can be opened and closed at run time on a port that stays the same.
//!
//! What a connection means is its owner's business: each accepted stream is handed to one closure, on a
//! thread of its own.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::ports::Port;
use super::wait::secs;

/// What is done with an accepted stream.
pub type OnConnection = Arc<dyn Fn(TcpStream) + Send + Sync>;

/// See the module.
pub struct Listener {
    port: Port,
    on_connection: OnConnection,
    open: Option<Open>,
}

struct Open {
    closing: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Listener {
    /// A closed one on `port`.
    pub fn closed(port: Port, on_connection: OnConnection) -> Self {
        Self { port, on_connection, open: None }
    }

    /// Where it listens once it is open.
    pub fn addr(&self) -> SocketAddr {
        self.port.addr()
    }

    /// From now on connections are accepted.
    pub fn open(&mut self) {
        if self.open.is_some() {
            return;
        }
        let listener = bind(self.addr());
        let closing = Arc::new(AtomicBool::new(false));
        let thread = {
            let closing = Arc::clone(&closing);
            let on_connection = Arc::clone(&self.on_connection);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    if closing.load(Ordering::SeqCst) {
                        break;
                    }
                    let Ok(stream) = stream else { continue };
                    let on_connection = Arc::clone(&on_connection);
                    thread::spawn(move || on_connection(stream));
                }
            })
        };
        self.open = Some(Open { closing, thread });
    }

    /// From now on connections are refused; those that were accepted live on.
    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.closing.store(true, Ordering::SeqCst);
            // accept(2) has no deadline: one connection of our own wakes it.
            let _ = TcpStream::connect_timeout(&self.addr(), secs(5));
            let _ = open.thread.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

/// Binds, where connections of the last listener on this port may still be ending.
fn bind(addr: SocketAddr) -> TcpListener {
    super::wait::until(&format!("a listener on {addr}"), secs(5), || TcpListener::bind(addr).ok())
}
