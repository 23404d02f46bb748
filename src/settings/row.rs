//! What a row of the settings table is made of.
//!
//! The rows themselves are in `table.rs`.

use super::draft::Draft;
use super::{url, words};

/// A command, as a reader of settings. `check` reads them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// `agones-shim`
    Sidecar,
    /// `agones-shim -- PROGRAM`
    Wrapper,
    /// `agones-shim probe`
    Probe,
    /// `agones-shim sdk`
    Sdk,
    /// `agones-shim local-sdk`
    LocalSdk,
    /// `agones-shim status`
    Status,
    /// `agones-shim check`
    Check,
}

impl Reader {
    /// It reads this setting: a value that is wrong is its error.
    #[must_use]
    pub fn reads(self, setting: &Setting) -> bool {
        self == Self::Check || setting.readers.contains(&self)
    }

    /// It lives the whole life cycle, or (`check`) speaks for those that do.
    pub(super) fn is_shim(self) -> bool {
        matches!(self, Self::Sidecar | Self::Wrapper | Self::Check)
    }
}

/// What holds where a variable is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This text, as if the variable had it.
    Text(&'static str),
    /// Something that has no text of its own, in words.
    Words(&'static str),
    /// Nothing: what it would switch on is off.
    Nothing,
}

impl Default {
    /// As help and the README show it.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Text(text) | Self::Words(text) => text,
            Self::Nothing => "-",
        }
    }
}

/// A heading that rows stand under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// What has to pass before Ready().
    Readiness,
    /// What has to go on passing.
    Liveness,
    /// The Counters and the List.
    Counter,
    /// The link to the SDK server.
    Sdk,
    /// Labels, allocation, and ends that nobody has to ask for.
    State,
    /// The way out.
    Stop,
    /// Logs and the status endpoint.
    Insight,
}

impl Group {
    /// The heading.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness and health",
            Self::Counter => "Counters and List",
            Self::Sdk => "SDK server",
            Self::State => "Labels, allocation, idle servers, age",
            Self::Stop => "Stop",
            Self::Insight => "Logs and status",
        }
    }
}

/// One setting.
pub struct Setting {
    /// Its environment variable.
    pub variable: &'static str,
    /// The heading it stands under.
    pub group: Group,
    /// What holds where it is not set.
    pub default: Default,
    /// What to write, in one word.
    pub value: &'static str,
    /// What it does, its unit, and what 0 means where 0 is allowed.
    pub help: &'static str,
    /// Who reads it, beside `check`.
    pub readers: &'static [Reader],
    /// The value may hold a password: it is never shown as it stands.
    pub is_url: bool,
    /// Puts the value into its field, or says all that is wrong with it, value included.
    pub(super) parse: fn(&mut Draft, &str) -> Result<(), Vec<String>>,
}

impl Setting {
    /// A value as it may be shown: passwords of URLs, the arguments of commands and headers become `***`.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        match self.value {
            _ if self.is_url => url::shown_text(text),
            "COMMAND" => words::shown(text),
            "HEADER" => "***".to_owned(),
            _ => text.to_owned(),
        }
    }
}
