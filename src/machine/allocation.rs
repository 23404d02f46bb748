//! What others do to the GameServer, above all: allocate it, which runs the hook.
//!
//! It is looked at once a second for the hook, and once a health interval for
//! `self_shutdown.rs`, and not at all where nothing depends on it. A watch stream
//! would tell sooner; a look with a deadline on the state thread needs no
//! second owner of the client, notices a frozen server, and is soon enough.

use std::time::{Duration, Instant};

use super::variables::{self, Variables};
use super::{Effect, Effects, Machine, Notice, Timer};
use crate::sdk::game_server::{GameServer, State};
use crate::settings::SdkMode;

/// Between looks for the hook: the longest that it is late, but for the call itself.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Allocation {
    hook_running: bool,
    /// An allocation that came while the hook ran for another.
    next_hook: Option<Variables>,
    /// The SDK server has an Allocate() of the shim's own, or may have it, and has not been seen to write it.
    expected: Option<Expected>,
}

#[derive(Clone, Debug, PartialEq)]
struct Expected {
    /// `last-allocated` before it.
    over: String,
    /// Of the link, when it was called: while this lasts, so does the server that has it.
    generation: u64,
}

/// What a look shows, compared with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// There was none before, of this GameServer.
    First,
    /// Neither its state has changed nor was it allocated meanwhile.
    Nothing,
    /// Its state is another one, or it was allocated meanwhile.
    Changed,
}

impl Machine {
    pub(super) fn allocation_looks_begin(&mut self, now: Instant) {
        if self.config.allocated_hook && self.config.sdk != SdkMode::Off {
            self.timers.set(Timer::AllocationLook, now + LOOK_INTERVAL);
        }
    }

    pub(super) fn allocation_look_due(&mut self, now: Instant) {
        self.timers.set(Timer::AllocationLook, now + LOOK_INTERVAL);
        self.look_soon();
    }

    /// A look or a connection shows this; the one before is still the machine's.
    pub(super) fn allocation_looked(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        let change = if self.is_own_allocation(game_server) { Change::Nothing } else { self.change(game_server) };
        let is_own = self.self_allocation_looked(now, game_server, change, out);
        self.self_shutdown_looked(now, game_server, change);
        // A GameServer that is Allocated at the first look was allocated before this shim: an earlier one has run the
        // hook, and a second run may be worse than none. One of the shim's own has no match to tell of.
        let is_news = change == Change::Changed && !is_own;
        if is_news && self.config.allocated_hook && is_allocated(game_server) && self.stop.is_none() {
            out.push(Effect::Log(Notice::Allocated { name: game_server.name.clone() }));
            self.run_hook(variables::everything(game_server), out);
        }
    }

    /// What the next look shows as another allocation than this one is the shim's own.
    pub(super) fn expect_own_allocation(&mut self, over: String) {
        self.allocation.expected = Some(Expected { over, generation: self.link.generation });
    }

    /// Another SDK server than the one that had the call will not write it: what comes after the first look at that one
    /// is somebody else's.
    fn is_own_allocation(&mut self, game_server: &GameServer) -> bool {
        let Some(Expected { over, generation }) = &self.allocation.expected else { return false };
        let shows = is_allocated(game_server) && game_server.last_allocated() != over.as_str();
        if shows || *generation != self.link.generation {
            self.allocation.expected = None;
        }
        shows
    }

    fn change(&self, game_server: &GameServer) -> Change {
        match &self.game_server {
            Some(before) if before.name == game_server.name => {
                let same_state = before.state == game_server.state && before.deleting == game_server.deleting;
                let same_allocation = before.last_allocated() == game_server.last_allocated();
                if same_state && same_allocation { Change::Nothing } else { Change::Changed }
            }
            _ => Change::First,
        }
    }

    fn run_hook(&mut self, variables: Variables, out: &mut Effects) {
        if std::mem::replace(&mut self.allocation.hook_running, true) {
            self.allocation.next_hook = Some(variables);
        } else {
            out.push(Effect::StartAllocatedHook(variables));
        }
    }

    pub(super) fn allocated_hook_ended(&mut self, outcome: Result<(), String>, out: &mut Effects) {
        self.allocation.hook_running = false;
        out.push(Effect::Log(match outcome {
            Ok(()) => Notice::AllocatedHookEnded,
            Err(reason) => Notice::AllocatedHookFailed { reason },
        }));
        if let Some(variables) = self.allocation.next_hook.take()
            && self.stop.is_none()
        {
            self.run_hook(variables, out);
        }
    }

    /// The way out begins: a hook that runs is told to end, and nothing waits for it.
    pub(super) fn end_allocated_hook(&mut self, out: &mut Effects) {
        if self.allocation.hook_running {
            out.push(Effect::EndAllocatedHook);
        }
    }
}

/// A match is on it, as far as Agones knows.
pub(super) fn is_allocated(game_server: &GameServer) -> bool {
    game_server.state == State::Allocated && !game_server.deleting
}
