//! A block of the summary: checks and metrics in columns.

use super::format::{number, share, value};
use super::paint::{Paint, Part};
use super::{Ended, Shown};
use crate::threshold::{Aggregation, per_second};
use crate::{Contains, Sink, builtin};

/// The sections, in their order.
const SECTIONS: [&str; 6] = [
    "CUSTOM",
    "HTTP",
    "EXECUTION",
    "NETWORK",
    "GRPC",
    "WEBSOCKET",
];

/// The name of a check, its passes and its failures.
pub(super) type Check = (String, u64, u64);

/// A line of a table.
struct Row {
    label: String,
    cells: Cells,
}

enum Cells {
    /// The cells of a trend, one for each statistic.
    Stats(Vec<String>),
    /// The first value, and the further values.
    Values(String, Vec<String>),
}

/// The widths of a table's columns.
#[derive(Default)]
struct Widths {
    label: usize,
    stats: Vec<usize>,
    first: usize,
    second: usize,
}

/// Formats the checks and metrics, indented by this number of columns.
pub(super) fn block(ended: &Ended<'_>, checks: &[Check], shown: &[Shown], indent: usize) -> String {
    let mut parts = Vec::new();
    let paint = Paint::of(ended, false);
    if !checks.is_empty() {
        parts.push(lines(&table(&check_rows(ended, checks), paint), indent));
        // k6 indents this line by its block's indentation once more.
        let further = 2 * indent - 2;
        let all = checks
            .iter()
            .flat_map(|check| check_lines(check, (indent, further), paint));
        parts.push(all.collect());
    }
    let table = table_of(ended, shown, paint);
    for section in SECTIONS {
        let of_section = shown.iter().zip(&table);
        let of_section = of_section.filter(|(shown, _)| section_of(shown) == section);
        let own: Vec<String> = of_section.map(|(_, line)| line.clone()).collect();
        if !own.is_empty() {
            let title = std::iter::once(paint.text(Part::Title, section));
            let all: Vec<String> = title.chain(own).collect();
            parts.push(lines(&all, indent));
        }
    }
    parts.join("\n")
}

/// Formats metrics in columns.
pub(super) fn table_of(ended: &Ended<'_>, shown: &[Shown], paint: Paint) -> Vec<String> {
    let rows: Vec<Row> = shown.iter().map(|shown| row(ended, shown)).collect();
    table(&rows, paint)
}

fn lines(lines: &[String], indent: usize) -> String {
    let indented = lines.iter().map(|line| format!("{:indent$}{line}\n", ""));
    indented.collect()
}

/// Formats a check and, if it failed, its counts, each with its indentation.
fn check_lines(check: &Check, indents: (usize, usize), paint: Paint) -> Vec<String> {
    let (first, second) = check_texts(check);
    let part = Part::held(second.is_none());
    let all = [(indents.0, Some(first)), (indents.1, second)].into_iter();
    let all = all.filter_map(|(indent, text)| Some((indent, text?)));
    all.map(|(indent, text)| format!("{:indent$}{}\n", "", paint.text(part, &text)))
        .collect()
}

/// Returns the text of a check and, if it failed, its counts.
pub(super) fn check_texts((name, passes, fails): &Check) -> (String, Option<String>) {
    if *fails == 0 {
        return (format!("✓ {name}"), None);
    }
    let percent = 100 * passes / (passes + fails);
    let counts = format!("↳  {percent}% — ✓ {passes} / ✗ {fails}");
    (format!("✗ {name}"), Some(counts))
}

fn check_rows(ended: &Ended<'_>, checks: &[Check]) -> [Row; 3] {
    let passes: u64 = checks.iter().map(|check| check.1).sum();
    let fails: u64 = checks.iter().map(|check| check.2).sum();
    let total = passes + fails;
    let row = |label: &str, first, second| Row {
        label: label.to_owned(),
        cells: Cells::Values(first, vec![second]),
    };
    let part = |count: u64| share(count as f64 / total.max(1) as f64);
    let rate = per_second(total as f64, ended.elapsed_ns);
    [
        row(
            "checks_total",
            number(total as f64),
            format!("{}/s", number(rate)),
        ),
        row(
            "checks_succeeded",
            part(passes),
            format!("{passes} out of {total}"),
        ),
        row(
            "checks_failed",
            part(fails),
            format!("{fails} out of {total}"),
        ),
    ]
}

