//! The figures of some requests that a rule is on: `p95{name:login}:+10%`.
//!
//! They are compared by themselves, so that the interval of a rule by name does not depend on how
//! many other names there are: those of all such rules hold together at 95 %.

use super::names::{self, PRECISION, Seconds, Side, stands, together, value_of};
use super::{
    CONFIDENCE, ComparedFigure, Figure, SEED, SavedRun, Tolerance, compared, geometric_mean,
};
use loadline_metrics::Key;
use loadline_record::Summary;
use loadline_stats::compare::{
    Ratio, compare_means, compare_pairs, compare_quantiles, compare_runs, confidence_of_each,
};
use loadline_stats::least_samples;
use std::collections::BTreeMap;

/// The figures of these rules, by their text; one that both sides do not have is left out.
pub(super) fn of(
    base: &[SavedRun],
    with: &[SavedRun],
    rules: &[Tolerance],
) -> BTreeMap<String, ComparedFigure> {
    let sides = (runs_of(base), runs_of(with));
    let ([base], [with]) = (base, with) else {
        return each(&sides.0, &sides.1, rules, |matched, confidence| {
            compare_runs(&matched.base, &matched.with, confidence, SEED)
        });
    };
    let seconds = (Seconds::of(&base.run), Seconds::of(&with.run));
    each(
        &sides.0,
        &sides.1,
        rules,
        |matched, confidence| match matched.figure {
            Figure::Percentile(percentile) => {
                let base = seconds.0.stretches(&matched.base_keys);
                let with = seconds.1.stretches(&matched.with_keys);
                compare_quantiles(&base, &with, percentile / 100.0, confidence, SEED)
            }
            Figure::Rate => {
                let base = seconds.0.rates(&matched.base_keys);
                let with = seconds.1.rates(&matched.with_keys);
                compare_means(&base, &with, confidence, SEED)
            }
            Figure::Mean | Figure::Max => None,
        },
    )
}

/// The same of runs that took turns, in pairs.
pub(super) fn of_pairs(
    base: &[&Summary],
    with: &[&Summary],
    rules: &[Tolerance],
) -> BTreeMap<String, ComparedFigure> {
    each(base, with, rules, |matched, confidence| {
        compare_pairs(&matched.base, &matched.with, confidence)
    })
}

fn runs_of(side: &[SavedRun]) -> Vec<&Summary> {
    side.iter().map(|saved| saved.run.summary()).collect()
}

/// A figure of some requests on both sides.
struct MatchedFigure<'a> {
    figure: Figure,
    /// The keys of the requests, as A recorded them.
    base_keys: Vec<&'a Key>,
    /// The keys of the requests, as B recorded them.
    with_keys: Vec<&'a Key>,
    /// The value of each run of A.
    base: Vec<f64>,
    /// The value of each run of B.
    with: Vec<f64>,
}

fn each(
    base: &[&Summary],
    with: &[&Summary],
    rules: &[Tolerance],
    ratio: impl Fn(&MatchedFigure<'_>, f64) -> Option<Ratio>,
) -> BTreeMap<String, ComparedFigure> {
    let rules = || rules.iter().filter(|rule| rule.is_of_part());
    let confidence = confidence_of_each(rules().count(), CONFIDENCE);
    let sides = (Side::of(base.to_vec()), Side::of(with.to_vec()));
    let compared = rules().filter_map(|rule| {
        let matched = matched(rule, (base, &sides.0), (with, &sides.1))?;
        let ratio = ratio(&matched, confidence)?;
        let ratio = match matched.figure {
            Figure::Rate => ratio,
            Figure::Percentile(_) | Figure::Mean | Figure::Max => ratio.widened(PRECISION),
        };
        let means = (geometric_mean(&matched.base), geometric_mean(&matched.with));
        let runs = matched.base.len().min(matched.with.len());
        Some((
            rule.text().to_owned(),
            compared(matched.figure, means, ratio, runs),
        ))
    });
    compared.collect()
}

fn matched<'a>(
    rule: &Tolerance,
    base: (&[&Summary], &names::Side<'a>),
    with: (&[&Summary], &names::Side<'a>),
) -> Option<MatchedFigure<'a>> {
    let figure = rule.figure();
    let keys = (base.1.matched(rule), with.1.matched(rule));
    Some(MatchedFigure {
        figure,
        base: values(base.0, &keys.0, figure)?,
        with: values(with.0, &keys.1, figure)?,
        base_keys: keys.0,
        with_keys: keys.1,
    })
}

/// The figure of each run, if every run knows it.
fn values(runs: &[&Summary], keys: &[&Key], figure: Figure) -> Option<Vec<f64>> {
    let value = |run: &&Summary| {
        let series = together(&run.total, keys);
        if let Figure::Percentile(percentile) = figure {
            let needed = least_samples(percentile / 100.0, CONFIDENCE);
            if series.times.len() < needed || !stands(&series, run, percentile) {
                return None;
            }
        }
        value_of(&series, run, figure)
    };
    runs.iter().map(value).collect()
}
