//! Log lines: the same facts in text and JSON, a table of all of them, and a stderr that nobody reads.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use agones_shim::testing::machine::catalogue;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::shim::binary;
use crate::support::wait::until_true;
use crate::support::{Answer, Game, ScriptedSdk, millis, proc, secs, shim};

/// One life with a withheld beat, an error and a stop in it; its lines in the order in which they came.
fn life(format: &str) -> Vec<String> {
    let sdk = ScriptedSdk::start();
    sdk.next("Ready", Answer::unknown("say \"please\"\n"));
    let mut game = Game::open();
    let mut shim = shim()
        .sdk(&sdk)
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.2")
        .set("LIVE_FAILURE_THRESHOLD", 1000)
        .set("LOG_FORMAT", format)
        .spawn();
    shim.wait_for_line("the GameServer is ready", secs(20));
    game.die();
    shim.wait_for_line("liveness failed", secs(10));
    game.listen();
    shim.wait_for_line("liveness is back", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(20));
    shim.output().lines().into_iter().map(|line| line.text).collect()
}

/// A minute and no less, and so all four side by side: what is waited for is in the line, and why it has not come.
#[test]
fn once_a_minute_a_line_says_what_is_being_waited_for() {
    let (open, mut closed) = (Game::open(), Game::closed());
    let patient = |game: &Game| shim().set("READY_TCP", game.port()).set("SDK_CONNECT_TIMEOUT_SECS", 300);
    let sdk = ScriptedSdk::start();
    let never_ready = ScriptedSdk::start();
    never_ready.always("Ready", Answer::Ignored);
    let homeless = ScriptedSdk::start();
    homeless.edit(|game_server| game_server.status.get_or_insert_default().address.clear());
    let mut waiting = [
        (patient(&closed).sdk(&sdk).spawn(), "the readiness probes", "connection refused"),
        (patient(&open).without_sdk().spawn(), "the SDK server", "connection refused"),
        (patient(&open).sdk(&never_ready).spawn(), "Agones to show Ready", "state Scheduled"),
        (
            patient(&open).sdk(&homeless).set("WAIT_FOR_SDK", 1).args(["--", "true"]).spawn(),
            "the GameServer's address before the start of the game",
            "",
        ),
    ];
    for (shim, what, reason) in &mut waiting {
        let line = shim.wait_for_line("still waiting", secs(75));
        let waited = line.at - shim.started();
        assert!(waited >= secs(59), "{waited:?}: {}", line.text);
        for part in [&format!("for=\"{what}\""), "waited=60", *reason] {
            assert!(line.text.contains(part), "{part} is not in {}", line.text);
        }
        assert_eq!(shim.count_lines("still waiting"), 1);
        shim.assert_no_line("running probe-only");
    }
    closed.listen();
    let (shim, ..) = &mut waiting[0];
    shim.wait_for_line("the GameServer is ready", secs(20));
    for (shim, ..) in &mut waiting {
        shim.signal(Signal::SIGTERM);
        shim.expect_code(0, secs(30));
    }
}

/// Message and keys, without what differs from run to run.
type Fact = (String, Vec<String>);

fn json_fact(line: &str) -> Fact {
    let json: BTreeMap<String, Value> = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    for key in ["time", "severity", "source", "message", "id"] {
        assert!(json.get(key).is_some_and(Value::is_string), "no {key} in {line}");
    }
    assert_eq!(json["source"], "agones-shim");
    // The id is for machines, and so in JSON alone.
    let own = ["time", "severity", "source", "message", "id"];
    let keys = json.keys().filter(|key| !own.contains(&key.as_str())).cloned().collect();
    let message = json["message"].as_str().expect("checked above");
    (format!("{} {message}", json["severity"].as_str().expect("checked above")), keys)
}

