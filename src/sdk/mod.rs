//! The SDK client: the calls of trait [`Sdk`] over grpcio, each with a deadline.
//!
//! It blocks, and it is owned by the state thread alone. It has no retry
//! policy, keeps no state but the connection and decides nothing. gRPC's
//! threads do not exist before something listens on the SDK server's port, so
//! that a shim without Agones stays small.

pub mod game_server;
pub mod json;
pub mod once;
pub mod proto;
pub mod quiet;
pub mod stats;
mod wait;

use std::ffi::CStr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use grpcio::{CallOption, Channel, ChannelBuilder, Client, Environment, Method, RpcStatusCode};

use crate::machine::{CallError, CallErrorKind, seconds};
use crate::net::deadline::Deadline;
use crate::net::http;
use crate::net::resolve::Resolver;
use crate::sdk::game_server::{Counter, GameServer, List};
use crate::sdk::proto::{beta, sdk};
use crate::sdk::quiet::Quiet;
use crate::settings::{Endpoint, KeyValue};

/// An attempt to connect takes no longer than this, so that it never freezes the state thread (SPEC.md 2.2).
pub const CONNECT_DEADLINE: Duration = Duration::from_millis(500);
/// gRPC's own reconnecting is bounded by this; the shim opens a new channel for each attempt anyway.
const RECONNECT_BACKOFF: Duration = Duration::from_secs(1);

/// gRPC's name for the least time that a connection attempt is given, milliseconds.
const MIN_CONNECT_TIMEOUT: &CStr = c"grpc.min_reconnect_backoff_ms";

/// What the state thread asks of an SDK server.
pub trait Sdk {
    /// Drops the connection, opens a new one and reads the GameServer.
    ///
    /// # Errors
    /// Nothing listens, or it did not answer within [`CONNECT_DEADLINE`].
    fn connect(&mut self) -> Result<GameServer, CallError>;
    /// Reads the GameServer.
    ///
    /// # Errors
    /// Not connected, no answer within the call timeout, or an error answer; so for all that follow.
    fn game_server(&mut self) -> Result<GameServer, CallError>;
    /// Asks for state Ready. The answer means that it is queued.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn ready(&mut self) -> Result<(), CallError>;
    /// Asks for state Shutdown. The answer means that it is queued.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn shutdown(&mut self) -> Result<(), CallError>;
    /// Sends one beat and waits for its confirmation.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn health(&mut self) -> Result<(), CallError>;
    /// Reads a Counter.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn counter(&mut self, name: &str) -> Result<Counter, CallError>;
    /// Sets a Counter's count, and its capacity where there is one to set.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn update_counter(&mut self, name: &str, count: i64, capacity: Option<i64>) -> Result<(), CallError>;
    /// Reads a List.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn list(&mut self, name: &str) -> Result<List, CallError>;
    /// Adds a value to a List.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn add_list_value(&mut self, name: &str, value: &str) -> Result<(), CallError>;
    /// Removes a value from a List.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn remove_list_value(&mut self, name: &str, value: &str) -> Result<(), CallError>;
    /// Sets a label. The answer means that it is queued.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn set_label(&mut self, pair: &KeyValue) -> Result<(), CallError>;
    /// Sets an annotation. The answer means that it is queued.
    ///
    /// # Errors
    /// As [`Sdk::game_server`].
    fn set_annotation(&mut self, pair: &KeyValue) -> Result<(), CallError>;
}

/// An SDK server reached by gRPC.
pub struct GrpcSdk {
    endpoint: Endpoint,
    call_timeout: Duration,
    resolver: Resolver,
    /// Made at the first connection; it lives as long as the client.
    grpc: Option<Quiet>,
    client: Option<Client>,
}

impl GrpcSdk {
    /// A client that is not connected.
    #[must_use]
    pub fn new(endpoint: Endpoint, call_timeout: Duration) -> Self {
        Self { endpoint, call_timeout, resolver: Resolver::new(), grpc: None, client: None }
    }

