//! A test from its setup to its teardown: three runs of the engine, one after another.
//!
//! What `setup()` and `teardown()` measure belongs to the test, so that Loadline's own outputs end
//! after `teardown()`: they receive the end of the load then, with these measurements.

use super::job::{Elsewhere, job};
use super::listener::{Clocks, Listener, Moment, POLL_INTERVAL, Phase, Watcher};
use super::output::loadline::{Judged, Sentence};
use super::plan::PlanContext;
use super::running::{Calls, Live, Running, Step};
use super::stop::{Interrupt, Reason};
use super::test::{Measures, Test, run_state};
use super::{
    ABORTED, FAILED, INTERRUPTED, MARKED_FAILED, Refused, SCRIPT_EXCEPTION, SETUP_TIMEOUT, STOPPED,
    TEARDOWN_TIMEOUT, THRESHOLDS_CROSSED,
};
use loadline_engine::{Launch, Run, StartError};
use loadline_k6_metrics::{Outcome, RecorderSetup, Thresholds, Totals, crossed};
use loadline_k6_options::needs;
use loadline_plan::Plan;
use loadline_record::DeclaredCheck;
use loadline_runner::{
    Commands, Interests, MeasuredRun, Observer, Setup, Source, Watch, Workload, has_fleet,
    is_elastic, refusal_of_joins, runs_elsewhere, start_scenarios,
};
use loadline_script_js::{
    Abort, Failure, Measured, RunState, Scenario, Stage, StageKind, SummaryFiles, launch, unbegun,
};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// The scenarios whose load agents can join.
const JOINED_INSTEAD: &str = "give each scenario an executor with a duration, such as \
                              constant-vus or ramping-arrival-rate";
/// The reason why agents can't join a test whose requests have a rate in all.
const RPS_IS_DIVIDED: &str = "the option rps is divided among the agents with which the test \
                              begins, and has nothing for those of --elastic: leave out one of \
                              them";

/// A test that has ended.
pub(super) struct EndedTest {
    /// The state of the test.
    running: Arc<Running>,
    /// The results of the thresholds.
    pub(super) outcomes: Vec<Outcome>,
    /// The duration of the test.
    pub(super) elapsed: Duration,
    /// The verdict on the validity of the result.
    pub(super) verdict: Vec<Sentence>,
    /// The return value of `setup()`, as JSON.
    pub(super) setup_data: Option<Arc<str>>,
    /// True if the load began.
    pub(super) has_load: bool,
    /// The reason why the exit code is not 0, if it is not.
    pub(super) refused: Option<Refused>,
}

impl EndedTest {
    /// Returns the measured totals.
    pub(super) fn totals(&self) -> MutexGuard<'_, Totals> {
        self.running.totals()
    }

    /// Calls the script's `handleSummary()` with this JSON.
    ///
    /// # Errors
    /// The exception, or the reason why the returned value can't be written.
    pub(super) fn handle_summary(&self, data: String) -> Result<Option<SummaryFiles>, Failure> {
        self.running.calls.summarise(&self.running, data)
    }
}

/// Runs a test.
pub(super) struct Conductor<'a> {
    pub(super) test: &'a Test,
    pub(super) measures: &'a Measures,
    pub(super) context: PlanContext<'a>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) stages: Vec<Arc<Stage>>,
    pub(super) state: Arc<RunState>,
    pub(super) commands: Commands,
    /// The state that is shared with the REST API.
    pub(super) running: Arc<Running>,
    pub(super) clocks: Clocks,
    /// The other observers of the load.
    pub(super) observers: Vec<Box<dyn Observer>>,
    verdict: Vec<Sentence>,
    /// The load and its users, from its end until it is reported.
    load: Option<(MeasuredRun, Users)>,
    /// The reason why the measurements of the load are incomplete, if they are.
    lost: Option<String>,
}

impl<'a> Conductor<'a> {
    /// Creates the conductor of a test that has not begun.
    ///
    /// # Errors
    /// If the engine can't run the functions of the test.
    pub(super) fn new(
        test: &'a Test,
        measures: &'a Measures,
        context: PlanContext<'a>,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Refused> {
        let commands = Commands::default();
        interrupt.begin(&commands);
        let stages: Vec<Arc<Stage>> = test.options.scenarios.iter().map(stage).collect();
        let state = run_state(test, measures, ending_by(interrupt.clone()));
        let running = Running {
            live: Mutex::new(Live::of(test)),
            state: Arc::clone(&state),
            stages: stages.clone(),
            totals: Mutex::new(Totals::new(Arc::clone(&measures.recording))),
            interrupt: interrupt.clone(),
            commands: commands.clone(),
            calls: Calls::of(test, measures, context)?,
            outside: Mutex::default(),
            ready: needs(&test.options.scenarios).ready_vus,
            resumed: Condvar::new(),
            shows: OnceLock::new(),
        };
        Ok(Conductor {
            running: Arc::new(running),
            state,
            stages,
            test,
            measures,
            context,
            interrupt,
            commands,
            clocks: Clocks::default(),
            observers: Vec::new(),
            verdict: Vec::new(),
            load: None,
            lost: None,
        })
    }

