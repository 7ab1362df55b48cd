//! Merges the reports of a run's members: those of one scenario, joined interval by interval, and
//! those of all scenarios together.

use crate::best_service::BestService;
use crate::event::{EndReason, Event, PartRecord};
use crate::joined::{Joined, WindowEnd};
use crate::lost::WorkerFailure;
use crate::not_due::{DueRequests, NotDue};
use crate::pacer::Planned;
use crate::received_changes::ReceivedChanges;
use crate::report::{Done, Interval, Report};
use crate::tally::AnyTally;
use loadline_plan::{Plan, mask_response};
use loadline_record::{PartTimes, Snapshot, Unfinished};
use std::collections::VecDeque;
use std::ops::Range;

/// Merges the reports of all members on all scenarios of a run.
///
/// The members follow the same intervals in all scenarios, but a scenario may end before others.
pub(crate) struct Merger {
    scenarios: Vec<ScenarioMerger>,
    /// The snapshots of each scenario that are not yet merged with those of the others.
    waiting: Vec<VecDeque<Merged>>,
    /// The tallies of all scenarios for intervals that are not yet merged.
    tally: Option<AnyTally>,
    /// The requests in flight in each scenario at the end of its last merged interval.
    in_flight: Vec<InFlight>,
    ends: Vec<Option<(EndReason, Box<Unfinished>)>>,
    ended: bool,
    /// The interval that was merged last, while the records of its parts are reported first.
    merged: Option<Box<Snapshot>>,
    window_end: WindowEnd,
}

/// An interval of a scenario.
struct Merged {
    snapshot: Box<Snapshot>,
    /// The records of its parts, if they are reported.
    records: Vec<PartRecord>,
}

/// The requests in flight at the end of an interval.
#[derive(Clone, Default)]
struct InFlight {
    all: u64,
    /// Those of each part that has a record of the interval, if they are reported.
    of_parts: Vec<(usize, u64)>,
}

impl Merged {
    fn in_flight(&self) -> InFlight {
        InFlight {
            all: self.snapshot.counts.in_flight,
            of_parts: self.records.iter().map(PartRecord::in_flight).collect(),
        }
    }

    /// Adds the same interval of another scenario.
    fn merge(&mut self, other: Merged) {
        self.snapshot.merge(&other.snapshot);
        PartRecord::add_all(&mut self.records, other.records);
    }

    /// Adds what a scenario without this interval has in flight.
    fn add_in_flight(&mut self, in_flight: &InFlight) {
        self.snapshot.add_in_flight(in_flight.all);
        PartRecord::add_in_flight(&mut self.records, &in_flight.of_parts);
    }
}

impl Merger {
    /// Creates the merger of a run whose members are its workers.
    pub(crate) fn new(plan: &Plan) -> Self {
        let workers: Vec<_> = (0..plan.threads).map(|worker| worker..worker + 1).collect();
        Merger::of_members(plan, &workers)
    }

    /// Creates the merger of a run whose members have these workers.
    pub(crate) fn of_members(plan: &Plan, members: &[Range<u32>]) -> Self {
        let parts = plan.parts();
        let count = parts.len();
        let scenarios = parts.iter().map(|part| ScenarioMerger::new(part, members));
        Merger {
            scenarios: scenarios.collect(),
            waiting: (0..count).map(|_| VecDeque::new()).collect(),
            tally: None,
            in_flight: vec![InFlight::default(); count],
            ends: vec![None; count],
            ended: false,
            merged: None,
            window_end: WindowEnd::default(),
        }
    }

    /// Returns the same merger, which keeps the response times of each member.
    pub(crate) fn with_response_times(self) -> Self {
        self.with_joined(Joined::with_response_times)
    }

    /// Returns the same merger, which reports the records of each member.
    pub(crate) fn with_records(self) -> Self {
        self.with_joined(Joined::with_records)
    }

    fn with_joined(mut self, with: impl Fn(Joined) -> Joined) -> Self {
        for scenario in &mut self.scenarios {
            let joined = std::mem::replace(&mut scenario.joined, Joined::new([]));
            scenario.joined = with(joined);
        }
        self
    }

    /// Returns the response times of each member in all scenarios, if they are kept.
    pub(crate) fn response_times(&self) -> Vec<PartTimes> {
        let scenarios = self.scenarios.iter();
        in_all_scenarios(scenarios.map(|scenario| &scenario.joined))
    }

