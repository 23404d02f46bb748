//! One shim with its SDK server, its game and its troubles.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::account::{Account, Page};
use crate::dice::Dice;
use crate::fault::{Fault, GROUPS};
use crate::leaks::{Leaks, Sample};
use crate::support::{Game, Port, Proxy, ScriptedSdk, Shim, client, millis, proc, secs, shim, wait};

/// Five seconds at hundredfold speed.
pub const INTERVAL: Duration = Duration::from_millis(50);
/// Two seconds would be 20 ms: no fair deadline on a machine that does other things too.
pub const PROBE_TIMEOUT: Duration = Duration::from_millis(300);
/// Failed rounds in a row that mean the game is gone: more than any fault here lasts.
const THRESHOLD: u32 = 200;
/// From the end of all faults to a life that is in order again: the SDK server is looked for once a second.
const RECOVERY: Duration = Duration::from_secs(20);
/// A game that catches TERM and makes five orphans at each USR1.
pub const GAME: &str = "trap 'for i in 1 2 3 4 5; do (: & :); done' USR1; trap 'exit 0' TERM; echo the game is up; \
                        while :; do sleep 0.2 & wait $!; done";

/// How the shim runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sidecar,
    Wrapper,
}

pub struct World {
    pub kind: Kind,
    pub dice: Dice,
    pub sdk: ScriptedSdk,
    pub proxy: Proxy,
    pub game: Game,
    pub shim: Shim,
    pub status: SocketAddr,
    /// What the metrics page says.
    pub players: u64,
    /// When something happened that can make a Ready() right: its state was set back, or the link was touched.
    pub causes: Vec<Instant>,
    pub injected: BTreeMap<Fault, u64>,
    leaks: Leaks,
    cycles: u64,
    _port: Port,
}

impl World {
    /// Starts one and waits until it is Ready.
    pub fn start(kind: Kind, seed: u64) -> Self {
        let sdk = ScriptedSdk::start();
        sdk.set_counter("players", 0, 100).batch(crate::support::millis(100));
        let proxy = Proxy::in_front_of(sdk.addr());
        let game = Game::open();
        game.reply_at("/metrics", crate::support::Reply::text("m 0\n"));
        let port = Port::reserve();
        let mut builder = shim()
            .sdk_port(proxy.port())
            .set("READY_TCP", game.port())
            .set("READY_HTTP", game.url("/health"))
            .set("HEALTH_INTERVAL_SECS", INTERVAL.as_secs_f64())
            .set("PROBE_TIMEOUT_SECS", PROBE_TIMEOUT.as_secs_f64())
            .set("LIVE_FAILURE_THRESHOLD", THRESHOLD)
            .set("SDK_CALL_TIMEOUT_SECS", "0.3")
            .set("COUNTER_NAME", "players")
            .set("COUNTER_METRICS_URL", game.url("/metrics"))
            .set("COUNTER_METRIC", "m")
            .set("COUNTER_INTERVAL_SECS", "0.3")
            .set("STATUS_ADDR", port.addr());
        if kind == Kind::Wrapper {
            builder = builder.var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", GAME]);
        }
        let mut shim = builder.spawn();
        shim.wait_for_line("the GameServer is ready", secs(20));
        shim.wait_for_line("the status endpoint is open", secs(20));
        Self {
            kind,
            dice: Dice::new(seed),
            sdk,
            proxy,
            game,
            shim,
            status: port.addr(),
            players: 0,
            causes: Vec::new(),
            injected: BTreeMap::new(),
            leaks: Leaks::default(),
            cycles: 0,
            _port: port,
        }
    }

    /// Injects and heals until `end`, stops the shim, and tells what there was.
    pub fn run(mut self, end: Instant) -> String {
        self.calm(&[]);
        while Instant::now() < end {
            self.cycle();
        }
        self.leaks.judge(self.kind);
        let before = Account::of(&self.page(), &self.sdk);
        self.stop();
        self.summary(&before)
    }

    /// A few faults at once, then peace, in which everything has to be in order.
    fn cycle(&mut self) {
        let mut faults = Vec::new();
        for (group, odds) in GROUPS.iter().zip([2, 3, 2, 3]) {
            if self.dice.once_in(odds) {
                faults.push(self.dice.pick(group));
            }
        }
        for &fault in &faults {
            self.inject(fault);
        }
        if faults.iter().any(|fault| fault.stops_beats()) {
            self.watch_silence();
        } else {
            wait::let_pass(self.dice.millis(100, 1500));
        }
        self.heal(&faults);
        self.calm(&faults);
        self.cycles += 1;
    }

    /// The game is down: after the round that finds it out no beat goes out.
    fn watch_silence(&mut self) {
        wait::let_pass(PROBE_TIMEOUT + INTERVAL + millis(400));
        let before = self.sdk.count("Health");
        wait::let_pass(self.dice.millis(100, 900));
        let after = self.sdk.count("Health");
        self.require(before == after, "beats for a game that is down");
    }

    /// The next beat finds out that the SDK server is gone.
    pub fn wait_for_loss(&mut self) {
        let status = self.status;
        let lost = wait::poll(secs(10), || {
            wait::let_pass(millis(30));
            (Page::read(status)?.value("sdk_up") == Some("0")).then_some(())
        });
        self.require(lost.is_some(), "an SDK server that is gone is not missed");
    }

