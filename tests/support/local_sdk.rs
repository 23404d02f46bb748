//! `agones-shim local-sdk` as a process: an SDK server that behaves like the cluster's, on ports of its own.

use std::net::SocketAddr;
use std::time::Duration;

use super::client::{self, Response};
use super::shim::{Builder, Shim, shim};
use super::wait::{self, secs};

/// A running local SDK server.
pub struct LocalSdk {
    process: Shim,
    grpc: SocketAddr,
    http: SocketAddr,
}

impl LocalSdk {
    /// Starts one; `args` are added (`-f`, a manifest).
    #[track_caller]
    pub fn start(args: &[&str]) -> Self {
        Self::start_as(shim(), args)
    }

    /// One with its gRPC on this address: where another was before it.
    #[track_caller]
    pub fn start_at(grpc: &str, args: &[&str]) -> Self {
        Self::start_with(shim(), grpc, args)
    }

    /// The same from a builder with further settings.
    #[track_caller]
    pub fn start_as(builder: Builder, args: &[&str]) -> Self {
        Self::start_with(builder, "127.0.0.1:0", args)
    }

    #[track_caller]
    fn start_with(builder: Builder, grpc: &str, args: &[&str]) -> Self {
        let mut process =
            builder.args(["local-sdk", "--grpc", grpc, "--http", "127.0.0.1:0", "--health", "off"]).args(args).spawn();
        let mut address = |part: &str| {
            let line = process.wait_for_line(part, secs(15)).text;
            let address = line.rsplit(' ').next().unwrap_or_default();
            address.parse().unwrap_or_else(|_| panic!("no address at the end of {line:?}"))
        };
        let grpc = address("local-sdk: grpc listening on ");
        let http = address("local-sdk: http listening on ");
        Self { process, grpc, http }
    }

    /// Where the shim connects to.
    pub fn port(&self) -> u16 {
        self.grpc.port()
    }

    /// Where gRPC listens.
    pub fn grpc(&self) -> SocketAddr {
        self.grpc
    }

    /// Where HTTP listens.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// Its process, for signals and lines.
    pub fn process(&mut self) -> &mut Shim {
        &mut self.process
    }

    /// GET.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        client::get(self.http, path, secs(5)).unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// POST.
    #[track_caller]
    pub fn post(&self, path: &str, body: &str) -> Response {
        client::post(self.http, path, body, secs(5)).unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// The calls it has seen, as it tells them.
    #[track_caller]
    pub fn calls(&self) -> String {
        self.get("/local/calls").body
    }

    /// The GameServer's state.
    #[track_caller]
    pub fn state(&self) -> String {
        let body = self.get("/gameserver").body;
        json_string(&body, "state").unwrap_or_else(|| panic!("no state in {body}"))
    }

    /// Waits until the GameServer is in this state.
    #[track_caller]
    pub fn wait_for_state(&self, state: &str, within: Duration) {
        let mut last = String::new();
        let found = wait::poll(within, || {
            last = self.state();
            (last == state).then_some(())
        });
        assert!(found.is_some(), "state {last}, not {state}, after {within:?}; calls: {}", self.calls());
    }
}

/// The first string member of this name, anywhere in a JSON text without escapes.
pub fn json_string(json: &str, name: &str) -> Option<String> {
    let (_, rest) = json.split_once(&format!("\"{name}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(rest.split_once('"')?.0.to_owned())
}
