//! The reports of processes as agents of several groups would send them: joined by mergers that are
//! lost again and again, each at an instant of its own. Agents that join the run are in no group.

use super::taken_over::numbers;
use crate::grouped::{GroupCounted, GroupReader, GroupReports};
use crate::kept_reports::KeptReports;
use crate::lost::WorkerFailure;
use crate::merger::Merger;
use crate::part_reports::PartNews;
use crate::report::Report;
use crate::{Event, PartReport, ReportReader, ReportWriter, TallyCodec};
use loadline_plan::Plan;
use std::collections::VecDeque;
use std::ops::Range;

/// A part: its workers, its reports, and the reason of its loss behind them, if it is lost.
pub(crate) type Reporting = (Range<u32>, VecDeque<PartReport>, Option<WorkerFailure>);

/// A part that joins the run: its number is the number of parts before it.
#[derive(Clone)]
pub(crate) struct Joining {
    pub(crate) part: usize,
    pub(crate) workers: Range<u32>,
    /// The instant from which on its intervals count.
    pub(crate) from_ns: u64,
    pub(crate) reports: VecDeque<PartReport>,
}

impl Joining {
    /// Returns its first report.
    pub(crate) fn begin(&self) -> Report {
        Report::Joined {
            workers: self.workers.clone(),
            from_ns: self.from_ns,
        }
    }

    /// True if it joins before a report is there: that is of an interval in which it has a share,
    /// or the last one of a part.
    fn precedes(&self, report: &PartReport) -> bool {
        match &report.0 {
            PartNews::Intervals(intervals) => {
                let mut intervals = intervals.iter();
                intervals.any(|(_, interval)| interval.snapshot.start_ns >= self.from_ns)
            }
            PartNews::Done { .. } => true,
            PartNews::Tally { .. } | PartNews::Log { .. } | PartNews::Slow(_) => false,
        }
    }
}

/// The most parts of a group.
const MOST_IN_A_GROUP: u64 = 3;

/// One of so many events is the loss of a merger.
const LOSSES: u64 = 12;

/// The parts of a run in groups.
pub(crate) struct InGroups {
    groups: Vec<Group>,
    /// Those who join, and are not there yet.
    joining: Vec<Joining>,
    /// Those who have joined.
    joined: Vec<Joined>,
    /// The codec of their tallies, if they have any.
    codec: Option<TallyCodec>,
}

/// A part that has joined, and its reports.
struct Joined {
    part: usize,
    reports: VecDeque<PartReport>,
    writer: ReportWriter,
    reader: ReportReader,
}

/// A group, its merger, and what is on the way.
struct Group {
    members: Vec<Range<u32>>,
    parts: Vec<Part>,
    merger: GroupReports,
    reader: GroupReader,
    codec: Option<TallyCodec>,
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
    pub(crate) fn new(
        plan: &Plan,
        parts: Vec<Reporting>,
        joining: Vec<Joining>,
        codec: Option<&TallyCodec>,
    ) -> Self {
        let scenarios = plan.parts().len();
        let most = InGroups::most(plan);
        let mut parts = VecDeque::from(parts);
        let mut groups = Vec::new();
        while !parts.is_empty() {
            let count = parts.len().min(most);
            groups.push(Group::new(parts.drain(..count), scenarios, codec));
        }
        InGroups {
            groups,
            joining,
            joined: Vec::new(),
            codec: codec.cloned(),
        }
    }

    /// Returns the most parts of a group.
    pub(crate) fn most(plan: &Plan) -> usize {
        (1 + plan.seed % MOST_IN_A_GROUP) as usize
    }

