//! What ends a test before its end, and who is told of it.
//!
//! The first reason counts. It ends the run that is under way, and the test goes on with what
//! comes behind that: `teardown()` and the summary.

use loadline_record::Ended;
use loadline_runner::{Command, Commands};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a test ends before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A signal came: its name.
    Signal(&'static str),
    /// The script ended its test, and says this.
    Script(String),
    /// What a user ended with that no test can go on behind.
    Failure,
    /// Thresholds were crossed; what k6 says of it.
    Thresholds(String),
    /// The REST API was told so.
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
    /// A signal of this name came. Whether the test ends in an orderly way now; if not, the
    /// process has to end at once: the test has not begun, or this is the second signal.
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

    /// Whether a signal came.
    pub(super) fn has_signal(&self) -> bool {
        self.state().has_signal
    }

    /// The test begins; these are its runs.
    pub(super) fn begin(&self, runs: &Commands) {
        self.state().runs = Some(runs.clone());
    }

    /// Ends the run that is under way, and the test with it.
    pub(super) fn end(&self, reason: Reason) {
        let mut state = self.state();
        state.reason.get_or_insert(reason);
        let runs = state.runs.clone();
        drop(state);
        if let Some(runs) = runs {
            runs.end_run(Command::Abort, Ended::Interrupted);
        }
    }

    /// Why the test ends before its end, if it does.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.state().reason.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What it guards is whole whoever panicked meanwhile.
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
