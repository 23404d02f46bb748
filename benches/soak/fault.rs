//! What can go wrong, how it begins, and how all of it ends.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::support::{Answer, Mode, Reply, millis, secs, wait};
use crate::world::{Kind, World};

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The SDK server dies within its batch time and is there again at once: what it had not written is lost.
    SdkRestarted,
    /// The SDK server dies, and is started again.
    SdkKilled,
    /// The same, and the new one has a GameServer before Ready.
    SdkKilledAndScheduled,
    /// The same, and the GameServer was allocated meanwhile.
    SdkKilledAndAllocated,
    /// The connection stands still.
    LinkHangs,
    /// The connection is cut, and every new one with it.
    LinkCut,
    /// Connections are refused.
    LinkRefused,
    /// Everything takes longer.
    LinkSlow,
    /// Every call is answered with UNAVAILABLE.
    SdkUnavailable,
    /// Every call is answered with UNKNOWN.
    SdkRejects,
    /// No call is answered.
    SdkHangs,
    /// Every call is carried out, and answered past its deadline.
    SdkLate,
    /// The game's port refuses.
    GameGone,
    /// The game answers 503.
    GameBusy,
    /// The game accepts and does not answer.
    GameFrozen,
    /// The game takes nearly as long as it may.
    GameSlow,
    /// The metrics page answers 500.
    MetricsBroken,
    /// It is no metrics text.
    MetricsGarbage,
    /// A byte a second.
    MetricsDrip,
    /// Nothing.
    MetricsSilent,
    /// A megabyte.
    MetricsHuge,
    /// More players than the Counter has room for.
    MetricsAboveCapacity,
    /// The shim is stopped for a while, as in a suspended VM.
    ShimPaused,
    /// Signals that mean nothing to it; a wrapper's game makes orphans of them.
    Signals,
    /// Clients of the status endpoint that do not behave.
    StatusClients,
}

/// Those of one line exclude each other.
pub const GROUPS: [&[Fault]; 4] = [
    &[
        Fault::SdkRestarted,
        Fault::SdkKilled,
        Fault::SdkKilledAndScheduled,
        Fault::SdkKilledAndAllocated,
        Fault::LinkHangs,
        Fault::LinkCut,
        Fault::LinkRefused,
        Fault::LinkSlow,
        Fault::SdkUnavailable,
        Fault::SdkRejects,
        Fault::SdkHangs,
        Fault::SdkLate,
    ],
    &[Fault::GameGone, Fault::GameBusy, Fault::GameFrozen, Fault::GameSlow],
    &[
        Fault::MetricsBroken,
        Fault::MetricsGarbage,
        Fault::MetricsDrip,
        Fault::MetricsSilent,
        Fault::MetricsHuge,
        Fault::MetricsAboveCapacity,
    ],
    &[Fault::ShimPaused, Fault::Signals, Fault::StatusClients],
];

impl Fault {
    /// Ready() may have been lost, or its answer.
    fn touches_the_link(self) -> bool {
        GROUPS[0].contains(&self)
    }

    /// Threads of the fake game wait for its end.
    fn leaves_threads(self) -> bool {
        matches!(self, Self::GameFrozen | Self::MetricsSilent | Self::MetricsDrip)
    }

    /// While it lasts, no liveness round passes.
    pub fn stops_beats(self) -> bool {
        matches!(self, Self::GameGone | Self::GameBusy | Self::GameFrozen)
    }
}

