//! The first error that a script raised during the run, and the action that it causes.

use crate::error::ScriptError;
use loadline_script::OnError;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first error, shared by all workers of a script; accessed only after an error.
#[derive(Debug, Default)]
pub(crate) struct Failure(Mutex<FailureState>);

#[derive(Default)]
struct FailureState {
    error: Option<ScriptError>,
    act: Option<OnError>,
    /// True if the error is on its way to another process.
    is_taken: bool,
}

impl Failure {
    /// Keeps an error if it is the first, and calls the action.
    pub(crate) fn report(&self, error: ScriptError) {
        let mut state = self.lock();
        state.error.get_or_insert(error);
        state.act();
    }

    /// Sets the action on the first error, and calls it at once if there was one already.
    pub(crate) fn on_error(&self, act: OnError) {
        let mut state = self.lock();
        state.act = Some(act);
        state.act();
    }

    /// Returns the error if no call has returned it yet.
    pub(crate) fn take_raised(&self) -> Option<ScriptError> {
        let mut state = self.lock();
        let raised = state.error.clone().filter(|_| !state.is_taken);
        state.is_taken |= raised.is_some();
        raised
    }

    pub(crate) fn error(&self) -> Option<ScriptError> {
        self.lock().error.clone()
    }

    fn lock(&self) -> MutexGuard<'_, FailureState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailureState {
    fn act(&mut self) {
        if let Some(error) = &self.error
            && let Some(act) = self.act.take()
        {
            act(error.clone().into());
        }
    }
}

impl fmt::Debug for FailureState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut state = f.debug_struct("FailureState");
        state.field("error", &self.error).finish_non_exhaustive()
    }
}
