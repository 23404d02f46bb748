//! What the kernel has counted for a process: processor time in nanoseconds, context switches, memory.
//!
//! Never by clock ticks: a beat costs less than one.

use std::fs;
use std::time::Duration;

use nix::libc;

/// What a process has used so far, all of its threads together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// On a processor.
    pub cpu: Duration,
    /// Context switches, voluntary and not.
    pub switches: u64,
    /// The voluntary ones alone: as often as it went to sleep, it was woken.
    pub wakeups: u64,
}

impl Used {
    /// What was used between an earlier look and this one.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            switches: self.switches.saturating_sub(earlier.switches),
            wakeups: self.wakeups.saturating_sub(earlier.wakeups),
        }
    }
}

/// Of a live process. What threads had used that have ended since is not in it: a shim at rest starts none.
pub fn used(pid: i32) -> Used {
    let mut used = Used::default();
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return used };
    for task in tasks.flatten() {
        let schedstat = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let nanos = schedstat.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
        used.cpu += Duration::from_nanos(nanos);
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let counted = |key: &str| number(&status, key).unwrap_or(0);
        used.wakeups += counted("voluntary_ctxt_switches:");
        used.switches += counted("voluntary_ctxt_switches:") + counted("nonvoluntary_ctxt_switches:");
    }
    used
}

/// Of all children of this process that were waited for, with the children that those had waited for.
pub fn used_by_children() -> Used {
    // SAFETY: all zeros is a valid rusage, and the kernel writes no more than one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    Used {
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        switches: usage.ru_nvcsw.unsigned_abs() + usage.ru_nivcsw.unsigned_abs(),
        wakeups: usage.ru_nvcsw.unsigned_abs(),
    }
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// In RAM.
    pub resident: u64,
    /// The same, what others have mapped too divided by all who do.
    pub proportional: u64,
    /// Nobody else's, and in no file.
    pub anonymous: u64,
}

/// Of these processes together.
pub fn memory(pids: &[i32]) -> Memory {
    let sum = |key: &str| {
        let of = |pid: &i32| number(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?, key);
        pids.iter().filter_map(of).sum::<u64>() * 1024
    };
    Memory { resident: sum("Rss:"), proportional: sum("Pss:"), anonymous: sum("Anonymous:") }
}

/// What stands behind this key at the beginning of a line.
fn number(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

/// From now on the peak of resident memory is counted anew.
pub fn forget_peak(pid: i32) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Bytes in the kilobytes of the table.
pub fn kilobytes(bytes: u64) -> f64 {
    megabytes(bytes) * 1e3
}

/// Bytes in the megabytes of the table.
#[allow(clippy::cast_precision_loss)]
pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
