//! `agones-shim local-sdk` as a child process, and clients for its two sides.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use agones_shim::proto::{self, beta, sdk};
use grpcio::{CallOption, ChannelBuilder, Client, EnvBuilder, Environment, Method, WriteFlags};

/// Far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The running server.
pub struct LocalSdk {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
    pub grpc: SocketAddr,
    pub http: SocketAddr,
    pub health: SocketAddr,
}

impl LocalSdk {
    /// Starts it on free ports, with these further arguments.
    pub fn start(args: &[&str]) -> Self {
        let mut child = command()
            .args(["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--health", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take().expect("piped");
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut server = Self { child, lines, seen: Vec::new(), grpc: nowhere, http: nowhere, health: nowhere };
        server.grpc = server.address("grpc");
        server.http = server.address("http");
        server.health = server.address("health");
        server
    }

    /// Waits for a line that contains the text; lines are looked at in order, each once.
    pub fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(error) => {
                    panic!("no line with {text:?} ({error}); seen:\n{}\n{}", self.seen.join("\n"), self.stderr())
                }
            }
        }
    }

    /// Sends a signal, waits for the end.
    pub fn stop(&mut self, signal: nix::sys::signal::Signal) -> ExitStatus {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"));
        nix::sys::signal::kill(pid, signal).expect("the child is there");
        self.wait_for_end()
    }

    pub fn wait_for_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("own child") {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("still running; seen:\n{}", self.seen.join("\n"))
    }

    pub fn client(&self) -> SdkClient {
        SdkClient::new(self.grpc)
    }

    fn address(&mut self, side: &str) -> SocketAddr {
        let line = self.wait_for(&format!("local-sdk: {side} listening on "));
        line.rsplit(' ').next().and_then(|address| address.parse().ok()).unwrap_or_else(|| panic!("an address: {line}"))
    }

    fn stderr(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        self.child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut text));
        text
    }
}

impl Drop for LocalSdk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `agones-shim local-sdk`, in an empty environment.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agones-shim"));
    command.arg("local-sdk").env_clear().stdin(Stdio::null());
    command
}

/// A gRPC client made from the method tables.
pub struct SdkClient {
    client: Client,
    _env: Arc<Environment>,
}

impl SdkClient {
    pub fn new(address: SocketAddr) -> Self {
        let env = Arc::new(EnvBuilder::new().cq_count(1).build());
        let channel = ChannelBuilder::new(Arc::clone(&env)).enable_http_proxy(false).connect(&address.to_string());
        Self { client: Client::new(channel), _env: env }
    }

    pub fn call<Req, Resp: Unpin>(&self, method: &Method<Req, Resp>, request: &Req) -> Result<Resp, (i32, String)> {
        self.client.unary_call(method, request, options()).map_err(|error| match error {
            grpcio::Error::RpcFailure(status) => (status.code().into(), status.message().to_owned()),
            other => panic!("{other}"),
        })
    }

    pub fn ready(&self) {
        self.call(&proto::READY, &sdk::Empty {}).expect("Ready");
    }

    pub fn shutdown(&self) {
        self.call(&proto::SHUTDOWN, &sdk::Empty {}).expect("Shutdown");
    }

    pub fn game_server(&self) -> sdk::GameServer {
        self.call(&proto::GET_GAME_SERVER, &sdk::Empty {}).expect("GetGameServer")
    }

    pub fn state(&self) -> String {
        self.game_server().status.expect("a status").state
    }

    /// Polls until the state shows, and says how long that took.
    pub fn wait_for_state(&self, wanted: &str) -> Duration {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if self.state() == wanted {
                return start.elapsed();
            }
            thread::sleep(Duration::from_millis(2));
        }
        panic!("never {wanted}, it is {}", self.state())
    }

    pub fn counter(&self, name: &str) -> Result<beta::Counter, (i32, String)> {
        self.call(&proto::GET_COUNTER, &beta::GetCounterRequest { name: name.into() })
    }

    pub fn set_count(&self, name: &str, count: i64) -> Result<beta::Counter, (i32, String)> {
        let update = beta::CounterUpdateRequest { name: name.into(), count: Some(count), ..Default::default() };
        self.call(&proto::UPDATE_COUNTER, &beta::UpdateCounterRequest { counter_update_request: Some(update) })
    }

    /// One stream of so many beats, closed and answered.
    pub fn beats(&self, number: usize) {
        use futures_util::SinkExt as _;
        let (mut sink, answer) = self.client.client_streaming(&proto::HEALTH, options()).expect("a stream");
        futures_executor::block_on(async {
            for _ in 0..number {
                sink.send((sdk::Empty {}, WriteFlags::default())).await.expect("a beat goes out");
            }
            sink.close().await.expect("the stream closes");
            answer.await.expect("the stream is answered")
        });
    }

    /// A watch.
    pub fn watch(&self) -> grpcio::ClientSStreamReceiver<sdk::GameServer> {
        self.client.server_streaming(&proto::WATCH_GAME_SERVER, &sdk::Empty {}, options()).expect("a watch")
    }
}

fn options() -> CallOption {
    CallOption::default().timeout(PATIENCE)
}

/// The next GameServer of a watch.
pub fn next(watch: &mut grpcio::ClientSStreamReceiver<sdk::GameServer>) -> sdk::GameServer {
    use futures_util::TryStreamExt as _;
    futures_executor::block_on(watch.try_next()).expect("the watch lives").expect("and has not ended")
}

/// One HTTP exchange on a connection of its own: status and body.
pub fn http(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, body.to_owned())
}
