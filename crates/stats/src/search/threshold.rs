//! The confidence of a capacity: an estimate, from all trials, of the rate at which half of them
//! pass.
//!
//! A trial at rate r passes with the probability (1 − λ) Φ((ln θ − ln r) / σ), where θ is the
//! threshold, σ how much it varies from trial to trial, and λ the share of trials that fail at any
//! rate (a *lapse*: something else had the machine). Trials that follow one another are alike: a
//! part of the variation is an autoregressive process, z' = φ z + √(1 − φ²) ε. Only θ is needed; σ,
//! λ and φ are tried on a grid, the likelihood of the trials is computed for each combination, and
//! summed up. This is the procedure that psychophysics has for the threshold of a sense, with a
//! uniform prior for ln θ and ln σ (Watson & Pelli, *QUEST: a Bayesian adaptive psychometric
//! method*, 1983; Kontsevich & Tyler, *Bayesian adaptive estimation of psychometric slope and
//! threshold*, 1999). The process is summed out by the forward algorithm of hidden Markov models
//! (Rabiner, *A tutorial on hidden Markov models*, 1989) on a few values of z.

use crate::normal::normal_probability;
use std::sync::LazyLock;

/// The probability that a trial passes however far its rate is above the threshold.
const GUESS_RATE: f64 = 0.005;
/// The probabilities that a trial fails however far its rate is below the threshold.
const LAPSE_RATES: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.4];
/// The possible variation of the threshold from trial to trial, as a share of it.
const SPREADS: [f64; 10] = [
    0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64,
];
/// The correlation from one trial to the next, where there is any.
const CORRELATIONS: [f64; 3] = [0.7, 0.9, 0.98];
/// The part of the variance that is correlated, where any is.
const CORRELATED: f64 = 0.9;
/// Values of the process that are tried, and how far apart they are, in standard deviations.
const STATES: usize = 7;
const STATE_STEP: f64 = 0.8;
/// Values of the threshold that are tried: first over all of the range, then where it may lie.
const COARSE: usize = 40;
const FINE: usize = 80;
/// A model that is less likely than this is left out where the threshold is looked at closely.
const UNLIKELY: f64 = 1e-4;
/// The range of thresholds that is looked at closely leaves out at most this probability at each
/// end, a small part of [`TAIL`].
const OUTSIDE: f64 = 1e-3;
/// The probability outside of the interval, at each end.
const TAIL: f64 = 0.025;

/// A trial and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// The rate, above zero.
    pub rate: f64,
    /// True if the trial held.
    pub held: bool,
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
    /// The threshold between these two rates, which are above zero and in order, by these trials,
    /// which are in the order in which they were made.
    pub fn between(lower: f64, upper: f64, attempts: &[Attempt]) -> Threshold {
        let all = models();
        let coarse = Posterior::over(lower, upper, COARSE, attempts, &all);
        let (from, to) = coarse.likely();
        let fine = Posterior::over(from, to, FINE, attempts, &coarse.likely_models(&all));
        Threshold {
            median: fine.quantile(0.5),
            low: fine.quantile(TAIL),
            high: fine.quantile(1.0 - TAIL),
        }
    }
}

/// The probabilities of some thresholds.
struct Posterior {
    /// All in the same ratio to the next.
    thresholds: Vec<f64>,
    /// The sum of all is 1.
    weights: Vec<f64>,
    /// The probability of each model, whatever the threshold; their sum is 1.
    of_models: Vec<f64>,
}

impl Posterior {
    fn over(
        lower: f64,
        upper: f64,
        steps: usize,
        attempts: &[Attempt],
        models: &[Model],
    ) -> Posterior {
        let thresholds = grid(lower, upper, steps);
        let logs: Vec<Vec<f64>> = thresholds
            .iter()
            .map(|threshold| log_likelihoods(*threshold, attempts, models))
            .collect();
        let highest = logs.iter().flatten().copied().fold(f64::MIN, f64::max);
        let (mut weights, mut of_models) = (vec![0.0; steps], vec![0.0; models.len()]);
        for (weight, logs) in weights.iter_mut().zip(&logs) {
            for (of_model, log) in of_models.iter_mut().zip(logs) {
                let likely = (log - highest).exp();
                *weight += likely;
                *of_model += likely;
            }
        }
        let all: f64 = weights.iter().sum();
        weights
            .iter_mut()
            .chain(&mut of_models)
            .for_each(|weight| *weight /= all);
        Posterior {
            thresholds,
            weights,
            of_models,
        }
    }

