//! Players drive the life: Allocate() once somebody plays on a Ready GameServer, Ready() once the shim's own allocation
//! has stayed empty. For games that players find in a server browser, where nobody else allocates.
//!
//! Both calls are decided by a look and go out before anything else does. An allocation is the shim's own if it showed
//! after an own Allocate() over a Ready GameServer and `agones.dev/last-allocated` has not changed since; whatever is
//! not known to be that is somebody else's, and is never given back.
//!
//! What remains is the SDK server's batch time, some 0.5 s from a call to its write. A look 0.4 s after Allocate() sees
//! an allocation from outside that came first; one in the last 0.1 s passes for the shim's own. An allocation of an
//! Allocated server that lands while Ready() waits is kept by Allocate() if a look sees it (`readiness.rs`).
//!
//! | with | what happens |
//! |---|---|
//! | `IDLE_SHUTDOWN` | ends an empty allocation of whosever; with `EMPTY_READY` it is refused, both would want the same one |
//! | `MAX_AGE` | time Allocated does not count and Ready begins anew; never while players are on, even if Allocate() fails |
//! | the allocated hook | does not run for an own allocation: there is no match to be told of |
//! | an allocation from outside, Ready | the shim's Allocate() is not called: it is Allocated already |
//! | the same, within the batch time of Allocate() | it is theirs; the hook runs for it once, not for the own write over it |
//! | the same, of an own allocation | it is theirs from then on; the hook runs |
//! | labels | wait for an own Ready() to show, as they wait for the first one |
//! | liveness | a game that fails it is not given back; beats stay behind no call but the one that a look allows |
//! | a failed reading | neither a player nor emptiness: nothing is called, and the empty time begins anew |
//! | the link lost, the same SDK server | what it has stays under way; empty readings count from the return on |
//! | a new SDK server, Allocate() under way | if it does not show, it is called again; if it does, it cannot be told whose it is |
//! | a new SDK server, Ready() under way | the allocation stays the shim's own: given back again, once it was empty for as long again |
//! | a new SDK server, nothing under way | the annotation says whose it is, as before |
//! | Reserved, or not Ready for another reason | looked at every 5 s while players are on, until it is Ready |
//! | the way out | neither call: either would undo Shutdown() |
//! | a restart of the shim | an allocation that it finds is somebody else's, which a line says |

use std::time::{Duration, Instant};

use super::allocation::{Change, is_allocated};
use super::{Call, Effect, Effects, Machine, Notice, Phase, Timer};
use crate::sdk::call::{CallError, CallErrorKind};
use crate::sdk::game_server::{GameServer, State};

/// The SDK server writes a state this long after the call for it. What shows sooner was done by somebody else.
const BATCH_TIME: Duration = Duration::from_millis(500);
/// After Allocate(): late enough to see what came before its write, early enough to be before it.
const GUARD_LOOK_AFTER: Duration = Duration::from_millis(400);
/// After Allocate(): it shows by then.
const LOOK_AFTER: Duration = Duration::from_millis(750);
/// Between looks at an Allocate() that does not show.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// An acknowledged Allocate() that has not shown by then is overdue, and a warning says so.
const OVERDUE_AFTER: Duration = Duration::from_secs(10);
/// Between such warnings.
const OVERDUE_WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// After a call that failed, and between looks at a GameServer that cannot be allocated as it is.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// What the first source said last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Players {
    /// It could not be read, or has not been.
    #[default]
    Unknown,
    Nobody,
    Somebody,
}

/// Whose the allocation is that a look has shown.
#[derive(Clone, Debug, Default, PartialEq)]
enum Owner {
    /// None was seen.
    #[default]
    Nobody,
    /// The shim's own, with this `last-allocated`.
    Shim(String),
    /// Somebody else's, or unknown: the same.
    Other,
}

/// How far an own Allocate() has come.
#[derive(Clone, Debug, Default, PartialEq)]
enum Step {
    #[default]
    Idle,
    /// It is to be called: the state was read just now and allows it.
    Call { over: String },
    /// The SDK server has it, or may have it: looks until it shows.
    Confirming(Sent),
}

/// An Allocate() that the SDK server has, or may have.
#[derive(Clone, Debug, PartialEq)]
struct Sent {
    /// Of the link, when it was called: while this lasts, so does the server that has it.
    generation: u64,
    /// When the call began.
    at: Instant,
    /// `last-allocated` before it.
    over: String,
    warn_at: Instant,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelfAllocation {
    players: Players,
    /// Players came, and the state has not been read since.
    unread: bool,
    owner: Owner,
    step: Step,
    /// No look for a call before then.
    not_before: Option<Instant>,
    /// Allocate() failed, and a warning has said so.
    failing: bool,
}

impl SelfAllocation {
    /// The next call changes the state that a look has just shown: nothing may come between.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.step, Step::Call { .. })
    }

