//! Over gRPC: the cluster's timing and rules.

use std::time::{Duration, Instant};

use agones_shim::proto::{self, sdk};
use nix::sys::signal::Signal;

use super::server::{LocalSdk, next};

#[test]
fn ready_shows_after_the_batch_time_and_passes_through_request_ready() {
    let mut server = LocalSdk::start(&[]);
    let client = server.client();
    assert_eq!(client.state(), "Scheduled");
    let called = Instant::now();
    client.ready();
    assert_eq!(client.state(), "Scheduled", "OK does not mean applied");
    client.wait_for_state("Ready");
    let took = called.elapsed();
    assert!(took >= Duration::from_millis(520), "{took:?}");
    assert!(took < Duration::from_millis(1500), "{took:?}");
    server.wait_for("Scheduled -> RequestReady");
    server.wait_for("RequestReady -> Ready");
}

#[test]
fn the_last_state_wins_and_rides_on_the_running_timer() {
    let mut server = LocalSdk::start(&["--batch-ms", "300"]);
    let client = server.client();
    client.ready();
    client.shutdown();
    client.wait_for_state("Shutdown");
    server.wait_for("Scheduled -> Shutdown");
    client.ready();
    server.wait_for("ignored   RequestReady: the GameServer is being deleted");
    assert_eq!(client.state(), "Shutdown");
    assert_ne!(client.game_server().object_meta.expect("meta").deletion_timestamp, 0);
}

#[test]
fn counters_follow_the_clusters_rules_and_words() {
    let server = LocalSdk::start(&[]);
    let client = server.client();
    assert_eq!(client.set_count("players", 7).expect("in range").count, 7);
    assert_eq!(client.counter("players").expect("declared").count, 7, "before the batch");
    assert_eq!(
        client.game_server().status.expect("status").counters["players"].count,
        0,
        "the GameServer shows it later"
    );
    assert_eq!(
        client.set_count("players", 1001),
        Err((2, "out of range. Count must be within range [0,Capacity]. Found Count: 1001, Capacity: 1000".into()))
    );
    assert_eq!(client.counter("nope"), Err((2, "counter not found: nope".into())));
}

#[test]
fn a_watch_shows_every_change() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let client = server.client();
    let mut watch = client.watch();
    let state = |game_server: sdk::GameServer| game_server.status.expect("status").state;
    assert_eq!(state(next(&mut watch)), "Scheduled");
    client.ready();
    assert_eq!(state(next(&mut watch)), "RequestReady");
    assert_eq!(state(next(&mut watch)), "Ready");
    client.call(&proto::ALLOCATE, &sdk::Empty {}).expect("Allocate");
    assert_eq!(state(next(&mut watch)), "Allocated");
}

#[test]
fn a_beat_counts_when_it_arrives() {
    let mut server = LocalSdk::start(&[]);
    server.client().beats(3);
    for _ in 0..3 {
        server.wait_for("call      Health");
    }
}

#[test]
fn sigterm_ends_it_with_a_summary_also_while_somebody_watches() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut server = LocalSdk::start(&[]);
        let client = server.client();
        let mut watch = client.watch();
        next(&mut watch);
        client.ready();
        assert_eq!(server.stop(signal).code(), Some(0));
        server.wait_for("1 Ready");
    }
}
