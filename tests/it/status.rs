//! The status endpoint as kubelets, Prometheus and people use it.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::support::client::{Response, get, request};
use crate::support::query_game::{QueryGame, quake3};
use crate::support::shim::Builder;
use crate::support::wait::{let_pass, until, until_true};
use crate::support::{Answer, Game, Port, ScriptedSdk, Shim, millis, proc, secs, shim};

pub const OPEN: &str = "the status endpoint is open";
pub const READY: &str = "the GameServer is ready";

/// A shim with the endpoint on a loopback port of its own.
pub fn served(builder: Builder) -> (Shim, SocketAddr, Port) {
    let port = Port::reserve();
    let mut shim = builder.set("STATUS_ADDR", port.addr()).spawn();
    shim.wait_for_line(OPEN, secs(10));
    (shim, port.addr(), port)
}

pub fn page(addr: SocketAddr, path: &str) -> Response {
    get(addr, path, secs(10)).unwrap_or_else(|error| panic!("GET {path}: {error}"))
}

pub fn status(addr: SocketAddr) -> Value {
    serde_json::from_str(&page(addr, "/status").body).expect("JSON")
}

#[test]
fn readyz_follows_the_life_cycle_and_healthz_the_loop() {
    let sdk = ScriptedSdk::start();
    let mut game = Game::closed();
    let (mut shim, addr, _port) = served(shim().sdk(&sdk).set("READY_TCP", game.port()));
    let waiting = page(addr, "/readyz");
    assert_eq!((waiting.status, waiting.body.as_str()), (503, "not ready: waiting\n"));
    let healthy = page(addr, "/healthz");
    assert_eq!((healthy.status, healthy.body.as_str()), (200, "ok\n"));
    game.listen();
    shim.wait_for_line(READY, secs(20));
    until_true("/readyz to say so", secs(5), || page(addr, "/readyz").status == 200);

    sdk.always("Shutdown", Answer::Ignored);
    shim.signal(nix::sys::signal::Signal::SIGTERM);
    shim.wait_for_line("Shutdown() is acknowledged", secs(10));
    assert_eq!(page(addr, "/readyz").body, "not ready: stopping\n");
    let stop = &status(addr)["stop"];
    assert_eq!((&stop["reason"], &stop["shutdown"]), (&"signal".into(), &"confirming".into()), "{stop}");
}

#[test]
fn other_requests_are_answered_with_what_there_is() {
    let game = Game::closed();
    let (_shim, addr, _port) = served(shim().without_sdk().set("READY_TCP", game.port()));
    let nothing = page(addr, "/nothing");
    assert_eq!((nothing.status, nothing.body.as_str()), (404, "there is /, /healthz, /readyz, /metrics and /status\n"));
    let absolute = request(addr, "GET", &format!("http://{addr}/healthz"), "", secs(10)).expect("an answer");
    assert_eq!((absolute.status, absolute.body.as_str()), (200, "ok\n"), "as a proxy asks");
    let posted = request(addr, "POST", "/status", "{}", secs(10)).expect("an answer");
    assert_eq!(posted.status, 405);
    assert!(posted.head.contains("Allow: GET, HEAD"), "{}", posted.head);
    let head = request(addr, "HEAD", "/status", "", secs(10)).expect("an answer");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.head.contains("Content-Type: application/json"), "{}", head.head);
}

#[test]
fn status_says_what_it_waits_for_since_when_and_why() {
    let game = Game::closed();
    let (mut shim, addr, _port) = served(
        shim()
            .without_sdk()
            .set("READY_TCP", game.port())
            .set("SDK_CONNECT_TIMEOUT_SECS", 1)
            .set("COUNTER_NAME", "players")
            .set("COUNTER_METRICS_URL", game.url("/metrics"))
            .set("COUNTER_METRIC", "players"),
    );
    shim.wait_for_line("NO AGONES SDK SERVER", secs(10));
    let seen = status(addr);
    assert_eq!(seen["phase"], "waiting");
    assert_eq!(seen["mode"], "sidecar");
    assert_eq!(seen["waiting_for"], "the readiness probes");
    let refused = format!("tcp localhost:{}: connection refused", game.port());
    assert_eq!(seen["last_failure"], refused.as_str());
    assert_eq!(seen["readiness"]["probes"][0]["reason"], "connection refused");
    assert_eq!((&seen["sdk"]["up"], &seen["sdk"]["probe_only"]), (&false.into(), &true.into()));
    let error = seen["sdk"]["last_error"].as_str().expect("a reason");
    assert!(error.ends_with("connection refused"), "{error}");
    assert_eq!(seen["gameserver"], Value::Null);
    assert_eq!(seen["liveness"], Value::Null);
    assert_eq!((&seen["counter"]["name"], &seen["counter"]["reading"]), (&"players".into(), &Value::Null));
    assert!(seen["phase_seconds"].as_f64().expect("a number") >= 1.0);
    let connect = &seen["calls"][0];
    assert_eq!((&connect["method"], &connect["ok"]), (&"Connect".into(), &0.into()));
    assert!(connect["unavailable"].as_u64().expect("a number") >= 1, "{connect}");
}

