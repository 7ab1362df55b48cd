//! Merges the workers' reports: the snapshots of one scenario interval by interval, and those of
//! all scenarios together.

use crate::best_service::BestService;
use crate::event::{EndReason, Event};
use crate::heard_changes::HeardChanges;
use crate::lost::WorkerFailure;
use crate::pacer::Planned;
use crate::tally::AnyTally;
use crate::worker::{Done, Heard, Report};
use loadline_plan::Plan;
use loadline_record::{Snapshot, Unfinished};
use std::collections::VecDeque;

/// Merges the reports of all workers on all scenarios of a run.
///
/// The workers follow the same intervals in all scenarios, but a scenario may end before others.
pub(crate) struct Merger {
    scenarios: Vec<ScenarioMerger>,
    /// The snapshots of each scenario that are not yet merged with those of the others.
    waiting: Vec<VecDeque<Box<Snapshot>>>,
    /// The tallies of all scenarios for intervals that are not yet merged.
    tally: Option<AnyTally>,
    /// The requests in flight in each scenario at the end of the last merged interval.
    in_flight: Vec<u64>,
    ends: Vec<Option<(EndReason, Box<Unfinished>)>>,
    ended: bool,
}

impl Merger {
    pub(crate) fn new(plan: &Plan) -> Self {
        let parts = plan.parts();
        let count = parts.len();
        Merger {
            scenarios: parts.iter().map(ScenarioMerger::new).collect(),
            waiting: vec![VecDeque::new(); count],
            tally: None,
            in_flight: vec![0; count],
            ends: vec![None; count],
            ended: false,
        }
    }

    /// Takes a worker's report on a scenario.
    pub(crate) fn take(&mut self, worker: usize, scenario: usize, report: Report) {
        match report {
            Report::Lost(failure) => self.lose(worker, &failure),
            Report::Interval { .. }
            | Report::Log(_)
            | Report::Slow(_)
            | Report::Tally(_)
            | Report::Done(_) => {
                self.scenarios[scenario].take(worker, report);
            }
        }
    }

    /// Marks a worker as lost, with all its users.
    pub(crate) fn lose(&mut self, worker: usize, failure: &WorkerFailure) {
        for scenario in &mut self.scenarios {
            scenario.take(worker, Report::Lost(failure.clone()));
        }
    }

    /// Returns the reasons why workers were lost, without duplicates, in the order in which they
    /// occurred.
    pub(crate) fn failures(&self) -> &[WorkerFailure] {
        let scenario = self.scenarios.first();
        scenario.map_or(&[], |scenario| &scenario.failures)
    }

    /// True if a worker has sent its last report.
    pub(crate) fn is_done(&self, worker: usize) -> bool {
        let mut scenarios = self.scenarios.iter();
        scenarios.all(|scenario| scenario.done[worker].is_some())
    }

    pub(crate) fn event(&mut self) -> Option<Event> {
        if let [scenario] = self.scenarios.as_mut_slice() {
            return scenario.event();
        }
        for (index, scenario) in self.scenarios.iter_mut().enumerate() {
            while let Some(event) = scenario.event() {
                match event {
                    Event::Tally(tally) => AnyTally::add(&mut self.tally, Some(tally)),
                    Event::Interval(snapshot) => self.waiting[index].push_back(snapshot),
                    Event::Ended { reason, unfinished } => {
                        self.ends[index] = Some((reason, unfinished));
                    }
                    Event::Log { .. } | Event::Slow(_) | Event::Changed(_) => {}
                }
            }
        }
        if let Some(tally) = self.tally.take() {
            return Some(Event::Tally(tally));
        }
        match self.interval() {
            Some(snapshot) => Some(Event::Interval(snapshot)),
            None if self.ended || !self.ends.iter().all(Option::is_some) => None,
            None => Some(self.end()),
        }
    }

