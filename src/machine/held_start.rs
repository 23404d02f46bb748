//! Wrapper: the start of the child, at once or when its address is known.
//!
//! Games behind Dynamic or Passthrough ports need to know where the world sees
//! them. With `AGONES_SHIM_WAIT_FOR_SDK=1` the child is held until the
//! GameServer says so, for the SDK connect timeout at most. With
//! `AGONES_SHIM_SDK=required` it is held until there is an SDK server, so that
//! no child is started that would only be stopped again.

use std::time::{Duration, Instant};

use super::variables::{self, Variables};
use super::{Call, Effect, Effects, Machine, Notice, ProcessEnd, Timer};
use crate::exit::ExitReason;
use crate::sdk::game_server::GameServer;
use crate::settings::SdkMode;

/// Between looks at a GameServer that has no address yet.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The child's life, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Child {
    /// Sidecar: there is none.
    None,
    /// It waits for its address; `look` is whether the GameServer is to be read.
    Held { look: bool },
    /// It was started.
    Started,
    /// It has ended.
    Ended(ProcessEnd),
}

impl Machine {
    /// The first effects of the game's side: its start, if it is ours to start, and the probes.
    pub(super) fn start_game(&mut self, now: Instant, out: &mut Effects) {
        let waits = self.config.wait_for_sdk || self.config.sdk == SdkMode::Required;
        if self.config.wrapper && waits && self.config.sdk != SdkMode::Off {
            self.child = Child::Held { look: false };
        } else {
            self.start_child(now, Vec::new(), out);
        }
    }

    fn start_child(&mut self, now: Instant, variables: Variables, out: &mut Effects) {
        if self.config.wrapper {
            self.child = Child::Started;
            out.push(Effect::StartChild(variables));
        }
        out.push(Effect::AwaitReadiness);
        if let Some(timeout) = self.config.ready_timeout {
            self.timers.set(Timer::ReadyTimeout, now + timeout);
        }
    }

    pub(super) fn next_held_start_call(&mut self) -> Option<Call> {
        match &mut self.child {
            Child::Held { look } => std::mem::take(look).then_some(Call::GetGameServer),
            _ => None,
        }
    }

    /// Starts a held child when its address is known, else looks again.
    pub(super) fn held_start_looked(&mut self, now: Instant, game_server: &GameServer, out: &mut Effects) {
        if !matches!(self.child, Child::Held { .. }) || self.stop.is_some() {
            return;
        }
        if self.config.wait_for_sdk && game_server.address.is_empty() {
            self.timers.set(Timer::AddressLook, now + LOOK_INTERVAL);
        } else {
            let variables = if self.config.wait_for_sdk { variables::address(game_server) } else { Vec::new() };
            self.start_child(now, variables, out);
        }
    }

    pub(super) fn held_start_look_failed(&mut self, now: Instant) {
        if matches!(self.child, Child::Held { .. }) && self.stop.is_none() {
            self.timers.set(Timer::AddressLook, now + LOOK_INTERVAL);
        }
    }

    pub(super) fn held_start_look_due(&mut self) {
        if let Child::Held { look } = &mut self.child {
            *look = true;
        }
    }

    /// The bound is over: the game starts without knowing.
    pub(super) fn held_start_timed_out(&mut self, now: Instant, out: &mut Effects) {
        if matches!(self.child, Child::Held { .. }) && self.stop.is_none() {
            out.push(Effect::Log(Notice::StartedWithoutAddress { waited: now - self.started }));
            self.start_child(now, Vec::new(), out);
        }
    }

    /// The exec has failed, which may take its time: on a stop that has begun meanwhile, Shutdown() goes first.
    pub(super) fn child_not_started(&mut self, reason: ExitReason, out: &mut Effects) {
        if self.stop.is_some() {
            self.child_never_ran(reason);
        } else {
            self.leave(reason, out);
        }
    }
}
