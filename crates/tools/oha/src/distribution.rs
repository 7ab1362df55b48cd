//! Times as a distribution: a histogram of three significant digits with exact extremes and mean,
//! so that a run of any length needs the same memory.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest time that the histogram distinguishes, in nanoseconds: a day.
const HIGHEST_NS: u64 = 24 * 3_600_000_000_000;
/// The percentiles of every report.
pub(super) const PERCENTILES: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
/// The number of bars of the printed histogram.
const BARS: usize = 11;

/// Times in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Distribution {
    #[serde(with = "counts")]
    histogram: Histogram<u64>,
    extremes: Extremes,
}

/// The minimum, maximum and mean of times, without their distribution. Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Extremes {
    pub(super) count: u64,
    total_ns: u128,
    least_ns: u64,
    most_ns: u64,
    /// The number of times equal to the minimum.
    least_count: u64,
}

impl Extremes {
    pub(super) fn add(&mut self, time_ns: u64) {
        self.merge(&Extremes {
            count: 1,
            total_ns: u128::from(time_ns),
            least_ns: time_ns,
            most_ns: time_ns,
            least_count: 1,
        });
    }

    pub(super) fn merge(&mut self, other: &Extremes) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.most_ns = self.most_ns.max(other.most_ns);
        if other.least_ns < self.least_ns {
            (self.least_ns, self.least_count) = (other.least_ns, other.least_count);
        } else if other.least_ns == self.least_ns {
            self.least_count += other.least_count;
        }
    }

    /// Returns the minimum in seconds; infinity if there is no time, as in oha.
    pub(super) fn fastest(&self) -> f64 {
        match self.count {
            0 => f64::INFINITY,
            _ => seconds(self.least_ns),
        }
    }

    /// Returns the maximum in seconds; negative infinity if there is no time.
    pub(super) fn slowest(&self) -> f64 {
        match self.count {
            0 => f64::NEG_INFINITY,
            _ => seconds(self.most_ns),
        }
    }

    /// Returns the mean in seconds; NaN if there is no time.
    pub(super) fn average(&self) -> f64 {
        self.total_ns as f64 / self.count as f64 / 1e9
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution {
            histogram: empty(),
            extremes: Extremes::default(),
        }
    }
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, 3)
        .expect("the bounds are in order, and three digits are possible")
}

/// The format of a histogram for another process: the recorded values with their counts.
mod counts {
    use super::{Histogram, empty};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let recorded = histogram.iter_recorded();
        let counts = recorded.map(|at| (at.value_iterated_to(), at.count_at_value()));
        // A format without names needs the length first.
        serializer.collect_seq(counts.collect::<Vec<_>>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let mut histogram = empty();
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            histogram.record_n(value, count).map_err(D::Error::custom)?;
        }
        Ok(histogram)
    }
}

impl Distribution {
    pub(super) fn add(&mut self, time_ns: u64) {
        self.extremes.add(time_ns);
        self.histogram.saturating_record(time_ns);
    }

    pub(super) fn merge(&mut self, other: &Distribution) {
        self.extremes.merge(&other.extremes);
        self.histogram
            .add(&other.histogram)
            .expect("both have the same bounds");
    }

    pub(super) fn extremes(&self) -> &Extremes {
        &self.extremes
    }