    /// The models without which nothing changes.
    fn likely_models(&self, models: &[Model]) -> Vec<Model> {
        let models = models.iter().zip(&self.of_models);
        let likely = models.filter(|(_, weight)| **weight > UNLIKELY);
        likely.map(|(model, _)| *model).collect()
    }

    /// The range in which the threshold very likely lies.
    fn likely(&self) -> (f64, f64) {
        let (first, last) = (self.reaching(OUTSIDE).0, self.reaching(1.0 - OUTSIDE).0);
        let next = (last + 1).min(self.thresholds.len() - 1);
        (
            self.thresholds[first.saturating_sub(1)],
            self.thresholds[next],
        )
    }

    /// The threshold up to which there is this share of all weight. Each weight is spread evenly
    /// over the half steps beside its threshold, so that the grid shows in no quantile.
    fn quantile(&self, share: f64) -> f64 {
        let (index, part) = self.reaching(share);
        let (first, last) = (
            self.thresholds[0],
            self.thresholds[self.thresholds.len() - 1],
        );
        let step = (last / first).ln() / (self.thresholds.len() - 1) as f64;
        (self.thresholds[index] * (step * (part - 0.5)).exp()).clamp(first, last)
    }

    /// The first threshold up to which there is this share of all weight, and how much of its own
    /// weight that takes.
    fn reaching(&self, share: f64) -> (usize, f64) {
        let mut sum = 0.0;
        for (index, weight) in self.weights.iter().enumerate() {
            if *weight > 0.0 && sum + weight >= share {
                return (index, (share - sum) / weight);
            }
            sum += weight;
        }
        (self.weights.len() - 1, 1.0)
    }
}

/// Rates from lower to upper, all in the same ratio to the next.
fn grid(lower: f64, upper: f64, steps: usize) -> Vec<f64> {
    let ratio = (upper / lower).ln() / (steps - 1) as f64;
    let rate = |step: usize| lower * (ratio * step as f64).exp();
    (0..steps).map(rate).collect()
}

/// A model of the differences between trials.
#[derive(Clone, Copy)]
struct Model {
    /// By its place among [`SPREADS`].
    spread: usize,
    lapses: f64,
    /// By its place among the processes; `None` where trials are independent.
    process: Option<usize>,
}

fn models() -> Vec<Model> {
    let processes = || (0..CORRELATIONS.len()).map(Some).chain([None]);
    let spreads = 0..SPREADS.len();
    let each = |spread| {
        LAPSE_RATES.into_iter().flat_map(move |lapses| {
            processes().map(move |process| Model {
                spread,
                lapses,
                process,
            })
        })
    };
    spreads.flat_map(each).collect()
}

/// Returns the logarithm of the likelihood of these trials with this threshold, by each model.
fn log_likelihoods(threshold: f64, attempts: &[Attempt], models: &[Model]) -> Vec<f64> {
    let distances: Vec<f64> = attempts
        .iter()
        .map(|attempt| (threshold / attempt.rate).ln())
        .collect();
    let reached = |alike| SPREADS.map(|spread| emissions(attempts, &distances, spread, alike));
    let (alone, alike) = (reached(0.0), reached(CORRELATED));
    let log = |model: &Model| match model.process {
        None => independent(attempts, &alone[model.spread], model.lapses),
        Some(index) => PROCESSES[index].log(attempts, &alike[model.spread], model.lapses),
    };
    models.iter().map(log).collect()
}

/// For each trial and each state of the process the probability that the threshold of the moment is
/// not below the trial's rate.
fn emissions(
    attempts: &[Attempt],
    distances: &[f64],
    spread: f64,
    alike: f64,
) -> Vec<[f64; STATES]> {
    let (shared, own) = (spread * alike.sqrt(), spread * (1.0 - alike).sqrt());
    let of_trial = |(_, distance): (&Attempt, &f64)| {
        let mut reached = [0.0; STATES];
        for (state, reached) in reached.iter_mut().enumerate() {
            *reached = probability((distance + shared * value_of(state)) / own);
        }
        reached
    };
    attempts.iter().zip(distances).map(of_trial).collect()
}

/// Returns the probability of a trial's outcome.
fn outcome(attempt: &Attempt, reached: f64, lapses: f64) -> f64 {
    let holds = GUESS_RATE + (1.0 - GUESS_RATE - lapses) * reached;
    if attempt.held { holds } else { 1.0 - holds }
}

