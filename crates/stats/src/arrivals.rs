//! Did the arrivals have the promised shape?
//!
//! [`Dispersion`] is cheap enough to be always on: counts in windows vary as those of a Poisson
//! process do, or hardly at all where the rate is constant. [`anderson_darling`] looks at single
//! gaps, on a sample of them: among a million, trifles that harm nobody are significant.

use crate::normal::normal_quantile;

/// The critical value of [`anderson_darling`] at 1 %, for a distribution known beforehand (M. A.
/// Stephens, "EDF statistics for goodness of fit and some comparisons", *Journal of the American
/// Statistical Association* 69 (1974), table 1, case 0).
pub const ANDERSON_DARLING_ONE_PERCENT: f64 = 3.857;

/// How much counts in windows of one length vary: their variance over their mean (D. R. Cox,
/// P. A. W. Lewis, *The Statistical Analysis of Series of Events*, Methuen 1966, chapter 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Variance over mean: 1 of a Poisson process, about 0 of a constant rate, more of bursts.
    pub index: f64,
    /// How many windows were counted.
    pub windows: usize,
}

impl Dispersion {
    /// The dispersion of these counts; `None` of fewer than two windows, or without any arrival.
    pub fn of(counts: &[u64]) -> Option<Dispersion> {
        let windows = counts.len();
        let mean = counts.iter().sum::<u64>() as f64 / windows.max(1) as f64;
        if windows < 2 || mean == 0.0 {
            return None;
        }
        let squares: f64 = counts.iter().map(|n| (*n as f64 - mean).powi(2)).sum();
        Some(Dispersion {
            index: squares / (windows as f64 - 1.0) / mean,
            windows,
        })
    }

    /// The same of so many windows, given the sum of their counts and that of their squares.
    pub fn of_sums(windows: u64, sum: u64, squares: f64) -> Option<Dispersion> {
        let mean = sum as f64 / windows.max(1) as f64;
        if windows < 2 || sum == 0 {
            return None;
        }
        let spread = (squares - mean * sum as f64).max(0.0);
        Some(Dispersion {
            index: spread / (windows as f64 - 1.0) / mean,
            windows: windows as usize,
        })
    }

    /// The least and the greatest index that a Poisson process shows at this confidence: the index
    /// times the degrees of freedom, windows − 1, is about χ². Its quantiles are those of E. B.
    /// Wilson, M. M. Hilferty, "The distribution of chi-square", *PNAS* 17 (1931).
    pub fn of_poisson(self, confidence: f64) -> (f64, f64) {
        let tail = (1.0 - confidence) / 2.0;
        let freedom = self.windows as f64 - 1.0;
        let at = |probability| {
            let spread = 2.0 / (9.0 * freedom);
            (1.0 - spread + normal_quantile(probability) * spread.sqrt()).powi(3)
        };
        (at(tail).max(0.0), at(1.0 - tail))
    }

    /// Whether the arrivals may be those of a Poisson process, at this confidence.
    pub fn fits_poisson(self, confidence: f64) -> bool {
        let (least, greatest) = self.of_poisson(confidence);
        (least..=greatest).contains(&self.index)
    }
}

/// A² of gaps against the exponential distribution of this rate (gaps and rate in one unit, seconds
/// and per second, say): T. W. Anderson, D. A. Darling, "A test of goodness of fit", *Journal of the
/// American Statistical Association* 49 (1954). `None` of no gaps. The larger, the worse the fit; see
/// [`ANDERSON_DARLING_ONE_PERCENT`]. Lancet (M. Kogias et al., USENIX ATC 2019) takes twice that.
///
/// With u_i = 1 − exp(−λ x_i) in rising order,
/// A² = −n − (1/n) Σ (2i−1) \[ln u_i + ln(1 − u_(n+1−i))\], where ln(1 − u) is −λ x.
pub fn anderson_darling(gaps: &[f64], rate: f64) -> Option<f64> {
    let mut scaled: Vec<f64> = gaps.iter().map(|gap| gap * rate).collect();
    scaled.sort_by(f64::total_cmp);
    let count = scaled.len();
    let term = |(index, x): (usize, &f64)| {
        // A gap of nothing (two arrivals in one tick of the clock) would be minus infinity.
        let below = -(-x.max(f64::MIN_POSITIVE)).exp_m1();
        (2 * index + 1) as f64 * (below.ln() - scaled[count - 1 - index])
    };
    let sum: f64 = scaled.iter().enumerate().map(term).sum();
    (count > 0).then(|| -(count as f64) - sum / count as f64)
}

