//! Over HTTP: paths, status codes and JSON as Agones' gateway has them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use super::client::PATIENCE;
use crate::support::client::request;
use crate::support::local_sdk::{LocalSdk, json_string};

/// One exchange: the status code and the body.
#[track_caller]
fn exchange(server: &LocalSdk, method: &str, path: &str, body: &str) -> (u16, String) {
    let answer = request(server.http(), method, path, body, PATIENCE).expect("an answer");
    (answer.status, answer.body)
}

#[test]
fn every_call_answers_like_the_gateway() {
    let server = LocalSdk::start(&["--batch-ms", "10000", "-f", &manifest()]);
    let counter = "/v1beta1/counters/rooms";
    let list = "/v1beta1/lists/names";
    let range = "out of range. Count must be within range [0,Capacity]. Found Count:";
    let error = |code: u8, text: &str| json!({"code": code, "message": text, "details": []}).to_string();
    for (method, path, body, status, wanted) in [
        ("POST", "/ready", "{}", 200, "{}".to_owned()),
        ("POST", "/allocate", "{}", 200, "{}".to_owned()),
        ("POST", "/reserve", r#"{"seconds":"5"}"#, 200, "{}".to_owned()),
        ("POST", "/shutdown", "{}", 200, "{}".to_owned()),
        ("POST", "/health", "{}", 200, "{}".to_owned()),
        ("POST", "/health", "", 400, String::new()),
        ("PUT", "/metadata/label", r#"{"key":"k","value":"v"}"#, 200, "{}".to_owned()),
        ("PUT", "/metadata/annotation", r#"{"key":"k","value":"v"}"#, 200, "{}".to_owned()),
        ("GET", counter, "", 200, r#"{"name":"rooms","count":"4","capacity":"10"}"#.to_owned()),
        ("PATCH", counter, r#"{"count":"11"}"#, 500, error(2, &format!("{range} 11, Capacity: 10"))),
        ("PATCH", counter, r#"{"countDiff":"-5"}"#, 500, error(2, &format!("{range} -1, Capacity: 10"))),
        (
            "PATCH",
            counter,
            "{}",
            500,
            r#"{"code":2,"message":"invalid argument. Malformed CounterUpdateRequest: name:\"rooms\"","details":[]}"#
                .to_owned(),
        ),
        ("PATCH", counter, r#"{"count":"5"}"#, 200, r#"{"name":"rooms","count":"5","capacity":"10"}"#.to_owned()),
        ("GET", counter, "", 200, r#"{"name":"rooms","count":"5","capacity":"10"}"#.to_owned()),
        ("GET", "/v1beta1/counters/nope", "", 500, error(2, "counter not found: nope")),
        ("PATCH", "/v1beta1/counters/nope", r#"{"count":"1"}"#, 500, error(2, "counter not found: nope")),
        ("GET", "/v1beta1/lists/nope", "", 500, error(2, "list not found: nope")),
        (
            "POST",
            &format!("{list}:addValue"),
            r#"{"value":"bob"}"#,
            200,
            r#"{"name":"names","capacity":"2","values":["ann","bob"]}"#.to_owned(),
        ),
        (
            "POST",
            &format!("{list}:addValue"),
            r#"{"value":"cid"}"#,
            500,
            error(2, "out of range. No available capacity. Current Capacity: 2, List Size: 2"),
        ),
        ("PATCH", list, r#"{"capacity":"3"}"#, 200, r#"{"name":"","capacity":"0","values":[]}"#.to_owned()),
        (
            "POST",
            &format!("{list}:addValue"),
            r#"{"value":"ann"}"#,
            500,
            error(2, "already exists. Value: ann already in List: names"),
        ),
        (
            "POST",
            &format!("{list}:removeValue"),
            r#"{"value":"ann"}"#,
            200,
            r#"{"name":"names","capacity":"3","values":["bob"]}"#.to_owned(),
        ),
        // It still waits in the batch: the answer is the List as it was before, and the List is without it.
        (
            "POST",
            &format!("{list}:removeValue"),
            r#"{"value":"bob"}"#,
            200,
            r#"{"name":"names","capacity":"3","values":["bob"]}"#.to_owned(),
        ),
        ("GET", list, "", 200, r#"{"name":"names","capacity":"3","values":[]}"#.to_owned()),
        (
            "POST",
            &format!("{list}:removeValue"),
            r#"{"value":"zoe"}"#,
            500,
            error(2, "not found: value zoe not in list names"),
        ),
        ("GET", "/nope", "", 404, error(5, "Not Found")),
        ("GET", "/ready", "", 501, error(12, "Method Not Allowed")),
        ("POST", "/gameserver", "{}", 501, error(12, "Method Not Allowed")),
        ("DELETE", list, "", 501, error(12, "Method Not Allowed")),
        ("GET", &format!("{list}:addValue"), "", 501, error(12, "Method Not Allowed")),
        ("POST", counter, "{}", 501, error(12, "Method Not Allowed")),
        ("POST", "/metadata/label", "{}", 501, error(12, "Method Not Allowed")),
    ] {
        assert_eq!(exchange(&server, method, path, body), (status, reordered(&wanted)), "{method} {path} {body}");
    }
    for (method, path, body, start) in [
        ("POST", "/reserve", "{x", "the body is not the JSON that was expected: "),
        ("POST", "/ready", "not JSON", "the body is not the JSON that was expected: "),
        ("PUT", "/metadata/label", r#"{"key":"bad key","value":"v"}"#, "invalid label key \"bad key\": "),
        ("PUT", "/metadata/label", r#"{"key":"k","value":"a b"}"#, "invalid label value \"a b\" for key \"k\": "),
        ("PUT", "/metadata/annotation", r#"{"key":"","value":"v"}"#, "invalid annotation key \"\": "),
    ] {
        let (status, body) = exchange(&server, method, path, body);
        let error: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, &error["code"]), (400, &json!(3)), "{body}");
        assert!(error["message"].as_str().expect("a text").starts_with(start), "{body}");
    }
}

/// serde_json sorts names; the gateway writes code, message, details.
fn reordered(text: &str) -> String {
    let Ok(Value::Object(error)) = serde_json::from_str(text) else { return text.to_owned() };
    match (error.get("code"), error.get("message")) {
        (Some(code), Some(message)) => format!(r#"{{"code":{code},"message":{message},"details":[]}}"#),
        _ => text.to_owned(),
    }
}

#[test]
fn the_game_server_has_unset_fields_too_and_its_numbers_are_strings() {
    let server = LocalSdk::start(&["-f", &manifest()]);
    let mut game_server: Value = serde_json::from_str(&exchange(&server, "GET", "/gameserver", "").1).expect("JSON");
    let meta = game_server["object_meta"].as_object_mut().expect("meta");
    let created = meta.insert("creation_timestamp".into(), json!("…")).expect("there");
    assert!(
        created.as_str().is_some_and(|seconds| seconds.parse::<i64>().is_ok_and(|seconds| seconds > 1_600_000_000))
    );
    meta.insert("uid".into(), json!("…"));
    let port = game_server["status"]["ports"][0]["port"].take();
    assert!(port.as_i64().is_some_and(|port| (7000..=8000).contains(&port)), "{port}");
    assert_eq!(
        game_server,
        json!({
            "object_meta": {
                "name": "web", "namespace": "games", "uid": "…", "resource_version": "1", "generation": "1",
                "creation_timestamp": "…", "deletion_timestamp": "0", "annotations": {}, "labels": {"a": "b"},
            },
            "spec": {"health": {
                "disabled": true, "period_seconds": 5, "failure_threshold": 3, "initial_delay_seconds": 5,
            }},
            "status": {
                "state": "Scheduled", "address": "127.0.0.1", "ports": [{"name": "game", "port": null}], "players": null,
                "counters": {"rooms": {"count": "4", "capacity": "10"}},
                "lists": {"names": {"capacity": "2", "values": ["ann"]}},
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            },
        })
    );
}

#[test]
fn a_watch_is_json_lines_that_come_as_things_happen() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let mut stream = TcpStream::connect(server.http()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(b"GET /watch/gameserver HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("in time"));
    let mut next_state = || {
        let line = lines.find(|line| line.starts_with('{')).expect("a line");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        line["result"]["status"]["state"].as_str().expect("a state").to_owned()
    };
    assert_eq!(next_state(), "Scheduled");
    exchange(&server, "POST", "/ready", "{}");
    assert_eq!(next_state(), "RequestReady");
    assert_eq!(next_state(), "Ready");
}

#[test]
fn an_allocator_a_dead_game_and_kubectl_can_be_played() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let (status, body) = exchange(&server, "POST", "/local/allocate", "");
    assert_eq!(status, 400);
    assert!(body.contains("only a Ready or Allocated GameServer can be allocated, this one is Scheduled"), "{body}");
    exchange(&server, "POST", "/ready", "{}");
    server.wait_for_state("Ready", PATIENCE);
    assert_eq!(exchange(&server, "POST", "/local/allocate", ""), (200, "{}".into()));
    assert_eq!(server.state(), "Allocated", "at once");
    let stamp = || json_string(&server.get("/gameserver").body, "agones.dev/last-allocated").expect("a stamp");
    let first = stamp();
    assert_eq!(exchange(&server, "POST", "/local/allocate", "").0, 200, "once more");
    assert_ne!(stamp(), first);
    assert!(exchange(&server, "GET", "/local/fleet-scale-down", "").1.contains(r#""chosen":false"#));
    assert_eq!(exchange(&server, "POST", "/local/delete", ""), (200, "{}".into()));
    assert_eq!(server.state(), "Allocated", "kubectl delete leaves the state");
    assert!(!server.get("/gameserver").body.contains(r#""deletion_timestamp":"0""#));
    assert_eq!(exchange(&server, "POST", "/local/unhealthy", "").0, 400, "it goes anyway");
    assert_eq!(exchange(&server, "POST", "/local/reset", ""), (200, "{}".into()));
    assert_eq!(server.state(), "Scheduled");
    assert!(server.get("/gameserver").body.contains(r#""deletion_timestamp":"0""#));
    assert_eq!(exchange(&server, "POST", "/local/unhealthy", ""), (200, "{}".into()));
    assert_eq!(server.state(), "Unhealthy");
}

#[test]
fn the_calls_seen_so_far_are_a_list() {
    let server = LocalSdk::start(&[]);
    exchange(&server, "POST", "/reserve", r#"{"seconds":"30"}"#);
    exchange(&server, "GET", "/v1beta1/counters/nope", "");
    let calls: Value = serde_json::from_str(&server.calls()).expect("JSON");
    let calls = calls.as_array().expect("a list");
    assert!(calls[0]["time_ms"].as_u64().expect("a number") <= calls[1]["time_ms"].as_u64().expect("a number"));
    let without_time = |call: &Value| {
        let mut call = call.clone();
        call["time_ms"].take();
        call
    };
    assert_eq!(
        calls.iter().map(without_time).collect::<Vec<_>>(),
        [
            json!({"time_ms": null, "via": "http", "method": "Reserve", "arguments": {"seconds": "30"},
                "code": 0, "outcome": "OK"}),
            json!({"time_ms": null, "via": "http", "method": "GetCounter", "arguments": {"name": "nope"},
                "code": 2, "outcome": "counter not found: nope"}),
        ]
    );
}

#[test]
fn curl_does_what_a_shell_script_does() {
    let server = LocalSdk::start(&["--batch-ms", "20"]);
    let curl = |args: &[&str], path: &str| {
        let url = format!("http://{}{path}", server.http());
        let output =
            Command::new("curl").args(["-sS", "--max-time", "20", "--noproxy", "*"]).args(args).arg(url).output();
        let output = output.expect("curl is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(curl(&["-d", "{}", "-H", "Content-Type: application/json"], "/ready"), "{}");
    server.wait_for_state("Ready", PATIENCE);
    assert_eq!(curl(&["-d", "{}"], "/health"), "{}");
    let patched = curl(&["-X", "PATCH", "-d", r#"{"count":"3"}"#], "/v1beta1/counters/players");
    assert_eq!(patched, r#"{"name":"players","count":"3","capacity":"1000"}"#);
    assert!(curl(&[], "/gameserver").contains(r#""state":"Ready""#));
    assert_eq!(curl(&["-X", "POST"], "/shutdown"), "{}");
    server.wait_for_state("Shutdown", PATIENCE);
}

fn manifest() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/local_sdk/web.yaml").to_owned()
}
