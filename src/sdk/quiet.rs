//! gRPC, started in such a way that it sleeps while nothing happens.
//!
//! Left alone, the C core of gRPC wakes up twice per CPU and second in each of
//! its two timer threads (measured: 9 times a second on 2 CPUs; 64 on 16 and
//! more), timers or not. It has no option against that, so its clock is shown
//! to it a century ahead while the two make their empty tables: a table wakes
//! its thread when the time up to which it has sorted its timers is over.
//!
//! The clock stands behind every time that the C core reads, so it is ahead for
//! those two moments alone, in which no timer exists, and read back after. No
//! timer is late or lost by it: those that are set later are sorted at once.
//! This depends on the inside of one version of gRPC: Cargo.toml pins it, a
//! test below says what to read again for another, and the feature
//! `plain-grpc` builds without any of it.

#![allow(unsafe_code)]

use std::ffi::{OsString, c_int};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use grpcio::{Channel, ChannelBuilder, EnvBuilder, Environment};

/// Longer than any process lives, and within what every part of gRPC can add up.
const CENTURY_SECS: i64 = 100 * 365 * 86_400;
/// gRPC's number of the clock that its timers go by.
const MONOTONIC: c_int = 0;
/// Polls idle connections every 5 s, for programs that have no thread which always polls. Ours has.
const BACKUP_POLLER: &str = "GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS";

/// `gpr_timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Timespec {
    seconds: i64,
    nanoseconds: i32,
    clock: c_int,
}

type Clock = extern "C" fn(c_int) -> Timespec;

// All three are of the one version of gRPC that Cargo.lock names; should they go, the program does not link.
unsafe extern "C" {
    /// Where gRPC reads every clock; exported for the clocks of its own tests.
    #[link_name = "gpr_now_impl"]
    static mut CLOCK: Clock;
    #[link_name = "grpc_init"]
    fn init();
    /// `grpc_core::Timestamp::FromTimespecRoundDown`. The first call notes when the process began.
    #[link_name = "_ZN9grpc_core9Timestamp21FromTimespecRoundDownE12gpr_timespec"]
    fn since_start(time: Timespec) -> i64;
}

static REAL: OnceLock<Clock> = OnceLock::new();
static AHEAD_SECS: AtomicI64 = AtomicI64::new(0);

extern "C" fn clock(which: c_int) -> Timespec {
    // Set before this function is.
    let Some(real) = REAL.get() else { return Timespec { seconds: 0, nanoseconds: 0, clock: which } };
    let mut now = real(which);
    if which == MONOTONIC {
        now.seconds += AHEAD_SECS.load(Ordering::Relaxed);
    }
    now
}

/// What gRPC runs on, for as long as it is to be quiet.
pub struct Quiet {
    /// For all channels.
    pub environment: Arc<Environment>,
    /// Never connected. The second timer thread belongs to all channels together and goes with the last of them; the
    /// next one would be a loud one. (What is shipped has none: .cargo/grpc/event_engine.cc.)
    ///
    /// Never destroyed either: in the static build a channel that would connect by itself has no parts that could be
    /// told of it (.cargo/grpc/plugin_registry.cc).
    _keeper: ManuallyDrop<Channel>,
}

/// Starts gRPC. The process must not have used it before: a timer that it had would be over at once.
///
/// # Panics
/// gRPC's clock does not show the time again: all its timers would be off.
#[must_use]
pub fn start() -> Quiet {
    if cfg!(feature = "plain-grpc") {
        let environment = environment();
        return Quiet { _keeper: keeper(&environment), environment };
    }
    // SAFETY: gRPC has no threads yet, so nobody reads CLOCK while it is written, and nobody writes it later. `clock`
    // is of its type; `since_start` takes and returns plain numbers, and `init` nothing.
    unsafe {
        let real = *REAL.get_or_init(|| CLOCK);
        CLOCK = clock;
        // Now, or the process would have begun in a hundred years.
        since_start(real(MONOTONIC));
        ahead(|| init());
        // Between the two, so that its polling thread sees no other time than the real one.
        let environment = environment();
        let quiet = Quiet { _keeper: ahead(|| keeper(&environment)), environment };
        let off = clock(MONOTONIC).seconds - real(MONOTONIC).seconds;
        assert!((-1..=1).contains(&off), "gRPC's clock is {off} s off");
        quiet
    }
}

fn environment() -> Arc<Environment> {
    Arc::new(EnvBuilder::new().cq_count(1).name_prefix("grpc").build())
}

fn keeper(environment: &Arc<Environment>) -> ManuallyDrop<Channel> {
    ManuallyDrop::new(ChannelBuilder::new(environment.clone()).connect("ipv4:127.0.0.1:9"))
}

fn ahead<T>(make: impl FnOnce() -> T) -> T {
    AHEAD_SECS.store(CENTURY_SECS, Ordering::Relaxed);
    let result = make();
    AHEAD_SECS.store(0, Ordering::Relaxed);
    result
}

/// Takes every `GRPC_` variable out of this process's own environment: in a game server's container they are meant for
/// the game, and one value of `GRPC_POLL_STRATEGY` aborts whoever reads it. A child has what was there before. Then
/// switches off gRPC's poller for programs without a polling thread.
///
/// # Safety
/// No other thread may exist yet: it could read the environment meanwhile.
pub unsafe fn strip_environment() {
    let is_ours = |name: &OsString| name.as_encoded_bytes().starts_with(b"GRPC_");
    let names: Vec<OsString> = std::env::vars_os().map(|(name, _)| name).filter(is_ours).collect();
    // SAFETY: as the caller promises.
    unsafe {
        for name in names {
            std::env::remove_var(name);
        }
        std::env::set_var(BACKUP_POLLER, "0");
    }
}

#[cfg(test)]
mod tests {
    /// When this fails: read again what this file depends on, and measure (`make bench`, and the test `quiet`).
    #[test]
    fn the_c_core_is_the_one_whose_timers_were_read() {
        let lock = include_str!("../../Cargo.lock");
        let version = lock.split("name = \"grpcio-sys\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(
            version,
            Some("0.13.0+1.56.2-patched"),
            "another C core. Read again, in its src/core/lib: gpr/time.cc and gpr/time_posix.cc (gpr_now_impl), \
             gprpp/time.cc (FromTimespecRoundDown, the start of the process), iomgr/timer_generic.cc and \
             iomgr/timer_manager.cc (the first timer thread), event_engine/posix_engine/timer.cc and timer_manager.cc \
             (the second), surface/init.cc; and for src/sdk/channel.rs, in src/core/ext: \
             transport/chttp2/client/chttp2_connector.cc (grpc_channel_create_from_fd); and for .cargo/grpc what it \
             replaces: plugin_registry/grpc_plugin_registry.cc, event_engine/default_event_engine_factory.cc, iomgr/executor.cc",
        );
    }
}
