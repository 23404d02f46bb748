//! What has to hold for any manifest and any sequence of HTTP requests. Called by the fuzz targets and by the replay of
//! their corpora; the release binary has none of it.

use std::time::Duration;

use super::gameserver::{GameServer, Setting};
use super::request::{Reply, Request};
use super::routes::{self, Route};
use super::{change::State, json};
use crate::manifest;
use crate::manifest::spec::Spec;

fn setting(spec: &Spec) -> Setting {
    let ports = spec.ports.iter().map(|port| (port.name.clone(), 7000)).collect();
    Setting {
        batch: Duration::from_millis(500),
        epoch: Duration::from_secs(1_700_000_000),
        address: "127.0.0.1".to_owned(),
        ports,
    }
}

fn assert_json(text: &str) {
    assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "no JSON: {text}");
}

/// Arbitrary bytes as a manifest: it is refused with a reason, or a GameServer can be made of it and shown; and
/// `check -f` has something to say of it.
///
/// # Panics
///
/// When that does not hold: a bug in this module.
pub fn manifest(bytes: &[u8]) {
    manifest::fuzz::check(bytes);
    let text = String::from_utf8_lossy(bytes);
    match manifest::parse(&text) {
        Err(reason) => assert!(!reason.trim().is_empty(), "refused without a reason"),
        Ok(spec) => {
            for counter in spec.counters.values() {
                assert!((0..=counter.capacity).contains(&counter.count), "{counter:?}");
            }
            for list in spec.lists.values() {
                let held = i64::try_from(list.values.len()).expect("a small file");
                assert!(held <= list.capacity, "{held} values, capacity {}", list.capacity);
            }
            let setting = setting(&spec);
            assert_json(&json::pretty_game_server(&GameServer::new(spec, setting, Duration::ZERO).snapshot()));
        }
    }
}

/// Arbitrary bytes as requests, each `METHOD TARGET` in its first line and the rest its body, with a NUL byte and a
/// byte of time between one and the next: replies are JSON, counts and Lists stay within their capacities, and nothing
/// leaves the states that are an end.
///
/// # Panics
///
/// When that does not hold: a bug in this module.
pub fn http(bytes: &[u8]) {
    let spec = Spec::default();
    let setting = setting(&spec);
    let mut game_server = GameServer::new(spec, setting, Duration::ZERO);
    let (mut now, mut rest) = (Duration::ZERO, bytes);
    loop {
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        let before = game_server.state();
        request(&mut game_server, now, &rest[..end]);
        let Some(&pause) = rest.get(end + 1) else { break };
        rest = &rest[end + 2..];
        now += Duration::from_millis(50) * u32::from(pause);
        game_server.tick(now, &mut Vec::new());
        let after = game_server.state();
        let ends = matches!(before, State::Shutdown | State::Unhealthy);
        assert!(!ends || before == after || after == State::Unhealthy, "{before:?} became {after:?}");
        let shown = game_server.snapshot().status.unwrap_or_default();
        for (name, counter) in &shown.counters {
            assert!((0..=counter.capacity).contains(&counter.count), "{name}: {counter:?}");
        }
        for (name, list) in &shown.lists {
            let held = i64::try_from(list.values.len()).expect("a small input");
            assert!((0..=list.capacity).contains(&held), "{name}: {list:?}");
        }
    }
}

fn request(game_server: &mut GameServer, now: Duration, bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let line = String::from_utf8_lossy(&bytes[..end]);
    let body = bytes.get(end + 1..).unwrap_or_default();
    let (method, target) = line.split_once(' ').unwrap_or((&line, ""));
    match routes::route(method, target, body) {
        Ok(Route::Call(call)) => carry_out(game_server, now, &call),
        Ok(Route::Beats(count)) => (0..count.min(3)).for_each(|_| carry_out(game_server, now, &Request::Health)),
        Ok(Route::Watch | Route::Calls | Route::Page | Route::View) => {}
        Err(refusal) => assert_json(&json::refusal(&refusal)),
    }
}

fn carry_out(game_server: &mut GameServer, now: Duration, call: &Request) {
    // The line that is printed for each.
    assert!(!call.to_string().is_empty());
    match game_server.call(now, call, &mut Vec::new()) {
        Ok(reply @ (Reply::GameServer(_) | Reply::Counter(_) | Reply::List(_) | Reply::Empty | Reply::Text(_))) => {
            assert_json(&json::reply(&reply));
        }
        Ok(other) => panic!("{call}: {other:?}"),
        Err(refusal) => assert_json(&json::refusal(&refusal)),
    }
}
