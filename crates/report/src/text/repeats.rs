//! Repeats: a line for each run, the spread across them, and the checks on all together.

use super::{Canvas, Extent, TextOptions, assemble, floor, omission, outcome, validity_summary};
use crate::comparison::{name, only_bounds, times, value};
use crate::table::{Column, indented, line};
use crate::{layout, percentiles, quantity, wording};
use loadline_record::{Ended, Summary};
use loadline_units as units;
use loadline_verdict::{
    CheckResult, RunResult, Spread, bounds_in, checks_together, runs_still_needed, spreads,
    whole_runs,
};

/// The percentiles in the line of a run.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// Columns of a spread: name, median, least, most, their ratio, and its interval.
const SPREAD: [Column; 6] = [
    Column::Left(8),
    Column::Right(11),
    Column::Right(12),
    Column::Right(11),
    Column::Right(13),
    Column::Right(25),
];

/// The report of repeats as text, ending in a line feed.
pub(crate) fn repeats(runs: &[RunResult], options: &TextOptions) -> String {
    let canvas = Canvas::new(options);
    let whole = whole_runs(runs);
    let checks = checks_together(&whole);
    if options.extent == Extent::Short {
        let sections = [
            table(runs, &number, canvas),
            outcome::checks(&checks, canvas),
            validity_summary::of_series(runs, canvas),
        ];
        return assemble(&sections, options);
    }
    let sections = [
        head(runs, &whole, canvas),
        table(runs, &number, canvas),
        across(&whole, canvas),
        omission::of_series(runs, canvas),
        floor::lines(&runs[0].summary, canvas),
        outcome::checks(&checks, canvas),
        passed(&whole, canvas),
        validity_summary::of_series(runs, canvas),
    ];
    assemble(&sections, options)
}

fn head(runs: &[RunResult], whole: &[&RunResult], canvas: Canvas) -> Vec<String> {
    let plan = &runs[0].summary.plan;
    let target = layout::harmless(&wording::target(plan));
    let mut lines: Vec<String> = layout::wrap(&target, canvas.width)
        .iter()
        .map(|line| canvas.style.strong(line))
        .collect();
    lines.extend(layout::wrap(&wording::load(plan), canvas.width));
    let mut count = units::counted(runs.len() as u64, "run");
    let planned = runs[0].summary.role.as_ref().and_then(|role| role.of);
    if let Some(of) = planned.filter(|of| *of as usize > runs.len()) {
        count = format!("{count} of {of}");
    }
    if whole.len() < runs.len() {
        let short = units::count((runs.len() - whole.len()) as u64);
        count.push_str(&format!(
            ", {short} of them cut short and not in the spread"
        ));
    }
    lines.extend(layout::wrap(&count, canvas.width));
    lines
}

/// The number of a repeat in its line.
fn number(position: usize, _: &RunResult) -> String {
    position.to_string()
}

/// A line for each run, which begins with what `label` makes of its position from 1 and itself.
pub(super) fn table(
    runs: &[RunResult],
    label: &dyn Fn(usize, &RunResult) -> String,
    canvas: Canvas,
) -> Vec<String> {
    let known = |percentile: &f64| {
        let mut times = runs.iter().map(|run| run.summary.response());
        times.any(|times| percentiles::missing(times, *percentile) == 0)
    };
    let shown: Vec<f64> = PERCENTILES.into_iter().filter(known).collect();
    let percentiles = shown
        .iter()
        .map(|percentile| quantity::percentile(*percentile));
    let runs = runs.iter().zip(1..);
    let runs: Vec<(String, &Summary)> = runs
        .map(|(run, position)| (indented(&label(position, run)), &run.summary))
        .collect();
    let width = runs.iter().map(|(label, _)| label.len()).max();
    let width = width.unwrap_or_default().max(5);
    let names = run_line(
        (indented("run"), width),
        "rate".to_owned(),
        percentiles,
        "failed".to_owned(),
    );
    let rows = runs
        .into_iter()
        .map(|(label, run)| row((label, width), run, &shown));
    std::iter::once(canvas.style.strong(&names))
        .chain(rows)
        .collect()
}

/// A run's line. A percentile for which it has too few samples is left empty.
fn row(label: (String, usize), run: &Summary, shown: &[f64]) -> String {
    let times = run.response();
    let rate = units::rate(run.answers_per_s());
    let percentile = |percentile: &f64| match percentiles::missing(times, *percentile) {
        0 => quantity::bounded_cell(times.percentile(*percentile).map(|ns| ns as f64)),
        _ => String::new(),
    };
    let failed = units::count(run.total.counts.failures());
    let percentiles = shown.iter().map(percentile);
    run_line(label, rate, percentiles, failed) + short_end(run)
}

/// A run's label in a column of this width, its rate, each of its percentiles, and its failures.
fn run_line(
    (label, width): (String, usize),
    rate: String,
    percentiles: impl ExactSizeIterator<Item = String>,
    failed: String,
) -> String {
    let of_percentiles = percentiles.len();
    let columns = [Column::Left(width), Column::Right(12)]
        .into_iter()
        .chain(std::iter::repeat_n(Column::Right(10), of_percentiles))
        .chain([Column::Right(9)]);
    let cells = [label, rate].into_iter().chain(percentiles);
    line(columns, cells.chain([failed]))
}