/// A sidecar beside this game that publishes the metric `players` of that endpoint.
fn counting(sdk: &ScriptedSdk, game: &Game, metrics: &Game) -> crate::support::shim::Builder {
    shim()
        .sdk(sdk)
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("COUNTER_NAME", "players")
        .set("COUNTER_METRICS_URL", metrics.url("/metrics"))
        .set("COUNTER_METRIC", "players")
}

#[test]
fn status_shows_beats_probes_counter_and_calls_of_a_running_game() {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let game = Game::open();
    let metrics = Game::open();
    metrics.reply(crate::support::Reply::text("players 150\n"));
    let (mut shim, addr, _port) = served(counting(&sdk, &game, &metrics));
    shim.wait_for_line("above the Counter's capacity", secs(20));
    let seen = until("beats and a counter", secs(20), || {
        let seen = status(addr);
        (seen["beats"]["sent"].as_u64() >= Some(3) && seen["counter"]["sent"] == 100).then_some(seen)
    });
    assert_eq!(seen["phase"], "ready");
    assert_eq!(
        (&seen["waiting_for"], &seen["last_failure"], &seen["stop"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!((&seen["counter"]["reading"], &seen["counter"]["capacity"]), (&150.into(), &100.into()));
    assert_eq!((&seen["gameserver"]["name"], &seen["gameserver"]["state"]), (&"scripted".into(), &"Ready".into()));
    let probe = &seen["liveness"]["probes"][0];
    assert_eq!((&probe["probe"], &probe["passed"]), (&format!("tcp localhost:{}", game.port()).into(), &true.into()));
    assert_eq!((&seen["health"]["watching"], &seen["health"]["alive"]), (&true.into(), &true.into()));
    assert_eq!(seen["beats"]["interval_seconds"], 0.2);
    let calls = seen["calls"].as_array().expect("a list");
    let methods: BTreeSet<&str> = calls.iter().filter_map(|call| call["method"].as_str()).collect();
    assert_eq!(methods, BTreeSet::from(["Connect", "GetGameServer", "Ready", "Health", "GetCounter", "UpdateCounter"]));
}

#[test]
fn beats_that_are_withheld_or_fail_are_counted() {
    let sdk = ScriptedSdk::start();
    let mut game = Game::open();
    let (mut shim, addr, _port) = served(
        shim()
            .sdk(&sdk)
            .set("READY_TCP", game.port())
            .set("HEALTH_INTERVAL_SECS", "0.2")
            .set("LIVE_FAILURE_THRESHOLD", 1000),
    );
    shim.wait_for_line(READY, secs(20));
    assert_eq!(status(addr)["beats"]["withheld"], 0);
    game.die();
    until_true("withheld beats", secs(20), || status(addr)["beats"]["withheld"].as_u64() >= Some(2));
    let seen = status(addr);
    assert_eq!((&seen["health"]["alive"], &seen["beats"]["failed"]), (&false.into(), &0.into()));
    assert_eq!(seen["liveness"]["probes"][0]["reason"], "connection refused");
    game.listen();
    sdk.always("Health", Answer::unknown("no"));
    until_true("failed beats", secs(20), || status(addr)["beats"]["failed"].as_u64() >= Some(2));
}

#[test]
fn a_loop_that_hangs_in_a_call_is_503_on_healthz_and_still_ready() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let (mut shim, addr, _port) = served(
        shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", 1).set("SDK_CALL_TIMEOUT_SECS", 30),
    );
    shim.wait_for_line(READY, secs(20));
    sdk.always("Health", Answer::Hang(secs(60)));
    sdk.wait_for_new_call("Health", secs(10));
    let began = Instant::now();
    let ready = page(addr, "/readyz");
    assert_eq!(ready.status, 200);
    // A kubelet waits a second by default; who asks the loop waits for 3.
    assert!(began.elapsed() < millis(2900), "{:?}", began.elapsed());
    let stuck = page(addr, "/healthz");
    assert_eq!((stuck.status, stuck.body.as_str()), (503, "the shim's loop does not answer\n"));
    assert!((millis(2900)..secs(20)).contains(&began.elapsed()), "{:?}", began.elapsed());
}

/// The inodes of the sockets on which a process listens.
fn listening(pid: i32) -> BTreeSet<String> {
    let sockets = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors").filter_map(|fd| {
        let link = std::fs::read_link(fd.ok()?.path()).ok()?;
        Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    });
    let own: BTreeSet<String> = sockets.collect();
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let lines = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in lines.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            // 0A is LISTEN, and 07 what UDP sockets are in.
            if matches!(words.get(3), Some(&"0A" | &"07")) && words.get(9).is_some_and(|inode| own.contains(*inode)) {
                found.insert(format!("{table} {}", words[1]));
            }
        }
    }
    found
}