impl World {
    /// Begins a fault.
    pub fn inject(&mut self, fault: Fault) {
        *self.injected.entry(fault).or_default() += 1;
        if fault.touches_the_link() {
            self.causes.push(Instant::now());
        }
        match fault {
            Fault::SdkRestarted => {
                self.sdk.crash();
                self.sdk.open();
            }
            Fault::SdkKilled => self.sdk.close(),
            Fault::SdkKilledAndScheduled => {
                self.sdk.close();
                self.sdk.set_state("Scheduled");
            }
            Fault::SdkKilledAndAllocated => {
                self.sdk.close();
                self.sdk.set_state("Allocated");
            }
            Fault::LinkHangs => self.proxy.set(Mode::Hang),
            Fault::LinkCut => self.proxy.set(Mode::Cut),
            Fault::LinkRefused => self.proxy.set(Mode::Refuse),
            Fault::LinkSlow => self.proxy.set(Mode::Delay(self.dice.millis(5, 40))),
            Fault::SdkUnavailable => drop(self.sdk.always_all(&Answer::unavailable())),
            Fault::SdkRejects => drop(self.sdk.always_all(&Answer::unknown("scripted: no"))),
            Fault::SdkHangs => drop(self.sdk.always_all(&Answer::Hang(secs(60)))),
            Fault::SdkLate => drop(self.sdk.always_all(&Answer::Late(secs(1)))),
            Fault::GameGone => self.game.die(),
            Fault::GameBusy => drop(self.game.reply(Reply::status(503))),
            Fault::GameFrozen => drop(self.game.reply(Reply::silence())),
            Fault::GameSlow => drop(self.game.reply(Reply::status(200).after(crate::world::PROBE_TIMEOUT / 2))),
            Fault::MetricsBroken => self.metrics(Reply::text("m 1\n").with_status(500)),
            Fault::MetricsGarbage => self.metrics(Reply::text(b"m 1e999\nm NaN\n\xff\x00{{{\n")),
            Fault::MetricsDrip => self.metrics(Reply::text("m 1\n").dripping(1)),
            Fault::MetricsSilent => self.metrics(Reply::silence()),
            Fault::MetricsHuge => self.metrics(Reply::huge("m 1\n", 1024 * 1024)),
            Fault::MetricsAboveCapacity => self.metrics(Reply::text("m 5000\n")),
            Fault::ShimPaused => {
                self.shim.signal(Signal::SIGSTOP);
                wait::let_pass(self.dice.millis(50, 600));
                self.shim.signal(Signal::SIGCONT);
            }
            Fault::Signals => self.send_signals(),
            Fault::StatusClients => self.misbehave(),
        }
    }

    /// Ends every fault.
    pub fn heal(&mut self, faults: &[Fault]) {
        self.sdk.always_all(&Answer::Ok);
        self.sdk.open();
        self.proxy.set(Mode::Pass);
        self.game.reply(Reply::status(200));
        if faults.iter().any(|fault| fault.leaves_threads()) {
            self.game.die();
            wait::let_pass(millis(20));
        }
        self.game.listen();
        // A Counter that was rejected is tried again in a minute, or with a new connection.
        if faults.contains(&Fault::SdkRejects) {
            self.sdk.close();
            self.wait_for_loss();
            self.sdk.open();
        }
        self.players = self.dice.roll(90);
        self.metrics(Reply::text(format!("m {}\n", self.players)));
        if faults.iter().any(|fault| fault.touches_the_link()) {
            self.causes.push(Instant::now());
        }
    }

    fn metrics(&self, reply: Reply) {
        self.game.reply_at("/metrics", reply);
    }

    fn send_signals(&mut self) {
        for _ in 0..self.dice.roll(50) {
            for signal in [Signal::SIGCHLD, Signal::SIGWINCH, Signal::SIGCONT] {
                self.shim.signal(signal);
            }
        }
        if self.kind == Kind::Wrapper {
            self.shim.signal(Signal::SIGUSR1);
        }
    }

    /// Idle ones, one that resets, one that talks nonsense, one that never reads.
    fn misbehave(&mut self) {
        let connect = || TcpStream::connect_timeout(&self.status, secs(2)).ok();
        let mut idle: Vec<TcpStream> = (0..self.dice.roll(60)).filter_map(|_| connect()).collect();
        for stream in idle.iter_mut().step_by(3) {
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\nGET /status HTTP/1.1\r\n\r\n");
        }
        for stream in idle.iter_mut().skip(1).step_by(3) {
            let _ = stream.write_all(&[0xff; 4096]);
        }
        wait::let_pass(self.dice.millis(1, 100));
    }
}
