//! The reports of a run's workers as two processes would send them: joined, encoded and merged
//! again.

use crate::conveyed::{ReportReader, ReportWriter};
use crate::event::Event;
use crate::merger::Merger;
use crate::part_reports::{PartNews, PartReport, PartReports};
use crate::report::{MemberReport, Report};
use loadline_plan::Plan;
use std::cell::RefCell;
use std::ops::Range;

/// Collects the reports of each half of the workers.
pub(crate) struct InParts {
    plan: Plan,
    members: Vec<Range<u32>>,
    parts: RefCell<Vec<PartReports>>,
}

impl InParts {
    pub(crate) fn new(plan: &Plan) -> Self {
        let half = plan.threads / 2;
        let members = [0..half, half..plan.threads];
        let members = members.into_iter().filter(|workers| !workers.is_empty());
        let members: Vec<Range<u32>> = members.collect();
        let scenarios = plan.parts().len();
        let parts = members.iter().cloned();
        InParts {
            plan: plan.clone(),
            parts: RefCell::new(
                parts
                    .map(|part| PartReports::new(part, scenarios))
                    .collect(),
            ),
            members,
        }
    }

    pub(crate) fn take(&self, worker: usize, scenario: usize, report: Report) {
        let has_it = |workers: &Range<u32>| workers.contains(&(worker as u32));
        let part = self.members.iter().position(has_it);
        self.parts.borrow_mut()[part.expect("each worker has a part")].take(MemberReport {
            member: worker,
            scenario,
            report,
        });
    }

    /// Asserts that the merged reports of the parts are these events.
    pub(crate) fn assert_merged(&self, events: &[Event]) {
        let mut merger = Merger::of_members(&self.plan, &self.members);
        for (number, part) in self.parts.borrow_mut().iter_mut().enumerate() {
            let mut link = self.link(number);
            while let Some(report) = part.next() {
                for told in link(report).into_reports(number) {
                    merger.take(told.member, told.scenario, told.report);
                }
            }
        }
        let again: Vec<Event> = std::iter::from_fn(|| merger.event()).collect();
        assert_eq!(again.len(), events.len());
        for (again, event) in again.iter().zip(events) {
            assert_same(again, event);
        }
    }

    /// Returns a function that sends the reports of a part and returns what arrives. Only the tools
    /// know the types of their tallies, so a report with a tally is not sent.
    fn link(&self, number: usize) -> impl FnMut(PartReport) -> PartReport {
        let workers = self.members[number].clone();
        let mut writer = ReportWriter::default();
        let mut reader = ReportReader::new(workers, self.plan.parts().len(), None);
        move |report| match has_tally(&report) {
            true => report,
            false => {
                let bytes = writer.write(&report).expect("bytes");
                reader.read(&bytes).expect("what was sent")
            }
        }
    }
}

fn has_tally(report: &PartReport) -> bool {
    match &report.0 {
        PartNews::Intervals(intervals) => {
            let mut intervals = intervals.iter();
            intervals.any(|(_, interval)| interval.tally.is_some())
        }
        PartNews::Tally { .. } => true,
        PartNews::Log { .. } | PartNews::Done { .. } => false,
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
