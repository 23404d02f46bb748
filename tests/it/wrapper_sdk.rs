//! The wrapper beside an SDK server: a start that waits for the address, with gRPC before the fork, and signals that
//! never wait for a call.

use std::process::Stdio;

use nix::libc;
use nix::sys::signal::Signal;

use agones_shim::testing::sdk::proto::sdk::game_server::status::Port as StatusPort;

use crate::support::pty::{INTERRUPT, Terminal};
use crate::support::shim::{self, Builder};
use crate::support::specimen::{orphans_reaped, send, specimen, wrap};
use crate::support::{Answer, Port, ScriptedSdk, Shim, millis, secs, wait};

/// A wrapper that holds its child until the SDK server knows the address.
fn held<A: AsRef<std::ffi::OsStr>>(sdk: &ScriptedSdk, argv: impl IntoIterator<Item = A>) -> Builder {
    wrap(argv).sdk(sdk).set("SDK", "auto").set("WAIT_FOR_SDK", 1)
}

fn place(sdk: &ScriptedSdk) {
    sdk.edit(|game_server| {
        let status = game_server.status.get_or_insert_with(Default::default);
        "203.0.113.7".clone_into(&mut status.address);
        status.ports = vec![StatusPort { name: "game".to_owned(), port: 7001 }];
    });
}

fn unplaced() -> ScriptedSdk {
    let sdk = ScriptedSdk::start();
    sdk.edit(|game_server| {
        if let Some(status) = &mut game_server.status {
            status.address.clear();
            status.ports.clear();
        }
    });
    sdk
}

#[test]
fn a_child_that_was_held_starts_as_if_neither_shim_nor_grpc_were_there() {
    let sdk = unplaced();
    place(&sdk);
    for prefix in [
        &[][..],
        &["sh", "-c", "trap '' HUP PIPE USR1; exec \"$@\" 7</dev/null", "sh"],
        &["env", "--block-signal=TERM", "--block-signal=40"],
    ] {
        let argv = specimen(["describe"]);
        let bare = Builder::of(&argv[0]).args(&argv[1..]).behind(prefix).run(secs(10));
        let wrapped = held(&sdk, &argv).behind(prefix).run(secs(10));
        let rest = |text: &str| text.lines().filter(|line| !line.starts_with("leads")).collect::<Vec<_>>().join("\n");
        assert_eq!(rest(&bare.stdout), rest(&wrapped.stdout), "behind {prefix:?}\n{}", wrapped.stderr);
        assert!(wrapped.stderr.contains("connected"), "gRPC came first: {}", wrapped.stderr);
    }
    let end = held(&sdk, ["env"]).var("PATH", "/usr/bin:/bin").run(secs(10));
    for line in ["AGONES_GAMESERVER_ADDRESS=203.0.113.7", "AGONES_GAMESERVER_PORT_GAME=7001"] {
        assert!(end.stdout.lines().any(|other| other == line), "{line}: {end:?}");
    }
}

#[test]
fn arguments_get_the_address_and_the_ports_by_name() {
    let sdk = unplaced();
    place(&sdk);
    let words = [
        "+port",
        "$(AGONES_GAMESERVER_PORT)",
        "--game=$(AGONES_GAMESERVER_PORT_GAME)@$(AGONES_GAMESERVER_ADDRESS)",
        "$$(AGONES_GAMESERVER_PORT)",
        "$(AGONES_GAMESERVER_PORT_RCON)",
        "$(HOME) ${AGONES_GAMESERVER_PORT} $$",
    ];
    let argv = ["printf", "<%s>\\n"].into_iter().chain(words);
    let end = held(&sdk, argv.clone()).var("PATH", "/usr/bin:/bin").run(secs(10));
    let wanted = [
        "<+port>",
        "<7001>",
        "<--game=7001@203.0.113.7>",
        "<$(AGONES_GAMESERVER_PORT)>",
        "<$(AGONES_GAMESERVER_PORT_RCON)>",
        "<$(HOME) ${AGONES_GAMESERVER_PORT} $$>",
    ];
    assert_eq!(end.stdout.lines().collect::<Vec<_>>(), wanted, "{end:?}");
    assert!(end.stderr.contains("names=AGONES_GAMESERVER_PORT_RCON"), "the one that is not known is named: {end:?}");

    // Nobody asked for it.
    let plain = wrap(argv).sdk(&sdk).var("PATH", "/usr/bin:/bin").run(secs(10));
    let as_written: Vec<String> = words.iter().map(|word| format!("<{word}>")).collect();
    assert_eq!(plain.stdout.lines().collect::<Vec<_>>(), as_written, "{plain:?}");
}

