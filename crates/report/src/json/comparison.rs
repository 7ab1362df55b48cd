//! Two sides, compared.

use super::metrics::kind;
use super::{judgement, us};
use crate::comparison::{mismatch_sentence, name};
use crate::metrics::figures;
use crate::{ComparedFiles, FileRun, quantity, wording};
use loadline_json as json;
use loadline_metrics::{CustomMetric, Key};
use loadline_plan::Plan;
use loadline_stats::compare::Ratio;
use loadline_units::rounding;
use loadline_verdict::{
    ComparedFigure, ComparedMetrics, ComparedName, ComparedNames, Comparison, Figure, Mismatch,
    Standing, ToleranceResult,
};

pub(super) fn comparison(comparison: &Comparison, base: &Plan, with: &Plan) -> json::Comparison {
    let side = |plan: &Plan, runs: usize, failed: f64| json::Side {
        target: wording::target(plan),
        runs,
        failed: json::Share(rounding::share(failed)),
        checks: None,
        files: None,
    };
    let bounds = comparison.bounds.iter();
    json::Comparison {
        schema: json::SCHEMA,
        a: side(base, comparison.base_runs, comparison.base_failed),
        b: side(with, comparison.with_runs, comparison.with_failed),
        paired: comparison.paired,
        figures: comparison.figures.iter().map(figure).collect(),
        bounds: bounds.map(|p| quantity::percentile(*p)).collect(),
        standing: standing(comparison.standing()),
        names: (!comparison.names.is_empty()).then(|| names(&comparison.names)),
        metrics: metrics(&comparison.metrics),
        tolerances: None,
        warnings: None,
    }
}

/// Returns the comparison of saved runs, with the facts in their files other than the figures.
pub(super) fn of_files(compared: &ComparedFiles<'_>) -> json::Comparison {
    let [base, with] = compared.plans();
    let mut found = comparison(compared.comparison, base, with);
    found.a.files = Some(compared.base.iter().map(file).collect());
    found.b.files = Some(compared.with.iter().map(file).collect());
    let tolerances = compared.tolerances.iter().map(tolerance).collect();
    found.tolerances = Some(tolerances).filter(|all: &Vec<_>| !all.is_empty());
    found.warnings = Some(compared.mismatches().iter().map(difference).collect());
    found
}

fn tolerance(result: &ToleranceResult) -> json::ToleranceResult {
    json::ToleranceResult {
        rule: result.text.clone(),
        outcome: judgement::outcome(result.outcome),
        limit: result.limit,
        ratio: result.ratio.map(|ratio| ratio.ratio),
        interval: result.ratio.map(interval),
    }
}

fn names(names: &ComparedNames) -> json::ComparedNames {
    let texts = |keys: &[Key]| keys.iter().map(Key::to_string).collect();
    json::ComparedNames {
        common: names.common.iter().map(named).collect(),
        more: names.more,
        open_percentiles: names.open_percentiles,
        only_a: texts(&names.only_base),
        only_b: texts(&names.only_with),
    }
}

fn metrics(metrics: &ComparedMetrics) -> Vec<json::ComparedMetric> {
    let (base_ns, with_ns) = (metrics.base.rated_ns, metrics.with.rated_ns);
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let compared = |(key, base, with): (&Key, &CustomMetric, &CustomMetric)| json::ComparedMetric {
        name: key.name().to_owned(),
        tags: key.tags().map(owned).collect(),
        kind: kind(base),
        a: figures(base, base_ns).into_iter().collect(),
        b: figures(with, with_ns).into_iter().collect(),
    };
    metrics.common().map(compared).collect()
}

fn named(named: &ComparedName) -> json::ComparedName {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    json::ComparedName {
        name: named.key.name().to_owned(),
        tags: named.key.tags().map(owned).collect(),
        a_failed: json::Share(rounding::share(named.base_failed)),
        b_failed: json::Share(rounding::share(named.with_failed)),
        figures: named.figures.iter().map(figure).collect(),
    }
}

fn file(run: &FileRun<'_>) -> json::ComparedFile {
    json::ComparedFile {
        file: run.file.display().to_string(),
        run: run.number,
        validity: judgement::validity(&run.result.findings),
    }
}

fn difference(mismatch: &Mismatch) -> json::Difference {
    json::Difference {
        kind: mismatch.name().to_owned(),
        text: mismatch_sentence(mismatch),
    }
}

fn figure(compared: &ComparedFigure) -> json::ComparedFigure {
    let (unit, number) = unit(compared.figure);
    let ratio = compared.ratio;
    json::ComparedFigure {
        figure: name(compared.figure),
        unit,
        a: number(compared.base),
        b: number(compared.with),
        ratio: ratio.ratio,
        interval: interval(ratio),
        standing: standing(compared.standing),
        more_runs: compared.more_runs,
    }
}

fn interval(ratio: Ratio) -> json::RatioInterval {
    json::RatioInterval {
        lower: ratio.lower,
        upper: ratio.upper,
        level: json::Share(ratio.confidence),
    }
}

/// The unit of a figure, and its value in that unit.
pub(super) fn unit(figure: Figure) -> (json::Unit, fn(f64) -> f64) {
    match figure {
        Figure::Percentile(_) | Figure::Mean | Figure::Max => (json::Unit::Us, |ns| us(ns).0),
        Figure::Rate => (json::Unit::PerSecond, rounding::rate),
    }
}

fn standing(standing: Standing) -> json::Standing {
    match standing {
        Standing::Faster => json::Standing::Faster,
        Standing::Slower => json::Standing::Slower,
        Standing::CannotTell => json::Standing::CannotTell,
    }
}
