//! systemd is told what it waits for: READY=1, STATUS=, STOPPING=1, WATCHDOG=1.
//!
//! A projection of the machine: what is said follows from two views of it, the
//! last one that was told and the one now. Nothing here waits: a datagram that
//! finds no room is sent with the next turn of the loop.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use crate::machine::{Notice, Phase, View};
use crate::settings::Variable;

/// The socket of the service manager.
#[derive(Debug)]
pub struct Notifier {
    socket: UnixDatagram,
    manager: SocketAddr,
    /// `WatchdogSec=`, where it is set.
    watchdog: Option<Duration>,
    /// What was told last.
    told: Option<View>,
    warned: bool,
}

impl Notifier {
    /// `None` where there is no service manager.
    ///
    /// # Errors
    /// `NOTIFY_SOCKET` names no socket, or the system refuses one.
    pub fn new(environment: &[Variable]) -> io::Result<Option<Self>> {
        let Some(name) = value(environment, "NOTIFY_SOCKET") else { return Ok(None) };
        // A leading @ stands for the NUL byte of an abstract socket, as in sd_notify(3).
        let manager = match name.as_bytes().split_first() {
            Some((b'@', abstract_name)) => SocketAddr::from_abstract_name(abstract_name)?,
            _ => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Some(Self { socket, manager, watchdog: watchdog(environment), told: None, warned: false }))
    }

    /// Tells what has changed since the last turn of the loop. Returns what the log should say about it.
    pub fn turn(&mut self, view: View) -> Option<Notice> {
        let text = message(self.told, view, self.watchdog.is_some());
        if text.is_empty() || self.send(&text) {
            self.told = Some(view);
        }
        let watchdog = self.watchdog?;
        // From Ready on the GameServer's period is known, and with it how long a dead game may go unnoticed.
        let too_short = view.phase == Phase::Ready && watchdog <= view.patience;
        (too_short && !std::mem::replace(&mut self.warned, true))
            .then_some(Notice::WatchdogTooShort { watchdog, needed: view.patience })
    }

    /// False where the manager is slow: then the same is said again.
    fn send(&self, text: &str) -> bool {
        match self.socket.send_to_addr(text.as_bytes(), &self.manager) {
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            Ok(_) => true,
        }
    }
}

/// What follows from the last view that was told and the one now; empty where nothing does.
fn message(told: Option<View>, now: View, watched: bool) -> String {
    let mut lines = Vec::new();
    // The last step of a stop is no news.
    let phase = now.phase.min(Phase::Stopping);
    if told.map(|told| told.phase.min(Phase::Stopping)) != Some(phase) {
        match phase {
            Phase::Ready => lines.push("READY=1"),
            Phase::Stopping | Phase::Gone => lines.push("STOPPING=1"),
            Phase::Waiting | Phase::Served => {}
        }
        lines.push(match phase {
            Phase::Waiting => "STATUS=waiting for the game server",
            Phase::Served => "STATUS=the game server is up, waiting for Agones to show Ready",
            Phase::Ready => "STATUS=ready",
            Phase::Stopping | Phase::Gone => "STATUS=stopping",
        });
    }
    // While the game server lives, so does the watchdog. Before and after, the loop's own life is what there is.
    let alive = match phase {
        Phase::Waiting | Phase::Stopping | Phase::Gone => true,
        Phase::Served | Phase::Ready => told.is_none_or(|told| told.rounds_passed != now.rounds_passed),
    };
    if watched && alive {
        lines.push("WATCHDOG=1");
    }
    lines.join("\n")
}

/// `WATCHDOG_USEC`, if it is meant for this process.
fn watchdog(environment: &[Variable]) -> Option<Duration> {
    let number = |name| value(environment, name)?.to_str()?.parse::<u64>().ok();
    let for_us =
        value(environment, "WATCHDOG_PID").is_none() || number("WATCHDOG_PID") == Some(u64::from(std::process::id()));
    number("WATCHDOG_USEC").filter(|&micros| micros > 0 && for_us).map(Duration::from_micros)
}

fn value<'a>(environment: &'a [Variable], name: &str) -> Option<&'a OsStr> {
    let found = environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(phase: Phase, rounds_passed: u64) -> View {
        View { phase, rounds_passed, patience: Duration::from_secs(20) }
    }

    #[test]
    fn a_life_is_told_step_by_step() {
        use Phase::{Gone, Ready, Served, Stopping, Waiting};
        let steps = [
            (Waiting, 0, "STATUS=waiting for the game server\nWATCHDOG=1"),
            (Waiting, 0, "WATCHDOG=1"),
            (Served, 0, "STATUS=the game server is up, waiting for Agones to show Ready"),
            (Served, 0, ""),
            (Ready, 1, "READY=1\nSTATUS=ready\nWATCHDOG=1"),
            (Ready, 1, ""),
            (Ready, 2, "WATCHDOG=1"),
            (Stopping, 2, "STOPPING=1\nSTATUS=stopping\nWATCHDOG=1"),
            (Stopping, 2, "WATCHDOG=1"),
            (Gone, 2, "WATCHDOG=1"),
        ];
        let mut told = None;
        for (phase, rounds, wanted) in steps {
            assert_eq!(message(told, view(phase, rounds), true), wanted, "{phase:?} {rounds}");
            assert!(!message(told, view(phase, rounds), false).contains("WATCHDOG"));
            told = Some(view(phase, rounds));
        }
    }

    #[test]
    fn a_watchdog_that_is_another_process_s_is_none_of_ours() {
        let pid = std::process::id();
        for (variables, wanted) in [
            (vec![("WATCHDOG_USEC", "3000000".to_owned())], Some(Duration::from_secs(3))),
            (
                vec![("WATCHDOG_USEC", "3000000".to_owned()), ("WATCHDOG_PID", pid.to_string())],
                Some(Duration::from_secs(3)),
            ),
            (vec![("WATCHDOG_USEC", "3000000".to_owned()), ("WATCHDOG_PID", (pid + 1).to_string())], None),
            (vec![("WATCHDOG_USEC", "0".to_owned())], None),
            (vec![("WATCHDOG_USEC", "3s".to_owned())], None),
            (vec![], None),
        ] {
            let environment: Vec<Variable> =
                variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            assert_eq!(watchdog(&environment), wanted, "{environment:?}");
        }
    }

    #[test]
    fn a_full_socket_holds_nobody_up_and_ready_is_not_lost() {
        let name = format!("agones-shim-notify-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("bound");
        let environment = [("NOTIFY_SOCKET".into(), format!("@{name}").into())];
        let mut notifier = Notifier::new(&environment).expect("a socket").expect("a manager");
        while notifier.send("X=1") {}
        assert_eq!(notifier.turn(view(Phase::Ready, 1)), None);
        manager.set_nonblocking(true).expect("settable");
        let mut buffer = [0; 256];
        while let Ok(length) = manager.recv(&mut buffer) {
            assert_eq!(&buffer[..length], b"X=1");
        }
        notifier.turn(view(Phase::Ready, 1));
        let length = manager.recv(&mut buffer).expect("it is said again");
        assert_eq!(&buffer[..length], b"READY=1\nSTATUS=ready");
    }
}
