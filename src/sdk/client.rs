//! The shim's own client: each [`Call`] of the machine as a call of gRPC.

use std::time::Duration;

use grpcio::{Client, Method};

use super::Sdk;
use super::call::{Answer, Call, CallError, CallErrorKind, Peer};
use super::channel::{self, Watched};
use super::game_server::{Counter, GameServer, List};
use super::proto::{self, beta, sdk};
use super::quiet::{self, Quiet};
use crate::net::deadline::Deadline;
use crate::net::resolve::Resolver;
use crate::settings::{Endpoint, KeyValue};

/// An attempt to connect takes no longer than this, so that it never freezes the state thread.
const CONNECT_DEADLINE: Duration = Duration::from_millis(500);

/// An SDK server reached by gRPC.
pub struct GrpcSdk {
    endpoint: Endpoint,
    call_timeout: Duration,
    resolver: Resolver,
    /// Made at the first connection; it lives as long as the client.
    grpc: Option<Quiet>,
    /// Kept when it fails, until another has taken its place: whether its server has gone shows on it.
    connection: Option<Watched>,
}

impl GrpcSdk {
    /// A client that is not connected.
    #[must_use]
    pub fn new(endpoint: Endpoint, call_timeout: Duration) -> Self {
        Self { endpoint, call_timeout, resolver: Resolver::new(), grpc: None, connection: None }
    }

    /// A beat proves the connection, or else a question that every gRPC server can answer and that changes nothing.
    /// Not GetGameServer: the SDK server holds that while its API server is slow, and holds beats never.
    fn connect(&mut self, beat: bool) -> Result<Peer, CallError> {
        let deadline = Deadline::after(CONNECT_DEADLINE);
        let stream = channel::reach(&mut self.resolver, &self.endpoint, deadline)?;
        let environment = self.grpc.get_or_insert_with(quiet::start).environment.clone();
        let connection = Watched::open(environment, stream)?;
        let client = connection.client();
        if beat {
            channel::ask(client, &proto::HEALTH, &sdk::Empty {}, deadline)?;
        } else {
            channel::greet(client, &proto::IS_ANYBODY_THERE, &sdk::Empty {}, deadline)?;
        }
        let before = self.connection.replace(connection);
        Ok(if before.is_some_and(|before| !before.has_ended()) { Peer::Same } else { Peer::New })
    }

    fn unary<Q, R: Unpin>(&self, method: &Method<Q, R>, request: &Q) -> Result<R, CallError> {
        let client = self.client()?;
        channel::ask(client, method, request, Deadline::after(self.call_timeout))
    }

    fn client(&self) -> Result<&Client, CallError> {
        let not_connected = || CallError { kind: CallErrorKind::Unavailable, message: "not connected".into() };
        self.connection.as_ref().map(Watched::client).ok_or_else(not_connected)
    }

    fn done<Q, R: Unpin>(&self, method: &Method<Q, R>, request: &Q) -> Result<(), CallError> {
        self.unary(method, request).map(drop)
    }

    fn counter(&self, name: &str) -> Result<Counter, CallError> {
        let request = beta::GetCounterRequest { name: name.into() };
        let counter = self.unary(&proto::GET_COUNTER, &request)?;
        Ok(Counter { count: counter.count, capacity: counter.capacity })
    }

    /// The body of the answer is not looked at: some versions fill it with zeros.
    fn update_counter(&self, name: &str, count: i64, capacity: Option<i64>) -> Result<(), CallError> {
        let update = beta::CounterUpdateRequest { name: name.into(), count: Some(count), capacity, count_diff: 0 };
        let request = beta::UpdateCounterRequest { counter_update_request: Some(update) };
        self.done(&proto::UPDATE_COUNTER, &request)
    }

    fn list(&self, name: &str) -> Result<List, CallError> {
        let list = self.unary(&proto::GET_LIST, &beta::GetListRequest { name: name.into() })?;
        Ok(List { capacity: list.capacity, values: list.values })
    }
}

impl Sdk for GrpcSdk {
    fn call(&mut self, call: &Call) -> Answer {
        let empty = sdk::Empty {};
        match call {
            Call::Connect { beat } => Answer::Connected(self.connect(*beat)),
            Call::GetGameServer => {
                Answer::GameServer(self.unary(&proto::GET_GAME_SERVER, &empty).map(GameServer::from))
            }
            Call::Ready => Answer::Ready(self.done(&proto::READY, &empty)),
            Call::Allocate => Answer::Allocate(self.done(&proto::ALLOCATE, &empty)),
            Call::Shutdown => Answer::Shutdown(self.done(&proto::SHUTDOWN, &empty)),
            // One short stream a beat: on a long one, sends into a frozen server succeed. A stream of one message is
            // on the wire what a unary call is; as that it goes out in one piece and wakes two threads once, not five
            // times.
            Call::Health => Answer::Health(self.done(&proto::HEALTH, &empty)),
            Call::GetCounter(name) => Answer::GetCounter(self.counter(name)),
            Call::UpdateCounter { name, count, capacity } => {
                Answer::UpdateCounter(self.update_counter(name, *count, *capacity))
            }
            Call::GetList(name) => Answer::GetList(self.list(name)),
            Call::AddListValue { name, value } => {
                let request = beta::AddListValueRequest { name: name.clone(), value: value.clone() };
                Answer::AddListValue(self.done(&proto::ADD_LIST_VALUE, &request).map_err(without_names))
            }
            Call::RemoveListValue { name, value } => {
                let request = beta::RemoveListValueRequest { name: name.clone(), value: value.clone() };
                Answer::RemoveListValue(self.done(&proto::REMOVE_LIST_VALUE, &request).map_err(without_names))
            }
            Call::SetLabel(pair) => Answer::SetLabel(self.done(&proto::SET_LABEL, &on_the_wire(pair))),
            Call::SetAnnotation(pair) => Answer::SetAnnotation(self.done(&proto::SET_ANNOTATION, &on_the_wire(pair))),
        }
    }
}

fn on_the_wire(pair: &KeyValue) -> sdk::KeyValue {
    sdk::KeyValue { key: pair.key.clone(), value: pair.value.clone() }
}

/// What the SDK server says of a List's value names a player, and who reads logs and the status page is not to learn
/// who plays. The code stays.
fn without_names(error: CallError) -> CallError {
    if error.kind != CallErrorKind::Rejected {
        return error;
    }
    let code = error.message.split(':').next().unwrap_or_default();
    CallError { message: format!("{code} (the text is left out: it names a player)"), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_player_stays_out_of_the_error() {
        let said = "2-UNKNOWN: already exists. Value: ann already in List: names";
        let error = without_names(CallError { kind: CallErrorKind::Rejected, message: said.into() });
        assert_eq!(error.message, "2-UNKNOWN (the text is left out: it names a player)");
        let late = CallError { kind: CallErrorKind::DeadlineExceeded, message: "no answer: 2s".into() };
        assert_eq!(without_names(late.clone()), late);
    }
}
