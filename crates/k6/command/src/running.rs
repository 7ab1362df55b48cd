//! A running test as seen by the REST API, and the state that the API changes.
//!
//! It is shared by the conductor, which sets the test's step, and the API's threads.

mod calls;
mod controlled;
mod steered;

pub(super) use calls::Calls;

use super::identifiers::md5_hex;
use super::page_tables;
use super::rest::{Control, Group, Metric, Scale, ScaleError, Status, figures};
use super::stop::{Interrupt, Reason};
use super::test::Test;
use controlled::Controlled;
use loadline_k6_metrics::{Outcome, Portion, Totals};
use loadline_metrics::CustomMetrics;
use loadline_runner::{ChangeProblem, Commands};
use loadline_script_js::{RunState, Stage, StageKind, add_outside};
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The step that a test has reached, with k6's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Step {
    /// No part has begun.
    #[default]
    Created = 0,
    /// The test is paused before it begins.
    Waiting = 4,
    /// `setup()` is running.
    Setup = 6,
    /// The load is running.
    Load = 7,
    /// `teardown()` is running.
    Teardown = 8,
    /// The test has ended.
    Ended = 9,
    /// The test was ended early.
    Interrupted = 10,
}

/// Shows results on a live page; see `ShowResults`.
type Show = dyn Fn(&str) + Send + Sync;

/// A running test.
pub(super) struct Running {
    pub(super) state: Arc<RunState>,
    pub(super) stages: Vec<Arc<Stage>>,
    pub(super) totals: Mutex<Totals>,
    /// What was measured outside of the load, for Loadline's own outputs.
    pub(super) outside: Mutex<CustomMetrics>,
    pub(super) interrupt: Interrupt,
    pub(super) commands: Commands,
    pub(super) calls: Calls,
    /// The users that are ready when the load begins.
    pub(super) ready: u32,
    pub(super) live: Mutex<Live>,
    pub(super) resumed: Condvar,
    /// What shows results on a live page. The page itself holds this test, and waits for the end of
    /// its results, so that they are held elsewhere.
    pub(super) shows: OnceLock<Weak<Show>>,
}

/// The part of a test's state that changes.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub(super) step: Step,
    pub(super) is_paused: bool,
    /// The last results of the thresholds.
    pub(super) outcomes: Vec<Outcome>,
    /// The first scenario whose number of users is controlled externally.
    pub(super) controlled: Option<Controlled>,
}

impl Live {
    /// Returns the state of a test that has not begun.
    pub(super) fn of(test: &Test) -> Self {
        Live {
            is_paused: test.settings().is_paused,
            controlled: Controlled::of(&test.options.scenarios),
            ..Live::default()
        }
    }
}

impl Running {
    /// Sets the step.
    pub(super) fn reach(&self, step: Step) {
        self.live().step = step;
    }

    /// Begins the load: applies the changes that were requested before.
    pub(super) fn begin_load(&self) {
        let mut live = self.live();
        live.step = Step::Load;
        // The load has just begun, so that these commands can't fail.
        if let Some(controlled) = live.controlled.filter(Controlled::is_changed) {
            let _ = self
                .commands
                .set_users_of(controlled.scenario, controlled.vus);
        }
        if live.is_paused {
            let _ = self.hold();
        }
    }

    /// Stores the results of thresholds.
    pub(super) fn judged(&self, outcomes: Vec<Outcome>) {
        self.live().outcomes = outcomes;
    }

    /// Shows thresholds and checks so far on the live page, if there is one.
    pub(super) fn show_results(&self, outcomes: &[Outcome]) {
        let Some(show) = self.shows.get().and_then(Weak::upgrade) else {
            return;
        };
        let tables = page_tables::so_far(&self.totals(), outcomes);
        show(&tables.to_string());
    }

    /// True if the test is paused.
    pub(super) fn is_paused(&self) -> bool {
        self.live().is_paused
    }

    /// Waits until the test is resumed, or this time has passed.
    pub(super) fn await_resume(&self, most: Duration) {
        let live = self.live();
        let waited = self
            .resumed
            .wait_timeout_while(live, most, |live| live.is_paused);
        drop(waited);
    }

    /// Returns the users of an externally controlled scenario, and their maximum.
    pub(super) fn users_of(&self, scenario: usize) -> Option<(u32, u32)> {
        let live = self.live();
        let controlled = live.controlled.filter(|one| one.scenario == scenario)?;
        let vus = if live.is_paused { 0 } else { controlled.vus };
        Some((vus, controlled.max))
    }

