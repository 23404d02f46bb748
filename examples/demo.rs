//! `make demo`: the local SDK server, a small game and the shim beside it, live
//! on one terminal, all on free loopback ports. Ctrl-C drains, and so does
//! `DEMO_SECS` (20 where stdin is no terminal).
//!
//! It ends what it started, by process id, in every phase; it ends nothing
//! else. Exit code 0 if the GameServer was seen Ready and then Shutdown.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use std::{env, thread};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

/// How long a process has to leave after SIGTERM, before it is killed.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the local SDK server has to open its ports.
const SDK_START: Duration = Duration::from_secs(10);

/// Who says a line, with the colour of its prefix (ANSI SGR).
#[derive(Clone, Copy)]
struct Speaker {
    name: &'static str,
    colour: u8,
}

const DEMO: Speaker = Speaker { name: "demo", colour: 1 };
const SDK: Speaker = Speaker { name: "sdk", colour: 34 };
const GAME: Speaker = Speaker { name: "game", colour: 33 };
const SHIM: Speaker = Speaker { name: "shim", colour: 32 };
const AGONES: Speaker = Speaker { name: "agones", colour: 35 };

enum News {
    Line(Speaker, String),
    /// State and player count, whenever either has changed.
    GameServer(String, String),
    Stop,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(DEMO, error);
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<bool> {
    let (news, inbox) = mpsc::channel();
    // Before anything is started: from here on every way out goes through Stage::drop.
    let stop = news.clone();
    ctrlc::set_handler(move || {
        // The demo is on its way out when nobody listens.
        let _ = stop.send(News::Stop);
    })
    .map_err(io::Error::other)?;

    let [grpc, http, health, game, game_http, status] = free_ports()?;
    say(DEMO, format_args!("to watch it in a browser: http://127.0.0.1:{http}/ (what Agones sees)"));
    say(DEMO, format_args!("                          http://127.0.0.1:{status}/ (the shim)"));
    let mut show = Show { inbox, news, stage: Stage::default(), seen_ready: false, seen_shutdown: false };

    show.start(
        SDK,
        Command::new(beside("agones-shim")?).arg("local-sdk").args([
            format!("--grpc=127.0.0.1:{grpc}"),
            format!("--http=127.0.0.1:{http}"),
            format!("--health=127.0.0.1:{health}"),
        ]),
    )?;
    if !show.wait_for_port(http)? {
        return Ok(false);
    }
    watch_game_server(http, show.news.clone())?;

    show.start(
        GAME,
        Command::new(beside("examples/demo_game")?).args([format!("--port={game}"), format!("--http={game_http}")]),
    )?;
    let settings = [
        ("AGONES_SDK_GRPC_PORT", grpc.to_string()),
        ("AGONES_SHIM_READY_TCP", game.to_string()),
        ("AGONES_SHIM_READY_HTTP", format!("http://127.0.0.1:{game_http}/healthz")),
        ("AGONES_SHIM_HEALTH_INTERVAL_SECS", "2".into()),
        ("AGONES_SHIM_COUNTER_NAME", "players".into()),
        ("AGONES_SHIM_COUNTER_METRICS_URL", format!("http://127.0.0.1:{game_http}/metrics")),
        ("AGONES_SHIM_COUNTER_METRIC", "demo_players".into()),
        ("AGONES_SHIM_COUNTER_INTERVAL_SECS", "2".into()),
        ("AGONES_SHIM_STATUS_ADDR", format!("127.0.0.1:{status}")),
        ("AGONES_SHIM_LOG_FORMAT", "text".into()),
    ];
    say(DEMO, "the shim beside it, told by its environment alone:");
    for (name, value) in &settings {
        say(DEMO, format_args!("  {name}={value}"));
    }
    let mut shim = Command::new(beside("agones-shim")?);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AGONES_")) {
        shim.env_remove(name);
    }
    show.start(SHIM, shim.envs(settings))?;

