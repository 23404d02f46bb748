//! Players counted by the lines that the game writes, looked at on the SDK server: its Counter and its List.

use std::fs;
use std::process::{Command, Stdio};

use crate::scene::*;
use crate::support::Scratch;
use crate::support::local_sdk::LocalSdk;
use crate::support::shim::Builder;
use crate::support::{Port, ScriptedSdk, Shim, millis, secs, shim, wait};

const JOIN: &str = r"^\[[0-9:]+\]: (\w+) joined the game$";
const LEAVE: &str = r"^\[[0-9:]+\]: (\w+) left the game$";

/// A game that is ready and then writes what it is told on its stdin, an SDK server with Counter `players` 7/10 and List
/// `names`, a wrapper that is Ready.
fn played(settings: impl FnOnce(Builder) -> Builder) -> (ScriptedSdk, Shim) {
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 7, 10).set_list("names", 10, &["left over"]);
    let mut shim = settings(game("echo up; cat")).sdk(&sdk).spawn();
    shim.wait_for_line(READY, SOON);
    (sdk, shim)
}

fn game(script: &str) -> Builder {
    shim::shim()
        .set("READY_TEXT", "up")
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("COUNTER_NAME", "players")
        .set("COUNTER_INTERVAL_SECS", "0.2")
        // Its shell dies of the stop signal.
        .set("STOP_OK_CODES", "143")
        .var("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .args(["--", "sh", "-c", script])
}

fn by_names(builder: Builder) -> Builder {
    builder.set("COUNTER_JOIN_LOG", JOIN).set("COUNTER_LEAVE_LOG", LEAVE).set("LIST_NAME", "names")
}

/// Lines for the game to write; its stdin stays open.
struct Console(std::process::ChildStdin);

impl Console {
    fn of(shim: &mut Shim) -> Self {
        Self(shim.stdin().expect("piped"))
    }

    fn say(&mut self, lines: &str) {
        use std::io::Write;
        self.0.write_all(lines.as_bytes()).expect("the game reads");
    }
}

#[track_caller]
fn counts(sdk: &ScriptedSdk, wanted: i64) {
    wait::until_true(&format!("{wanted} players; {}", sdk.story()), SOON, || sdk.counter("players") == Some(wanted));
}

#[track_caller]
fn lists(sdk: &ScriptedSdk, wanted: &[&str]) {
    wait::until_true(&format!("names {wanted:?}"), SOON, || sdk.list("names") == wanted);
}

/// Nothing that a player can type counts: a respawn, a leave without a join, chat with a join line in it.
#[test]
fn names_are_counted_once_and_fill_the_list() {
    let (sdk, mut shim) = played(by_names);
    // Nobody is there when the game starts, whatever the Counter says.
    counts(&sdk, 0);
    lists(&sdk, &[]);
    let mut console = Console::of(&mut shim);
    console.say("[1:00]: ann joined the game\n[1:01]: bob joined the game\n[1:02]: ann joined the game\n");
    counts(&sdk, 2);
    lists(&sdk, &["ann", "bob"]);
    console
        .say("[1:03]: <ann> [1:03]: eve joined the game\n[1:04]: <bob> ann left the game\n[1:05]: cid left the game\n");
    console.say("[1:06]: dee joined the game\n");
    counts(&sdk, 3);
    lists(&sdk, &["ann", "bob", "dee"]);
    console.say(
        "[1:07]: ann left the game\n[1:07]: bob left the game\n[1:08]: dee left the game\n[1:09]: dee left the game\n",
    );
    counts(&sdk, 0);
    lists(&sdk, &[]);
    stops_cleanly(&mut shim);
    let updates: Vec<_> = sdk.calls_of("UpdateCounter").into_iter().map(|call| call.detail).collect();
    assert!(updates.iter().all(|update| !update.contains('4') && !update.contains('-')), "{updates:?}");
}

#[test]
fn lines_without_names_are_counted_and_a_number_wins() {
    let (sdk, mut shim) = played(|builder| {
        builder
            .set("COUNTER_JOIN_LOG", "^somebody came")
            .set("COUNTER_LEAVE_LOG", "^somebody went")
            .set("COUNTER_LOG", r"^players: (\S+)|^(\d+) of \d+ play")
    });
    let mut console = Console::of(&mut shim);
    console.say("somebody went\nsomebody came\nsomebody came\n");
    counts(&sdk, 2);
    console.say("6 of 10 play\n");
    counts(&sdk, 6);
    // No number is no reading, and keeps the value.
    console.say("players: many\n");
    assert!(shim.wait_for_line(SCRAPE_FAILED, SOON).text.contains("no whole number"));
    assert_eq!(sdk.counter("players"), Some(6));
    console.say("somebody went\n");
    shim.wait_for_line(SCRAPE_WORKS, SOON);
    counts(&sdk, 5);
    // Clamped.
    console.say("players: 12\n");
    counts(&sdk, 10);
    shim.wait_for_line(CLAMPED, SOON);
    stops_cleanly(&mut shim);
}

#[test]
fn a_number_alone_keeps_what_was_there_until_a_line_has_told() {
    let (sdk, mut shim) = played(|builder| builder.set("COUNTER_LOG", r"^players: (\d+)"));
    let mut console = Console::of(&mut shim);
    assert!(shim.wait_for_line(SCRAPE_FAILED, SOON).text.contains("no line matches"));
    assert_eq!(sdk.counter("players"), Some(7));
    console.say("<ann> players: 3\nplayers: 4");
    wait::let_pass(millis(600));
    assert_eq!(sdk.counter("players"), Some(7), "a line that has no end yet may be another number");
    console.say("2\n");
    counts(&sdk, 10);
    console.say("players: 0\n");
    counts(&sdk, 0);
    stops_cleanly(&mut shim);
}

#[test]
fn a_change_is_published_at_once_and_then_not_within_the_interval() {
    let (sdk, mut shim) = played(|builder| by_names(builder).set("COUNTER_INTERVAL_SECS", 4));
    counts(&sdk, 0);
    wait::let_pass(secs(4));
    let mut console = Console::of(&mut shim);
    let updates = sdk.count("UpdateCounter");
    let first = std::time::Instant::now();
    console.say("[1:00]: ann joined the game\n");
    counts(&sdk, 1);
    assert!(first.elapsed() < secs(3), "at once");
    for number in 0..30 {
        console.say(&format!("[1:01]: p{number} joined the game\n[1:01]: p{number} left the game\n"));
    }
    console.say("[1:02]: bob joined the game\n");
    counts(&sdk, 2);
    assert!(first.elapsed() > secs(3), "not within the interval: {:?}", first.elapsed());
    assert_eq!(sdk.count("UpdateCounter") - updates, 2, "{}", sdk.story());
    stops_cleanly(&mut shim);
}

/// Case 66: the game's query port is bound and mute, and nobody asks it.
#[test]
fn both_streams_make_one_count_and_a_mute_port_is_nobody_s_liveness() {
    let port = Port::reserve();
    let _mute = std::net::UdpSocket::bind(("127.0.0.1", port.number())).expect("free");
    let script = "echo up; echo '[1]: ann joined the game' >&2; echo '[1]: bob joined the game'; cat >&2";
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 10).set_list("names", 10, &[]);
    let mut shim = by_names(game(script)).sdk(&sdk).spawn();
    lists(&sdk, &["ann", "bob"]);
    let mut console = Console::of(&mut shim);
    console.say("[2]: bob left the game\n");
    counts(&sdk, 1);
    more_beats(&sdk, 5);
    stops_cleanly(&mut shim);
}

