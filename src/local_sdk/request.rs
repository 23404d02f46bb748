//! What can be asked of the GameServer and what it answers, whichever way the
//! call came. gRPC and HTTP translate to and from these and decide nothing.

use std::fmt;

use crate::sdk::proto::{beta, sdk};

/// So many characters of an argument are shown and remembered.
const MAX_SHOWN: usize = 200;

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// SDK Ready().
    Ready,
    /// SDK Allocate().
    Allocate,
    /// SDK Shutdown().
    Shutdown,
    /// SDK Reserve(), in seconds; 0 is for ever.
    Reserve(i64),
    /// One message on a Health stream.
    Health,
    /// SDK GetGameServer().
    GetGameServer,
    /// SDK WatchGameServer(); answered with the GameServer as it is now.
    WatchGameServer,
    /// SDK SetLabel().
    SetLabel(sdk::KeyValue),
    /// SDK SetAnnotation().
    SetAnnotation(sdk::KeyValue),
    /// SDK GetCounter().
    GetCounter(String),
    /// SDK UpdateCounter(); the message may lack its only field.
    UpdateCounter(Option<beta::CounterUpdateRequest>),
    /// SDK GetList().
    GetList(String),
    /// SDK UpdateList().
    UpdateList(beta::UpdateListRequest),
    /// SDK AddListValue().
    AddListValue(beta::AddListValueRequest),
    /// SDK RemoveListValue().
    RemoveListValue(beta::RemoveListValueRequest),
    /// What the allocator does: a Ready GameServer, or an Allocated one once more, and at once.
    LocalAllocate,
    /// What the controller does when the game container has died.
    LocalUnhealthy,
    /// What `kubectl delete gs` does: a deletion timestamp, the state stays.
    LocalDelete,
    /// Would a Fleet that shrinks remove it?
    LocalFleetScaleDown,
    /// Everything as it was at the start.
    LocalReset,
    /// The API server answers no write for this long.
    LocalApiDelay(std::time::Duration),
}

impl Request {
    /// It comes from a person or a test, not from a game.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(
            self,
            Self::LocalAllocate
                | Self::LocalUnhealthy
                | Self::LocalDelete
                | Self::LocalFleetScaleDown
                | Self::LocalReset
                | Self::LocalApiDelay(_)
        )
    }

    /// The SDK server holds it while its API server is slow. The others it answers by itself.
    #[must_use]
    pub fn waits_for_the_api_server(&self) -> bool {
        matches!(self, Self::GetGameServer | Self::GetCounter(_) | Self::UpdateCounter(_))
    }

    /// The call's name, for people.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Allocate => "Allocate",
            Self::Shutdown => "Shutdown",
            Self::Reserve(_) => "Reserve",
            Self::Health => "Health",
            Self::GetGameServer => "GetGameServer",
            Self::WatchGameServer => "WatchGameServer",
            Self::SetLabel(_) => "SetLabel",
            Self::SetAnnotation(_) => "SetAnnotation",
            Self::GetCounter(_) => "GetCounter",
            Self::UpdateCounter(_) => "UpdateCounter",
            Self::GetList(_) => "GetList",
            Self::UpdateList(_) => "UpdateList",
            Self::AddListValue(_) => "AddListValue",
            Self::RemoveListValue(_) => "RemoveListValue",
            Self::LocalAllocate => "local/allocate",
            Self::LocalUnhealthy => "local/unhealthy",
            Self::LocalDelete => "local/delete",
            Self::LocalFleetScaleDown => "local/fleet-scale-down",
            Self::LocalReset => "local/reset",
            Self::LocalApiDelay(_) => "local/api-delay",
        }
    }

    /// The arguments that were given, by their names on the wire. Numbers of 64
    /// bits are strings, as in the JSON that Agones speaks. For people: a long
    /// value is cut.
    #[must_use]
    pub fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut given = self.whole_arguments();
        for (_, value) in &mut given {
            if let Some((end, _)) = value.char_indices().nth(MAX_SHOWN) {
                value.truncate(end);
                value.push('…');
            }
        }
        given
    }

    fn whole_arguments(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Reserve(seconds) => vec![("seconds", seconds.to_string())],
            Self::LocalApiDelay(delay) => vec![("seconds", delay.as_secs_f64().to_string())],
            Self::SetLabel(pair) | Self::SetAnnotation(pair) => {
                vec![("key", pair.key.clone()), ("value", pair.value.clone())]
            }
            Self::GetCounter(name) | Self::GetList(name) => vec![("name", name.clone())],
            Self::UpdateCounter(Some(update)) => {
                let mut given = vec![("name", update.name.clone())];
                given.extend(update.count.map(|count| ("count", count.to_string())));
                given.extend(update.capacity.map(|capacity| ("capacity", capacity.to_string())));
                if update.count_diff != 0 {
                    given.push(("countDiff", format!("{:+}", update.count_diff)));
                }
                given
            }
            Self::UpdateList(update) => {
                let mask = update.update_mask.clone().unwrap_or_default().paths;
                let list = update.list.clone().unwrap_or_default();
                let mut given = vec![("name", list.name)];
                if mask.iter().any(|path| path == "capacity") {
                    given.push(("capacity", list.capacity.to_string()));
                }
                if mask.iter().any(|path| path == "values") {
                    given.push(("values", list.values.join(",")));
                }
                given
            }
            Self::AddListValue(beta::AddListValueRequest { name, value })
            | Self::RemoveListValue(beta::RemoveListValueRequest { name, value }) => {
                vec![("name", name.clone()), ("value", value.clone())]
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())?;
        self.arguments().iter().try_for_each(|(name, value)| write!(f, " {name}={value:?}"))
    }
}

