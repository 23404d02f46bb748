//! Deadlines: the only way to wait here. A wait that fails says what it waited for.
//!
//! The machine is shared and noisy, so that deadlines are about three times what is documented, and no
//! test asserts a performance figure.

use std::time::{Duration, Instant};

/// How often a condition that nothing announces is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// So many seconds.
pub fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many milliseconds.
pub fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Looks again and again until there is something; `None` once `within` has passed.
pub fn poll<T>(within: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK);
    }
}

/// The same, and a panic that names `what` once `within` has passed.
#[track_caller]
pub fn until<T>(what: &str, within: Duration, look: impl FnMut() -> Option<T>) -> T {
    poll(within, look).unwrap_or_else(|| panic!("waited {within:?} in vain for {what}"))
}

/// Waits until a condition holds.
#[track_caller]
pub fn until_true(what: &str, within: Duration, mut condition: impl FnMut() -> bool) {
    until(what, within, || condition().then_some(()));
}

/// Lets time pass while something must *not* happen. Not a way to wait for a state.
pub fn let_pass(time: Duration) {
    std::thread::sleep(time);
}
