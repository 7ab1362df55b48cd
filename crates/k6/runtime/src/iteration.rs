//! The jobs of a virtual user in its initialised runtime: iterations, `setup`, `teardown`, one
//! after the other.

use crate::event_loop::{drain, settle};
use crate::exception::caught;
use crate::program::Failure;
use crate::realm::{inside, thrown};
use crate::run::{Level, RunState, Scenario, Stage, StageKind, Summary};
use crate::summary::files_of;
use crate::vu::Vu;
use loadline_engine::Requester;
use loadline_k6_metrics::{MetricId, builtin};
use loadline_reactor::Kernel;
use rquickjs::{Ctx, Function, Object, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Hands jobs to a virtual user, and holds their completion.
#[derive(Default)]
pub(crate) struct JobSlot {
    job: RefCell<Option<Job>>,
    /// True if there is no job, and the script is ready for the next one.
    is_idle: Cell<bool>,
    failure: RefCell<Option<Failure>>,
}

/// A job of a virtual user.
pub(crate) struct Job {
    /// The function to call, and its purpose.
    pub(crate) stage: Arc<Stage>,
    /// The requester for the job.
    pub(crate) requester: Requester<Kernel>,
    /// The time from the intended start to the beginning, if there is an intended start.
    pub(crate) delay: Option<Duration>,
    /// The number of the iteration in its scenario, over all users of the test; 0 for a function
    /// that is called once.
    pub(crate) number: u64,
}

impl JobSlot {
    /// Gives the user a job.
    pub(crate) fn give(&self, job: Job) {
        self.is_idle.set(false);
        self.job.replace(Some(job));
    }

    /// True if the user has no job.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle.get()
    }

    /// Takes the failure of the user's initialisation, if there is one.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        self.failure.borrow_mut().take()
    }
}

/// Initialises the script and runs the given jobs, until the fiber is cancelled while it has none.
/// Has to be called on the user's fiber.
pub(crate) fn serve(vu: &Rc<Vu>, slot: &Rc<JobSlot>) {
    let at = Rc::clone(slot);
    let served = inside(vu, move |ctx, vu, main| {
        let mut exports = Exports { main, last: None };
        if vu.shared().is_none() {
            ctx.run_gc();
        }
        vu.control.give_back();
        let mut has_run = false;
        loop {
            at.is_idle.set(true);
            vu.control.suspend();
            match at.job.take() {
                Some(job) => {
                    run(ctx, vu, &mut exports, job);
                    // The first job uses more of the stack than later ones: it creates objects that
                    // they reuse.
                    if !std::mem::replace(&mut has_run, true) {
                        vu.control.give_back();
                    }
                }
                None if vu.control.is_cancelled() => return Ok(()),
                None => {}
            }
        }
    });
    slot.failure.replace(served.err());
    slot.is_idle.set(true);
}

/// The exports of the main module.
struct Exports<'a, 'js> {
    main: &'a Object<'js>,
    /// The name of the last called function, and the function: most users call no other one.
    last: Option<(String, Function<'js>)>,
}

impl<'js> Exports<'_, 'js> {
    fn function(&mut self, name: &str) -> rquickjs::Result<Function<'js>> {
        if let Some((known, function)) = &self.last
            && known == name
        {
            return Ok(function.clone());
        }
        let function: Function<'js> = self.main.get(name)?;
        self.last = Some((name.to_owned(), function.clone()));
        Ok(function)
    }
}

fn run<'js>(ctx: &Ctx<'js>, vu: &Vu, exports: &mut Exports<'_, 'js>, job: Job) {
    let Some(state) = vu.run.clone() else {
        return;
    };
    let local_ips = state.options.local_ips.as_ref();
    if let Some(local) = local_ips.and_then(|ips| ips.of_user(vu.id)) {
        job.requester.leave_from(Some(local));
    }
    // The bytes of the user's connections are counted from the first one on.
    job.requester.encrypted_traffic();
    vu.send_through(Some(job.requester));
    begin(ctx, vu, &job.stage);
    vu.activity.borrow_mut().bytes = (0, 0);
    match &job.stage.kind {
        StageKind::Scenario(scenario) => {
            vu.activity.borrow_mut().iteration_in_test = job.number;
            iterate(ctx, vu, exports, &state, &job.stage, scenario);
            note_delay(vu, job.delay);
        }
        StageKind::Setup => {
            set_up(ctx, vu, exports, &state, &job.stage);
            note_data(vu);
        }
        StageKind::Teardown => {
            tear_down(ctx, vu, exports, &state, &job.stage);
            note_data(vu);
        }
        StageKind::Summary(summary) => {
            if let Err(failure) = summarise(ctx, vu, exports, &job.stage, summary) {
                end_with(vu, &state, failure);
            }
        }
    }
    end(vu);
}

