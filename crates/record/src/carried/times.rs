//! The distributions of an interval.

use super::counts::{PackedCounts, differences, entries};
use super::error::CarryError;
use crate::{Distribution, Times};
use serde::{Deserialize, Serialize};

/// The distributions of an interval that are not empty.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedTimes(Vec<CarriedDistribution>);

/// A distribution.
#[derive(Debug, Serialize, Deserialize)]
struct CarriedDistribution {
    /// Its place in the list of [`Times::each`].
    place: u8,
    /// The place of the distribution from which its counts differ; `None` if all are sent.
    base: Option<u8>,
    counts: PackedCounts,
}

/// The places of the distributions that others may resemble: response and service times.
const BASES: [usize; 2] = [0, 1];

impl CarriedTimes {
    pub(super) fn of(times: &Times) -> Self {
        let each = times.each().map(|(_, distribution)| entries(distribution));
        let places = (0..each.len()).filter(|place| !each[*place].is_empty());
        let carried = places.map(|place| {
            let own = &each[place];
            let bases = BASES.into_iter().filter(|base| *base < place);
            let beside = bases.map(|base| (base, differences(own, &each[base])));
            let nearest = beside.min_by_key(|(_, differences)| differences.len());
            match nearest.filter(|(_, differences)| differences.len() < own.len()) {
                Some((base, differences)) => CarriedDistribution {
                    place: place as u8,
                    base: Some(base as u8),
                    counts: PackedCounts::difference(&differences),
                },
                None => CarriedDistribution {
                    place: place as u8,
                    base: None,
                    counts: PackedCounts::of(times.each()[place].1),
                },
            }
        });
        CarriedTimes(carried.collect())
    }

    /// Returns the times that were sent.
    ///
    /// # Errors
    /// If they are invalid.
    pub(super) fn times(self) -> Result<Times, CarryError> {
        let mut times = Times::default();
        for carried in self.0 {
            let distribution = carried.distribution(&times)?;
            let mut each = times.each_mut();
            let (_, own) = each
                .get_mut(usize::from(carried.place))
                .ok_or(CarryError::Times)?;
            **own = distribution;
        }
        Ok(times)
    }
}

impl CarriedDistribution {
    /// Returns the distribution, beside those that were sent before it.
    fn distribution(&self, before: &Times) -> Result<Distribution, CarryError> {
        let Some(base) = self.base else {
            return self.counts.distribution();
        };
        let before = before.each();
        let (_, base) = before.get(usize::from(base)).ok_or(CarryError::Times)?;
        self.counts.distribution_beside(base)
    }
}
