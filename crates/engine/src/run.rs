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
//! - A worker is silent for 2 s when the run is to end: it is treated as one that panicked, because
//!   a script that loops never returns.
//!
//! What is cut off stays in flight, and arrivals that nobody took are unsent. Both are reported
//! with their ages: a run that was cut off in a stall must not look good because its worst answers
//! never came. The report is printed in each of these cases but the one in which nothing was
//! measured.

use crate::StartError;
use crate::behaviour::Scenario;
use crate::control::{Handle, Order};
use crate::ease::Ease;
use crate::event::{Detail, EndReason, Event};
use crate::heard_changes::HeardChanges;
use crate::lost::{Attendance, WorkerFailure};
use crate::pacer::{Planned, end_ns};
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::worker::{self, Done, Heard, Report};

use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Host, Kernel};
use loadline_record::{Snapshot, Unfinished};
use loadline_schedule::Stripe;
use loadline_transport::DialError;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// From the moment when all workers are ready to the begin of the load.
const HEAD_START_NS: u64 = 2_000_000;

/// A run that is under way.
#[derive(Debug)]
pub struct Run {
    handle: Handle,
    reports: Receiver<(usize, Report)>,
    threads: Vec<JoinHandle<()>>,
    merger: Merger,
    /// How many changes of the load were told.
    changes: usize,
    attendance: Attendance,
    begin_ns: u64,
    /// When the load is over, if its time ends it.
    over: Option<Instant>,
    addresses: Vec<Address>,
    left_out: Vec<Address>,
    http: HttpVersion,
}

impl Run {
    /// Prepares a plan's run, brings its connections up and begins the load. `detail` asks for
    /// events beside intervals. Blocks until the load has begun.
    pub fn start(plan: Plan, detail: Detail) -> Result<Run, StartError> {
        let prepared = Arc::new(Prepared::new(plan, detail, false)?);
        let dealt = Arc::clone(&prepared);
        let of = prepared.plan.threads;
        Run::start_prepared(&prepared, move |worker| {
            Replay::new(Arc::clone(&dealt), worker, of)
        })
    }

    /// As [`start`](Run::start), with users that do what a scenario makes of them; the plan's
    /// requests say only which endpoints there are. `scenario` is called once on each worker's
    /// own thread, with the worker's number from 0.
    pub fn start_scenario<S: Scenario<Kernel>>(
        plan: Plan,
        detail: Detail,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        let prepared = Prepared::new(plan, detail, S::COMPOSES)?;
        Run::start_prepared(&Arc::new(prepared), scenario)
    }

    fn start_prepared<S: Scenario<Kernel>>(
        prepared: &Arc<Prepared>,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        let scenario = Arc::new(scenario);
        let workers = prepared.plan.threads;
        let handle = Handle::of_workers(workers);
        let (send, reports) = channel();
        let mut starting: Vec<Starting> = Vec::new();
        for index in 0..workers {
            let send = send.clone();
            let scenario = Arc::clone(&scenario);
            starting.push(Starting::spawn(prepared, index, &handle, send, scenario)?);
        }
        drop(send);
        await_connections(&starting, &reports)?;
        let begin_ns = Kernel::new()?.now_ns() + HEAD_START_NS;
        handle.begin(begin_ns, end_ns(&prepared.plan));
        for worker in &starting {
            // A worker that is gone already has told why.
            let _ = worker.begin.send(begin_ns);
        }
        let threads = starting.into_iter().map(|worker| worker.thread).collect();
        Ok(Run {
            handle,
            reports,
            threads,
            merger: Merger::new(&prepared.plan),
            changes: 0,
            attendance: Attendance::new(workers as usize),
            begin_ns,
            over: end(&prepared.plan),
            addresses: prepared.addresses(),
            left_out: prepared.left_out.clone(),
            http: prepared.plan.connection.http,
        })
    }

    /// When the load begins: nanoseconds of `CLOCK_MONOTONIC`.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Where the requests go.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Addresses to which nothing goes because they did not answer at the start, while others of
    /// the same name did.
    pub fn left_out(&self) -> &[Address] {
        &self.left_out
    }

    /// The version of HTTP in which requests are sent; never [`HttpVersion::Auto`].
    pub fn http(&self) -> HttpVersion {
        self.http
    }

    /// What stops the run, from any thread.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Why a worker did not come to the end of the run, if one did not: the first.
    pub fn failure(&self) -> Option<&WorkerFailure> {
        self.merger.failure.as_ref()
    }

