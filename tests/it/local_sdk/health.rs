//! Health is enforced, in real time and at the kubelet's port.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::client::{PATIENCE, SdkClient};
use crate::support::client::get;
use crate::support::local_sdk::LocalSdk;
use crate::support::wait::{let_pass, until_true};

/// A server with this `spec.health`, its health port, and its manifest's file.
fn start(health: &str) -> (LocalSdk, SocketAddr, TempFile) {
    let file = TempFile::new(&format!("kind: GameServer\nspec: {{health: {health}}}\n"));
    let mut server = LocalSdk::start(&["--health", "127.0.0.1:0", "-f", file.0.to_str().expect("UTF-8")]);
    let line = server.process().wait_for_line("local-sdk: health listening on ", PATIENCE).text;
    let address = line.rsplit(' ').next().and_then(|address| address.parse().ok()).expect("an address");
    (server, address, file)
}

fn status(address: SocketAddr, path: &str) -> u16 {
    get(address, path, PATIENCE).expect("an answer").status
}

#[test]
fn without_beats_it_turns_unhealthy_and_the_kubelet_hears_it() {
    let (server, kubelet, _file) = start("{initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 2}");
    let started = Instant::now();
    assert_eq!(get(kubelet, "/gshealthz", PATIENCE).expect("an answer").body, "ok");
    until_true("/gshealthz 500", PATIENCE, || status(kubelet, "/gshealthz") == 500);
    let client = SdkClient::of(&server);
    client.wait_for_state("Unhealthy");
    assert!(started.elapsed() > Duration::from_millis(2300), "{:?}", started.elapsed());
    assert_eq!(status(kubelet, "/healthz"), 200, "the SDK server itself is fine");
    assert_eq!(status(kubelet, "/nope"), 404);
}

#[test]
fn beats_keep_it_healthy_whichever_side_they_come_by() {
    let (server, kubelet, _file) = start("{initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 2}");
    let client = SdkClient::of(&server);
    for turn in 0..10 {
        if turn % 2 == 0 {
            client.beats(1);
        } else {
            assert_eq!(server.post("/health", "{}").status, 200);
        }
        let_pass(Duration::from_millis(400));
    }
    assert_eq!(status(kubelet, "/gshealthz"), 200);
    assert_eq!(server.state(), "Scheduled");
    client.wait_for_state("Unhealthy");
}

#[test]
fn nothing_watches_where_health_is_disabled() {
    let (server, kubelet, _file) =
        start("{disabled: true, initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 1}");
    let_pass(Duration::from_secs(3));
    assert_eq!(status(kubelet, "/gshealthz"), 200);
    assert_eq!(server.state(), "Scheduled");
}

/// A file that goes with its test.
pub struct TempFile(pub PathBuf);

impl TempFile {
    pub fn new(text: &str) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("agones-shim-local-sdk-{}-{number}.yaml", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        Self(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
