//! Two targets that took turns: their comparison, the checks of each, and the turns that are not
//! valid.

use super::{Canvas, TextOptions, assemble, floor, omission, outcome, validity_summary};
use crate::comparison::comparison;
use crate::series::checks_of_side;
use loadline_plan::Plan;
use loadline_verdict::{Comparison, RunResult};

/// The report of two sides as text, ending in a line feed. The plans are those of A and of B.
pub(crate) fn sides(
    found: &Comparison,
    [base, with]: [&Plan; 2],
    runs: &[RunResult],
    options: &TextOptions,
) -> String {
    let canvas = Canvas::new(options);
    let (of_a, of_b) = (checks_of_side(runs, "A"), checks_of_side(runs, "B"));
    let comparison = comparison(found, base, with, options);
    let sections = [
        comparison.lines().map(str::to_owned).collect(),
        omission::of_series(runs, canvas),
        floor_of(runs, canvas),
        outcome::checks_of_each(&[("A", &of_a), ("B", &of_b)], canvas),
        validity_summary::of_series(runs, canvas),
    ];
    assemble(&sections, options)
}

/// The floor, which was measured once for all runs.
fn floor_of(runs: &[RunResult], canvas: Canvas) -> Vec<String> {
    let first = runs.first();
    first.map_or_else(Vec::new, |run| floor::lines(&run.summary, canvas))
}
