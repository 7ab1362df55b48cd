//! How sure a capacity is: where the rate lies at which half of the trials hold, given all trials.
//!
//! A trial at rate r holds with the probability Φ((ln θ − ln r) / σ), where θ is the threshold and σ
//! how much it varies from trial to trial; a hundredth of the trials, whatever their rate, come out
//! as chance has it (a *lapse*). Neither θ nor σ is known, so both are tried on a grid, and what the
//! trials say of each pair is weighed and summed up over σ. This is the procedure that psychophysics
//! has for the threshold of a sense, with a uniform prior for ln θ and ln σ (Watson & Pelli, *QUEST:
//! a Bayesian adaptive psychometric method*, 1983; Kontsevich & Tyler, *Bayesian adaptive estimation
//! of psychometric slope and threshold*, 1999).

use crate::normal::normal_probability;

/// The share of trials that come out as chance has it.
const LAPSES: f64 = 0.01;
/// How much the threshold may vary from trial to trial, as a share of it.
const SPREADS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16];
/// Values of the threshold that are tried.
const STEPS: usize = 1_000;
/// What lies outside of the interval.
const TAIL: f64 = 0.025;

/// The trials at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    /// The rate, above zero.
    pub rate: f64,
    /// How many trials held.
    pub held: u32,
    /// How many did not.
    pub broken: u32,
}

/// The rate at which half of the trials hold, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// As probably above as below.
    pub median: f64,
    /// Below this with a probability of 2.5 %.
    pub low: f64,
    /// Above this with a probability of 2.5 %.
    pub high: f64,
}

impl Threshold {
    /// The threshold between these two rates, which are above zero and in order, by these trials.
    pub fn between(lower: f64, upper: f64, attempts: &[Attempts]) -> Threshold {
        let thresholds = grid(lower, upper);
        let logs = log_likelihoods(&thresholds, attempts);
        let highest = logs.iter().flatten().copied().fold(f64::MIN, f64::max);
        let weigh = |of_spreads: &Vec<f64>| -> f64 {
            of_spreads.iter().map(|log| (log - highest).exp()).sum()
        };
        let weights: Vec<f64> = logs.iter().map(weigh).collect();
        let at = |probability: f64| thresholds[rank(&weights, probability)];
        Threshold {
            median: at(0.5),
            low: at(TAIL),
            high: at(1.0 - TAIL),
        }
    }
}

/// Rates from lower to upper, all in the same ratio to the next.
fn grid(lower: f64, upper: f64) -> Vec<f64> {
    let ratio = (upper / lower).ln() / (STEPS - 1) as f64;
    let rate = |step: usize| lower * (ratio * step as f64).exp();
    (0..STEPS).map(rate).collect()
}

/// For each threshold and each spread how likely the trials are, as a logarithm.
fn log_likelihoods(thresholds: &[f64], attempts: &[Attempts]) -> Vec<Vec<f64>> {
    let of_spread = |threshold: f64, spread: f64| -> f64 {
        let log = |attempts: &Attempts| {
            let distance = (threshold / attempts.rate).ln() / spread;
            let holds = LAPSES / 2.0 + (1.0 - LAPSES) * normal_probability(distance);
            f64::from(attempts.held) * holds.ln() + f64::from(attempts.broken) * (1.0 - holds).ln()
        };
        attempts.iter().map(log).sum()
    };
    let of_threshold =
        |threshold: &f64| SPREADS.map(|spread| of_spread(*threshold, spread)).to_vec();
    thresholds.iter().map(of_threshold).collect()
}

/// The first index up to which there is this share of all weight.
fn rank(weights: &[f64], share: f64) -> usize {
    let wanted = weights.iter().sum::<f64>() * share;
    let mut sum = 0.0;
    let reached = weights.iter().position(|weight| {
        sum += weight;
        sum >= wanted
    });
    reached.unwrap_or(weights.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn attempts(rate: f64, held: u32, broken: u32) -> Attempts {
        Attempts { rate, held, broken }
    }

    #[test]
    fn without_trials_it_may_lie_anywhere_between() {
        let found = Threshold::between(100.0, 400.0, &[]);
        assert!((found.median - 200.0).abs() < 1.0, "{found:?}");
        assert!(found.low < 104.0 && found.high > 385.0, "{found:?}");
    }

    #[test]
    fn between_a_rate_that_held_and_one_that_broke() {
        let trials = [attempts(990.0, 20, 0), attempts(1_010.0, 0, 20)];
        let found = Threshold::between(500.0, 2_000.0, &trials);
        assert!((found.median - 1_000.0).abs() < 3.0, "{found:?}");
        assert!(found.low > 985.0 && found.high < 1_015.0, "{found:?}");
    }

    #[test]
    fn one_lapse_moves_it_little() {
        let trials = [
            attempts(500.0, 5, 1),
            attempts(990.0, 20, 0),
            attempts(1_010.0, 0, 20),
        ];
        let found = Threshold::between(400.0, 2_000.0, &trials);
        assert!((found.median / 1_000.0 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_threshold_as_often_as_it_says() {
        let mut inside = 0;
        for seed in 0..200 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let threshold = 5_000.0 + 3.0 * seed as f64;
            let rates = (0..15).map(|step| threshold * (0.93 + 0.01 * f64::from(step)));
            let trials: Vec<Attempts> = rates
                .map(|rate| {
                    let mut held = 0;
                    for _ in 0..5 {
                        let off: f64 = StandardNormal.sample(&mut random);
                        held += u32::from(rate <= threshold * (0.05 * off).exp());
                    }
                    attempts(rate, held, 5 - held)
                })
                .collect();
            let found = Threshold::between(2_500.0, 10_000.0, &trials);
            inside += u32::from((found.low..=found.high).contains(&threshold));
        }
        assert!((182..=198).contains(&inside), "{inside} of 200");
    }
}
