//! One connection to an SDK server, and one call on it.
//!
//! gRPC is handed a socket that is connected already, and so cannot connect anew by itself: a connection that ended
//! fails every later call at once. That is how a server is noticed that restarted between two calls, and it costs
//! none of them anything. A shim that is not connected pays microseconds for an attempt, where gRPC's own take
//! milliseconds.

#![allow(unsafe_code)]

use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::IntoRawFd;
use std::sync::Arc;

use grpcio::{CallOption, ChannelBuilder, Client, Environment, Method, RpcStatusCode};

use super::call::{CallError, CallErrorKind};
use super::wait;
use crate::duration::seconds;
use crate::net::deadline::Deadline;
use crate::net::http;
use crate::net::resolve::Resolver;
use crate::settings::Endpoint;

/// A connection, and a look at its socket beside gRPC.
pub(super) struct Watched {
    client: Client,
    /// The same socket once more. Nothing is read from it or written to it.
    socket: TcpStream,
}

impl Watched {
    /// gRPC on this connection.
    pub(super) fn open(environment: Arc<Environment>, stream: TcpStream) -> Result<Self, CallError> {
        let socket = stream.try_clone().map_err(|error| unavailable(format!("no second descriptor: {error}")))?;
        Ok(Self { client: client(environment, stream)?, socket })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The other end has closed it. gRPC has set the socket to not blocking.
    pub(super) fn has_ended(&self) -> bool {
        match self.socket.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
}

/// A connection to the first address of the endpoint that accepts.
pub(super) fn reach(resolver: &mut Resolver, endpoint: &Endpoint, deadline: Deadline) -> Result<TcpStream, CallError> {
    let kind = || match deadline.left() {
        None => CallErrorKind::DeadlineExceeded,
        Some(_) => CallErrorKind::Unavailable,
    };
    let addresses = resolver
        .addresses(&endpoint.host, endpoint.port, deadline)
        .map_err(|reason| CallError { kind: kind(), message: reason })?;
    http::connect(&addresses, deadline)
        .map_err(|failure| CallError { kind: kind(), message: format!("{endpoint}: {}", failure.reason) })
}

/// gRPC on this connection, for as long as it lasts.
pub(super) fn client(environment: Arc<Environment>, stream: TcpStream) -> Result<Client, CallError> {
    let broken = |error| unavailable(format!("connection lost: {error}"));
    let peer = stream.peer_addr().map_err(broken)?.to_string();
    // A call is a small message that waits for its answer.
    stream.set_nodelay(true).map_err(broken)?;
    let builder = ChannelBuilder::new(environment)
        .default_authority(peer.as_str())
        // A ping and two timers with every call, to find out how much of a large body to ask for.
        .raw_cfg_int(c"grpc.http2.bdp_probe".to_owned(), 0)
        // Beats find out whether the other end is there. Unset, a timer of 24 days is moved on with every frame.
        .raw_cfg_int(c"grpc.keepalive_time_ms".to_owned(), i32::MAX)
        // Repeating is the machine's business; and nobody looks at its statistics.
        .enable_retry(false)
        .raw_cfg_int(c"grpc.enable_channelz".to_owned(), 0)
        .primary_user_agent(concat!("agones-shim/", env!("CARGO_PKG_VERSION")));
    // SAFETY: the descriptor is that of a connected socket, and from here on gRPC's to close. `Watched` has another
    // descriptor of the same socket and does nothing but peek, which leaves everything to be read as it was.
    Ok(Client::new(unsafe { builder.connect_from_fd(&peer, stream.into_raw_fd()) }))
}

/// Makes a call and waits for its answer. A call that times out is cancelled, and the server is told.
pub(super) fn ask<Q, R: Unpin>(
    client: &Client,
    method: &Method<Q, R>,
    request: &Q,
    deadline: Deadline,
) -> Result<R, CallError> {
    answer(client, method, request, deadline)?.map_err(|error| call_error(&error, deadline))
}

/// Asks what no server knows the answer to: that it says so shows that it speaks gRPC. To what is no gRPC, the client
/// itself makes up an error.
pub(super) fn greet<Q, R: Unpin>(
    client: &Client,
    method: &Method<Q, R>,
    request: &Q,
    deadline: Deadline,
) -> Result<(), CallError> {
    match answer(client, method, request, deadline)? {
        Err(grpcio::Error::RpcFailure(status)) if MADE_UP.contains(&status.code()) => {
            Err(unavailable("what answers there does not speak gRPC (is it the SDK server's gRPC port?)".into()))
        }
        Err(error) => match call_error(&error, deadline) {
            // What it says does not matter, as long as it speaks.
            error if error.kind == CallErrorKind::Rejected => Ok(()),
            CallError { kind: CallErrorKind::Unavailable, message } => {
                Err(unavailable(format!("{message} before any answer (is it the SDK server's gRPC port?)")))
            }
            error => Err(error),
        },
        Ok(_) => Ok(()),
    }
}

/// How a call ends on a connection that carries something else.
const MADE_UP: [RpcStatusCode; 2] = [RpcStatusCode::INTERNAL, RpcStatusCode::UNKNOWN];

/// The answer, if it comes in time.
fn answer<Q, R: Unpin>(
    client: &Client,
    method: &Method<Q, R>,
    request: &Q,
    deadline: Deadline,
) -> Result<grpcio::Result<R>, CallError> {
    let call = client.unary_call_async(method, request, CallOption::default());
    let mut answer = call.map_err(|error| call_error(&error, deadline))?;
    wait::wait(&mut answer, deadline).ok_or_else(|| {
        answer.cancel();
        late(deadline)
    })
}

fn unavailable(message: String) -> CallError {
    CallError { kind: CallErrorKind::Unavailable, message }
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
        other => return unavailable(other.to_string()),
    };
    // A hostile server may send megabytes; a log line takes this much.
    let text: String = status.message().chars().take(300).collect();
    match status.code() {
        RpcStatusCode::DEADLINE_EXCEEDED => late(deadline),
        RpcStatusCode::UNAVAILABLE => unavailable(format!("connection lost: {text}")),
        code => CallError { kind: CallErrorKind::Rejected, message: format!("{code}: {text}") },
    }
}
