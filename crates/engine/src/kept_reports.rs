//! The reports of a part that the run has not counted yet. They are kept, because whoever joins
//! them with those of other parts may be lost before the run has received the result.
//!
//! Each report has a number, from 0. Whoever joins reports receives all from some number on; the
//! names of the series in those before it are sent first.

use crate::conveyed::{ConveyError, ConveyedNews, REPORT_FORMAT};
use loadline_record::CarriedNames;
use std::collections::VecDeque;

/// The number of a message that has only names.
const NO_NUMBER: u32 = u32::MAX;

/// A report with its number, as it is sent.
pub(crate) struct Numbered<'a> {
    /// Its number; `None` if it has only the names of reports before.
    pub(crate) number: Option<u32>,
    pub(crate) report: &'a [u8],
}

impl<'a> Numbered<'a> {
    /// Reads a report and its number.
    ///
    /// # Errors
    /// If there is no number.
    pub(crate) fn read(message: &'a [u8]) -> Result<Self, ConveyError> {
        let (number, report) = message.split_first_chunk().ok_or(ConveyError::Empty)?;
        let number = u32::from_be_bytes(*number);
        Ok(Numbered {
            number: (number != NO_NUMBER).then_some(number),
            report,
        })
    }
}

/// The reports of a part that are kept.
#[derive(Debug, Default)]
pub struct KeptReports {
    /// The names in all reports so far.
    names: CarriedNames,
    /// The reports without their names, up to the next number.
    kept: VecDeque<Vec<u8>>,
    next: u32,
}

impl KeptReports {
    /// Keeps the next report of the part, as its writer has written it. Returns the message with
    /// it.
    ///
    /// # Errors
    /// If it is no report.
    pub fn keep(&mut self, report: &[u8]) -> Result<Vec<u8>, ConveyError> {
        let (version, contents) = report.split_first().ok_or(ConveyError::Empty)?;
        if *version != REPORT_FORMAT {
            return Err(ConveyError::Version(*version));
        }
        let (names, news) = postcard::take_from_bytes::<CarriedNames>(contents)?;
        self.names.append(names)?;
        self.kept.push_back(news.to_vec());
        let message = [&self.next.to_be_bytes()[..], report].concat();
        self.next += 1;
        Ok(message)
    }

    /// Forgets the reports before this number, which the run has counted; all if there is none.
    pub fn forget(&mut self, before: Option<u32>) {
        let before = before.map_or(self.next, |before| before.min(self.next));
        while self.first() < before {
            self.kept.pop_front();
        }
    }

    /// True if the run has counted everything.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the messages for who has received none of the reports: the names, and the reports
    /// that are kept.
    ///
    /// # Errors
    /// If they have no encoding.
    pub fn again(&self) -> Result<Vec<Vec<u8>>, ConveyError> {
        let message = |number: u32, names: &CarriedNames, news: &[u8]| {
            let head = [&number.to_be_bytes()[..], &[REPORT_FORMAT]].concat();
            let mut message = postcard::to_extend(names, head)?;
            message.extend_from_slice(news);
            Ok::<_, ConveyError>(message)
        };
        let nothing = postcard::to_stdvec(&ConveyedNews::Intervals(Vec::new()))?;
        let mut messages = vec![message(NO_NUMBER, &self.names, &nothing)?];
        let no_names = self.names.none_after();
        for (number, news) in (self.first()..).zip(&self.kept) {
            messages.push(message(number, &no_names, news)?);
        }
        Ok(messages)
    }

    /// Returns the number of the first report that is kept.
    fn first(&self) -> u32 {
        self.next - self.kept.len() as u32
    }
}