/// At most `most` of these gaps, evenly taken: what [`anderson_darling`] is given.
pub fn sampled(gaps: &[f64], most: usize) -> Vec<f64> {
    let step = gaps.len().div_ceil(most.max(1)).max(1);
    gaps.iter().step_by(step).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Exp, Poisson};

    fn poisson_counts(seed: u64, windows: usize) -> Vec<u64> {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let law = Poisson::new(50.0).expect("the mean is above zero");
        let counts = law.sample_iter(random).take(windows);
        counts.map(|count: f64| count as u64).collect()
    }

    fn exponential_gaps(seed: u64, rate: f64, n: usize) -> Vec<f64> {
        let law = Exp::new(rate).expect("the rate is above zero");
        law.sample_iter(ChaCha8Rng::seed_from_u64(seed))
            .take(n)
            .collect()
    }

    #[test]
    fn the_index_is_variance_over_mean() {
        let counts = Dispersion::of(&[2, 4, 4, 4, 5, 5, 7, 9]).unwrap();
        assert!((counts.index - 32.0 / 7.0 / 5.0).abs() < 1e-12);
        let of_sums = Dispersion::of_sums(8, 40, 232.0).unwrap();
        assert!((of_sums.index - counts.index).abs() < 1e-12 && of_sums.windows == 8);
        assert_eq!(Dispersion::of_sums(1, 5, 25.0), None);
        assert_eq!(Dispersion::of_sums(9, 0, 0.0), None);
        assert_eq!(Dispersion::of(&[5]), None);
        assert_eq!(Dispersion::of(&[0, 0, 0]), None);
    }

    #[test]
    fn a_constant_rate_has_none_and_bursts_have_much() {
        let even = Dispersion::of(&[100; 60]).unwrap();
        assert_eq!(even.index, 0.0);
        assert!(!even.fits_poisson(0.99));
        let bursts: Vec<u64> = (0..60).map(|i| if i % 10 == 0 { 500 } else { 0 }).collect();
        let bursts = Dispersion::of(&bursts).unwrap();
        assert!(bursts.index > 100.0 && !bursts.fits_poisson(0.99));
    }

    /// Computed once with scipy 1.17.1: `scipy.stats.chi2.ppf([0.005, 0.995], 59) / 59`.
    #[test]
    fn the_bounds_are_those_of_chi_square() {
        let (least, greatest) = Dispersion {
            index: 1.0,
            windows: 60,
        }
        .of_poisson(0.99);
        assert!((least - 0.5893293902832544).abs() < 2e-3, "{least}");
        assert!((greatest - 1.5375473409233182).abs() < 2e-3, "{greatest}");
    }

    #[test]
    fn poisson_arrivals_are_taken_for_what_they_are() {
        let fits = |seed: &u64| {
            let counts = poisson_counts(*seed, 60);
            Dispersion::of(&counts).unwrap().fits_poisson(0.99)
        };
        let fitting = (0..1_000).filter(fits).count();
        assert!((975..=1_000).contains(&fitting), "{fitting}");
    }

    /// Computed once with numpy from the formula above.
    #[test]
    fn a_squared_is_that_of_numpy() {
        let gaps = [0.1, 0.9, 0.4, 2.3, 1.1, 0.05, 0.7, 1.6];
        let found = anderson_darling(&gaps, 1.0).unwrap();
        assert!((found - 0.21814243234029718).abs() < 1e-12, "{found}");
        assert_eq!(anderson_darling(&[], 1.0), None);
        assert!(anderson_darling(&[0.0, 1.0], 1.0).unwrap().is_finite());
    }

    #[test]
    fn one_in_a_hundred_poisson_samples_exceeds_the_critical_value() {
        let exceeds = |seed: &u64| {
            let gaps = exponential_gaps(*seed, 200.0, 500);
            anderson_darling(&gaps, 200.0).unwrap() > ANDERSON_DARLING_ONE_PERCENT
        };
        let exceeding = (0..2_000).filter(exceeds).count();
        assert!((8..=34).contains(&exceeding), "{exceeding}");
    }

    #[test]
    fn even_gaps_and_a_wrong_rate_are_found_out() {
        let even = vec![0.01; 500];
        assert!(anderson_darling(&even, 100.0).unwrap() > 2.0 * ANDERSON_DARLING_ONE_PERCENT);
        let slow = exponential_gaps(1, 80.0, 500);
        assert!(anderson_darling(&slow, 100.0).unwrap() > 2.0 * ANDERSON_DARLING_ONE_PERCENT);
    }

    #[test]
    fn a_sample_is_taken_evenly_and_is_never_too_large() {
        let gaps: Vec<f64> = (0..1_001).map(f64::from).collect();
        assert_eq!(sampled(&gaps, 500).len(), 334);
        assert_eq!(sampled(&gaps, 5_000), gaps);
        assert!(sampled(&[], 10).is_empty());
    }
}
