//! The requests by name, a row for each.

use super::Canvas;
use crate::table::{Column, indented, line, widest};
use crate::{layout, names};
use loadline_metrics::{Key, Series};
use loadline_record::Summary;
use loadline_units as units;
use loadline_units::rounding::per_second;

/// The most rows that are shown; all of them are in the other reports.
const MOST: usize = 20;
/// The names of the columns of numbers.
pub(crate) const COLUMNS: [&str; 6] = ["ended", "failed", "rate", "p50", "p95", "p99"];
/// The percentiles of these columns.
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];
/// Columns of the numbers: ended, failed, rate, p50, p95 and p99.
const NUMBERS: [Column; 6] = [
    Column::Right(9),
    Column::Right(8),
    Column::Right(10),
    Column::Right(9),
    Column::Right(9),
    Column::Right(9),
];
/// Columns that these take together.
const NUMBERS_WIDTH: usize = 54;

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let shown = names::with_scenarios(&summary.total.series);
    let all = shown.busiest();
    if all.is_empty() {
        return Vec::new();
    }
    let labels = names::labels(&all);
    let room = canvas.width.saturating_sub(NUMBERS_WIDTH);
    let width = widest(labels.iter().take(MOST).map(|label| indented(label))).clamp(9, room);
    let mut lines = vec![canvas.heading(&layout::left("By name", width), &line(NUMBERS, COLUMNS))];
    // The series of all further names is always shown: it says that they have none of their own.
    let is_shown =
        |(index, (key, _)): &(usize, &(&Key, &Series))| *index < MOST || key.is_overflow();
    for (index, (key, series)) in all.iter().enumerate().filter(is_shown) {
        let label = &labels[index];
        lines.extend(row(label, width, &numbers(series, summary.rated_ns())));
        lines.extend(statuses(series));
        if key.is_overflow() {
            lines.extend(canvas.paragraph(&overflow(summary)));
        }
    }
    let rows = all.iter().take(MOST).map(|(_, series)| *series);
    lines.extend(too_few(rows).iter().flat_map(|note| canvas.paragraph(note)));
    lines.extend(not_shown(&all, canvas));
    lines
}

/// The row, with a name that is too long on a line of its own.
fn row(label: &str, width: usize, numbers: &[String; 6]) -> Vec<String> {
    let label = indented(label);
    if layout::width(&label) <= width {
        return vec![layout::left(&label, width) + &line(NUMBERS, numbers)];
    }
    vec![label, layout::blanks(width) + &line(NUMBERS, numbers)]
}

/// The numbers of a name in a run of this length, in the order of [`COLUMNS`].
pub(crate) fn numbers(series: &Series, length_ns: u64) -> [String; 6] {
    let time = |found: Option<u64>| match found {
        Some(ns) => units::time_cell(ns as f64),
        // As wide as a time, whose unit is of one width.
        None if !series.times.is_empty() => format!("{}   ", names::TOO_FEW),
        None => String::new(),
    };
    let [p50, p95, p99] = names::percentiles_ns(series, PERCENTILES).map(time);
    [
        units::count(series.ended()),
        units::count(series.failures()),
        units::rate(per_second(series.completed, length_ns)),
        p50,
        p95,
        p99,
    ]
}

/// The statuses where there is another one than 2xx.
fn statuses(series: &Series) -> Option<String> {
    let is_good = series.statuses.keys().all(|status| status / 100 == 2);
    (!is_good).then(|| format!("    statuses {}", names::statuses(series)))
}

/// Returns the meaning of a dash in place of a percentile, if there is one.
pub(crate) fn too_few<'a>(shown: impl IntoIterator<Item = &'a Series>) -> Option<String> {
    names::too_few(shown, &PERCENTILES)
}

/// Returns the meaning of the series of all further names, if there is one.
pub(crate) fn overflow_of(summary: &Summary) -> Option<String> {
    summary.total.series.overflow().map(|_| overflow(summary))
}

fn overflow(summary: &Summary) -> String {
    format!(
        "(other) holds the requests of all names beyond the first {}; use fewer names to tell \
         them apart.",
        units::count(summary.plan.max_series.into())
    )
}

fn not_shown(all: &[(&Key, &Series)], canvas: Canvas) -> Vec<String> {
    let hidden = all.iter().skip(MOST).filter(|(key, _)| !key.is_overflow());
    let rest = hidden.count();
    if rest == 0 {
        return Vec::new();
    }
    let text = format!(
        "{} with fewer requests not shown: they are in -o json and -o csv.",
        units::counted(rest as u64, "name")
    );
    canvas.paragraph(&text)
}