    /// Runs the test; `watcher` is notified of its progress.
    ///
    /// # Errors
    /// If the engine can't run it: nothing was sent then.
    pub(super) fn run(mut self, watcher: &mut dyn Watcher) -> Result<EndedTest, Refused> {
        let plan = self.context.of_scenarios(&self.test.options.scenarios);
        let plan = plan.map_err(|problem| Refused::new(FAILED, problem))?;
        if let Some(sentence) = self.refusal_of_joins(&plan) {
            return Err(Refused::new(FAILED, sentence));
        }
        self.wait_for_resume(watcher);
        let refused = match self.interrupt.reason() {
            // The test was ended before its first part.
            Some(_) => None,
            None => self.run_parts(&plan, watcher)?,
        };
        self.running.reach(match self.interrupt.reason() {
            Some(_) => Step::Interrupted,
            None => Step::Ended,
        });
        watcher.ended(&self.moment());
        let elapsed = self.state.execution.elapsed();
        let thresholds = &self.measures.thresholds;
        let outcomes = thresholds.conclude(&self.running.totals(), elapsed.as_nanos() as u64);
        self.running.judged(outcomes.clone());
        let refused = self.why_ended(refused, &outcomes);
        Ok(EndedTest {
            setup_data: self.state.setup_data.json(),
            has_load: self.clocks.load_began.is_some(),
            running: self.running,
            verdict: self.verdict,
            outcomes,
            elapsed,
            refused,
        })
    }

    /// Waits for the end of a pause before a part of the test begins.
    fn wait_for_resume(&self, watcher: &mut dyn Watcher) {
        while self.running.is_paused() && self.interrupt.reason().is_none() {
            self.running.reach(Step::Waiting);
            watcher.paused();
            self.running.await_resume(POLL_INTERVAL);
        }
    }

