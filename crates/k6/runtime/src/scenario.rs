//! Virtual users as users of the engine.
//!
//! A worker has a pool of virtual users. A user of the engine takes one for its first iteration and
//! returns it when it ends, so that consecutive scenarios share virtual users.

use crate::fiber::Fiber;
use crate::iteration::{Job, JobSlot, serve};
use crate::program::Program;
use crate::realm::memory;
use crate::run::{RunState, Stage};
use crate::samples::{Measured, SampleTags, Worker};
use crate::vu::Vu;
use loadline_engine::{AnyTally, Behaviour, Iteration, Launch, Scenario};
use loadline_k6_metrics::{Portion, builtin};
use loadline_reactor::Kernel;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Returns the launch of a stage's users on each worker. Each of `workers` initialises its share of
/// `ready` virtual users before the load; further ones are initialised when they are needed.
pub fn launch(
    program: &Arc<Program>,
    stage: &Arc<Stage>,
    run: &Arc<RunState>,
    ready: u32,
    workers: u32,
) -> Launch {
    let (program, stage, run) = (Arc::clone(program), Arc::clone(stage), Arc::clone(run));
    Launch::scenario(move |worker| {
        let pool = Pool::of_thread(&program, &run, worker, stage.scenario().is_some());
        let share = ready / workers + u32::from(worker < ready % workers);
        pool.prepare(share as usize);
        Users {
            numbers: Rc::new(Numbers {
                scenario: run.part().map_or(0, |part| part.place_of(&stage)),
                begun: Cell::new(0),
            }),
            pool,
            stage: Arc::clone(&stage),
        }
    })
}

/// Returns the record of a stage's iterations that were never begun, if their number is given: they
/// count as dropped. To be called when the load of the stage has ended by itself.
pub fn unbegun(stage: &Stage, run: &RunState) -> Option<Portion> {
    let scenario = stage.scenario()?;
    let begun = scenario.begun.load(Relaxed);
    let count = scenario
        .length
        .1?
        .checked_sub(begun)
        .filter(|count| *count > 0)?;
    let worker = Worker::new(Arc::clone(&run.recording));
    drop_iterations(&worker, stage, run, count);
    worker.take()
}

/// Counts iterations with the tags of the test and of the scenario, which replace the former.
fn drop_iterations(worker: &Worker, stage: &Stage, run: &RunState, count: u64) {
    let mut tags = run.options.tags.clone();
    tags.extend(stage.tags());
    let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let tags = SampleTags::alone(&tags);
    worker.add(builtin::DROPPED_ITERATIONS, count as f64, &tags);
}

thread_local! {
    /// The pool of this thread, while its run lasts.
    static POOL: RefCell<Weak<Pool>> = const { RefCell::new(Weak::new()) };
}

/// The idle virtual users of a worker.
struct Pool {
    program: Arc<Program>,
    run: Arc<RunState>,
    worker: Rc<Worker>,
    /// The number of the worker in the test, from 0.
    number: u32,
    /// The number of users that the worker has created.
    created: Cell<u32>,
    /// True if the users have numbers, because they are users of the load.
    is_numbered: bool,
    /// The idle users, the one that is idle for the longest time first: users of the engine that
    /// end early do not leave theirs to those that begin, while others have never run.
    idle: RefCell<VecDeque<Driver>>,
}

impl Pool {
    fn of_thread(
        program: &Arc<Program>,
        run: &Arc<RunState>,
        number: u32,
        is_numbered: bool,
    ) -> Rc<Self> {
        let known = POOL.with_borrow(Weak::upgrade);
        if let Some(pool) = known.filter(|pool| Arc::ptr_eq(&pool.run, run)) {
            return pool;
        }
        let recording = Arc::clone(&run.recording);
        let pool = Rc::new(Pool {
            program: Arc::clone(program),
            run: Arc::clone(run),
            worker: Worker::new(recording),
            number,
            created: Cell::new(0),
            is_numbered,
            idle: RefCell::default(),
        });
        POOL.replace(Rc::downgrade(&pool));
        pool
    }

