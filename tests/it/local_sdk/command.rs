//! The command itself: its output, and errors for people.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::client::{PATIENCE, SdkClient};
use super::health::TempFile;
use crate::support::local_sdk::LocalSdk;
use crate::support::shim::{Finished, binary, shim};

#[track_caller]
fn run(args: &[&str]) -> Finished {
    shim().arg("local-sdk").args(args).run(PATIENCE)
}

#[track_caller]
fn fails(args: &[&str], code: i32, wanted: &str) {
    let finished = run(args);
    assert_eq!((finished.code, finished.stdout.as_str()), (code, ""), "{}", finished.stderr);
    assert_eq!(finished.stderr, format!("agones-shim: local-sdk: {wanted}\n"));
}

#[test]
fn a_second_server_on_the_same_port_says_what_to_do() {
    let server = LocalSdk::start(&[]);
    for (side, address) in [("grpc", server.grpc().to_string()), ("http", server.http().to_string())] {
        let wanted = format!(
            "--{side}: cannot listen on {address}: Address already in use (os error 98); is another SDK server running? \
             (--{side} ADDR picks another address, port 0 a free one)"
        );
        let side = format!("--{side}");
        let mut args = vec!["--grpc", "127.0.0.1:0", "--http", "off", "--health", "off"];
        args.extend([side.as_str(), address.as_str()]);
        let finished = run(&args);
        assert_eq!(finished.code, 71);
        // musl's words are shorter than glibc's.
        let said = finished.stderr.replace("Address in use", "Address already in use");
        assert_eq!(said, format!("agones-shim: local-sdk: {wanted}\n"));
    }
}

#[test]
fn bad_arguments_are_named() {
    fails(&["--batch-ms", "5s"], 64, "--batch-ms: \"5s\" is not a number from 0 to 3600000");
    fails(&["--nope"], 64, "invalid option '--nope'; see agones-shim local-sdk --help");
}

#[test]
fn a_bad_manifest_is_named_with_its_place_before_anything_listens() {
    let file = TempFile::new("kind: GameServer\nspec:\n  health:\n    periodSeconds: \"5\"\n");
    let path = file.0.to_str().expect("UTF-8");
    let wanted =
        format!("{path}: line 4, column 20: spec.health.periodSeconds: this is a string, it must be a whole number");
    fails(&["-f", path], 78, &wanted);
    let file = TempFile::new("a:\n- b: [\n");
    let path = file.0.to_str().expect("UTF-8");
    let finished = run(&["-f", path]);
    assert_eq!(finished.code, 78);
    assert!(
        finished.stderr.starts_with(&format!("agones-shim: local-sdk: {path}: line 3, column ")),
        "{}",
        finished.stderr
    );
    fails(&["-f", "/nope.yaml"], 78, "/nope.yaml: No such file or directory (os error 2)");
    let file = TempFile::new("root:x:0:0:root:/root:/bin/sh\n");
    let path = file.0.to_str().expect("UTF-8");
    fails(&["-f", path], 78, &format!("{path}: no GameServer and no Fleet in it (found: nothing of Kubernetes')"));
}

#[test]
fn the_game_server_as_understood_can_be_printed() {
    let file = TempFile::new(
        r#"{"kind": "Fleet", "metadata": {"name": "cs"}, "spec": {"template": {"spec": {
            "ports": [{"name": "a", "portPolicy": "Static", "hostPort": 81, "protocol": "TCPUDP"},
                      {"name": "b", "portPolicy": "None", "containerPort": 82}]}}}}"#,
    );
    let finished = run(&["--print-gameserver", "-f", file.0.to_str().expect("UTF-8")]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let game_server: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(game_server["object_meta"]["name"], "cs-local");
    let ports = r#"[{"name":"a-tcp","port":81},{"name":"a-udp","port":81},{"name":"b","port":82}]"#;
    assert_eq!(game_server["status"]["ports"].to_string(), ports);
}

#[test]
fn two_servers_never_pick_the_same_port_and_a_deleted_game_server_hands_its_own_back() {
    let mut first = LocalSdk::start(&[]);
    let second = LocalSdk::start(&[]);
    let port = |server: &LocalSdk| SdkClient::of(server).status().ports[0].port;
    assert_ne!(port(&first), port(&second));
    let wanted = format!("ports     handed back: default={}", port(&first));
    first.post("/local/delete", "");
    first.process().wait_for_line(&wanted, PATIENCE);
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let mut child = Command::new(binary())
        .args(["local-sdk", "--grpc", "127.0.0.1:0", "--http", "off", "--health", "off"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut first).expect("a line");
    // The pipe is closed from here on.
    let address = first.trim_end().rsplit(' ').next().and_then(|address| address.parse().ok()).expect("an address");
    let client = SdkClient::new(address);
    for _ in 0..20 {
        client.game_server();
    }
    assert!(child.try_wait().expect("own child").is_none());
    child.kill().and_then(|()| child.wait()).expect("own child");
}

#[test]
fn help_and_silence_have_their_codes() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("--print-gameserver"));
}
