//! The response times of the parts of a run, in all and beside each other over time.
//!
//! Times of one second resemble each other, and a machine may be busy in some of them: over a whole
//! run, one part then differs from the others by more than chance although nothing is wrong with
//! it. What is wrong shows in each second anew. So for each stretch of a run it is counted how many
//! times of each part are at most some percentiles of all parts in that second: a target that slows
//! down does so for all of them. These are a few numbers for each of at most 64 stretches.

use crate::{CarriedDistribution, CarryError, Distribution, Halving, Segment};
use serde::{Deserialize, Serialize};

/// The percentiles of all parts: of higher ones a single burst decides.
pub const COMPARED_PERCENTILES: [f64; 2] = [50.0, 95.0];

/// The most stretches.
const MOST: usize = 64;

/// The response times of a part in a stretch of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStretch {
    /// Their number.
    pub samples: u64,
    /// The number of those that are at most each of the [percentiles](COMPARED_PERCENTILES) of all
    /// parts.
    pub within: [u64; COMPARED_PERCENTILES.len()],
}

impl PartStretch {
    fn add(&mut self, other: &PartStretch) {
        self.samples += other.samples;
        let within = self.within.iter_mut().zip(other.within);
        within.for_each(|(sum, within)| *sum += within);
    }
}

/// The response times of a part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartTimes {
    /// All of them.
    pub all: Distribution,
    /// Its stretches, each beside those of the other parts with the same
    /// [`company`](Self::company).
    pub stretches: Vec<PartStretch>,
    /// The number of the group of parts that have the same stretches, of those of a run.
    pub company: usize,
}

impl PartTimes {
    /// Adds the times of the same part in another scenario.
    pub fn add_scenario(&mut self, other: PartTimes) {
        self.all.merge(&other.all);
        self.stretches.extend(other.stretches);
    }
}

/// The response times of a part in transfer.
#[derive(Debug, Serialize, Deserialize)]
pub struct CarriedPartTimes {
    all: CarriedDistribution,
    stretches: Vec<PartStretch>,
}

impl CarriedPartTimes {
    /// Prepares the times of a part for their transfer.
    pub fn of(times: &PartTimes) -> Self {
        CarriedPartTimes {
            all: CarriedDistribution::of(&times.all),
            stretches: times.stretches.clone(),
        }
    }

    /// Returns the times that were sent.
    ///
    /// # Errors
    /// If they are invalid.
    pub fn times(self) -> Result<PartTimes, CarryError> {
        Ok(PartTimes {
            all: self.all.distribution()?,
            stretches: self.stretches,
            company: 0,
        })
    }
}

/// The response times of all parts of a run, interval by interval.
#[derive(Clone, Debug, Default)]
pub struct TimesOfParts {
    all: Vec<Distribution>,
    stretches: Halving<Row, MOST>,
}

/// A stretch of all parts.
#[derive(Clone, Debug, Default)]
struct Row(Vec<PartStretch>);

impl TimesOfParts {
    /// Creates the times of so many parts that have none yet.
    pub fn new(parts: usize) -> Self {
        TimesOfParts {
            all: vec![Distribution::default(); parts],
            stretches: Halving::default(),
        }
    }

    /// Has so many parts from now on.
    pub fn grow(&mut self, parts: usize) {
        self.all.resize_with(parts, Distribution::default);
    }

    /// Adds the next interval of the parts; `None` for each that has none.
    pub fn observe(&mut self, interval: &[Option<&Distribution>]) {
        self.observe_rest(interval);
        self.stretches.observe(&Row::of_interval(interval));
    }

    /// Adds what came after the last interval, to the sums alone.
    pub fn observe_rest(&mut self, rest: &[Option<&Distribution>]) {
        for (all, own) in self.all.iter_mut().zip(rest) {
            own.iter().for_each(|own| all.merge(own));
        }
    }

