//! Is a bound kept by the promised share of requests?
//!
//! *Early stopping* answers as soon as the samples prove it.

use crate::binomial::Binomial;
use crate::clusters::Clusters;

/// The conclusion about a bound from the samples so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The share within the bound is at least the promised one.
    Passed,
    /// The share within the bound is below the promised one.
    Failed,
    /// Neither is proven yet.
    Open,
}

/// Returns the conclusion from `over` responses beyond the bound among `samples`, at this
/// confidence (0.99, say), about the promise that the share `quantile` (strictly between 0 and 1)
/// stays within it. Errors and timeouts are responses beyond every bound.
///
/// *Passed* is proven when so few beyond it were improbable if the promise were just broken,
/// P\[Bin(n, 1−p) ≤ t\] ≤ 1 − c: the rule of the MLPerf load generator (mlcommons/inference,
/// `loadgen/early_stopping.cc`). *Failed* is its mirror image, P\[Bin(n, 1−p) ≥ t\] ≤ 1 − c. Each
/// holds for one look at independent samples: see [`clustered_proof`] for others.
pub fn proof(over: u64, samples: u64, quantile: f64, confidence: f64) -> Proof {
    let beyond = Binomial::new(samples, 1.0 - quantile);
    let level = 1.0 - confidence;
    let fewer = over
        .checked_sub(1)
        .map_or(0.0, |fewer| beyond.at_most(fewer));
    if beyond.at_most(over) <= level {
        Proof::Passed
    } else if 1.0 - fewer <= level {
        Proof::Failed
    } else {
        Proof::Open
    }
}

/// As [`proof`], of samples that come in clusters, at the significance of one look (see
/// [`significance_of_look`]).
///
/// `against` counts what speaks against *passed*, `over` what surely lies beyond the bound:
/// requests without a time are in `against` and in neither `over` nor `timed`.
pub fn clustered_proof(
    evidence: Evidence,
    quantile: f64,
    significance: Significance,
    clusters: Clusters,
) -> Proof {
    let share = 1.0 - quantile;
    let Evidence {
        over,
        against,
        timed,
        ended,
    } = evidence;
    let at_most = |over: f64, of: u64| clusters.at_most(over, of as f64 * share, share);
    if ended > 0 && at_most(against as f64, ended) <= significance.of_passed {
        Proof::Passed
    } else if over > 0 && 1.0 - at_most(over as f64 - 0.5, timed) <= significance.of_failed {
        Proof::Failed
    } else {
        Proof::Open
    }
}

/// The evidence that decides a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Samples that surely lie beyond the bound.
    pub over: u64,
    /// These, and all that may lie beyond it.
    pub against: u64,
    /// Samples that are known to lie on one side of the bound.
    pub timed: u64,
    /// All samples.
    pub ended: u64,
}

/// The probabilities that one look proves something untrue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    /// The probability of a false proof that a check is kept.
    pub of_passed: f64,
    /// The probability of a false proof that a check is broken.
    pub of_failed: f64,
}

/// Returns the share of the error probability that look `look`, counted from 1, may spend of an
/// endless series of looks: 3/((k+2)(k+3)), which add up to one.
pub fn share_of_look(look: u64) -> f64 {
    let look = look.max(1) as f64;
    3.0 / ((look + 2.0) * (look + 3.0))
}

/// The significance level of a look, for who looks again and again at `checks` checks until it is
/// proven that all are kept, or that one is broken. Of an endless series of looks, `look` counts
/// from 1, either is wrong with probability 1 − c at most.
///
/// Look k may spend its [share](share_of_look) of the error probability (a union bound over the
/// looks; the spending of an error is that of K. K. G. Lan, D. L. DeMets, "Discrete sequential
/// boundaries for clinical trials", *Biometrika* 70 (1983)). To look only when the samples have
/// grown by a quarter keeps k small. One wrong proof of many is enough to call the run
/// broken, so that its level is divided by the number of checks; to call it kept, those that are
/// broken must all be mistaken.
pub fn significance_of_look(look: u64, confidence: f64, checks: usize) -> Significance {
    let of_passed = (1.0 - confidence) * share_of_look(look);
    Significance {
        of_passed,
        of_failed: of_passed / checks.max(1) as f64,
    }
}