    show.play(limit())?;
    show.drain()?;
    let (ready, shutdown) = (show.seen_ready, show.seen_shutdown);
    drop(show);
    say(
        DEMO,
        match (ready, shutdown) {
            (true, true) => "all gone, nothing is left running",
            (true, false) => "the GameServer was never seen in Shutdown",
            (false, _) => "stopped before the GameServer was Ready",
        },
    );
    Ok(ready && shutdown)
}

/// When to drain without being asked.
fn limit() -> Option<Duration> {
    let asked = env::var("DEMO_SECS").ok().and_then(|secs| secs.parse().ok()).map(Duration::from_secs);
    asked.or_else(|| (!io::stdin().is_terminal()).then_some(Duration::from_secs(20)))
}

struct Show {
    inbox: Receiver<News>,
    news: Sender<News>,
    stage: Stage,
    seen_ready: bool,
    seen_shutdown: bool,
}

impl Show {
    fn start(&mut self, speaker: Speaker, command: &mut Command) -> io::Result<()> {
        // In a group of its own: the terminal's Ctrl-C is for the demo alone, which then stops things in order.
        let mut child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::other(format!("{}: {error}", command.get_program().to_string_lossy())))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        self.stage.0.push((speaker, child));
        if let Some(out) = out {
            self.listen(speaker, out)?;
        }
        if let Some(err) = err {
            self.listen(speaker, err)?;
        }
        Ok(())
    }

    fn listen(&self, speaker: Speaker, pipe: impl Read + Send + 'static) -> io::Result<()> {
        let news = self.news.clone();
        thread::Builder::new().name(speaker.name.into()).spawn(move || {
            for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                if news.send(News::Line(speaker, String::from_utf8_lossy(&line).into_owned())).is_err() {
                    return;
                }
            }
        })?;
        Ok(())
    }

    /// Shows what arrives until `until`; true if a stop was asked for.
    fn show_until(&mut self, until: Instant) -> bool {
        loop {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(News::Line(speaker, line)) => say(speaker, line),
                Ok(News::GameServer(state, players)) => {
                    self.seen_ready |= state == "Ready";
                    self.seen_shutdown |= state == "Shutdown";
                    say(AGONES, format_args!("GameServer {state}, {players} players"));
                }
                Ok(News::Stop) => return true,
                // Disconnected cannot be: `self.news` lives.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// False if a stop came first.
    fn wait_for_port(&mut self, port: u16) -> io::Result<bool> {
        let deadline = Instant::now() + SDK_START;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if self.show_until(Instant::now() + Duration::from_millis(50)) {
                return Ok(false);
            }
            if let Some(error) = self.stage.gone().or_else(|| {
                (Instant::now() > deadline).then(|| "the local SDK server did not open its port in time".into())
            }) {
                return Err(io::Error::other(error));
            }
        }
        Ok(true)
    }

    /// Until Ctrl-C or the limit.
    fn play(&mut self, limit: Option<Duration>) -> io::Result<()> {
        match limit {
            Some(limit) => say(DEMO, format_args!("draining after {} s; Ctrl-C drains now", limit.as_secs())),
            None => say(DEMO, "Ctrl-C drains"),
        }
        let end = limit.map(|limit| Instant::now() + limit);
        while end.is_none_or(|end| Instant::now() < end) {
            if self.show_until(Instant::now() + Duration::from_millis(100)) {
                return Ok(());
            }
            if let Some(gone) = self.stage.gone() {
                return Err(io::Error::other(gone));
            }
        }
        Ok(())
    }

    /// As the kubelet would: the shim says Shutdown() while the game still runs; the SDK server goes last.
    fn drain(&mut self) -> io::Result<()> {
        say(DEMO, "draining: SIGTERM to the shim, which tells Agones first");
        for name in [SHIM.name, GAME.name] {
            self.stage.signal(name, Signal::SIGTERM);
            let deadline = Instant::now() + PATIENCE;
            loop {
                if let Some(how) = self.stage.ended(name)? {
                    say(DEMO, format_args!("{name}: {how}"));
                    break;
                }
                if Instant::now() > deadline {
                    return Err(io::Error::other(format!("{name} did not leave in time")));
                }
                // A second Ctrl-C cannot make it quicker: everything has been told already.
                self.show_until(Instant::now() + Duration::from_millis(50));
            }
        }
        // What the last state change had to say.
        self.show_until(Instant::now() + Duration::from_millis(300));
        Ok(())
    }
}