    /// Runs the test from its setup to its teardown; returns the reason why it can't continue, if
    /// so.
    fn run_parts(
        &mut self,
        plan: &Plan,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Refused>, Refused> {
        let refused = self.set_up(watcher)?;
        if refused.is_some() {
            return Ok(refused);
        }
        self.wait_for_resume(watcher);
        if self.interrupt.reason().is_none() {
            self.load(plan, watcher)?;
        }
        let torn_down = match self.has_aborted_setup() {
            true => Ok(None),
            false => self.tear_down(watcher),
        };
        let failure = match &torn_down {
            Ok(refused) => refused.as_ref(),
            Err(refused) => Some(refused),
        };
        self.conclude_load(failure);
        torn_down
    }

    /// Calls `setup()`; returns the reason why the test can't continue, if so.
    fn set_up(&mut self, watcher: &mut dyn Watcher) -> Result<Option<Refused>, Refused> {
        let settings = self.test.settings();
        if !settings.has_setup || !self.test.program.has("setup") {
            if !self.state.setup_data.is_known() {
                self.state.setup_data.set(None);
            }
            return Ok(None);
        }
        let within = settings.setup_timeout;
        let stage = self.call("setup", StageKind::Setup, within, watcher)?;
        if let Some(failure) = self.state.failure() {
            return Ok(Some(refused_by(failure)));
        }
        if self.interrupt.reason().is_some() || stage.is_done() {
            return Ok(None);
        }
        let hint = "You can increase the time limit via the setupTimeout option";
        Ok(Some(
            timed_out("setup", within, SETUP_TIMEOUT).with_hint(hint),
        ))
    }

    /// True if the test was ended before `setup()` returned: `teardown()` is not called then.
    fn has_aborted_setup(&self) -> bool {
        let is_aborted = self.interrupt.reason().is_some();
        is_aborted && !self.state.setup_data.is_known()
    }

    /// Returns the sentence about a load that agents can't join, where some may.
    fn refusal_of_joins(&self, plan: &Plan) -> Option<String> {
        let has_rps = is_elastic() && self.state.options.http.rps.is_some();
        match has_rps {
            true => Some(RPS_IS_DIVIDED.to_owned()),
            false => refusal_of_joins(plan, JOINED_INSTEAD),
        }
    }

    fn load(&mut self, plan: &Plan, watcher: &mut dyn Watcher) -> Result<(), Refused> {
        let ready = needs(&self.test.options.scenarios).ready_vus;
        let begin = |stage: &Arc<Stage>| self.launch(stage, ready, plan.threads);
        let users = Users {
            launches: self.stages.iter().map(begin).collect(),
            recording: Arc::clone(&self.measures.recording),
            elsewhere: self.elsewhere(plan, ready)?,
            judged: Some((Arc::clone(&self.running), self.measures.thresholds.clone())),
        };
        let measured = self.measure(plan, &users, watcher)?;
        if measured.is_whole() && self.interrupt.reason().is_none() {
            self.drop_unbegun(watcher);
        }
        self.load = Some((measured, users));
        Ok(())
    }

    /// Returns the users in other processes, if the plan has them.
    fn elsewhere(&self, plan: &Plan, ready: u32) -> Result<Option<Elsewhere>, Refused> {
        let is_elsewhere = runs_elsewhere(plan);
        let amounts = (ready, plan.threads);
        // Unless they are on other machines, they are children of this process.
        let share_memory = !has_fleet();
        let create = || {
            job(
                self.test,
                self.measures,
                &self.state,
                &self.stages,
                amounts,
                share_memory,
            )
        };
        let created = is_elsewhere.then(create).transpose();
        created.map_err(|error| Refused::new(FAILED, error))
    }

    /// Counts the iterations that the load had no time to begin.
    fn drop_unbegun(&mut self, watcher: &mut dyn Watcher) {
        for stage in &self.stages {
            if let Some(portion) = unbegun(stage, &self.state) {
                watcher.portion(&portion);
                self.running.add_outside(&portion);
            }
        }
    }

    fn tear_down(&mut self, watcher: &mut dyn Watcher) -> Result<Option<Refused>, Refused> {
        let settings = self.test.settings();
        let failed_before = self.state.failure();
        if !settings.has_teardown || !self.test.program.has("teardown") {
            return Ok(failed_before.map(refused_by));
        }
        let within = settings.teardown_timeout;
        let stage = self.call("teardown", StageKind::Teardown, within, watcher)?;
        if let Some(failure) = self.state.failure() {
            return Ok(Some(refused_by(failure)));
        }
        if stage.is_done() {
            return Ok(None);
        }
        let hint = "You can increase the time limit via the teardownTimeout option";
        let refused = timed_out("teardown", within, TEARDOWN_TIMEOUT).with_hint(hint);
        Ok(Some(refused))
    }

    /// Calls a function of the script once, in a run of its own.
    fn call(
        &mut self,
        name: &str,
        kind: StageKind,
        within: Duration,
        watcher: &mut dyn Watcher,
    ) -> Result<Arc<Stage>, Refused> {
        let (phase, step) = match kind {
            StageKind::Setup => (Phase::Setup, Step::Setup),
            StageKind::Teardown | StageKind::Summary(_) | StageKind::Scenario(_) => {
                (Phase::Teardown, Step::Teardown)
            }
        };
        self.running.reach(step);
        let plan = self.context.of_call(name, within);
        let plan = plan.map_err(|problem| Refused::new(FAILED, problem))?;
        let stage = Arc::new(Stage::new(name, kind));
        let users = Users {
            launches: vec![self.launch(&stage, 1, 1)],
            recording: Arc::clone(&self.measures.recording),
            elsewhere: None,
            judged: None,
        };
        match self.conduct(&plan, &users, phase, watcher)? {
            None => Ok(stage),
            Some(lost) => Err(Refused::new(FAILED, lost)),
        }
    }

    fn launch(&self, stage: &Arc<Stage>, ready: u32, workers: u32) -> Launch {
        launch(&self.test.program, stage, &self.state, ready, workers)
    }

    /// Conducts the run of a call; returns the reason why its measurements are incomplete, if a
    /// worker was lost.
    fn conduct(
        &mut self,
        plan: &Plan,
        users: &Users,
        phase: Phase,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<String>, Refused> {
        let commands = self.commands.clone();
        let mut listener = self.listener(phase, watcher);
        let setup = Setup::of(plan);
        let conducted = loadline_runner::conduct(&setup, users, &commands, &mut [&mut listener]);
        let conducted = conducted.map_err(|error| Refused::new(FAILED, error))?;
        Ok(conducted.trouble.map(|trouble| trouble.to_string()))
    }

    /// Conducts the run of the load up to its end.
    fn measure(
        &mut self,
        plan: &Plan,
        users: &Users,
        watcher: &mut dyn Watcher,
    ) -> Result<MeasuredRun, Refused> {
        let commands = self.commands.clone();
        let mut others = std::mem::take(&mut self.observers);
        let mut listener = self.listener(Phase::Load, watcher);
        let watch = Watch {
            targets: Vec::new(),
            find_target: false,
        };
        let setup = Setup {
            watch: Some(&watch),
            ..Setup::of(plan)
        };
        let mut observers = beside(&mut listener, &mut others);
        let measured = loadline_runner::measure(&setup, users, &commands, &mut observers);
        listener.over();
        self.observers = others;
        measured.map_err(|error| Refused::new(FAILED, error))
    }

    /// Has the load reported, with what was measured before and after it, and the failure of the
    /// script.
    fn conclude_load(&mut self, failure: Option<&Refused>) {
        let Some((mut measured, users)) = self.load.take() else {
            return;
        };
        measured.add_outside(&self.running.outside());
        if let Some(error) = self.error_of_script(failure) {
            measured.threw(error);
        }
        let mut judged = Judged(&mut self.verdict);
        let mut observers = beside(&mut judged, &mut self.observers);
        let concluded = measured.conclude(&users, &mut observers);
        self.lost = concluded.trouble.map(|trouble| trouble.to_string());
    }

    /// Returns the reason why the script ended its test, if it did: by itself, or by this failure.
    fn error_of_script(&self, failure: Option<&Refused>) -> Option<String> {
        match self.interrupt.reason() {
            Some(Reason::Script(message)) => Some(message),
            Some(Reason::Failure) | None => failure.map(Refused::first_line),
            Some(Reason::Signal(_) | Reason::Thresholds { .. } | Reason::Requested) => None,
        }
    }

    fn listener<'b>(&'b mut self, phase: Phase, watcher: &'b mut dyn Watcher) -> Listener<'b> {
        Listener {
            running: &self.running,
            program: &self.test.program,
            thresholds: &self.measures.thresholds,
            state: &self.state,
            stages: &self.stages,
            interrupt: self.interrupt,
            ready: needs(&self.test.options.scenarios).ready_vus,
            phase,
            clocks: &mut self.clocks,
            watcher,
        }
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            state: &self.state,
            stages: &self.stages,
            running: &self.running,
            load_began: self.clocks.load_began,
            load_ended: self.clocks.load_ended,
        }
    }

    /// Returns the reason why the exit code is not 0. An early end comes first, then a lost worker,
    /// a refusal, crossed thresholds, and a test marked as failed.
    fn why_ended(&self, refused: Option<Refused>, outcomes: &[Outcome]) -> Option<Refused> {
        let reason = self.interrupt.reason().and_then(|reason| match reason {
            Reason::Failure => None,
            Reason::Signal(name) => Some(Refused::new(
                INTERRUPTED,
                format!("test run was aborted because k6 received a '{name}' signal"),
            )),
            Reason::Script(message) => Some(Refused::new(ABORTED, message)),
            Reason::Requested => Some(Refused::new(STOPPED, "test run stopped from REST API")),
            Reason::Thresholds { message, .. } => Some(Refused::new(THRESHOLDS_CROSSED, message)),
        });
        let is_crossed = || crossed(outcomes).map(|text| Refused::new(THRESHOLDS_CROSSED, text));
        let is_failed = || {
            let is_failed = self.state.is_failed();
            is_failed.then(|| Refused::new(MARKED_FAILED, "test run was marked as failed"))
        };
        let lost = self.lost.as_ref().map(|lost| {
            let lacks = "what it did from there on is not in the summary";
            Refused::new(FAILED, lost).with_hint(lacks)
        });
        let refused = reason.or(lost).or(refused);
        refused.or_else(is_crossed).or_else(is_failed)
    }
}

/// Returns the observers of the load: the test's own, and the others.
fn beside<'a>(
    own: &'a mut dyn Observer,
    others: &'a mut [Box<dyn Observer>],
) -> Vec<&'a mut dyn Observer> {
    let mut observers: Vec<&mut dyn Observer> = vec![own];
    let others = others.iter_mut();
    observers.extend(others.map(|one| -> &mut dyn Observer { one.as_mut() }));
    observers
}