#[test]
fn a_sidecar_counts_by_the_game_s_file_and_passes_it_on() {
    let scratch = Scratch::new("counted");
    let (log, game) = (scratch.path("log"), crate::support::Game::open());
    fs::write(&log, "[1]: ann joined the game\n").expect("writable");
    let sdk = ScriptedSdk::start();
    sdk.set_counter("players", 0, 10).set_list("names", 10, &[]);
    let builder =
        sidecar(&game).set("GAME_LOG_FILE", &log).set("GAME_LOG_RELAY", 1).set("READY_TEXT", "nothing\nup now");
    let mut shim =
        by_names(builder.set("COUNTER_NAME", "players").set("COUNTER_INTERVAL_SECS", "0.2")).sdk(&sdk).spawn();
    shim.wait_for_line("ann joined", SOON);
    sdk.assert_none("Ready");
    scratch.append("log", "up now\n");
    lists(&sdk, &["ann"]);
    scratch.append("log", "[2]: bob joi");
    wait::let_pass(millis(500));
    shim.assert_no_line("bob joi");
    scratch.append("log", "ned the game\n");
    lists(&sdk, &["ann", "bob"]);
    // Rotated: who plays, plays on.
    fs::rename(&log, scratch.path("log.1")).expect("moved");
    scratch.append("log", "[3]: cid joined the game\n[4]: ann left the game\nlast words");
    lists(&sdk, &["bob", "cid"]);
    counts(&sdk, 2);
    stops_cleanly(&mut shim);
    let end = shim.wait_for_line("last words", SOON).text;
    assert_eq!(end, "last words");
}

