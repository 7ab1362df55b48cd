//! A run: its threads, and their merged reports.
//!
//! # How a run ends
//!
//! - The duration or the last stage is over: no request is begun any more. With a drain, unfinished
//!   requests may end during that time; then they are cut off.
//! - The condition of `--until` is met, or SIGINT, SIGTERM or SIGHUP (unless ignored) is received:
//!   no request is begun any more. Requests in flight may end until the duration is over; that time
//!   is no part of the measured one, unless users finish the iterations of a script in it.
//! - The last of the plan's number of requests has ended: no user has a start left.
//! - One of these signals is received while connections are opened: the process ends with exit code
//!   130 and prints that nothing was measured.
//! - A second signal, or a condition of `--abort-on`: the supervisors cut off requests in flight at
//!   their next check.
//! - A worker panics, or a system call that it needs fails: the other workers are cut off, the
//!   record of this one up to then counts, exit code 2.
//! - A process that has some of the workers is lost: the others continue to the end, exit code 2.
//! - A worker is silent for 2 s at the end of the run: it is treated as one that panicked, because
//!   a script that loops never returns.
//!
//! Exchanges that are cut off remain in flight, and arrivals that no user took are unsent. Both are
//! reported with their ages: a run that was cut off in a stall must not look good because its worst
//! responses never arrived. The report is printed in each of these cases except the one in which
//! nothing was measured.

use crate::StartError;
use crate::behaviour::Scenario;
use crate::control::{Change, Handle, Order};
use crate::event::{Detail, Event};
use crate::launch::Launch;
use crate::local_workers::{LocalWorkers, Readiness};
use crate::lost::{Attendance, WorkerFailure};
use crate::merger::Merger;
use crate::part_reports::PartReport;
use crate::report::{MemberReport, Report};
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Kernel, monotonic_ns};
use loadline_record::PartTimes;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time from the moment when all workers are ready to the begin of the load, in nanoseconds.
const HEAD_START_NS: u64 = 2_000_000;

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    handle: Handle,
    reports: Receiver<MemberReport>,
    threads: Vec<JoinHandle<()>>,
    merger: Merger,
    /// The number of changes of the load that were reported.
    changes: usize,
    attendance: Attendance,
    begin_ns: u64,
    /// The end of the load, if it is limited by time.
    over: Option<Instant>,
    ready: Readiness,
}

impl Run {
    /// Prepares a plan's run, opens its connections and begins the load. `detail` selects events in
    /// addition to intervals. Blocks until the load has begun.
    pub fn start(plan: Plan, detail: Detail) -> Result<Run, StartError> {
        let launches = Launch::of_plan(&plan);
        Run::launch(plan, detail, &launches)
    }

