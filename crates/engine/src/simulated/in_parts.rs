//! The reports of a run's workers as several processes would send them: joined, encoded, and merged
//! in the order in which they happen to arrive.

use super::in_groups::{InGroups, Joining, Reporting, directly};
use super::taken_over::numbers;
use crate::conveyed::{ReportReader, ReportWriter};
use crate::event::{Event, PartRecord};
use crate::lost::WorkerFailure;
use crate::merger::Merger;
use crate::part_reports::{PartNews, PartReport, PartReports};
use crate::report::{MemberReport, Report};
use crate::tally::{AnyTally, TallyCodec};
use loadline_plan::Plan;
use loadline_record::Snapshot;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// The most processes.
const MOST_PARTS: u64 = 5;

/// Collects the reports of the workers of each process. Processes that join have one worker each,
/// and are behind those of the beginning.
pub(crate) struct InParts {
    plan: Plan,
    members: Vec<Range<u32>>,
    parts: RefCell<Vec<PartReports>>,
    /// The instants from which on the intervals of those who join count, in their order.
    joins: RefCell<Vec<(Range<u32>, u64)>>,
}

impl InParts {
    /// Creates the collection for a run that so many workers join.
    pub(crate) fn new(plan: &Plan, joining: u32) -> Self {
        let parts = (2 + plan.seed % (MOST_PARTS - 1)).min(plan.threads.into()) as u32;
        let end = |part: u32| plan.threads * part / parts;
        let members: Vec<Range<u32>> = (0..parts).map(|part| end(part)..end(part + 1)).collect();
        let scenarios = plan.parts().len();
        let joining = (plan.threads..plan.threads + joining).map(|worker| worker..worker + 1);
        let parts = members.iter().cloned().chain(joining);
        InParts {
            plan: plan.clone(),
            parts: RefCell::new(
                parts
                    .map(|part| PartReports::new(part, scenarios))
                    .collect(),
            ),
            members,
            joins: RefCell::default(),
        }
    }

    /// Has a worker join, whose intervals count from this instant on.
    pub(crate) fn join(&self, workers: Range<u32>, from_ns: u64) {
        self.joins.borrow_mut().push((workers, from_ns));
    }

    pub(crate) fn take(&self, worker: usize, scenario: usize, report: Report) {
        let has_it = |workers: &Range<u32>| workers.contains(&(worker as u32));
        let part = self.members.iter().position(has_it);
        // One that joins has a part of its own.
        let joined = || self.members.len() + worker - self.plan.threads as usize;
        let part = part.unwrap_or_else(joined);
        self.parts.borrow_mut()[part].take(MemberReport {
            member: worker,
            scenario,
            report,
        });
    }

    /// Asserts that the merged reports of the parts are these events.
    pub(crate) fn assert_merged(&self, events: &[Event]) {
        let mut merger = Merger::of_members(&self.plan, &self.members).with_records();
        let mut parts = self.parts.borrow_mut();
        let mut arriving: Vec<(usize, VecDeque<PartReport>)> = parts
            .iter_mut()
            .map(|part| std::iter::from_fn(|| part.next()).collect())
            .enumerate()
            .collect();
        let joins = self.joins.borrow();
        let joining = joins.iter().zip(&arriving[self.members.len()..]);
        let joining: Vec<Joining> = joining
            .map(|((workers, from_ns), (part, reports))| Joining {
                part: *part,
                workers: workers.clone(),
                from_ns: *from_ns,
                reports: reports.clone(),
            })
            .collect();
        // Each joins before anything of the interval in which it has its share is there.
        for one in &joining {
            merger.take(one.part, 0, one.begin());
        }
        let workers = self
            .members
            .iter()
            .chain(joins.iter().map(|(workers, _)| workers));
        let codec = codec(arriving.iter().flat_map(|(_, reports)| reports));
        let link = |workers| self.link(workers, codec.as_ref());
        let mut links: Vec<_> = workers.map(link).collect();
        let reporting: Vec<Reporting> = arriving
            .iter()
            .zip(&self.members)
            .map(|((_, reports), workers)| (workers.clone(), reports.clone(), None))
            .collect();
        self.assert_grouped(reporting, &joining, codec.as_ref(), events);
        let mut number = numbers(self.plan.seed);
        while !arriving.is_empty() {
            // Those of one process arrive in their order, and those of several in any.
            let next = number(arriving.len() as u64) as usize;
            let (part, reports) = &mut arriving[next];
            let Some(report) = reports.pop_front() else {
                arriving.swap_remove(next);
                continue;
            };
            for told in links[*part](report).into_reports(*part) {
                merger.take(told.member, told.scenario, told.report);
            }
        }
        let again = std::iter::from_fn(|| merger.event());
        let (records, again): (Vec<Event>, Vec<Event>) =
            again.partition(|event| matches!(event, Event::Parts(_)));
        assert_all_same(&again, events);
        assert_records(&records, events);
    }

