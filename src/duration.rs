//! Durations as people read them, in log lines and messages.

use std::time::Duration;

/// Seconds as people write them: `2s`, `0.5s`, `1.234s`.
#[must_use]
pub(crate) fn seconds(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) {
        return format!("{}s", millis / 1000);
    }
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    format!("{}s", text.trim_end_matches('0'))
}
