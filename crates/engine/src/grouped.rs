//! The reports of a group of parts, joined by one of them before the run receives them.
//!
//! The coordinator of a thousand parts can't read a thousand reports a second. So parts have
//! groups, and a *merger* joins the reports of each: [`GroupReports`]. What it sends says of which
//! parts what is in it, and the run keeps the account: [`GroupReader`], [`GroupCounted`]. A merger
//! may be lost. The next one then begins with the account and with the reports that the parts
//! [keep](crate::KeptReports): what was counted is left out, and what was not is not missing.
//!
//! An interval of a scenario is that of all parts that take part in it, so that the run has
//! counted the intervals of a part up to some report. Its early tallies, logs and slowest requests
//! are passed on as they arrive, and have a number of their own up to which they were.

use crate::conveyed::{ConveyError, ConveyedDone, ReportReader, ReportWriter};
use crate::joined::{Joined, Standing, Taken};
use crate::kept_reports::Numbered;
use crate::lost::WorkerFailure;
use crate::merger::in_all_scenarios;
use crate::part_reports::{PartNews, PartReport};
use crate::report::{Interval, Report};
use crate::tally::TallyCodec;
use loadline_record::{CarriedPartTimes, PartTimes};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// The account of what the run has counted of the reports of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupCounted {
    scenarios: Vec<ScenarioCounted>,
    /// For each part the number of the next report with something that is passed on.
    passed: Vec<u32>,
}

/// The account of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ScenarioCounted {
    parts: Vec<PartCounted>,
    /// True if the end of all parts was counted.
    has_ended: bool,
}

/// The account of a part's intervals in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PartCounted {
    /// The number of the next report.
    next: u32,
    standing: Standing,
    /// Its end, once all its intervals are counted.
    done: Option<ConveyedDone>,
}

/// A message of a merger.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Merged {
    scenario: usize,
    /// The parts whose intervals are in the report, each with the number of its own one.
    intervals: Vec<(Taken, u32)>,
    /// The ends of parts all of whose intervals are sent.
    ends: Vec<(usize, ConveyedDone)>,
    /// The part whose report is passed on, and the number of that.
    passed: Option<(usize, u32)>,
    /// True if the report is the end of the scenario.
    has_ended: bool,
    /// The parts that have sent what can't be used, each with the reason.
    refused: Vec<(usize, String)>,
    /// The response times of each part, as far as this merger has them; after the last scenario.
    times: Vec<CarriedPartTimes>,
    /// The report, if there is one.
    report: Option<Vec<u8>>,
}

impl GroupCounted {
    /// Creates the account of a group of so many parts that has reported nothing.
    pub fn new(parts: usize, scenarios: usize) -> Self {
        let scenario = ScenarioCounted {
            parts: vec![PartCounted::default(); parts],
            has_ended: false,
        };
        GroupCounted {
            scenarios: vec![scenario; scenarios],
            passed: vec![0; parts],
        }
    }

    /// Returns the account as bytes, for a merger.
    ///
    /// # Errors
    /// If it has no encoding.
    pub fn encode(&self) -> Result<Vec<u8>, ConveyError> {
        Ok(postcard::to_stdvec(self)?)
    }

