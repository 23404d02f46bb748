//! What the kernel says of this process in /proc, read when somebody asks. What is not there is not shown.
//!
//! The start time comes from there too: the wall clock is for log stamps alone.

use std::fs::read_to_string;

/// Ticks a second in /proc, the same on all of Linux' architectures but Alpha.
const TICKS: f64 = 100.0;

/// Resident memory, as bytes.
pub fn resident_bytes() -> Option<String> {
    let kilobytes: u64 = value(&read_to_string("/proc/self/status").ok()?, "VmRSS:")?.parse().ok()?;
    Some((kilobytes * 1024).to_string())
}

/// Seconds since the Unix epoch.
pub fn start_time() -> Option<String> {
    let booted: f64 = value(&read_to_string("/proc/stat").ok()?, "btime ")?.parse().ok()?;
    let ticks = start_ticks(&read_to_string("/proc/self/stat").ok()?)?;
    Some(format!("{:.2}", booted + ticks / TICKS))
}

/// The first word behind a key at the beginning of a line.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next())
}

/// Field 22. The second is a name that may have anything in it, and ends with the last parenthesis.
fn start_ticks(stat: &str) -> Option<f64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_moves_no_field() {
        let behind = (3..=52).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(start_ticks(&format!("7 (a (b) c) {behind}")), Some(22.0));
        assert_eq!(value("VmHWM:\t 9 kB\nVmRSS:\t    4096 kB\n", "VmRSS:"), Some("4096"));
    }
}
