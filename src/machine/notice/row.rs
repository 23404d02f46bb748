//! What a row of the messages becomes: a variant, its description, and an example of it for the documentation.

use std::time::Duration;

use log::Level;

use super::super::StopReason;
use crate::duration::seconds;
use crate::exit::ProcessEnd;

/// A message as it is logged, and what is documented with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Where it is documented.
    pub stage: Stage,
    /// Debug is not documented.
    pub level: Level,
    /// Its name: `id` in JSON, its anchor in docs/messages.md, and what `agones-shim explain` takes.
    pub id: &'static str,
    /// What is logged.
    pub text: &'static str,
    /// In the order in which they are written.
    pub fields: Vec<(&'static str, String)>,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: &'static str,
}

/// A part of a server's life; messages are documented by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Settings.
    Start,
    /// From the first probe to Ready.
    Readiness,
    /// The link to it.
    Sdk,
    /// Beats and liveness.
    Health,
    /// Counters and the List.
    Counters,
    /// Labels, allocations, idle and old servers.
    Metadata,
    /// The way out.
    Stop,
    /// The child of the wrapper.
    Game,
    /// Status endpoint, systemd, logging, bugs.
    Insight,
}

impl Stage {
    /// In the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Readiness,
        Self::Sdk,
        Self::Health,
        Self::Counters,
        Self::Metadata,
        Self::Stop,
        Self::Game,
        Self::Insight,
    ];

    /// Its heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Readiness => "Until Ready",
            Self::Sdk => "SDK server",
            Self::Health => "Liveness and beats",
            Self::Counters => "Counters and List",
            Self::Metadata => "Labels, allocation, idle and old servers",
            Self::Stop => "Stop",
            Self::Game => "The game's process",
            Self::Insight => "Status endpoint, systemd, logging, bugs",
        }
    }
}

/// A value in a message.
pub(super) trait Field {
    /// As it is written in the log.
    fn shown(&self) -> String;

    /// Any value, for an example of the message.
    fn sample() -> Self;
}

macro_rules! field {
    ($($type:ty: $sample:expr, $shown:expr;)*) => {
        $(impl Field for $type {
            fn shown(&self) -> String {
                let shown: fn(&Self) -> String = $shown;
                shown(self)
            }

            fn sample() -> Self {
                $sample
            }
        })*
    };
}

field! {
    String: Self::new(), Clone::clone;
    &'static str: "", ToString::to_string;
    Duration: Self::ZERO, |duration| seconds(*duration);
    bool: true, ToString::to_string;
    i64: 0, ToString::to_string;
    u32: 0, ToString::to_string;
    u64: 0, ToString::to_string;
    usize: 0, ToString::to_string;
    Option<i32>: None, |number| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    ProcessEnd: Self::Exited(0), ToString::to_string;
    StopReason: Self::Signal, ToString::to_string;
}

/// The table of messages.
macro_rules! notices {
    ($(
        $name:ident $({ $($field:ident: $type:ty),* })? =>
            $stage:ident, $level:expr, $id:literal, [$($key:ident $(= $value:expr)?),*], $text:expr $(, $remedy:literal)?;
    )*) => {
        /// A log line of the machine.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each variant is described by its own message, and its fields by their keys")]
        pub enum Notice {
            $($name $({ $($field: $type),* })?,)*
        }

        impl Notice {
            /// All that is logged and documented about it.
            #[must_use]
            #[allow(unused_variables, reason = "a row need not log every field")]
            pub fn describe(&self) -> Description {
                match self {
                    $(Self::$name $({ $($field),* })? => Description {
                        stage: $stage,
                        level: $level,
                        id: $id,
                        text: $text,
                        fields: vec![$((stringify!($key), value!($key $(= $value)?).shown())),*],
                        remedy: concat!($($remedy)?),
                    },)*
                }
            }

            /// One of each, in the order of the table.
            pub(in crate::machine) fn samples() -> Vec<Self> {
                vec![$(Self::$name $({ $($field: Field::sample()),* })?),*]
            }
        }
    };
}

/// A field's value: another expression, or what has the key's own name.
macro_rules! value {
    ($key:ident) => {
        $key
    };
    ($key:ident = $value:expr) => {
        $value
    };
}

pub(super) use {notices, value};