    /// Reads an account.
    ///
    /// # Errors
    /// If the bytes are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, ConveyError> {
        Ok(postcard::from_bytes(bytes)?)
    }

    /// Returns the number of the first report of a part that may not be counted yet; `None` if the
    /// part has ended and everything is counted.
    pub fn counted_before(&self, part: usize) -> Option<u32> {
        let parts = self.scenarios.iter().map(|scenario| &scenario.parts[part]);
        let open = parts.filter(|part| part.done.is_none());
        open.map(|part| part.next).min()
    }

    /// Returns the number of the first report of a part whose interval in a scenario is not
    /// counted.
    #[cfg(test)]
    pub(crate) fn next(&self, part: usize, scenario: usize) -> u32 {
        self.scenarios[scenario].parts[part].next
    }

    /// True if the ends of all scenarios are counted.
    pub fn is_over(&self) -> bool {
        self.scenarios.iter().all(|scenario| scenario.has_ended)
    }

    fn count(&mut self, merged: &Merged) -> Result<(), ConveyError> {
        let scenario = self.scenarios.get_mut(merged.scenario);
        let scenario = scenario.ok_or(ConveyError::Scenario(merged.scenario))?;
        let part_of = |part: usize| move || ConveyError::Part(part);
        for (taken, number) in &merged.intervals {
            let part = scenario.parts.get_mut(taken.member);
            let part = part.ok_or_else(part_of(taken.member))?;
            part.next = number + 1;
            part.standing.clone_from(&taken.standing);
        }
        for (part, done) in &merged.ends {
            let part = scenario.parts.get_mut(*part).ok_or_else(part_of(*part))?;
            part.done = Some(done.clone());
        }
        if let Some((part, number)) = merged.passed {
            *self.passed.get_mut(part).ok_or_else(part_of(part))? = number + 1;
        }
        scenario.has_ended |= merged.has_ended;
        Ok(())
    }
}

/// The report of a part on an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInterval {
    /// The number of the part in its group.
    pub part: usize,
    /// The number of the scenario.
    pub scenario: usize,
    /// The end of the interval, in nanoseconds from the run's zero.
    pub until_ns: u64,
    /// The starts of a closed load that its users took.
    pub begun: u64,
}

/// A message of a group to its run.
#[derive(Debug)]
pub struct GroupNews {
    /// The report of all of them together, if there is one.
    pub report: Option<PartReport>,
    /// The parts whose intervals are in it.
    pub intervals: Vec<PartInterval>,
    /// The parts that have sent what can't be used, each with the reason.
    pub refused: Vec<(usize, String)>,
    /// The response times of each part, at the end.
    pub times: Vec<PartTimes>,
}

/// Reads what the merger of a group sends, in its order, and keeps the account.
#[derive(Debug)]
pub struct GroupReader {
    reports: ReportReader,
    counted: GroupCounted,
}

impl GroupReader {
    /// Creates the reader of a merger that begins with this account, for the group with these
    /// workers, whose parts have these names; `tallies` is the codec of their tallies, if their
    /// scenarios count.
    pub fn new(
        workers: Range<u32>,
        parts: &[String],
        tallies: Option<&TallyCodec>,
        counted: GroupCounted,
    ) -> Self {
        let scenarios = counted.scenarios.len();
        let tallies = tallies.map(|tallies| tallies.of_sealed(parts));
        GroupReader {
            reports: ReportReader::new(workers, scenarios, tallies),
            counted,
        }
    }

    /// Returns the account.
    pub fn counted(&self) -> &GroupCounted {
        &self.counted
    }

    /// Reads a message.
    ///
    /// # Errors
    /// If it is none of this group's merger.
    pub fn read(&mut self, message: &[u8]) -> Result<GroupNews, ConveyError> {
        let merged: Merged = postcard::from_bytes(message)?;
        let report = merged.report.as_deref();
        let report = report.map(|bytes| self.reports.read(bytes)).transpose()?;
        self.counted.count(&merged)?;
        let until_ns = report.as_ref().and_then(PartReport::interval_end_ns);
        let interval_of = |(taken, _): &(Taken, u32)| PartInterval {
            part: taken.member,
            scenario: merged.scenario,
            until_ns: until_ns.unwrap_or(0),
            begun: taken.begun,
        };
        let times = merged.times.into_iter().map(CarriedPartTimes::times);
        Ok(GroupNews {
            intervals: merged.intervals.iter().map(interval_of).collect(),
            times: times.collect::<Result<_, _>>()?,
            refused: merged.refused,
            report,
        })
    }
}

