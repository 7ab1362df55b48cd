//! Two targets that took turns, too few times to be compared: a line for each run, and why there is
//! no comparison.

use super::repeats::table;
use super::{Canvas, TextOptions, assemble};
use crate::{layout, wording};
use loadline_verdict::{RunResult, is_whole};

/// The report of sides that can't be compared as text, ending in a line feed. There is one run at
/// least.
pub(crate) fn uncompared(runs: &[RunResult], options: &TextOptions) -> String {
    let canvas = Canvas::new(options);
    let sections = [
        head(runs, canvas.width),
        table(runs, &label, canvas),
        layout::wrap(&reason(runs), canvas.width),
    ];
    assemble(&sections, options)
}

/// Returns the target of each side, and the load.
fn head(runs: &[RunResult], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for name in ["A", "B"] {
        if let Some(run) = runs.iter().find(|run| side(run) == name) {
            let target = layout::harmless(&wording::target(&run.summary.plan));
            lines.extend(layout::hanging(&format!("{name}  "), &target, width));
        }
    }
    lines.extend(layout::wrap(&wording::load(&runs[0].summary.plan), width));
    lines
}

/// The side of a run and its number there.
fn label(_: usize, run: &RunResult) -> String {
    let number = run.summary.role.as_ref().map_or(0, |role| role.number);
    format!("{} {number}", side(run))
}

fn side(run: &RunResult) -> &str {
    let role = run.summary.role.as_ref();
    role.and_then(|role| role.name.as_deref())
        .unwrap_or_default()
}

fn reason(runs: &[RunResult]) -> String {
    let numbers = |name| {
        let whole = runs.iter().filter(|run| is_whole(&run.summary));
        let of_side = whole.filter(move |run| side(run) == name);
        of_side.filter_map(|run| Some(run.summary.role.as_ref()?.number))
    };
    let pairs = numbers("A").filter(|number| numbers("B").any(|other| other == *number));
    let why = match pairs.count() {
        0 => "that takes two whole pairs of runs, and there is none. Let the series run longer.",
        1 => "that takes two whole pairs of runs, and there is one. Let the series run longer.",
        _ => "a run has no response. The JSON report (-o json) has the errors of each run.",
    };
    format!("A and B can't be compared: {why}")
}
