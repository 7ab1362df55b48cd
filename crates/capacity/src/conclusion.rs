//! The result of a search: the load line, or what is known about it.

use crate::measure::{OwnLimit, Trial};
use loadline_stats::search::{Attempt, Threshold};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The highest level that holds.
    Found(LoadLine),
    /// This level holds; what happens above it is unknown.
    AtLeast {
        /// The highest level that held.
        level: f64,
        /// The reason why higher levels are unknown.
        why: Why,
    },
    /// Not even the lowest level holds.
    NothingHolds {
        /// The lowest level.
        level: f64,
        /// The failed conditions at that level, the most frequent first.
        breaks: Vec<Breaking>,
        /// The limit of the generator or its machine that may be the cause.
        own_limit: Option<OwnLimit>,
    },
    /// Time ran out, or the search was stopped, before the load line was enclosed.
    Inconclusive(Inconclusive),
}

/// The highest level that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadLine {
    /// The highest level that holds: most of its trials passed, and so did one long run, and all
    /// responses at the level together. The RFC's relevant lower bound.
    pub level: f64,
    /// The lowest level above that does not hold: the RFC's relevant upper bound.
    pub upper: f64,
    /// The median of the responses per second in the trials at the level that passed: the RFC's
    /// *conditional throughput*. Less than the level if a few requests pile up in each trial.
    pub throughput: f64,
    /// The published value: the level, reduced by the requests that pile up per second in the
    /// trials at it that passed, if they are more than the beginning and end of a trial explain.
    pub carried: f64,
    /// The lower end of the 95 % interval: the level at which half of the trials pass lies above
    /// this with a probability of 97.5 %, reduced by what piled up in a trial at the load line.
    pub low: f64,
    /// The upper end of the 95 % interval: the level lies below this with a probability of 97.5 %.
    pub high: f64,
    /// The failed conditions at the upper bound, the most frequent first.
    pub breaks: Vec<Breaking>,
    /// The duration of the confirming run's measured part, in seconds.
    pub confirmed_s: f64,
    /// The cores that the target used at this level, if it was watched.
    pub target_cores: Option<f64>,
    /// The disturbance in most of the failed trials at the upper bound: without it, the load line
    /// may be higher.
    pub disturbance: Option<OwnLimit>,
}

/// A reason why the levels above are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The generator reaches its limit before the target does.
    Generator {
        /// The limit of the generator.
        limit: OwnLimit,
        /// The lowest level at which it was reached.
        at: f64,
    },
    /// The level is the highest that may be tried.
    Highest,
    /// A long run confirmed the level, and time ran out, or the search was stopped, before the load
    /// line was enclosed.
    TimeOver {
        /// The duration of the confirming run's measured part, in seconds.
        confirmed_s: f64,
        /// The bounds of the load line.
        known: Inconclusive,
    },
}

/// The bounds of the load line that are known when a search ends before enclosing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inconclusive {
    /// The lower bound: the load line lies above it with a probability of 97.5 % if trials failed
    /// as well and no level was refuted; otherwise it is the highest level that passed.
    pub lower: Option<f64>,
    /// The upper bound, in the same sense.
    pub upper: Option<f64>,
    /// The lowest level that passed in most short trials, but failed in a long run or on all
    /// responses together.
    pub refuted: Option<f64>,
    /// The limit of the generator or its machine that may be the main cause of the failed checks.
    pub own_limit: Option<OwnLimit>,
}

/// A condition that a trial can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breaking {
    /// The check with this index.
    Check(usize),
    /// Keeping up: the target falls behind.
    KeepingUp,
}

/// Returns the conditions that failed in these trials, the most frequent first. Of equally frequent
/// ones the checks come first, in their order.
pub(crate) fn breaks(trials: &[&Trial]) -> Vec<Breaking> {
    let mut counts: BTreeMap<Breaking, usize> = BTreeMap::new();
    for trial in trials {
        let checks = trial.seen.checks.iter().enumerate();
        let broken = checks.filter(|(_, held)| !**held);
        let broken = broken.map(|(index, _)| Breaking::Check(index));
        let behind = (!trial.kept_up).then_some(Breaking::KeepingUp);
        for what in broken.chain(behind) {
            *counts.entry(what).or_default() += 1;
        }
    }
    let mut breaks: Vec<(Breaking, usize)> = counts.into_iter().collect();
    breaks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    breaks.into_iter().map(|(what, _)| what).collect()
}

/// Returns the limit of the generator that was reached in most of the failed trials.
pub(crate) fn own_limit(trials: &[&Trial]) -> Option<OwnLimit> {
    of_most(trials, Trial::own_limit)
}

/// Returns the cause other than the target that may explain why most of these trials failed: the
/// generator at its limit, or a disturbance.
pub(crate) fn other_cause(trials: &[&Trial]) -> Option<OwnLimit> {
    of_most(trials, Trial::other_cause)
}