/// Joins the reports of the parts of a group.
#[derive(Debug)]
pub struct GroupReports {
    readers: Vec<ReportReader>,
    scenarios: Vec<GroupScenario>,
    /// For each part the number of the next report with something to pass on.
    passed: Vec<u32>,
    /// Reports that wait for nothing.
    passed_on: VecDeque<(Merged, Option<PartReport>)>,
    writer: ReportWriter,
}

/// The reports of a group on a scenario.
struct GroupScenario {
    joined: Joined,
    parts: Vec<GroupPart>,
    has_ended: bool,
}

/// A part's reports on a scenario.
#[derive(Default)]
struct GroupPart {
    /// The number of the first report that was not counted before this merger.
    next: u32,
    /// The numbers of the reports with the intervals that wait.
    waiting: VecDeque<u32>,
    /// True if its end was sent.
    has_ended: bool,
}

impl GroupReports {
    /// Begins to join the reports of the parts with these workers, from this account on.
    ///
    /// # Errors
    /// If the account is that of another group.
    pub fn new(parts: &[Range<u32>], counted: GroupCounted) -> Result<Self, ConveyError> {
        if counted.passed.len() != parts.len() {
            return Err(ConveyError::Part(parts.len()));
        }
        let count = counted.scenarios.len();
        let reader = |(number, part): (usize, &Range<u32>)| {
            ReportReader::new(part.clone(), count, Some(TallyCodec::sealing(number)))
        };
        let scenarios = counted.scenarios.into_iter();
        let scenarios = scenarios.map(|scenario| GroupScenario::new(parts, scenario));
        Ok(GroupReports {
            readers: parts.iter().enumerate().map(reader).collect(),
            scenarios: scenarios.collect::<Result<_, _>>()?,
            passed: counted.passed,
            passed_on: VecDeque::new(),
            writer: ReportWriter::default(),
        })
    }

    /// Takes a message of a part, which [keeps](crate::KeptReports) it.
    pub fn take(&mut self, part: usize, message: &[u8]) {
        if let Err(error) = self.try_take(part, message) {
            let merged = Merged {
                refused: vec![(part, error.to_string())],
                ..Merged::default()
            };
            self.passed_on.push_back((merged, None));
        }
    }

    fn try_take(&mut self, part: usize, message: &[u8]) -> Result<(), ConveyError> {
        let Numbered { number, report } = Numbered::read(message)?;
        let reader = self.readers.get_mut(part).ok_or(ConveyError::Part(part))?;
        let report = reader.read(report)?;
        let Some(number) = number else {
            return Ok(());
        };
        match report.0 {
            PartNews::Intervals(intervals) => {
                for (scenario, interval) in intervals {
                    self.scenarios[scenario].take(part, number, interval);
                }
            }
            PartNews::Done { scenario, done } => {
                let scenario = &mut self.scenarios[scenario];
                scenario.joined.take(part, Report::Done(done));
            }
            PartNews::Tally { .. } | PartNews::Log { .. } | PartNews::Slow(_) => {
                self.pass_on(part, number, report);
            }
        }
        Ok(())
    }

    /// Passes on what belongs to no interval, unless that happened before this merger.
    fn pass_on(&mut self, part: usize, number: u32, report: PartReport) {
        if number >= self.passed[part] {
            self.passed[part] = number + 1;
            let merged = Merged {
                passed: Some((part, number)),
                ..Merged::default()
            };
            self.passed_on.push_back((merged, Some(report)));
        }
    }

    /// Marks a part as lost, unless it has ended. Its reports that are not sent yet are left out:
    /// what is counted of it when the run receives the next message is all.
    pub fn lose(&mut self, part: usize, failure: &WorkerFailure) {
        for scenario in &mut self.scenarios {
            if scenario.joined.cut_off(part, failure) {
                scenario.parts[part].waiting.clear();
            }
        }
    }

    /// True if the last message was returned.
    pub fn is_over(&self) -> bool {
        self.passed_on.is_empty() && self.scenarios.iter().all(|one| one.has_ended)
    }

