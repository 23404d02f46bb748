//! The life cycle: events in, effects out, the clock passed in.

mod effect;
mod event;
mod notice;

pub use effect::{Call, Effect};
pub use event::{Answer, CallError, CallErrorKind, Event, ProbeReport, ProcessEnd};