#[test]
fn nothing_listens_unless_asked() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let mut quiet = shim().sdk(&sdk).set("READY_TCP", game.port()).spawn();
    quiet.wait_for_line(READY, secs(20));
    assert_eq!(listening(quiet.pid()), BTreeSet::new());
    assert!(!proc::thread_names(quiet.pid()).contains(&"status".to_owned()));

    let (asked, _, _port) = served(shim().without_sdk().set("READY_TCP", game.port()));
    assert_eq!(listening(asked.pid()).len(), 1, "the check itself works");
}

#[test]
fn a_port_in_use_is_one_clear_line_never_fatal_and_tried_again() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = taken.local_addr().expect("bound");
    let mut shim = shim().sdk(&sdk).set("READY_TCP", game.port()).set("STATUS_ADDR", addr).spawn();
    let line = shim.wait_for_line("the port is in use", secs(10)).text;
    assert!(line.contains(" ERROR ") && line.contains("AGONES_SHIM_STATUS_ADDR"), "{line}");
    shim.wait_for_line(READY, secs(20));
    let_pass(millis(2500));
    assert_eq!(shim.count_lines("the status endpoint"), 1, "said once, not once a second");
    drop(taken);
    shim.wait_for_line(OPEN, secs(10));
    assert_eq!(page(addr, "/readyz").status, 200);
}

#[test]
fn a_bare_port_means_all_addresses_of_both_families() {
    let game = Game::closed();
    let port = Port::reserve();
    let mut shim = shim().without_sdk().set("READY_TCP", game.port()).set("STATUS_ADDR", port.number()).spawn();
    shim.wait_for_line(OPEN, secs(10));
    assert_eq!(page(SocketAddr::from((Ipv4Addr::LOCALHOST, port.number())), "/healthz").status, 200);
    // Another address of the same host, as a kubelet would use one.
    assert_eq!(page(SocketAddr::from((Ipv4Addr::new(127, 1, 2, 3), port.number())), "/healthz").status, 200);
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        assert_eq!(page(SocketAddr::from((Ipv6Addr::LOCALHOST, port.number())), "/healthz").status, 200);
    }
}

#[test]
fn without_scrapers_the_status_thread_does_not_wake_up() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let (mut shim, addr, _port) =
        served(shim().sdk(&sdk).set("READY_TCP", game.port()).set("HEALTH_INTERVAL_SECS", "0.2"));
    shim.wait_for_line(READY, secs(20));
    page(addr, "/metrics");
    let pid = shim.pid();
    let switches = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
        tasks.flatten().find_map(|task| {
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
            (name.trim() == "status").then(|| line.to_owned())
        })
    };
    // The scraper's connection is closed for good within its lifetime.
    until_true("quiet", secs(20), || {
        let before = switches();
        let_pass(millis(500));
        before == switches()
    });
    let before = switches();
    assert!(before.is_some());
    let_pass(secs(3));
    assert_eq!(switches(), before);
}

/// What promtool says of this. `None`, and a line, where it is not installed; in CI it is.
pub fn promtool(args: &[&str], input: &str) -> Option<String> {
    if std::env::var_os("CI").is_none() && Command::new("promtool").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr().lock(), "SKIPPED, not installed: promtool");
        return None;
    }
    let mut tool = Command::new("promtool")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool, from Debian's package prometheus");
    tool.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    let output = tool.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "promtool {args:?}: {said}\n{input}");
    Some(said)
}

