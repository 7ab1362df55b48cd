//! A run: its threads, and what they tell, merged.
//!
//! # How a run ends
//!
//! - The duration or the last stage is over: no request is begun any more. With a drain,
//!   unfinished requests may end during that time; then they are cut off.
//! - The condition of `--until` is met, or SIGINT, SIGTERM or SIGHUP (unless ignored) comes: no
//!   request is begun any more. Requests in flight may end until the duration is over.
//! - The last of the plan's number of requests has ended: no user has a start left.
//! - One of these signals comes while connections are opened: the process ends with exit code 130
//!   and says that nothing was measured.
//! - A second signal, or a condition of `--abort-on`: the supervisors cut off requests in flight
//!   when they next look.
//! - A worker panics, or the system refuses it a resource: the other workers are cut off, what this
//!   one had recorded counts, exit code 2.
//! - A process that has some of the workers is lost: the others go on to the end, exit code 2.
//! - A worker is silent for 2 s when the run is to end: it is treated as one that panicked, because
//!   a script that loops never returns.
//!
//! What is cut off stays in flight, and arrivals that nobody took are unsent. Both are reported
//! with their ages: a run that was cut off in a stall must not look good because its worst answers
//! never came. The report is printed in each of these cases but the one in which nothing was
//! measured.

use crate::StartError;
use crate::behaviour::Scenario;
use crate::control::{Change, Handle, Order};
use crate::crew::{Crew, Readiness, WorkerReport};
use crate::event::{Detail, Event};
use crate::launch::Launch;
use crate::lost::{Attendance, WorkerFailure};
use crate::merger::Merger;
use crate::worker::Report;
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Kernel, monotonic_ns};
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// From the moment when all workers are ready to the begin of the load.
const HEAD_START_NS: u64 = 2_000_000;

/// A run that is under way.
#[derive(Debug)]
pub struct Run {
    handle: Handle,
    reports: Receiver<WorkerReport>,
    threads: Vec<JoinHandle<()>>,
    merger: Merger,
    /// How many changes of the load were told.
    changes: usize,
    attendance: Attendance,
    begin_ns: u64,
    /// When the load is over, if its time ends it.
    over: Option<Instant>,
    ready: Readiness,
}

impl Run {
    /// Prepares a plan's run, brings its connections up and begins the load. `detail` asks for
    /// events beside intervals. Blocks until the load has begun.
    pub fn start(plan: Plan, detail: Detail) -> Result<Run, StartError> {
        let launches = Launch::of_plan(&plan);
        Run::launch(plan, detail, &launches)
    }

    /// As [`start`](Run::start), with users that do what a scenario makes of them; the plan's
    /// requests say only which endpoints there are. `scenario` is called once on each worker's
    /// own thread, with the worker's number from 0.
    pub fn start_scenario<S: Scenario<Kernel>>(
        plan: Plan,
        detail: Detail,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        Run::launch(plan, detail, &[Launch::scenario(scenario)])
    }

    /// As [`start`](Run::start), with a launch for each scenario of the plan; with one where it
    /// has none.
    ///
    /// # Panics
    /// If there are fewer launches than scenarios.
    pub fn launch(plan: Plan, detail: Detail, launches: &[Launch]) -> Result<Run, StartError> {
        let mut crew = Crew::launch(&plan, detail, launches, 0..plan.threads)?;
        crew.check_connections()?;
        let begin_ns = monotonic_ns() + HEAD_START_NS;
        crew.begin(begin_ns);
        let Crew {
            handle,
            reports,
            threads,
            ready,
            ..
        } = crew;
        let run = Run::told(&plan, handle, reports, ready, begin_ns);
        Ok(Run { threads, ..run })
    }

    /// A run whose workers are elsewhere, and begin at this instant: nanoseconds of
    /// `CLOCK_MONOTONIC`. What they tell comes through the inlet.
    pub fn elsewhere(plan: &Plan, ready: Readiness, begin_ns: u64) -> (Run, Inlet) {
        let handle = Handle::of_workers(plan.threads);
        handle.begin(begin_ns, ready.length_ns);
        let (send, reports) = channel();
        let inlet = Inlet {
            send,
            handle: handle.clone(),
        };
        let run = Run {
            attendance: Attendance::elsewhere(plan.threads as usize),
            ..Run::told(plan, handle, reports, ready, begin_ns)
        };
        (run, inlet)
    }

    fn told(
        plan: &Plan,
        handle: Handle,
        reports: Receiver<WorkerReport>,
        ready: Readiness,
        begin_ns: u64,
    ) -> Run {
        Run {
            handle,
            reports,
            threads: Vec::new(),
            merger: Merger::new(plan),
            changes: 0,
            attendance: Attendance::new(plan.threads as usize),
            begin_ns,
            over: end(begin_ns, ready.length_ns),
            ready,
        }
    }

