//! Percentiles, where there are enough samples for them.
//!
//! A percentile of too few samples is a number that the next run will not show again. It is only
//! printed if its 95 % confidence interval has an upper end: the largest of `n` samples lies above
//! the quantile `q` with probability `1 − qⁿ`, so that `n ≥ ln 0.025 / ln q` is needed (the
//! distribution-free interval by order statistics; e.g. Hahn & Meeker, *Statistical Intervals*,
//! 1991, chapter 5). Below that the count that is missing is printed in its place.

use crate::quantity;
use loadline_record::Censored;
use loadline_units as units;
use loadline_verdict::samples_needed;

/// The percentiles that are shown by default, and those of the JSON.
pub const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Returns the number of samples that `percentile` still lacks; requests without a response count
/// as samples.
pub(crate) fn missing<'a>(times: impl Into<Censored<'a>>, percentile: f64) -> u64 {
    samples_needed(percentile).saturating_sub(times.into().len())
}

/// The percentile as a table shows it: `1.02 ms`, `> 1.02 ms`, or how many samples are missing:
/// `318 more`.
pub(crate) fn cell<'a>(times: impl Into<Censored<'a>>, percentile: f64) -> String {
    let times = times.into();
    let missing = missing(times, percentile);
    if missing > 0 {
        return format!("{} more", units::count(missing));
    }
    quantity::bounded_cell(times.percentile(percentile).map(|ns| ns as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::Distribution;

    #[test]
    fn the_samples_needed_are_those_of_the_interval() {
        let known = [
            (50.0, 6),
            (90.0, 36),
            (95.0, 72),
            (99.0, 368),
            (99.9, 3_688),
            (99.99, 36_887),
            (100.0, 1),
        ];
        for (percentile, needed) in known {
            assert_eq!(samples_needed(percentile), needed, "p{percentile}");
        }
    }

    #[test]
    fn one_sample_too_few_is_not_enough() {
        let mut times = Distribution::default();
        times.record_many_ns(1_000_000, 367);
        assert_eq!(cell(&times, 99.0), "1 more");
        let mut ages = Distribution::default();
        ages.record_ns(2_000_000_000);
        let (times, ages) = (&times, &ages);
        let censored = Censored {
            times,
            ages,
            ageless: 0,
        };
        assert_eq!(cell(censored, 99.0), "1.00 ms");
        assert_eq!(cell(censored, 100.0), "> 2.00 s ");
    }
}
