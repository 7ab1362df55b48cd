//! The process at the other end of a line under supervision, for threads that share it: it is ended
//! if it is silent for too long, and the reason is kept.

use crate::line::Remote;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest silence of a child, which sends something every second.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(3);

/// A process under supervision.
pub(crate) struct Watched {
    pub(crate) remote: Box<dyn Remote>,
    /// The number of frames received.
    pub(crate) received: u64,
    /// The reason why it was ended, if it was.
    pub(crate) reason: Option<String>,
}

impl Watched {
    pub(crate) fn new(remote: Box<dyn Remote>) -> Self {
        Watched {
            remote,
            received: 0,
            reason: None,
        }
    }

    /// Ends the process for this reason, or an earlier one.
    pub(crate) fn end_for(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
        self.remote.kill();
    }
}

/// The silence of a process.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// The number of frames at the last check, and the silence since then.
    received: u64,
    silent: Duration,
}

impl Silence {
    /// Ends a process that has been silent for too long, after another wait of this length. Waits
    /// are added up, because a coordinator that was stopped itself has received nothing either.
    pub(crate) fn miss(&mut self, watched: &mut Watched, waited: Duration) {
        if std::mem::replace(&mut self.received, watched.received) != watched.received {
            self.silent = Duration::ZERO;
            return;
        }
        self.silent += waited;
        if self.silent >= SILENCE_TIMEOUT {
            let seconds = SILENCE_TIMEOUT.as_secs();
            watched.end_for(format!("said nothing for {seconds} s and was ended"));
            self.silent = Duration::ZERO;
        }
    }
}

/// Locks what threads share, even if one of them panicked.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A process that runs until it is ended.
    struct Running(Arc<AtomicBool>);

    impl Remote for Running {
        fn kill(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }

        fn ending(&mut self) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_process_is_ended_after_three_seconds_without_a_frame_and_not_before() {
        let is_ended = Arc::new(AtomicBool::new(false));
        let mut watched = Watched::new(Box::new(Running(Arc::clone(&is_ended))));
        let mut silence = Silence::default();
        let second = Duration::from_secs(1);
        for received in [0, 0, 1, 1, 1] {
            watched.received = received;
            silence.miss(&mut watched, second);
            assert!(!is_ended.load(Ordering::Relaxed));
        }
        silence.miss(&mut watched, second);
        assert!(is_ended.load(Ordering::Relaxed));
        watched.end_for("was ended".to_owned());
        let first = "said nothing for 3 s and was ended";
        assert_eq!(watched.reason.as_deref(), Some(first));
    }
}
