//! The file that is shipped: static, hardened, small, and silent about the machine that built it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::scene::*;
use crate::support::elf::Elf;
use crate::support::{Game, ScriptedSdk, proc, shim};

/// Every Pod of every fleet pulls it.
const LIMIT: usize = 4 << 20;

/// The binary under test, and what `make static` left for the other architecture, if it ran.
fn shipped() -> Vec<PathBuf> {
    let Some(under_test) = env::var_os("SHIM_UNDER_TEST") else {
        eprintln!("skipped: SHIM_UNDER_TEST names no static binary (make test-static)");
        return Vec::new();
    };
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/static/aarch64-unknown-linux-musl/agones-shim");
    let mut files = vec![PathBuf::from(under_test)];
    files.extend(arm.exists().then_some(arm));
    files
}

fn contains(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn it_needs_nothing_but_a_kernel_and_is_hardened() {
    for path in shipped() {
        let file = fs::read(&path).expect("it can be read");
        let elf = Elf::parse(&file).expect("it is an ELF file");
        assert!(!elf.interpreter, "{}: asks for a loader", path.display());
        assert_eq!(elf.needed, 0, "{}: needs libraries", path.display());
        assert!(elf.relro && elf.write_xor_execute, "{}: {elf:?}", path.display());
        // Rust links static programs for Arm and musl at a fixed address.
        assert!(elf.position_independent || elf.machine == 183, "{}: {elf:?}", path.display());
        assert!(!elf.symbols, "{}: not stripped", path.display());
        // gRPC's threads ask for no size of their own, and musl's default is 128 KiB.
        assert_eq!(elf.stack, 1 << 20, "{}", path.display());
        assert!(matches!(elf.machine, 62 | 183), "{}: {elf:?}", path.display());
    }
}

#[test]
fn it_is_at_most_four_mebibytes() {
    for path in shipped() {
        let size = fs::metadata(&path).expect("it is there").len();
        assert!(size <= LIMIT as u64, "{}: {size} bytes", path.display());
    }
}

#[test]
fn it_says_nothing_of_the_machine_that_built_it() {
    for path in shipped() {
        let file = fs::read(&path).expect("it can be read");
        let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME")).unwrap_or_default();
        for place in [env!("CARGO_MANIFEST_DIR"), home.as_str()] {
            // "/root" alone is a word like any other; as a directory it is a place.
            assert!(place.is_empty() || !contains(&file, &format!("{place}/")), "{} names {place}", path.display());
        }
    }
}

#[test]
fn it_starts_no_thread_that_it_never_needs() {
    let [_, ..] = shipped().as_slice() else { return };
    let (sdk, game) = (ScriptedSdk::start(), Game::open());
    let mut process = shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", "0.2").spawn();
    process.wait_for_line(READY, SOON);
    sdk.wait_for_count("Health", 5, SOON);
    // Ours are main, log, ctrl-c, probe and beat; gRPC's one that polls, one for timers and one for long jobs.
    assert_eq!(process.threads(), 8, "{:?}", proc::thread_names(process.pid()));
    stops_cleanly(&mut process);
}

#[test]
fn the_parser_above_knows_a_dynamic_file() {
    // A negative control: these tests are built by the host's toolchain, against its libc.
    let own = fs::read(env::current_exe().expect("this test has a file")).expect("it can be read");
    let elf = Elf::parse(&own).expect("it is an ELF file");
    assert!(elf.interpreter && elf.needed > 0 && elf.symbols, "{elf:?}");
}
