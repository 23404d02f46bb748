//! A game as a process of its own, for what only a process can suffer: SIGSTOP, SIGCONT, SIGKILL.
//!
//! It is this test binary, started again with one hidden test selected. It serves one port with HTTP 200 and
//! knows nothing else; [`super::game`] is richer and lives in the test's own process.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use nix::sys::signal::Signal;

use super::proc;
use super::shim::{Builder, Shim};
use super::wait::{self, secs};

const VARIABLE: &str = "AGONES_SHIM_TESTS_GAME";
const LINE: &str = "game: listening on ";

/// See the module.
pub struct GameProcess {
    process: Shim,
    addr: SocketAddr,
}

impl GameProcess {
    /// Starts it and waits until it serves.
    #[track_caller]
    pub fn start() -> Self {
        let own = std::env::current_exe().expect("the test binary knows where it is");
        let name = format!("{}::serves_while_asked_to", module_path!().split_once("::").expect("a module").1);
        let mut process =
            Builder::of(own).args([name.as_str(), "--exact", "--ignored", "--nocapture"]).var(VARIABLE, "1").spawn();
        let line = process.wait_for_line(LINE, secs(20)).text;
        let addr = line.rsplit(' ').next().unwrap_or_default();
        Self { addr: addr.parse().unwrap_or_else(|_| panic!("no address in {line:?}")), process }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The port's number.
    pub fn port(&self) -> u16 {
        self.addr.port()
    }

    /// Its health page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.addr)
    }

    /// Stops it; it accepts connections (the kernel does) and answers none.
    pub fn freeze(&self) {
        self.process.signal(Signal::SIGSTOP);
        wait::until_true("a stopped game", secs(5), || proc::state(self.process.pid()) == Some('T'));
    }

    /// Lets it run on.
    pub fn thaw(&self) {
        self.process.signal(Signal::SIGCONT);
    }

    /// Kills it, and waits until it is gone and its port refuses.
    #[track_caller]
    pub fn kill(&mut self) {
        self.process.signal(Signal::SIGKILL);
        self.process.expect_exit(secs(10));
    }
}

/// The game itself; does nothing in an ordinary run of all ignored tests.
#[test]
#[ignore = "a process for other tests, not a test"]
fn serves_while_asked_to() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    // On a line of its own: the test harness has begun one.
    println!("\n{LINE}{}", listener.local_addr().expect("bound"));
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut head = BufReader::new(&stream).lines().map_while(Result::ok);
        if head.any(|line| line.is_empty()) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    }
}