    /// Starts a run like [`start`](Run::start), with users that behave as a scenario defines; the
    /// plan's requests serve only to name the endpoints. `scenario` is called once on each worker's
    /// own thread, with the worker's number from 0.
    pub fn start_scenario<S: Scenario<Kernel>>(
        plan: Plan,
        detail: Detail,
        scenario: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Result<Run, StartError> {
        Run::launch(plan, detail, &[Launch::scenario(scenario)])
    }

    /// Starts a run like [`start`](Run::start), with one launch per scenario of the plan; with one
    /// if it has no scenarios.
    ///
    /// # Panics
    /// If there are fewer launches than scenarios.
    pub fn launch(plan: Plan, detail: Detail, launches: &[Launch]) -> Result<Run, StartError> {
        let mut local = LocalWorkers::launch(&plan, detail, launches, 0..plan.threads)?;
        local.check_connections()?;
        let begin_ns = monotonic_ns() + HEAD_START_NS;
        local.begin(begin_ns);
        let LocalWorkers {
            handle,
            reports,
            threads,
            ready,
            ..
        } = local;
        let run = Run::receiving(&plan, handle, reports, ready, begin_ns);
        Ok(Run { threads, ..run })
    }

    /// Creates a run whose workers are elsewhere, and begin at this instant: nanoseconds of
    /// `CLOCK_MONOTONIC`. Their reports arrive through the inlet.
    pub fn elsewhere(plan: &Plan, ready: Readiness, begin_ns: u64) -> (Run, Inlet) {
        let (run, inlet) = Run::fed(plan, ready, begin_ns);
        let attendance = Attendance::elsewhere(0..plan.threads as usize);
        (Run { attendance, ..run }, inlet)
    }

    /// Creates a run in parts, which have these workers and begin at this instant: nanoseconds of
    /// `CLOCK_MONOTONIC`. Their reports arrive through the inlet; they watch their workers
    /// themselves.
    pub fn of_parts(
        plan: &Plan,
        parts: &[Range<u32>],
        ready: Readiness,
        begin_ns: u64,
    ) -> (Run, Inlet) {
        let (run, inlet) = Run::fed(plan, ready, begin_ns);
        let run = Run {
            attendance: Attendance::new(0..0),
            merger: Merger::of_members(plan, parts).with_response_times(),
            ..run
        };
        (run, inlet)
    }

    /// Returns the same run in [parts](Run::of_parts), which reports [`Event::Parts`].
    #[must_use]
    pub fn with_records_of_parts(self) -> Run {
        Run {
            merger: self.merger.with_records(),
            ..self
        }
    }

    fn fed(plan: &Plan, ready: Readiness, begin_ns: u64) -> (Run, Inlet) {
        let handle = Handle::of_workers(plan.threads);
        handle.begin(begin_ns, ready.length_ns);
        let (inlet, reports) = Inlet::new(handle.clone());
        let run = Run::receiving(plan, handle, reports, ready, begin_ns);
        (run, inlet)
    }

    fn receiving(
        plan: &Plan,
        handle: Handle,
        reports: Receiver<MemberReport>,
        ready: Readiness,
        begin_ns: u64,
    ) -> Run {
        Run {
            handle,
            reports,
            threads: Vec::new(),
            merger: Merger::new(plan),
            changes: 0,
            attendance: Attendance::new(0..plan.threads as usize),
            begin_ns,
            over: ready.over(begin_ns),
            ready,
        }
    }

    /// Returns the begin of the load: nanoseconds of `CLOCK_MONOTONIC`.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Returns the addresses that receive requests.
    pub fn addresses(&self) -> &[Address] {
        &self.ready.addresses
    }

    /// Returns the addresses that receive nothing because they did not respond at the start, while
    /// others of the same name did.
    pub fn left_out(&self) -> &[Address] {
        &self.ready.left_out
    }

    /// Returns the version of HTTP of all requests; never [`HttpVersion::Auto`].
    pub fn http(&self) -> HttpVersion {
        self.ready.http
    }

    /// Returns the handle that stops the run, from any thread.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns the reasons why workers did not reach the end of the run, if any did not: without
    /// duplicates, in the order in which they were lost.
    pub fn failures(&self) -> &[WorkerFailure] {
        self.merger.failures()
    }

    /// Returns the response times of each part of a run in [parts](Run::of_parts); nothing of
    /// another run.
    pub fn response_times_of_parts(&self) -> Vec<PartTimes> {
        self.merger.response_times()
    }

    /// Returns the next event; `None` if none occurred within `timeout`. Nothing follows
    /// [`Event::Ended`].
    ///
    /// The reports of a worker until it was lost count, and [`failures`](Self::failures) returns
    /// the reason. A lost thread ends the run: the other workers are aborted. Workers that are
    /// [elsewhere](Self::elsewhere) continue to its end.
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
                Ok(received) => {
                    if let Some(event) = self.take(received) {
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

    /// Merges a member's report, or returns it if it is an event by itself.
    fn take(&mut self, received: MemberReport) -> Option<Event> {
        let MemberReport {
            member,
            scenario,
            report,
        } = received;
        match report {
            Report::Log(exchanges) => Some(Event::Log {
                worker: member,
                exchanges,
            }),
            Report::Slow(requests) => Some(Event::Slow(requests)),
            // The report of a member that was given up is too late, like its intervals.
            Report::Tally(tally) => (!self.merger.is_done(member)).then_some(Event::Tally(tally)),
            Report::Interval(_)
            | Report::Done(_)
            | Report::Lost(_)
            | Report::Failed(_)
            | Report::Joined { .. } => {
                self.merger.take(member, scenario, report);
                None
            }
        }
    }

    /// Gives up workers that show no sign of life although the run is ending.
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

    /// Joins all threads, which have sent their last reports.
    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // The thread itself has reported any failure.
            let _ = thread.join();
        }
    }
}

/// The connection of workers that are elsewhere to their run: reports what they recorded, and
/// provides their orders.
#[derive(Clone, Debug)]
pub struct Inlet {
    send: Sender<MemberReport>,
    handle: Handle,
}

impl Inlet {
    /// Creates the connection of workers that this handle controls; it returns their reports, too.
    pub(crate) fn new(handle: Handle) -> (Inlet, Receiver<MemberReport>) {
        let (send, reports) = channel();
        (Inlet { send, handle }, reports)
    }

    /// Reports the message of a worker.
    pub(crate) fn send_report(&self, report: MemberReport) {
        // A run that was dropped needs no more reports.
        let _ = self.send.send(report);
    }

    /// Reports what a part of a run in [parts](Run::of_parts) sent, by its number from 0.
    pub fn report_part(&self, part: usize, report: PartReport) {
        for report in report.into_reports(part) {
            self.send_report(report);
        }
    }

    /// Reports this part of a run in [parts](Run::of_parts) as lost; the others continue.
    pub fn lose_part(&self, part: usize, failure: WorkerFailure) {
        self.send_report(MemberReport {
            member: part,
            scenario: 0,
            report: Report::Lost(failure),
        });
    }

    /// Reports the loss of workers of a part that ends their reports itself.
    pub fn fail_in_part(&self, part: usize, failure: WorkerFailure) {
        self.send_report(MemberReport {
            member: part,
            scenario: 0,
            report: Report::Failed(failure),
        });
    }

    /// Reports that a part with these workers joins the run in [parts](Run::of_parts), as its next
    /// one. Its intervals count from this instant on: nanoseconds from the run's zero.
    pub fn join_part(&self, part: usize, workers: Range<u32>, from_ns: u64) {
        self.send_report(MemberReport {
            member: part,
            scenario: 0,
            report: Report::Joined { workers, from_ns },
        });
    }

    /// Returns the handle that stops the run or changes its load: workers of this process check it
    /// themselves.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the current order.
    pub fn order(&self) -> Order {
        self.handle.order()
    }

    /// Returns the changes of the load after the first `known` ones.
    pub fn changes_since(&self, known: usize) -> Vec<Change> {
        self.handle.changes_since(known)
    }
}
