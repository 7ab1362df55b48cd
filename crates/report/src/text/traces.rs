//! The slowest requests whose traces are known, a row for each.

use super::Canvas;
use crate::layout;
use crate::table::{Column, indented, line};
use loadline_metrics::Key;
use loadline_record::{Summary, TracedRequest};
use loadline_units as units;

/// Columns of an identifier, with what is before it and after it.
const IDENTIFIERS: usize = 36;
/// The columns: response time, end, and status.
const NUMBERS: [Column; 3] = [Column::Right(10), Column::Right(10), Column::Right(9)];
const NAMES: [&str; 3] = ["response", "ended at", "status"];

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let traced = &summary.total.traced;
    if traced.is_empty() {
        return Vec::new();
    }
    let title = layout::left("Slowest traces", IDENTIFIERS);
    let heading = canvas.heading(&title, &line(NUMBERS, NAMES));
    let rows = traced.slowest();
    let rows = rows.flat_map(|(key, request)| row(key, request, summary.total.start_ns, canvas));
    std::iter::once(heading).chain(rows).collect()
}

/// The row, with its name after it, or below it where there is no room.
fn row(key: Option<&Key>, request: &TracedRequest, start_ns: u64, canvas: Canvas) -> Vec<String> {
    let identifier = indented(&format!("{:032x}", request.trace.id));
    let after_ns = request.end_ns.saturating_sub(start_ns);
    let status = request.status;
    let numbers = [
        units::time_cell(request.response_ns as f64),
        units::time_cell(after_ns as f64),
        status.map_or_else(|| "timeout".to_owned(), |status| status.to_string()),
    ];
    let row = layout::left(&identifier, IDENTIFIERS) + &line(NUMBERS, numbers);
    let Some(key) = key else {
        return vec![row];
    };
    let name = layout::harmless(&key.to_string());
    let whole = format!("{row}  {name}");
    match layout::width(&whole) <= canvas.width {
        true => vec![whole],
        false => std::iter::once(row)
            .chain(layout::hanging("    ", &name, canvas.width))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TextOptions, text};
    use crate::samples;
    use loadline_verdict::RunResult;

    #[test]
    fn the_slowest_traces_have_a_row_each() {
        let report = text(&RunResult::new(samples::traced()), &TextOptions::default());
        let section = &report[report.find("Slowest traces").unwrap()..];
        let end = section.find("\n\n").unwrap();
        insta::assert_snapshot!(&section[..end]);
    }
}
