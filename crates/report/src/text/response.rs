//! Response time: percentiles and moments on the left, the histogram on the right.

use super::{Canvas, histogram};
use crate::{figures, layout, percentiles};
use loadline_record::{Distribution, ErrorKind, Model, Summary};

/// Columns between the two halves.
const GAP: usize = 4;
/// The least lines of a histogram.
const FEWEST_LINES: usize = 10;

pub(super) fn lines(summary: &Summary, percentiles: &[f64], canvas: Canvas) -> Vec<String> {
    let response = &summary.total.times.response;
    let mut lines = vec![heading(summary.model, canvas)];
    if response.is_empty() {
        lines.extend(canvas.paragraph("No answer came, so there is none."));
        return lines;
    }
    lines.push(String::new());
    let statistics = statistics(response, percentiles);
    let width = statistics
        .iter()
        .map(|line| layout::width(line))
        .max()
        .unwrap_or(0);
    let room = canvas.width - width - GAP;
    let diagram = histogram::lines(response, statistics.len().max(FEWEST_LINES), room, canvas);
    lines.extend(side_by_side(&statistics, &diagram, width + GAP));
    lines.extend(timeouts(summary, canvas));
    lines
}

fn heading(model: Model, canvas: Canvas) -> String {
    let from = match model {
        Model::Open => ", timed from the intended start of each request",
        Model::Closed => ", timed from each send: a closed loop has no schedule and no delay",
    };
    canvas.heading("Response time", from)
}

fn statistics(times: &Distribution, percentiles: &[f64]) -> Vec<String> {
    let percentile = |p: &f64| (figures::percentile(*p), percentiles::cell(times, *p));
    let mut rows: Vec<(String, String)> = percentiles.iter().map(percentile).collect();
    let moments = [
        ("mean", times.mean_ns()),
        ("stdev", times.stdev_ns()),
        ("min", times.min_ns() as f64),
        ("max", times.max_ns() as f64),
    ];
    rows.extend(moments.map(|(name, ns)| (name.to_owned(), figures::time_cell(ns))));
    table(&rows)
}

fn table(rows: &[(String, String)]) -> Vec<String> {
    let widest = |text: fn(&(String, String)) -> &str| {
        rows.iter()
            .map(|row| layout::width(text(row)))
            .max()
            .unwrap_or(0)
    };
    let (names, cells) = (widest(|row| &row.0), widest(|row| &row.1));
    let line = |(name, cell): &(String, String)| {
        format!(
            "  {}  {}",
            layout::left(name, names),
            layout::right(cell, cells)
        )
    };
    rows.iter().map(line).collect()
}

fn side_by_side(left: &[String], right: &[String], columns: usize) -> Vec<String> {
    let line = |lines: &[String], index: usize| lines.get(index).cloned().unwrap_or_default();
    let both = |index| layout::left(&line(left, index), columns) + &line(right, index);
    (0..left.len().max(right.len())).map(both).collect()
}

/// An answer that did not come in time would have taken longer than it was waited for.
fn timeouts(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let Some(timeouts) = summary.total.errors.get(&ErrorKind::Timeout) else {
        return Vec::new();
    };
    let mut lines = vec![String::new()];
    lines.extend(canvas.paragraph(&format!(
        "With {}, each counted with the time it was waited for: a lower bound.",
        figures::counted(timeouts.count, "timeout")
    )));
    lines
}
