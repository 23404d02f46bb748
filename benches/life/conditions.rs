//! Under which conditions the figures came about: without them a figure says nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// The machine and the binary, before and after.
pub struct Conditions {
    load_before: String,
    date: String,
    /// How the binary is linked.
    pub linked: &'static str,
    /// Its size in bytes.
    pub size: u64,
    binary: String,
}

impl Conditions {
    /// As they are now.
    pub fn look(binary: &Path) -> Self {
        let elf = fs::read(binary).unwrap_or_default();
        // The name of the dynamic loader stands in the file of every dynamic executable, as text.
        let dynamic = elf.windows(7).any(|word| word == b"/ld-lin" || word == b"/ld-mus");
        Self {
            load_before: load(),
            date: line_of(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"])),
            linked: if dynamic { "dynamic" } else { "static" },
            size: fs::metadata(binary).map_or(0, |file| file.len()),
            binary: line_of(Command::new(binary).arg("--version").env_clear()),
        }
    }

    /// With the load of now.
    pub fn json(&self, runs: &str) -> Value {
        json!({
            "date": self.date,
            "machine": cpu(),
            "cores": std::thread::available_parallelism().map_or(0, usize::from),
            "kernel": line_of(Command::new("uname").arg("-r")),
            "load_before": self.load_before,
            "load_after": load(),
            "binary": self.binary,
            "binary_bytes": self.size,
            "linked": self.linked,
            "runs": runs,
        })
    }
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, model)| model.trim().to_owned())
}

fn line_of(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown").to_owned()
}