/// Returns a note on a run that is not whole.
fn short_end(run: &Summary) -> &'static str {
    match run.ended {
        Ended::Interrupted => "  interrupted",
        Ended::Aborted(_) | Ended::Threw(_) | Ended::Failed(_) => "  ended early",
        Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Unknown => match run.complete {
            true => "",
            false => "  broke off",
        },
    }
}

fn across(runs: &[&RunResult], canvas: Canvas) -> Vec<String> {
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let spreads = spreads(&summaries);
    let names = ["", "median", "least", "most", "most/least", "95 % interval"];
    let mut lines = vec![canvas.heading("Across the runs", ""), String::new()];
    lines.push(canvas.style.strong(&spread_line(names.map(str::to_owned))));
    lines.extend(spreads.iter().map(spread));
    lines.push(String::new());
    lines.extend(canvas.paragraph(&spread_note(runs.len())));
    let bounds = bounds_in(&summaries);
    if !bounds.is_empty() {
        lines.extend(canvas.paragraph(&only_bounds(&bounds)));
    }
    lines
}

fn spread(spread: &Spread) -> String {
    spread_line(spread_cells(spread))
}

/// Name, median, least, most, their ratio, and the interval of the median.
pub(crate) fn spread_cells(spread: &Spread) -> [String; 6] {
    let shown = |number: f64| value(spread.figure, number);
    let interval = spread.interval.map(|(lower, upper)| {
        let (lower, upper) = (shown(lower), shown(upper));
        format!("{} – {}", lower.trim_end(), upper.trim_end())
    });
    [
        name(spread.figure),
        shown(spread.median),
        shown(spread.least),
        shown(spread.most),
        times(spread.ratio()),
        interval.unwrap_or_default(),
    ]
}

fn spread_line(mut cells: [String; 6]) -> String {
    cells[0] = indented(&cells[0]);
    line(SPREAD, cells)
}

/// Returns a note on the intervals.
pub(crate) fn spread_note(runs: usize) -> String {
    let more = runs_still_needed(runs);
    if more > 0 {
        let more = units::counted(more, "more run");
        return format!("The 95 % interval of a median takes {more}: --repeat 6 makes one.");
    }
    "The interval is that of the median: where it lies for runs such as these.".to_owned()
}

/// In how many runs a check passed, where that is not all or none of them.
fn passed(runs: &[&RunResult], canvas: Canvas) -> Vec<String> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let texts = first.checks.iter().enumerate();
    let sentences = texts.filter_map(|(index, check)| {
        let has_passed = |run: &&&RunResult| run.checks.get(index).is_some_and(CheckResult::passed);
        let passed = runs.iter().filter(has_passed).count();
        let some = passed > 0 && passed < runs.len();
        let text = layout::harmless(&check.text);
        some.then(|| format!("{text} passed in {passed} of {} runs.", runs.len()))
    });
    sentences
        .flat_map(|sentence| canvas.paragraph(&sentence))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_plan::Check;
    use loadline_record::{Role, RoleKind};

    fn judged(mut summary: Summary, number: u32) -> RunResult {
        summary.role = Some(Role {
            kind: RoleKind::Repeat,
            number,
            of: Some(6),
            name: None,
            search: None,
            spent_s: None,
        });
        let check: Check = "p99<10ms".parse().unwrap();
        summary.plan.checks = vec![check];
        RunResult::new(summary)
    }

    /// So many steady runs, one in which the server stalled, and one that was interrupted.
    fn runs(steady: u32) -> Vec<RunResult> {
        let mut runs: Vec<_> = (1..=steady).map(|n| judged(samples::steady(), n)).collect();
        runs.push(judged(samples::stalled(), steady + 1));
        runs.push(judged(samples::interrupted(), steady + 2));
        runs
    }

    fn shown(runs: &[RunResult]) -> String {
        repeats(runs, &TextOptions::default())
    }

    #[test]
    fn few_repeats() {
        insta::assert_snapshot!(shown(&runs(2)));
    }

    #[test]
    fn enough_repeats_have_an_interval() {
        let text = shown(&runs(5));
        assert!(text.contains("7 runs"), "{text}");
        assert!(
            text.contains("The interval is that of the median"),
            "{text}"
        );
        assert!(text.contains("p99<10ms passed in 5 of 6 runs."), "{text}");
    }

    #[test]
    fn a_run_that_was_cut_short_is_shown_and_not_in_the_spread() {
        let all = runs(2);
        assert_eq!(whole_runs(&all).len(), 3);
        assert_eq!(whole_runs(&all[3..]).len(), 1);
        assert!(shown(&all).contains("1 of them cut short and not in the spread"));
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for line in shown(&runs(5)).lines() {
            assert!(layout::width(line) <= 80, "{line}");
        }
    }
}
