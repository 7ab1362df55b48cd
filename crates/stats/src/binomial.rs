//! The binomial distribution by exact sums.
//!
//! P\[X = k+1\] / P\[X = k\] = (n−k)/(k+1) · p/(1−p), so the weights follow from that of the mode
//! outwards, and dividing by their sum makes them probabilities: no factorial, no special function.
//! The regularised incomplete beta function that libraries offer instead is a continued fraction
//! cut after a fixed number of terms, too few for a million samples (it takes about √n of them).

/// Weights below this share of the mode's are left out: all of them together are less than 1e-20.
const NEGLIGIBLE: f64 = 1e-28;

/// The distribution of the number of successes in `n` trials of equal probability.
#[derive(Clone, Debug)]
pub(crate) struct Binomial {
    /// The least number whose probability is not negligible.
    first: u64,
    /// The probabilities of at most `first`, `first + 1`, and so on.
    cumulative: Vec<f64>,
}

impl Binomial {
    /// `probability` must lie strictly between 0 and 1.
    pub(crate) fn new(n: u64, probability: f64) -> Binomial {
        let mode = ((n as f64 + 1.0) * probability).floor().min(n as f64) as u64;
        let mut weights = falling(mode, n, probability);
        let first = mode + 1 - weights.len() as u64;
        weights.reverse();
        weights.extend(rising(mode, n, probability));
        Binomial {
            first,
            cumulative: cumulative(weights),
        }
    }

    /// P\[X ≤ k\].
    pub(crate) fn at_most(&self, k: u64) -> f64 {
        match k.checked_sub(self.first) {
            None => 0.0,
            Some(index) => self.cumulative.get(index as usize).copied().unwrap_or(1.0),
        }
    }

    /// The least k with P\[X ≤ k\] ≥ `probability`, which must be below 1.
    pub(crate) fn quantile(&self, probability: f64) -> u64 {
        let below = self.cumulative.partition_point(|sum| *sum < probability);
        self.first + below as u64
    }

    /// Returns the number of k, from 0 on, with P\[X ≤ k\] ≤ `probability`.
    pub(crate) fn count_up_to(&self, probability: f64) -> u64 {
        let up_to = self.cumulative.partition_point(|sum| *sum <= probability);
        self.first + up_to as u64
    }
}

/// The weights of `mode`, `mode − 1`, and so on.
fn falling(mode: u64, n: u64, probability: f64) -> Vec<f64> {
    let odds = (1.0 - probability) / probability;
    let step = |weight: f64, k: u64| weight * odds * k as f64 / (n - k + 1) as f64;
    let mut weights = vec![1.0];
    for k in (1..=mode).rev() {
        let weight = step(weights[weights.len() - 1], k);
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push(weight);
    }
    weights
}

/// The weights of `mode + 1`, `mode + 2`, and so on.
fn rising(mode: u64, n: u64, probability: f64) -> Vec<f64> {
    let odds = probability / (1.0 - probability);
    let mut weight = 1.0;
    let mut weights = Vec::new();
    for k in mode..n {
        weight *= odds * (n - k) as f64 / (k + 1) as f64;
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push(weight);
    }
    weights
}

fn cumulative(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    for weight in &mut weights {
        sum += *weight;
        *weight = sum / total;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed once with scipy 1.17.1: `scipy.stats.binom.cdf(k, n, p)`.
    #[test]
    fn sums_are_those_of_scipy() {
        let known = [
            (3, 10, 0.3, 0.6496107184000002),
            (489, 500, 0.99, 0.01324356709977953),
            (0, 459, 0.01, 0.009920974201040622),
            (499_000, 1_000_000, 0.5, 0.0228041499326948),
            (999_050, 1_000_000, 0.999, 0.9458812617420066),
            (49_990_000, 100_000_000, 0.5, 0.022755531314786137),
        ];
        for (k, n, p, probability) in known {
            let found = Binomial::new(n, p).at_most(k);
            assert!(
                (found / probability - 1.0).abs() < 1e-8,
                "{k} of {n} at {p}: {found}"
            );
        }
    }

    #[test]
    fn nothing_and_all_are_the_ends() {
        let ten = Binomial::new(10, 0.3);
        assert!((ten.at_most(0) - 0.7_f64.powi(10)).abs() < 1e-15);
        assert!((ten.at_most(9) - (1.0 - 0.3_f64.powi(10))).abs() < 1e-15);
        assert_eq!(ten.at_most(10), 1.0);
        assert_eq!(Binomial::new(0, 0.5).at_most(0), 1.0);
    }

    #[test]
    fn far_from_the_mode_nothing_is_left() {
        let many = Binomial::new(100_000_000, 0.5);
        assert_eq!(many.at_most(49_000_000), 0.0);
        assert_eq!(many.at_most(51_000_000), 1.0);
    }
}