#[test]
fn signals_that_come_while_the_child_is_held_wait_for_it() {
    let sdk = unplaced();
    // Blocked in the child from its start on: else they would kill it before it has a handler, as anyone's would.
    let blocked = ["env", "--block-signal=USR1", "--block-signal=WINCH", "--block-signal=64"];
    let mut shim = held(&sdk, specimen(["signals"])).behind(blocked).spawn();
    sdk.wait_for_call("GetGameServer", secs(10));
    for signal in [libc::SIGUSR1, libc::SIGWINCH, 64] {
        send(shim.pid(), signal);
    }
    wait::let_pass(millis(300));
    assert!(shim.is_running());
    shim.assert_no_line("ready");
    place(&sdk);
    for signal in [libc::SIGUSR1, libc::SIGWINCH, 64] {
        shim.wait_for_line(&format!("signal {signal}"), secs(10));
    }
    shim.signal(Signal::SIGUSR2);
    shim.expect_code(0, secs(10));
}

#[test]
fn a_stop_while_the_child_is_held_ends_the_shim_without_it() {
    let sdk = unplaced();
    let mut shim = held(&sdk, ["echo", "the game ran"]).spawn();
    sdk.wait_for_call("GetGameServer", secs(10));
    shim.signal(Signal::SIGTERM);
    shim.expect_code(0, secs(10));
    shim.assert_no_line("the game ran");
}

/// A shim whose SDK server hangs in the call that a first stop signal makes.
fn stuck_in_a_call(argv: Vec<std::ffi::OsString>, up: &str) -> (ScriptedSdk, Shim) {
    let sdk = ScriptedSdk::start();
    let shim = wrap(argv).sdk(&sdk).set("SDK", "auto").set("SDK_CALL_TIMEOUT_SECS", 30);
    let mut shim = shim.stdin(Stdio::piped()).spawn();
    shim.wait_for_line(up, secs(30));
    sdk.wait_for_call("GetGameServer", secs(10));
    sdk.always("Shutdown", Answer::Hang(secs(30)));
    shim.signal(Signal::SIGTERM);
    sdk.wait_for_call("Shutdown", secs(10));
    (sdk, shim)
}

#[test]
fn signals_to_the_child_never_wait_for_the_sdk() {
    let (_sdk, mut shim) = stuck_in_a_call(specimen(["signals"]), "ready");
    send(shim.pid(), 40);
    shim.wait_for_line("signal 40", secs(3));
}

#[test]
fn reaping_never_waits_for_the_sdk() {
    let (_sdk, mut shim) = stuck_in_a_call(specimen(["orphans", "100"]), "orphans");
    assert!(orphans_reaped(&mut shim, 100, secs(3)).is_some(), "orphans that waited for the SDK");
}

#[test]
fn a_game_that_dies_of_ctrl_c_was_stopped() {
    let sdk = ScriptedSdk::start();
    let game = Port::reserve();
    let number = sdk.port().to_string();
    let mut terminal = Terminal::start(
        [shim::binary().into_os_string(), "--".into(), "sh".into(), "-c".into(), "echo up; exec sleep 60".into()],
        &[("AGONES_SDK_GRPC_PORT", &number), ("AGONES_SHIM_READY_TCP", &game.number().to_string())],
    );
    terminal.wait_for(0, "up", secs(10));
    sdk.wait_for_call("GetGameServer", secs(10));
    terminal.type_in(INTERRUPT);
    sdk.wait_for_call("Shutdown", secs(10));
    assert_eq!(terminal.expect_exit(secs(15)), 130);
    assert_eq!(sdk.state(), "Shutdown");
}
