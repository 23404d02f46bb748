//! What the kernel says about a process: descriptors, threads, memory, children.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal};

/// Open descriptors; 0 when the process is gone.
pub fn fd_count(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Time on a processor, in ticks of a hundredth of a second; 0 when the process is gone.
pub fn ticks(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Threads; 0 when the process is gone.
pub fn threads(pid: i32) -> u64 {
    status_number(pid, "Threads:")
}

/// Resident memory in bytes; 0 when the process is gone.
pub fn rss(pid: i32) -> u64 {
    status_number(pid, "VmRSS:") * 1024
}

/// The most resident memory it ever had, in bytes; 0 when the process is gone.
pub fn peak_rss(pid: i32) -> u64 {
    status_number(pid, "VmHWM:") * 1024
}

/// This process runs as root.
pub fn we_are_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The names of its threads.
pub fn thread_names(pid: i32) -> Vec<String> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect()
}

/// Its children and their children, itself excluded.
pub fn descendants(pid: i32) -> Vec<i32> {
    let mut found = children(pid);
    let mut next = 0;
    while next < found.len() {
        found.extend(children(found[next]));
        next += 1;
    }
    found
}

/// Its direct children.
pub fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// It is there and no zombie.
pub fn is_alive(pid: i32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// The state letter of `/proc/PID/stat`: `R`, `S`, `T` (stopped), `Z`, ...; `None` when it is gone.
pub fn state(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command is in parentheses and may contain some itself.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// It runs this program.
pub fn runs(pid: i32, program: &Path) -> bool {
    let wanted = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == wanted)
}

fn status_number(pid: i32, key: &str) -> u64 {
    fs::read_to_string(format!("/proc/{pid}/status"))
        .ok()
        .and_then(|status| {
            let value = status.lines().find_map(|line| line.strip_prefix(key))?;
            value.split_whitespace().next()?.parse().ok()
        })
        .unwrap_or(0)
}

/// The program starts with HUP, INT and QUIT as a login shell's child has them, however the tests were started: under
/// nohup, or in the background of a script, they are ignored, and the shim leaves an ignored HUP ignored.
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
            // SAFETY: the default disposition is no handler.
            unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes three system calls and nothing else.
    unsafe { command.pre_exec(reset) }
}