/// Sets the stage of everything that follows.
fn begin(ctx: &Ctx<'_>, vu: &Vu, stage: &Arc<Stage>) {
    let known = vu.activity.borrow().stage.clone();
    if !known.is_some_and(|one| Arc::ptr_eq(&one, stage)) {
        vu.retag(|activity| {
            activity.stage = Some(Arc::clone(stage));
            activity.iteration_in_scenario = 0;
            activity.tags.clear();
            activity.metadata.clear();
        });
        // A failure shows where the script reads `__ENV`.
        let _ = crate::api::globals::forget_env(ctx, vu);
    }
}

/// Cleans up after a job.
fn end(vu: &Vu) {
    stop_timers(vu);
    vu.operations.clear();
    vu.take_rejection();
    vu.send_through(None);
    leave_groups(vu);
}

/// Logs the timers of the script that were stopped before they ended.
fn stop_timers(vu: &Vu) {
    if !vu.operations.has_timers() {
        return;
    }
    for (number, function) in vu.operations.take_timers() {
        let text =
            format!("{function} {number} was stopped because the VU iteration was interrupted");
        vu.program.log(Level::Warning, &text, &[]);
    }
}

/// Leaves the groups that an exception left open.
fn leave_groups(vu: &Vu) {
    if !vu.activity.borrow().groups.is_empty() {
        vu.retag(|activity| activity.groups.clear());
    }
}

/// Returns the argument of functions: the data of `setup()`, parsed anew for each user.
fn data<'js>(ctx: &Ctx<'js>, vu: &Vu, state: &RunState) -> rquickjs::Result<Value<'js>> {
    let Some(json) = state.setup_data.json() else {
        return Ok(Value::new_undefined(ctx.clone()));
    };
    let hidden = vu.hidden(ctx)?;
    let known: Value<'js> = hidden.get("data")?;
    if !known.is_undefined() {
        return Ok(known);
    }
    let data = ctx.json_parse(&*json)?;
    hidden.set("data", data.clone())?;
    Ok(data)
}

/// Calls a function of the script, and waits for everything that it leads to.
fn call<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    exports: &mut Exports<'_, 'js>,
    name: &str,
    data: Option<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let function = exports.function(name)?;
    let given: Value<'js> = match data {
        Some(data) => function.call((data,))?,
        None => function.call(())?,
    };
    let Some(promise) = given.as_promise() else {
        drain(ctx, vu)?;
        return Ok(given);
    };
    let undefined = Value::new_undefined(ctx.clone());
    match settle(ctx, vu, promise) {
        // The rejection is reported as one that no code handled.
        Err(_) if vu.has_rejection() => {
            ctx.catch();
            Ok(undefined)
        }
        settled => Ok(settled?.unwrap_or(undefined)),
    }
}

fn iterate<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    exports: &mut Exports<'_, 'js>,
    state: &RunState,
    stage: &Stage,
    scenario: &Scenario,
) {
    scenario.note_begin();
    if state.options.has_optional_tag("iter") {
        vu.retag(|_| ());
    }
    if !state.options.http.keeps_cookies {
        vu.http.begin_iteration();
    }
    state.enter(scenario);
    let began = Instant::now();
    let called = data(ctx, vu, state)
        .and_then(|data| call(ctx, vu, exports, &stage.function, Some(data)).map(drop));
    state.leave(scenario);
    if state.options.http.closes_connections
        && let Some(requester) = vu.requester()
    {
        requester.close_idle();
    }
    {
        let mut activity = vu.activity.borrow_mut();
        activity.iteration += 1;
        activity.iteration_in_scenario += 1;
    }
    leave_groups(vu);
    stop_timers(vu);
    report_error(ctx, vu, scenario, called);
    conclude(vu, state, scenario, began.elapsed());
}

/// Logs and counts an exception of an iteration, or a rejection that no code handled.
// Within its caller the stack of each user would have its frame while the script runs.
#[inline(never)]
fn report_error(ctx: &Ctx<'_>, vu: &Vu, scenario: &Scenario, called: rquickjs::Result<()>) {
    let thrown = called
        .err()
        .map(|error| caught(ctx, &vu.program.store, error));
    if vu.control.is_cancelled() {
        return;
    }
    let (has_thrown, rejected) = (thrown.is_some(), vu.take_rejected());
    let Some(thrown) = thrown.or(rejected) else {
        return;
    };
    let fields = [
        ("executor", scenario.executor.as_str()),
        ("scenario", scenario.name.as_str()),
        ("source", "stacktrace"),
    ];
    let fields = if has_thrown {
        &fields[..]
    } else {
        &fields[..2]
    };
    let text = format!("{}\n", thrown.text());
    vu.program.log(Level::Error, &text, fields);
    let secrets = &*vu.program.secrets;
    vu.worker.count_exception(&thrown.hiding(secrets));
}