    /// Returns the value with index ⌊p · n / 100⌋ of all in rising order, in seconds; NaN if there
    /// is no value.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let count = self.extremes.count;
        if count == 0 {
            return f64::NAN;
        }
        let index = ((percent / 100.0 * count as f64) as u64).min(count - 1);
        if index < self.extremes.least_count {
            return self.extremes.fastest();
        }
        if index == count - 1 {
            return self.extremes.slowest();
        }
        let mut passed = 0;
        for step in self.histogram.iter_recorded() {
            passed += step.count_at_value();
            if passed > index {
                return seconds(self.within(step.value_iterated_to()));
            }
        }
        self.extremes.slowest()
    }

    /// Returns the bars of the printed histogram: each with its label in seconds, and the number of
    /// values above the previous label and up to its own. The first bar counts only values equal to
    /// the minimum.
    pub(super) fn bars(&self) -> Vec<(f64, u64)> {
        let (fastest, slowest) = (self.extremes.fastest(), self.extremes.slowest());
        if self.extremes.count == 0 {
            return vec![(f64::NAN, 0); BARS];
        }
        let step = (slowest - fastest) / (BARS - 1) as f64;
        let label = |index: usize| fastest + index as f64 * step;
        let mut bars: Vec<(f64, u64)> = (0..BARS).map(|index| (label(index), 0)).collect();
        let mut fastest_left = self.extremes.least_count;
        bars[0].1 = fastest_left;
        for recorded in self.histogram.iter_recorded() {
            let mut count = recorded.count_at_value();
            let known = count.min(fastest_left);
            fastest_left -= known;
            count -= known;
            let value = seconds(self.within(recorded.value_iterated_to()));
            let found = bars.iter().skip(1).position(|(label, _)| *label >= value);
            let index = found.map_or(BARS - 1, |found| found + 1);
            bars[index].1 += count;
        }
        bars
    }

    /// Returns the middle of a value's bucket, limited to the range of the recorded values.
    fn within(&self, value_ns: u64) -> u64 {
        let middle = self.histogram.median_equivalent(value_ns);
        middle.clamp(self.extremes.least_ns, self.extremes.most_ns)
    }
}

pub(super) fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        times.iter().for_each(|time| distribution.add(*time));
        distribution
    }

    #[test]
    fn without_a_time_nothing_is_a_number() {
        let none = of(&[]);
        assert!(none.percentile(50.0).is_nan() && none.extremes().average().is_nan());
        assert_eq!(none.extremes().slowest(), f64::NEG_INFINITY);
        assert!(
            none.bars()
                .iter()
                .all(|(label, count)| label.is_nan() && *count == 0)
        );
    }

    #[test]
    fn one_time_is_in_the_first_bar() {
        let counts: Vec<u64> = of(&[570_000])
            .bars()
            .iter()
            .map(|(_, count)| *count)
            .collect();
        assert_eq!(counts, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of(&[570_000]).percentile(99.99), 0.000_57);
    }

    #[test]
    fn the_first_bar_counts_the_fastest_alone() {
        let bars = of(&[1_000_000, 1_000_000, 1_000_001, 2_000_000]).bars();
        assert_eq!(bars[0], (0.001, 2));
        assert_eq!(bars[1].1, 1);
        assert_eq!(bars[10].1, 1);
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_sorted_times_to_three_digits(
            mut times in proptest::collection::vec(1_u64..10_000_000_000, 1..200)
        ) {
            let distribution = of(&times);
            times.sort_unstable();
            for percent in PERCENTILES {
                let index = (percent / 100.0 * times.len() as f64) as usize;
                let exact = seconds(times[index]);
                let found = distribution.percentile(percent);
                prop_assert!((found - exact).abs() <= exact * 0.001, "{found} for {exact}");
            }
            let counted: u64 = distribution.bars().iter().map(|(_, count)| count).sum();
            prop_assert_eq!(counted, times.len() as u64);
            prop_assert_eq!(distribution.extremes().slowest(), seconds(times[times.len() - 1]));
        }

        #[test]
        fn parts_are_the_whole(
            times in proptest::collection::vec(1_u64..1_000, 0..100), at in 0_usize..100
        ) {
            let (one, other) = times.split_at(at.min(times.len()));
            let mut merged = of(one);
            merged.merge(&of(other));
            let whole = of(&times);
            prop_assert_eq!(merged.extremes(), whole.extremes());
            prop_assert_eq!(&merged.histogram, &whole.histogram);
            let sent = serde_json::to_string(&merged).expect("JSON");
            let came: Distribution = serde_json::from_str(&sent).expect("JSON");
            prop_assert_eq!(came.extremes(), whole.extremes());
            prop_assert_eq!(came.histogram, whole.histogram);
        }
    }
}
