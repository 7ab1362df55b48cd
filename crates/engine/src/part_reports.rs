//! The reports of a part of a run: those of its workers, joined.
//!
//! One report leaves a part each second, whatever the number of its workers and scenarios. Only
//! early tallies and logs are passed on as they come.

use crate::joined::Joined;
use crate::lost::WorkerFailure;
use crate::report::{Done, Interval, MemberReport, Report};
use crate::tally::AnyTally;
use loadline_record::{Exchange, SlowRequest};
use std::collections::VecDeque;
use std::ops::Range;

/// A report of a part of a run.
#[derive(Clone, Debug)]
pub struct PartReport(pub(crate) PartNews);

/// What a part reports.
#[derive(Clone, Debug)]
pub(crate) enum PartNews {
    /// The next interval of each scenario, by its number, that has not ended.
    Intervals(Vec<(usize, Interval)>),
    /// Counts of a scenario before the end of the interval.
    Tally { scenario: usize, tally: AnyTally },
    /// Exchanges of a worker that have ended.
    Log {
        worker: u32,
        exchanges: Vec<Exchange>,
    },
    /// The slowest requests of a worker in an interval.
    Slow(Vec<SlowRequest>),
    /// The end of a scenario.
    Done { scenario: usize, done: Done },
}

impl PartReport {
    /// Returns the end of the reported interval, if the report is on one: nanoseconds from the
    /// run's zero, the end of the warm-up.
    pub fn interval_end_ns(&self) -> Option<u64> {
        match &self.0 {
            PartNews::Intervals(intervals) => {
                let ends = intervals
                    .iter()
                    .map(|(_, interval)| interval.snapshot.end_ns);
                ends.max()
            }
            PartNews::Tally { .. }
            | PartNews::Log { .. }
            | PartNews::Slow(_)
            | PartNews::Done { .. } => None,
        }
    }

    /// Returns the report as another part with one worker, of this number, would have sent it: for
    /// simulations of many parts.
    #[must_use]
    pub fn of_worker(mut self, worker: u32) -> Self {
        match &mut self.0 {
            PartNews::Intervals(intervals) => {
                for (_, interval) in intervals {
                    let workers = std::mem::take(&mut interval.snapshot.workers);
                    let renumbered = workers.into_values().map(|times| (worker, times));
                    interval.snapshot.workers = renumbered.collect();
                    interval.gone.workers.fill(worker);
                    for change in &mut interval.changes {
                        change.worker = worker;
                    }
                }
            }
            PartNews::Log { worker: own, .. } => *own = worker,
            PartNews::Tally { .. } | PartNews::Slow(_) | PartNews::Done { .. } => {}
        }
        self
    }

    /// Returns the starts of closed loads that its users took since its last report, each with the
    /// number of the scenario.
    pub fn begun(&self) -> Vec<(usize, u64)> {
        match &self.0 {
            PartNews::Intervals(intervals) => {
                let begun = |(scenario, interval): &(usize, Interval)| (*scenario, interval.begun);
                intervals.iter().map(begun).collect()
            }
            PartNews::Tally { .. }
            | PartNews::Log { .. }
            | PartNews::Slow(_)
            | PartNews::Done { .. } => Vec::new(),
        }
    }

    /// Returns the reports to the run in which the part is this member.
    pub(crate) fn into_reports(self, member: usize) -> Vec<MemberReport> {
        let report = |scenario, report| MemberReport {
            member,
            scenario,
            report,
        };
        match self.0 {
            PartNews::Intervals(intervals) => intervals
                .into_iter()
                .map(|(scenario, interval)| report(scenario, Report::Interval(interval)))
                .collect(),
            PartNews::Tally { scenario, tally } => vec![report(scenario, Report::Tally(tally))],
            PartNews::Log { worker, exchanges } => vec![MemberReport {
                member: worker as usize,
                scenario: 0,
                report: Report::Log(exchanges),
            }],
            PartNews::Slow(requests) => vec![report(0, Report::Slow(requests))],
            PartNews::Done { scenario, done } => vec![report(scenario, Report::Done(done))],
        }
    }
}

/// Joins the reports of the workers of a part.
#[derive(Debug)]
pub(crate) struct PartReports {
    workers: Range<u32>,
    scenarios: Vec<ScenarioPart>,
    /// Reports that wait for nothing.
    passed_on: VecDeque<PartReport>,
}

/// The joined reports on a scenario.
struct ScenarioPart {
    joined: Joined,
    /// The intervals that are not yet reported.
    waiting: VecDeque<Interval>,
    /// The end, until it is reported.
    done: Option<Done>,
    has_ended: bool,
}

