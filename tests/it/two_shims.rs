//! Two shims at one SDK server: the second says so, with the process of the first.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::mpsc::channel;
use std::thread;

use nix::sys::signal::Signal;

use crate::support::{Game, ScriptedSdk, secs, shim};

const OTHER: &str = "ANOTHER AGONES-SHIM HAS THIS SDK SERVER";

#[test]
fn the_second_shim_at_an_sdk_server_names_the_first() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let start = || shim().sdk(&sdk).set("READY_TCP", game.port()).spawn();
    let mut first = start();
    first.wait_for_line("the GameServer is ready", secs(20));
    // The same server by another name.
    let builder = shim().sdk(&sdk).var("AGONES_SDK_GRPC_HOST", "127.0.0.1").set("READY_TCP", game.port());
    let mut second = builder.spawn();
    let line = second.wait_for_line(OTHER, secs(10)).text;
    assert!(line.ends_with(&format!("pid={}", first.pid())), "{line}");
    assert!(line.contains(&sdk.port().to_string()), "{line}");
    first.assert_no_line(OTHER);

    // Its end is nobody's any more, and takes the mark with it.
    first.signal(Signal::SIGKILL);
    first.expect_exit(secs(10));
    let mut third = start();
    third.wait_for_line("the game server is up", secs(20));
    third.assert_no_line(OTHER);
    second.assert_stays(secs(0));
}

#[test]
fn shims_at_different_sdk_servers_or_at_none_are_nobodys_concern() {
    let (one, other) = (ScriptedSdk::start(), ScriptedSdk::start());
    let game = Game::open();
    let port = one.port();
    let mut all = [
        shim().sdk(&one).set("READY_TCP", game.port()).spawn(),
        shim().sdk(&other).set("READY_TCP", game.port()).spawn(),
        shim().sdk_port(port).set("SDK", "off").set("READY_TCP", game.port()).spawn(),
    ];
    for shim in &mut all {
        shim.wait_for_line("the game server is up", secs(20));
        shim.assert_no_line(OTHER);
    }
}

#[test]
fn a_mark_whose_queue_is_full_holds_nobody_up() {
    let sdk = ScriptedSdk::start();
    let game = Game::open();
    let start = || shim().sdk(&sdk).set("READY_TCP", game.port()).spawn();
    let mut first = start();
    first.wait_for_line("the GameServer is ready", secs(20));
    let name = format!("agones-shim/localhost:{}", sdk.port());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    // As many as a queue has room for, and then some.
    let (filled, wait) = channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok(stream) = UnixStream::connect_addr(&address) {
            held.push(stream);
            let _ = filled.send(held.len());
        }
    });
    // It stops counting where connecting would wait.
    while wait.recv_timeout(secs(1)).is_ok() {}
    let mut second = start();
    second.wait_for_line(OTHER, secs(10));
}