    /// Returns the next interval, once every scenario that continues has reported it.
    fn interval(&mut self) -> Option<Box<Snapshot>> {
        let scenarios = || self.waiting.iter().zip(&self.ends);
        if !scenarios().all(|(waiting, end)| !waiting.is_empty() || end.is_some()) {
            return None;
        }
        // The drain of a scenario follows the windows of all others.
        let mut fronts = self.waiting.iter().filter_map(VecDeque::front);
        let drains = fronts.all(|snapshot| snapshot.drain);
        let mut merged: Option<Box<Snapshot>> = None;
        let mut in_flight = 0;
        for (waiting, before) in self.waiting.iter_mut().zip(&mut self.in_flight) {
            let is_next = waiting.front().is_some_and(|front| front.drain == drains);
            let Some(part) = is_next.then(|| waiting.pop_front()).flatten() else {
                in_flight += *before;
                continue;
            };
            *before = part.counts.in_flight;
            match &mut merged {
                Some(merged) => merged.merge(&part),
                None => merged = Some(part),
            }
        }
        let mut merged = merged?;
        merged.add_in_flight(in_flight);
        Some(merged)
    }

    fn end(&mut self) -> Event {
        self.ended = true;
        let ends = || self.ends.iter().flatten();
        let has = |wanted: EndReason| ends().any(|(reason, _)| *reason == wanted);
        let reason = [EndReason::Failed, EndReason::Stopped, EndReason::Duration]
            .into_iter()
            .find(|reason| has(*reason));
        let mut unfinished = Unfinished::default();
        ends().for_each(|(_, part)| unfinished.merge(part));
        Event::Ended {
            reason: reason.unwrap_or(EndReason::Requests),
            unfinished: Box::new(unfinished),
        }
    }
}

impl std::fmt::Debug for Merger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merger")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// The record of one worker for one interval.
struct Interval {
    snapshot: Box<Snapshot>,
    tally: Option<AnyTally>,
    /// The instant up to which the schedule was followed, in nanoseconds from the begin of the
    /// load.
    followed_ns: u64,
    /// The changes of the load that the worker received.
    changes: Vec<Heard>,
}

/// Merges the snapshots of all workers of a scenario, interval by interval.
struct ScenarioMerger {
    /// The intervals of each worker that are not yet merged.
    waiting: Vec<VecDeque<Interval>>,
    /// The interval that was merged last, while its tally is reported first.
    merged: Option<Box<Snapshot>>,
    done: Vec<Option<Done>>,
    /// The requests in flight at the end of the last interval that each worker reported.
    in_flight: Vec<u64>,
    /// The reasons why workers were lost, without duplicates: the workers of a process share one.
    failures: Vec<WorkerFailure>,
    lost_workers: usize,
    /// The planned length of the load, in nanoseconds; `None` if its requests end it.
    length_ns: Option<u64>,
    planned: Option<Planned>,
    changes: HeardChanges,
    limit: Option<u64>,
    /// True if the load is over when each user has completed its iterations.
    is_by_user: bool,
    planned_total: u64,
    sent_total: u64,
    dropped_total: u64,
    missed_total: u64,
    best_service: BestService,
    ended: bool,
}

impl ScenarioMerger {
    fn new(plan: &Plan) -> Self {
        let workers = plan.threads as usize;
        ScenarioMerger {
            waiting: (0..workers).map(|_| VecDeque::new()).collect(),
            merged: None,
            done: (0..workers).map(|_| None).collect(),
            in_flight: vec![0; workers],
            failures: Vec::new(),
            lost_workers: 0,
            length_ns: plan.duration.map(|length| {
                let length = plan.warmup.saturating_add(length);
                u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
            }),
            planned: Planned::new(plan),
            changes: HeardChanges::new(plan.threads as usize),
            limit: plan.request_limit,
            is_by_user: is_by_user(plan),
            planned_total: 0,
            sent_total: 0,
            dropped_total: 0,
            missed_total: 0,
            best_service: BestService::new(plan),
            ended: false,
        }
    }

    fn take(&mut self, worker: usize, report: Report) {
        if self.done[worker].is_some() {
            // The worker was given up, and its report is too late.
            return;
        }
        match report {
            Report::Interval {
                snapshot,
                tally,
                followed_ns,
                changes,
            } => {
                self.in_flight[worker] = snapshot.counts.in_flight;
                self.waiting[worker].push_back(Interval {
                    snapshot,
                    tally,
                    followed_ns,
                    changes,
                });
            }
            Report::Done(done) => self.done[worker] = Some(done),
            Report::Lost(failure) => {
                self.lost_workers += 1;
                if !self.failures.contains(&failure) {
                    self.failures.push(failure);
                }
                self.done[worker] = Some(Done {
                    complete: false,
                    stopped: false,
                    unfinished: Box::new(Unfinished {
                        in_flight: self.in_flight[worker],
                        ..Unfinished::default()
                    }),
                });
            }
            Report::Log(_) | Report::Slow(_) | Report::Tally(_) => {}
        }
    }

