//! The pattern of the samples beyond a bound: alone, or many at once.
//!
//! Requests that wait in the same queue are slow together, so a thousand requests without a slow
//! one may be a thousand pieces of evidence or one. A [`Clusters`] describes the number of samples
//! beyond a bound as a *compound Poisson* number: clusters come independently of each other, and
//! each holds a random number of samples. This is the limit law of rare events in a dependent
//! series (T. Hsing, J. Hüsler, M. R. Leadbetter, "On the exceedance point process for a stationary
//! sequence", *Probability Theory and Related Fields* 78 (1988)); sizes are taken as gamma
//! variates. Two numbers describe it:
//!
//! - the *mean size* of a cluster (the reciprocal of the extremal index) says how improbable it is
//!   that none comes;
//! - the *design effect* (see [`dependence`](crate::dependence)) is the mean square of the sizes
//!   over their mean: by it the variance of the number exceeds that of independent samples.
//!
//! As long as nothing lies beyond the bound, the bound itself shows neither. Both are therefore
//! also looked for at nearer *levels*, such as the run's own percentiles, and the larger is taken:
//! a queue that holds back one request in twenty for seconds may hold back one in a hundred for as
//! long.

use crate::dependence::{Block, FEWEST_BLOCKS, carried_over, design_effect, excess, joined};
use crate::normal::{normal_quantile, t_quantile};
use statrs::function::gamma::{gamma_lr, ln_gamma};

/// The factors by which both numbers are raised. They are estimates from some thirty blocks, and
/// low ones would prove something untrue; simulations of queues determined the factors: see
/// docs/design/016.
const EFFECT_RAISED: f64 = 1.3;
const MEAN_RAISED: f64 = 1.5;

/// The level whose mean cluster size is taken: at lower ones clusters run into each other.
const NEAR: f64 = 0.05;

/// With more clusters than this the sum of their sizes is taken as one gamma variate.
const MANY: f64 = 500.0;

/// Sizes that differ by less than this, as a share of their mean, are all alike.
const ALIKE: f64 = 0.02;

/// Terms below this share are left out of a sum.
const NEGLIGIBLE: f64 = 1e-14;

/// The pattern of the samples beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clusters {
    mean: f64,
    effect: f64,
}

impl Clusters {
    /// Each by itself.
    pub const INDEPENDENT: Clusters = Clusters {
        mean: 1.0,
        effect: 1.0,
    };

    /// As these blocks (in the order of time) show: those counted at the bound, and the same
    /// counted at nearer levels. `None` of fewer than [`FEWEST_BLOCKS`] that have samples.
    pub fn of(at_bound: &[Block], at_levels: &[Vec<Block>]) -> Option<Clusters> {
        let at_bound = Level::of(at_bound)?;
        let at_levels: Vec<Level> = at_levels.iter().filter_map(|at| Level::of(at)).collect();
        let effects = at_levels.iter().map(|level| level.effect);
        let near = at_levels.iter().filter(|level| level.share <= 1.5 * NEAR);
        let means = near.map(Level::mean_size);
        Some(Clusters {
            mean: MEAN_RAISED * means.fold(at_bound.mean_when_hit(), f64::max),
            effect: EFFECT_RAISED * effects.fold(at_bound.effect, f64::max),
        })
    }

    /// The probability of at most this many samples beyond the bound, if `expected` of all are
    /// expected there, which is this `share` of them.
    pub(crate) fn at_most(&self, over: f64, expected: f64, share: f64) -> f64 {
        if over < 0.0 {
            return 0.0;
        }
        // The effect is a multiple of n p (1 − p), that of a Poisson number would be one of n p.
        let effect = self.effect * (1.0 - share);
        let mean = self.mean.min(effect);
        if expected / mean > MANY {
            return lower_gamma(expected / effect, over / effect);
        }
        let clusters = expected / mean;
        let sizes = |count: f64| sum_at_most(count, over, mean, effect);
        let mut sum = (-clusters).exp();
        for count in 1.. {
            let count = f64::from(count);
            let within = sizes(count);
            let weight = (count * clusters.ln() - clusters - ln_gamma(count + 1.0)).exp();
            sum += weight * within;
            if within < NEGLIGIBLE || (count > clusters && weight < NEGLIGIBLE) {
                break;
            }
        }
        sum.min(1.0)
    }
}

/// The probability that this many clusters hold at most `over` samples together.
fn sum_at_most(count: f64, over: f64, mean: f64, effect: f64) -> f64 {
    if effect <= mean * (1.0 + ALIKE) {
        return f64::from(count * mean <= over * (1.0 + 1e-9));
    }
    let shape = mean / (effect - mean);
    lower_gamma(shape * count, over * shape / mean)
}

fn lower_gamma(shape: f64, value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    gamma_lr(shape, value)
}

/// The counts of blocks at one level.
struct Level {
    /// The share of all samples that lie beyond it.
    share: f64,
    /// The number of samples beyond it.
    over: f64,
    blocks: f64,
    /// The blocks in which any lies beyond it.
    hit: f64,
    effect: f64,
    /// The part of the effect that goes across blocks.
    carried: f64,
}

