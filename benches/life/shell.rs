//! What a game's image does where there is no shim: a shell script around busybox's nc and wget, as they are written.
//!
//! It speaks the SDK server's HTTP side; a fake game stands in for that one and remembers when it was asked.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::support::{Game, wait};

const LOOP: &str = r#"
open() { busybox nc 127.0.0.1 "$GAME" -e true </dev/null >/dev/null 2>&1; }
post() { busybox wget -q -O /dev/null --header 'Content-Type: application/json' --post-data '{}' "http://127.0.0.1:$SDK$1"; }
trap 'post /shutdown; exit 0' TERM
until open; do sleep 1; done
post /ready
while open; do post /health; sleep 5; done
"#;

/// The running script.
pub struct Shell {
    child: Child,
    /// When it was started.
    pub started: Instant,
}

impl Shell {
    /// Starts the script; `None` where there is no busybox.
    pub fn start(sdk: &Game, game: &Game) -> Option<Self> {
        Command::new("busybox").arg("true").status().ok()?;
        let started = Instant::now();
        let mut command = Command::new("busybox");
        command.args(["sh", "-c", LOOP]).env("SDK", sdk.port().to_string()).env("GAME", game.port().to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        Some(Self { child, started })
    }

    /// Its process number.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid is an int")
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        let _ = kill(Pid::from_raw(self.pid()), Signal::SIGTERM);
    }

    /// Ends it and waits for it: from then on its use is in that of this process's children.
    pub fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// When the SDK server was asked for this path, the first time after `since`.
pub fn call(sdk: &Game, path: &str, since: Instant, within: Duration) -> Option<Instant> {
    wait::poll(within, || {
        let mut requests = sdk.requests().into_iter();
        requests.find(|request| request.path == path && request.at >= since).map(|request| request.at)
    })
}