    fn unary<Q, R: Unpin>(&self, method: &Method<Q, R>, request: &Q) -> Result<R, CallError> {
        let client = self.client.as_ref().ok_or_else(not_connected)?;
        ask(client, method, request, CallOption::default(), Deadline::after(self.call_timeout))
    }
}

/// Makes a call and waits for its answer. One that is given up is cancelled: the server hears of it.
fn ask<Q, R: Unpin>(
    client: &Client,
    method: &Method<Q, R>,
    request: &Q,
    options: CallOption,
    deadline: Deadline,
) -> Result<R, CallError> {
    let mut answer = client.unary_call_async(method, request, options).map_err(|error| call_error(&error, deadline))?;
    let Some(outcome) = wait::wait(&mut answer, deadline) else {
        answer.cancel();
        return Err(late(deadline));
    };
    outcome.map_err(|error| call_error(&error, deadline))
}

impl Sdk for GrpcSdk {
    fn connect(&mut self) -> Result<GameServer, CallError> {
        self.client = None;
        let deadline = Deadline::after(CONNECT_DEADLINE);
        let address = reachable(&mut self.resolver, &self.endpoint, deadline)?;
        let environment = self.grpc.get_or_insert_with(quiet::start).environment.clone();
        let client = Client::new(open(environment, address));
        let options = CallOption::default().wait_for_ready(true);
        let game_server = ask(&client, &proto::GET_GAME_SERVER, &sdk::Empty {}, options, deadline)?;
        self.client = Some(client);
        Ok(game_server.into())
    }

    fn game_server(&mut self) -> Result<GameServer, CallError> {
        self.unary(&proto::GET_GAME_SERVER, &sdk::Empty {}).map(GameServer::from)
    }

    fn ready(&mut self) -> Result<(), CallError> {
        self.unary(&proto::READY, &sdk::Empty {}).map(drop)
    }

    fn shutdown(&mut self) -> Result<(), CallError> {
        self.unary(&proto::SHUTDOWN, &sdk::Empty {}).map(drop)
    }

    /// One short stream a beat: on a long one, sends into a frozen server succeed. A stream of one message is on the
    /// wire what a unary call is; as that it goes out in one piece and wakes two threads once, not five times.
    fn health(&mut self) -> Result<(), CallError> {
        self.unary(&proto::HEALTH, &sdk::Empty {}).map(drop)
    }

    fn counter(&mut self, name: &str) -> Result<Counter, CallError> {
        let request = beta::GetCounterRequest { name: name.into() };
        let counter = self.unary(&proto::GET_COUNTER, &request)?;
        Ok(Counter { count: counter.count, capacity: counter.capacity })
    }

    /// The body of the answer is not looked at: some versions fill it with zeros.
    fn update_counter(&mut self, name: &str, count: i64, capacity: Option<i64>) -> Result<(), CallError> {
        let update = beta::CounterUpdateRequest { name: name.into(), count: Some(count), capacity, count_diff: 0 };
        let request = beta::UpdateCounterRequest { counter_update_request: Some(update) };
        self.unary(&proto::UPDATE_COUNTER, &request).map(drop)
    }

    fn list(&mut self, name: &str) -> Result<List, CallError> {
        let list = self.unary(&proto::GET_LIST, &beta::GetListRequest { name: name.into() })?;
        Ok(List { capacity: list.capacity, values: list.values })
    }

    fn add_list_value(&mut self, name: &str, value: &str) -> Result<(), CallError> {
        let request = beta::AddListValueRequest { name: name.into(), value: value.into() };
        self.unary(&proto::ADD_LIST_VALUE, &request).map(drop)
    }

    fn remove_list_value(&mut self, name: &str, value: &str) -> Result<(), CallError> {
        let request = beta::RemoveListValueRequest { name: name.into(), value: value.into() };
        self.unary(&proto::REMOVE_LIST_VALUE, &request).map(drop)
    }

