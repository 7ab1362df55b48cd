//! The early end of a test: its reasons, and the runs to end.
//!
//! The first reason counts. It ends the current run, and the test continues with the parts after
//! it: `teardown()` and the summary.

use loadline_record::Ended;
use loadline_runner::{Command, Commands};
use loadline_tool_host::{Signal, Signals};
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
    /// Thresholds were crossed.
    Thresholds {
        /// k6's message.
        message: String,
        /// The condition of one that ends the test.
        condition: String,
    },
    /// The REST API stopped it.
    Requested,
}

impl Reason {
    /// Returns the end of the load that this ends, for Loadline's own outputs.
    fn end_of_load(&self) -> Ended {
        match self {
            Reason::Thresholds { condition, .. } => Ended::Aborted(condition.clone()),
            Reason::Script(message) => Ended::Threw(message.clone()),
            // The failure itself is known at the end of the test.
            Reason::Failure | Reason::Signal(_) | Reason::Requested => Ended::Interrupted,
        }
    }
}

/// Ends a test, from any thread.
#[derive(Clone)]
pub(super) struct Interrupt {
    state: Arc<Mutex<State>>,
    signals: Signals,
}

#[derive(Default)]
struct State {
    /// The runs of the test, once it has begun.
    runs: Option<Commands>,
    reason: Option<Reason>,
}

impl Interrupt {
    /// Creates the interrupt of a test that the first of these signals ends, once it has begun.
    pub(super) fn new(signals: Signals) -> Self {
        Interrupt {
            state: Arc::default(),
            signals,
        }
    }

    /// True if a signal was received.
    pub(super) fn has_signal(&self) -> bool {
        self.signals.has_any()
    }

    /// Begins the test with these runs.
    pub(super) fn begin(&self, runs: &Commands) {
        self.state().runs = Some(runs.clone());
        let interrupt = self.clone();
        let end = move |signal: Signal| interrupt.end(Reason::Signal(signal.name()));
        self.signals.on_first(end);
    }

    /// Ends the current run, and the test with it.
    pub(super) fn end(&self, reason: Reason) {
        let mut state = self.state();
        let ended = state.reason.get_or_insert(reason).end_of_load();
        let runs = state.runs.clone();
        drop(state);
        if let Some(runs) = runs {
            runs.end_run(Command::Abort, ended);
        }
    }

    /// Returns the reason why the test ends early, if it does.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.state().reason.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent even after a panic of another thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
