//! The early end of a test: its reasons, and the runs to end.
//!
//! The first reason counts. It ends the current run, and the test continues with the parts after
//! it: `teardown()` and the summary.

use loadline_record::Ended;
use loadline_runner::{Command, Commands};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The reason why a test ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A signal with this name was received.
    Signal(&'static str),
    /// The script ended its test, with this message.
    Script(String),
    /// A user failed in a way that the test can't continue after.
    Failure,
    /// Thresholds were crossed; the message is k6's.
    Thresholds(String),
    /// The REST API stopped it.
    Asked,
}

/// Ends a test, from any thread.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The runs of the test, once it has begun.
    runs: Option<Commands>,
    reason: Option<Reason>,
    has_signal: bool,
}

impl Interrupt {
    /// Handles a signal with this name. Returns true if the test ends in an orderly way now;
    /// otherwise the process must end at once: the test has not begun, or this is the second
    /// signal.
    #[must_use]
    pub fn signal(&self, name: &'static str) -> bool {
        let mut state = self.state();
        let is_first = !std::mem::replace(&mut state.has_signal, true);
        let has_begun = state.runs.is_some();
        drop(state);
        if is_first && has_begun {
            self.end(Reason::Signal(name));
        }
        is_first && has_begun
    }

    /// True if a signal was received.
    pub(super) fn has_signal(&self) -> bool {
        self.state().has_signal
    }

    /// Begins the test with these runs.
    pub(super) fn begin(&self, runs: &Commands) {
        self.state().runs = Some(runs.clone());
    }

    /// Ends the current run, and the test with it.
    pub(super) fn end(&self, reason: Reason) {
        let mut state = self.state();
        state.reason.get_or_insert(reason);
        let runs = state.runs.clone();
        drop(state);
        if let Some(runs) = runs {
            runs.end_run(Command::Abort, Ended::Interrupted);
        }
    }

    /// Returns the reason why the test ends early, if it does.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.state().reason.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent even after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Interrupt")
            .field("reason", &state.reason)
            .finish_non_exhaustive()
    }
}
