//! Who is in a process group, as far as /proc shows it.
//!
//! Reads files that the kernel fills without waiting for anybody. What cannot be read (another user's, with hidepid) is
//! not shown; nothing is concluded from that.

use std::ffi::c_int;
use std::fs;

use nix::unistd::{Pid, getpgid};

use crate::game::sys;
use crate::machine::GroupMember;

/// A process as its `stat` has it.
struct Process {
    pid: i32,
    name: String,
    is_alive: bool,
}

/// Its living members, by number.
pub(super) fn members(group: Pid) -> Vec<GroupMember> {
    let alive = processes(group).into_iter().filter(|process| process.is_alive);
    let mut members: Vec<GroupMember> = alive
        .map(|Process { pid, name, .. }| GroupMember { pid, name, ignored: ignored(pid).unwrap_or_default() })
        .collect();
    members.sort_by_key(|member| member.pid);
    members
}

/// Signals these, where they are members: the number of one that has ended may be another's by now.
pub(super) fn signal(group: Pid, pids: &[i32], signal: c_int) {
    for &pid in pids {
        if getpgid(Some(Pid::from_raw(pid))) == Ok(group) {
            // It may have ended just now.
            let _ = sys::kill(pid, signal);
        }
    }
}

/// It has members, and all of them have ended and wait for parents that do not reap them.
pub(super) fn has_zombies_alone(group: Pid) -> bool {
    let all = processes(group);
    !all.is_empty() && all.iter().all(|process| !process.is_alive)
}

fn processes(group: Pid) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?, group)).collect()
}

/// `17 (mc.sh) S 1 17 ...`: the name is whatever the process says, brackets, blanks and newlines included.
fn parse(pid: i32, stat: &[u8], group: Pid) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    let (_, rest) = stat.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    // After the state: the parent, then the group; the number of threads is the 20th field of the line.
    let in_group = fields.nth(1)?.parse() == Ok(group.as_raw());
    let threads = fields.nth(14)?;
    // A leader that has ended looks like a zombie while its other threads live on.
    let is_alive = !matches!(state, "Z" | "X" | "x") || !matches!(threads, "0" | "1");
    in_group.then(|| Process { pid, name: name.escape_debug().collect(), is_alive })
}

/// The signals that it ignores, as bits.
fn ignored(pid: i32) -> Option<u64> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(ignored.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as the kernel writes it, with so many threads.
    fn stat(name: &str, state: &str, group: i32, threads: u32) -> String {
        format!(
            "17 ({name}) {state} 1 {group} 17 0 -1 4194560 84 0 0 0 1 2 3 4 20 0 {threads} 0 123 5000000 300 18446744073709551615"
        )
    }

    #[test]
    fn a_line_tells_name_group_and_whether_it_lives() {
        let group = Pid::from_raw(17);
        for (name, state, of, threads, wanted) in [
            ("mc.sh", "S", 17, 1, Some(true)),
            ("a) S 1 99 (b", "R", 17, 1, Some(true)),
            ("mc.sh", "S", 16, 1, None),
            ("mc.sh", "Z", 17, 1, Some(false)),
            ("mc.sh", "Z", 17, 3, Some(true)),
            ("mc.sh", "X", 17, 0, Some(false)),
            ("mc.sh", "T", 17, 1, Some(true)),
        ] {
            let process = parse(17, stat(name, state, of, threads).as_bytes(), group);
            assert_eq!(process.as_ref().map(|process| process.is_alive), wanted, "{name} {state} {of} {threads}");
            assert!(process.is_none_or(|process| process.name == name));
        }
        for odd in ["", "17", "17 (", "17 (x) S", "17 (x) S 1 17 17"] {
            assert!(parse(17, odd.as_bytes(), group).is_none(), "{odd}");
        }
    }

    #[test]
    fn this_process_is_in_its_own_group_and_alive() {
        let own = i32::try_from(std::process::id()).expect("a pid is an int");
        let group = nix::unistd::getpgrp();
        assert!(members(group).iter().any(|member| member.pid == own));
        assert!(!has_zombies_alone(group));
    }
}
