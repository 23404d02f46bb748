//! A life at hundredfold speed with faults injected at random: nothing leaks, every call is accounted for, no error
//! line comes that no fault has caused, and a stop at any moment ends in Shutdown().
//!
//! `make soak` runs it for `SOAK_SECS` (120), against the binary that `SHIM_UNDER_TEST` names. It prints a seed;
//! `SOAK_SEED` repeats its sequence of faults (not their timing, which is the machine's). Three things run side by
//! side: one sidecar and one wrapper that live all the time, and short lives that are stopped at a random moment.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic;
use std::thread;
use std::time::{Duration, Instant};

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "soak/account.rs"]
mod account;
#[path = "soak/dice.rs"]
mod dice;
#[path = "soak/fault.rs"]
mod fault;
#[path = "soak/leaks.rs"]
mod leaks;
#[path = "soak/lives.rs"]
mod lives;
#[path = "soak/world.rs"]
mod world;

use world::{Kind, World};

fn main() {
    // `cargo test` hands on what is meant for a test harness.
    if std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let number = |name: &str| {
        std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}: a whole number")))
    };
    let seed = number("SOAK_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    let span = Duration::from_secs(number("SOAK_SECS").unwrap_or(120));
    println!("soak: {} for {} s; SOAK_SEED={seed} repeats it", support::shim::binary().display(), span.as_secs());
    let end = Instant::now() + span;
    let threads = [
        thread::spawn(move || World::start(Kind::Sidecar, seed).run(end)),
        thread::spawn(move || World::start(Kind::Wrapper, seed.wrapping_add(1)).run(end)),
        thread::spawn(move || lives::run(seed.wrapping_add(2), end)),
    ];
    let outcomes: Vec<_> = threads.into_iter().map(thread::JoinHandle::join).collect();
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    for summary in outcomes.into_iter().flatten() {
        println!("{summary}");
    }
    if failed > 0 {
        println!("soak: FAILED; SOAK_SEED={seed} repeats it");
        std::process::exit(1);
    }
    println!("soak: passed");
}