#[test]
fn a_wrapper_relays_what_the_game_logs_up_to_its_end_and_nothing_of_an_earlier_run() {
    let scratch = Scratch::new("relayed");
    let log = scratch.path("log");
    fs::write(&log, "old up\n").expect("writable");
    let script = r#"sleep 0.5; trap 'echo saved >>"$0"; exit 0' TERM; echo up >>"$0"; while :; do sleep 0.05; done"#;
    let sdk = ScriptedSdk::start();
    let mut shim = shim::shim()
        .set("READY_TEXT", "up")
        .set("GAME_LOG_FILE", &log)
        .set("GAME_LOG_RELAY", 1)
        .var("PATH", "/usr/bin:/bin")
        .args(["--", "sh", "-c", script, &log])
        .sdk(&sdk)
        .spawn();
    sdk.wait_for_call("Ready", SOON);
    stops_cleanly(&mut shim);
    shim.wait_for_line("saved", SOON);
    shim.assert_no_line("old up");
    assert_eq!(sdk.state(), "Shutdown");
}

#[test]
fn an_allocated_server_that_no_line_fills_is_idle_and_one_with_a_player_is_not() {
    let sdk = LocalSdk::start(&[]);
    let script = "echo up; echo '[1]: ann joined the game'; cat";
    let mut shim = game(script)
        .set("COUNTER_JOIN_LOG", JOIN)
        .set("COUNTER_LEAVE_LOG", LEAVE)
        .set("IDLE_SHUTDOWN_SECS", 1)
        .sdk_port(sdk.port())
        .spawn();
    shim.wait_for_line(READY, SOON);
    sdk.post("/local/allocate", "");
    wait::let_pass(secs(4));
    assert_eq!(sdk.state(), "Allocated");
    let mut console = Console::of(&mut shim);
    console.say("[2]: ann left the game\n");
    // Who comes and goes between two readings holds it too.
    for _ in 0..20 {
        console.say("[3]: bob joined the game\n[3]: bob left the game\n");
        wait::let_pass(millis(100));
    }
    assert_eq!(sdk.state(), "Allocated");
    // No line at all from here on: the interval confirms that nobody is there.
    shim.wait_for_line("Allocated and empty for AGONES_SHIM_IDLE_SHUTDOWN_SECS", SOON);
    shim.expect_code(0, STOP);
    assert_eq!(sdk.state(), "Shutdown");
}

/// By a line: the container was restarted in place, and the new game is empty.
#[test]
fn a_game_that_is_started_again_under_an_allocated_gameserver_counts_from_zero() {
    let sdk = ScriptedSdk::start();
    sdk.set_state("Allocated").set_counter("players", 3, 10).set_list("names", 10, &["ann"]);
    let mut shim = by_names(game("read go; echo up; cat")).set("LIVE_FAILURE_THRESHOLD", 3).sdk(&sdk).spawn();
    shim.wait_for_line(CONNECTED, SOON);
    more_beats(&sdk, 10);
    assert_eq!(sdk.counter("players"), Some(3), "nothing is known yet");
    let mut console = Console::of(&mut shim);
    console.say("go\n");
    counts(&sdk, 0);
    lists(&sdk, &[]);
    console.say("[1]: bob joined the game\n");
    lists(&sdk, &["bob"]);
    more_beats(&sdk, 3);
    sdk.assert_none("Ready");
    assert_eq!(sdk.state(), "Allocated");
    stops_cleanly(&mut shim);
}

