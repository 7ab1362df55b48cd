//! Joins the reports of several members of a run on one scenario, interval by interval.
//!
//! The members are workers, or processes that have joined the reports of their own workers in the
//! same way: joining in two steps gives what joining all workers at once gives. What only the run
//! as a whole can say, such as the number of planned arrivals, is added by the
//! [merger](crate::merger).

use crate::event::PartRecord;
use crate::lost::WorkerFailure;
use crate::report::{Done, Gone, Interval, Report};
use crate::tally::AnyTally;
use loadline_record::{Distribution, PartTimes, Snapshot, TimesOfParts};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// The reports of members that are not joined yet.
pub(crate) struct Joined {
    members: Vec<Member>,
    /// The reasons why workers were lost, without duplicates: the workers of a process share one.
    failures: Vec<WorkerFailure>,
    has_ended: bool,
    /// The response times of each member, if they are compared.
    response: Option<TimesOfParts>,
    /// The members whose intervals are in the last one that was joined, if they are noted.
    taken: Option<Vec<Taken>>,
    /// The records of the members in the last interval that was joined, if they are kept.
    records: Option<Vec<PartRecord>>,
    window_end: WindowEnd,
}

/// The end of the last interval of the window that was joined, in nanoseconds from the run's zero.
#[derive(Debug, Default)]
pub(crate) struct WindowEnd {
    ns: u64,
}

impl WindowEnd {
    /// Has the drain begin where the window ends: what is joined may end its windows at different
    /// instants, if it is stopped.
    pub(crate) fn follow(&mut self, joined: &mut Snapshot) {
        if !joined.drain {
            self.ns = joined.end_ns;
            return;
        }
        joined.start_ns = joined.start_ns.max(self.ns);
        joined.end_ns = joined.end_ns.max(joined.start_ns);
    }
}

/// The standing of a member up to an interval that is joined: who joins the next ones need not
/// know more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Its workers that have finished.
    pub(crate) gone: Gone,
    /// The requests in flight at the end of the interval.
    pub(crate) in_flight: u64,
}

/// The part of a member in a joined interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) member: usize,
    pub(crate) standing: Standing,
    /// The starts of a closed load that its users took in the interval.
    pub(crate) begun: u64,
}

/// A member, and what it has reported.
struct Member {
    workers: Range<u32>,
    waiting: VecDeque<Interval>,
    done: Option<Done>,
    /// The workers that have finished at the end of the last interval that was joined.
    gone: Gone,
    /// The requests in flight at the end of the last interval that it reported.
    in_flight: u64,
    /// The same of the last interval that was joined.
    joined_in_flight: u64,
    /// The arrivals whose request was due after a pause, at the end of the last interval that was
    /// joined.
    pausing: u64,
    /// The begin of its first interval, in nanoseconds from the run's zero: it has joined then.
    from_ns: u64,
}

impl Member {
    fn new(workers: Range<u32>) -> Self {
        Member {
            workers,
            waiting: VecDeque::new(),
            done: None,
            gone: Gone::default(),
            in_flight: 0,
            joined_in_flight: 0,
            pausing: 0,
            from_ns: 0,
        }
    }

    /// Creates a member that reports nothing.
    fn absent() -> Self {
        let done = Done {
            complete: true,
            is_lost: true,
            ..Done::default()
        };
        Member {
            done: Some(done),
            ..Member::new(0..0)
        }
    }

    /// True if it reports no further interval.
    fn is_over(&self) -> bool {
        self.done.is_some() && self.waiting.is_empty()
    }

    /// True if it has reported its next interval, which begins at `start_ns`, or reports none.
    fn has_reported(&self, start_ns: u64) -> bool {
        self.done.is_some() || !self.waiting.is_empty() || self.from_ns > start_ns
    }

    /// Returns its next interval, if that is of the drain or not, and it had joined by `start_ns`.
    fn next(&self, drains: bool, start_ns: u64) -> Option<&Interval> {
        let next = self.waiting.front();
        next.filter(|next| next.snapshot.drain == drains && self.from_ns <= start_ns)
    }

