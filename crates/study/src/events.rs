//! The events that a study waits for: a process ends, time passes, the user interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// An event that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The process with this number ended.
    Ended(u32),
    /// The user wants the study to stop.
    Interrupted,
    /// Nothing did: the time is over.
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
    /// What interrupts a wait here.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter {
            sender: self.sender.clone(),
            interrupted: Arc::clone(&self.interrupted),
        }
    }

    /// Whether the user wants the study to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Where the end of a process is reported.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits for anything, at most until `until`.
    pub(crate) fn wait(&self, until: Instant) -> Event {
        let left = until.saturating_duration_since(Instant::now());
        match self.receiver.recv_timeout(left) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Event::TimeOver,
        }
    }

    /// Lets time pass. Says whether it all did: an interrupt ends it.
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
    /// The study is to stop.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
        // A study that is over can't be interrupted.
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