/// Records how late an iteration began, unless it was cancelled.
fn note_delay(vu: &Vu, delay: Option<Duration>) {
    if let Some(delay) = delay.filter(|_| !vu.control.is_cancelled()) {
        let tags = vu.tags(&[]);
        let delay_ms = delay.as_secs_f64() * 1e3;
        vu.worker.add(builtin::ITERATION_DELAY, delay_ms, &tags);
    }
}

/// Records an iteration, as complete or as interrupted.
fn conclude(vu: &Vu, state: &RunState, scenario: &Scenario, lasted: Duration) {
    let worker = &vu.worker;
    let tags = vu.tags(&[]);
    let [sent, received] = data_of(vu);
    let duration = (builtin::ITERATION_DURATION, lasted.as_secs_f64() * 1e3);
    let count = (builtin::ITERATIONS, 1.0);
    let is_cut_off = vu.control.is_cancelled();
    // An iteration that ends the test itself is measured all the same, as in k6.
    if is_cut_off && vu.aborted().is_none() {
        worker.add_all(&[sent, received], &tags);
    } else {
        worker.add_all(&[sent, received, duration, count], &tags);
    }
    if is_cut_off {
        state.interrupt();
        return;
    }
    state.complete(scenario);
    let rest = state.options.min_iteration.saturating_sub(lasted);
    if !rest.is_zero() {
        // Cancelled or not, the iteration is over.
        let _ = vu.sleep(rest);
    }
}

/// Records the bytes of a function that is called once, however it ended.
fn note_data(vu: &Vu) {
    leave_groups(vu);
    vu.worker.add_all(&data_of(vu), &vu.tags(&[]));
}

/// Returns the bytes that were sent and received, as values of their metrics.
fn data_of(vu: &Vu) -> [(MetricId, f64); 2] {
    let (mut sent, mut received) = vu.activity.borrow().bytes;
    if let Some(requester) = vu.requester() {
        let encrypted = requester.encrypted_traffic().take();
        sent += encrypted.0;
        received += encrypted.1;
    }
    let sent = (builtin::DATA_SENT, sent as f64);
    [sent, (builtin::DATA_RECEIVED, received as f64)]
}

fn set_up<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    exports: &mut Exports<'_, 'js>,
    state: &RunState,
    stage: &Stage,
) {
    let given = match call(ctx, vu, exports, &stage.function, None) {
        Ok(given) => given,
        Err(error) => return fail(ctx, vu, state, error),
    };
    if let Some(reason) = vu.take_rejection() {
        return state.fail(Failure::Rejected(reason));
    }
    if vu.control.is_cancelled() {
        return;
    }
    stage.is_done.store(true, Ordering::Relaxed);
    match crate::api::globals::go_json(ctx, given) {
        Ok(json) => state.setup_data.set(json),
        Err(problem) => state.fail(Failure::SetupData(problem)),
    }
}

fn tear_down<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    exports: &mut Exports<'_, 'js>,
    state: &RunState,
    stage: &Stage,
) {
    let called = data(ctx, vu, state)
        .and_then(|data| call(ctx, vu, exports, &stage.function, Some(data)).map(drop));
    match (called, vu.take_rejection()) {
        (Err(error), _) => fail(ctx, vu, state, error),
        (Ok(()), Some(reason)) => state.fail(Failure::Rejected(reason)),
        (Ok(()), None) => stage.is_done.store(true, Ordering::Relaxed),
    }
}

fn summarise<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    exports: &mut Exports<'_, 'js>,
    stage: &Stage,
    summary: &Summary,
) -> Result<(), Failure> {
    let called = ctx
        .json_parse(&*summary.data)
        .and_then(|data| call(ctx, vu, exports, &stage.function, Some(data)));
    let given = called.map_err(|error| thrown(ctx, vu, error))?;
    if let Some(reason) = vu.take_rejection() {
        return Err(Failure::Rejected(reason));
    }
    if let Some(files) = files_of(ctx, given)? {
        // `handleSummary()` is called once.
        let _ = summary.files.set(files);
    }
    stage.is_done.store(true, Ordering::Relaxed);
    Ok(())
}

/// Ends the run with a thrown error, unless the error results from the end of the run.
fn fail(ctx: &Ctx<'_>, vu: &Vu, state: &RunState, error: rquickjs::Error) {
    end_with(vu, state, thrown(ctx, vu, error));
}

fn end_with(vu: &Vu, state: &RunState, failure: Failure) {
    if !vu.control.is_cancelled() {
        state.fail(failure);
    }
}

impl std::fmt::Debug for JobSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobSlot")
            .field("is_idle", &self.is_idle)
            .finish_non_exhaustive()
    }
}