    fn set_label(&mut self, pair: &KeyValue) -> Result<(), CallError> {
        self.unary(&proto::SET_LABEL, &on_the_wire(pair)).map(drop)
    }

    fn set_annotation(&mut self, pair: &KeyValue) -> Result<(), CallError> {
        self.unary(&proto::SET_ANNOTATION, &on_the_wire(pair)).map(drop)
    }
}

fn on_the_wire(pair: &KeyValue) -> sdk::KeyValue {
    sdk::KeyValue { key: pair.key.clone(), value: pair.value.clone() }
}

/// An address of the endpoint that accepts. A refused connection costs
/// microseconds this way, and milliseconds by gRPC.
fn reachable(resolver: &mut Resolver, endpoint: &Endpoint, deadline: Deadline) -> Result<SocketAddr, CallError> {
    let kind = || match deadline.left() {
        None => CallErrorKind::DeadlineExceeded,
        Some(_) => CallErrorKind::Unavailable,
    };
    let addresses = resolver
        .addresses(&endpoint.host, endpoint.port, deadline)
        .map_err(|reason| CallError { kind: kind(), message: reason })?;
    let stream = http::connect(&addresses, deadline)
        .map_err(|failure| CallError { kind: kind(), message: format!("{endpoint}: {}", failure.reason) })?;
    stream
        .peer_addr()
        .map_err(|error| CallError { kind: CallErrorKind::Unavailable, message: format!("{endpoint}: {error}") })
}

fn open(environment: Arc<Environment>, address: SocketAddr) -> Channel {
    let scheme = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    ChannelBuilder::new(environment)
        .enable_http_proxy(false)
        // Without it a new channel would share the old one's connection and its backoff.
        .use_local_subchannel_pool(true)
        .initial_reconnect_backoff(RECONNECT_BACKOFF)
        .max_reconnect_backoff(RECONNECT_BACKOFF)
        // Also how long an attempt holds its socket against a port that accepts and says nothing: 20 s by
        // default, even when its channel is long gone.
        .raw_cfg_int(MIN_CONNECT_TIMEOUT.to_owned(), i32::try_from(CONNECT_DEADLINE.as_millis()).unwrap_or(i32::MAX))
        // A ping and two timers with every call, to find out how much of a large body to ask for.
        .raw_cfg_int(c"grpc.http2.bdp_probe".to_owned(), 0)
        // Repeating is the machine's business; and nobody looks at its statistics.
        .enable_retry(false)
        .raw_cfg_int(c"grpc.enable_channelz".to_owned(), 0)
        .primary_user_agent(concat!("agones-shim/", env!("CARGO_PKG_VERSION")))
        .connect(&format!("{scheme}:{address}"))
}

fn not_connected() -> CallError {
    CallError { kind: CallErrorKind::Unavailable, message: "not connected".into() }
}

fn late(deadline: Deadline) -> CallError {
    let within = seconds(deadline.within());
    CallError {
        kind: CallErrorKind::DeadlineExceeded,
        message: format!("no answer within the call's deadline of {within}"),
    }
}

/// Classifies loosely: codes and texts differ between versions of Agones.
fn call_error(error: &grpcio::Error, deadline: Deadline) -> CallError {
    let status = match error {
        grpcio::Error::RpcFailure(status) | grpcio::Error::RpcFinished(Some(status)) => status,
        other => return CallError { kind: CallErrorKind::Unavailable, message: other.to_string() },
    };
    // A hostile server may send megabytes; a log line takes this much.
    let text: String = status.message().chars().take(300).collect();
    match status.code() {
        RpcStatusCode::DEADLINE_EXCEEDED => late(deadline),
        RpcStatusCode::UNAVAILABLE => {
            CallError { kind: CallErrorKind::Unavailable, message: format!("connection lost: {text}") }
        }
        code => CallError { kind: CallErrorKind::Rejected, message: format!("{code}: {text}") },
    }
}