#[test]
fn promtool_finds_nothing_in_the_metrics() {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let game = Game::open();
    let metrics = Game::open();
    metrics.reply(crate::support::Reply::text("players 15\n"));
    let (mut shim, addr, _port) = served(counting(&sdk, &game, &metrics));
    shim.wait_for_line(READY, secs(20));
    until_true("every family", secs(20), || {
        page(addr, "/metrics").body.contains("published_sent{counter=\"players\"} 15")
    });
    until_true("a liveness round", secs(20), || page(addr, "/metrics").body.contains("kind=\"liveness\""));
    let answer = page(addr, "/metrics");
    assert!(answer.head.contains("Content-Type: text/plain; version=0.0.4"), "{}", answer.head);
    assert!(promtool(&["check", "metrics"], &answer.body).is_none_or(|said| said.is_empty()), "{}", answer.body);
    for sample in [
        "agones_shim_phase{phase=\"ready\"} 1\n",
        "agones_shim_phase{phase=\"waiting\"} 0\n",
        "agones_shim_sdk_up 1\n",
        "agones_shim_gameserver_state{state=\"Ready\"} 1\n",
        "agones_shim_published_capacity{counter=\"players\"} 100\n",
        "agones_shim_beats_total{outcome=\"withheld\"} 0\n",
        "agones_shim_sdk_calls_total{method=\"Ready\",outcome=\"ok\"} 1\n",
        "agones_shim_sdk_call_duration_seconds_bucket{method=\"Ready\",le=\"+Inf\"} 1\n",
        "agones_shim_sdk_link_restarts_total 0\n",
    ] {
        assert!(answer.body.contains(sample), "{sample}{}", answer.body);
    }

    // The SDK server goes and comes back.
    let mut sdk = sdk;
    sdk.close();
    until_true("the loss", secs(20), || page(addr, "/metrics").body.contains("agones_shim_sdk_up 0\n"));
    sdk.open();
    until_true("the restart", secs(20), || {
        page(addr, "/metrics").body.contains("agones_shim_sdk_link_restarts_total 1\n")
    });
}

#[test]
fn the_status_command_shows_the_page_to_people() {
    let sdk = ScriptedSdk::start();
    let mut game = Game::open();
    let (mut running, addr, port) = served(
        shim()
            .sdk(&sdk)
            .set("READY_TCP", game.port())
            .set("HEALTH_INTERVAL_SECS", "0.2")
            .set("LIVE_FAILURE_THRESHOLD", 1000),
    );
    running.wait_for_line(READY, secs(20));
    sdk.wait_for_new_call("Health", secs(10));
    let shown = shim().args(["status", &addr.to_string()]).run(secs(20));
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for part in [
        "phase        ready  for ",
        "gameserver   scripted  Ready",
        "connected",
        "  passed  ",
        "call         Health  ok ",
    ] {
        assert!(shown.stdout.contains(part), "{part:?} in\n{}", shown.stdout);
    }
    assert!(!shown.stdout.contains('\x1b'), "plain, where it is no terminal");

    game.die();
    running.wait_for_line("liveness failed", secs(10));
    // A bare port, from the environment.
    let shown = shim().set("STATUS_ADDR", port.number()).arg("status").run(secs(20));
    assert!(shown.stdout.contains("  connection refused  "), "{}", shown.stdout);
    assert!(shown.stdout.contains(" of 1000 failed rounds"), "{}", shown.stdout);
}

#[test]
fn the_status_command_tells_why_it_has_nothing_to_show() {
    let nobody = Port::reserve();
    let shown = shim().args(["status", &nobody.addr().to_string()]).run(secs(20));
    let wanted = format!("agones-shim: status: http://{}/status: connection refused\n", nobody.addr());
    assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr), (69, "", wanted));
    let shown = shim().arg("status").run(secs(20));
    assert_eq!(shown.code, 64, "{shown:?}");
    assert!(shown.stderr.contains("AGONES_SHIM_STATUS_ADDR"), "{shown:?}");
}

#[test]
fn status_watch_goes_on_while_the_shim_comes_and_goes() {
    let nobody = Port::reserve();
    let mut watch = shim().args(["status", &nobody.addr().to_string(), "--watch"]).spawn();
    watch.wait_for_line("connection refused", secs(10));
    let game = Game::closed();
    let mut running = shim().set("SDK", "off").set("READY_TCP", game.port()).set("STATUS_ADDR", nobody.addr()).spawn();
    running.wait_for_line(OPEN, secs(10));
    watch.wait_for_line("waiting for  the readiness probes", secs(10));
    let mark = watch.mark();
    drop(running);
    watch.wait_for_line_after(mark, "connection refused", secs(10));
}

