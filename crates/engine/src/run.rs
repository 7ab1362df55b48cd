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
use crate::event::{Detail, Event};
use crate::launch::{Group, Launch, run_groups};
use crate::lost::{Attendance, WorkerFailure};
use crate::merger::Merger;
use crate::pacer::over_ns;
use crate::prepare::Prepared;
use crate::worker::Report;

use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Host, Kernel};
use loadline_schedule::Stripe;
use loadline_transport::DialError;
use std::collections::HashSet;
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
    reports: Receiver<Told>,
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
        let parts = plan.parts();
        let launches: Vec<Launch> = parts
            .iter()
            .map(|part| Launch::requests(&part.client))
            .collect();
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
        let scenarios = Prepared::all(&plan, detail, |index| launches[index].composes)?;
        let workers = plan.threads;
        let handle = Handle::of_workers(workers);
        let (send, reports) = channel();
        let mut starting: Vec<Starting> = Vec::new();
        for index in 0..workers {
            let stripe = Stripe { index, of: workers };
            let parts = scenarios.iter().cloned().zip(launches.iter().cloned());
            starting.push(Starting::spawn(parts.collect(), stripe, &handle, &send)?);
        }
        drop(send);
        await_connections(&starting, &reports)?;
        let begin_ns = Kernel::new()?.now_ns() + HEAD_START_NS;
        let length_ns = scenarios.iter().map(|prepared| over_ns(&prepared.plan));
        let length_ns = length_ns.max().unwrap_or(0);
        handle.begin(begin_ns, length_ns);
        for worker in &starting {
            // A worker that is gone already has told why.
            let _ = worker.begin.send(begin_ns);
        }
        let threads = starting.into_iter().map(|worker| worker.thread).collect();
        Ok(Run {
            handle,
            reports,
            threads,
            merger: Merger::new(&plan),
            changes: 0,
            attendance: Attendance::new(workers as usize),
            begin_ns,
            over: end(length_ns),
            addresses: each_once(scenarios.iter().map(|prepared| prepared.addresses())),
            left_out: each_once(scenarios.iter().map(|prepared| prepared.left_out.clone())),
            http: scenarios[0].plan.connection.http,
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
        self.merger.failure()
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
                Ok((worker, _, Report::Log(exchanges))) => {
                    return Some(Event::Log { worker, exchanges });
                }
                Ok((worker, _, Report::Ticks(ticks))) => {
                    return Some(Event::Ticks { worker, ticks });
                }
                Ok((worker, scenario, report)) => self.merger.take(worker, scenario, report),
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

/// When a load that begins now and lasts so long is over, if its time ends it.
fn end(length_ns: u64) -> Option<Instant> {
    let length_ns = Some(length_ns).filter(|length_ns| *length_ns < u64::MAX)?;
    Instant::now().checked_add(Duration::from_nanos(
        length_ns.saturating_add(HEAD_START_NS),
    ))
}

/// The addresses of all scenarios, each of them once.
fn each_once(parts: impl Iterator<Item = Vec<Address>>) -> Vec<Address> {
    let mut known = HashSet::new();
    let is_new = |address: &Address| known.insert(address.clone());
    parts.flatten().filter(is_new).collect()
}

/// What a worker told of a scenario, with the numbers of both.
type Told = (usize, usize, Report);

/// A worker's thread that brings its connections up.
struct Starting {
    thread: JoinHandle<()>,
    /// How many connections came up, and what went wrong first.
    connected: Receiver<(usize, Option<DialError>)>,
    begin: Sender<u64>,
}

impl Starting {
    fn spawn(
        parts: Vec<(Arc<Prepared>, Launch)>,
        stripe: Stripe,
        handle: &Handle,
        send: &Sender<Told>,
    ) -> io::Result<Starting> {
        let (tell, connected) = channel();
        let (begin, when) = channel();
        let worker = stripe.index as usize;
        let (send, last_word) = (send.clone(), send.clone());
        let (own_handle, handle) = (handle.clone(), handle.clone());
        let body = move || {
            let kernel = Kernel::new()?;
            let setting_up = set_up(kernel.clone(), &parts, stripe, &send);
            let mut groups = kernel.block_on(setting_up)?;
            let up = groups.iter().map(|group| group.connected()).sum();
            let first_error = groups.iter_mut().find_map(|group| group.take_error());
            let _ = tell.send((up, first_error));
            match when.recv() {
                Ok(begin_ns) => {
                    kernel.block_on(run_groups(groups, begin_ns, &own_handle))?;
                }
                // Another worker found nothing to talk to, so there is no run.
                Err(_) => return Ok(()),
            }
            // A user that was cut off goes, and its connections with it, when the loop looks at it.
            kernel.iterate().map(drop)
        };
        let thread = thread::Builder::new()
            .name(format!("worker-{worker}"))
            .spawn(move || {
                let ended = catch_unwind(AssertUnwindSafe(body));
                if let Some(failure) = WorkerFailure::of(worker, ended) {
                    handle.abort();
                    let _ = last_word.send((worker, 0, Report::Lost(failure)));
                }
            })?;
        Ok(Starting {
            thread,
            connected,
            begin,
        })
    }
}

/// Sets up the users of all scenarios on a worker's thread.
async fn set_up(
    kernel: Kernel,
    parts: &[(Arc<Prepared>, Launch)],
    stripe: Stripe,
    send: &Sender<Told>,
) -> Vec<Box<dyn Group>> {
    let worker = stripe.index as usize;
    let mut groups = Vec::new();
    for (prepared, launch) in parts {
        let (send, scenario) = (send.clone(), prepared.scenario);
        // A receiver that is gone wants nothing any more.
        let tell = move |report| drop(send.send((worker, scenario, report)));
        let group = launch.set_up(kernel.clone(), prepared, stripe, Box::new(tell));
        groups.push(group.await);
    }
    groups
}

/// Waits until all workers have dialled; fails if connections were tried and none came up, or if a
/// worker was lost.
fn await_connections(starting: &[Starting], reports: &Receiver<Told>) -> Result<(), StartError> {
    let mut connected = 0;
    let mut first_error = None;
    for worker in starting {
        let Ok((up, error)) = worker.connected.recv() else {
            // Its last word comes when its thread has been unwound; no other comes before the load.
            if let Ok((.., Report::Lost(failure))) = reports.recv() {
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
