//! The metrics that a script counted by itself, a row for each.

use super::Canvas;
use crate::layout;
use crate::metrics::{self, MetricLine};
use crate::table::{indented, widest};
use loadline_record::Summary;

/// The widest column of names.
const MOST_WIDTH: usize = 40;
/// The width of the longest kind, and of the blanks after it.
const KIND_WIDTH: usize = 9;

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let metrics = metrics::lines(summary);
    if metrics.is_empty() {
        return Vec::new();
    }
    let width = widest(metrics.iter().map(|line| indented(&line.label))).clamp(16, MOST_WIDTH) + 2;
    let mut lines = vec![canvas.heading("Metrics of the script", "")];
    for metric in &metrics {
        lines.extend(row(metric, width, canvas));
    }
    let left_out = metrics::left_out(summary);
    lines.extend(left_out.iter().flat_map(|text| canvas.paragraph(text)));
    lines
}

/// The row, with a name that is too long on a line of its own.
fn row(metric: &MetricLine, width: usize, canvas: Canvas) -> Vec<String> {
    let label = indented(&metric.label);
    let kind = layout::left(metric.kind, KIND_WIDTH);
    let is_short = layout::width(&label) < width;
    let before = if is_short { label.as_str() } else { "" };
    let mut lines = vec![layout::left(before, width) + &kind];
    for figure in figures(metric) {
        let line = lines.last().map_or("", String::as_str);
        if layout::width(line) + layout::width(&figure) > canvas.width {
            lines.push(layout::blanks(width + KIND_WIDTH));
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(&figure);
        }
    }
    if !is_short {
        lines.insert(0, label);
    }
    lines
}

/// The figures, each with what stands between it and the next one.
fn figures(metric: &MetricLine) -> Vec<String> {
    let Some((last, others)) = metric.figures.split_last() else {
        return vec!["no value".to_owned()];
    };
    let text = |(name, text): &(String, String)| format!("{name} {text}");
    let others = others.iter().map(|figure| text(figure) + ", ");
    others.chain([text(last)]).collect()
}
