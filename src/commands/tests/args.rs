//! Command lines and what they mean, or the whole message where they mean nothing.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU16;
use std::os::unix::ffi::OsStrExt;

use super::super::args::{Asked, Usage, parse};
use super::super::{COMMANDS, sdk, status};
use crate::sdk::once::SdkCall;
use crate::settings::StatusAddr;

fn args(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// Who is asked, and with which arguments.
fn asked(line: &str) -> (&'static str, Vec<OsString>) {
    match parse(args(line)).unwrap_or_else(|wrong| panic!("{line}: {wrong}")) {
        Asked::Sidecar => ("sidecar", vec![]),
        Asked::Wrapper { argv } => ("wrapper", argv),
        Asked::Named { command, args } => (command.name, args),
        Asked::ShortHelp => ("-h", vec![]),
        Asked::Help => ("--help", vec![]),
        Asked::HelpOf(command) => (command.name, args("--help")),
        Asked::Version => ("--version", vec![]),
    }
}

/// What is said to a line that makes no sense. No command gets so far that it does something.
fn message_of(line: Vec<OsString>) -> String {
    let done: Result<_, Usage> = parse(line).and_then(|asked| match asked {
        Asked::Named { command, args } => (command.run)(args, Vec::new()),
        _ => panic!("no command"),
    });
    done.expect_err("it makes no sense").to_string()
}

fn message(line: &str) -> String {
    message_of(args(line))
}

#[test]
fn each_command_has_its_form() {
    for (line, wanted) in [
        ("", ("sidecar", "")),
        ("-- ./server", ("wrapper", "./server")),
        ("check", ("check", "")),
        ("check --all", ("check", "--all")),
        ("probe", ("probe", "")),
        ("status 9360 --watch", ("status", "9360 --watch")),
        ("help status", ("help", "status")),
        ("--help", ("--help", "")),
        ("-h", ("-h", "")),
        ("-h --help", ("--help", "")),
        ("--version", ("--version", "")),
        ("-V", ("--version", "")),
    ] {
        assert_eq!(asked(line), (wanted.0, args(wanted.1)), "{line}");
    }
    for command in COMMANDS {
        for help in ["--help", "-h"] {
            let wanted = if command.name == "local-sdk" { help } else { "--help" };
            assert_eq!(asked(&format!("{} {help}", command.name)), (command.name, args(wanted)));
        }
    }
}

#[test]
fn the_status_command_takes_an_address_and_options_in_any_order() {
    let addr = Some(StatusAddr::AllAddresses(NonZeroU16::new(9360).unwrap()));
    let options = |line: &str| status::parse(args(line)).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
    assert_eq!(options(""), status::Options { addr: None, watch: false, json: false });
    assert_eq!(options("9360 --watch"), status::Options { addr: addr.clone(), watch: true, json: false });
    assert_eq!(options("--json -w 9360"), status::Options { addr, watch: true, json: true });
}

#[test]
fn what_stands_behind_the_dashes_is_untouched() {
    let mut line = args("-- ./server --help -- -x --y=z");
    line.push(OsStr::from_bytes(b"\xff\xfe").to_owned());
    line.push(OsString::new());
    let Ok(Asked::Wrapper { argv }) = parse(line.clone()) else { panic!("a wrapper") };
    assert_eq!(argv, line[1..]);
    assert_eq!(asked("-- check"), ("wrapper", args("check")));
    assert_eq!(asked("-- -- x"), ("wrapper", args("-- x")));
}

#[cfg(feature = "local-sdk")]
#[test]
fn arguments_of_the_local_sdk_are_its_own() {
    let line = "local-sdk -f file.yaml --grpc=127.0.0.1:1 --help -- x";
    assert_eq!(asked(line), ("local-sdk", args(line)[1..].to_vec()));
}

#[test]
fn sdk_calls_take_what_they_take() {
    for (line, wanted) in [
        ("ready", SdkCall::Ready),
        ("health", SdkCall::Health),
        ("shutdown", SdkCall::Shutdown),
        ("allocate", SdkCall::Allocate),
        ("reserve 30", SdkCall::Reserve(30)),
        ("reserve 0", SdkCall::Reserve(0)),
        ("gameserver", SdkCall::GameServer),
        ("label map -dust", SdkCall::Label { key: "map".into(), value: "-dust".into() }),
        ("annotation a --", SdkCall::Annotation { key: "a".into(), value: "--".into() }),
        ("counter players", SdkCall::Counter { name: "players".into(), value: None }),
        ("counter players 7", SdkCall::Counter { name: "players".into(), value: Some(7) }),
    ] {
        assert_eq!(sdk::parse(&args(line)), Ok(wanted), "{line}");
    }
    for (line, wanted) in [
        (
            "",
            "sdk needs a call (write one of ready, health, shutdown, allocate, reserve, gameserver, label, annotation, counter)",
        ),
        ("raedy", r#"sdk: unknown call "raedy" (write ready)"#),
        (
            "delete",
            r#"sdk: unknown call "delete" (write one of ready, health, shutdown, allocate, reserve, gameserver, label, annotation, counter)"#,
        ),
        ("ready now", "sdk ready was given 1 argument (write sdk ready)"),
        ("reserve", "sdk reserve was given 0 arguments (write sdk reserve SECONDS)"),
        ("label a", "sdk label was given 1 argument (write sdk label KEY VALUE)"),
        ("counter", "sdk counter was given 0 arguments (write sdk counter NAME [VALUE])"),
        ("reserve 5s", r#"sdk reserve: "5s" is not a whole number (seconds, 0 for ever)"#),
        ("reserve -1", r#"sdk reserve: "-1" is not a whole number (seconds, 0 for ever)"#),
        ("counter a 1.5", r#"sdk counter: "1.5" is not a whole number (at least 0)"#),
        ("counter a 9223372036854775808", r#"sdk counter: "9223372036854775808" is not a whole number (at least 0)"#),
    ] {
        assert_eq!(message(&format!("sdk {line}")), wanted, "{line}");
    }
}

#[test]
fn what_makes_no_sense_is_answered_with_what_would() {
    for (line, wanted) in [
        (
            "--",
            "-- without a program (write agones-shim -- PROGRAM ARG...; an ENTRYPOINT in a Dockerfile drops the CMD of the image below: write its words out)",
        ),
        ("./server", r#"unknown command "./server" (to run it as the game, write agones-shim -- ./server)"#),
        ("./check -x", r#"unknown command "./check" (to run it as the game, write agones-shim -- ./check)"#),
        ("server", r#"unknown command "server" (to run it as the game, write agones-shim -- server)"#),
        ("chekc", r#"unknown command "chekc" (did you mean check? to run it as the game, write agones-shim -- chekc)"#),
        (
            "localsdk",
            r#"unknown command "localsdk" (did you mean local-sdk? to run it as the game, write agones-shim -- localsdk)"#,
        ),
        (
            "help chekc",
            r#"unknown command "chekc" (did you mean check? to run it as the game, write agones-shim -- chekc)"#,
        ),
        ("help check probe", r#"help takes no further argument, but was given "probe""#),
        ("completion", "completion needs a shell (write bash, zsh or fish)"),
        ("completion bahs", r#"completion: unknown shell "bahs" (write bash)"#),
        ("explain sdk-lots", r#"explain: unknown message "sdk-lots" (did you mean sdk-lost?)"#),
        ("explain zzz", r#"explain: unknown message "zzz" (agones-shim explain lists them)"#),
        ("explain sdk-lost now", r#"explain takes no further argument, but was given "now""#),
        ("man page", r#"man takes no further argument, but was given "page""#),
        ("check --al", "unknown option --al (did you mean --all?)"),
        ("--hepl", "unknown option --hepl (did you mean --help?)"),
        ("-x", "unknown option -x (--help lists what there is; options of a game go behind --)"),
        ("--port=1", "unknown option --port (--help lists what there is; options of a game go behind --)"),
        ("check now", r#"check takes no further argument, but was given "now""#),
        ("check --watch", "unknown option --watch (--help lists what there is; options of a game go behind --)"),
        ("probe 7777", r#"probe takes no further argument, but was given "7777""#),
        ("--help me", r#"--help takes no further argument, but was given "me""#),
        ("status 1 2", r#"status takes no further argument, but was given "2""#),
        ("status x", r#"status: "x" is not a port or host:port (write 9360 or 127.0.0.1:9360)"#),
        ("check -- x", "-- comes first, or not at all (write agones-shim -- PROGRAM ARG...)"),
        ("status --", "-- comes first, or not at all (write agones-shim -- PROGRAM ARG...)"),
        ("--help=x", r#"unexpected argument for option '--help': "x""#),
    ] {
        assert_eq!(message(line), wanted, "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_are_shown_and_never_a_panic() {
    let odd = OsStr::from_bytes(b"\xff\n").to_owned();
    for (line, wanted) in [
        (vec![odd.clone()], r#"unknown command "\xFF\n" (to run it as the game, write agones-shim -- "\xFF\n")"#),
        (vec!["check".into(), odd.clone()], r#"check takes no further argument, but was given "\xFF\n""#),
        (vec!["sdk".into(), odd.clone()], r#"the argument "\xFF\n" is not UTF-8 text"#),
        (vec!["sdk".into(), "label".into(), "k".into(), odd.clone()], r#"the argument "\xFF\n" is not UTF-8 text"#),
        (
            vec!["-\u{1b}".into()],
            r"unknown option -\u{1b} (--help lists what there is; options of a game go behind --)",
        ),
        (vec!["status".into(), odd], r#"the argument "\xFF\n" is not UTF-8 text"#),
    ] {
        assert_eq!(message_of(line), wanted);
    }
}
