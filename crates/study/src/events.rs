//! The events that a study waits for: the end of a process, the end of a time, an interrupt by the
//! user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// An event that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The process with this number ended.
    Ended(u32),
    /// The user interrupted the study.
    Interrupted,
    /// No event: the time is over.
    TimeOver,
}

/// A queue of events, and the waits for them.
#[derive(Debug)]
pub struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    interrupted: Arc<AtomicBool>,
}

/// Interrupts a study from another thread.
#[derive(Clone, Debug)]
pub struct Interrupter {
    sender: Sender<Event>,
    interrupted: Arc<AtomicBool>,
}

impl Default for Events {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Events {
            sender,
            receiver,
            interrupted: Arc::default(),
        }
    }
}

impl Events {
    /// Returns a handle that interrupts waits on this queue.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter {
            sender: self.sender.clone(),
            interrupted: Arc::clone(&self.interrupted),
        }
    }

    /// True if the user interrupted the study.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns the sender that reports the ends of processes.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits for any event, at most until `until`.
    pub(crate) fn wait(&self, until: Instant) -> Event {
        let left = until.saturating_duration_since(Instant::now());
        match self.receiver.recv_timeout(left) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Event::TimeOver,
        }
    }

    /// Waits for this time. Returns false if an interrupt ended the wait.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let until = Instant::now() + length;
        loop {
            if self.is_interrupted() {
                return false;
            }
            if self.wait(until) == Event::TimeOver {
                return true;
            }
        }
    }
}

impl Interrupter {
    /// Interrupts the study.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
        // A study that is over cannot be interrupted.
        let _ = self.sender.send(Event::Interrupted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_a_pause_and_all_later_ones() {
        let events = Events::default();
        assert!(events.pause(Duration::ZERO));
        events.interrupter().interrupt();
        assert!(!events.pause(Duration::from_secs(3_600)));
        assert!(!events.pause(Duration::from_secs(3_600)));
    }

    #[test]
    fn the_end_of_a_process_does_not_end_a_pause() {
        let events = Events::default();
        let sender = events.sender();
        sender.send(Event::Ended(7)).unwrap();
        assert!(events.pause(Duration::from_millis(1)));
    }
}
