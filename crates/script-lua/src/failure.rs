//! The first error that a script threw while the run lasted, and the run that it ends.

use crate::error::ScriptError;
use loadline_engine::Handle;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by all workers of a script; touched only when something goes wrong.
#[derive(Debug, Default)]
pub(crate) struct Failure(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    error: Option<ScriptError>,
    run: Option<Handle>,
}

impl Failure {
    /// Keeps an error if it is the first, and ends the run.
    pub(crate) fn tell(&self, error: ScriptError) {
        let mut told = self.lock();
        told.error.get_or_insert(error);
        told.end_run();
    }

    /// The run that an error ends, even one that was told before.
    pub(crate) fn ends(&self, run: Handle) {
        let mut told = self.lock();
        told.run = Some(run);
        told.end_run();
    }

    pub(crate) fn error(&self) -> Option<ScriptError> {
        self.lock().error.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn end_run(&self) {
        if let (Some(_), Some(run)) = (&self.error, &self.run) {
            run.abort();
        }
    }
}