    /// Takes the same.
    fn take_next(&mut self, drains: bool, start_ns: u64) -> Option<Interval> {
        self.next(drains, start_ns)?;
        self.waiting.pop_front()
    }

    /// Returns the requests in flight on its workers that it does not report with its part of the
    /// next interval: on those that have finished, or on all if its window is over.
    fn gone_in_flight(&self, drains: bool) -> u64 {
        match (self.waiting.front(), &self.done) {
            (Some(next), _) if next.snapshot.drain == drains => 0,
            // It drains, and others go on: what it left in flight is as it was.
            (Some(_), _) => self.joined_in_flight,
            (None, done) => done.as_ref().map_or(0, |done| done.unfinished.in_flight),
        }
    }

    /// Returns the arrivals for which it still pauses, if it drains while others go on.
    fn pausing_beside(&self, drains: bool) -> u64 {
        let next = self.waiting.front();
        let drains_already = next.is_some_and(|next| next.snapshot.drain != drains);
        if drains_already { self.pausing } else { 0 }
    }

    fn gone_workers(&self) -> Vec<u32> {
        match self.is_over() {
            true => self.workers.clone().collect(),
            false => self.gone.workers.clone(),
        }
    }
}

impl Joined {
    /// Creates the reports of members with these workers, none of which has reported anything.
    pub(crate) fn new(members: impl IntoIterator<Item = Range<u32>>) -> Self {
        Joined {
            members: members.into_iter().map(Member::new).collect(),
            failures: Vec::new(),
            has_ended: false,
            response: None,
            taken: None,
            records: None,
            window_end: WindowEnd::default(),
        }
    }

    /// Returns the same reports, which note the members whose intervals are joined.
    pub(crate) fn with_members_noted(self) -> Self {
        Joined {
            taken: Some(Vec::new()),
            ..self
        }
    }

