//! The support under test: a support that cannot fail proves nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agones_shim::testing::sdk::proto::{self, sdk};
use grpcio::{CallOption, ChannelBuilder, Client, EnvBuilder, RpcStatusCode};
use nix::sys::signal::Signal;

use super::game_process::GameProcess;
use super::shim::Builder;
use super::{Answer, Applies, Game, Mode, Port, Proxy, Reply, ScriptedSdk, client, millis, proc, secs, wait};

fn connects(addr: SocketAddr) -> bool {
    TcpStream::connect_timeout(&addr, secs(5)).is_ok()
}

#[test]
fn a_reserved_port_refuses_until_something_listens_on_it() {
    let port = Port::reserve();
    let addr = port.addr();
    let mut game = Game::closed_on(port);
    assert!(!connects(addr));
    for _ in 0..3 {
        game.listen();
        assert!(connects(addr));
        game.die();
        assert!(!connects(addr));
    }
}

#[test]
fn reserved_ports_differ_and_have_a_twin_on_ipv6() {
    let ports: Vec<Port> = (0..50).map(|_| Port::reserve()).collect();
    let numbers: std::collections::BTreeSet<u16> = ports.iter().map(Port::number).collect();
    assert_eq!(numbers.len(), 50);
    if let Some(twin) = ports[0].twin_v6() {
        assert_eq!(twin.number(), ports[0].number());
        assert!(!connects(twin.addr()));
    }
}

/// The answer to one request within a second, or the kind of error.
fn answer(port: u16) -> Result<u16, std::io::ErrorKind> {
    let addr = SocketAddr::from(([127, 0, 0, 1], port));
    client::get(addr, "/", secs(1)).map(|response| response.status).map_err(|error| error.kind())
}

#[test]
fn a_proxy_passes_delays_cuts_hangs_drips_and_refuses() {
    let game = Game::open();
    let mut proxy = Proxy::in_front_of(game.addr());
    assert_eq!(answer(proxy.port()), Ok(200));

    proxy.set(Mode::Delay(millis(100)));
    let begun = Instant::now();
    assert_eq!(answer(proxy.port()), Ok(200));
    assert!(begun.elapsed() >= millis(200), "there and back");

    proxy.set(Mode::Hang);
    assert!(matches!(answer(proxy.port()), Err(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)));

    proxy.set(Mode::Cut);
    assert!(answer(proxy.port()).is_err());

    proxy.set(Mode::Drip(1));
    assert!(answer(proxy.port()).is_err(), "a request takes longer than a second");

    proxy.set(Mode::Refuse);
    // Reset: the connection was on its way when the listener closed.
    let refused = [std::io::ErrorKind::ConnectionRefused, std::io::ErrorKind::ConnectionReset];
    assert!(answer(proxy.port()).is_err_and(|error| refused.contains(&error)));

    proxy.set(Mode::Pass);
    assert_eq!(answer(proxy.port()), Ok(200));
    assert_eq!(proxy.accepted().len(), 6, "all but the refused one");
}

#[test]
fn a_proxy_cuts_connections_that_it_has() {
    let game = Game::open();
    let mut proxy = Proxy::in_front_of(game.addr());
    let mut stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], proxy.port()))).expect("it listens");
    game.wait_for_connections(1, secs(5));
    proxy.set(Mode::Cut);
    stream.set_read_timeout(Some(secs(5))).expect("a deadline");
    assert!(matches!(stream.read(&mut [0]), Ok(0)) || stream.write_all(b"x").is_err());
}

#[test]
fn a_proxy_hangs_connections_that_it_has_and_lets_them_go_on() {
    let game = Game::open();
    let mut proxy = Proxy::in_front_of(game.addr());
    let mut stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], proxy.port()))).expect("it listens");
    stream.set_read_timeout(Some(millis(300))).expect("a deadline");
    let mut ask = || {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
        stream.read(&mut [0; 1024]).is_ok_and(|read| read > 0)
    };
    assert!(ask());
    proxy.set(Mode::Hang);
    assert!(!ask());
    proxy.set(Mode::Pass);
    wait::until_true("an answer", secs(10), ask);
    assert_eq!(proxy.accepted().len(), 1);
}

#[test]
fn a_game_answers_as_it_is_told() {
    let game = Game::open();
    let get = |path: &str| client::get(game.addr(), path, secs(5)).expect("an answer");
    game.reply(Reply::status(503))
        .reply_once(Reply::redirect("http://elsewhere/"))
        .reply_at("/m", Reply::text("m 1\n"));
    assert!(get("/").head.contains("Location: http://elsewhere/"));
    assert_eq!(get("/").status, 503);
    assert_eq!(get("/m").body, "m 1\n");
    game.reply(Reply::huge("m 1\n", 8_000_000));
    assert_eq!(get("/").body.len(), 8_000_000);
    game.reply(Reply::status(204).after(millis(100)));
    assert_eq!(get("/").status, 204);
    game.reply(Reply::text("x").dripping(1));
    assert!(client::get(game.addr(), "/", millis(500)).is_err());
    game.reply(Reply::silence());
    assert!(client::get(game.addr(), "/", millis(200)).is_err());
    assert_eq!(game.requests().len(), 7);
    assert_eq!(game.connections().len(), 7);
    assert_eq!(game.requests()[2].path, "/m");
}

fn sdk_client(sdk: &ScriptedSdk) -> Client {
    let env = Arc::new(EnvBuilder::new().cq_count(1).build());
    let addr = format!("ipv4:127.0.0.1:{}", sdk.port());
    Client::new(ChannelBuilder::new(env).enable_http_proxy(false).connect(&addr))
}