    /// Returns the times of each part.
    pub fn each(&self) -> Vec<PartTimes> {
        let part = |(part, all): (usize, &Distribution)| PartTimes {
            all: all.clone(),
            stretches: self.stretches_of(part),
            company: 0,
        };
        self.all.iter().enumerate().map(part).collect()
    }

    fn stretches_of(&self, part: usize) -> Vec<PartStretch> {
        let rows = self.stretches.segments().iter();
        rows.map(|Row(parts)| parts.get(part).copied().unwrap_or_default())
            .collect()
    }
}

impl Row {
    fn of_interval(interval: &[Option<&Distribution>]) -> Self {
        let mut all = Distribution::default();
        interval.iter().flatten().for_each(|own| all.merge(own));
        let bounds_ns = COMPARED_PERCENTILES.map(|percentile| all.percentile_ns(percentile));
        let part = |own: &Option<&Distribution>| {
            own.map_or_else(PartStretch::default, |own| PartStretch {
                samples: own.len(),
                within: bounds_ns.map(|bound_ns| own.count_up_to_ns(bound_ns)),
            })
        };
        Row(interval.iter().map(part).collect())
    }
}

impl Segment for Row {
    type Interval = Row;

    fn of(interval: &Row) -> Row {
        interval.clone()
    }

    fn add(&mut self, interval: &Row) {
        self.join(interval);
    }

    fn join(&mut self, next: &Row) {
        let parts = self.0.len().max(next.0.len());
        self.0.resize_with(parts, PartStretch::default);
        let parts = self.0.iter_mut().zip(&next.0);
        parts.for_each(|(own, next)| own.add(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut times = Distribution::default();
        values.into_iter().for_each(|value| times.record_ns(value));
        times
    }

    #[test]
    fn each_second_is_beside_that_of_the_others() {
        let mut parts = TimesOfParts::new(2);
        for slower in [1, 10] {
            let (fast, slow) = (times(1..=10).clone(), times(11..=20));
            // What is slow for all changes nothing.
            let scaled = |own: &Distribution| times(own.steps().map(|(ns, _)| ns * slower));
            parts.observe(&[Some(&scaled(&fast)), Some(&scaled(&slow))]);
        }
        parts.observe_rest(&[Some(&times([7])), None]);
        let [fast, slow] = parts.each().try_into().expect("two parts");
        let stretch = |within| PartStretch {
            samples: 10,
            within,
        };
        assert_eq!(fast.stretches, [stretch([10, 10]); 2]);
        assert_eq!(slow.stretches, [stretch([0, 9]); 2]);
        assert_eq!((fast.all.len(), slow.all.len()), (21, 20));
    }

    #[test]
    fn who_comes_later_has_nothing_before_and_long_runs_have_few_stretches() {
        let mut parts = TimesOfParts::new(1);
        let own = times([5]);
        parts.observe(&[Some(&own)]);
        parts.grow(2);
        (0..199).for_each(|_| parts.observe(&[Some(&own), Some(&own)]));
        let [first, second] = parts.each().try_into().expect("two parts");
        assert!(first.stretches.len() <= MOST);
        assert_eq!(first.stretches.len(), second.stretches.len());
        let samples = |part: &PartTimes| part.stretches.iter().map(|one| one.samples).sum::<u64>();
        assert_eq!((samples(&first), samples(&second)), (200, 199));
        assert!(second.stretches[0].samples < first.stretches[0].samples);
    }

    #[test]
    fn the_times_of_a_part_arrive_as_they_were_sent() {
        let mut parts = TimesOfParts::new(2);
        parts.observe(&[Some(&times(0..100)), None]);
        for sent in parts.each() {
            let bytes = postcard::to_stdvec(&CarriedPartTimes::of(&sent)).expect("bytes");
            let carried: CarriedPartTimes = postcard::from_bytes(&bytes).expect("what was sent");
            assert_eq!(carried.times().expect("times"), sent);
        }
    }
}