    /// Asserts that the reports that mergers join are these events, and that they are the same
    /// without mergers if a part is lost.
    fn assert_grouped(
        &self,
        mut parts: Vec<Reporting>,
        joining: &[Joining],
        codec: Option<&TallyCodec>,
        events: &[Event],
    ) {
        let in_groups = |parts| InGroups::new(&self.plan, parts, joining.to_vec(), codec);
        let (grouped, _) = in_groups(parts.clone()).events(&self.plan);
        assert_all_same(&grouped, events);
        let mut number = numbers(self.plan.seed ^ 0x51);
        let lost = number(self.members.len() as u64) as usize;
        let (_, reports, loss) = &mut parts[lost];
        reports.truncate(number(reports.len() as u64 + 1) as usize);
        *loss = Some(WorkerFailure::Stuck { worker: 0 });
        let (grouped, counted) = in_groups(parts.clone()).events(&self.plan);
        let part = lost % InGroups::most(&self.plan);
        let counted = &counted[lost / InGroups::most(&self.plan)];
        parts[lost].1 = (0..)
            .zip(std::mem::take(&mut parts[lost].1))
            .map(|(number, report)| {
                left_of(report, |scenario| number < counted.next(part, scenario))
            })
            .collect();
        assert_all_same(&grouped, &directly(&self.plan, parts, joining, codec));
    }

    /// Returns a function that sends the reports of a part with these workers and returns what
    /// arrives.
    fn link(
        &self,
        workers: &Range<u32>,
        codec: Option<&TallyCodec>,
    ) -> impl FnMut(PartReport) -> PartReport + use<> {
        let mut writer = ReportWriter::default();
        let scenarios = self.plan.parts().len();
        let mut reader = ReportReader::new(workers.clone(), scenarios, codec.cloned());
        move |report| {
            let bytes = writer.write(&report).expect("bytes");
            reader.read(&bytes).expect("what was sent")
        }
    }
}

/// Returns what is left of a report without the intervals of scenarios that are not counted.
fn left_of(report: PartReport, is_counted: impl Fn(usize) -> bool) -> PartReport {
    PartReport(match report.0 {
        PartNews::Intervals(mut intervals) => {
            intervals.retain(|(scenario, _)| is_counted(*scenario));
            PartNews::Intervals(intervals)
        }
        other @ (PartNews::Tally { .. }
        | PartNews::Log { .. }
        | PartNews::Slow(_)
        | PartNews::Done { .. }) => other,
    })
}

/// Returns the codec of the tallies of reports, if there are any.
fn codec<'a>(reports: impl Iterator<Item = &'a PartReport>) -> Option<TallyCodec> {
    let mut tallies = reports.filter_map(|report| match &report.0 {
        PartNews::Intervals(intervals) => {
            let mut intervals = intervals.iter();
            intervals.find_map(|(_, interval)| interval.tally.as_ref())
        }
        PartNews::Tally { tally, .. } => Some(tally),
        PartNews::Log { .. } | PartNews::Slow(_) | PartNews::Done { .. } => None,
    });
    tallies.next().map(AnyTally::codec)
}

fn assert_all_same(one: &[Event], two: &[Event]) {
    assert_eq!(one.len(), two.len());
    for (one, two) in one.iter().zip(two) {
        assert_same(one, two);
    }
}

/// Asserts that the records of the parts add up to each interval.
fn assert_records(records: &[Event], events: &[Event]) {
    let intervals = events.iter().filter_map(|event| match event {
        Event::Interval(snapshot) => Some(snapshot),
        _ => None,
    });
    let intervals: Vec<_> = intervals.collect();
    assert_eq!(records.len(), intervals.len());
    let mut in_flight = BTreeMap::new();
    for (parts, interval) in records.iter().zip(intervals) {
        let Event::Parts(parts) = parts else {
            panic!("{parts:?} are no records");
        };
        // A part that has ended, or drains, has in flight what it had.
        in_flight.extend(parts.iter().map(PartRecord::in_flight));
        assert_eq!(in_flight.values().sum::<u64>(), interval.counts.in_flight);
        let mut sum = parts[0].snapshot.clone();
        parts[1..].iter().for_each(|part| sum.merge(&part.snapshot));
        let counts = |of: &Snapshot| {
            let counts = &of.counts;
            let ended = (
                counts.answered,
                counts.failed,
                counts.missed,
                counts.dropped,
            );
            (counts.sent, ended, counts.bytes_in, counts.connections)
        };
        assert_eq!(counts(&sum), counts(interval));
        assert_eq!(sum.times, interval.times);
        assert_eq!(sum.statuses, interval.statuses);
        assert_eq!(sum.errors, interval.errors);
        assert_eq!(sum.series, interval.series);
    }
}

fn assert_same(one: &Event, two: &Event) {
    match (one, two) {
        (Event::Interval(one), Event::Interval(two)) => assert_eq!(one, two),
        (Event::Tally(one), Event::Tally(two)) => {
            let bytes = [one, two].map(|tally| tally.encode().expect("bytes"));
            assert_eq!(bytes[0], bytes[1]);
        }
        (
            Event::Ended { reason, unfinished },
            Event::Ended {
                reason: other_reason,
                unfinished: other,
            },
        ) => assert_eq!((reason, unfinished), (other_reason, other)),
        _ => panic!("{one:?} is not {two:?}"),
    }
}
