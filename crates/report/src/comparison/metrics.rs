//! The metrics that the scripts of two sides counted by themselves: both sides' figures, without a
//! verdict.

use crate::layout;
use crate::metrics::{self, figures};
use crate::style::Style;
use crate::table::indented;
use loadline_metrics::Key;
use loadline_verdict::ComparedMetrics;

/// A figure of a metric as both sides have it: its name, A and B.
pub(crate) type Row = [String; 3];

/// The section, if there is a metric.
pub(super) fn lines(metrics: &ComparedMetrics, width: usize, style: Style) -> Vec<String> {
    let compared = compared(metrics);
    let notes = notes(metrics);
    if compared.is_empty() && notes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.strong("Metrics of the scripts")];
    for (label, rows) in compared {
        lines.push(indented(&label));
        let cells = |[name, base, with]: Row| super::cells([&name, &base, &with, "", ""]);
        let rows = rows.into_iter().map(cells);
        lines.extend(rows.map(|cells| format!("  {}", cells.trim_end())));
    }
    for paragraph in notes {
        lines.extend(layout::wrap(&paragraph, width));
    }
    lines.push(String::new());
    lines
}

/// The metrics that both sides have, each with its figures.
pub(crate) fn compared(metrics: &ComparedMetrics) -> Vec<(String, Vec<Row>)> {
    let (base_ns, with_ns) = (metrics.base.rated_ns, metrics.with.rated_ns);
    let common = metrics.common();
    let rows = common.map(|(key, base, with)| {
        let theirs = figures(with, with_ns);
        let row = |(name, number): (String, f64)| {
            let (_, other) = theirs.iter().find(|(other, _)| *other == name)?;
            let text = |number| metrics::text(&name, number, base.unit);
            let (number, other) = (text(number), text(*other));
            Some([name, number, other])
        };
        let rows = figures(base, base_ns).into_iter().filter_map(row);
        (layout::harmless(&key.to_string()), rows.collect())
    });
    let has_rows = |(_, rows): &(String, Vec<Row>)| !rows.is_empty();
    rows.filter(has_rows).collect()
}

/// Returns a note for each side with the metrics that it alone has.
pub(crate) fn notes(metrics: &ComparedMetrics) -> Vec<String> {
    let only = |side: &str, keys: Vec<&Key>| {
        let listed: Vec<_> = keys
            .iter()
            .map(|key| layout::harmless(&key.to_string()))
            .collect();
        (!keys.is_empty()).then(|| format!("Only {side} has the metrics {}.", listed.join(", ")))
    };
    let base = only("A", metrics.only_base());
    base.into_iter()
        .chain(only("B", metrics.only_with()))
        .collect()
}
