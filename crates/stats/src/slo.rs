//! Is a bound kept by the promised share of requests?
//!
//! *Early stopping* answers as soon as the samples prove it; a *fixed size* is chosen before.

use crate::binomial::Binomial;
use crate::normal::normal_quantile;

/// What the samples so far prove of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The share within the bound is at least the promised one.
    Kept,
    /// The share within the bound is below the promised one.
    Broken,
    /// Neither is proven yet.
    Open,
}

/// What `over` answers beyond the bound among `samples` prove, at this confidence (0.99, say), of the
/// promise that the share `quantile` (strictly between 0 and 1) stays within it. Errors and timeouts
/// are answers beyond every bound.
///
/// Kept is proven when so few beyond it were improbable if the promise were just broken,
/// P\[Bin(n, 1−p) ≤ t\] ≤ 1 − c: the rule of the MLPerf load generator (mlcommons/inference,
/// `loadgen/early_stopping.cc`). Broken is its mirror image, P\[Bin(n, 1−p) ≥ t\] ≤ 1 − c. Each holds
/// for one look at the samples: who looks again and again until it is proven is wrong more often.
pub fn proof(over: u64, samples: u64, quantile: f64, confidence: f64) -> Proof {
    let beyond = Binomial::new(samples, 1.0 - quantile);
    let doubt = 1.0 - confidence;
    let fewer = over
        .checked_sub(1)
        .map_or(0.0, |fewer| beyond.at_most(fewer));
    if beyond.at_most(over) <= doubt {
        Proof::Kept
    } else if 1.0 - fewer <= doubt {
        Proof::Broken
    } else {
        Proof::Open
    }
}

/// As [`proof`], for who looks again and again until it is proven: of an endless series of looks, `look`
/// counts from 1, any one proves what is not so with probability 1 − c at most.
///
/// Look k may spend the share 1/(k (k+1)) of the doubt, which add up to one (a union bound over the looks;
/// the spending of an error is that of K. K. G. Lan, D. L. DeMets, "Discrete sequential boundaries for
/// clinical trials", *Biometrika* 70 (1983)). To look only when the samples have grown by a tenth keeps k
/// small.
pub fn sequential_proof(
    over: u64,
    samples: u64,
    quantile: f64,
    confidence: f64,
    look: u64,
) -> Proof {
    let look = look.max(1) as f64;
    let doubt = (1.0 - confidence) / (look * (look + 1.0));
    proof(over, samples, quantile, 1.0 - doubt)
}

/// The fewest samples that prove a bound kept with `over` answers beyond it: see [`proof`].
pub fn samples_to_prove(over: u64, quantile: f64, confidence: f64) -> u64 {
    let proves = |samples| proof(over, samples, quantile, confidence) == Proof::Kept;
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

/// The samples that a percentile takes if their number is fixed before: n = z² p(1−p)/m², where the
/// margin m is a twentieth of 1 − p, and z the normal quantile of the confidence (V. J. Reddi et al.,
/// "MLPerf Inference Benchmark", ISCA 2020, section on the number of queries; as there, rounded to
/// the nearest).
pub fn fixed_samples(quantile: f64, confidence: f64) -> u64 {
    let z = normal_quantile(1.0 - (1.0 - confidence) / 2.0);
    let margin = (1.0 - quantile) / 20.0;
    (z * z * quantile * (1.0 - quantile) / (margin * margin)).round() as u64
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
    fn fixed_sizes_are_those_of_the_table() {
        let known = [
            (0.9, 23_886),
            (0.95, 50_425),
            (0.97, 85_811),
            (0.99, 262_742),
        ];
        for (quantile, samples) in known {
            assert_eq!(fixed_samples(quantile, 0.99), samples, "{quantile}");
        }
    }

    #[test]
    fn one_sample_less_proves_nothing() {
        assert_eq!(proof(0, 459, 0.99, 0.99), Proof::Kept);
        assert_eq!(proof(0, 458, 0.99, 0.99), Proof::Open);
        assert_eq!(proof(0, 0, 0.99, 0.99), Proof::Open);
    }

    /// How many of 1 000 endless series whose share is this one are ever proven, looked at 40 times.
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

    #[test]
    fn who_looks_again_and_again_is_seldom_wrong() {
        let sequential = |over, samples, look| sequential_proof(over, samples, 0.9, 0.95, look);
        for wrong in [Proof::Kept, Proof::Broken] {
            let found = ever(0.9, wrong, sequential);
            assert!(found <= 50, "{wrong:?}: {found} of 1 000");
            let naive = ever(0.9, wrong, |over, samples, _| {
                proof(over, samples, 0.9, 0.95)
            });
            assert!(naive > 100, "{wrong:?}: {naive} of 1 000");
        }
    }

    #[test]
    fn who_looks_again_and_again_comes_to_an_end() {
        let sequential = |over, samples, look| sequential_proof(over, samples, 0.9, 0.99, look);
        assert!(ever(0.92, Proof::Kept, sequential) >= 950);
        assert!(ever(0.88, Proof::Broken, sequential) >= 950);
    }

    #[test]
    fn a_later_look_takes_more() {
        assert_eq!(sequential_proof(0, 528, 0.99, 0.99, 1), Proof::Kept);
        assert_eq!(sequential_proof(0, 527, 0.99, 0.99, 1), Proof::Open);
        assert_eq!(sequential_proof(0, 528, 0.99, 0.99, 2), Proof::Open);
    }

    #[test]
    fn many_beyond_the_bound_prove_it_broken() {
        assert_eq!(proof(30, 1_000, 0.99, 0.99), Proof::Broken);
        assert_eq!(proof(10, 1_000, 0.99, 0.99), Proof::Open);
        assert_eq!(proof(2, 2, 0.9, 0.95), Proof::Broken);
    }
}