/// What a call that was accepted answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Nothing but OK.
    Empty,
    /// The GameServer.
    GameServer(Box<sdk::GameServer>),
    /// A Counter.
    Counter(beta::Counter),
    /// A List.
    List(beta::List),
    /// What `/gshealthz` says.
    Health(bool),
    /// Not before the API server answers: ask again then.
    Later,
    /// Ready to be sent: the calls seen so far, the page, a frame for the page.
    Text(String),
}

/// How a call went.
pub type Outcome = Result<Reply, Refusal>;

/// Why a call was refused, in gRPC's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status code.
    pub code: Code,
    /// The text that the caller gets.
    pub message: String,
}

impl Refusal {
    /// A plain error of the SDK server's: gRPC calls it UNKNOWN.
    #[must_use]
    pub fn unknown(message: String) -> Self {
        Self { code: Code::Unknown, message }
    }
}

/// The gRPC status codes that occur here, with gRPC's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An error without a code of its own.
    Unknown = 2,
    /// The request itself is wrong.
    InvalidArgument = 3,
    /// No such path.
    NotFound = 5,
    /// Not from this web page.
    PermissionDenied = 7,
    /// A bound of this server's.
    ResourceExhausted = 8,
    /// Not in this state.
    FailedPrecondition = 9,
    /// No such method on this path.
    Unimplemented = 12,
    /// The server is going away.
    Unavailable = 14,
}

impl Code {
    /// The HTTP status that Agones' gateway gives for it.
    #[must_use]
    pub fn http_status(self) -> u16 {
        match self {
            Self::Unknown => 500,
            Self::InvalidArgument | Self::FailedPrecondition => 400,
            Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::ResourceExhausted => 429,
            Self::Unimplemented => 501,
            Self::Unavailable => 503,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_argument_is_cut_between_characters() {
        let label = |value: String| Request::SetLabel(sdk::KeyValue { key: "k".into(), value }).to_string();
        assert_eq!(label("ü".repeat(200)), format!("SetLabel key=\"k\" value=\"{}\"", "ü".repeat(200)));
        assert_eq!(label("ü".repeat(201)), format!("SetLabel key=\"k\" value=\"{}…\"", "ü".repeat(200)));
    }
}