    /// When the load begins: nanoseconds of `CLOCK_MONOTONIC`.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Where the requests go.
    pub fn addresses(&self) -> &[Address] {
        &self.ready.addresses
    }

    /// Addresses to which nothing goes because they did not answer at the start, while others of
    /// the same name did.
    pub fn left_out(&self) -> &[Address] {
        &self.ready.left_out
    }

    /// The version of HTTP in which requests are sent; never [`HttpVersion::Auto`].
    pub fn http(&self) -> HttpVersion {
        self.ready.http
    }

    /// What stops the run, from any thread.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Why workers did not come to the end of the run, where any did not: each reason once, in the
    /// order in which they were lost.
    pub fn failures(&self) -> &[WorkerFailure] {
        self.merger.failures()
    }

    /// The next event; `None` if none came in this time. After [`Event::Ended`] nothing comes.
    ///
    /// What a worker that is lost had told until then counts, and [`failures`](Self::failures)
    /// tells why it was lost. A lost thread ends the run: the others are told to end. Workers that
    /// are [elsewhere](Self::elsewhere) go on to its end.
    pub fn next_event(&mut self, timeout: Duration) -> Option<Event> {
        loop {
            if let Some(change) = self.handle.changes_since(self.changes).first() {
                self.changes += 1;
                return Some(Event::Changed(*change));
            }
            if let Some(event) = self.merger.event() {
                return Some(event);
            }
            let since = Instant::now();
            let received = self.reports.recv_timeout(timeout);
            self.miss_the_silent(since.elapsed().min(timeout));
            match received {
                Ok(told) => {
                    if let Some(event) = self.take(told) {
                        return Some(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return self.merger.event(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.join();
                    return self.merger.event();
                }
            }
        }
    }

    /// Takes what a worker told, or gives it back if it is an event by itself.
    fn take(&mut self, told: WorkerReport) -> Option<Event> {
        let WorkerReport {
            worker,
            scenario,
            report,
        } = told;
        match report {
            Report::Log(exchanges) => Some(Event::Log { worker, exchanges }),
            // What comes from a worker that was given up comes too late, as its intervals do.
            Report::Tally(tally) => (!self.merger.is_done(worker)).then_some(Event::Tally(tally)),
            report => {
                self.merger.take(worker, scenario, report);
                None
            }
        }
    }

    /// Gives up workers that say nothing although the run is to end.
    fn miss_the_silent(&mut self, waited: Duration) {
        let is_over = self.over.is_some_and(|over| Instant::now() >= over);
        if !is_over && self.handle.order() == Order::Run {
            return self.attendance.excuse();
        }
        for worker in self.attendance.missing(&self.handle, waited) {
            if !self.merger.is_done(worker) {
                self.handle.abort();
                self.merger.lose(worker, &WorkerFailure::Stuck { worker });
            }
        }
    }

    /// All threads have told their last.
    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // What went wrong in a thread was told by it.
            let _ = thread.join();
        }
    }
}

/// Where workers that are elsewhere tell their run what they recorded, and hear how it goes on.
#[derive(Clone, Debug)]
pub struct Inlet {
    send: Sender<WorkerReport>,
    handle: Handle,
}

impl Inlet {
    /// A worker told this.
    pub fn tell(&self, report: WorkerReport) {
        // A run that is gone wants nothing any more.
        let _ = self.send.send(report);
    }

    /// A worker has looked at its orders so often.
    pub fn beat(&self, worker: usize, count: u64) {
        self.handle.hear_beats(worker, count);
    }

    /// These workers are lost; the others go on.
    pub fn lose(&self, workers: Range<u32>, failure: &WorkerFailure) {
        for worker in workers {
            self.tell(WorkerReport {
                worker: worker as usize,
                scenario: 0,
                report: Report::Lost(failure.clone()),
            });
        }
    }

    /// What stops the run or changes its load: workers of this process look at it themselves.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// How the run is to go on.
    pub fn order(&self) -> Order {
        self.handle.order()
    }

    /// The changes of the load behind the first this many.
    pub fn changes_since(&self, heard: usize) -> Vec<Change> {
        self.handle.changes_since(heard)
    }
}

/// When a load that begins at this instant and lasts so long is over, if its time ends it.
fn end(begin_ns: u64, length_ns: u64) -> Option<Instant> {
    let length_ns = Some(length_ns).filter(|length_ns| *length_ns < u64::MAX)?;
    let until_begin_ns = begin_ns.saturating_sub(monotonic_ns());
    let left_ns = length_ns.saturating_add(until_begin_ns);
    Instant::now().checked_add(Duration::from_nanos(left_ns))
}
