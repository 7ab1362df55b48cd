//! Several runs of one file.

use super::{comparison, judgement::check, run::run};
use crate::confidence::LEVEL;
use crate::series::{are_all, checks_of_side, compared};
use loadline_json as json;
use loadline_record::{RoleKind, Summary};
use loadline_verdict::{RunResult, Spread, checks_together, spreads, whole_runs};

pub(super) fn series(runs: &[RunResult]) -> json::Series {
    json::Series {
        schema: json::SCHEMA,
        spread: are_all(runs, RoleKind::Repeat).then(|| spread(runs)),
        comparison: comparison_of_sides(runs),
        runs: runs.iter().map(with_role).collect(),
    }
}

fn with_role(result: &RunResult) -> json::SeriesRun {
    json::SeriesRun {
        run: run(result),
        role: result.summary.role.clone(),
    }
}

fn comparison_of_sides(runs: &[RunResult]) -> Option<json::Comparison> {
    let (found, [base, with]) = compared(runs)?;
    let mut comparison = comparison::comparison(&found, base, with);
    let checks = |name: &str| Some(checks_of_side(runs, name).iter().map(check).collect());
    comparison.a.checks = checks("A");
    comparison.b.checks = checks("B");
    Some(comparison)
}

fn spread(runs: &[RunResult]) -> json::Spread {
    let whole = whole_runs(runs);
    let summaries: Vec<&Summary> = whole.iter().map(|run| &run.summary).collect();
    json::Spread {
        runs: whole.len(),
        figures: spreads(&summaries).iter().map(figure).collect(),
        checks: checks_together(&whole).iter().map(check).collect(),
    }
}

fn figure(spread: &Spread) -> json::FigureSpread {
    let (unit, number) = comparison::unit(spread.figure);
    let interval = spread.interval.map(|(lower, upper)| json::MedianInterval {
        lower: number(lower),
        upper: number(upper),
        level: json::Share(LEVEL),
    });
    json::FigureSpread {
        figure: crate::comparison::name(spread.figure),
        unit,
        values: spread.values.iter().map(|value| number(*value)).collect(),
        median: number(spread.median),
        least: number(spread.least),
        most: number(spread.most),
        median_interval: interval,
    }
}