fn independent(attempts: &[Attempt], reached: &[[f64; STATES]], lapses: f64) -> f64 {
    let outcomes = attempts.iter().zip(reached);
    let logs = outcomes.map(|(attempt, reached)| outcome(attempt, reached[0], lapses).ln());
    logs.sum()
}

/// An autoregressive process on a few values.
struct Process {
    /// The probability of each value after each other.
    after: [[f64; STATES]; STATES],
}

static PROCESSES: LazyLock<[Process; CORRELATIONS.len()]> =
    LazyLock::new(|| CORRELATIONS.map(Process::new));

impl Process {
    fn new(correlation: f64) -> Process {
        let deviation = (1.0 - correlation * correlation).sqrt();
        let from = |state: usize| {
            let mean = correlation * value_of(state);
            let mut next = [0.0; STATES];
            for (state, next) in next.iter_mut().enumerate() {
                *next = density((value_of(state) - mean) / deviation);
            }
            normalised(next)
        };
        Process {
            after: std::array::from_fn(from),
        }
    }

    /// Returns the logarithm of the likelihood of the trials, by the forward algorithm.
    fn log(&self, attempts: &[Attempt], reached: &[[f64; STATES]], lapses: f64) -> f64 {
        let mut states = normalised(std::array::from_fn(|state| density(value_of(state))));
        let mut log = 0.0;
        for (attempt, reached) in attempts.iter().zip(reached) {
            for (state, weight) in states.iter_mut().enumerate() {
                *weight *= outcome(attempt, reached[state], lapses);
            }
            log += states.iter().sum::<f64>().ln();
            states = self.next(&normalised(states));
        }
        log
    }

    fn next(&self, states: &[f64; STATES]) -> [f64; STATES] {
        let mut next = [0.0; STATES];
        for (weight, after) in states.iter().zip(&self.after) {
            for (next, after) in next.iter_mut().zip(after) {
                *next += weight * after;
            }
        }
        next
    }
}

/// The value of the process in this state, in standard deviations.
fn value_of(state: usize) -> f64 {
    (state as f64 - (STATES - 1) as f64 / 2.0) * STATE_STEP
}

fn density(value: f64) -> f64 {
    (-0.5 * value * value).exp()
}

fn normalised(mut weights: [f64; STATES]) -> [f64; STATES] {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// Returns the normal distribution, read from a table: an interval needs it a million times.
fn probability(value: f64) -> f64 {
    const REACH: f64 = 6.0;
    const PER_UNIT: f64 = 100.0;
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let steps = (2.0 * REACH * PER_UNIT) as usize;
        let value = |step: usize| step as f64 / PER_UNIT - REACH;
        (0..=steps)
            .map(|step| normal_probability(value(step)))
            .collect()
    });
    let place = (value.clamp(-REACH, REACH) + REACH) * PER_UNIT;
    TABLE[place.round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn attempts(rate: f64, held: usize, broken: usize) -> Vec<Attempt> {
        let of = |held| Attempt { rate, held };
        [vec![of(true); held], vec![of(false); broken]].concat()
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
        let found = Threshold::between(500.0, 2_000.0, &trials.concat());
        assert!((found.median - 1_000.0).abs() < 3.0, "{found:?}");
        assert!(found.low > 980.0 && found.high < 1_020.0, "{found:?}");
    }

    #[test]
    fn one_lapse_moves_it_little() {
        let trials = [
            attempts(500.0, 5, 1),
            attempts(990.0, 20, 0),
            attempts(1_010.0, 0, 20),
        ];
        let found = Threshold::between(400.0, 2_000.0, &trials.concat());
        assert!((found.median / 1_000.0 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_threshold_as_often_as_it_says() {
        let mut inside = 0;
        for seed in 0..200 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let threshold = 5_000.0 + 3.0 * seed as f64;
            let rates = (0..15).map(|step| threshold * (0.93 + 0.01 * f64::from(step)));
            let trials = rates.cycle().take(75).map(|rate| {
                let off: f64 = StandardNormal.sample(&mut random);
                let held = rate <= threshold * (0.05 * off).exp();
                Attempt { rate, held }
            });
            let trials: Vec<Attempt> = trials.collect();
            let found = Threshold::between(2_500.0, 10_000.0, &trials);
            inside += u32::from((found.low..=found.high).contains(&threshold));
        }
        assert!((186..=200).contains(&inside), "{inside} of 200");
    }
}
