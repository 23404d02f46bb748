//! Waits for the answer to a call, with a deadline of our own.
//!
//! gRPC's deadline would be a timer a call, and its timer threads wake up twice for each: at twelve beats a minute
//! that is a fifth of all that wakes up in an idle shim. Here the thread that waits anyway knows when to stop.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::net::deadline::Deadline;

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks until the future is ready; `None` when the deadline has passed before. It may not be polled again after it
/// was ready.
pub(super) fn wait<F: Future + Unpin>(future: &mut F, deadline: Deadline) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut context) {
            return Some(output);
        }
        // Woken for nothing, it looks again.
        thread::park_timeout(deadline.left()?);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_is_ready_is_taken_even_past_the_deadline() {
        assert_eq!(wait(&mut ready(7), Deadline::after(Duration::ZERO)), Some(7));
    }

    #[test]
    fn what_never_comes_is_given_up_at_the_deadline() {
        let began = Instant::now();
        assert_eq!(wait(&mut pending::<()>(), Deadline::after(Duration::from_millis(50))), None);
        assert!(began.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn another_thread_ends_the_wait() {
        let (sender, receiver) = channel::<Waker>();
        let other = thread::spawn(move || receiver.recv().expect("a waker").wake());
        let mut polls = 0;
        let mut future = poll_fn(move |context| {
            polls += 1;
            if polls > 1 {
                return Poll::Ready(polls);
            }
            sender.send(context.waker().clone()).expect("the other thread listens");
            Poll::Pending
        });
        assert_eq!(wait(&mut future, Deadline::after(Duration::from_secs(60))), Some(2));
        other.join().expect("it woke this one");
    }
}
