//! The calls of the SDK that are made, and how each can end.

use super::game_server::{Counter, GameServer, List};
use crate::settings::KeyValue;

/// A call of the SDK client. Every one has a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open a new connection and see that somebody answers on it.
    Connect {
        /// By a beat; else by a question that changes nothing.
        beat: bool,
    },
    /// Read the GameServer.
    GetGameServer,
    /// Ask for Ready.
    Ready,
    /// Ask for Allocated.
    Allocate,
    /// Ask for Shutdown.
    Shutdown,
    /// Send one beat.
    Health,
    /// Read the Counter of this name.
    GetCounter(String),
    /// Set a Counter.
    UpdateCounter {
        /// Its name.
        name: String,
        /// Never more than its capacity, as far as that is known.
        count: i64,
        /// `None` leaves it.
        capacity: Option<i64>,
    },
    /// Read the List of this name.
    GetList(String),
    /// Add a value to a List.
    AddListValue {
        /// The List's name.
        name: String,
        /// What to add.
        value: String,
    },
    /// Remove a value from a List.
    RemoveListValue {
        /// The List's name.
        name: String,
        /// What to remove.
        value: String,
    },
    /// Set a label.
    SetLabel(KeyValue),
    /// Set an annotation.
    SetAnnotation(KeyValue),
}

/// How the one call under way has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To [`Call::Connect`].
    Connected(Result<Peer, CallError>),
    /// To [`Call::GetGameServer`].
    GameServer(Result<GameServer, CallError>),
    /// To [`Call::Ready`].
    Ready(Result<(), CallError>),
    /// To [`Call::Allocate`].
    Allocate(Result<(), CallError>),
    /// To [`Call::Shutdown`].
    Shutdown(Result<(), CallError>),
    /// To [`Call::Health`].
    Health(Result<(), CallError>),
    /// To [`Call::GetCounter`].
    GetCounter(Result<Counter, CallError>),
    /// To [`Call::UpdateCounter`].
    UpdateCounter(Result<(), CallError>),
    /// To [`Call::GetList`].
    GetList(Result<List, CallError>),
    /// To [`Call::AddListValue`].
    AddListValue(Result<(), CallError>),
    /// To [`Call::RemoveListValue`].
    RemoveListValue(Result<(), CallError>),
    /// To [`Call::SetLabel`].
    SetLabel(Result<(), CallError>),
    /// To [`Call::SetAnnotation`].
    SetAnnotation(Result<(), CallError>),
}

impl Answer {
    /// The error, where the call failed.
    #[must_use]
    pub fn error(&self) -> Option<&CallError> {
        match self {
            Self::Connected(outcome) => outcome.as_ref().err(),
            Self::GameServer(outcome) => outcome.as_ref().err(),
            Self::Ready(outcome)
            | Self::Allocate(outcome)
            | Self::Shutdown(outcome)
            | Self::Health(outcome)
            | Self::UpdateCounter(outcome)
            | Self::AddListValue(outcome)
            | Self::RemoveListValue(outcome)
            | Self::SetLabel(outcome)
            | Self::SetAnnotation(outcome) => outcome.as_ref().err(),
            Self::GetCounter(outcome) => outcome.as_ref().err(),
            Self::GetList(outcome) => outcome.as_ref().err(),
        }
    }

    /// The call's name, as Agones has it.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Connected(_) => "Connect",
            Self::GameServer(_) => "GetGameServer",
            Self::Ready(_) => "Ready",
            Self::Allocate(_) => "Allocate",
            Self::Shutdown(_) => "Shutdown",
            Self::Health(_) => "Health",
            Self::GetCounter(_) => "GetCounter",
            Self::UpdateCounter(_) => "UpdateCounter",
            Self::GetList(_) => "GetList",
            Self::AddListValue(_) => "AddListValue",
            Self::RemoveListValue(_) => "RemoveListValue",
            Self::SetLabel(_) => "SetLabel",
            Self::SetAnnotation(_) => "SetAnnotation",
        }
    }

    /// The answer in a few words, for a log line.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::GameServer(Ok(game_server)) => {
                let deleting = if game_server.deleting { ", being deleted" } else { "" };
                format!("state {}{deleting}", game_server.state.as_str())
            }
            Self::GetCounter(Ok(counter)) => format!("count {} of {}", counter.count, counter.capacity),
            Self::GetList(Ok(list)) => format!("{} values of {}", list.values.len(), list.capacity),
            _ => self.error().map_or_else(|| "ok".to_owned(), |error| error.message.clone()),
        }
    }
}

/// Who answers a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The first SDK server, or another: the connection before this one had ended. What the one before had
    /// acknowledged and not yet written is lost.
    New,
    /// The one of before, whose connection is still open: it was slow, and has everything that it was told.
    Same,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// What can be decided on.
    pub kind: CallErrorKind,
    /// For people, with the deadline's name where one passed.
    pub message: String,
}

/// No finer than this: codes differ between Agones' versions, and Counters and Lists answer UNKNOWN whatever is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    /// Nothing listens, or the connection broke.
    Unavailable,
    /// The deadline passed: silent, frozen or slow.
    DeadlineExceeded,
    /// The server answered and refused.
    Rejected,
}
