//! A game server in small, for `make demo` and `compose.yaml`: it loads for a
//! while, then opens its port, answers `/healthz` and `/metrics` over HTTP with
//! a number of players that moves, and saves when it is told to stop.
//!
//! It knows nothing of Agones: that is the point. Not a game: whoever connects
//! to its port is greeted and sent away.
//!
//! ```text
//! demo_game [--port 7777] [--http 8085] [--load-secs 3] [--save-secs 1]
//! ```

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{process, thread};

use lexopt::prelude::*;

/// Players come and go in waves: so many after each step of two seconds.
const PLAYERS: [u32; 12] = [0, 1, 3, 4, 7, 9, 12, 11, 8, 5, 4, 2];

struct Options {
    port: u16,
    http: u16,
    load: Duration,
    save: Duration,
}

fn main() {
    let options = parse().unwrap_or_else(|error| {
        eprintln!("demo_game: {error}");
        process::exit(64);
    });
    if let Err(error) = run(&options) {
        eprintln!("demo_game: {error}");
        process::exit(1);
    }
}

fn parse() -> Result<Options, lexopt::Error> {
    let mut options = Options { port: 7777, http: 8085, load: Duration::from_secs(3), save: Duration::from_secs(1) };
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Long("port") => options.port = args.value()?.parse()?,
            Long("http") => options.http = args.value()?.parse()?,
            Long("load-secs") => options.load = Duration::from_secs(args.value()?.parse()?),
            Long("save-secs") => options.save = Duration::from_secs(args.value()?.parse()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> io::Result<()> {
    let (stop, stopped) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Nobody listens any more once the game is saving.
        let _ = stop.send(());
    })
    .map_err(io::Error::other)?;

    say("loading the map");
    if stopped.recv_timeout(options.load).is_ok() {
        say("stopped while it was loading");
        return Ok(());
    }

    let opened = Instant::now();
    let http = TcpListener::bind((Ipv4Addr::UNSPECIFIED, options.http))?;
    serve("http", http, move |client| answer(&client, players(opened)))?;
    let game = TcpListener::bind((Ipv4Addr::UNSPECIFIED, options.port))?;
    serve("game", game, |mut client| client.write_all(b"Welcome. The server is full of robots.\n"))?;
    say(&format!("open on port {}, health and metrics on {}", options.port, options.http));

    // An error is a handler that is gone; there is none that would go.
    let _ = stopped.recv();
    say("told to stop: saving the world");
    thread::sleep(options.save);
    say("saved");
    Ok(())
}

/// Hands each connection to `handle`, one after another: a demo has few.
fn serve(
    name: &str,
    listener: TcpListener,
    handle: impl Fn(TcpStream) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    thread::Builder::new().name(name.into()).spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that says nothing must not keep the next one waiting for long.
            let limit = Some(Duration::from_secs(1));
            let _ = client.set_read_timeout(limit).and_then(|()| client.set_write_timeout(limit));
            // A client that has left is no news.
            let _ = handle(client);
        }
    })?;
    Ok(())
}

fn answer(mut client: &TcpStream, players: u32) -> io::Result<()> {
    let mut lines = BufReader::new(client).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The headers are read to their end: closing with unread bytes would reset the connection.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, body) = match request.split(' ').nth(1) {
        Some("/healthz") => ("200 OK", "ok\n".to_owned()),
        Some("/metrics") => (
            "200 OK",
            format!(
                "# HELP demo_players Players on the server.\n# TYPE demo_players gauge\n\
                 demo_players{{map=\"harbour\"}} {players}\n"
            ),
        ),
        _ => ("404 Not Found", "not found\n".to_owned()),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

fn players(opened: Instant) -> u32 {
    let step = opened.elapsed().as_secs() / 2;
    // The array is short: the remainder fits.
    PLAYERS[usize::try_from(step).unwrap_or(0) % PLAYERS.len()]
}

/// A game's console; a closed one is no reason to stop.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
