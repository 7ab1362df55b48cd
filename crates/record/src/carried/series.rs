//! The requests of each name in an interval.

use super::error::CarryError;
use super::names::{KnownNames, SentNames};
use loadline_metrics::{BITS, LONGEST_NS, Series, SeriesSet, SparseCounts, bucket};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The series of an interval, in the order of their keys.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedSeries {
    most: Option<u32>,
    series: Vec<OneSeries>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OneSeries {
    name: u32,
    answered: u64,
    /// The difference between those that are answered and those that are completed: mostly 0.
    completed_less: i64,
    failed: u64,
    rejected: u64,
    statuses: BTreeMap<u16, u64>,
    /// The bytes of [`SparseCounts`].
    times: Vec<u8>,
    sum_ns: u64,
    max_ns: u64,
}

impl CarriedSeries {
    pub(super) fn of(set: &SeriesSet, names: &mut SentNames) -> Self {
        let series = set.iter().map(|(key, series)| OneSeries {
            name: names.number(key),
            answered: series.answered,
            completed_less: series.answered.wrapping_sub(series.completed) as i64,
            failed: series.failed,
            rejected: series.rejected,
            statuses: series.statuses.clone(),
            times: series.times.bytes().to_vec(),
            sum_ns: series.sum_ns,
            max_ns: series.max_ns,
        });
        CarriedSeries {
            series: series.collect(),
            most: set.most(),
        }
    }

    /// Returns the series that were sent.
    ///
    /// # Errors
    /// If they are invalid.
    pub(super) fn set(self, names: &KnownNames) -> Result<SeriesSet, CarryError> {
        let mut set = self.most.map_or_else(SeriesSet::default, SeriesSet::new);
        for one in self.series {
            let times = SparseCounts::from_bytes(&one.times, bucket(LONGEST_NS, BITS));
            let series = Series {
                answered: one.answered,
                completed: one.answered.wrapping_sub(one.completed_less as u64),
                failed: one.failed,
                rejected: one.rejected,
                statuses: one.statuses,
                times: times.ok_or(CarryError::Times)?,
                sum_ns: one.sum_ns,
                max_ns: one.max_ns,
            };
            set.add(names.name(one.name)?, &series);
        }
        Ok(set)
    }
}