pub fn in_repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_counter_and_the_list_are_shown_on_all_pages_and_no_players_name_is() {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100).set_counter("rooms", 0, 10).set_list("names", 10, &[]);
    let (game, metrics, mut asked) = (Game::open(), Game::open(), QueryGame::closed());
    metrics.reply(crate::support::Reply::text("rooms 3\n"));
    asked.answer(quake3(&["Ann Onymous", "Bob Scure"], 16));
    let builder = shim()
        .sdk(&sdk)
        .set("READY_TCP", game.port())
        .set("COUNTER_NAME", "players")
        .set("COUNTER_QUERY", format!("quake3://127.0.0.1:{}", asked.port()))
        .set("COUNTER_CAPACITY", 1)
        .set("COUNTER_INTERVAL_SECS", "0.2")
        .set("LIST_NAME", "names")
        .set("COUNTER_2_NAME", "rooms")
        .set("COUNTER_2_METRICS_URL", metrics.url("/metrics"))
        .set("COUNTER_2_METRIC", "rooms");
    let (_shim, addr, _port) = served(builder);
    let seen = until("both Counters and the List", secs(20), || {
        let seen = status(addr);
        (seen["counters"][1]["sent"] == 3 && seen["list"]["values"] == 2).then_some(seen)
    });
    assert_eq!(seen["counters"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen["counter"], seen["counters"][0]);
    let first = r#"{"name":"players","reading":2,"sent":2,"capacity":16,"error":null}"#;
    assert_eq!(seen["counter"], serde_json::from_str::<Value>(first).expect("JSON"));
    let list = r#"{"name":"names","names":2,"values":2,"capacity":10,"error":null}"#;
    assert_eq!(seen["list"], serde_json::from_str::<Value>(list).expect("JSON"));
    let text = page(addr, "/metrics").body;
    assert!(promtool(&["check", "metrics"], &text).is_none_or(|said| said.is_empty()), "{text}");
    for sample in [
        "published_sent{counter=\"players\"} 2\nagones_shim_published_sent{counter=\"rooms\"} 3\n",
        "published_capacity{counter=\"players\"} 16\n",
        "list_names{list=\"names\"} 2\n",
        "list_values{list=\"names\"} 2\n",
        "list_capacity{list=\"names\"} 10\n",
        "list_failing{list=\"names\"} 0\n",
        "sdk_calls_total{method=\"AddListValue\",outcome=\"ok\"} 2\n",
    ] {
        assert!(text.contains(sample), "{sample}{text}");
    }
    let shown = shim().args(["status", &addr.to_string()]).run(secs(20)).stdout;
    for line in [
        "counter      players  read 2  sent 2  capacity 16\n",
        "counter      rooms  read 3  sent 3  capacity 10\n",
        "list         names  names 2  holds 2  capacity 10\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    for page in [seen.to_string(), text, shown] {
        assert!(!page.contains("Ann Onymous") && !page.contains("Bob Scure"), "{page}");
    }
    metrics.reply(crate::support::Reply::status(500));
    asked.close();
    until_true("both to fail", secs(20), || status(addr)["list"]["error"] == "connection refused");
    assert_eq!(status(addr)["counter"]["error"], "connection refused");
}

#[test]
fn dashboard_and_alerts_ask_only_for_metrics_that_there_are() {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 100);
    let game = Game::open();
    let metrics = Game::open();
    metrics.reply(crate::support::Reply::text("players 15\n"));
    let (_shim, addr, _port) = served(counting(&sdk, &game, &metrics));
    until_true("every family", secs(20), || page(addr, "/metrics").body.contains("published_sent{"));
    let there = page(addr, "/metrics").body;
    let dashboard = std::fs::read_to_string(in_repository("examples/grafana-dashboard.json")).expect("it is there");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    let alerts = std::fs::read_to_string(in_repository("examples/alerts.yaml")).expect("it is there");
    let asked = dashboard.to_string() + &alerts;
    let mut names = BTreeSet::new();
    for (at, _) in asked.match_indices("agones_shim_") {
        let end = asked[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(asked.len() - at);
        names.insert(&asked[at..at + end]);
    }
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let is_there =
            there.lines().any(|line| line.starts_with(&format!("{name} ")) || line.starts_with(&format!("{name}{{")));
        assert!(is_there, "{name} is no metric");
    }
}
