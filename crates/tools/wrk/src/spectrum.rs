//! Times as wrk2 stores and prints them: an HDR histogram of whole microseconds, three digits up to
//! a day, and its percentile spectrum.
//!
//! Loadline's own histograms have nanoseconds. The printed values must be those of wrk2's buckets,
//! so the times are copied into a histogram of its shape. The spectrum is the classic one of HDR
//! histograms: five rows for each halving of the distance to 100 %, and one for the maximum.

use super::scaling::number;
use hdrhistogram::Histogram;
use loadline_record::Distribution;
use std::fmt::Write;

/// The longest time that wrk2 distinguishes: a day, in microseconds.
const LONGEST_US: u64 = 24 * 3_600 * 1_000_000;
/// The number of ranges of doubling width for a day in microseconds, and the steps in each.
const BUCKETS: (u32, u32) = (27, 2_048);
const TICKS_PER_HALF: f64 = 5.0;

/// Times in whole microseconds.
#[derive(Clone, Debug)]
pub(super) struct Micros {
    histogram: Histogram<u64>,
}

impl Micros {
    /// Converts the times of a distribution to microseconds, truncated as a clock of microseconds
    /// does.
    pub(super) fn of(times: &Distribution) -> Self {
        let mut histogram = Histogram::new_with_bounds(1, LONGEST_US, 3)
            .expect("a day of microseconds with three digits has valid bounds");
        if let Some(source) = times.recorded() {
            for step in source.iter_recorded() {
                // The middle of the bucket: its ends may be in the neighbours of wrk2's bucket.
                let value_ns = source.median_equivalent(step.value_iterated_to());
                histogram.saturating_record_n(value_ns / 1_000, step.count_at_value());
            }
        }
        Micros { histogram }
    }

    /// Returns the arithmetic mean in microseconds, from the middles of the buckets; NaN without
    /// times.
    pub(super) fn mean(&self) -> f64 {
        self.of_some(Histogram::mean)
    }

    /// Returns the standard deviation of the population in microseconds; NaN without times.
    pub(super) fn stdev(&self) -> f64 {
        self.of_some(Histogram::stdev)
    }

    fn of_some(&self, statistic: fn(&Histogram<u64>) -> f64) -> f64 {
        if self.histogram.is_empty() {
            return f64::NAN;
        }
        statistic(&self.histogram)
    }

    /// Returns the maximum in microseconds, as the lower end of its bucket.
    pub(super) fn max(&self) -> u64 {
        self.histogram.lowest_equivalent(self.histogram.max())
    }

    /// Returns the percentage of times within one standard deviation of the mean; 0 without times.
    pub(super) fn within_percent(&self) -> f64 {
        if self.histogram.is_empty() {
            return 0.0;
        }
        let near = (self.mean() - self.stdev())..=(self.mean() + self.stdev());
        let middle = |value| self.histogram.median_equivalent(value) as f64;
        let counts = self.histogram.iter_recorded();
        let within: u64 = counts
            .filter(|step| near.contains(&middle(step.value_iterated_to())))
            .map(|step| step.count_at_value())
            .sum();
        within as f64 / self.histogram.len() as f64 * 100.0
    }

    /// Returns the time in microseconds that this percentage does not exceed, as the upper end of
    /// its bucket; the rank is the nearest one, at least the first.
    pub(super) fn percentile(&self, percent: f64) -> u64 {
        let rank = ((percent / 100.0 * self.histogram.len() as f64) + 0.5).floor();
        let mut steps = self
            .steps()
            .filter(|step| step.up_to as f64 >= rank.max(1.0));
        steps.next().map_or(0, |step| step.value_us)
    }