    pub(super) fn next_call(&self) -> Option<Call> {
        self.is_urgent().then_some(Call::Allocate)
    }

    /// The way out begins: nothing more is called.
    pub(super) fn stop(&mut self) {
        self.step = Step::Idle;
    }

    /// A call failed, or the GameServer cannot be allocated as it is.
    pub(super) fn pause(&mut self, now: Instant) {
        self.not_before = Some(now + RETRY_INTERVAL);
    }
}

/// Readings.
impl Machine {
    /// The first source was read, or could not be.
    pub(super) fn players_read(&mut self, now: Instant, count: Option<u64>) {
        if !self.config.allocate_on_players {
            return;
        }
        let this = &mut self.self_allocation;
        let players = match count {
            None => Players::Unknown,
            Some(0) => Players::Nobody,
            Some(_) => Players::Somebody,
        };
        if players == Players::Somebody && this.players != Players::Somebody {
            this.unread = true;
            this.not_before = this.not_before.filter(|_| this.failing);
        }
        this.players = players;
        let may_look = this.not_before.is_none_or(|at| at <= now) && this.step == Step::Idle;
        if may_look && (self.may_want_allocation() || self.gives_back_after().is_some()) {
            self.look_soon();
        }
    }

    /// Players are on a Ready GameServer, whatever Agones makes of it: nobody ends it for its age.
    pub(super) fn is_occupied(&self) -> bool {
        self.config.allocate_on_players && self.self_allocation.players == Players::Somebody
    }

    /// Players are on, and nothing that was seen says that the GameServer is Allocated.
    fn may_want_allocation(&self) -> bool {
        let allocated = self.game_server.as_ref().is_some_and(is_allocated);
        self.is_occupied() && self.may_self_allocate() && (self.self_allocation.unread || !allocated)
    }

    fn may_self_allocate(&self) -> bool {
        self.phase == Phase::Ready && self.stop.is_none() && self.readiness.is_confirmed()
    }

    /// The shim's own allocation has been empty for this long, which is long enough.
    fn gives_back_after(&self) -> Option<Duration> {
        let wanted = self.config.empty_ready?;
        let own = matches!(self.self_allocation.owner, Owner::Shim(_)) && self.self_allocation.step == Step::Idle;
        let allowed = own && self.may_self_allocate() && self.is_alive();
        self.self_shutdown.empty_for().filter(|empty_for| allowed && *empty_for >= wanted)
    }
}

/// Looks and calls.
impl Machine {
    /// A look or a connection shows this; the one before is still the machine's. Whether what it shows is the shim's own
    /// allocation, new.
    pub(super) fn self_allocation_looked(
        &mut self,
        now: Instant,
        game_server: &GameServer,
        change: Change,
        out: &mut Effects,
    ) -> bool {
        if !self.config.allocate_on_players {
            return false;
        }
        let generation = self.link.generation;
        let this = &mut self.self_allocation;
        this.unread = false;
        if !is_allocated(game_server) {
            this.owner = Owner::Nobody;
            return false;
        }
        let shown = game_server.last_allocated();
        match (&this.owner, &this.step) {
            (Owner::Shim(own), _) if own == shown && change != Change::First => return false,
            (Owner::Nobody, Step::Confirming(sent)) if now - sent.at >= BATCH_TIME || game_server.local_mode => {
                let sent = sent.clone();
                this.step = Step::Idle;
                self.timers.cancel(Timer::SelfAllocationLook);
                let own = sent.generation == generation && change != Change::First;
                this.owner = if own && sent.over != shown { Owner::Shim(shown.to_owned()) } else { Owner::Other };
                let reason =
                    if own { "its SDK server writes no agones.dev/last-allocated" } else { "the SDK server changed" };
                self.self_allocation_landed(now - sent.at, reason, out);
                return own;
            }
            (Owner::Nobody, Step::Confirming(_)) => {
                // It came first; what the SDK server is about to write over it is no other allocation.
                this.owner = Owner::Other;
                self.expect_own_allocation(shown.to_owned());
            }
            (Owner::Other, step) => {
                if matches!(step, Step::Confirming(sent) if now - sent.at >= BATCH_TIME) {
                    this.step = Step::Idle;
                    self.timers.cancel(Timer::SelfAllocationLook);
                }
                return false;
            }
            _ => this.owner = Owner::Other,
        }
        self.keep_for_others("somebody else allocated it", change, out);
        false
    }