/// `STAMP LEVEL message key=value key="value"`.
fn text_fact(line: &str) -> Fact {
    let mut words = line.splitn(3, ' ');
    let stamp = words.next().expect("a stamp");
    assert!(stamp.len() == 24 && stamp.ends_with('Z'), "{line}");
    let level = match words.next().expect("a level") {
        "WARN" => "warning".to_owned(),
        level => level.to_lowercase(),
    };
    let rest = without_quoted(words.next().expect("a message").trim_start());
    // A message may have an = too: fields are the words with one at the end.
    let words: Vec<&str> = rest.split(' ').collect();
    let fields = words.iter().rev().take_while(|word| word.contains('=')).count();
    let (message, fields) = words.split_at(words.len() - fields);
    let mut keys: Vec<String> = fields.iter().filter_map(|field| Some(field.split_once('=')?.0.to_owned())).collect();
    keys.sort();
    (format!("{level} {}", message.join(" ")), keys)
}

/// Replaces every `="..."` by `=`.
fn without_quoted(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '"' && out.ends_with('=') {
            while let Some(inner) = characters.next().filter(|inner| *inner != '"') {
                if inner == '\\' {
                    characters.next();
                }
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Each as it came first.
fn once(facts: Vec<Fact>) -> Vec<Fact> {
    let mut known = BTreeSet::new();
    facts.into_iter().filter(|fact| known.insert(fact.clone())).collect()
}

/// All but the two of which either may come first.
fn in_order(facts: &[Fact]) -> Vec<&Fact> {
    let races = |fact: &&Fact| {
        ["connected to the SDK server", "every readiness probe"].iter().any(|part| fact.0.contains(part))
    };
    facts.iter().filter(|fact| !races(fact)).collect()
}

#[test]
fn text_and_json_carry_the_same_facts() {
    let (text, json) = (life("text"), life("json"));
    let text: Vec<Fact> = text.iter().map(|line| text_fact(line)).collect();
    let json: Vec<Fact> = json.iter().map(|line| json_fact(line)).collect();
    // How many rounds failed is a matter of time, and so is whether the game or the SDK server is found first.
    let (mut text, mut json) = (once(text), once(json));
    assert_eq!(in_order(&text), in_order(&json));
    text.sort();
    json.sort();
    assert_eq!(text, json);
    assert!(
        text.iter().any(|(message, keys)| message.starts_with("warning liveness failed")
            && keys == &["reason", "round", "threshold"])
    );
    assert!(text.iter().any(|(message, keys)| message == "warning Ready() failed, trying again" && keys == &["error"]));
}

#[test]
fn every_line_of_a_life_is_in_the_table() {
    let known = catalogue::catalogue();
    for line in life("json") {
        let json: Value = serde_json::from_str(&line).expect("JSON");
        let (id, message) = (json["id"].as_str().expect("an id"), json["message"].as_str().expect("a message"));
        assert!(known.iter().any(|known| known.id == id && known.text == message), "{line}");
        let explained = shim().args(["explain", id]).run(secs(20));
        assert!(explained.code == 0 && explained.stdout.starts_with(id), "{line}");
    }
}

/// `stderr` of the child is what it is given.
fn start(sdk: &ScriptedSdk, game: &Game, stderr: Stdio) -> std::process::Child {
    Command::new(binary())
        .env_clear()
        .env("AGONES_SDK_GRPC_PORT", sdk.port().to_string())
        .env("AGONES_SHIM_READY_TCP", game.port().to_string())
        .env("AGONES_SHIM_HEALTH_INTERVAL_SECS", "0.1")
        .env("AGONES_SHIM_LOG", "trace")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .expect("it starts")
}

#[test]
fn a_full_stderr_pipe_stalls_nothing() {
    let (sdk, game) = (ScriptedSdk::start(), Game::open());
    let (_reader, mut writer) = std::io::pipe().expect("a pipe");
    // All that a pipe holds: the first line is stuck already.
    writer.write_all(&vec![b'x'; 64 * 1024]).expect("room");
    let mut child = start(&sdk, &game, Stdio::from(OwnedFd::from(writer)));
    sdk.wait_for_count("Health", 100, secs(40));
    let beats = sdk.calls_of("Health");
    let longest = beats.windows(2).map(|pair| pair[1].at - pair[0].at).max().unwrap_or_default();
    assert!(longest < secs(5), "{longest:?} without a beat at an interval of 0.1 s");
    stop(&sdk, &mut child);
}

/// It delivers Shutdown() and leaves with 0.
fn stop(sdk: &ScriptedSdk, child: &mut Child) {
    assert_eq!(child.try_wait().expect("ours"), None);
    let pid = i32::try_from(child.id()).expect("a pid is an int");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGTERM).expect("ours");
    sdk.wait_for_call("Shutdown", secs(10));
    until_true("its end", secs(20), || child.try_wait().expect("ours").is_some_and(|status| status.success()));
}

#[test]
fn a_closed_stderr_kills_nothing() {
    let game = Game::open();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    for stderr in [Stdio::from(OwnedFd::from(writer)), Stdio::from(std::fs::File::open("/dev/null").expect("there"))] {
        let sdk = ScriptedSdk::start();
        let mut child = start(&sdk, &game, stderr);
        sdk.wait_for_count("Health", 20, secs(20));
        stop(&sdk, &mut child);
    }
}

#[test]
fn a_process_that_is_started_without_stderr_lives_too() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let mut shim = shim()
        .sdk(&sdk)
        .set("READY_TCP", game.port())
        .set("HEALTH_INTERVAL_SECS", "0.1")
        .behind(["sh", "-c", "exec \"$@\" 2>&- >&-", "sh"])
        .spawn();
    sdk.wait_for_count("Health", 20, secs(20));
    shim.assert_stays(millis(100));
    assert!(proc::is_alive(shim.pid()));
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", secs(10));
    shim.expect_code(0, secs(20));
}

#[test]
fn debug_shows_calls_and_probes_and_no_librarys_inner_life() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let run = |filter: &str| {
        let mut shim = shim()
            .sdk(&sdk)
            .set("READY_HTTP", game.url("/healthz"))
            .set("HEALTH_INTERVAL_SECS", "0.2")
            .set("LOG", filter)
            .spawn();
        shim.wait_for_line(if filter == "debug" { "the GameServer is ready" } else { "Call<" }, secs(20));
        if filter == "debug" {
            shim.wait_for_line("probe probe=\"http ", secs(10));
            shim.wait_for_line("SDK call call=Health", secs(10));
        }
        shim
    };
    let mut shim = run("debug");
    for inner in ["Call<", "PoolKey", "Connection"] {
        shim.assert_no_line(inner);
    }
    drop(shim);
    // Whoever names it sees it.
    run("info,ureq_proto=debug,ureq=debug");
}

#[test]
fn levels_have_colours_on_a_terminal_unless_somebody_wants_none() {
    use crate::support::pty::Terminal;
    let run = |vars: &[(&str, &str)]| {
        let vars = [&[("AGONES_SHIM_SDK", "off"), ("AGONES_SHIM_READY_TCP", "1")][..], vars].concat();
        let mut terminal = Terminal::start([binary().into_os_string(), "--".into(), "/bin/true".into()], &vars);
        let line = terminal.wait_for_part(0, "agones-shim has started", secs(10));
        terminal.expect_exit(secs(10));
        line
    };
    assert!(run(&[]).contains("\x1b[32mINFO \x1b[0m agones-shim has started"));
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb"), ("AGONES_SHIM_LOG_FORMAT", "json")] {
        let line = run(&[plain]);
        assert!(!line.contains('\x1b'), "{plain:?}: {line:?}");
    }
    assert!(run(&[("NO_COLOR", "")]).contains("\x1b[32m"), "an empty one counts as unset");
}
