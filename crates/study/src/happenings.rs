//! What a study waits for: that a process ends, that time passes, that the user interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// The process with this number ended.
    Ended(u32),
    /// The user wants the study to stop.
    Interrupted,
    /// Nothing did: the time is over.
    TimeOver,
}

/// Waits for what happens.
#[derive(Debug)]
pub struct Happenings {
    sender: Sender<Happening>,
    receiver: Receiver<Happening>,
    interrupted: Arc<AtomicBool>,
}

/// Interrupts a study from another thread.
#[derive(Clone, Debug)]
pub struct Interrupter {
    sender: Sender<Happening>,
    interrupted: Arc<AtomicBool>,
}

impl Default for Happenings {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Happenings {
            sender,
            receiver,
            interrupted: Arc::default(),
        }
    }
}

impl Happenings {
    /// What interrupts whoever waits here.
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

    /// What tells of processes that end.
    pub(crate) fn sender(&self) -> Sender<Happening> {
        self.sender.clone()
    }

    /// Waits for anything, at most until `until`.
    pub(crate) fn wait(&self, until: Instant) -> Happening {
        let left = until.saturating_duration_since(Instant::now());
        match self.receiver.recv_timeout(left) {
            Ok(happening) => happening,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Happening::TimeOver,
        }
    }

    /// Lets time pass. Says whether it all did: an interrupt ends it.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let until = Instant::now() + length;
        loop {
            if self.is_interrupted() {
                return false;
            }
            if self.wait(until) == Happening::TimeOver {
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
        let _ = self.sender.send(Happening::Interrupted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_a_pause_and_all_later_ones() {
        let happenings = Happenings::default();
        assert!(happenings.pause(Duration::ZERO));
        happenings.interrupter().interrupt();
        assert!(!happenings.pause(Duration::from_secs(3_600)));
        assert!(!happenings.pause(Duration::from_secs(3_600)));
    }

    #[test]
    fn the_end_of_a_process_does_not_end_a_pause() {
        let happenings = Happenings::default();
        let sender = happenings.sender();
        sender.send(Happening::Ended(7)).unwrap();
        assert!(happenings.pause(Duration::from_millis(1)));
    }
}