    /// Returns the members whose intervals are in the last one that was joined, if they are noted.
    pub(crate) fn take_members(&mut self) -> Vec<Taken> {
        self.taken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the same reports, of which the records of each member are kept until they are taken.
    pub(crate) fn with_records(self) -> Self {
        Joined {
            records: Some(Vec::new()),
            ..self
        }
    }

    /// Returns the records of the members in the last interval that was joined; `None` if they are
    /// not kept.
    pub(crate) fn take_records(&mut self) -> Option<Vec<PartRecord>> {
        self.records.as_mut().map(std::mem::take)
    }

    /// Continues with a member whose earlier reports were joined elsewhere, all of them if it has
    /// ended.
    pub(crate) fn resume(&mut self, member: usize, standing: Standing, done: Option<Done>) {
        let own = &mut self.members[member];
        own.in_flight = standing.in_flight;
        own.joined_in_flight = standing.in_flight;
        own.gone = standing.gone;
        if let Some(done) = done {
            self.take(member, Report::Done(done));
        }
    }

    /// Marks a member as lost, unless it has ended. Its intervals that wait for those of others are
    /// left out, so that nothing of it follows. Returns true if it had not ended.
    pub(crate) fn cut_off(&mut self, member: usize, failure: &WorkerFailure) -> bool {
        let own = &mut self.members[member];
        let is_cut_off = own.done.is_none();
        if is_cut_off {
            own.waiting.clear();
            own.in_flight = own.joined_in_flight;
            self.take(member, Report::Lost(failure.clone()));
        }
        is_cut_off
    }

    /// Returns the end of a member all of whose intervals are joined.
    pub(crate) fn end_of(&self, member: usize) -> Option<&Done> {
        let member = &self.members[member];
        member.done.as_ref().filter(|_| member.is_over())
    }

    /// Has this end of all members returned already, elsewhere.
    pub(crate) fn has_ended_elsewhere(&mut self) {
        self.has_ended = true;
    }

    /// Returns the same reports, of which the response times of each member are kept.
    pub(crate) fn with_response_times(self) -> Self {
        Joined {
            response: Some(TimesOfParts::new(self.members.len())),
            ..self
        }
    }

    /// Returns the response times of each member, if they are kept.
    pub(crate) fn response_times(&self) -> Vec<PartTimes> {
        let response = self.response.as_ref();
        response.map(TimesOfParts::each).unwrap_or_default()
    }

    /// Adds the member of this number with these workers, whose intervals count from this instant
    /// on. Those of lower numbers that have not joined are absent until they do.
    pub(crate) fn join(&mut self, member: usize, workers: Range<u32>, from_ns: u64) {
        while self.members.len() <= member {
            self.members.push(Member::absent());
        }
        self.members[member] = Member {
            from_ns,
            ..Member::new(workers)
        };
        if let Some(response) = &mut self.response {
            response.grow(self.members.len());
        }
    }

    /// Takes a member's report; those that belong to no interval have no effect.
    pub(crate) fn take(&mut self, member: usize, report: Report) {
        let Some(own) = self.members.get_mut(member) else {
            // It was lost before it joined.
            return;
        };
        if own.done.is_some() {
            // The member was given up, and its report is too late.
            return;
        }
        match report {
            // It had no share of the load before it joined.
            Report::Interval(early) if early.snapshot.start_ns < own.from_ns => {}
            Report::Interval(interval) => {
                own.in_flight = interval.snapshot.counts.in_flight + interval.gone.in_flight;
                own.waiting.push_back(interval);
            }
            Report::Done(done) => {
                self.add_failures(&done.failures);
                self.members[member].done = Some(done);
            }
            Report::Lost(failure) => {
                let done = Done::lost(failure, own.in_flight);
                self.add_failures(&done.failures);
                self.members[member].done = Some(done);
            }
            Report::Log(_)
            | Report::Slow(_)
            | Report::Tally(_)
            | Report::Failed(_)
            | Report::Joined { .. } => {}
        }
    }

    /// Adds the reasons why workers were lost.
    pub(crate) fn add_failures(&mut self, failures: &[WorkerFailure]) {
        for failure in failures {
            if !self.failures.contains(failure) {
                self.failures.push(failure.clone());
            }
        }
    }

    /// Returns the reasons why workers were lost, without duplicates, in the order in which they
    /// occurred.
    pub(crate) fn failures(&self) -> &[WorkerFailure] {
        &self.failures
    }

    /// True if a member has sent its last report.
    pub(crate) fn is_done(&self, member: usize) -> bool {
        let member = self.members.get(member);
        member.is_none_or(|member| member.done.is_some())
    }

    /// Returns the next interval of all members together, once every one that continues has
    /// reported it.
    pub(crate) fn interval(&mut self) -> Option<Interval> {
        let fronts = self.members.iter().filter_map(|one| one.waiting.front());
        let in_window = fronts.clone().filter(|next| !next.snapshot.drain);
        let next_ns = in_window.map(|next| next.snapshot.start_ns).min();
        fronts.clone().next()?;
        // A member that drains has reported its whole window. Drains wait for the windows of all,
        // also of those that joined at the end.
        let drains = next_ns.is_none();
        let start_ns = next_ns.unwrap_or(u64::MAX);
        if !self.members.iter().all(|one| one.has_reported(start_ns)) {
            return None;
        }
        let gone = self.members.iter().map(|one| one.gone_in_flight(drains));
        let gone_in_flight: u64 = gone.sum();
        let beside = self.members.iter().map(|one| one.pausing_beside(drains));
        let pausing_beside: u64 = beside.sum();
        if let Some(response) = &mut self.response {
            let members = self.members.iter();
            let next = members.map(|member| member.next(drains, start_ns));
            compare(response, drains, next);
        }
        let mut joined: Option<Interval> = None;
        for (index, member) in self.members.iter_mut().enumerate() {
            let Some(part) = member.take_next(drains, start_ns) else {
                continue;
            };
            member.gone.clone_from(&part.gone);
            member.joined_in_flight = part.snapshot.counts.in_flight + part.gone.in_flight;
            member.pausing = part.not_due.pausing;
            if let Some(taken) = &mut self.taken {
                taken.push(Taken::of(index, &part));
            }
            if let Some(records) = &mut self.records {
                records.push(part.record_of(index));
            }
            match &mut joined {
                Some(joined) => joined.join(part),
                None => joined = Some(part),
            }
        }
        let mut joined = joined?;
        joined.gone.in_flight += gone_in_flight;
        joined.not_due.pausing += pausing_beside;
        self.window_end.follow(&mut joined.snapshot);
        joined.gone.workers = self.members.iter().flat_map(Member::gone_workers).collect();
        Some(joined)
    }

    /// Returns the end of all members together, once: when each has ended and all intervals were
    /// returned.
    pub(crate) fn end(&mut self) -> Option<Done> {
        if self.has_ended || !self.members.iter().all(Member::is_over) {
            return None;
        }
        self.has_ended = true;
        let ends = || {
            self.members
                .iter()
                .filter_map(|member| member.done.as_ref())
        };
        let mut all = Done {
            complete: ends().all(|done| done.complete),
            stopped: ends().any(|done| done.stopped),
            failures: self.failures.clone(),
            is_lost: ends().all(|done| done.is_lost),
            ..Done::default()
        };
        ends().for_each(|done| all.unfinished.merge(&done.unfinished));
        Some(all)
    }
}

/// Adds the next intervals of the members to the response times that are compared.
fn compare<'a>(
    response: &mut TimesOfParts,
    drains: bool,
    next: impl Iterator<Item = Option<&'a Interval>>,
) {
    let times = next.map(|next| next.map(|next| &next.snapshot.times.response));
    let times: Vec<Option<&Distribution>> = times.collect();
    match drains {
        true => response.observe_rest(&times),
        false => response.observe(&times),
    }
}