impl Level {
    fn of(blocks: &[Block]) -> Option<Level> {
        let blocks = joined(blocks);
        if blocks.len() < FEWEST_BLOCKS {
            return None;
        }
        let samples: u64 = blocks.iter().map(|block| block.samples).sum();
        let over = |block: &Block| block.samples - block.within;
        let all_over: u64 = blocks.iter().map(over).sum();
        let hit = blocks.iter().filter(|block| over(block) > 0).count();
        let count = blocks.len() as f64;
        let few = (t_quantile(0.975, count - 1.0) / normal_quantile(0.975)).powi(2);
        Some(Level {
            share: all_over as f64 / samples as f64,
            over: all_over as f64,
            blocks: count,
            hit: hit as f64,
            effect: (design_effect(&blocks, samples) * few).max(1.0),
            carried: carried_over(&excess(&blocks, samples)),
        })
    }

    /// The mean size of a cluster if no block holds two.
    fn mean_when_hit(&self) -> f64 {
        let mean = self.over / self.hit.max(1.0) * self.carried;
        mean.min(self.effect).max(1.0)
    }

    /// The mean size of a cluster by the share of blocks without any, as clusters that come
    /// independently leave e^−ν of the blocks alone, ν being their number in a block (R. L. Smith,
    /// I. Weissman, "Estimating the extremal index", *Journal of the Royal Statistical Society* B
    /// 56 (1994)). Where every block is hit, half a block is taken to be none.
    fn mean_size(&self) -> f64 {
        let spared = (1.0 - self.hit / self.blocks).max(0.5 / self.blocks);
        let clusters = -spared.ln() * self.blocks;
        let mean = self.over / clusters * self.carried;
        if self.hit == 0.0 {
            return 1.0;
        }
        mean.min(self.effect).max(1.0)
    }
}

/// Returns the number of clusters of samples in these blocks (in the order of time) beyond the
/// level at which they were counted; `None` with fewer than [`FEWEST_BLOCKS`] blocks that have
/// samples.
pub fn count(blocks: &[Block]) -> Option<f64> {
    let level = Level::of(blocks)?;
    Some(level.over / level.mean_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial::Binomial;

    const SECOND: Block = Block {
        samples: 500,
        within: 475,
    };

    /// Each `every`th of 40 seconds has all samples of the others beyond the level as well.
    fn bunched(every: usize) -> Vec<Block> {
        let over = |index: usize| {
            if index.is_multiple_of(every) {
                25 * every as u64
            } else {
                0
            }
        };
        let block = |index| Block {
            samples: 500,
            within: 500 - over(index),
        };
        (0..40).map(block).collect()
    }

    #[test]
    fn independent_samples_are_nearly_binomial() {
        for (over, samples, share) in [(0, 500, 0.01), (4, 1_500, 0.01), (40, 3_000, 0.02)] {
            let exact = Binomial::new(samples, share).at_most(over);
            let expected = samples as f64 * share;
            let found = Clusters::INDEPENDENT.at_most(over as f64, expected, share);
            assert!((found - exact).abs() < 0.01, "{found} for {exact}");
        }
        let half = Clusters::INDEPENDENT.at_most(470.0, 500.0, 0.5);
        let exact = Binomial::new(1_000, 0.5).at_most(470);
        assert!((half - exact).abs() < 0.01, "{half} for {exact}");
    }

    #[test]
    fn many_clusters_are_one_gamma_variate() {
        let clusters = Clusters {
            mean: 1.0,
            effect: 4.0,
        };
        let few = clusters.at_most(450.0, 499.0, 0.01);
        let many = clusters.at_most(450.0, 501.0, 0.01);
        assert!((few - many).abs() < 0.02, "{few} and {many}");
        let all = clusters.at_most(900.0, 499.0, 0.01);
        assert!(all > 0.999_999, "{all}");
    }

    #[test]
    fn nothing_beyond_the_bound_says_less_where_samples_come_together() {
        let nothing = vec![
            Block {
                within: 500,
                ..SECOND
            };
            40
        ];
        let alone = Clusters::of(&nothing, &[vec![SECOND; 40]]).unwrap();
        assert!(alone.at_most(0.0, 200.0, 0.01) < 1e-9);
        let together = Clusters::of(&nothing, &[bunched(8)]).unwrap();
        assert!(together.at_most(0.0, 200.0, 0.01) > 0.01);
        assert!(together.at_most(0.0, 2_000.0, 0.01) < 0.01);
    }

    #[test]
    fn the_worst_level_counts() {
        let calm = vec![SECOND; 40];
        let both = Clusters::of(&calm, &[calm.clone(), bunched(8)]).unwrap();
        let worst = Clusters::of(&calm, &[bunched(8)]).unwrap();
        assert_eq!(both, worst);
    }

    #[test]
    fn samples_that_come_together_are_few_clusters() {
        let alone = count(&[SECOND; 40]).unwrap();
        let together = count(&bunched(8)).unwrap();
        assert!(alone > 100.0, "{alone}");
        assert!((4.0..=6.0).contains(&together), "{together}");
        assert_eq!(count(&[SECOND; 3]), None);
    }

    #[test]
    fn few_blocks_show_nothing() {
        assert_eq!(Clusters::of(&[SECOND; 3], &[]), None);
        assert_eq!(Clusters::of(&[], &[]), None);
    }
}
