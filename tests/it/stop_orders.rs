//! A stop, and two other things that happen around it, in every order: a game that saves on its line alone gets it and is
//! let save, Agones has Shutdown() wherever somebody is there to have it, and nothing is left running.

use std::fs;
use std::process::{ChildStdin, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scene::*;
use crate::support::specimen::wrap;
use crate::support::{Answer, Scratch, ScriptedSdk, Shim, millis, proc, secs, wait};

/// Played side by side: each mostly waits.
const AT_ONCE: usize = 24;

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Stop,
    /// A second stop signal, late enough to be one: the shim goes one step on.
    StopAgain,
    /// The end of the shim's own stdin.
    Eof,
    /// The SDK server is gone; it is killed, and is back with what it had written; it answers no more.
    SdkGone,
    SdkRestarted,
    SdkHangs,
    /// The game ends by itself, as a player with the right to has told it.
    OwnEnd,
}

use Act::{Eof, OwnEnd, SdkGone, SdkHangs, SdkRestarted, Stop, StopAgain};

const OTHERS: [Act; 6] = [StopAgain, Eof, SdkGone, SdkRestarted, SdkHangs, OwnEnd];

/// Every order of the stop and two others. A second stop signal comes behind the first.
fn orders() -> Vec<[Act; 3]> {
    let mut orders = Vec::new();
    for (at, &one) in OTHERS.iter().enumerate() {
        for &other in &OTHERS[at + 1..] {
            let [a, b, c] = [Stop, one, other];
            orders.extend([[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]);
        }
    }
    let place = |order: &[Act; 3], act: Act| order.iter().position(|&other| other == act);
    orders.retain(|order| place(order, StopAgain).is_none_or(|again| Some(again) > place(order, Stop)));
    orders
}

/// Notes what it is told, and dies of the stop signal before that. It ends by itself on USR1.
const GAME: &str = "trap 'echo own >>$NOTE; exit 0' USR1; echo up; \
    while read -r line; do trap '' USR1; trap 'echo TERM >>$NOTE' TERM; echo $line >>$NOTE; sleep 0.4; \
    echo saved >>$NOTE; exit 0; done; echo EOF >>$NOTE; exit 9";

struct Scene {
    note: Scratch,
    sdk: ScriptedSdk,
    shim: Shim,
    stdin: Option<ChildStdin>,
    game: Vec<i32>,
    stopped: Option<Instant>,
}

impl Scene {
    fn new(name: &str, hook_secs: f64) -> Self {
        let note = Scratch::new(name);
        let sdk = ScriptedSdk::start();
        let mut shim = wrap(["sh", "-c", GAME])
            .unset("AGONES_SHIM_READY_TCP")
            .set("READY_TEXT", "up")
            .set("SDK", "auto")
            .set("SDK_CALL_TIMEOUT_SECS", "0.5")
            .set("SHUTDOWN_TIMEOUT_SECS", 3)
            .set("STOP_LINE", "line")
            .set("STOP_HOOK", format!("sh -c 'sleep {hook_secs}; echo hook >>$NOTE'"))
            .set("STOP_HOOK_TIMEOUT_SECS", 20)
            .var("PATH", "/usr/bin:/bin")
            .var("NOTE", note.path("note"))
            .stdin(Stdio::piped())
            .sdk(&sdk)
            .spawn();
        shim.wait_for_line(READY, secs(60));
        let (stdin, game) = (shim.stdin(), proc::children(shim.pid()));
        Self { note, sdk, shim, stdin, game, stopped: None }
    }

    fn act(&mut self, act: Act) {
        match act {
            Stop => {
                self.shim.signal(Signal::SIGTERM);
                self.stopped = Some(Instant::now());
            }
            StopAgain => {
                let stopped = self.stopped.expect("it is the second");
                wait::let_pass(millis(1200).saturating_sub(stopped.elapsed()));
                self.shim.signal(Signal::SIGTERM);
            }
            Eof => self.stdin = None,
            SdkGone => self.sdk.close(),
            SdkRestarted => {
                self.sdk.crash();
                self.sdk.always_all(&Answer::Ok);
                wait::let_pass(millis(300));
                self.sdk.open();
            }
            SdkHangs => drop(self.sdk.always_all(&Answer::Hang(secs(60)))),
            OwnEnd => {
                let still_there = proc::children(self.shim.pid());
                for pid in self.game.iter().filter(|pid| still_there.contains(pid)) {
                    let _ = kill(Pid::from_raw(*pid), Signal::SIGUSR1);
                }
            }
        }
    }

    /// Everything that is wrong once it is over.
    fn wrong(&mut self, order: [Act; 3]) -> Vec<String> {
        let mut wrong = Vec::new();
        if wait::poll(secs(40), || (!self.shim.is_running()).then_some(())).is_none() {
            return vec!["it does not end".into()];
        }
        let code = self.shim.expect_exit(secs(1));
        if code != 0 {
            wrong.push(format!("exit code {code}"));
        }
        let note = self.note.text("note");
        let has = |act| order.contains(&act);
        let game = note.replacen("hook\n", "", 1);
        let is_good = match game.as_str() {
            // The hook is through before the line, unless somebody is impatient.
            "line\nsaved\n" => has(StopAgain) || note.starts_with("hook\n"),
            "line\nTERM\nsaved\n" => has(StopAgain),
            "own\n" => has(OwnEnd),
            _ => false,
        };
        // A hook that has begun has its time, whatever becomes of the game.
        if !is_good || !(has(OwnEnd) || note.contains("hook\n")) {
            wrong.push(format!("the note is {note:?}"));
        }
        let sdk = order.into_iter().rfind(|act| matches!(act, SdkGone | SdkRestarted | SdkHangs));
        let is_told = || (self.sdk.state() == "Shutdown").then_some(());
        if matches!(sdk, None | Some(SdkRestarted)) && wait::poll(secs(1), is_told).is_none() {
            wrong.push(format!("state {}; {}", self.sdk.state(), self.sdk.story()));
        }
        let mark = format!("NOTE={}", self.note.path("note"));
        if wait::poll(millis(500), || left(&mark).is_empty().then_some(())).is_none() {
            wrong.push(format!("left running: {:?}", left(&mark)));
        }
        wrong
    }
}

/// The command lines of all processes that have this in their environment.
fn left(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("proc is mounted").flatten() {
        let is_marked = |environ: Vec<u8>| environ.split(|&byte| byte == 0).any(|word| word == mark.as_bytes());
        if fs::read(entry.path().join("environ")).is_ok_and(is_marked) {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&words).replace('\0', " "));
        }
    }
    found
}

#[test]
fn whatever_the_order_the_game_has_its_line_and_agones_has_shutdown() {
    let hooks = [0.0, 1.3];
    let cases: Vec<_> =
        hooks.into_iter().flat_map(|hook| orders().into_iter().map(move |order| (hook, order))).collect();
    assert_eq!(cases.len(), 2 * (10 * 6 + 5 * 3));
    let (cases, wrong) = (Mutex::new(cases.into_iter().enumerate()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((number, (hook, order))) = cases.lock().expect("no panic holds it").next() else { break };
                    let gap = millis([0, 60, 250][number % 3]);
                    let mut scene = Scene::new(&format!("stop-orders-{number}"), hook);
                    for act in order {
                        scene.act(act);
                        wait::let_pass(gap);
                    }
                    for what in scene.wrong(order) {
                        let said =
                            format!("{order:?}, {gap:?} apart, a hook of {hook} s: {what}\n{}", scene.shim.output());
                        wrong.lock().expect("no panic holds it").push(said);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic held it");
    assert!(wrong.is_empty(), "{} things went wrong in 150 stops:\n{}", wrong.len(), wrong.join("\n"));
}
