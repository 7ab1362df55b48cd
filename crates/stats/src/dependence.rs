//! The number of independent samples that dependent ones are worth.
//!
//! Responses that come after each other wait in the same queue, so that their times resemble each
//! other, and a thousand of them have less information than a thousand drawn independently. They
//! are counted in *blocks*: if samples were independent, the share of them within a bound would
//! differ from block to block as a binomial variate does. How much more it differs is the design
//! effect (L. Kish, *Survey Sampling*, Wiley 1965, chapter 5); samples divided by it are the
//! effective number. The method covers dependence of every length up to a block, in the one
//! quantile that is requested, and needs only counts.

use crate::SampleSize;
use crate::normal::{normal_quantile, t_quantile};

/// The fewest blocks that show dependence.
pub const FEWEST_BLOCKS: usize = 4;

/// The most blocks that are compared; neighbours are joined until there are no more. Long blocks
/// contain long dependence, and as many as these measure its size well enough.
pub const MOST_BLOCKS: usize = 64;

/// A stretch of a run: how many samples it had, and how many of them lay within the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The number of samples.
    pub samples: u64,
    /// The number of samples that were at most the bound (the quantile of the whole run, say).
    pub within: u64,
}

/// The effective number of samples of these blocks, in the order of time; `None` of fewer than
/// [`FEWEST_BLOCKS`] that have samples.
///
/// The variance of the counts, and so the design effect, is an estimate from few blocks itself. As
/// in E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number
/// of positive counts estimated from survey data", *Survey Methodology* 24 (1998), the effective
/// number is therefore lowered by (z/t)², with Student's t of as many degrees of freedom as there
/// are blocks but one, and never exceeds the number of samples.
pub fn effective_by_blocks(blocks: &[Block]) -> Option<SampleSize> {
    let blocks = joined(blocks);
    if blocks.len() < FEWEST_BLOCKS {
        return None;
    }
    let samples: u64 = blocks.iter().map(|block| block.samples).sum();
    let effect = design_effect(&blocks, samples);
    let narrowing = normal_quantile(0.975) / t_quantile(0.975, blocks.len() as f64 - 1.0);
    let effective = samples as f64 / effect * narrowing.powi(2);
    Some(SampleSize::dependent(samples, effective))
}

/// The variance of the number of samples within the bound, against that of independent samples.
pub(crate) fn design_effect(blocks: &[Block], samples: u64) -> f64 {
    let share = share_within(blocks, samples);
    let expected = samples as f64 * share * (1.0 - share);
    if expected == 0.0 {
        return 1.0;
    }
    let excess = excess(blocks, samples);
    let squares: f64 = excess.iter().map(|x| x * x).sum();
    let count = blocks.len() as f64;
    squares / expected * count / (count - 1.0) * carried_over(&excess)
}

/// By how many samples each block has more within the bound than all blocks on average.
pub(crate) fn excess(blocks: &[Block], samples: u64) -> Vec<f64> {
    let share = share_within(blocks, samples);
    let excess = |block: &Block| block.within as f64 - share * block.samples as f64;
    blocks.iter().map(excess).collect()
}

fn share_within(blocks: &[Block], samples: u64) -> f64 {
    let within: u64 = blocks.iter().map(|block| block.within).sum();
    within as f64 / samples as f64
}

/// By how much dependence across blocks raises the variance: (1+ρ)/(1−ρ), where ρ is above what
/// independent blocks show by chance in one case of twenty.
pub(crate) fn carried_over(excess: &[f64]) -> f64 {
    let count = excess.len() as f64;
    let found = autocorrelation(excess);
    if found + 1.0 / count < 1.645 / count.sqrt() {
        return 1.0;
    }
    // The estimate from a short series is too low by about (1 + 3ρ)/n: M. G. Kendall, "Note on bias
    // in the estimation of autocorrelation", Biometrika 41 (1954).
    let rho = (found + (1.0 + 3.0 * found) / count).min(0.9);
    (1.0 + rho) / (1.0 - rho)
}

/// Blocks that have samples, neighbours joined until there are at most [`MOST_BLOCKS`].
pub(crate) fn joined(blocks: &[Block]) -> Vec<Block> {
    let filled: Vec<Block> = blocks
        .iter()
        .filter(|block| block.samples > 0)
        .copied()
        .collect();
    let each = filled.len().div_ceil(MOST_BLOCKS).max(1);
    let sum = |part: &[Block]| Block {
        samples: part.iter().map(|block| block.samples).sum(),
        within: part.iter().map(|block| block.within).sum(),
    };
    filled.chunks(each).map(sum).collect()
}

/// The correlation of each value with the next (lag 1), between −1 and 1; 0 of a constant series.
fn autocorrelation(series: &[f64]) -> f64 {
    let mean = series.iter().sum::<f64>() / series.len().max(1) as f64;
    let square: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
    if square == 0.0 {
        return 0.0;
    }
    let pairs = series.windows(2);
    pairs
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum::<f64>()
        / square
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(samples: u64, within: u64) -> Block {
        Block { samples, within }
    }

    /// Computed once with numpy 2: `x = x - x.mean(); (x[1:] * x[:-1]).sum() / (x * x).sum()`.
    #[test]
    fn autocorrelation_is_that_of_numpy() {
        let series = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        assert!((autocorrelation(&series) + 0.14408014571948996).abs() < 1e-12);
        assert_eq!(autocorrelation(&[2.0; 9]), 0.0);
        assert_eq!(autocorrelation(&[]), 0.0);
    }

    #[test]
    fn a_stall_in_one_block_is_worth_one_event() {
        let mut blocks = vec![block(2_000, 1_990); 19];
        blocks.push(block(2_000, 0));
        let size = effective_by_blocks(&blocks).unwrap();
        assert_eq!(size.samples(), 40_000);
        assert!(size.effective() < 40, "{size:?}");
    }

    #[test]
    fn even_blocks_are_worth_all_their_samples() {
        let size = effective_by_blocks(&[block(1_000, 990); 30]).unwrap();
        assert_eq!(size.effective(), 30_000);
        let whole = effective_by_blocks(&[block(1_000, 1_000); 30]).unwrap();
        assert!(whole.effective() > 27_000);
    }

    #[test]
    fn few_blocks_say_nothing() {
        assert_eq!(effective_by_blocks(&[block(1_000, 990); 3]), None);
        let mut blocks = vec![block(1_000, 990); 3];
        blocks.extend([block(0, 0); 30]);
        assert_eq!(effective_by_blocks(&blocks), None);
    }
}
