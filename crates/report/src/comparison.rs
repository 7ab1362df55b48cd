//! The comparison of two sides, as text for people.

mod files;
mod metrics;
mod names;
mod picture;
mod tolerances;

pub use files::{ComparedFiles, FileRun};
pub use tolerances::{tolerance_sentence, visible_sentence};

pub(crate) use files::mismatch_sentence;
pub(crate) use metrics::{compared as compared_metrics, notes as metrics_notes};
pub(crate) use names::{MOST as MOST_NAMES, label as name_label, notes as names_notes};
pub(crate) use tolerances::{
    lines as tolerance_lines, measured as tolerance_measured, word as tolerance_word,
};

use crate::style::Style;
use crate::table::{Column, indented, line};
use crate::{TextOptions, layout, quantity, wording};
use loadline_plan::Plan;
use loadline_stats::compare::Ratio;
use loadline_units as units;
use loadline_verdict::{ComparedFigure, Comparison, Figure, Standing};

/// Columns of the figure's name, of A, of B, of the ratio and of its interval.
const COLUMNS: [Column; 5] = [
    Column::Left(8),
    Column::Right(10),
    Column::Right(11),
    Column::Right(8),
    Column::Left(16),
];
/// Failures above this share are worth a warning.
const FEW_FAILED: f64 = 0.001;

/// Returns the comparison as text, ending in a line feed: both sides, a row for each figure, the
/// overall conclusion, a picture of the ratios, and notes. The plans are those of the first run of
/// A and of B.
pub fn comparison(
    comparison: &Comparison,
    base: &Plan,
    with: &Plan,
    options: &TextOptions,
) -> String {
    let style = Style::new(options.color);
    let mut lines = head(comparison, base, with, options.width);
    lines.push(String::new());
    lines.push(style.strong(&cells(["", "A", "B", "B / A", "  95 % interval"])));
    lines.extend(comparison.figures.iter().map(|figure| row(figure, style)));
    lines.push(String::new());
    lines.extend(picture::lines(&comparison.figures, options.width));
    lines.push(String::new());
    lines.extend(names::lines(&comparison.names, options.width, style));
    lines.extend(metrics::lines(&comparison.metrics, options.width, style));
    for paragraph in conclusion(comparison) {
        lines.extend(layout::wrap(&paragraph, options.width));
    }
    let mut text = String::new();
    for line in &lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if options.ascii {
        layout::ascii(&text)
    } else {
        text
    }
}

fn head(comparison: &Comparison, base: &Plan, with: &Plan, width: usize) -> Vec<String> {
    let side = |name: &str, plan: &Plan, runs: usize| {
        let runs = units::counted(runs as u64, "run");
        let text = format!("{runs} of {}", layout::harmless(&wording::target(plan)));
        layout::hanging(name, &text, width)
    };
    let mut lines = side("A  ", base, comparison.base_runs);
    lines.extend(side("B  ", with, comparison.with_runs));
    lines.extend(loads(base, with, width));
    lines
}

/// The load, once where both sides had the same: they may have had it for different times.
fn loads(base: &Plan, with: &Plan, width: usize) -> Vec<String> {
    let [base, with] = [base, with].map(wording::load);
    if base == with {
        return layout::wrap(&base, width);
    }
    let mut lines = layout::hanging("A  ", &base, width);
    lines.extend(layout::hanging("B  ", &with, width));
    lines
}

fn cells(cells: [&str; 5]) -> String {
    let [name, base, with, ratio, interval] = cells;
    line(COLUMNS, [&indented(name), base, with, ratio, interval])
}

/// The figure's name, A, B, their ratio with its interval, and how B stands to A.
pub(crate) fn figure_cells(compared: &ComparedFigure) -> [String; 6] {
    let ratio = compared.ratio;
    let (lower, upper) = known_ends(&ratio);
    let end = |known: Option<f64>| known.map_or_else(|| "?".to_owned(), times);
    [
        name(compared.figure),
        value(compared.figure, compared.base),
        value(compared.figure, compared.with),
        times(ratio.ratio),
        format!("  {} – {}", end(lower), end(upper)),
        standing(compared),
    ]
}

fn row(compared: &ComparedFigure, style: Style) -> String {
    let [name, base, with, ratio, interval, standing] = figure_cells(compared);
    let cells = cells([&name, &base, &with, &ratio, &interval]);
    let standing = match compared.standing {
        Standing::Faster => style.good(&standing),
        Standing::Slower => style.bad(&standing),
        Standing::CannotTell => standing,
    };
    format!("{cells}  {standing}")
}