    /// Formats the percentile spectrum, from its title row to its end.
    pub(super) fn spectrum(&self) -> String {
        let mut text = format!(
            "{:>12} {:>12} {:>12} {:>12}\n\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        );
        for row in self.rows() {
            row.write(&mut text);
        }
        self.write_footer(&mut text);
        text
    }

    fn write_footer(&self, text: &mut String) {
        let ms = |value_us: f64| number(value_us / 1_000.0, 3);
        let (mean, stdev, max) = (ms(self.mean()), ms(self.stdev()), ms(self.max() as f64));
        let (buckets, steps) = BUCKETS;
        let total = self.histogram.len();
        let written = write!(
            text,
            "#[Mean    = {mean:>12}, StdDeviation   = {stdev:>12}]\n\
             #[Max     = {max:>12}, Total count    = {total:>12}]\n\
             #[Buckets = {buckets:>12}, SubBuckets     = {steps:>12}]\n"
        );
        written.expect("a string takes everything");
    }

    /// Returns the rows: one for each tick that is reached, several at one value if it reaches
    /// several. At the last value there is only one, followed by the row of 100 %.
    fn rows(&self) -> Vec<Row> {
        let total = self.histogram.len();
        let mut rows = Vec::new();
        let mut tick = 0.0;
        let mut last = Step::default();
        for step in self.steps() {
            let reached = 100.0 * step.up_to as f64 / total as f64;
            while tick <= reached {
                rows.push(Row {
                    step,
                    percent: tick,
                });
                tick = next_tick(tick);
                if step.up_to == total {
                    break;
                }
            }
            last = step;
        }
        rows.push(Row {
            step: last,
            percent: 100.0,
        });
        rows
    }

    fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.histogram.iter_recorded().scan(0, |up_to, step| {
            *up_to += step.count_at_value();
            Some(Step {
                value_us: self.histogram.highest_equivalent(step.value_iterated_to()),
                up_to: *up_to,
            })
        })
    }
}

/// Returns the tick after this one, in percent: a fifth of the distance of the current halving
/// further.
fn next_tick(percent: f64) -> f64 {
    let halvings = (100.0 / (100.0 - percent)).log2().floor() + 1.0;
    percent + 100.0 / (TICKS_PER_HALF * halvings.exp2())
}

/// A bucket with a count above zero.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// The upper end of the bucket in microseconds.
    value_us: u64,
    /// The number of times in this bucket and all lower ones.
    up_to: u64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    step: Step,
    percent: f64,
}

impl Row {
    fn write(&self, text: &mut String) {
        let value_ms = self.step.value_us as f64 / 1_000.0;
        let share = self.percent / 100.0;
        let (count, inverse) = (self.step.up_to, 1.0 / (1.0 - share));
        let written = writeln!(
            text,
            "{value_ms:>12.3} {share:>12.6} {count:>12} {inverse:>12.2}"
        );
        written.expect("a string takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values_us: impl IntoIterator<Item = u64>) -> Micros {
        let mut times = Distribution::default();
        values_us
            .into_iter()
            .for_each(|value_us| times.record_ns(value_us * 1_000));
        Micros::of(&times)
    }

    #[test]
    fn the_largest_is_the_lower_end_and_the_hundredth_percentile_the_upper() {
        let times = of([45, 2_718]);
        assert_eq!((times.max(), times.percentile(100.0)), (2_718, 2_719));
        assert_eq!(times.percentile(50.0), 45);
    }

    #[test]
    fn ticks_halve_the_distance_in_five_steps() {
        let mut tick = 0.0;
        let ticks: Vec<f64> = std::iter::repeat_with(|| {
            let this = tick;
            tick = next_tick(tick);
            this
        })
        .take(12)
        .collect();
        let expected = [
            0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 77.5,
        ];
        assert_eq!(ticks, expected);
    }

    #[test]
    fn the_spectrum_is_written_in_the_classic_layout() {
        insta::assert_snapshot!(of(1..=20).spectrum());
    }

    #[test]
    fn the_spectrum_of_nothing_has_one_row() {
        insta::assert_snapshot!(of([]).spectrum());
    }

    proptest! {
        #[test]
        fn a_spectrum_rises_to_all_values(
            values in prop::collection::vec(1..10_000_000_u64, 1..200),
        ) {
            let times = of(values.clone());
            let rows = times.rows();
            for pair in rows.windows(2) {
                prop_assert!(pair[0].percent < pair[1].percent);
                prop_assert!(pair[0].step.value_us <= pair[1].step.value_us);
            }
            prop_assert_eq!(rows[0].percent, 0.0);
            let last = rows[rows.len() - 1];
            prop_assert_eq!((last.percent, last.step.up_to), (100.0, values.len() as u64));
        }
    }
}
