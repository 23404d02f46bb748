//! The program under the wrapper: says how it was started, then each signal that it gets; or makes orphans.
//!
//! It is this test binary, started again with `@specimen` as its first argument. It runs before Rust's runtime and
//! the test harness do, which would change the dispositions and start threads: what it sees is what it was given.

use std::ffi::{OsString, c_int};
use std::fs;
use std::io::Write;
use std::ptr;
use std::time::{Duration, Instant};

use nix::libc;

use super::shim::{Builder, Shim, shim};
use super::{proc, wait};

const MARK: &str = "@specimen";

/// The command line of a specimen, to be put after `--`. Modes:
///
/// - `signals`: prints `pid`, `group`, `mask`, `ignored`, `fd` and `cwd` lines, then `ready`, then `signal N` for each
///   signal, until SIGUSR2 ends it with code 0.
/// - `describe`: the first part alone.
/// - `orphans N`: makes N orphans, prints `orphans`, lets them all end when stdin does, and stays for a minute.
/// - `zombie`: leaves a zombie in its group, leaves the group itself, prints `ready`, and stays for a minute.
/// - `adopt PROGRAM ARG...`: runs a program, takes in its orphans and never reaps one.
pub fn specimen<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Vec<OsString> {
    let own = std::env::current_exe().expect("the test binary knows where it is");
    [own.into_os_string(), MARK.into()].into_iter().chain(args.into_iter().map(Into::into)).collect()
}

/// The wrapper around a program, with no SDK and a readiness probe that never passes.
pub fn wrap<A: AsRef<std::ffi::OsStr>>(argv: impl IntoIterator<Item = A>) -> Builder {
    shim().without_sdk().set("SDK", "off").set("READY_TCP", 1).arg("--").args(argv)
}

#[used]
#[unsafe(link_section = ".init_array")]
static INSTEAD_OF_TESTS: extern "C" fn() = instead_of_tests;

extern "C" fn instead_of_tests() {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
    if words.get(1) != Some(&MARK.as_bytes()) {
        return;
    }
    let words: Vec<&str> =
        words[2..words.len() - 1].iter().map(|word| std::str::from_utf8(word).expect("UTF-8")).collect();
    match words[0] {
        "signals" => signals(),
        "describe" => describe(),
        "orphans" => orphans(words[1].parse().expect("a number")),
        "zombie" => zombie(),
        "adopt" => adopt(&words[1..]),
        mode => panic!("no mode {mode}"),
    }
    std::process::exit(0)
}

fn describe() {
    let mut text = String::new();
    // SAFETY: no pointers.
    let (pid, group) = unsafe { (libc::getpid(), libc::getpgrp()) };
    text += &format!("leads its group {}\n", pid == group);
    for line in fs::read_to_string("/proc/self/status").expect("proc is mounted").lines() {
        if let Some(rest) = line.strip_prefix("SigBlk:") {
            text += &format!("mask {}\n", rest.trim());
        }
        if let Some(rest) = line.strip_prefix("SigIgn:") {
            // Without 32 and 33: the C library sets them as it likes, this program's own too.
            let ignored = u64::from_str_radix(rest.trim(), 16).expect("a set of signals") & !(3 << 31);
            text += &format!("ignored {ignored:016x}\n");
        }
    }
    for fd in 0..256 {
        // SAFETY: no pointers.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1 {
            let target = fs::read_link(format!("/proc/self/fd/{fd}")).expect("open");
            // Pipes differ from run to run.
            let target = target.to_string_lossy().split(":[").next().unwrap_or_default().to_owned();
            text += &format!("fd {fd} {target}\n");
        }
    }
    text += &format!("cwd {}\n", std::env::current_dir().expect("there").display());
    // SAFETY: getrlimit and umask with what they take.
    unsafe {
        let mask = libc::umask(0);
        libc::umask(mask);
        text += &format!("umask {mask:o} nice {}\n", libc::getpriority(libc::PRIO_PROCESS, 0));
    }
    say(&text);
}

fn signals() {
    let set = u64::MAX;
    // SAFETY: 8 live bytes. Raw, so that every real-time signal is seen.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const set, ptr::null_mut::<u64>(), 8) };
    say(&format!("pid {}\nready\n", std::process::id()));
    loop {
        // SAFETY: 8 live bytes, null where the kernel takes it.
        let signal = unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const set,
                ptr::null_mut::<libc::siginfo_t>(),
                ptr::null::<libc::timespec>(),
                8,
            )
        };
        say(&format!("signal {signal}\n"));
        if signal == i64::from(libc::SIGUSR2) {
            return;
        }
    }
}

fn orphans(count: usize) {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    for _ in 0..count {
        // SAFETY: one thread; the children only read and exit.
        unsafe {
            let parent = libc::fork();
            assert!(parent >= 0, "fork");
            if parent == 0 {
                if libc::fork() == 0 {
                    drop(writer);
                    let _ = std::io::copy(&mut reader, &mut std::io::sink());
                }
                libc::_exit(0);
            }
            libc::waitpid(parent, ptr::null_mut(), 0);
        }
    }
    say("orphans\n");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    drop(writer);
    std::thread::sleep(Duration::from_secs(60));
}

fn zombie() {
    // SAFETY: one thread; the child only exits.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "fork");
        if child == 0 {
            libc::_exit(0);
        }
        assert!(libc::setsid() > 0, "it leads no group");
    }
    say(&format!("pid {}\nready\n", std::process::id()));
    std::thread::sleep(Duration::from_secs(60));
}

#[expect(clippy::zombie_processes, reason = "that is what it is for")]
fn adopt(argv: &[&str]) {
    nix::sys::prctl::set_child_subreaper(true).expect("allowed");
    let _child = std::process::Command::new(argv[0]).args(&argv[1..]).spawn().expect("it starts");
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn say(text: &str) {
    let mut stdout = std::io::stdout();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).expect("somebody reads");
}

/// Waits until a process has taken in so many orphans of the specimen's, lets them end, and tells how long it took until
/// all were reaped; `None` if they were not within `limit`.
#[track_caller]
pub fn orphans_reaped(adopter: &mut Shim, count: usize, limit: Duration) -> Option<Duration> {
    adopter.wait_for_line("orphans", Duration::from_secs(60));
    let stdin = adopter.stdin().expect("the specimen's stdin is piped");
    let pid = adopter.pid();
    let taken_in = || proc::children(pid).len();
    wait::until_true("orphans that are taken in", Duration::from_secs(10), || taken_in() > count);
    let start = Instant::now();
    drop(stdin);
    wait::poll(limit, || (taken_in() <= 1).then(|| start.elapsed()))
}

/// Sends any signal, real-time ones included.
pub fn send(pid: i32, signal: c_int) {
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "kill {signal} {pid}");
}
