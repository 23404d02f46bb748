//! Over gRPC: the cluster's timing, words and streams.

use std::time::{Duration, Instant};

use agones_shim::testing::sdk::proto::{self, FieldMask, beta, sdk};
use nix::sys::signal::Signal;

use super::client::{PATIENCE, SdkClient};
use crate::support::local_sdk::LocalSdk;

#[test]
fn ready_shows_after_the_batch_time_and_passes_through_request_ready() {
    let mut server = LocalSdk::start(&[]);
    let client = SdkClient::of(&server);
    assert_eq!(client.status().state, "Scheduled");
    let called = Instant::now();
    client.ask(&proto::READY);
    assert_eq!(client.status().state, "Scheduled", "OK does not mean applied");
    client.wait_for_state("Ready");
    let took = called.elapsed();
    assert!(took >= Duration::from_millis(520), "{took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    server.process().wait_for_line("state     Scheduled -> RequestReady", PATIENCE);
    server.process().wait_for_line("state     RequestReady -> Ready (controller)", PATIENCE);
}

#[test]
fn the_last_state_wins_and_nothing_moves_after_shutdown() {
    let mut server = LocalSdk::start(&["--batch-ms", "200"]);
    let client = SdkClient::of(&server);
    client.ask(&proto::READY);
    client.ask(&proto::SHUTDOWN);
    server.process().wait_for_line("state     Scheduled -> Shutdown", PATIENCE);
    client.ask(&proto::READY);
    server.process().wait_for_line("ignored   RequestReady: the GameServer is being deleted", PATIENCE);
    assert_eq!(client.status().state, "Shutdown");
    assert_ne!(client.game_server().object_meta.expect("meta").deletion_timestamp, 0);
    server.process().assert_no_line("-> RequestReady");
}

#[test]
fn a_reservation_is_over_by_itself() {
    let server = LocalSdk::start(&["--batch-ms", "50"]);
    let client = SdkClient::of(&server);
    let mut watch = client.watch();
    client.call(&proto::RESERVE, &sdk::Duration { seconds: 1 }).expect("accepted");
    let states: Vec<_> = (0..4).map(|_| watch.next_state()).collect();
    assert_eq!(states, ["Scheduled", "Reserved", "RequestReady", "Ready"]);
}

#[test]
fn counters_are_answered_at_once_shown_later_and_refused_as_unknown() {
    let server = LocalSdk::start(&["--batch-ms", "1000"]);
    let client = SdkClient::of(&server);
    assert_eq!(client.set_count("players", 7).expect("in range").count, 7);
    let get = |name: &str| client.call(&proto::GET_COUNTER, &beta::GetCounterRequest { name: name.into() });
    assert_eq!(get("players").expect("declared").count, 7, "before the batch");
    assert_eq!(client.status().counters["players"].count, 0, "the GameServer shows it later");
    assert_eq!(
        client.set_count("players", 1001),
        Err((2, "out of range. Count must be within range [0,Capacity]. Found Count: 1001, Capacity: 1000".into()))
    );
    assert_eq!(get("nope"), Err((2, "counter not found: nope".into())));
}

#[test]
fn lists_over_their_whole_surface() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let client = SdkClient::of(&server);
    let (name, value) = ("players".to_owned(), "ann".to_owned());
    let add = beta::AddListValueRequest { name: name.clone(), value: value.clone() };
    let remove = beta::RemoveListValueRequest { name: name.clone(), value };
    let get = || client.call(&proto::GET_LIST, &beta::GetListRequest { name: name.clone() }).expect("declared");
    assert_eq!(client.call(&proto::ADD_LIST_VALUE, &add).expect("new").values, ["ann"]);
    let twice = "already exists. Value: ann already in List: players";
    assert_eq!(client.call(&proto::ADD_LIST_VALUE, &add), Err((2, twice.into())));
    assert_eq!(client.call(&proto::REMOVE_LIST_VALUE, &remove).expect("there").values, ["ann"], "as it was before");
    assert!(get().values.is_empty());
    let list = Some(beta::List { name: name.clone(), capacity: 1, values: vec!["x".into(), "y".into()] });
    let update_mask = Some(FieldMask { paths: vec!["values".into(), "capacity".into()] });
    client.call(&proto::UPDATE_LIST, &beta::UpdateListRequest { list, update_mask }).expect("in range");
    assert_eq!((get().capacity, get().values), (1, vec!["x".to_owned()]));
}

