//! The changes that a run can show when compared with a baseline of this noise, known before the
//! run is made.

use super::names::{Seconds, Side as Names};
use super::{CONFIDENCE, Figure, SEED, SavedRun, Tolerance, comparable, rates, stretches, value};
use loadline_record::Summary;
use loadline_stats::compare::{Noise, confidence_of_each};

/// The runs that will be compared with a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The number of runs to come.
    pub runs: usize,
    /// The length of each of them in nanoseconds, if it is known; else it is that of the baseline.
    pub length_ns: Option<u64>,
}

/// The smallest change of a rule's figure that would be found in nine of ten cases.
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleChange {
    /// The rule.
    pub rule: Tolerance,
    /// The B / A from which on it is found; `None` where the baseline does not know the figure or
    /// its noise.
    pub ratio: Option<f64>,
}

/// Returns the visible change of each rule. The noise is that of the baseline on both sides: of one
/// run, the noise of its stretches, so that differences from run to run are not included.
pub fn visible_changes(
    base: &[SavedRun],
    percentiles: &[f64],
    rules: &[Tolerance],
    against: Against,
) -> Vec<VisibleChange> {
    let runs: Vec<&Summary> = base.iter().map(|saved| saved.run.summary()).collect();
    let of_all = confidence_of_each(comparable(&runs, percentiles).len(), CONFIDENCE);
    let parts = rules.iter().filter(|rule| rule.is_of_part());
    let of_parts = confidence_of_each(parts.count(), CONFIDENCE);
    let visible = |rule: &Tolerance| {
        let noise = noise(base, &runs, rule)?;
        let other = noise.of_times_as_many(times_as_many(&runs, against));
        let confidence = match rule.is_of_part() {
            true => of_parts,
            false => of_all,
        };
        let beyond = noise.visible(other, confidence);
        Some(match rule.is_upper() {
            true => rule.limit() * beyond,
            false => rule.limit() / beyond,
        })
    };
    rules
        .iter()
        .map(|rule| VisibleChange {
            rule: rule.clone(),
            ratio: visible(rule),
        })
        .collect()
}

/// Returns the expected amount of data of the other side, as a multiple of the baseline's.
fn times_as_many(base: &[&Summary], against: Against) -> f64 {
    match (base, against.length_ns) {
        ([one], Some(length_ns)) => length_ns as f64 / one.duration_ns.max(1) as f64,
        ([_], None) => 1.0,
        (several, _) => against.runs as f64 / several.len() as f64,
    }
}

fn noise(base: &[SavedRun], runs: &[&Summary], rule: &Tolerance) -> Option<Noise> {
    let figure = rule.figure();
    if rule.is_of_part() {
        return match base {
            [one] => noise_of_part(one, rule),
            _ => None,
        };
    }
    match (base, figure) {
        ([one], Figure::Percentile(percentile)) => {
            Noise::of_quantile(&stretches(&one.run), percentile / 100.0, SEED)
        }
        ([one], Figure::Rate) => Noise::of_mean(&rates(one.run.summary()), SEED),
        ([_], _) => None,
        _ => {
            let values: Vec<f64> = runs.iter().map(|run| value(run, figure)).collect();
            Noise::of_runs(&values)
        }
    }
}

fn noise_of_part(run: &SavedRun, rule: &Tolerance) -> Option<Noise> {
    let names = Names::of(vec![run.run.summary()]);
    let keys = names.matched(rule);
    let seconds = Seconds::of(&run.run);
    match rule.figure() {
        Figure::Percentile(percentile) => {
            Noise::of_quantile(&seconds.stretches(&keys), percentile / 100.0, SEED)
        }
        Figure::Rate => Noise::of_mean(&seconds.rates(&keys), SEED),
        Figure::Mean | Figure::Max => None,
    }
}
