//! Did the arrivals have the promised shape?
//!
//! [`Dispersion`] is cheap enough to be always on: counts in windows vary as those of a Poisson
//! process do, or hardly at all where the rate is constant. Single gaps are not looked at: that the
//! schedule draws them rightly is for its own tests, and which request went out in another window
//! than it was due is known of each.

use crate::normal::normal_quantile;

/// The variation of counts in windows of one length: their variance over their mean (D. R. Cox, P.
/// A. W. Lewis, *The Statistical Analysis of Series of Events*, Methuen 1966, chapter 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Variance over mean: 1 of a Poisson process, about 0 of a constant rate, more of bursts.
    pub index: f64,
    /// The number of windows.
    pub windows: usize,
}

impl Dispersion {
    /// The dispersion of so many windows, given the sum of their counts and that of their squares;
    /// `None` of fewer than two windows, or without any arrival.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    fn poisson_counts(seed: u64, windows: usize) -> Vec<u64> {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let law = Poisson::new(50.0).expect("the mean is above zero");
        let counts = law.sample_iter(random).take(windows);
        counts.map(|count: f64| count as u64).collect()
    }

    fn of(counts: &[u64]) -> Dispersion {
        let squares = counts.iter().map(|n| (*n as f64).powi(2)).sum();
        let (windows, sum) = (counts.len() as u64, counts.iter().sum());
        Dispersion::of_sums(windows, sum, squares).expect("there are arrivals")
    }

    fn fits_poisson(found: Dispersion) -> bool {
        let (least, greatest) = found.of_poisson(0.99);
        (least..=greatest).contains(&found.index)
    }

    #[test]
    fn the_index_is_variance_over_mean() {
        let counts = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((counts.index - 32.0 / 7.0 / 5.0).abs() < 1e-12 && counts.windows == 8);
        assert_eq!(Dispersion::of_sums(1, 5, 25.0), None);
        assert_eq!(Dispersion::of_sums(9, 0, 0.0), None);
    }

    #[test]
    fn a_constant_rate_has_none_and_bursts_have_much() {
        let even = of(&[100; 60]);
        assert_eq!(even.index, 0.0);
        assert!(!fits_poisson(even));
        let bursts: Vec<u64> = (0..60).map(|i| if i % 10 == 0 { 500 } else { 0 }).collect();
        let bursts = of(&bursts);
        assert!(bursts.index > 100.0 && !fits_poisson(bursts));
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
        let fits = |seed: &u64| fits_poisson(of(&poisson_counts(*seed, 60)));
        let fitting = (0..1_000).filter(fits).count();
        assert!((975..=1_000).contains(&fitting), "{fitting}");
    }
}
