//! The sidecar beside a real dedicated server of Debian's packages (bzflag): Ready when the port opens, 69 when it is killed.
//!
//! Where the package is missing the tests say so and prove nothing; CI installs it.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::scene::*;
use crate::support::local_sdk::LocalSdk;
use crate::support::ports::Port;
use crate::support::{secs, shim};

/// A server of its own process, ended with the test.
struct Server(Child);

impl Server {
    fn start(program: &str, args: &[&str]) -> Option<Self> {
        let path = ["/usr/games", "/usr/sbin", "/usr/bin"].map(|directory| format!("{directory}/{program}"));
        let Some(path) = path.iter().find(|path| std::path::Path::new(path).exists()) else {
            // Past the harness's capture, so that it is seen in every run.
            let _ = writeln!(std::io::stderr().lock(), "SKIPPED, not installed: {program}");
            return None;
        };
        let mut command = Command::new(path);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(Self(command.spawn().expect("it starts")))
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn bzflag_becomes_ready_with_its_port_and_is_gone_when_it_is_killed() {
    let sdk = LocalSdk::start(&[]);
    let reserved = Port::reserve();
    let port = reserved.number().to_string();
    let mut shim = shim()
        .set("READY_TCP", &port)
        .set("HEALTH_INTERVAL_SECS", "0.5")
        .set("LIVE_FAILURE_THRESHOLD", "3")
        .sdk_port(sdk.port())
        .spawn();
    shim.wait_for_line(WAITING, SOON);
    assert_eq!(sdk.state(), "Scheduled");
    drop(reserved);
    let Some(mut server) = Server::start("bzfs", &["-p", &port]) else { return };
    sdk.wait_for_state("Ready", secs(30));
    shim.wait_for_line(READY, SOON);
    server.kill();
    shim.expect_code(69, SOON);
    shim.wait_for_line(LIVENESS_LOST, SOON);
    assert_eq!(sdk.state(), "Ready", "a crash does not look like a clean end");
}

/// Stopped instead of killed, it ends in Shutdown.
#[test]
fn a_real_server_s_sidecar_drains() {
    let sdk = LocalSdk::start(&[]);
    let reserved = Port::reserve();
    let port = reserved.number().to_string();
    drop(reserved);
    let Some(_server) = Server::start("bzfs", &["-p", &port]) else { return };
    let mut shim = shim().set("READY_TCP", &port).sdk_port(sdk.port()).spawn();
    sdk.wait_for_state("Ready", secs(30));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}