    fn self_allocation_landed(&mut self, after: Duration, unknown: &str, out: &mut Effects) {
        out.push(Effect::Log(Notice::SelfAllocated { after }));
        if self.self_allocation.owner == Owner::Other {
            self.keep_for_others(unknown, Change::Changed, out);
        }
    }

    /// Says that this allocation is never given back, where others may be.
    fn keep_for_others(&self, reason: &str, change: Change, out: &mut Effects) {
        if self.config.empty_ready.is_some() && self.stop.is_none() {
            let reason = if change == Change::First { "it was Allocated before this process began" } else { reason };
            out.push(Effect::Log(Notice::KeptForOthers { reason: reason.into() }));
        }
    }

    /// A look has just shown the GameServer: is it allocated, or given back, here?
    pub(super) fn self_allocate_if_due(&mut self, now: Instant, out: &mut Effects) {
        if !self.config.allocate_on_players || !self.may_self_allocate() {
            return;
        }
        let Some(game_server) = &self.game_server else { return };
        let over = game_server.last_allocated().to_owned();
        let state = game_server.state.clone();
        if self.self_allocation.step != Step::Idle {
            return self.confirm_self_allocation(now, &state, out);
        }
        if let Some(empty_for) = self.gives_back_after().filter(|_| is_allocated(game_server)) {
            if self.readiness.give_back(now, over) {
                out.push(Effect::Log(Notice::GivenBack { empty_for }));
            }
        } else if self.is_occupied() && !is_allocated(game_server) {
            if state != State::Ready || game_server.deleting {
                return self.self_allocation.pause(now);
            }
            if self.self_allocation.failing && self.self_allocation.not_before.is_some_and(|at| now < at) {
                return;
            }
            self.self_allocation.step = Step::Call { over };
            out.push(Effect::Log(Notice::Occupied));
        }
    }

    /// It does not show yet: looks go on, and the server that has it gets no second.
    fn confirm_self_allocation(&mut self, now: Instant, state: &State, out: &mut Effects) {
        let generation = self.link.generation;
        let this = &mut self.self_allocation;
        let Step::Confirming(sent) = &mut this.step else { return };
        let age = now - sent.at;
        let overtaken = age >= BATCH_TIME * 2 && !matches!(state, State::Ready | State::Allocated);
        if sent.generation != generation || overtaken {
            this.step = Step::Idle;
            self.timers.cancel(Timer::SelfAllocationLook);
            // Once more, by this very look.
            return self.self_allocate_if_due(now, out);
        }
        if now >= sent.warn_at {
            sent.warn_at = now + OVERDUE_WARNING_INTERVAL;
            out.push(Effect::Log(Notice::AllocateOverdue { state: state.as_str().into(), after: age }));
        }
        let next = if age < LOOK_AFTER { sent.at + LOOK_AFTER } else { now + LOOK_INTERVAL };
        self.timers.set(Timer::SelfAllocationLook, next);
    }

    /// A look has failed; one that waits for an own Allocate() is repeated.
    pub(super) fn self_allocation_look_failed(&mut self, now: Instant) {
        if matches!(self.self_allocation.step, Step::Confirming(_)) && self.link.up {
            self.timers.set(Timer::SelfAllocationLook, now + LOOK_INTERVAL);
        }
    }

    /// Whether the Allocate() that was answered was this part's.
    pub(super) fn self_allocate_answered(
        &mut self,
        now: Instant,
        began: Instant,
        outcome: &Result<(), CallError>,
        out: &mut Effects,
    ) -> bool {
        let this = &mut self.self_allocation;
        let Step::Call { over } = &this.step else { return false };
        let over = over.clone();
        this.step = Step::Idle;
        match outcome {
            // It may be in the queue of a server that stands still.
            Err(error) if error.kind != CallErrorKind::DeadlineExceeded => {
                this.pause(now);
                if !std::mem::replace(&mut this.failing, true) {
                    out.push(Effect::Log(Notice::SelfAllocateFailed { error: error.message.clone() }));
                }
            }
            _ => {
                this.failing = false;
                let (generation, warn_at) = (self.link.generation, now + OVERDUE_AFTER);
                this.step = Step::Confirming(Sent { generation, at: began, over, warn_at });
                let guards = self.config.empty_ready.is_some() && now - began < GUARD_LOOK_AFTER;
                let look_after = if guards { GUARD_LOOK_AFTER } else { LOOK_AFTER };
                self.timers.set(Timer::SelfAllocationLook, (began + look_after).max(now));
            }
        }
        true
    }
}