fn row(ended: &Ended<'_>, shown: &Shown) -> Row {
    Row {
        label: match &shown.suffix {
            Some(suffix) => format!("  {{ {suffix} }}"),
            None => shown.parent.clone(),
        },
        cells: cells(ended, &shown.sink, shown.contains),
    }
}

fn cells(ended: &Ended<'_>, sink: &Sink, contains: Contains) -> Cells {
    let text = |number| value(number, contains, ended.time_unit);
    match sink {
        Sink::Counter(counter) => {
            let rate = per_second(counter.count, ended.elapsed_ns);
            Cells::Values(text(counter.count), vec![format!("{}/s", text(rate))])
        }
        Sink::Gauge(gauge) => {
            let min = format!("min={}", text(gauge.min));
            Cells::Values(
                text(gauge.value),
                vec![min, format!("max={}", text(gauge.max))],
            )
        }
        Sink::Rate(rate) => {
            let parts = format!("{} out of {}", rate.passes, rate.total);
            Cells::Values(share(rate.share()), vec![parts])
        }
        Sink::Trend(_) => {
            let stats = ended.trend_stats.iter();
            Cells::Stats(
                stats
                    .map(|stat| stat_text(ended, sink, contains, stat))
                    .collect(),
            )
        }
    }
}

fn stat_text(ended: &Ended<'_>, sink: &Sink, contains: Contains, stat: &str) -> String {
    let Some(aggregation) = Aggregation::parse(stat) else {
        return format!("{stat}=");
    };
    let found = aggregation.of(sink, ended.elapsed_ns);
    match aggregation {
        Aggregation::Count => format!("{stat}={}", number(found)),
        Aggregation::Rate
        | Aggregation::Value
        | Aggregation::Avg
        | Aggregation::Min
        | Aggregation::Med
        | Aggregation::Max
        | Aggregation::Percentile(_) => {
            format!("{stat}={}", value(found, contains, ended.time_unit))
        }
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn widths(rows: &[Row]) -> Widths {
    let mut widths = Widths::default();
    for row in rows {
        widths.label = widths.label.max(width(&row.label) + 3);
        match &row.cells {
            Cells::Stats(cells) => {
                widths.stats.resize(cells.len(), 0);
                let both = widths.stats.iter_mut().zip(cells);
                both.for_each(|(widest, cell)| *widest = width(cell).max(*widest));
            }
            Cells::Values(first, more) => {
                widths.first = widths.first.max(width(first));
                widths.second = widths
                    .second
                    .max(more.first().map_or(0, |cell| width(cell)));
            }
        }
    }
    widths
}

fn table(rows: &[Row], paint: Paint) -> Vec<String> {
    let widths = widths(rows);
    rows.iter().map(|row| line(row, &widths, paint)).collect()
}

fn line(row: &Row, widths: &Widths, paint: Paint) -> String {
    let dots = widths.label - width(&row.label);
    let dots = paint.text(Part::Dots, &format!("{:.<dots$}:", ""));
    let cells = match &row.cells {
        Cells::Stats(cells) => {
            let padded = cells.iter().zip(&widths.stats);
            let padded = padded.map(|(cell, width)| paint.stat(cell, *width));
            padded.collect::<Vec<_>>().join(" ")
        }
        Cells::Values(first, more) => values(first, more, widths, paint),
    };
    format!("{}{dots} {cells}", row.label)
}

fn values(first: &str, more: &[String], widths: &Widths, paint: Paint) -> String {
    let first = paint.padded(Part::Value, first, widths.first);
    match more {
        [min, max] => {
            let min = paint.padded(Part::More, min, widths.second);
            format!("{first} {min} {}", paint.text(Part::More, max))
        }
        _ => format!("{first} {}", paint.text(Part::More, &more.join(" "))),
    }
}

fn section_of(shown: &Shown) -> &'static str {
    if shown.id > builtin::HTTP_REQ_RESPONSE {
        return "CUSTOM";
    }
    let prefix = shown.parent.split('_').next().unwrap_or_default();
    match prefix {
        "http" => "HTTP",
        "data" => "NETWORK",
        "ws" => "WEBSOCKET",
        "grpc" => "GRPC",
        _ => "EXECUTION",
    }
}
