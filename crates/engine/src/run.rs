//! A run: its threads, and what they tell, merged.

use crate::StartError;
use crate::behaviour::Scenario;
use crate::control::Handle;
use crate::event::{EndReason, Event};
use crate::pacer::Planned;
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::worker::{self, Done, Report};
use loadline_plan::Plan;
use loadline_reactor::{Address, Host, Kernel};
use loadline_record::{Snapshot, Unfinished};
use loadline_schedule::Stripe;
use loadline_transport::DialError;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// From the moment when all workers are ready to the begin of the load.
const HEAD_START_NS: u64 = 2_000_000;

/// A run that is under way.
#[derive(Debug)]
pub struct Run {
    handle: Handle,
    reports: Receiver<(usize, Report)>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    merger: Merger,
    begin_ns: u64,
    addresses: Vec<Address>,
    left_out: Vec<Address>,
}

impl Run {
    /// Prepares a plan's run, brings its connections up and begins the load. `log` asks for
    /// [`Event::Log`]. Blocks until the load has begun.
    pub fn start(plan: Plan, log: bool) -> Result<Run, StartError> {
        let prepared = Arc::new(Prepared::new(plan, log)?);
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
        log: bool,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        Run::start_prepared(&Arc::new(Prepared::new(plan, log)?), scenario)
    }

    fn start_prepared<S: Scenario<Kernel>>(
        prepared: &Arc<Prepared>,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        let scenario = Arc::new(scenario);
        let handle = Handle::new();
        let (send, reports) = channel();
        let mut starting: Vec<Starting> = Vec::new();
        for index in 0..prepared.plan.threads {
            let send = send.clone();
            let scenario = Arc::clone(&scenario);
            starting.push(Starting::spawn(prepared, index, &handle, send, scenario)?);
        }
        await_connections(&starting)?;
        let begin_ns = Kernel::new()?.now_ns() + HEAD_START_NS;
        for worker in &starting {
            // A worker that is gone already shows when its thread is joined.
            let _ = worker.begin.send(begin_ns);
        }
        let threads = starting.into_iter().map(|worker| worker.thread).collect();
        Ok(Run {
            handle,
            reports,
            threads,
            merger: Merger::new(&prepared.plan),
            begin_ns,
            addresses: prepared.addresses(),
            left_out: prepared.left_out.clone(),
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

    /// Addresses to which nothing goes because they did not answer at the start, while others of the
    /// same name did.
    pub fn left_out(&self) -> &[Address] {
        &self.left_out
    }

    /// What stops the run, from any thread.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// The next event; `None` if none came in this time. After [`Event::Ended`] nothing comes.
    ///
    /// # Errors
    /// If the kernel refused a worker something it cannot do without.
    ///
    /// # Panics
    /// If a worker did.
    pub fn next_event(&mut self, patience: Duration) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.merger.event() {
                return Ok(Some(event));
            }
            match self.reports.recv_timeout(patience) {
                Ok((_, Report::Log(exchanges))) => return Ok(Some(Event::Log(exchanges))),
                Ok((worker, Report::Ticks(ticks))) => {
                    return Ok(Some(Event::Ticks { worker, ticks }));
                }
                Ok((worker, report)) => self.merger.take(worker, report),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return self.join().map(|()| None),
            }
        }
    }

    fn join(&mut self) -> io::Result<()> {
        for thread in self.threads.drain(..) {
            match thread.join() {
                Ok(result) => result?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    }
}

/// A worker's thread that brings its connections up.
struct Starting {
    thread: JoinHandle<io::Result<()>>,
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
        let (prepared, handle) = (Arc::clone(prepared), handle.clone());
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
                Ok(begin_ns) => kernel.block_on(worker::run(ready, begin_ns, &handle))?,
                // Another worker found nothing to talk to, so there is no run.
                Err(_) => return Ok(()),
            }
            // A user that was cut off goes, and its connections with it, when the loop looks at it.
            kernel.turn().map(drop)
        };
        let thread = thread::Builder::new()
            .name(format!("worker-{index}"))
            .spawn(body)?;
        Ok(Starting {
            thread,
            connected,
            begin,
        })
    }
}

/// Waits until all workers have dialled; fails if connections were tried and none came up.
fn await_connections(starting: &[Starting]) -> Result<(), StartError> {
    let mut connected = 0;
    let mut first_error = None;
    for worker in starting {
        // A worker that failed for another reason says so when it is joined.
        let Ok((up, error)) = worker.connected.recv() else {
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
}

/// Puts the snapshots of all workers together, interval by interval.
pub(crate) struct Merger {
    /// The snapshots of each worker that are not merged yet.
    waiting: Vec<VecDeque<Interval>>,
    done: Vec<Option<Done>>,
    planned: Option<Planned>,
    limit: Option<u64>,
    planned_total: u64,
    sent_total: u64,
    ended: bool,
}

impl Merger {
    pub(crate) fn new(plan: &Plan) -> Self {
        let workers = plan.threads as usize;
        Merger {
            waiting: (0..workers).map(|_| VecDeque::new()).collect(),
            done: (0..workers).map(|_| None).collect(),
            planned: Planned::new(plan),
            limit: plan.request_limit,
            planned_total: 0,
            sent_total: 0,
            ended: false,
        }
    }

    pub(crate) fn take(&mut self, worker: usize, report: Report) {
        match report {
            Report::Interval {
                snapshot,
                followed_ns,
            } => {
                self.waiting[worker].push_back(Interval {
                    snapshot,
                    followed_ns,
                });
            }
            Report::Done(done) => self.done[worker] = Some(done),
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
        let mut parts = self.waiting.iter_mut().filter_map(VecDeque::pop_front);
        let Interval {
            snapshot: mut merged,
            mut followed_ns,
        } = parts.next()?;
        for part in parts {
            merged.merge(&part.snapshot);
            followed_ns = followed_ns.max(part.followed_ns);
        }
        merged.counts.in_flight += in_flight_for_good;
        if let Some(planned) = &mut self.planned {
            merged.counts.planned = planned.due_before(followed_ns);
        }
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
        let reason = if done().any(|done| done.stopped) {
            EndReason::Stopped
        } else if enough && done().all(|done| done.complete) {
            EndReason::Requests
        } else {
            EndReason::Duration
        };
        let mut unfinished = Unfinished::default();
        done().for_each(|done| unfinished.merge(&done.unfinished));
        unfinished.unsent = self.planned_total.saturating_sub(self.sent_total);
        Event::Ended { reason, unfinished }
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger")
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
