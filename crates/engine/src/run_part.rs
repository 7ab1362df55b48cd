//! A part of a run: those of its workers that are in this process, while other processes or
//! machines have the others.

use crate::StartError;
use crate::control::{Handle, Order};
use crate::event::Detail;
use crate::launch::Launch;
use crate::local_workers::{LocalWorkers, Readiness};
use crate::lost::{Attendance, WorkerFailure};
use crate::part_reports::{PartReport, PartReports};
use crate::run::Inlet;
use loadline_plan::Plan;
use std::ops::Range;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// The result of waiting for a part of a run.
#[derive(Debug)]
pub enum NextReport {
    /// A report of the part.
    Report(Box<PartReport>),
    /// There was none within the given time.
    Nothing,
    /// The part has sent its last report.
    Over,
}

/// A part of a run.
#[derive(Debug)]
pub struct RunPart {
    local: LocalWorkers,
    attendance: Attendance,
    /// The end of the load, if it is limited by time.
    over: Option<Instant>,
    reports: PartReports,
    /// Their number.
    workers: usize,
    /// True if no worker can report anything any more.
    is_cut_off: bool,
}

impl RunPart {
    /// Prepares a plan's run and opens the connections of these of its workers, which are numbered
    /// from 0 to the plan's number of threads. There is one launch per scenario of the plan; one if
    /// it has no scenarios. Blocks until they have dialled.
    ///
    /// # Errors
    /// If the plan can't be run here, or a worker was lost.
    ///
    /// # Panics
    /// If there are fewer launches than scenarios.
    pub fn launch(
        plan: &Plan,
        detail: Detail,
        launches: &[Launch],
        workers: Range<u32>,
    ) -> Result<Self, StartError> {
        Ok(RunPart {
            local: LocalWorkers::launch(plan, detail, launches, workers.clone())?,
            attendance: Attendance::new(workers.start as usize..workers.end as usize),
            over: None,
            workers: workers.len(),
            reports: PartReports::new(workers, plan.parts().len()),
            is_cut_off: false,
        })
    }

    /// Creates the part with these workers of a run whose load begins at this instant: nanoseconds
    /// of `CLOCK_MONOTONIC`. Other loops of this process drive the workers
    /// ([`DrivenWorker`](crate::DrivenWorker)), and their reports arrive through the inlet.
    pub fn elsewhere(
        plan: &Plan,
        workers: Range<u32>,
        ready: Readiness,
        begin_ns: u64,
    ) -> (Self, Inlet) {
        let (inlet, reports) = Inlet::new(Handle::of_workers(plan.threads));
        let own = workers.start as usize..workers.end as usize;
        let mut part = RunPart {
            local: LocalWorkers::driven(inlet.handle().clone(), reports, ready),
            attendance: Attendance::elsewhere(own),
            over: None,
            workers: workers.len(),
            reports: PartReports::new(workers, plan.parts().len()),
            is_cut_off: false,
        };
        part.begin(begin_ns);
        (part, inlet)
    }

    /// Returns the state of the workers after they have opened their connections.
    pub fn ready(&self) -> &Readiness {
        self.local.ready()
    }

    /// Begins the load at this instant: nanoseconds of `CLOCK_MONOTONIC`.
    pub fn begin(&mut self, begin_ns: u64) {
        self.over = self.ready().over(begin_ns);
        self.local.begin(begin_ns);
    }

    /// Returns the handle that stops the workers or changes their load, from any thread.
    pub fn handle(&self) -> Handle {
        self.local.handle()
    }

    /// Returns by how much the begin of the last of the workers was late, in nanoseconds, once all
    /// have begun; `None` before, and of workers that join or that other loops drive.
    pub fn begin_late_ns(&self) -> Option<u64> {
        self.local.handle.begin_late_ns(self.workers)
    }

    /// Returns the next report; waits for at most `timeout`.
    pub fn next_report(&mut self, timeout: Duration) -> NextReport {
        loop {
            if let Some(report) = self.report() {
                return report;
            }
            if self.is_cut_off || self.reports.is_over() {
                return NextReport::Over;
            }
            let since = Instant::now();
            let received = self.local.reports.recv_timeout(timeout);
            self.miss_the_silent(since.elapsed().min(timeout));
            match received {
                Ok(report) => self.reports.take(report),
                Err(RecvTimeoutError::Timeout) => {
                    return self.report().unwrap_or(NextReport::Nothing);
                }
                Err(RecvTimeoutError::Disconnected) => self.is_cut_off = true,
            }
        }
    }

    fn report(&mut self) -> Option<NextReport> {
        let report = self.reports.next()?;
        Some(NextReport::Report(Box::new(report)))
    }

    /// Gives up workers that show no sign of life although the run is ending.
    fn miss_the_silent(&mut self, waited: Duration) {
        let handle = self.handle();
        let is_over = self.over.is_some_and(|over| Instant::now() >= over);
        if !is_over && handle.order() == Order::Run {
            return self.attendance.excuse();
        }
        for worker in self.attendance.missing(&handle, waited) {
            if !self.reports.is_done(worker) {
                handle.abort();
                self.reports.lose(worker, &WorkerFailure::Stuck { worker });
            }
        }
    }
}