/// Returns the function that ends a test when its script does.
fn ending_by(interrupt: Interrupt) -> Box<dyn Fn(Abort) + Send + Sync> {
    Box::new(move |abort| {
        interrupt.end(match abort {
            Abort::Requested(message) => Reason::Script(message),
            Abort::Failed => Reason::Failure,
        });
    })
}

/// Converts a scenario to the form that its users see.
fn stage(scenario: &loadline_k6_options::Scenario) -> Arc<Stage> {
    use loadline_k6_options::Executor;
    let executor = &scenario.executor;
    let iterations = match executor {
        Executor::SharedIterations { iterations, .. } => Some(*iterations),
        Executor::PerVuIterations {
            vus, iterations, ..
        } => Some(iterations.saturating_mul(u64::from(*vus))),
        Executor::ConstantVus { .. }
        | Executor::RampingVus { .. }
        | Executor::ConstantArrivalRate { .. }
        | Executor::RampingArrivalRate { .. }
        | Executor::ExternallyControlled { .. } => None,
    };
    let mut seen = Scenario::new(&scenario.name, executor.name());
    seen.env.clone_from(&scenario.env);
    seen.tags.clone_from(&scenario.tags);
    seen.length = (executor.length(), iterations);
    seen.most_users = executor.max_vus();
    seen.has_arrivals = matches!(
        executor,
        loadline_k6_options::Executor::ConstantArrivalRate { .. }
            | loadline_k6_options::Executor::RampingArrivalRate { .. }
    );
    Arc::new(Stage::new(&scenario.exec, StageKind::Scenario(seen)))
}