    /// The next event; `None` if none came in this time. After [`Event::Ended`] nothing comes.
    ///
    /// A worker that is lost ends the run: the others are told to end, and what it had told until
    /// then counts. [`failure`](Self::failure) tells why.
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
                Ok((worker, Report::Log(exchanges))) => {
                    return Some(Event::Log { worker, exchanges });
                }
                Ok((worker, Report::Ticks(ticks))) => return Some(Event::Ticks { worker, ticks }),
                Ok((worker, report)) => self.merger.take(worker, report),
                Err(RecvTimeoutError::Timeout) => return self.merger.event(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.join();
                    return self.merger.event();
                }
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
            if self.merger.done[worker].is_none() {
                self.handle.abort();
                let stuck = Report::Lost(WorkerFailure::Stuck { worker });
                self.merger.take(worker, stuck);
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

/// When a load that begins now is over, if its time ends it.
fn end(plan: &Plan) -> Option<Instant> {
    let length_ns = Some(end_ns(plan)).filter(|end_ns| *end_ns < u64::MAX)?;
    Instant::now().checked_add(Duration::from_nanos(
        length_ns.saturating_add(HEAD_START_NS),
    ))
}

/// A worker's thread that brings its connections up.
struct Starting {
    thread: JoinHandle<()>,
    /// How many connections came up, and what went wrong first.
    connected: Receiver<(usize, Option<DialError>)>,
    begin: Sender<u64>,
}

impl Starting {
    fn spawn<S: Scenario<Kernel>>(
        prepared: &Arc<Prepared>,
        index: u32,
        handle: &Handle,
        send: Sender<(usize, Report)>,
        scenario: Arc<impl Fn(u32) -> S + Send + Sync + 'static>,
    ) -> io::Result<Starting> {
        let (tell, connected) = channel();
        let (begin, when) = channel();
        let (prepared, own_handle) = (Arc::clone(prepared), handle.clone());
        let (last_word, handle) = (send.clone(), handle.clone());
        let body = move || {
            let stripe = Stripe {
                index,
                of: prepared.plan.threads,
            };
            // A receiver that is gone wants nothing any more.
            let send = move |report| drop(send.send((index as usize, report)));
            let scenario = scenario(index);
            let kernel = Kernel::new()?;
            let preparing =
                worker::prepare(kernel.clone(), &prepared, stripe, scenario, Box::new(send));
            let mut ready = kernel.block_on(preparing)?;
            let _ = tell.send((ready.connected(), ready.first_error.take()));
            match when.recv() {
                Ok(begin_ns) => kernel.block_on(worker::run(ready, begin_ns, &own_handle))?,
                // Another worker found nothing to talk to, so there is no run.
                Err(_) => return Ok(()),
            }
            // A user that was cut off goes, and its connections with it, when the loop looks at it.
            kernel.iterate().map(drop)
        };
        let thread = thread::Builder::new()
            .name(format!("worker-{index}"))
            .spawn(move || {
                let worker = index as usize;
                let ended = catch_unwind(AssertUnwindSafe(body));
                if let Some(failure) = WorkerFailure::of(worker, ended) {
                    handle.abort();
                    let _ = last_word.send((worker, Report::Lost(failure)));
                }
            })?;
        Ok(Starting {
            thread,
            connected,
            begin,
        })
    }
}

/// Waits until all workers have dialled; fails if connections were tried and none came up, or if a
/// worker was lost.
fn await_connections(
    starting: &[Starting],
    reports: &Receiver<(usize, Report)>,
) -> Result<(), StartError> {
    let mut connected = 0;
    let mut first_error = None;
    for worker in starting {
        let Ok((up, error)) = worker.connected.recv() else {
            // Its last word comes when its thread has been unwound; no other comes before the load.
            if let Ok((_, Report::Lost(failure))) = reports.recv() {
                return Err(failure.into());
            }
            continue;
        };
        connected += up;
        first_error = first_error.or(error);
    }
    match first_error {
        Some(error) if connected == 0 => Err(StartError::Unreachable { error }),
        _ => Ok(()),
    }
}

/// What one worker recorded in one interval.
struct Interval {
    snapshot: Box<Snapshot>,
    /// Until when the schedule was followed, in nanoseconds from the begin of the load.
    followed_ns: u64,
    /// The changes of the load that the worker heard of.
    changes: Vec<Heard>,
}

/// Puts the snapshots of all workers together, interval by interval.
pub(crate) struct Merger {
    /// The snapshots of each worker that are not merged yet.
    waiting: Vec<VecDeque<Interval>>,
    done: Vec<Option<Done>>,
    /// What was in flight at the end of the last interval that each worker told.
    in_flight: Vec<u64>,
    /// Why the first worker that is lost is lost.
    failure: Option<WorkerFailure>,
    planned: Option<Planned>,
    changes: HeardChanges,
    limit: Option<u64>,
    planned_total: u64,
    sent_total: u64,
    ease: Ease,
    ended: bool,
}

impl Merger {
    pub(crate) fn new(plan: &Plan) -> Self {
        let workers = plan.threads as usize;
        Merger {
            waiting: (0..workers).map(|_| VecDeque::new()).collect(),
            done: (0..workers).map(|_| None).collect(),
            in_flight: vec![0; workers],
            failure: None,
            planned: Planned::new(plan),
            changes: HeardChanges::new(plan.threads as usize),
            limit: plan.request_limit,
            planned_total: 0,
            sent_total: 0,
            ease: Ease::new(plan),
            ended: false,
        }
    }

    pub(crate) fn take(&mut self, worker: usize, report: Report) {
        if self.done[worker].is_some() {
            // It was given up, and comes back too late.
            return;
        }
        match report {
            Report::Interval {
                snapshot,
                followed_ns,
                changes,
            } => {
                self.in_flight[worker] = snapshot.counts.in_flight;
                self.waiting[worker].push_back(Interval {
                    snapshot,
                    followed_ns,
                    changes,
                });
            }
            Report::Done(done) => self.done[worker] = Some(done),
            Report::Lost(failure) => {
                self.failure.get_or_insert(failure);
                self.done[worker] = Some(Done {
                    complete: false,
                    stopped: false,
                    unfinished: Box::new(Unfinished {
                        in_flight: self.in_flight[worker],
                        ..Unfinished::default()
                    }),
                });
            }
            Report::Log(_) | Report::Ticks(_) => {}
        }
    }

    pub(crate) fn event(&mut self) -> Option<Event> {
        if let Some(snapshot) = self.interval() {
            return Some(Event::Interval(Box::new(snapshot)));
        }
        let all_done = !self.ended && self.done.iter().all(Option::is_some);
        all_done.then(|| self.end())
    }

    /// The next interval, once every worker that goes on has told of it.
    fn interval(&mut self) -> Option<Snapshot> {
        let told = |(waiting, done): (&VecDeque<Interval>, &Option<Done>)| {
            !waiting.is_empty() || done.is_some()
        };
        if !self.waiting.iter().zip(&self.done).all(told) {
            return None;
        }
        let in_flight_for_good = self.in_flight_for_good();
        // A worker that drains has told of its whole window.
        let is_window = |interval: &Interval| !interval.snapshot.drain;
        let fronts = || self.waiting.iter().filter_map(VecDeque::front);
        let drains = !fronts().any(is_window);
        let mut merged: Option<Box<Snapshot>> = None;
        let mut followed_ns = 0;
        for (worker, waiting) in self.waiting.iter_mut().enumerate() {
            let is_next = |next: &&Interval| next.snapshot.drain == drains;
            if waiting.front().filter(is_next).is_none() {
                continue;
            }
            let Some(part) = waiting.pop_front() else {
                continue;
            };
            self.changes.heard(worker, part.changes);
            followed_ns = followed_ns.max(part.followed_ns);
            match &mut merged {
                Some(merged) => merged.merge(&part.snapshot),
                None => merged = Some(part.snapshot),
            }
        }
        let mut merged = merged?;
        merged.counts.in_flight += in_flight_for_good;
        if let Some(planned) = &mut self.planned {
            let is_gone =
                |worker: usize| self.done[worker].is_some() && self.waiting[worker].is_empty();
            self.changes.pass_on(planned, followed_ns, is_gone);
            merged.counts.planned += planned.due_before(followed_ns);
        }
        self.ease.observe(&merged);
        self.planned_total += merged.counts.planned;
        self.sent_total += merged.counts.sent;
        Some(*merged)
    }

    /// What workers that have told of all their intervals left in flight: it stays so while the
    /// others go on.
    fn in_flight_for_good(&self) -> u64 {
        let workers = self.waiting.iter().zip(&self.done);
        workers
            .filter(|(waiting, _)| waiting.is_empty())
            .filter_map(|(_, done)| done.as_ref())
            .map(|done| done.unfinished.in_flight)
            .sum()
    }

    fn end(&mut self) -> Event {
        self.ended = true;
        let done = || self.done.iter().flatten();
        let enough = self.limit.is_some_and(|limit| self.sent_total >= limit);
        let reason = if self.failure.is_some() {
            EndReason::Failed
        } else if done().any(|done| done.stopped) {
            EndReason::Stopped
        } else if enough && done().all(|done| done.complete) {
            EndReason::Requests
        } else {
            EndReason::Duration
        };
        let mut unfinished = Unfinished::default();
        done().for_each(|done| unfinished.merge(&done.unfinished));
        let unsent = self.planned_total.saturating_sub(self.sent_total);
        let is_lost = self.failure.is_some();
        self.ease.give_causes(&mut unfinished, unsent, is_lost);
        Event::Ended {
            reason,
            unfinished: Box::new(unfinished),
        }
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger")
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