    /// Pauses the load. The clock of the test stops meanwhile.
    fn hold(&self) -> Result<(), ChangeProblem> {
        self.commands.pause()?;
        self.state.execution.end_part(Instant::now());
        Ok(())
    }

    fn let_go(&self) -> Result<(), ChangeProblem> {
        self.commands.resume()?;
        self.state.execution.begin_part(Instant::now());
        Ok(())
    }

    /// Returns the number of active users.
    fn active(&self, live: &Live) -> i64 {
        let users = self.stages.iter().enumerate().map(|(index, stage)| {
            match live.controlled.filter(|one| one.scenario == index) {
                Some(_) if live.is_paused => 0,
                Some(controlled) => controlled.vus,
                None => stage
                    .scenario()
                    .map_or(0, |seen| seen.active.load(Ordering::Relaxed)),
            }
        });
        match live.step {
            Step::Load => users.map(i64::from).sum(),
            Step::Created
            | Step::Waiting
            | Step::Setup
            | Step::Teardown
            | Step::Ended
            | Step::Interrupted => 0,
        }
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // The state is consistent even after a panic of another thread.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the measurements so far.
    pub(super) fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds measurements from outside of the load: of `setup()` and `teardown()`, and iterations
    /// that were never begun.
    pub(super) fn add_outside(&self, portion: &Portion) {
        self.totals().add(portion);
        add_outside(portion, &self.state.recording, &mut self.outside());
    }

    /// Returns the measurements from outside of the load so far.
    pub(super) fn outside(&self) -> MutexGuard<'_, CustomMetrics> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Control for Running {
    fn status(&self) -> Status {
        let live = self.live();
        let ready = self.state.execution.users_ready.load(Ordering::Relaxed);
        let grown = live.controlled.map_or(0, |controlled| controlled.grown());
        Status {
            stage: live.step as u8,
            is_paused: live.is_paused,
            vus: self.active(&live),
            vus_max: i64::from(ready.max(self.ready.saturating_add(grown))),
            is_stopped: self.interrupt.reason().is_some(),
            is_running: (Step::Setup..=Step::Teardown).contains(&live.step),
            is_tainted: live.outcomes.iter().any(|outcome| !outcome.is_ok),
        }
    }

    fn metrics(&self) -> Vec<Metric> {
        let outcomes = self.live().outcomes.clone();
        let elapsed = self.state.execution.elapsed();
        figures::metrics(&self.totals(), &outcomes, elapsed.as_nanos() as u64)
    }

    fn groups(&self) -> Group {
        figures::groups(&self.totals(), &md5_hex)
    }

    fn setup_data(&self) -> Option<Value> {
        serde_json::from_str(&self.state.setup_data.json()?).ok()
    }

    fn keep_setup_data(&self, data: Option<Value>) {
        self.state
            .setup_data
            .set(data.map(|value| value.to_string()));
    }

    fn run_setup(&self) -> Result<(), String> {
        let called = self.calls.call(self, StageKind::Setup)?;
        let json = called.setup_data.json();
        self.state.setup_data.set(json.map(|json| json.to_string()));
        Ok(())
    }

    fn run_teardown(&self) -> Result<(), String> {
        self.calls.call(self, StageKind::Teardown).map(drop)
    }

    fn pause(&self, is_paused: bool) -> Result<(), String> {
        let mut live = self.live();
        match (is_paused, live.is_paused) {
            (true, true) if live.step < Step::Setup => {
                return Err("execution is already paused".to_owned());
            }
            (true, true) => return Err("test execution was already paused".to_owned()),
            (false, false) => return Err("test execution wasn't paused".to_owned()),
            (true, false) if live.step > Step::Load => {
                return Err("the load is over; there is nothing to pause".to_owned());
            }
            _ => {}
        }
        if live.step == Step::Load {
            let changed = if is_paused {
                self.hold()
            } else {
                self.let_go()
            };
            changed.map_err(|problem| problem.to_string())?;
        }
        live.is_paused = is_paused;
        self.resumed.notify_all();
        Ok(())
    }

    fn stop(&self) {
        self.interrupt.end(Reason::Requested);
    }

    fn scale(&self, scale: Scale) -> Result<(), ScaleError> {
        let mut live = self.live();
        let Some(controlled) = live.controlled else {
            return Err(ScaleError::NoExecutor);
        };
        let scaled = controlled.scaled(scale)?;
        if live.step == Step::Load {
            let changed = self.commands.set_users_of(scaled.scenario, scaled.vus);
            changed.map_err(|problem| ScaleError::Invalid(problem.to_string()))?;
        }
        live.controlled = Some(scaled);
        Ok(())
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}