fn timed_out(function: &str, within: Duration, code: u8) -> Refused {
    let seconds = within.as_secs_f64();
    Refused::new(
        code,
        format!("{function}() execution timed out after {seconds:.0} seconds"),
    )
}

fn refused_by(failure: Failure) -> Refused {
    match failure {
        Failure::Threw(text) => Refused::thrown(text),
        Failure::Rejected(text) => Refused::new(FAILED, format!("{text}\n")),
        Failure::NotLoaded(text) => Refused::new(SCRIPT_EXCEPTION, text),
        other @ (Failure::Options(_)
        | Failure::Aborted(_)
        | Failure::SetupData(_)
        | Failure::SummaryFiles(_)
        | Failure::Memory(_)) => Refused::new(FAILED, other),
    }
}

/// The users of all scenarios.
pub(super) struct Users {
    pub(super) launches: Vec<Launch>,
    pub(super) recording: Arc<RecorderSetup>,
    /// The users in other processes, if the plan has them.
    pub(super) elsewhere: Option<Elsewhere>,
    /// The test and the thresholds that are judged at the end of the load, if they are.
    pub(super) judged: Option<(Arc<Running>, Thresholds)>,
}

impl Workload for Users {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let Some(elsewhere) = &self.elsewhere else {
            // What is called once is called here, whoever has the load.
            return Ok(Box::new(Run::launch(
                plan,
                interests.detail(),
                &self.launches,
            )?));
        };
        let job = || Ok(elsewhere.job.clone());
        let tallies = Measured::codec(&self.recording);
        start_scenarios(plan, interests, &self.launches, job, tallies)
    }

    fn lose(&self, workers: &Range<u32>) {
        if let Some((running, _)) = &self.judged {
            running.state.lose_users_of(workers);
        }
    }

    fn declared(&self) -> Vec<DeclaredCheck> {
        let Some((running, thresholds)) = &self.judged else {
            return Vec::new();
        };
        let elapsed = running.state.execution.elapsed();
        let outcomes = thresholds.conclude(&running.totals(), elapsed.as_nanos() as u64);
        let mark = running.state.is_failed().then(mark_of_failure);
        outcomes
            .into_iter()
            .filter_map(declared)
            .chain(mark)
            .collect()
    }
}

/// Returns the check of the run that a script has failed by marking its test as failed.
fn mark_of_failure() -> DeclaredCheck {
    DeclaredCheck {
        text: "exec.test.fail(): value==0".to_owned(),
        holds: false,
        actual: Some(1.0),
        bound: 0.0,
        samples: 1,
    }
}

/// Converts a threshold to a check of the run; `None` if its bound is not a finite number.
fn declared(outcome: Outcome) -> Option<DeclaredCheck> {
    let is_finite = |number: &f64| number.is_finite();
    Some(DeclaredCheck {
        text: outcome.condition(),
        holds: outcome.is_ok,
        actual: outcome.value.filter(is_finite),
        bound: Some(outcome.bound).filter(is_finite)?,
        samples: outcome.samples,
    })
}