/// The fewest independent samples that prove a bound kept with `over` answers beyond it: see
/// [`proof`].
pub fn samples_to_prove(over: u64, quantile: f64, confidence: f64) -> u64 {
    let proves = |samples| proof(over, samples, quantile, confidence) == Proof::Passed;
    let mut enough = over + 1;
    while !proves(enough) {
        enough *= 2;
    }
    let mut too_few = enough / 2;
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if proves(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Binomial, Distribution};

    #[test]
    fn early_stopping_is_that_of_the_table() {
        let known = [
            (0.99, 0, 459),
            (0.99, 1, 662),
            (0.99, 2, 838),
            (0.99, 5, 1_307),
            (0.99, 10, 2_010),
            (0.9, 0, 44),
            (0.9, 1, 64),
            (0.999, 0, 4_603),
            (0.999, 1, 6_636),
        ];
        for (quantile, over, samples) in known {
            let found = samples_to_prove(over, quantile, 0.99);
            assert_eq!(found, samples, "{quantile} with {over}");
        }
    }

    #[test]
    fn one_sample_less_proves_nothing() {
        assert_eq!(proof(0, 459, 0.99, 0.99), Proof::Passed);
        assert_eq!(proof(0, 458, 0.99, 0.99), Proof::Open);
        assert_eq!(proof(0, 0, 0.99, 0.99), Proof::Open);
    }

    /// Counts how many of 1 000 endless series with this share are ever proven, if each is tested
    /// 40 times.
    fn ever(share: f64, wrong: Proof, looked: impl Fn(u64, u64, u64) -> Proof) -> u32 {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut proven = 0;
        for _ in 0..1_000 {
            let (mut over, mut samples, mut found) = (0, 0, Proof::Open);
            for look in 1..=40 {
                let more = 100.max(samples / 10);
                let beyond = Binomial::new(more, 1.0 - share).expect("a share");
                over += beyond.sample(&mut random);
                samples += more;
                if found == Proof::Open {
                    found = looked(over, samples, look);
                }
            }
            proven += u32::from(found == wrong);
        }
        proven
    }

    /// Returns the conclusion of independent samples about a p90, at 95 or 99 %.
    fn sequential(over: u64, samples: u64, look: u64, confidence: f64) -> Proof {
        let evidence = Evidence {
            over,
            against: over,
            timed: samples,
            ended: samples,
        };
        let significance = significance_of_look(look, confidence, 1);
        clustered_proof(evidence, 0.9, significance, Clusters::INDEPENDENT)
    }

    #[test]
    fn who_looks_again_and_again_is_seldom_wrong() {
        for wrong in [Proof::Passed, Proof::Failed] {
            let found = ever(0.9, wrong, |over, samples, look| {
                sequential(over, samples, look, 0.95)
            });
            assert!(found <= 50, "{wrong:?}: {found} of 1 000");
            let naive = ever(0.9, wrong, |over, samples, _| {
                proof(over, samples, 0.9, 0.95)
            });
            assert!(naive > 100, "{wrong:?}: {naive} of 1 000");
        }
    }

    #[test]
    fn who_looks_again_and_again_comes_to_an_end() {
        let sequential = |over, samples, look| sequential(over, samples, look, 0.99);
        assert!(ever(0.92, Proof::Passed, sequential) >= 950);
        assert!(ever(0.88, Proof::Failed, sequential) >= 950);
    }

    #[test]
    fn the_significance_of_all_looks_is_that_of_one() {
        let all: f64 = (1..10_000)
            .map(|k| significance_of_look(k, 0.99, 1).of_passed)
            .sum();
        assert!((0.009_9..=0.01).contains(&all), "{all}");
        let three = significance_of_look(1, 0.99, 3);
        assert!((three.of_failed * 3.0 - three.of_passed).abs() < 1e-15);
    }

    #[test]
    fn what_may_lie_beyond_the_bound_speaks_against_kept_and_not_for_broken() {
        let significance = significance_of_look(1, 0.99, 1);
        let proof = |evidence| clustered_proof(evidence, 0.99, significance, Clusters::INDEPENDENT);
        let clean = Evidence {
            timed: 5_000,
            ended: 5_000,
            ..Evidence::default()
        };
        assert_eq!(proof(clean), Proof::Passed);
        let failed = Evidence {
            against: 500,
            ended: 5_500,
            ..clean
        };
        assert_eq!(proof(failed), Proof::Open);
        let over = Evidence {
            over: 500,
            against: 500,
            ..clean
        };
        assert_eq!(proof(over), Proof::Failed);
        assert_eq!(proof(Evidence::default()), Proof::Open);
    }

    #[test]
    fn many_beyond_the_bound_prove_it_broken() {
        assert_eq!(proof(30, 1_000, 0.99, 0.99), Proof::Failed);
        assert_eq!(proof(10, 1_000, 0.99, 0.99), Proof::Open);
        assert_eq!(proof(2, 2, 0.9, 0.95), Proof::Failed);
    }
}