    /// Takes a member's report on a scenario.
    pub(crate) fn take(&mut self, member: usize, scenario: usize, report: Report) {
        match report {
            Report::Lost(failure) => self.lose(member, &failure),
            Report::Failed(failure) => {
                for scenario in &mut self.scenarios {
                    scenario.joined.add_failures(std::slice::from_ref(&failure));
                }
            }
            Report::Joined { workers, from_ns } => {
                for scenario in &mut self.scenarios {
                    scenario.joined.join(member, workers.clone(), from_ns);
                }
            }
            Report::Interval(_)
            | Report::Log(_)
            | Report::Slow(_)
            | Report::Tally(_)
            | Report::Done(_) => {
                self.scenarios[scenario].joined.take(member, report);
            }
        }
    }

    /// Marks a member as lost, with all its users.
    pub(crate) fn lose(&mut self, member: usize, failure: &WorkerFailure) {
        for scenario in &mut self.scenarios {
            scenario.joined.take(member, Report::Lost(failure.clone()));
        }
    }

    /// Returns the reasons why workers were lost, without duplicates, in the order in which they
    /// occurred.
    pub(crate) fn failures(&self) -> &[WorkerFailure] {
        let scenario = self.scenarios.first();
        scenario.map_or(&[], |scenario| scenario.joined.failures())
    }

    /// True if a member has sent its last report.
    pub(crate) fn is_done(&self, member: usize) -> bool {
        let mut scenarios = self.scenarios.iter();
        scenarios.all(|scenario| scenario.joined.is_done(member))
    }