impl PartReports {
    /// Creates the reports of these workers on so many scenarios.
    pub(crate) fn new(workers: Range<u32>, scenarios: usize) -> Self {
        let scenario = |_| ScenarioPart::new(workers.clone());
        PartReports {
            scenarios: (0..scenarios).map(scenario).collect(),
            workers: workers.clone(),
            passed_on: VecDeque::new(),
        }
    }

    /// Takes the report of a worker.
    pub(crate) fn take(&mut self, received: MemberReport) {
        let MemberReport {
            member: worker,
            scenario,
            report,
        } = received;
        let member = self.member(worker);
        match report {
            Report::Log(exchanges) => self.passed_on.push_back(PartReport(PartNews::Log {
                worker: worker as u32,
                exchanges,
            })),
            Report::Tally(tally) if !self.scenarios[scenario].joined.is_done(member) => {
                let news = PartNews::Tally { scenario, tally };
                self.passed_on.push_back(PartReport(news));
            }
            Report::Slow(requests) => {
                let news = PartNews::Slow(requests);
                self.passed_on.push_back(PartReport(news));
            }
            // The worker was given up, and its report is too late.
            Report::Tally(_) => {}
            Report::Lost(failure) => self.lose(worker, &failure),
            // Workers of a part are there from its beginning, and lost there.
            Report::Joined { .. } | Report::Failed(_) => {}
            Report::Interval(_) | Report::Done(_) => {
                self.scenarios[scenario].joined.take(member, report);
            }
        }
    }

    /// Marks a worker as lost, with all its users.
    pub(crate) fn lose(&mut self, worker: usize, failure: &WorkerFailure) {
        let member = self.member(worker);
        for scenario in &mut self.scenarios {
            scenario.joined.take(member, Report::Lost(failure.clone()));
        }
    }

    /// True if a worker has sent its last report.
    pub(crate) fn is_done(&self, worker: usize) -> bool {
        let member = self.member(worker);
        let mut scenarios = self.scenarios.iter();
        scenarios.all(|scenario| scenario.joined.is_done(member))
    }

    /// True if the last report was returned.
    pub(crate) fn is_over(&self) -> bool {
        self.passed_on.is_empty() && self.scenarios.iter().all(|one| one.has_ended)
    }

    /// Returns the next report of the part, if it is complete.
    pub(crate) fn next(&mut self) -> Option<PartReport> {
        if let Some(report) = self.passed_on.pop_front() {
            return Some(report);
        }
        self.scenarios.iter_mut().for_each(ScenarioPart::join);
        let intervals = self.intervals();
        if !intervals.is_empty() {
            return Some(PartReport(PartNews::Intervals(intervals)));
        }
        let ended = |(number, one): (usize, &mut ScenarioPart)| Some((number, one.take_end()?));
        let mut scenarios = self.scenarios.iter_mut().enumerate();
        let (scenario, done) = scenarios.find_map(ended)?;
        Some(PartReport(PartNews::Done { scenario, done }))
    }

    /// Returns the next interval of each scenario that continues, once every one has it.
    fn intervals(&mut self) -> Vec<(usize, Interval)> {
        if !self.scenarios.iter().all(ScenarioPart::has_next) {
            return Vec::new();
        }
        let scenarios = self.scenarios.iter_mut().enumerate();
        let next = scenarios.map(|(number, one)| Some((number, one.waiting.pop_front()?)));
        next.flatten().collect()
    }

    /// Returns the place of a worker in the part.
    fn member(&self, worker: usize) -> usize {
        worker - self.workers.start as usize
    }
}

impl ScenarioPart {
    fn new(workers: Range<u32>) -> Self {
        ScenarioPart {
            joined: Joined::new(workers.map(|worker| worker..worker + 1)),
            waiting: VecDeque::new(),
            done: None,
            has_ended: false,
        }
    }

    /// Joins what the workers have reported.
    fn join(&mut self) {
        while let Some(interval) = self.joined.interval() {
            self.waiting.push_back(interval);
        }
        if let Some(done) = self.joined.end() {
            self.done = Some(done);
        }
    }

    /// True if its next interval is complete, or none follows.
    fn has_next(&self) -> bool {
        !self.waiting.is_empty() || self.done.is_some() || self.has_ended
    }

    /// Takes its end, after all its intervals.
    fn take_end(&mut self) -> Option<Done> {
        let done = self.done.take_if(|_| self.waiting.is_empty())?;
        self.has_ended = true;
        Some(done)
    }
}

impl std::fmt::Debug for ScenarioPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScenarioPart")
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