    fn calm(&mut self, faults: &[Fault]) {
        let (sdk, status, players) = (&self.sdk, self.status, self.players.to_string());
        let beats = sdk.count("Health") + 3;
        let children = usize::from(self.kind == Kind::Wrapper);
        let mut last = String::new();
        let pid = self.shim.pid();
        let in_order = wait::poll(RECOVERY, || {
            wait::let_pass(millis(30));
            let page = Page::read(status)?;
            let state = sdk.state();
            last = format!(
                "up {:?}, sent {:?}, reading {:?}, failing {:?}, state {state}, {} beats, {} children",
                page.value("sdk_up"),
                page.value("published_sent{counter=\"players\"}"),
                page.value("published_reading{counter=\"players\"}"),
                page.value("published_failing{counter=\"players\"}"),
                sdk.count("Health") + 3 - beats,
                proc::children(pid).len(),
            );
            let right = page.value("sdk_up") == Some("1")
                && page.value("published_sent{counter=\"players\"}") == Some(&players)
                && page.value("published_failing{counter=\"players\"}") == Some("0")
                && page.value("liveness_failed_rounds") == Some("0")
                && (state == "Ready" || state == "Allocated")
                && sdk.counter("players").map(|count| count.to_string()).as_ref() == Some(&players)
                && sdk.count("Health") >= beats
                && proc::children(pid).len() == children;
            right.then_some(())
        });
        self.require(in_order.is_some(), &format!("not in order {RECOVERY:?} after {faults:?}: {last}"));
        self.account();
        self.judge_readies();
        self.judge_log();
        let sample = Sample::of(self.shim.pid());
        self.leaks.push(sample);
        self.game.forget();
    }

    /// In peace the shim's own counters and the SDK server's book agree, call by call.
    fn account(&mut self) {
        let before = Account::of(&self.page(), &self.sdk);
        wait::let_pass(INTERVAL * 6);
        let after = Account::of(&self.page(), &self.sdk);
        let problem = before.disagrees_with(&after);
        self.require(problem.is_none(), &problem.unwrap_or_default());
        let beats = after.seen("Health").saturating_sub(before.seen("Health"));
        self.require(beats >= 2, &format!("{beats} beats in six intervals of peace"));
    }

    /// Ready() only in a state before Ready, and once a cause.
    fn judge_readies(&mut self) {
        let readies = self.sdk.calls_of("Ready");
        for ready in &readies {
            let right = ready.detail == "Scheduled";
            self.require(right, &format!("Ready() in the state {}", ready.detail));
        }
        for pair in readies.windows(2) {
            let caused = self.causes.iter().any(|&at| pair[0].at <= at && at <= pair[1].at)
                || self.causes.iter().any(|&at| at <= pair[0].at && pair[0].at - at < secs(2));
            self.require(caused, "a second Ready() without a cause");
        }
    }

    /// None of the faults here is an end or a broken promise.
    fn judge_log(&mut self) {
        let bad = |line: &str| [" ERROR ", "panicked", "BUG"].iter().any(|mark| line.contains(mark));
        let found = self.shim.output().lines().into_iter().find(|line| bad(&line.text));
        self.require(found.is_none(), &format!("a line that no fault has caused: {found:?}"));
        let running = self.shim.is_running();
        self.require(running, "the shim has ended");
    }

    fn stop(&mut self) {
        let calls = self.sdk.count("Shutdown");
        self.require(calls == 0, "Shutdown() before anybody asked for it");
        self.shim.signal(Signal::SIGTERM);
        self.shim.expect_code(0, secs(20));
        self.shim.wait_for_line("Shutdown() has landed", secs(1));
        self.judge_log_after_end();
        let (state, calls) = (self.sdk.state(), self.sdk.count("Shutdown"));
        self.require(state == "Shutdown" && calls == 1, &format!("state {state} after {calls} calls of Shutdown()"));
    }

    fn judge_log_after_end(&mut self) {
        let errors = self.shim.count_lines(" ERROR ");
        self.require(errors == 0, "an error line at the end");
    }

    fn page(&mut self) -> Page {
        // A report is up to 50 ms old when it answers.
        wait::let_pass(millis(70));
        match Page::read(self.status) {
            Some(page) => page,
            None => self.shim.fail("the status endpoint does not answer"),
        }
    }

    fn require(&mut self, holds: bool, otherwise: &str) {
        if !holds {
            let injected = format!("{:?}", self.injected);
            self.shim.fail(&format!("{:?}, cycle {}: {otherwise}\n{injected}", self.kind, self.cycles));
        }
    }

    fn summary(&self, account: &Account) -> String {
        let mut text = format!("\n{:?}: {} cycles, a clean end with Shutdown() confirmed\n", self.kind, self.cycles);
        let faults: Vec<String> = self.injected.iter().map(|(fault, count)| format!("{fault:?} {count}")).collect();
        let _ = writeln!(text, "  injected  {}", faults.join(", "));
        let _ = writeln!(text, "  calls     {account}");
        let _ = write!(text, "  leaks     {}", self.leaks);
        text
    }
}

/// Reads one of the shim's pages.
pub fn get(status: SocketAddr, path: &str) -> Option<String> {
    client::get(status, path, secs(5)).ok().filter(|answer| answer.status == 200).map(|answer| answer.body)
}
