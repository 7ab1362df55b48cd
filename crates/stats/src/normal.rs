//! Quantiles of the normal distribution and of Student's t.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The value that a standard normal variate stays below with this probability (strictly between 0
/// and 1); 1.96 for 0.975.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// The probability that a standard normal variate stays below this value.
pub(crate) fn normal_probability(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// The value that a variate of Student's t with `freedom` degrees (above 0, not always whole) stays
/// below with this probability.
pub(crate) fn t_quantile(probability: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .expect("the degrees of freedom are above zero")
        .inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed once with scipy 1.17.1: `scipy.stats.norm.ppf(p)` and `scipy.stats.t.ppf(p,
    /// freedom)`.
    #[test]
    fn quantiles_are_those_of_scipy() {
        assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-9);
        assert!((normal_quantile(0.995) - 2.5758293035489004).abs() < 1e-9);
        let known = [
            (1.0, 12.706204736174694),
            (2.5, 3.5746548420036817),
            (9.0, 2.262157162798205),
            (31.0, 2.039513446396408),
            (200.0, 1.9718962236339088),
        ];
        for (freedom, quantile) in known {
            let found = t_quantile(0.975, freedom);
            assert!((found - quantile).abs() < 1e-6, "{freedom}: {found}");
        }
    }
}