    /// Initialises users until this many are idle.
    fn prepare(&self, number: usize) {
        while self.idle.borrow().len() < number {
            let Some(driver) = self.make() else {
                return;
            };
            self.idle.borrow_mut().push_back(driver);
        }
    }

    /// Records iterations that no user was free to begin. Users are too few if there are no more of
    /// them.
    fn dropped(&self, stage: &Stage, count: u64, grows: bool) {
        drop_iterations(&self.worker, stage, &self.run, count);
        if grows {
            return;
        }
        match (stage.scenario(), self.run.part()) {
            (Some(scenario), None) => scenario.warn_of_lack(&self.program),
            // The test warns once, whichever processes lack users.
            (Some(scenario), Some(_)) => scenario.lacks_users.store(true, Relaxed),
            (None, _) => {}
        }
    }

    fn take(&self) -> Option<Driver> {
        let idle = self.idle.borrow_mut().pop_front();
        idle.or_else(|| self.make())
    }

    /// Creates a user and initialises its script; `None` if that fails, which ends the run.
    fn make(&self) -> Option<Driver> {
        let vu = Vu::new(
            &self.program,
            self.next_id(),
            Some(Arc::clone(&self.run)),
            Rc::clone(&self.worker),
        );
        match Driver::new(vu) {
            Ok(driver) => {
                if self.is_numbered {
                    self.run.user_is_ready();
                }
                Some(driver)
            }
            Err(failure) => {
                self.run.fail(failure);
                None
            }
        }
    }
}

impl Pool {
    /// Returns the number of the next user; 0 outside of the load.
    fn next_id(&self) -> u32 {
        let nth = self.created.get();
        self.created.set(nth + 1);
        match self.run.part() {
            _ if !self.is_numbered => 0,
            None => self.run.execution.last_id.fetch_add(1, Relaxed) + 1,
            Some(part) => part.next_user(self.number, nth),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.run.options.ends_with_process {
            let idle = self.idle.take();
            idle.into_iter().for_each(std::mem::forget);
        }
    }
}

/// A virtual user with its fiber.
struct Driver {
    // Dropped first: the runtime ends on the fiber.
    fiber: Fiber,
    slot: Rc<JobSlot>,
    vu: Rc<Vu>,
}

impl Driver {
    fn new(vu: Rc<Vu>) -> Result<Self, crate::Failure> {
        let slot = Rc::new(JobSlot::default());
        let (serving, at) = (Rc::clone(&vu), Rc::clone(&slot));
        let fiber =
            Fiber::new(&vu.control, vu.clone(), move || serve(&serving, &at)).map_err(memory)?;
        let mut driver = Driver { fiber, slot, vu };
        while !driver.slot.is_idle() {
            driver.fiber.resume(Waker::noop());
        }
        match driver.slot.take_failure() {
            Some(failure) => Err(failure),
            None => Ok(driver),
        }
    }

    /// Continues the job; ready when it is done.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.fiber.resume(cx.waker());
        match self.slot.is_idle() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Cancels the job, if there is one.
    fn cut_off(&mut self) {
        if !self.slot.is_idle() {
            self.vu.control.cancel(true);
            self.fiber.resume(Waker::noop());
        }
        self.vu.control.cancel(false);
    }
}

/// The users of a stage on one worker.
struct Users {
    pool: Rc<Pool>,
    stage: Arc<Stage>,
    numbers: Rc<Numbers>,
}

/// The source of the numbers that iterations get.
struct Numbers {
    /// The place of the scenario among those of the test.
    scenario: usize,
    /// The number of iterations that the users of the worker have begun.
    begun: Cell<u64>,
}

impl Scenario<Kernel> for Users {
    const COMPOSES: bool = true;
    const COUNTS: bool = true;
    const IS_LIVE: bool = true;
    const FINISHES_ITERATIONS: bool = true;