    /// Returns the next message to the run, if it is complete.
    ///
    /// # Errors
    /// If it has no encoding.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, ConveyError> {
        let Some((mut merged, report)) = self.next_merged() else {
            return Ok(None);
        };
        let report = report.as_ref().map(|report| self.writer.write(report));
        merged.report = report.transpose()?;
        Ok(Some(postcard::to_stdvec(&merged)?))
    }

    fn next_merged(&mut self) -> Option<(Merged, Option<PartReport>)> {
        if let Some(passed) = self.passed_on.pop_front() {
            return Some(passed);
        }
        let mut scenarios = self.scenarios.iter_mut().enumerate();
        let (scenario, (mut merged, news)) =
            scenarios.find_map(|(number, one)| Some((number, one.next(number)?)))?;
        merged.scenario = scenario;
        if merged.has_ended && self.scenarios.iter().all(|one| one.has_ended) {
            merged.times = self.response_times();
        }
        Some((merged, news.map(PartReport)))
    }

    /// Returns the response times of each part in all scenarios.
    fn response_times(&self) -> Vec<CarriedPartTimes> {
        let scenarios = self.scenarios.iter();
        let all = in_all_scenarios(scenarios.map(|scenario| &scenario.joined));
        all.iter().map(CarriedPartTimes::of).collect()
    }
}

impl GroupScenario {
    fn new(parts: &[Range<u32>], counted: ScenarioCounted) -> Result<Self, ConveyError> {
        let joined = Joined::new(parts.iter().cloned());
        let mut joined = joined.with_response_times().with_members_noted();
        if counted.has_ended {
            joined.has_ended_elsewhere();
        }
        let mut own = Vec::new();
        for (number, part) in counted.parts.into_iter().enumerate() {
            own.push(GroupPart {
                next: part.next,
                waiting: VecDeque::new(),
                has_ended: part.done.is_some(),
            });
            let done = part.done.map(ConveyedDone::done).transpose()?;
            joined.resume(number, part.standing, done);
        }
        Ok(GroupScenario {
            joined,
            parts: own,
            has_ended: counted.has_ended,
        })
    }

    /// Takes an interval, unless it was counted before this merger.
    fn take(&mut self, part: usize, number: u32, interval: Interval) {
        let own = &mut self.parts[part];
        if number >= own.next && !self.joined.is_done(part) {
            own.waiting.push_back(number);
            self.joined.take(part, Report::Interval(interval));
        }
    }

    /// Returns the next interval of all parts together, the ends of parts without further ones, or
    /// the end.
    fn next(&mut self, scenario: usize) -> Option<(Merged, Option<PartNews>)> {
        if self.has_ended {
            return None;
        }
        let interval = self.joined.interval();
        let taken = self.joined.take_members().into_iter();
        let intervals = taken.filter_map(|taken| {
            let number = self.parts[taken.member].waiting.pop_front()?;
            Some((taken, number))
        });
        let mut merged = Merged {
            intervals: intervals.collect(),
            ends: self.ends(),
            ..Merged::default()
        };
        let news = match interval {
            Some(interval) => Some(PartNews::Intervals(vec![(scenario, interval)])),
            None => self.joined.end().map(|done| {
                (self.has_ended, merged.has_ended) = (true, true);
                PartNews::Done { scenario, done }
            }),
        };
        (news.is_some() || !merged.ends.is_empty()).then_some((merged, news))
    }

    /// Returns the ends of parts that have no further intervals, each once.
    fn ends(&mut self) -> Vec<(usize, ConveyedDone)> {
        let mut ends = Vec::new();
        for (number, part) in self.parts.iter_mut().enumerate() {
            if let Some(done) = self.joined.end_of(number).filter(|_| !part.has_ended) {
                part.has_ended = true;
                ends.push((number, ConveyedDone::of(done)));
            }
        }
        ends
    }
}

impl std::fmt::Debug for GroupScenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupScenario")
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
