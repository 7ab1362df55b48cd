//! Differences that last: whether the mean of a series in time is another one than zero.
//!
//! It is Student's test, on the spread of the series itself: where a difference comes and goes,
//! that spread is large, however many samples each stretch has. The variance is raised for
//! stretches that resemble their neighbours, as in [`dependence`](crate::dependence).

use crate::dependence::{FEWEST_BLOCKS, carried_over};
use crate::normal::t_quantile;

/// True if the mean of differences, one for each stretch of time in their order, is further from
/// zero than chance makes it with this probability (above 0, below 1). False of fewer than four.
pub fn lasts(differences: &[f64], chance: f64) -> bool {
    if differences.len() < FEWEST_BLOCKS {
        return false;
    }
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|own| (own - mean).powi(2)).sum();
    let variance = squares / (count - 1.0) * carried_over(differences);
    let bound = t_quantile(1.0 - chance / 2.0, count - 1.0);
    mean.abs() > bound * (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_lasts_that_is_there_each_time() {
        let steady = [9.0, 11.0, 10.0, 9.5, 10.5, 10.0];
        assert!(lasts(&steady, 1e-4));
        assert!(lasts(&steady.map(|own| -own), 1e-4));
        assert!(lasts(&[1.0; 4], 1e-4));
    }

    #[test]
    fn a_difference_that_comes_and_goes_does_not_last() {
        // A sum as large, from one stretch.
        assert!(!lasts(&[60.0, 0.0, 0.0, 1.0, -1.0, 0.0], 1e-4));
        assert!(!lasts(&[40.0, -10.0, 30.0, -5.0, 20.0, -15.0], 1e-4));
        assert!(!lasts(&[0.0; 9], 1e-4));
    }

    #[test]
    fn neighbours_that_are_alike_are_worth_less() {
        let apart: Vec<f64> = (0..40)
            .map(|at| if at % 2 == 0 { 1.0 } else { 4.0 })
            .collect();
        assert!(lasts(&apart, 1e-4));
        let alike: Vec<f64> = (0..40).map(|at| if at < 20 { 1.0 } else { 4.0 }).collect();
        assert!(!lasts(&alike, 1e-4));
    }

    #[test]
    fn too_few_stretches_show_nothing() {
        assert!(!lasts(&[], 0.5));
        assert!(!lasts(&[9.0; 3], 0.5));
    }
}
