//! `agones-shim local-sdk`: the Agones SDK sidecar in small, for one GameServer
//! in memory, with the cluster's timing, rules and error texts.
//!
//! `gameserver.rs` decides and knows no clock and no socket; `server.rs` owns
//! it in one thread; `grpc.rs` and `http.rs` only translate. It shares with the
//! shim the wire messages and the reader of manifests.

mod calls;
mod change;
mod counters;
mod feed;
#[doc(hidden)]
pub mod fuzz;
mod gameserver;
mod grpc;
mod health;
mod http;
mod json;
mod metadata;
mod options;
mod origin;
mod output;
mod ports;
mod request;
mod routes;
mod server;
mod stamp;
mod timers;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use calls::Via;
use gameserver::Setting;
use options::{Command, Options};
use output::Output;
use server::{Door, LocalServer};

use crate::exit::ExitReason;
use crate::manifest;
use crate::manifest::spec::Spec;

/// A command that cannot be carried out: why, and the exit code for that.
struct Failure {
    reason: ExitReason,
    message: String,
}

/// Runs `agones-shim local-sdk` with the arguments that follow those two words,
/// until SIGTERM or SIGINT. What is wrong goes to stderr.
/// Catches the signals itself: nobody may have done so before.
#[must_use]
pub fn run(args: Vec<OsString>) -> ExitReason {
    match start(args) {
        Ok(()) => ExitReason::Stopped,
        Err(failure) => {
            // Not eprintln!, which panics when stderr is closed.
            let _ = writeln!(std::io::stderr(), "agones-shim: local-sdk: {}", failure.message);
            failure.reason
        }
    }
}

fn start(args: Vec<OsString>) -> Result<(), Failure> {
    match options::parse(args).map_err(|message| Failure { reason: ExitReason::Usage, message })? {
        Command::Help => {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(options::HELP.as_bytes()).and_then(|()| out.flush());
            Ok(())
        }
        Command::PrintGameServer(options) => print_game_server(&options),
        Command::Serve(options) => serve(options),
    }
}

fn print_game_server(options: &Options) -> Result<(), Failure> {
    let spec = read_spec(options)?;
    let ports = ports::pick(&spec.ports, &options.ports).map_err(system)?;
    let setting = Setting { ports: ports.listed.clone(), ..setting(options) };
    let game_server = gameserver::GameServer::new(spec, setting, std::time::Duration::ZERO);
    let _ = writeln!(std::io::stdout(), "{}", json::pretty_game_server(&game_server.snapshot()));
    Ok(())
}

fn serve(options: Options) -> Result<(), Failure> {
    let spec = read_spec(&options)?;
    let mut output = Output::start().map_err(|error| system(format!("no thread for the output: {error}")))?;
    quiet_panics();
    let (commands, inbox) = mpsc::channel();
    let stop = commands.clone();
    ctrlc::set_handler(move || drop(stop.send(server::Command::Stop)))
        .map_err(|error| system(format!("SIGTERM and SIGINT could not be caught: {error}")))?;
    let ports = ports::pick(&spec.ports, &options.ports).map_err(system)?;

    check_free("grpc", options.grpc)?;
    let env = Arc::new(grpcio::EnvBuilder::new().cq_count(1).name_prefix("local-sdk-grpc").build());
    let (grpc_server, port) =
        grpc::serve(env, options.grpc, &Door::new(commands.clone(), Via::Grpc)).map_err(system)?;
    output.line(format!("local-sdk: grpc listening on {}", SocketAddr::new(options.grpc.ip(), port)));
    let sides: [(_, _, http::Handler); 2] =
        [("http", options.http, http::answer_sdk), ("health", options.health, http::answer_health)];
    for (side, address, handler) in sides {
        let Some(address) = address else { continue };
        let cannot_listen = |error| cannot_listen(side, address, &error);
        let listener = TcpListener::bind(address).map_err(cannot_listen)?;
        let bound = listener.local_addr().map_err(cannot_listen)?;
        http::serve(listener, Door::new(commands.clone(), Via::Http), handler).map_err(cannot_listen)?;
        output.line(format!("local-sdk: {side} listening on {bound}"));
    }
    let (ports_text, health) = (ports.describe(), spec.health.describe());
    output.line(format!("local-sdk: GameServer {}; ports: {ports_text}; health: {health}", spec.name));
    if options.file.is_none() {
        output.line(
            "local-sdk: no -f: Counter players (capacity 1000) and List players are declared; a cluster has only what the \
             manifest declares"
                .to_owned(),
        );
    }
    let setting = setting(&options);
    drop(commands);
    LocalServer::new(options, spec, setting, ports, output).run(&inbox);
    drop(grpc_server);
    Ok(())
}

fn read_spec(options: &Options) -> Result<Spec, Failure> {
    let Some(path) = &options.file else { return Ok(Spec::default()) };
    let spec = manifest::read(File::open(path)).and_then(|text| manifest::parse(&text));
    spec.map_err(|error| Failure { reason: ExitReason::Config, message: format!("{}: {error}", path.display()) })
}

fn setting(options: &Options) -> Setting {
    Setting { batch: options.batch, epoch: since_1970(), address: "127.0.0.1".to_owned(), ports: Vec::new() }
}

/// gRPC says of a port that it could not bind nothing but that.
fn check_free(option: &str, address: SocketAddr) -> Result<(), Failure> {
    TcpListener::bind(address).map(drop).map_err(|error| cannot_listen(option, address, &error))
}

fn cannot_listen(option: &str, address: SocketAddr, error: &std::io::Error) -> Failure {
    let remedy = if error.kind() == std::io::ErrorKind::AddrInUse {
        format!("; is another SDK server running? (--{option} ADDR picks another address, port 0 a free one)")
    } else {
        String::new()
    };
    system(format!("--{option}: cannot listen on {address}: {error}{remedy}"))
}

/// tiny_http's threads, which have no name, panic when a client resets its
/// connection at a bad moment. That ends the thread and nothing else.
fn quiet_panics() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name().is_some() {
            loud(panic);
        }
    }));
}

fn system(message: String) -> Failure {
    Failure { reason: ExitReason::System, message }
}

/// Timestamps in a GameServer are the wall clock's. Read once: its jumps move
/// nothing here.
#[expect(clippy::disallowed_methods, reason = "metadata carries wall-clock stamps")]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
