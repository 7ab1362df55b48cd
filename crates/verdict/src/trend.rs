//! A figure of one run after the other: where it changed, and what its noise lets a comparison see.

use crate::CONFIDENCE;
use loadline_stats::change_points::change_points;
use loadline_stats::compare::Noise;

/// The highest probability with which chance alone may make a change.
const SIGNIFICANCE: f64 = 0.01;
/// The seed of the permutations: the same series always gives the same result.
const SEED: u64 = 1;

/// The course of a figure over a series of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The changes, in their order.
    pub changes: Vec<TrendChange>,
    /// The noise of the runs since the last change, if there are at least two.
    noise: Option<Noise>,
}

/// A place at which a figure became another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrendChange {
    /// The first run of those that are different.
    pub index: usize,
    /// Their geometric mean over that of the runs before, back to the change before.
    pub ratio: f64,
    /// The probability that chance alone makes a change as large as this one: a share of one.
    pub probability: f64,
}

impl Trend {
    /// Of these values, each above zero and of one run.
    pub fn of(values: &[f64]) -> Trend {
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let found = change_points(&logarithms, SIGNIFICANCE, SEED);
        let ends = found.iter().map(|change| change.index);
        let ends: Vec<usize> = [0].into_iter().chain(ends).chain([values.len()]).collect();
        let mean = |part: &[usize]| {
            let part = &logarithms[part[0]..part[1]];
            part.iter().sum::<f64>() / part.len().max(1) as f64
        };
        let means: Vec<f64> = ends.windows(2).map(mean).collect();
        let changes = found.iter().zip(means.windows(2));
        let last = ends[ends.len() - 2];
        Trend {
            changes: changes
                .map(|(change, means)| TrendChange {
                    index: change.index,
                    ratio: (means[1] - means[0]).exp(),
                    probability: change.probability,
                })
                .collect(),
            noise: Noise::of_runs(&values[last..]),
        }
    }

    /// By how much a figure differs from run to run since the last change: the standard deviation,
    /// as a share.
    pub fn deviation(&self) -> Option<f64> {
        let noise = self.noise?;
        Some(noise.error * noise.pieces.sqrt())
    }

    /// The smallest B / A that a comparison of so many runs a side, two at least, would find in
    /// nine of ten cases.
    pub fn visible_with(&self, runs: u32) -> Option<f64> {
        let noise = self.noise?;
        let side = Noise {
            error: noise.error * (noise.pieces / f64::from(runs)).sqrt(),
            pieces: f64::from(runs),
        };
        Some(side.visible(side, CONFIDENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values around this level that go up and down by two percent.
    fn around(level: f64, count: usize) -> Vec<f64> {
        let steps = [1.0, 1.02, 0.99, 1.01, 0.98, 1.015, 0.985];
        (0..count).map(|index| level * steps[index % 7]).collect()
    }

    #[test]
    fn a_change_has_its_size_and_the_noise_is_that_since_then() {
        let values = [around(10.0, 14), around(12.0, 14)].concat();
        let trend = Trend::of(&values);
        assert_eq!(trend.changes.len(), 1);
        assert_eq!(trend.changes[0].index, 14);
        assert!((trend.changes[0].ratio - 1.2).abs() < 0.001, "{trend:?}");
        let deviation = trend.deviation().unwrap();
        assert!((0.01..0.02).contains(&deviation), "{deviation}");
        let visible = [2, 5, 20].map(|runs| trend.visible_with(runs).unwrap());
        assert!(
            visible[0] > visible[1] && visible[1] > visible[2],
            "{visible:?}"
        );
        assert!((1.02..1.06).contains(&visible[1]), "{visible:?}");
    }

    #[test]
    fn few_runs_say_nothing() {
        for values in [&[][..], &[1.0]] {
            let trend = Trend::of(values);
            assert_eq!((trend.changes.len(), trend.deviation()), (0, None));
            assert_eq!(trend.visible_with(5), None);
        }
    }
}
