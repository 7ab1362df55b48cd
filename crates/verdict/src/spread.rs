//! The differences from run to run: the figures of repeats, and the confidence of their median.
//!
//! The interval of the median is distribution-free, from the ranks of the runs alone, because what
//! differs from run to run is seldom normal (A. Maricq et al., "Taming Performance Variability",
//! OSDI 2018). It takes six runs at 95 %.

use crate::comparison::{COMPARED_PERCENTILES, CONFIDENCE, Figure, comparable, value};
use loadline_record::{Ended, Summary};
use loadline_stats::SampleSize;

/// One figure of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The figure.
    pub figure: Figure,
    /// The figure of each run, in their order: nanoseconds, or responses per second.
    pub values: Vec<f64>,
    /// The middle one; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
    /// The 95 % interval of the median, if there are enough runs for one.
    pub interval: Option<(f64, f64)>,
}

impl Spread {
    /// Returns the greatest value as a multiple of the least.
    pub fn ratio(&self) -> f64 {
        self.most / self.least
    }
}

/// True if a run reached its planned end. One that did not is no repeat of one that did.
pub fn is_whole(run: &Summary) -> bool {
    let is_cut = matches!(
        run.ended,
        Ended::Interrupted | Ended::Aborted(_) | Ended::Threw(_) | Ended::Failed(_)
    );
    run.complete && !is_cut
}

/// The rate, and each percentile of response time for which every run has enough samples, and which
/// is no lower bound in one of them.
pub fn spreads(runs: &[&Summary]) -> Vec<Spread> {
    if runs.is_empty() {
        return Vec::new();
    }
    let figures = comparable(runs, &COMPARED_PERCENTILES);
    let spread = |figure: Figure| spread(figure, runs.iter().map(|run| value(run, figure)));
    figures.into_iter().map(spread).collect()
}

/// Returns the number of further runs that the interval of their median requires to have two ends.
pub fn runs_still_needed(runs: usize) -> u64 {
    SampleSize::independent(runs as u64).still_needed(0.5, CONFIDENCE)
}

fn spread(figure: Figure, values: impl Iterator<Item = f64>) -> Spread {
    let values: Vec<f64> = values.collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let ends = SampleSize::independent(sorted.len() as u64)
        .interval(0.5, CONFIDENCE, |rank| sorted[rank as usize - 1]);
    Spread {
        figure,
        median: (sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0,
        least: sorted[0],
        most: sorted[last],
        interval: ends.0.zip(ends.1),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Spread {
        spread(Figure::Rate, values.iter().copied())
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        let odd = of(&[3.0, 1.0, 10.0]);
        assert_eq!((odd.median, odd.least, odd.most), (3.0, 1.0, 10.0));
        assert_eq!(odd.values, [3.0, 1.0, 10.0]);
        assert_eq!(of(&[4.0, 1.0, 2.0, 8.0]).median, 3.0);
        assert_eq!(of(&[7.0]).ratio(), 1.0);
        assert_eq!(odd.ratio(), 10.0);
    }

    /// Six runs for 95 %: (1/2)^6 on each side is 0.016, (1/2)^5 is 0.031.
    #[test]
    fn six_runs_make_an_interval_and_five_none() {
        let five = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((five.interval, runs_still_needed(5)), (None, 1));
        let six = of(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!((six.interval, runs_still_needed(6)), (Some((1.0, 6.0)), 0));
    }

    /// Computed once with scipy 1.17.1: `binom.ppf(0.025, n, 0.5)` and its counterpart.
    #[test]
    fn more_runs_leave_the_outermost_out() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(of(&values).interval, Some((6.0, 15.0)));
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(of(&nine).interval, Some((2.0, 8.0)));
    }

    #[test]
    fn no_runs_have_no_spread() {
        assert_eq!(spreads(&[]), []);
    }
}
