//! The reports of processes as agents of several groups would send them: joined by mergers that are
//! lost again and again, each at an instant of its own.

use super::taken_over::numbers;
use crate::grouped::{GroupCounted, GroupReader, GroupReports};
use crate::kept_reports::KeptReports;
use crate::lost::WorkerFailure;
use crate::merger::Merger;
use crate::report::Report;
use crate::{Event, PartReport, ReportWriter};
use loadline_plan::Plan;
use std::collections::VecDeque;
use std::ops::Range;

/// A part: its workers, its reports, and the reason of its loss behind them, if it is lost.
pub(crate) type Reporting = (Range<u32>, VecDeque<PartReport>, Option<WorkerFailure>);

/// The most parts of a group.
const MOST_IN_A_GROUP: u64 = 3;

/// One of so many events is the loss of a merger.
const LOSSES: u64 = 12;

/// The parts of a run in groups.
pub(crate) struct InGroups {
    groups: Vec<Group>,
}

/// A group, its merger, and what is on the way.
struct Group {
    members: Vec<Range<u32>>,
    parts: Vec<Part>,
    merger: GroupReports,
    reader: GroupReader,
    /// What the merger has sent.
    to_run: VecDeque<Vec<u8>>,
}

/// A part of a group.
struct Part {
    reports: VecDeque<PartReport>,
    writer: ReportWriter,
    kept: KeptReports,
    to_merger: VecDeque<Vec<u8>>,
    /// The reason of its loss behind its last report, until it is lost.
    loss: Option<WorkerFailure>,
    is_lost: bool,
}

impl InGroups {
    /// Creates the groups of parts with these workers and reports; a part may be lost behind them.
    pub(crate) fn new(plan: &Plan, parts: Vec<Reporting>) -> Self {
        let scenarios = plan.parts().len();
        let most = InGroups::most(plan);
        let mut parts = VecDeque::from(parts);
        let mut groups = Vec::new();
        while !parts.is_empty() {
            let count = parts.len().min(most);
            groups.push(Group::new(parts.drain(..count), scenarios));
        }
        InGroups { groups }
    }

    /// Returns the most parts of a group.
    pub(crate) fn most(plan: &Plan) -> usize {
        (1 + plan.seed % MOST_IN_A_GROUP) as usize
    }

    /// Returns the events of the run that receives the groups' reports, in an order of this seed,
    /// and the accounts of what is in them.
    pub(crate) fn events(mut self, plan: &Plan) -> (Vec<Event>, Vec<GroupCounted>) {
        let workers: Vec<Range<u32>> = self.groups.iter().map(Group::workers).collect();
        let mut merger = Merger::of_members(plan, &workers).with_response_times();
        let mut number = numbers(plan.seed ^ 0x9e37);
        while self
            .groups
            .iter()
            .any(|group| !group.reader.counted().is_over())
        {
            let member = number(self.groups.len() as u64) as usize;
            let group = &mut self.groups[member];
            if number(LOSSES) == 0 && group.may_lose_merger() {
                group.replace_merger();
            }
            group.send(&mut number);
            group.merge(&mut number);
            if let Some(told) = group.receive(&mut number) {
                for told in told.into_reports(member) {
                    merger.take(told.member, told.scenario, told.report);
                }
            }
        }
        let events = std::iter::from_fn(|| merger.event()).collect();
        let counted = self
            .groups
            .iter()
            .map(|group| group.reader.counted().clone());
        (events, counted.collect())
    }
}

impl Group {
    fn new(parts: impl Iterator<Item = Reporting>, scenarios: usize) -> Self {
        let (mut members, mut own) = (Vec::new(), Vec::new());
        for (workers, reports, loss) in parts {
            members.push(workers);
            own.push(Part {
                reports,
                writer: ReportWriter::default(),
                kept: KeptReports::default(),
                to_merger: VecDeque::new(),
                loss,
                is_lost: false,
            });
        }
        let counted = GroupCounted::new(members.len(), scenarios);
        let workers = members[0].start..members[members.len() - 1].end;
        Group {
            merger: GroupReports::new(&members, counted.clone()).expect("its group"),
            reader: GroupReader::new(workers, &[], None, counted),
            members,
            parts: own,
            to_run: VecDeque::new(),
        }
    }

    fn workers(&self) -> Range<u32> {
        self.members[0].start..self.members[self.members.len() - 1].end
    }

    /// True unless a part is lost: it could not send its last reports once more.
    fn may_lose_merger(&self) -> bool {
        !self.parts.iter().any(|part| part.is_lost)
    }

    /// Has another merger begin with the account of what the run has counted.
    fn replace_merger(&mut self) {
        self.to_run.clear();
        let bytes = self.reader.counted().encode().expect("bytes");
        let counted = GroupCounted::decode(&bytes).expect("an account");
        assert_eq!(&counted, self.reader.counted());
        self.merger = GroupReports::new(&self.members, counted.clone()).expect("its group");
        self.reader = GroupReader::new(self.workers(), &[], None, counted.clone());
        for (number, part) in self.parts.iter_mut().enumerate() {
            part.kept.forget(counted.counted_before(number));
            part.to_merger = part.kept.again().expect("bytes").into();
        }
    }

    /// Has a part send its next report.
    fn send(&mut self, number: &mut impl FnMut(u64) -> u64) {
        let index = number(self.parts.len() as u64) as usize;
        let part = &mut self.parts[index];
        if let Some(report) = part.reports.pop_front() {
            let bytes = part.writer.write(&report).expect("bytes");
            let message = part.kept.keep(&bytes).expect("a report");
            part.to_merger.push_back(message);
        }
        if number(4) == 0 {
            part.kept
                .forget(self.reader.counted().counted_before(index));
        }
    }

    /// Has the merger take a message, and send what is complete.
    fn merge(&mut self, number: &mut impl FnMut(u64) -> u64) {
        let index = number(self.parts.len() as u64) as usize;
        let part = &mut self.parts[index];
        match part.to_merger.pop_front() {
            Some(message) => self.merger.take(index, &message),
            None if part.reports.is_empty() => {
                if let Some(failure) = part.loss.take() {
                    part.is_lost = true;
                    self.merger.lose(index, &failure);
                }
            }
            None => {}
        }
        while let Some(message) = self.merger.next_message().expect("bytes") {
            self.to_run.push_back(message);
        }
    }

    /// Returns what the run receives next.
    fn receive(&mut self, number: &mut impl FnMut(u64) -> u64) -> Option<PartReport> {
        if number(2) == 0 {
            return None;
        }
        let message = self.to_run.pop_front()?;
        let news = self.reader.read(&message).expect("what was sent");
        assert_eq!(news.refused, []);
        news.report
    }
}

/// Returns the events of the run that receives the reports of these parts directly.
pub(crate) fn directly(plan: &Plan, parts: Vec<Reporting>) -> Vec<Event> {
    let members: Vec<Range<u32>> = parts.iter().map(|(workers, ..)| workers.clone()).collect();
    let mut merger = Merger::of_members(plan, &members);
    for (member, (_, reports, loss)) in parts.into_iter().enumerate() {
        let mut writer = ReportWriter::default();
        let mut reader =
            crate::ReportReader::new(members[member].clone(), plan.parts().len(), None);
        for report in reports {
            let bytes = writer.write(&report).expect("bytes");
            for told in reader.read(&bytes).expect("a report").into_reports(member) {
                merger.take(told.member, told.scenario, told.report);
            }
        }
        if let Some(failure) = loss {
            merger.take(member, 0, Report::Lost(failure));
        }
    }
    std::iter::from_fn(|| merger.event()).collect()
}