impl Taken {
    fn of(member: usize, part: &Interval) -> Self {
        Taken {
            member,
            standing: Standing {
                gone: part.gone.clone(),
                in_flight: part.snapshot.counts.in_flight + part.gone.in_flight,
            },
            begun: part.begun,
        }
    }
}

impl Interval {
    /// Returns it as the record of this part of a run.
    fn record_of(&self, part: usize) -> PartRecord {
        let mut snapshot = self.snapshot.clone();
        snapshot.add_in_flight(self.gone.in_flight);
        if let Some(tally) = &self.tally {
            tally.add_to(&mut snapshot);
        }
        PartRecord { part, snapshot }
    }

    /// Adds the record of another member for the same interval.
    fn join(&mut self, other: Interval) {
        self.snapshot.merge(&other.snapshot);
        AnyTally::add(&mut self.tally, other.tally);
        self.followed_ns = self.followed_ns.max(other.followed_ns);
        self.begun += other.begun;
        self.changes.extend(other.changes);
        self.gone.in_flight += other.gone.in_flight;
        self.not_due.add(other.not_due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::not_due::NotDue;

    fn interval(times: Range<u64>, drain: bool) -> Report {
        let mut snapshot = Box::new(Snapshot::empty(times.start));
        (snapshot.end_ns, snapshot.drain) = (times.end, drain);
        Report::Interval(Interval {
            snapshot,
            tally: None,
            followed_ns: times.end,
            begun: 0,
            changes: Vec::new(),
            gone: Gone::default(),
            not_due: NotDue::default(),
        })
    }

    #[test]
    fn drains_wait_for_the_window_of_who_joined_as_the_others_were_stopped() {
        let mut joined = Joined::new(std::iter::once(0..1));
        joined.join(1, 1..2, 20);
        joined.take(0, interval(10..18, false));
        joined.take(0, interval(18..30, true));
        joined.take(0, Report::Done(Done::default()));
        let window = joined.interval().expect("its window");
        assert_eq!(window.snapshot.end_ns, 18);
        assert!(joined.interval().is_none(), "the other has its window yet");
        joined.take(1, interval(20..24, false));
        joined.take(1, interval(24..32, true));
        joined.take(1, Report::Done(Done::default()));
        let rest = [joined.interval(), joined.interval()];
        let shown = rest.map(|one| {
            let snapshot = one.expect("an interval").snapshot;
            (snapshot.start_ns, snapshot.end_ns, snapshot.drain)
        });
        assert_eq!(shown, [(20, 24, false), (24, 32, true)]);
        assert!(joined.interval().is_none());
        assert!(joined.end().is_some());
    }
}
