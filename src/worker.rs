//! A thread with a name, a way to tell it things and a way to hear of its end.
//!
//! A worker stops when its handle is dropped: the sender drops first, and the
//! thread sees that nobody can tell it anything any more. A panic in it
//! becomes an event. Nobody waits for its end.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::machine::Event;

/// Handle of a thread that takes commands of type `C`.
#[derive(Debug)]
pub struct Worker<C> {
    commands: Sender<C>,
    _join: JoinHandle<()>,
}

impl<C: Send + 'static> Worker<C> {
    /// Starts a thread. Its body returns when the receiver is disconnected.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn spawn(
        name: &'static str,
        events: Sender<Event>,
        body: impl FnOnce(&Receiver<C>, &Sender<Event>) + Send + 'static,
    ) -> io::Result<Self> {
        let (commands, receiver) = channel();
        let join = Builder::new().name(name.into()).spawn(move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(&receiver, &events))) {
                // Nobody listens any more when the shim is on its way out.
                let _ = events.send(Event::ThreadDied { thread: name, message: panic_message(&*panic) });
            }
        })?;
        Ok(Self { commands, _join: join })
    }

    /// For others who tell it things: it ends when they have gone too.
    pub fn sender(&self) -> Sender<C> {
        self.commands.clone()
    }

    /// Tells the thread something; a thread that has died has said so itself.
    pub fn tell(&self, command: C) {
        let _ = self.commands.send(command);
    }
}

/// What a panic said.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no message)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_panic_becomes_an_event_that_names_the_thread() {
        let (events, received) = channel();
        let worker = Worker::<()>::spawn("scrape", events, |commands, _| {
            let _ = commands.recv();
            panic!("on purpose {}", 1);
        })
        .expect("a thread");
        worker.tell(());
        let event = received.recv_timeout(Duration::from_secs(10)).expect("an event");
        assert_eq!(event, Event::ThreadDied { thread: "scrape", message: "on purpose 1".into() });
    }

    #[test]
    fn a_dropped_handle_ends_the_thread() {
        let (events, received) = channel();
        let worker =
            Worker::<()>::spawn("beat", events, |commands, _| assert!(commands.recv().is_err())).expect("a thread");
        drop(worker);
        assert!(
            received.recv_timeout(Duration::from_secs(10)).is_err(),
            "the thread's sender is dropped, no event came"
        );
    }
}