    type Behaviour = User;

    fn user(&mut self) -> User {
        User {
            pool: Rc::clone(&self.pool),
            stage: Arc::clone(&self.stage),
            numbers: Rc::clone(&self.numbers),
            driver: None,
        }
    }

    fn names_requests(&self) -> bool {
        true
    }

    fn backs_off(&self) -> bool {
        false
    }

    /// Returns the measurements of the users of all stages of the worker, who share a recorder.
    fn take_tally(&mut self) -> Option<AnyTally> {
        Measured::of(&self.pool.worker, &self.pool.run).map(AnyTally::new)
    }

    /// The news of this process alone: measurements belong to their interval.
    fn take_early_tally(&mut self) -> Option<AnyTally> {
        Measured::news_of(&self.pool.run).map(AnyTally::new)
    }

    fn dropped(&mut self, count: u64, grows: bool) {
        self.pool.dropped(&self.stage, count, grows);
    }
}

/// A user of the engine, with the virtual user that it has taken from the pool.
struct User {
    pool: Rc<Pool>,
    stage: Arc<Stage>,
    numbers: Rc<Numbers>,
    driver: Option<Driver>,
}

impl Behaviour<Kernel> for User {
    const IS_INTERRUPTIBLE: bool = true;

    fn times_iterations(&self) -> bool {
        true
    }

    async fn iterate(&mut self, iteration: Iteration<'_, Kernel>) {
        let is_load = self.stage.scenario().is_some();
        self.start_clock(&iteration);
        if is_load && self.pool.run.is_ending() {
            // What ends the test may be known in this process alone.
            iteration.report_tally();
            return iteration.rest().await;
        }
        let Some(driver) = self.driver.take().or_else(|| self.pool.take()) else {
            iteration.report_tally();
            return iteration.rest().await;
        };
        let (delay, number) = (self.delay(&iteration), self.next_number());
        let driver = self.driver.insert(driver);
        driver.slot.give(Job {
            stage: Arc::clone(&self.stage),
            requester: iteration.requester().clone(),
            delay,
            number,
        });
        let running = Running(driver);
        poll_fn(|cx| running.0.poll(cx)).await;
    }
}

impl User {
    /// Starts the clock of the test, if this process runs a part of it.
    fn start_clock(&self, iteration: &Iteration<'_, Kernel>) {
        let run = &self.pool.run;
        if let Some(part) = run.part() {
            let since_ns = || iteration.now_ns().saturating_sub(iteration.load_began_ns());
            let began = || Instant::now() - Duration::from_nanos(since_ns());
            part.start_clock(&run.execution, began);
        }
    }

    /// Returns the number of the next iteration in its scenario; 0 outside of one.
    fn next_number(&self) -> u64 {
        let Some(scenario) = self.stage.scenario() else {
            return 0;
        };
        let nth = self.numbers.begun.get();
        self.numbers.begun.set(nth + 1);
        let begun = scenario.begun.fetch_add(1, Relaxed);
        match self.pool.run.part() {
            Some(part) => part.next_iteration(self.numbers.scenario, self.pool.number, nth),
            None => begun,
        }
    }

    /// Returns the time from the intended start of an iteration to now, if the iteration follows a
    /// schedule of arrivals.
    fn delay(&self, iteration: &Iteration<'_, Kernel>) -> Option<Duration> {
        let has_arrivals = self.stage.has_arrivals();
        let intended_ns = iteration.intended_ns().filter(|_| has_arrivals)?;
        let delay_ns = iteration.now_ns().saturating_sub(intended_ns);
        Some(Duration::from_nanos(delay_ns))
    }
}

/// A job that is cancelled when this value is dropped.
struct Running<'a>(&'a mut Driver);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.cut_off();
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            self.pool.idle.borrow_mut().push_back(driver);
        }
    }
}