    fn event(&mut self) -> Option<Event> {
        if let Some(snapshot) = self.merged.take() {
            return Some(Event::Interval(snapshot));
        }
        if let Some((snapshot, tally)) = self.interval() {
            let Some(tally) = tally else {
                return Some(Event::Interval(snapshot));
            };
            self.merged = Some(snapshot);
            return Some(Event::Tally(tally));
        }
        let all_done = !self.ended && self.done.iter().all(Option::is_some);
        all_done.then(|| self.end())
    }

    /// Returns the next interval and its tally, once every worker that continues has reported it.
    fn interval(&mut self) -> Option<(Box<Snapshot>, Option<AnyTally>)> {
        let told = |(waiting, done): (&VecDeque<Interval>, &Option<Done>)| {
            !waiting.is_empty() || done.is_some()
        };
        if !self.waiting.iter().zip(&self.done).all(told) {
            return None;
        }
        let in_flight_for_good = self.in_flight_for_good();
        // A worker that drains has reported its whole window.
        let is_window = |interval: &Interval| !interval.snapshot.drain;
        let fronts = || self.waiting.iter().filter_map(VecDeque::front);
        let drains = !fronts().any(is_window);
        let mut merged: Option<Box<Snapshot>> = None;
        let mut tally = None;
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
            AnyTally::add(&mut tally, part.tally);
            match &mut merged {
                Some(merged) => merged.merge(&part.snapshot),
                None => merged = Some(part.snapshot),
            }
        }
        let mut merged = merged?;
        merged.add_in_flight(in_flight_for_good);
        if let Some(tally) = &tally {
            tally.add_to(&mut merged);
        }
        if let Some(planned) = &mut self.planned {
            let is_gone =
                |worker: usize| self.done[worker].is_some() && self.waiting[worker].is_empty();
            self.changes.pass_on(planned, followed_ns, is_gone);
            merged.counts.planned += planned.due_before(followed_ns);
        }
        self.best_service.observe(&merged);
        self.planned_total += merged.counts.planned;
        self.sent_total += merged.counts.sent;
        self.dropped_total += merged.counts.dropped;
        self.missed_total += merged.counts.missed;
        Some((merged, tally))
    }

    /// Returns the requests in flight on workers that have finished: the number stays constant
    /// while the others continue.
    fn in_flight_for_good(&self) -> u64 {
        let workers = self.waiting.iter().zip(&self.done);
        workers
            .filter(|(waiting, _)| waiting.is_empty())
            .filter_map(|(_, done)| done.as_ref())
            .map(|done| done.unfinished.in_flight)
            .sum()
    }

    /// Returns the number of arrivals that fall due after the last interval, if all workers are
    /// lost: they were planned nevertheless.
    fn planned_behind(&mut self) -> u64 {
        let (planned, length_ns) = match (&mut self.planned, self.length_ns) {
            (Some(planned), Some(length_ns)) => (planned, length_ns),
            _ => return 0,
        };
        match self.lost_workers == self.done.len() {
            true => planned.due_before(length_ns),
            false => 0,
        }
    }

    fn end(&mut self) -> Event {
        self.ended = true;
        self.planned_total += self.planned_behind();
        let done = || self.done.iter().flatten();
        let limited = self.limit.is_some_and(|limit| self.sent_total >= limit);
        let enough = limited || self.is_by_user;
        let reason = if !self.failures.is_empty() {
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
        let left_out = self.planned_total.saturating_sub(self.sent_total);
        let unsent = left_out.saturating_sub(self.dropped_total + self.missed_total);
        let is_lost = !self.failures.is_empty();
        self.best_service
            .give_causes(&mut unfinished, unsent, is_lost);
        Event::Ended {
            reason,
            unfinished: Box::new(unfinished),
        }
    }
}

/// True if each user of a load has a fixed number of iterations.
fn is_by_user(plan: &Plan) -> bool {
    let part = plan.part.as_deref();
    part.is_some_and(|part| part.iterations_per_user.is_some())
}