/// What runs. Dropped, it ends: SIGTERM to each, in reverse, then SIGKILL to what is left.
#[derive(Default)]
struct Stage(Vec<(Speaker, Child)>);

impl Stage {
    fn signal(&self, name: &str, signal: Signal) {
        for (_, child) in self.0.iter().filter(|(speaker, _)| speaker.name == name) {
            // A child that was not waited for keeps its id, so that it can only be that child.
            if let Ok(pid) = i32::try_from(child.id()) {
                let _ = signal::kill(Pid::from_raw(pid), signal);
            }
        }
    }

    /// How it ended, if it has.
    fn ended(&mut self, name: &str) -> io::Result<Option<String>> {
        let Some(at) = self.0.iter().position(|(speaker, _)| speaker.name == name) else {
            return Ok(Some("was gone already".into()));
        };
        let status = self.0[at].1.try_wait()?;
        if status.is_some() {
            self.0.remove(at);
        }
        Ok(status.map(|status| status.to_string()))
    }

    /// Who has left that should not have.
    fn gone(&mut self) -> Option<String> {
        for (speaker, child) in &mut self.0 {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(format!("{} has left: {status}", speaker.name));
            }
        }
        None
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for (speaker, mut child) in std::mem::take(&mut self.0).into_iter().rev() {
            if let (Ok(None), Ok(pid)) = (child.try_wait(), i32::try_from(child.id())) {
                let _ = signal::kill(Pid::from_raw(pid), Signal::SIGTERM);
            }
            let deadline = Instant::now() + PATIENCE;
            while matches!(child.try_wait(), Ok(None)) {
                if Instant::now() > deadline {
                    say(DEMO, format_args!("{} did not leave, killing it", speaker.name));
                    let _ = child.kill();
                    let _ = child.wait();
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Follows `/watch/gameserver` over HTTP, as a curious shell would with curl: a line of JSON at each change.
fn watch_game_server(port: u16, news: Sender<News>) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    write!(stream, "GET /watch/gameserver HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    thread::Builder::new().name("agones".into()).spawn(move || {
        let mut last = (String::new(), String::new());
        // Headers and chunk sizes are lines without a state. It ends with the server.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let now = (text_after(&line, "\"state\":\""), text_after(&line, "\"count\":\""));
            if now != last && !now.0.is_empty() {
                last.clone_from(&now);
                if news.send(News::GameServer(now.0, now.1)).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok(())
}

/// The string that follows `key`: enough for two fields of a reply whose shape is known.
fn text_after(reply: &str, key: &str) -> String {
    let rest = reply.split_once(key).map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or("").to_owned()
}

fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    // All are held until the last is known, so that no two are the same.
    let held = (0..N).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<io::Result<Vec<_>>>()?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&held) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

/// Cargo puts examples into a folder beside the program.
fn beside(name: &str) -> io::Result<PathBuf> {
    let here = env::current_exe()?;
    let target = here.parent().and_then(|examples| examples.parent());
    target.map(|target| target.join(name)).ok_or_else(|| io::Error::other("the demo is not where cargo puts it"))
}

fn say(speaker: Speaker, text: impl Display) {
    let mut out = io::stdout().lock();
    let Speaker { name, colour } = speaker;
    // A closed terminal is no reason to leave anything running.
    let _ = if out.is_terminal() && env::var_os("NO_COLOR").is_none() {
        writeln!(out, "\x1b[{colour}m{name:>6} |\x1b[0m {text}")
    } else {
        writeln!(out, "{name:>6} | {text}")
    };
}