fn call<Resp: Unpin>(client: &Client, method: &grpcio::Method<sdk::Empty, Resp>) -> Result<Resp, RpcStatusCode> {
    let option = CallOption::default().timeout(Duration::from_secs(3));
    client.unary_call(method, &sdk::Empty {}, option).map_err(|error| match error {
        grpcio::Error::RpcFailure(status) => status.code(),
        other => panic!("{other}"),
    })
}

fn state(client: &Client) -> String {
    call(client, &proto::GET_GAME_SERVER).expect("a GameServer").status.unwrap_or_default().state
}

#[test]
fn a_scripted_sdk_records_calls_and_answers_from_its_script() {
    let mut sdk = ScriptedSdk::reserved();
    let client = sdk_client(&sdk);
    assert_eq!(call(&client, &proto::READY).err(), Some(RpcStatusCode::UNAVAILABLE), "not open yet");
    sdk.open();
    let connected = wait::poll(secs(10), || call(&client, &proto::GET_GAME_SERVER).ok());
    assert!(connected.is_some());
    assert_eq!(state(&client), "Scheduled");

    sdk.next("Ready", Answer::unavailable()).next("Ready", Answer::Ignored).next("Ready", Answer::Hang(secs(60)));
    assert_eq!(call(&client, &proto::READY).err(), Some(RpcStatusCode::UNAVAILABLE));
    assert!(call(&client, &proto::READY).is_ok());
    assert_eq!(state(&client), "Scheduled", "ignored");
    assert_eq!(call(&client, &proto::READY).err(), Some(RpcStatusCode::DEADLINE_EXCEEDED));
    assert!(call(&client, &proto::READY).is_ok());
    wait::until_true("state Ready", secs(5), || state(&client) == "Ready");
    sdk.assert_count("Ready", 4);
    sdk.assert_none("Shutdown");

    sdk.applies("Shutdown", Applies::Never);
    assert!(call(&client, &proto::SHUTDOWN).is_ok());
    wait::let_pass(millis(200));
    assert_eq!(sdk.state(), "Ready");
    sdk.set_state("Unhealthy").applies("Shutdown", Applies::After(Duration::ZERO));
    assert!(call(&client, &proto::SHUTDOWN).is_ok());
    assert_eq!(sdk.state(), "Unhealthy", "nothing moves it any more");

    sdk.close();
    assert_eq!(call(&client, &proto::READY).err(), Some(RpcStatusCode::UNAVAILABLE));
    sdk.open();
    assert!(wait::poll(secs(10), || call(&client, &proto::GET_GAME_SERVER).ok()).is_some());
    assert!(catch_unwind(AssertUnwindSafe(|| sdk.assert_none("Ready"))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| sdk.wait_for_call("Reserve", millis(50)))).is_err());
}

fn sh(script: &str) -> Builder {
    Builder::of("/bin/sh").args(["-c", script])
}

#[test]
fn a_deadline_that_passes_shows_all_output() {
    let mut process = sh("echo to-stdout; echo to-stderr >&2; exec sleep 60").spawn();
    process.wait_for_line("to-stdout", secs(10));
    process.wait_for_line("to-stderr", secs(10));
    let caught =
        catch_unwind(AssertUnwindSafe(|| process.wait_for_line("never", millis(50)))).expect_err("no such line");
    let message = caught.downcast_ref::<String>().expect("a text");
    assert!(message.contains("out| to-stdout") && message.contains("err| to-stderr"), "{message}");
    assert!(catch_unwind(AssertUnwindSafe(|| process.expect_exit(millis(50)))).is_err());
    assert!(process.is_running());
}

#[test]
fn an_end_is_told_by_code_or_signal() {
    assert_eq!(sh("exit 3").spawn().expect_exit(secs(10)), 3);
    let mut killed = sh("exec sleep 60").spawn();
    killed.signal(Signal::SIGTERM);
    assert_eq!(killed.expect_exit(secs(10)), -15);
    let finished = sh("echo one; echo two >&2").run(secs(10));
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "one\n", "two\n"));
}

#[test]
fn a_process_gets_the_environment_of_its_test_and_nothing_else() {
    let finished = Builder::of("/usr/bin/env").set("A", 1).var("B", "2").unset("AGONES_SHIM_LOG_FORMAT").run(secs(10));
    let mut lines: Vec<&str> = finished.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["AGONES_SHIM_A=1", "B=2"]);
}

#[test]
fn what_a_test_started_ends_with_it() {
    let process = sh("sleep 61 & echo started; exec sleep 62").stdin(Stdio::null()).spawn();
    let pid = process.pid();
    wait::until_true("a child", secs(10), || proc::children(pid).len() == 1);
    let child = proc::children(pid)[0];
    drop(process);
    wait::until_true("both gone", secs(10), || !proc::is_alive(pid) && !proc::is_alive(child));
}

#[test]
fn the_pid_behind_a_prefix_is_that_of_the_program() {
    let process = Builder::of("/bin/sleep").arg("60").behind(["/bin/sh", "-c", "\"$@\"; true", "sh"]).spawn();
    assert!(proc::runs(process.pid(), "/bin/sleep".as_ref()));
    assert!(process.fd_count() >= 3);
    assert_eq!(process.threads(), 1);
    assert!(process.rss() > 0);
}

#[test]
fn a_game_process_can_be_frozen_thawed_and_killed() {
    let mut game = GameProcess::start();
    let get = || client::get(game.addr(), "/", secs(1)).map(|response| response.status).ok();
    assert_eq!(get(), Some(200));
    game.freeze();
    assert!(connects(game.addr()), "the kernel accepts");
    assert_eq!(get(), None);
    game.thaw();
    wait::until_true("an answer", secs(10), || get() == Some(200));
    game.kill();
    assert!(!connects(game.addr()));
}