    /// Returns the events of the run that receives the reports of groups and of those who join, in
    /// an order of this seed, and the accounts of what is in those of groups.
    pub(crate) fn events(mut self, plan: &Plan) -> (Vec<Event>, Vec<GroupCounted>) {
        let workers: Vec<Range<u32>> = self.groups.iter().map(Group::workers).collect();
        let mut merger = Merger::of_members(plan, &workers).with_response_times();
        let mut number = numbers(plan.seed ^ 0x9e37);
        let mut events = Vec::new();
        while !self.is_over() {
            let members = (self.groups.len() + self.joined.len()) as u64;
            let member = number(members) as usize;
            let (at, told) = match member.checked_sub(self.groups.len()) {
                None => (member, self.groups[member].pass(&mut number)),
                Some(joined) => self.joined[joined].pass(),
            };
            let Some(told) = told else { continue };
            self.join(plan, &told, &mut number, &mut merger);
            for told in told.into_reports(at) {
                merger.take(told.member, told.scenario, told.report);
            }
            // The intervals of a run are there as soon as they are complete.
            events.extend(std::iter::from_fn(|| merger.event()));
        }
        let counted = self
            .groups
            .iter()
            .map(|group| group.reader.counted().clone());
        (events, counted.collect())
    }

    fn is_over(&self) -> bool {
        let mut groups = self.groups.iter();
        self.joining.is_empty()
            && self.joined.iter().all(|joined| joined.reports.is_empty())
            && groups.all(|group| group.reader.counted().is_over())
    }

    /// Has those join who do before this report, and now and then one that could do so later.
    fn join(
        &mut self,
        plan: &Plan,
        report: &PartReport,
        number: &mut impl FnMut(u64) -> u64,
        merger: &mut Merger,
    ) {
        while let Some(next) = self.joining.first() {
            if !next.precedes(report) && number(4) > 0 {
                return;
            }
            let next = self.joining.remove(0);
            merger.take(next.part, 0, next.begin());
            self.joined.push(Joined {
                part: next.part,
                reader: ReportReader::new(next.workers, plan.parts().len(), self.codec.clone()),
                reports: next.reports,
                writer: ReportWriter::default(),
            });
        }
    }
}

impl Joined {
    /// Returns the number of the part, and its next report.
    fn pass(&mut self) -> (usize, Option<PartReport>) {
        let report = self.reports.pop_front().map(|report| {
            let bytes = self.writer.write(&report).expect("bytes");
            self.reader.read(&bytes).expect("what was sent")
        });
        (self.part, report)
    }
}

impl Group {
    fn new(
        parts: impl Iterator<Item = Reporting>,
        scenarios: usize,
        codec: Option<&TallyCodec>,
    ) -> Self {
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
            reader: GroupReader::new(workers, &names(members.len()), codec, counted),
            codec: codec.cloned(),
            members,
            parts: own,
            to_run: VecDeque::new(),
        }
    }

    /// Has something happen to one of its parts, or to its merger. Returns what the run receives.
    fn pass(&mut self, number: &mut impl FnMut(u64) -> u64) -> Option<PartReport> {
        if number(LOSSES) == 0 && self.may_lose_merger() {
            self.replace_merger();
        }
        self.send(number);
        self.merge(number);
        self.receive(number)
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
        let names = names(self.parts.len());
        let codec = self.codec.as_ref();
        self.reader = GroupReader::new(self.workers(), &names, codec, counted.clone());
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

/// Returns the names of so many parts.
fn names(parts: usize) -> Vec<String> {
    (0..parts).map(|part| format!("agent {part}")).collect()
}

/// Returns the events of the run that receives the reports of these parts directly.
pub(crate) fn directly(
    plan: &Plan,
    parts: Vec<Reporting>,
    joining: &[Joining],
    codec: Option<&TallyCodec>,
) -> Vec<Event> {
    let members: Vec<Range<u32>> = parts.iter().map(|(workers, ..)| workers.clone()).collect();
    let mut merger = Merger::of_members(plan, &members);
    for one in joining {
        merger.take(one.part, 0, one.begin());
    }
    let joining = joining.iter().cloned();
    let joining = joining.map(|one| (one.workers, one.reports, None));
    for (member, (workers, reports, loss)) in parts.into_iter().chain(joining).enumerate() {
        let mut writer = ReportWriter::default();
        let mut reader = ReportReader::new(workers, plan.parts().len(), codec.cloned());
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