/// Returns the last of the limits found, if at least half of the failed trials have one.
fn of_most(trials: &[&Trial], found: impl Fn(&Trial) -> Option<OwnLimit>) -> Option<OwnLimit> {
    let broken = trials.iter().filter(|trial| !trial.held());
    let limits: Vec<OwnLimit> = broken.clone().filter_map(|trial| found(trial)).collect();
    let mostly = 2 * limits.len() >= broken.count();
    limits.last().copied().filter(|_| mostly)
}

/// Returns the confidence interval of a load line between these levels, from these trials in the
/// order in which they were made.
pub(crate) fn threshold(trials: &[&Trial], lower: f64, upper: f64) -> Threshold {
    let attempt = |trial: &&Trial| Attempt {
        rate: trial.level,
        held: trial.held(),
    };
    let attempts: Vec<Attempt> = trials.iter().map(attempt).collect();
    Threshold::between(lower / 2.0, upper * 2.0, &attempts)
}

/// Returns the largest share of the load that piled up in one of these trials that passed: the
/// target may sustain this share less than their level.
pub(crate) fn piled_up(trials: &[&Trial], mean_at_ease_s: f64) -> f64 {
    let held = trials.iter().filter(|trial| trial.held());
    let shares = held.map(|trial| {
        let grown = trial.backlog().growth(mean_at_ease_s, trial.level);
        grown / (trial.level * trial.seconds)
    });
    shares.fold(0.0, f64::max).min(1.0)
}

/// Returns the median of the responses per second of the trials that passed.
pub(crate) fn throughput(trials: &[&Trial]) -> Option<f64> {
    median(trials, |trial| trial.seen.answers_per_s)
}

/// Returns the median of the requests that piled up per second in the trials that passed.
pub(crate) fn growth_per_s(trials: &[&Trial], mean_at_ease_s: f64) -> f64 {
    let growth = |trial: &Trial| trial.backlog().growth(mean_at_ease_s, trial.level);
    median(trials, |trial| growth(trial) / trial.seconds).unwrap_or(0.0)
}

/// Returns the median of a value over the trials that passed, each weighted by its duration.
fn median(trials: &[&Trial], of: impl Fn(&Trial) -> f64) -> Option<f64> {
    let held = trials.iter().filter(|trial| trial.held());
    let mut values: Vec<(f64, f64)> = held.map(|trial| (of(trial), trial.seconds)).collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half_s = values.iter().map(|(_, seconds)| seconds).sum::<f64>() / 2.0;
    let mut sum_s = 0.0;
    let median = values.iter().find(|(_, seconds)| {
        sum_s += seconds;
        sum_s >= half_s
    });
    median.map(|(value, _)| *value)
}

/// Returns the mean number of cores that the target used in these trials.
pub(crate) fn target_cores(trials: &[&Trial]) -> Option<f64> {
    let cores: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial.seen.target_cores)
        .collect();
    (!cores.is_empty()).then(|| cores.iter().sum::<f64>() / cores.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Observation, Purpose};

    fn trial(checks: &[bool], kept_up: bool, own_limit: Option<OwnLimit>) -> Trial {
        Trial {
            number: 1,
            purpose: Purpose::Search,
            level: 100.0,
            seconds: 1.0,
            kept_up,
            discarded: false,
            seen: Observation {
                checks: checks.to_vec(),
                own_limit,
                target_cores: Some(0.5),
                ..Observation::default()
            },
        }
    }

    #[test]
    fn what_breaks_most_often_breaks_first() {
        let trials = [
            trial(&[true, false], false, None),
            trial(&[true, false], true, None),
            trial(&[false, true], false, None),
            trial(&[true, true], true, None),
        ];
        let breaks = breaks(&trials.iter().collect::<Vec<_>>());
        let expected = [Breaking::Check(1), Breaking::KeepingUp, Breaking::Check(0)];
        assert_eq!(breaks, expected);
    }

    #[test]
    fn a_disturbance_excuses_the_target_and_is_no_end_of_the_generator() {
        let stolen = OwnLimit::Stolen { share: 0.5 };
        let mut disturbed = trial(&[false], true, None);
        disturbed.seen.disturbance = Some(stolen);
        let theirs = trial(&[false], true, None);
        assert_eq!(own_limit(&[&disturbed]), None);
        assert_eq!(other_cause(&[&disturbed, &theirs]), Some(stolen));
        assert_eq!(other_cause(&[&disturbed, &theirs, &theirs]), None);
        let busy = Some(OwnLimit::Busy { share: 0.97 });
        disturbed.seen.own_limit = busy;
        assert_eq!(
            other_cause(&[&disturbed]),
            busy,
            "the nearer reason comes first"
        );
    }

    #[test]
    fn the_generator_ends_first_if_it_did_in_most_trials_that_broke() {
        let busy = Some(OwnLimit::Busy { share: 0.97 });
        let (ours, theirs) = (trial(&[false], true, busy), trial(&[false], true, None));
        let held = trial(&[true], true, busy);
        assert_eq!(own_limit(&[&ours, &theirs, &held]), busy);
        assert_eq!(own_limit(&[&ours, &theirs, &theirs]), None);
        assert_eq!(own_limit(&[&held]), None, "it was no limit where all held");
    }
}