#[test]
fn labels_and_annotations_get_the_prefix_and_bad_ones_are_invalid_arguments() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let client = SdkClient::of(&server);
    let mut watch = client.watch();
    watch.next();
    let pair = |key: &str, value: &str| sdk::KeyValue { key: key.into(), value: value.into() };
    client.call(&proto::SET_LABEL, &pair("map", "dust")).expect("accepted");
    let labels = watch.next().and_then(|game_server| game_server.object_meta).expect("meta").labels;
    assert_eq!(labels["agones.dev/sdk-map"], "dust");
    client.call(&proto::SET_ANNOTATION, &pair("note", "a b")).expect("accepted");
    let annotations = watch.next().and_then(|game_server| game_server.object_meta).expect("meta").annotations;
    assert_eq!(annotations["agones.dev/sdk-note"], "a b");
    let (code, text) = client.call(&proto::SET_LABEL, &pair("bad key", "v")).expect_err("a blank");
    assert_eq!(code, 3);
    assert!(text.starts_with("invalid label key \"bad key\": "), "{text}");
}

#[test]
fn a_watch_shows_every_change_and_ends_with_the_server() {
    let mut server = LocalSdk::start(&["--batch-ms", "20"]);
    let client = SdkClient::of(&server);
    let mut watch = client.watch();
    assert_eq!(watch.next_state(), "Scheduled");
    client.ask(&proto::READY);
    assert_eq!(watch.next_state(), "RequestReady");
    assert_eq!(watch.next_state(), "Ready");
    client.ask(&proto::ALLOCATE);
    assert_eq!(watch.next_state(), "Allocated");
    server.process().signal(Signal::SIGTERM);
    server.process().expect_code(0, PATIENCE);
    assert_eq!(watch.next(), None);
}

#[test]
fn a_watcher_that_does_not_read_holds_up_nobody_and_is_let_go() {
    let mut server = LocalSdk::start(&["--batch-ms", "0"]);
    let client = SdkClient::of(&server);
    let deaf = SdkClient::of(&server);
    let _never_read = deaf.watch();
    // 60 MB: far more than gRPC buffers on both sides and the server's queue hold.
    let long = "x".repeat(100_000);
    for number in 0..600 {
        let pair = sdk::KeyValue { key: "note".into(), value: format!("{number}{long}") };
        client.call(&proto::SET_ANNOTATION, &pair).expect("accepted");
    }
    let mut watch = client.watch();
    assert_eq!(watch.next_state(), "Scheduled");
    server.process().wait_for_line("let go: 64 GameServers behind", PATIENCE);
}

#[test]
fn a_beat_counts_when_it_arrives_and_not_when_its_stream_closes() {
    let mut server = LocalSdk::start(&[]);
    let client = SdkClient::of(&server);
    let _open = client.open_beat();
    server.process().wait_for_line("call      Health", PATIENCE);
    let mark = server.process().mark();
    client.beats(2);
    server.process().wait_for_line_after(mark, "call      Health", PATIENCE);
    assert_eq!(server.calls().matches("\"Health\"").count(), 3);
}

#[test]
fn sigterm_and_sigint_end_it_with_a_summary() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut server = LocalSdk::start(&["--grace-secs", "0"]);
        let client = SdkClient::of(&server);
        let mut watch = client.watch();
        watch.next();
        let _open = client.open_beat();
        client.ask(&proto::READY);
        server.process().signal(signal);
        server.process().expect_code(0, PATIENCE);
        let last = server.process().wait_for_line("local-sdk: stopped after ", PATIENCE).text;
        assert!(last.ends_with("s, Scheduled; 3 calls (1 Health, 1 Ready, 1 WatchGameServer), 0 refused"), "{last}");
    }
}
