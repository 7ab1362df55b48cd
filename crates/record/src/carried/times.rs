//! The distributions of an interval.

use super::counts::{Entry, PackedCounts, differences, entries};
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
    relation: Relation,
    counts: PackedCounts,
}

/// The meaning of the counts that are sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Relation {
    /// They are all that there are.
    Alone,
    /// They differ from those of the distribution at this place.
    Differs(u8),
    /// Their values are those of the distribution at this place, some of them in later buckets.
    Later(u8),
}

/// The places of the distributions that others may resemble: response and service times.
const BASES: [usize; 2] = [0, 1];

impl CarriedTimes {
    pub(super) fn of(times: &Times) -> Self {
        let each = times.each().map(|(_, distribution)| entries(distribution));
        let places = (0..each.len()).filter(|place| !each[*place].is_empty());
        let carried = places.map(|place| CarriedDistribution::of(place, &each));
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
    /// Prepares the distribution at this place, in the way that takes the fewest bytes.
    fn of(place: usize, each: &[Vec<Entry>]) -> Self {
        let own = &each[place];
        let mut best = (Relation::Alone, PackedCounts::all(own));
        for base in BASES.into_iter().filter(|base| *base < place) {
            let differs = differences(own, &each[base]);
            // Each takes about as many bits as a count.
            let differs = (differs.len() <= own.len()).then(|| PackedCounts::difference(&differs));
            let later = PackedCounts::later(own, &each[base]);
            let base = base as u8;
            let ways = [
                differs.map(|counts| (Relation::Differs(base), counts)),
                later.map(|counts| (Relation::Later(base), counts)),
            ];
            for way in ways.into_iter().flatten() {
                if way.1.bytes() < best.1.bytes() {
                    best = way;
                }
            }
        }
        let (relation, counts) = best;
        CarriedDistribution {
            place: place as u8,
            relation,
            counts,
        }
    }

    /// Returns the distribution, beside those that were sent before it.
    fn distribution(&self, before: &Times) -> Result<Distribution, CarryError> {
        let before = before.each();
        let base = |place: u8| match before.get(usize::from(place)) {
            Some((_, base)) => Ok(*base),
            None => Err(CarryError::Times),
        };
        match self.relation {
            Relation::Alone => self.counts.distribution(),
            Relation::Differs(place) => self.counts.distribution_beside(base(place)?),
            Relation::Later(place) => self.counts.distribution_later(base(place)?),
        }
    }
}
