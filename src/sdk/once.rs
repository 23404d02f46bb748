//! One SDK call for `agones-shim sdk`: connect, call, done, all inside one deadline.
//!
//! Nothing is retried here: a script that wants that loops, and tells by the
//! exit code whether looping can help.

use std::sync::Arc;
use std::time::Duration;

use grpcio::{Client, EnvBuilder, Environment, Method};

use super::call::CallError;
use super::channel;
use crate::net::deadline::Deadline;
use crate::net::resolve::Resolver;
use crate::sdk::proto::{self, beta, sdk};
use crate::settings::SdkSettings;

/// One call of `agones-shim sdk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SdkCall {
    /// Ready()
    Ready,
    /// One beat.
    Health,
    /// Shutdown()
    Shutdown,
    /// Allocate()
    Allocate,
    /// Reserve(), for this number of seconds; 0 is forever.
    Reserve(i64),
    /// `GetGameServer()`
    GameServer,
    /// `SetLabel()`
    Label {
        /// Without the prefix that Agones puts in front.
        key: String,
        /// What the server accepts is its own affair.
        value: String,
    },
    /// `SetAnnotation()`
    Annotation {
        /// Without the prefix that Agones puts in front.
        key: String,
        /// What the server accepts is its own affair.
        value: String,
    },
    /// Reads a Counter, or sets its count.
    Counter {
        /// Its name.
        name: String,
        /// The new count, at least 0; `None` reads it.
        value: Option<i64>,
    },
}

impl SdkCall {
    /// As it is written on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Health => "health",
            Self::Shutdown => "shutdown",
            Self::Allocate => "allocate",
            Self::Reserve(_) => "reserve",
            Self::GameServer => "gameserver",
            Self::Label { .. } => "label",
            Self::Annotation { .. } => "annotation",
            Self::Counter { .. } => "counter",
        }
    }
}

/// What a call was answered with, whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It is done, or queued.
    Empty,
    /// The GameServer.
    GameServer(Box<sdk::GameServer>),
    /// The Counter.
    Counter(beta::Counter),
}

/// Makes one call. Connection and answer have the call timeout together.
///
/// A Counter that was set is read back, because some versions answer an
/// update with zeros: that is a second call, with a deadline of its own.
///
/// # Errors
/// Nothing listens, there is no answer in time, or an error answer.
pub fn call(settings: &SdkSettings, call: &SdkCall) -> Result<Reply, CallError> {
    let deadline = Deadline::after(settings.call_timeout);
    let stream = channel::reach(&mut Resolver::new(), &settings.endpoint, deadline)?;
    let environment: Arc<Environment> = Arc::new(EnvBuilder::new().cq_count(1).name_prefix("grpc").build());
    let once = Once { client: channel::client(environment, stream)?, timeout: settings.call_timeout };
    once.call(call, deadline)
}

struct Once {
    client: Client,
    timeout: Duration,
}

impl Once {
    fn call(&self, call: &SdkCall, deadline: Deadline) -> Result<Reply, CallError> {
        let empty = sdk::Empty {};
        match call {
            SdkCall::Ready => self.done(&proto::READY, &empty, deadline),
            SdkCall::Shutdown => self.done(&proto::SHUTDOWN, &empty, deadline),
            SdkCall::Allocate => self.done(&proto::ALLOCATE, &empty, deadline),
            SdkCall::Reserve(seconds) => self.done(&proto::RESERVE, &sdk::Duration { seconds: *seconds }, deadline),
            SdkCall::Label { key, value } => self.done(&proto::SET_LABEL, &pair(key, value), deadline),
            SdkCall::Annotation { key, value } => self.done(&proto::SET_ANNOTATION, &pair(key, value), deadline),
            SdkCall::Health => self.done(&proto::HEALTH, &empty, deadline),
            SdkCall::GameServer => {
                self.unary(&proto::GET_GAME_SERVER, &empty, deadline).map(|reply| Reply::GameServer(Box::new(reply)))
            }
            SdkCall::Counter { name, value } => self.counter(name, *value, deadline),
        }
    }

    fn counter(&self, name: &str, value: Option<i64>, deadline: Deadline) -> Result<Reply, CallError> {
        let request = beta::GetCounterRequest { name: name.to_owned() };
        let Some(count) = value else {
            return self.unary(&proto::GET_COUNTER, &request, deadline).map(Reply::Counter);
        };
        let update = beta::CounterUpdateRequest { name: name.to_owned(), count: Some(count), ..Default::default() };
        let update = beta::UpdateCounterRequest { counter_update_request: Some(update) };
        self.done(&proto::UPDATE_COUNTER, &update, deadline)?;
        // It was taken; that it cannot be shown is no failure of the call.
        let read_back = self.unary(&proto::GET_COUNTER, &request, Deadline::after(self.timeout));
        Ok(read_back.map_or(Reply::Empty, Reply::Counter))
    }

    fn done<Q, R: Unpin>(&self, method: &Method<Q, R>, request: &Q, deadline: Deadline) -> Result<Reply, CallError> {
        self.unary(method, request, deadline).map(|_| Reply::Empty)
    }

    fn unary<Q, R: Unpin>(&self, method: &Method<Q, R>, request: &Q, deadline: Deadline) -> Result<R, CallError> {
        channel::ask(&self.client, method, request, deadline)
    }
}

fn pair(key: &str, value: &str) -> sdk::KeyValue {
    sdk::KeyValue { key: key.to_owned(), value: value.to_owned() }
}
