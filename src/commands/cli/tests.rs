//! Command lines and what they mean, or the whole message where they mean nothing.

use std::num::NonZeroU16;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn args(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn command(line: &str) -> Command {
    parse(args(line)).unwrap_or_else(|wrong| panic!("{line}: {wrong}"))
}

fn message(line: &str) -> String {
    match parse(args(line)) {
        Ok(command) => panic!("{line}: {command:?}"),
        Err(usage) => usage.to_string(),
    }
}

#[test]
fn each_command_has_its_form() {
    for (line, wanted) in [
        ("", Command::Sidecar),
        ("-- ./server", Command::Wrapper { argv: args("./server") }),
        ("check", Command::Check),
        ("probe", Command::Probe),
        ("local-sdk", Command::LocalSdk { args: vec![] }),
        ("status", Command::Status { addr: None, watch: false }),
        ("status --watch", Command::Status { addr: None, watch: true }),
        ("--help", Command::Help),
        ("-h", Command::Help),
        ("check --help", Command::Help),
        ("probe -h", Command::Help),
        ("status --help", Command::Help),
        ("sdk --help", Command::Help),
        ("--version", Command::Version),
        ("-V", Command::Version),
    ] {
        assert_eq!(command(line), wanted, "{line}");
    }
    let addr = Some(StatusAddr::AllAddresses(NonZeroU16::new(9360).unwrap()));
    assert_eq!(command("status 9360 --watch"), Command::Status { addr: addr.clone(), watch: true });
    assert_eq!(command("status -w 9360"), Command::Status { addr, watch: true });
}

#[test]
fn what_stands_behind_the_dashes_is_untouched() {
    let mut line = args("-- ./server --help -- -x --y=z");
    line.push(OsStr::from_bytes(b"\xff\xfe").to_owned());
    line.push(OsString::new());
    assert_eq!(parse(line.clone()), Ok(Command::Wrapper { argv: line[1..].to_vec() }));
    assert_eq!(command("-- check"), Command::Wrapper { argv: args("check") });
    assert_eq!(command("-- -- x"), Command::Wrapper { argv: args("-- x") });
}

#[test]
fn arguments_of_the_local_sdk_are_its_own() {
    let line = "local-sdk -f file.yaml --grpc=127.0.0.1:1 --help -- x";
    assert_eq!(command(line), Command::LocalSdk { args: args(line)[1..].to_vec() });
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
        assert_eq!(command(&format!("sdk {line}")), Command::Sdk(wanted), "{line}");
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
        ("--", "-- without a program (write agones-shim -- PROGRAM ARG...)"),
        ("./server", r#"unknown command "./server" (to run it as the game, write agones-shim -- ./server)"#),
        ("./check -x", r#"unknown command "./check" (to run it as the game, write agones-shim -- ./check)"#),
        ("server", r#"unknown command "server" (to run it as the game, write agones-shim -- server)"#),
        ("chekc", r#"unknown command "chekc" (did you mean check? to run it as the game, write agones-shim -- chekc)"#),
        (
            "localsdk",
            r#"unknown command "localsdk" (did you mean local-sdk? to run it as the game, write agones-shim -- localsdk)"#,
        ),
        ("help", r#"unknown command "help" (write agones-shim --help)"#),
        ("--hepl", "unknown option --hepl (did you mean --help?)"),
        ("-x", "unknown option -x (--help lists what there is; options of a game go behind --)"),
        ("--port=1", "unknown option --port (--help lists what there is; options of a game go behind --)"),
        ("check now", r#"check takes no further argument, but was given "now""#),
        ("check --watch", "unknown option --watch (--help lists what there is; options of a game go behind --)"),
        ("probe 7777", r#"probe takes no further argument, but was given "7777""#),
        ("--help me", r#"--help takes no further argument, but was given "me""#),
        ("status 1 2", r#"status ADDR takes no further argument, but was given "2""#),
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
        assert_eq!(parse(line).expect_err("no command").to_string(), wanted);
    }
}
