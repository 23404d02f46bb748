//! Labels and annotations: set once Ready shows, where the GameServer has
//! another value, and compared again when the SDK server was restarted.
//!
//! What somebody else changes after it has shown is left alone. One that is rejected is
//! tried again once a minute; nothing here touches the rest of the life cycle.

use std::time::{Duration, Instant};

use super::publish::LATE_RETRY_INTERVAL;
use super::read_back::Outstanding;
use super::{Call, Config, Effect, Effects, Machine, Notice, Timer};
use crate::sdk::call::{CallError, CallErrorKind};
use crate::sdk::game_server::{GameServer, SDK_PREFIX};
use crate::settings::KeyValue;

/// One that was rejected is tried again this often.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metadata {
    items: Vec<Item>,
    /// The item whose call is under way.
    sending: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Item {
    kind: Kind,
    pair: KeyValue,
    /// The key as the GameServer shows it.
    shown_as: String,
    progress: Progress,
    outstanding: Outstanding,
    /// A warning has been written and not yet taken back.
    warned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Label,
    Annotation,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Progress {
    /// To be set, unless it shows.
    Due,
    /// It shows, or the SDK server has taken it.
    Done,
    /// Rejected: the retry timer decides.
    Wait,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Annotation => "annotation",
        }
    }
}

impl Item {
    fn new(kind: Kind, pair: &KeyValue) -> Self {
        let shown_as = format!("{SDK_PREFIX}{}", pair.key);
        Self {
            kind,
            pair: pair.clone(),
            shown_as,
            progress: Progress::Due,
            outstanding: Outstanding::default(),
            warned: false,
        }
    }

    fn is_shown(&self, game_server: &GameServer) -> bool {
        let shown = match self.kind {
            Kind::Label => &game_server.labels,
            Kind::Annotation => &game_server.annotations,
        };
        shown.get(&self.shown_as) == Some(&self.pair.value)
    }

    fn call(&self) -> Call {
        match self.kind {
            Kind::Label => Call::SetLabel(self.pair.clone()),
            Kind::Annotation => Call::SetAnnotation(self.pair.clone()),
        }
    }
}

impl Metadata {
    pub(super) fn new(config: &Config) -> Self {
        let labels = config.labels.iter().map(|pair| Item::new(Kind::Label, pair));
        let annotations = config.annotations.iter().map(|pair| Item::new(Kind::Annotation, pair));
        Self { items: labels.chain(annotations).collect(), sending: 0 }
    }

    /// The SDK server is another one: what the one before had not written is lost with it.
    pub(super) fn compare_again(&mut self) {
        for item in &mut self.items {
            item.progress = Progress::Due;
            item.outstanding = Outstanding::default();
        }
    }

    pub(super) fn has_outstanding(&self) -> bool {
        self.items.iter().any(|item| item.outstanding.is_open())
    }

    /// What was acknowledged shows, or does not.
    pub(super) fn looked(&mut self, now: Instant, game_server: &GameServer) {
        for item in &mut self.items {
            if item.outstanding.looked(now, item.is_shown(game_server)) {
                item.progress = Progress::Due;
            }
        }
    }
}

impl Machine {
    pub(super) fn next_metadata_call(&mut self) -> Option<Call> {
        // What was seen before a loss says nothing about the SDK server that is there now.
        if self.stop.is_some() || !self.readiness.is_confirmed() || self.link.unread {
            return None;
        }
        let game_server = self.game_server.as_ref()?;
        for (place, item) in self.metadata.items.iter_mut().enumerate() {
            match item.progress {
                Progress::Due if item.is_shown(game_server) => item.progress = Progress::Done,
                Progress::Due => {
                    self.metadata.sending = place;
                    return Some(item.call());
                }
                Progress::Done | Progress::Wait => {}
            }
        }
        None
    }

    pub(super) fn metadata_answered(&mut self, now: Instant, outcome: Result<(), CallError>, out: &mut Effects) {
        let link_up = self.link.up;
        let Some(item) = self.metadata.items.get_mut(self.metadata.sending) else { return };
        let (kind, key) = (item.kind.as_str(), item.pair.key.clone());
        match outcome {
            Ok(()) => {
                item.progress = Progress::Done;
                item.outstanding.acknowledged(now, true);
                let works = std::mem::take(&mut item.warned);
                out.push(Effect::Log(if works {
                    Notice::MetadataWorks { kind, key }
                } else {
                    Notice::MetadataSet { kind, key }
                }));
                self.read_back_soon(now);
            }
            Err(error) if error.kind == CallErrorKind::DeadlineExceeded => {
                item.progress = Progress::Wait;
                self.metadata_retry_within(now, LATE_RETRY_INTERVAL);
            }
            Err(error) if link_up => {
                item.progress = Progress::Wait;
                if !std::mem::replace(&mut item.warned, true) {
                    out.push(Effect::Log(Notice::MetadataRejected { kind, key, error: error.message }));
                }
                self.metadata_retry_within(now, RETRY_INTERVAL);
            }
            // It is compared again when the link is back.
            Err(_) => {}
        }
    }

    /// All that wait are tried together.
    fn metadata_retry_within(&mut self, now: Instant, interval: Duration) {
        if self.stop.is_none() {
            self.timers.set_earlier(Timer::MetadataRetry, now + interval);
        }
    }

    pub(super) fn metadata_retry_due(&mut self) {
        for item in &mut self.metadata.items {
            if item.progress == Progress::Wait {
                item.progress = Progress::Due;
            }
        }
    }
}