    pub(crate) fn event(&mut self) -> Option<Event> {
        if let [scenario] = self.scenarios.as_mut_slice() {
            return scenario.event();
        }
        if let Some(snapshot) = self.merged.take() {
            return Some(Event::Interval(snapshot));
        }
        for (index, scenario) in self.scenarios.iter_mut().enumerate() {
            let mut records = Vec::new();
            while let Some(event) = scenario.event() {
                match event {
                    Event::Tally(tally) => AnyTally::add(&mut self.tally, Some(tally)),
                    Event::Parts(next) => records = next,
                    Event::Interval(snapshot) => {
                        let records = std::mem::take(&mut records);
                        self.waiting[index].push_back(Merged { snapshot, records });
                    }
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
            Some(Merged { snapshot, records }) if records.is_empty() => {
                Some(Event::Interval(snapshot))
            }
            Some(Merged { snapshot, records }) => {
                self.merged = Some(snapshot);
                Some(Event::Parts(records))
            }
            None if self.ended || !self.ends.iter().all(Option::is_some) => None,
            None => Some(self.end()),
        }
    }

    /// Returns the next interval, once every scenario that continues has reported it.
    fn interval(&mut self) -> Option<Merged> {
        let scenarios = || self.waiting.iter().zip(&self.ends);
        if !scenarios().all(|(waiting, end)| !waiting.is_empty() || end.is_some()) {
            return None;
        }
        // The drain of a scenario follows the windows of all others.
        let mut fronts = self.waiting.iter().filter_map(VecDeque::front);
        let drains = fronts.all(|front| front.snapshot.drain);
        let mut merged: Option<Merged> = None;
        let mut without = Vec::new();
        for (waiting, before) in self.waiting.iter_mut().zip(&mut self.in_flight) {
            let front = waiting.front();
            let is_next = front.is_some_and(|front| front.snapshot.drain == drains);
            let Some(part) = is_next.then(|| waiting.pop_front()).flatten() else {
                without.push(&*before);
                continue;
            };
            *before = part.in_flight();
            match &mut merged {
                Some(merged) => merged.merge(part),
                None => merged = Some(part),
            }
        }
        let mut merged = merged?;
        let without = without.into_iter();
        without.for_each(|in_flight| merged.add_in_flight(in_flight));
        self.window_end.follow(&mut merged.snapshot);
        Some(merged)
    }

    fn end(&mut self) -> Event {
        self.ended = true;
        let ends = || self.ends.iter().flatten();
        let has = |searched: EndReason| ends().any(|(reason, _)| *reason == searched);
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

/// Returns the response times of each member in all scenarios, if they are kept.
pub(crate) fn in_all_scenarios<'a>(scenarios: impl Iterator<Item = &'a Joined>) -> Vec<PartTimes> {
    let mut all: Vec<PartTimes> = Vec::new();
    for scenario in scenarios {
        let members = scenario.response_times();
        all.resize_with(members.len(), PartTimes::default);
        let members = all.iter_mut().zip(members);
        members.for_each(|(sum, own)| sum.add_scenario(own));
    }
    all
}

/// Merges the reports of all members of a scenario.
struct ScenarioMerger {
    joined: Joined,
    /// What is reported next: an interval comes behind its tally and the records of its parts.
    next: VecDeque<Event>,
    /// The planned length of the load, in nanoseconds; `None` if its requests end it.
    length_ns: Option<u64>,
    planned: Option<Planned>,
    due_requests: DueRequests,
    changes: ReceivedChanges,
    limit: Option<u64>,
    /// True if the load is over when each user has completed its iterations.
    is_by_user: bool,
    planned_total: u64,
    sent_total: u64,
    dropped_total: u64,
    missed_total: u64,
    best_service: BestService,
    /// The texts that are masked in exceptions.
    secrets: Vec<String>,
}

impl ScenarioMerger {
    fn new(plan: &Plan, members: &[Range<u32>]) -> Self {
        ScenarioMerger {
            joined: Joined::new(members.iter().cloned()),
            next: VecDeque::new(),
            length_ns: plan.duration.map(|length| {
                let length = plan.warmup.saturating_add(length);
                u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
            }),
            planned: Planned::new(plan),
            due_requests: DueRequests::default(),
            changes: ReceivedChanges::new(plan.threads as usize),
            limit: plan.request_limit,
            is_by_user: is_by_user(plan),
            planned_total: 0,
            sent_total: 0,
            dropped_total: 0,
            missed_total: 0,
            best_service: BestService::new(plan),
            secrets: plan.sent_secrets(),
        }
    }

    fn event(&mut self) -> Option<Event> {
        if let Some(event) = self.next.pop_front() {
            return Some(event);
        }
        if let Some(interval) = self.joined.interval() {
            let records = self.joined.take_records();
            let (snapshot, tally) = self.complete(interval);
            self.next.extend(records.map(Event::Parts));
            self.next.extend(tally.map(Event::Tally));
            self.next.push_back(Event::Interval(snapshot));
            return self.next.pop_front();
        }
        let done = self.joined.end()?;
        Some(self.end(done))
    }

    /// Adds to an interval what follows from the run as a whole.
    fn complete(&mut self, interval: Interval) -> (Box<Snapshot>, Option<AnyTally>) {
        let mut merged = interval.snapshot;
        merged.add_in_flight(interval.gone.in_flight);
        if let Some(tally) = &interval.tally {
            tally.add_to(&mut merged);
            let exceptions = &mut merged.exceptions;
            exceptions.map_texts(|text| mask_response(text, &self.secrets));
        }
        self.changes.receive(interval.changes);
        let mut arrivals = 0;
        if let Some(planned) = &mut self.planned {
            let gone = &interval.gone.workers;
            let is_gone = |worker: usize| gone.binary_search(&(worker as u32)).is_ok();
            let followed_ns = interval.followed_ns;
            self.changes.pass_on(planned, followed_ns, is_gone);
            arrivals = planned.due_before(followed_ns);
        }
        let not_due = interval.not_due;
        let due = (merged.counts.planned + arrivals).saturating_sub(not_due.requestless);
        self.best_service.observe(&merged, due, not_due.paused_ns);
        merged.counts.planned += self.due_requests.of(arrivals, not_due);
        self.planned_total += merged.counts.planned;
        self.sent_total += merged.counts.sent;
        self.dropped_total += merged.counts.dropped;
        self.missed_total += merged.counts.missed;
        (merged, interval.tally)
    }

    /// Returns the number of arrivals that fall due after the last interval, if all workers are
    /// lost, and of those for which lost workers paused: they were planned nevertheless.
    fn planned_behind(&mut self, done: &Done) -> u64 {
        let (planned, length_ns) = match (&mut self.planned, self.length_ns) {
            (Some(planned), Some(length_ns)) => (planned, length_ns),
            _ => return 0,
        };
        let arrivals = match done.is_lost {
            true => planned.due_before(length_ns),
            false => 0,
        };
        self.due_requests.of(arrivals, NotDue::default())
    }

    fn end(&mut self, done: Done) -> Event {
        self.planned_total += self.planned_behind(&done);
        let limited = self.limit.is_some_and(|limit| self.sent_total >= limit);
        let enough = limited || self.is_by_user;
        let reason = if !done.failures.is_empty() {
            EndReason::Failed
        } else if done.stopped {
            EndReason::Stopped
        } else if enough && done.complete {
            EndReason::Requests
        } else {
            EndReason::Duration
        };
        let mut unfinished = done.unfinished;
        let left_out = self.planned_total.saturating_sub(self.sent_total);
        let unsent = left_out.saturating_sub(self.dropped_total + self.missed_total);
        let is_lost = !done.failures.is_empty();
        self.best_service
            .give_causes(&mut unfinished, unsent, is_lost);
        Event::Ended { reason, unfinished }
    }
}

/// True if each user of a load has a fixed number of iterations.
fn is_by_user(plan: &Plan) -> bool {
    let part = plan.part.as_deref();
    part.is_some_and(|part| part.iterations_per_user.is_some())
}
