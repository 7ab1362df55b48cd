//! The reports of a part of a run in transfer to another process or machine.
//!
//! A report is one message: a byte with the version of the format, then the contents in the
//! encoding of [postcard](https://postcard.jamesmunns.com), which has whole numbers of variable
//! length and no names of fields. The names of series are sent with the first report that has them,
//! so the reports of a part are written and read in their order.

use crate::lost::WorkerFailure;
use crate::not_due::NotDue;
use crate::part_reports::{PartNews, PartReport};
use crate::report::{Done, Gone, Interval, ReceivedChange};
use crate::tally::{AnyTally, TallyCodec, TallyError};
use loadline_record::{
    CarriedNames, CarriedSnapshot, CarriedUnfinished, CarryError, Exchange, KnownNames, SentNames,
    SlowRequest,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The version of the format of reports.
pub const REPORT_FORMAT: u8 = 6;

/// The reason why a report can't be sent, or was not received as one.
#[derive(Debug, thiserror::Error)]
pub enum ConveyError {
    /// The bytes are no report.
    #[error("a report can't be read: {0}")]
    Encoding(#[from] postcard::Error),
    /// The report has another version of the format.
    #[error("a report has version {0} of the format, not {REPORT_FORMAT}")]
    Version(u8),
    /// The report has no bytes.
    #[error("a report is empty")]
    Empty,
    /// Its records are invalid.
    #[error("a report can't be read: {0}")]
    Record(#[from] CarryError),
    /// Its tally is invalid.
    #[error("a report can't be read: {0}")]
    Tally(#[from] TallyError),
    /// The report is on a worker of another part.
    #[error("a report is on worker {0}, which is of another part")]
    Worker(u32),
    /// The report is on a scenario that the plan does not have.
    #[error("a report is on scenario {0}, which does not exist")]
    Scenario(usize),
    /// The report is on a part that its group does not have.
    #[error("a report is on part {0} of a group, which does not exist")]
    Part(usize),
}

#[derive(Debug, Serialize, Deserialize)]
struct Conveyed {
    names: CarriedNames,
    news: ConveyedNews,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ConveyedNews {
    Intervals(Vec<(usize, ConveyedInterval)>),
    Tally {
        scenario: usize,
        tally: Vec<u8>,
    },
    Log {
        worker: u32,
        exchanges: Vec<Exchange>,
    },
    Done {
        scenario: usize,
        done: ConveyedDone,
    },
    Slow(Vec<SlowRequest>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ConveyedInterval {
    snapshot: CarriedSnapshot,
    tally: Option<Vec<u8>>,
    followed_ns: u64,
    begun: u64,
    changes: Vec<ReceivedChange>,
    gone: Gone,
    not_due: NotDue,
}

/// The end of a member in transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConveyedDone {
    complete: bool,
    stopped: bool,
    unfinished: CarriedUnfinished,
    failures: Vec<WorkerFailure>,
    is_lost: bool,
}

/// Writes the reports of a part, in their order.
#[derive(Debug, Default)]
pub struct ReportWriter {
    names: SentNames,
}

impl ReportWriter {
    /// Returns a report as bytes.
    ///
    /// # Errors
    /// If a tally can't be encoded.
    pub fn write(&mut self, report: &PartReport) -> Result<Vec<u8>, ConveyError> {
        let news = self.conveyed(&report.0)?;
        let names = self.names.take_new();
        let bytes = postcard::to_extend(&Conveyed { names, news }, vec![REPORT_FORMAT])?;
        Ok(bytes)
    }

    fn conveyed(&mut self, news: &PartNews) -> Result<ConveyedNews, ConveyError> {
        Ok(match news {
            PartNews::Intervals(intervals) => {
                let intervals = intervals
                    .iter()
                    .map(|(scenario, interval)| Ok((*scenario, self.interval(interval)?)));
                ConveyedNews::Intervals(intervals.collect::<Result<_, ConveyError>>()?)
            }
            PartNews::Tally { scenario, tally } => ConveyedNews::Tally {
                scenario: *scenario,
                tally: tally.encode()?,
            },
            PartNews::Log { worker, exchanges } => ConveyedNews::Log {
                worker: *worker,
                exchanges: exchanges.clone(),
            },
            PartNews::Slow(requests) => ConveyedNews::Slow(requests.clone()),
            PartNews::Done { scenario, done } => ConveyedNews::Done {
                scenario: *scenario,
                done: ConveyedDone::of(done),
            },
        })
    }

    fn interval(&mut self, interval: &Interval) -> Result<ConveyedInterval, ConveyError> {
        let tally = interval.tally.as_ref().map(AnyTally::encode);
        Ok(ConveyedInterval {
            snapshot: CarriedSnapshot::of(&interval.snapshot, &mut self.names),
            tally: tally.transpose()?,
            followed_ns: interval.followed_ns,
            begun: interval.begun,
            changes: interval.changes.clone(),
            gone: interval.gone.clone(),
            not_due: interval.not_due,
        })
    }
}

/// Reads the reports of a part, in the order in which they were written.
#[derive(Debug)]
pub struct ReportReader {
    names: KnownNames,
    workers: Range<u32>,
    scenarios: usize,
    tallies: Option<TallyCodec>,
}

impl ReportReader {
    /// Creates a reader for the part with these workers of a plan with so many scenarios; `tallies`
    /// is the codec of its tallies, if its scenarios count.
    pub fn new(workers: Range<u32>, scenarios: usize, tallies: Option<TallyCodec>) -> Self {
        ReportReader {
            names: KnownNames::default(),
            workers,
            scenarios,
            tallies,
        }
    }

    /// Reads a report.
    ///
    /// # Errors
    /// If the bytes are no report of this part.
    pub fn read(&mut self, bytes: &[u8]) -> Result<PartReport, ConveyError> {
        let (version, contents) = bytes.split_first().ok_or(ConveyError::Empty)?;
        if *version != REPORT_FORMAT {
            return Err(ConveyError::Version(*version));
        }
        let Conveyed { names, news } = postcard::from_bytes(contents)?;
        self.names.learn(names)?;
        self.news(news).map(PartReport)
    }

    fn news(&self, news: ConveyedNews) -> Result<PartNews, ConveyError> {
        Ok(match news {
            ConveyedNews::Intervals(intervals) => {
                let intervals = intervals.into_iter().map(|(scenario, interval)| {
                    Ok((self.scenario(scenario)?, self.interval(interval)?))
                });
                PartNews::Intervals(intervals.collect::<Result<_, ConveyError>>()?)
            }
            ConveyedNews::Tally { scenario, tally } => PartNews::Tally {
                scenario: self.scenario(scenario)?,
                tally: self.tally(&tally)?,
            },
            ConveyedNews::Log { worker, exchanges } => PartNews::Log {
                worker: self.worker(worker)?,
                exchanges,
            },
            ConveyedNews::Slow(requests) => PartNews::Slow(requests),
            ConveyedNews::Done { scenario, done } => PartNews::Done {
                scenario: self.scenario(scenario)?,
                done: done.done()?,
            },
        })
    }

    fn interval(&self, interval: ConveyedInterval) -> Result<Interval, ConveyError> {
        let tally = interval.tally.map(|tally| self.tally(&tally));
        let changed = interval.changes.iter().map(|change| change.worker);
        for worker in changed.chain(interval.gone.workers.iter().copied()) {
            self.worker(worker)?;
        }
        Ok(Interval {
            snapshot: Box::new(interval.snapshot.snapshot(&self.names)?),
            tally: tally.transpose()?,
            followed_ns: interval.followed_ns,
            begun: interval.begun,
            changes: interval.changes,
            gone: interval.gone,
            not_due: interval.not_due,
        })
    }

    fn tally(&self, bytes: &[u8]) -> Result<AnyTally, ConveyError> {
        let codec = self.tallies.as_ref().ok_or(TallyError::Unexpected)?;
        Ok(codec.decode(bytes)?)
    }

    fn worker(&self, worker: u32) -> Result<u32, ConveyError> {
        match self.workers.contains(&worker) {
            true => Ok(worker),
            false => Err(ConveyError::Worker(worker)),
        }
    }

    fn scenario(&self, scenario: usize) -> Result<usize, ConveyError> {
        match scenario < self.scenarios {
            true => Ok(scenario),
            false => Err(ConveyError::Scenario(scenario)),
        }
    }
}

impl ConveyedDone {
    pub(crate) fn of(done: &Done) -> Self {
        ConveyedDone {
            complete: done.complete,
            stopped: done.stopped,
            unfinished: CarriedUnfinished::of(&done.unfinished),
            failures: done.failures.clone(),
            is_lost: done.is_lost,
        }
    }

    pub(crate) fn done(self) -> Result<Done, ConveyError> {
        Ok(Done {
            complete: self.complete,
            stopped: self.stopped,
            unfinished: Box::new(self.unfinished.unfinished()?),
            failures: self.failures,
            is_lost: self.is_lost,
        })
    }
}

#[cfg(test)]
mod hundred_names;
#[cfg(test)]
mod tests;
