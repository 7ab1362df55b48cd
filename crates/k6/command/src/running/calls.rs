//! Calls of functions of the script in addition to the test's own: `setup()` and `teardown()` on
//! request of the REST API, and `handleSummary()`, which may send requests, too.

use super::Running;
use crate::conduct::Users;
use crate::plan::PlanContext;
use crate::test::{Measures, Test};
use crate::{FAILED, Refused};
use loadline_engine::AnyTally;
use loadline_k6_metrics::RecorderSetup;
use loadline_plan::Plan;
use loadline_record::Ended;
use loadline_runner::{Command, Commands, Observed, Observer, Setup};
use loadline_script_js::{
    Failure, Measured, Program, RunState, Stage, StageKind, Summary, SummaryFiles, UserOptions,
    launch,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The data for calls.
pub(crate) struct Calls {
    program: Arc<Program>,
    options: UserOptions,
    recording: Arc<RecorderSetup>,
    setup: Plan,
    teardown: Plan,
    summary: Plan,
}

/// The error for a summary that takes too long.
const LATE_SUMMARY: &str = "handleSummary() execution timed out after 120 seconds";
/// The error for a summary that a signal has ended.
const CUT_SUMMARY: &str = "handleSummary() was interrupted";
/// The time limit of `handleSummary()`.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);

impl Calls {
    /// Creates the data for calls of this test's functions.
    ///
    /// # Errors
    /// If the engine can't run one of them.
    pub(crate) fn of(
        test: &Test,
        measures: &Measures,
        context: PlanContext<'_>,
    ) -> Result<Calls, Refused> {
        let settings = test.settings();
        let plan = |name, within| {
            let plan = context.of_call(name, within);
            plan.map_err(|problem| Refused::new(FAILED, problem))
        };
        Ok(Calls {
            program: Arc::clone(&test.program),
            options: test.user_options(),
            recording: Arc::clone(&measures.recording),
            setup: plan("setup", settings.setup_timeout)?,
            teardown: plan("teardown", settings.teardown_timeout)?,
            summary: plan("handleSummary", SUMMARY_TIMEOUT)?,
        })
    }

    /// Calls one of the functions, if the script has it, in a run of its own; its records are added
    /// to those of the test.
    ///
    /// # Errors
    /// The exception of the script, or the reason why the function could not be called.
    pub(super) fn call(&self, test: &Running, kind: StageKind) -> Result<Arc<RunState>, String> {
        let (name, plan) = match kind {
            StageKind::Setup => ("setup", &self.setup),
            StageKind::Teardown | StageKind::Summary(_) | StageKind::Scenario(_) => {
                ("teardown", &self.teardown)
            }
        };
        let commands = Commands::default();
        let state = self.state(commands.clone());
        let data = test.state.setup_data.json();
        if !self.program.has(name) {
            state.setup_data.set(None);
            return Ok(state);
        }
        if name == "teardown" {
            state.setup_data.set(data.map(|json| json.to_string()));
        }
        let stage = Arc::new(Stage::new(name, kind));
        self.run(plan, &stage, &state, &commands, &mut [&mut Adding(test)])?;
        match state.failure() {
            Some(failure) => Err(failure.to_string()),
            None if !stage.is_done() => Err(format!("{name}() did not come to its end in time")),
            None => Ok(state),
        }
    }

    /// Calls `handleSummary()` with this JSON; returns the files that it returns, if any. Its
    /// records are not counted: the test is over.
    ///
    /// # Errors
    /// The exception, or the reason why it could not be called.
    pub(crate) fn summarise(
        &self,
        test: &Running,
        data: String,
    ) -> Result<Option<SummaryFiles>, Failure> {
        // A signal ends this call as it ends the test.
        let commands = test.commands.clone();
        let state = self.state(commands.clone());
        let summary = StageKind::Summary(Summary::of(data));
        let stage = Arc::new(Stage::new("handleSummary", summary));
        let began = Instant::now();
        let run = self.run(&self.summary, &stage, &state, &commands, &mut []);
        run.map_err(Failure::SummaryFiles)?;
        match state.failure() {
            Some(failure) => Err(failure),
            None if !stage.is_done() => {
                let is_late = began.elapsed() >= SUMMARY_TIMEOUT;
                let problem = if is_late { LATE_SUMMARY } else { CUT_SUMMARY };
                Err(Failure::SummaryFiles(problem.to_owned()))
            }
            None => Ok(stage.summary_files().cloned()),
        }
    }

    /// Calls a function in a run of its own.
    fn run(
        &self,
        plan: &Plan,
        stage: &Arc<Stage>,
        state: &Arc<RunState>,
        commands: &Commands,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(), String> {
        let users = Users {
            launches: vec![launch(&self.program, stage, state, 1, 1)],
            recording: Arc::clone(&self.recording),
            elsewhere: None,
            judged: None,
        };
        let conducted = loadline_runner::conduct(&Setup::of(plan), &users, commands, observers);
        conducted.map(drop).map_err(|error| error.to_string())
    }

    /// Creates the state of such a run, which is not shared; `commands` end the run.
    fn state(&self, commands: Commands) -> Arc<RunState> {
        let abort = move |_| commands.end_run(Command::Abort, Ended::Interrupted);
        let (options, recording) = (self.options.clone(), Arc::clone(&self.recording));
        Arc::new(RunState::new(options, recording, Box::new(abort)))
    }
}

/// Adds the records of a call to those of the test.
struct Adding<'a>(&'a Running);

impl Observer for Adding<'_> {
    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(Measured { portion, .. }) = tally.get() {
            self.0.add_outside(portion);
        }
        Ok(())
    }
}