/// Case 70.
#[test]
fn each_text_that_people_paste_is_ready_by_its_own_line() {
    let texts = [
        (")! For help, type ", "[20:13:59] [Server thread/INFO]: Done (7.4s)! For help, type \"help\""),
        ("[Server] Startup Completed", "12:00 [Server] Startup Completed."),
        ("[Session] 'HostOnline' (up)!", "[Session] 'HostOnline' (up)! x"),
    ];
    let all = texts.map(|(text, _)| text).join(r"\n");
    for (text, line) in texts {
        for setting in [text, &all] {
            let script = "echo 'For help, Server Startup Completed'; read go; printf '%s\\n' \"$0\"; cat";
            let sdk = ScriptedSdk::start();
            let builder = game(script).unset("AGONES_SHIM_COUNTER_NAME").set("READY_TEXT", setting);
            let mut shim = builder.arg(line).sdk(&sdk).spawn();
            shim.wait_for_line("For help, Server", SOON);
            sdk.assert_none("Ready");
            let mut console = Console::of(&mut shim);
            console.say("go\n");
            sdk.wait_for_call("Ready", SOON);
            stops_cleanly(&mut shim);
        }
    }
}

const ENDED: &str = "has ended with 0 before it was ready";

#[test]
fn a_game_that_ends_with_0_before_it_was_ready_is_a_warning_that_names_its_stdin() {
    let run = |builder: Builder| builder.set("READY_TEXT", "up").set("SDK", "off").run(secs(10));
    let wrapper = || shim::shim().var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", "echo begun; cat; exit 0"]);
    let end = run(wrapper());
    assert_eq!(end.code, 0);
    let named = end.stderr.lines().find(|line| line.contains(ENDED)).expect("a warning");
    assert!(named.contains("WARN") && named.contains("AGONES_SHIM_STOP_LINE"), "{named}");
    let held = shim::shim().var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", "exit 0"]);
    let end = run(held.set("STOP_LINE", "quit"));
    let line = end.stderr.lines().find(|line| line.contains(ENDED)).expect("a warning");
    assert!(!line.contains("AGONES_SHIM_STOP_LINE"), "{line}");
    let end = run(shim::shim().var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", "echo up; sleep 1; cat; exit 0"]));
    let line = end.stderr.lines().find(|line| line.contains("within seconds of its start")).expect("a warning");
    assert!(!end.stderr.contains(ENDED) && line.contains("AGONES_SHIM_STOP_LINE"), "{line}");
    for script in ["exit 3", "echo up; sleep 1; exit 0"] {
        let end = run(shim::shim().var("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", script]));
        assert!(!end.stderr.contains(ENDED), "{script}: {}", end.stderr);
        let is_crash = end.code != 0;
        assert_eq!(end.stderr.contains("WARN  the game server has ended end="), is_crash, "{script}: {}", end.stderr);
    }
}

/// What is counted costs the output nothing: it passes whole, and a reader of it that stalls is the game's business.
#[test]
fn output_that_is_counted_passes_unchanged() {
    let mut wrapped = Command::new(shim::binary());
    let vars = [("SDK", "off"), ("READY_TEXT", "1"), ("COUNTER_NAME", "n")];
    wrapped.args(["--", "seq", "3000000"]).envs(vars.map(|(name, value)| (format!("AGONES_SHIM_{name}"), value)));
    wrapped.envs([("AGONES_SHIM_COUNTER_JOIN_LOG", "^(.*7)$"), ("AGONES_SHIM_COUNTER_LEAVE_LOG", "^(.*1)$")]);
    let out = wrapped.stderr(Stdio::null()).output().expect("it starts").stdout;
    let wanted = Command::new("seq").arg("3000000").output().expect("seq").stdout;
    assert!(out == wanted, "{} bytes, not {}", out.len(), wanted.len());
}