fn standing(compared: &ComparedFigure) -> String {
    match (compared.standing, compared.more_runs) {
        (Standing::Faster, _) => "faster".to_owned(),
        (Standing::Slower, _) => "slower".to_owned(),
        (Standing::CannotTell, Some(more)) => {
            format!("cannot tell (+{})", units::counted(more, "run"))
        }
        (Standing::CannotTell, None) => "cannot tell".to_owned(),
    }
}

/// Returns the name of a figure: `p95`, `mean`, `rate`.
pub fn name(figure: Figure) -> String {
    match figure {
        Figure::Percentile(percentile) => quantity::percentile(percentile),
        Figure::Mean => "mean".to_owned(),
        Figure::Max => "max".to_owned(),
        Figure::Rate => "rate".to_owned(),
    }
}

pub(crate) fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Percentile(_) | Figure::Mean | Figure::Max => units::time_cell(value),
        Figure::Rate => units::rate(value),
    }
}

/// A ratio, with as many decimals as it takes to see a difference of some thousandths.
pub(crate) fn times(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.3}")
    } else {
        format!("{ratio:.1}")
    }
}

/// The factor from the ratio beyond which an end means nothing.
const FARTHEST: f64 = 100.0;

/// The ends of the interval, without those that are unknown from so few runs.
pub(crate) fn known_ends(ratio: &Ratio) -> (Option<f64>, Option<f64>) {
    let (lowest, highest) = (ratio.ratio / FARTHEST, ratio.ratio * FARTHEST);
    (
        Some(ratio.lower).filter(|lower| *lower >= lowest),
        Some(ratio.upper).filter(|upper| *upper <= highest),
    )
}

pub(crate) fn conclusion(comparison: &Comparison) -> Vec<String> {
    let mut paragraphs = vec![in_one_line(comparison)];
    let open = |figure: &ComparedFigure| figure.more_runs.is_some_and(|more| more > 0);
    if comparison.figures.iter().any(open) {
        paragraphs.push(
            "In brackets: about how many more runs of each would confirm a difference as large as \
             the measured one."
                .to_owned(),
        );
    }
    let is_open = |figure: &ComparedFigure| {
        let (lower, upper) = known_ends(&figure.ratio);
        lower.is_none() || upper.is_none()
    };
    if comparison.figures.iter().any(is_open) {
        paragraphs.push(
            "? = bound unknown (too few runs, or too different ones): repeat them (--repeat 6)."
                .to_owned(),
        );
    }
    if !comparison.bounds.is_empty() {
        paragraphs.push(only_bounds(&comparison.bounds));
    }
    if comparison.base_runs > 1 {
        paragraphs.push(
            "A and B are geometric means over the runs; a report of repeats shows medians."
                .to_owned(),
        );
    }
    paragraphs.push(reach(comparison).to_owned());
    paragraphs.extend(failures(comparison));
    paragraphs
}

fn in_one_line(comparison: &Comparison) -> String {
    let named = |standing| {
        let names = comparison.figures.iter().filter(|f| f.standing == standing);
        names.map(|f| name(f.figure)).collect::<Vec<_>>().join(", ")
    };
    let (slower, faster) = (named(Standing::Slower), named(Standing::Faster));
    match (slower.is_empty(), faster.is_empty()) {
        (true, true) => "Whether B is faster or slower is not known.".to_owned(),
        (true, false) => format!("B is faster ({faster})."),
        (false, true) => format!("B is slower ({slower})."),
        (false, false) => format!("B is slower in {slower} and faster in {faster}."),
    }
}

/// Returns the reason why these percentiles are left out.
pub(crate) fn only_bounds(percentiles: &[f64]) -> String {
    let names: Vec<String> = percentiles
        .iter()
        .map(|p| quantity::percentile(*p))
        .collect();
    format!(
        "{} is left out: so many requests of a run had no response at its end that it is only a \
         lower bound. Wait for the responses (--drain), or lower the load.",
        names.join(", ")
    )
}

/// Returns a sentence on what the intervals apply to.
fn reach(comparison: &Comparison) -> &'static str {
    if comparison.paired {
        "The confidence of 95 % is for all intervals together. A and B alternated in random \
         order, and each run of B was compared with the run of A next to it."
    } else if comparison.base_runs > 1 {
        "The confidence of 95 % is for all intervals together, and for runs such as these."
    } else {
        "The confidence of 95 % is for all intervals together, and for these two runs only: \
         differences from run to run are not included. To include them, repeat each run (--repeat \
         6) and compare the repeats."
    }
}

fn failures(comparison: &Comparison) -> Option<String> {
    let (base, with) = (comparison.base_failed, comparison.with_failed);
    (base.max(with) > FEW_FAILED).then(|| {
        format!(
            "{} of A's requests failed, and {} of B's: the times are of the requests that did not \
             fail. Solve the failures first.",
            units::share(base),
            units::share(with),
        )
    })
}

#[cfg(test)]
mod tests;
