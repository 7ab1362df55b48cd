//! What a search found.

use crate::keeping_up;
use crate::measure::{OwnLimit, Trial};
use loadline_stats::search::{Attempts, Threshold};
use std::collections::BTreeMap;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The highest level that holds.
    Found(LoadLine),
    /// This level holds, and what lies above it is not known.
    AtLeast {
        /// The highest level that held.
        level: f64,
        /// Why there is no more to say.
        why: Why,
    },
    /// Not even the lowest level holds.
    NothingHolds {
        /// The lowest level.
        level: f64,
        /// What broke there, the most often broken first.
        breaks: Vec<Breaking>,
        /// Whether that may have been the doing of the generator or its machine.
        own_limit: Option<OwnLimit>,
    },
    /// The search ended before it knew.
    Unsettled(Unsettled),
}

/// The highest level that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// The highest level at which most trials held.
    pub level: f64,
    /// It lies above this with a probability of 97.5 %. The most that piled up in a trial of the load
    /// line that held is taken off, as the target may carry so much less for long.
    pub low: f64,
    /// It lies below this with a probability of 97.5 %.
    pub high: f64,
    /// What broke just above, the most often broken first.
    pub breaks: Vec<Breaking>,
    /// So many of the confirming trials held.
    pub confirmed: u32,
    /// Confirming trials.
    pub confirmations: u32,
    /// The cores that the target used at this level, if it was watched.
    pub target_cores: Option<f64>,
    /// What disturbed most of the trials that broke just above: undisturbed, it may lie higher.
    pub disturbance: Option<OwnLimit>,
}

/// Why it is not known what lies above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// The generator ends before the target does.
    Generator {
        /// What of it.
        limit: OwnLimit,
        /// The lowest level at which it did.
        at: f64,
    },
    /// It is the highest level that may be tried.
    Highest,
}

/// What is known when a search ends before it knows all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsettled {
    /// The highest level known to hold.
    pub lower: Option<f64>,
    /// The lowest level known not to.
    pub upper: Option<f64>,
    /// Whether what broke may mostly have been the doing of the generator or its machine.
    pub own_limit: Option<OwnLimit>,
}

/// What can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaking {
    /// The check of this index.
    Check(usize),
    /// The target falls behind.
    KeepingUp,
}

/// What broke in these trials, the most often broken first; of what broke equally often the checks
/// come first, in their order.
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

/// What of the generator was at its end in most of the trials that broke.
pub(crate) fn own_limit(trials: &[&Trial]) -> Option<OwnLimit> {
    of_most(trials, Trial::own_limit)
}

/// What excuses the target in most of the trials that broke: an end of the generator, or what
/// disturbed it.
pub(crate) fn excuse(trials: &[&Trial]) -> Option<OwnLimit> {
    of_most(trials, Trial::excuse)
}

/// The last of what was found in at least half of the trials that broke.
fn of_most(trials: &[&Trial], found: impl Fn(&Trial) -> Option<OwnLimit>) -> Option<OwnLimit> {
    let broken = trials.iter().filter(|trial| !trial.held());
    let limits: Vec<OwnLimit> = broken.clone().filter_map(|trial| found(trial)).collect();
    let mostly = 2 * limits.len() >= broken.count();
    limits.last().copied().filter(|_| mostly)
}

/// How sure a load line between these levels is.
pub(crate) fn threshold(trials: &[&Trial], lower: f64, upper: f64) -> Threshold {
    let mut attempts: Vec<Attempts> = Vec::new();
    for trial in trials {
        let index = attempts.iter().position(|one| one.rate == trial.level);
        let index = index.unwrap_or_else(|| {
            attempts.push(Attempts {
                rate: trial.level,
                held: 0,
                broken: 0,
            });
            attempts.len() - 1
        });
        let held = u32::from(trial.held());
        attempts[index].held += held;
        attempts[index].broken += 1 - held;
    }
    Threshold::between(lower / 2.0, upper * 2.0, &attempts)
}

/// The largest share of the load that piled up in one of these trials which held: by so much less than
/// their level may the target carry for long.
pub(crate) fn piled_up(trials: &[&Trial]) -> f64 {
    let held = trials.iter().filter(|trial| trial.held());
    let shares = held.map(|trial| {
        let seen = &trial.seen;
        keeping_up::piled_up(seen.outstanding_s, seen.mean_s, trial.seconds)
    });
    shares.fold(0.0, f64::max).min(1.0)
}

/// The mean of what the target used in these trials.
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
    use crate::{Purpose, Seen};

    fn trial(checks: &[bool], kept_up: bool, own_limit: Option<OwnLimit>) -> Trial {
        Trial {
            number: 1,
            purpose: Purpose::Search,
            level: 100.0,
            seconds: 1.0,
            kept_up,
            set_aside: false,
            seen: Seen {
                checks: checks.to_vec(),
                own_limit,
                target_cores: Some(0.5),
                ..Seen::default()
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
        assert_eq!(excuse(&[&disturbed, &theirs]), Some(stolen));
        assert_eq!(excuse(&[&disturbed, &theirs, &theirs]), None);
        let busy = Some(OwnLimit::Busy { share: 0.97 });
        disturbed.seen.own_limit = busy;
        assert_eq!(excuse(&[&disturbed]), busy, "the nearer reason comes first");
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
