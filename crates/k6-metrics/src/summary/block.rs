//! A block of the summary: checks and metrics in columns.

use super::format::{number, share, value};
use super::{Ended, Shown};
use crate::threshold::{Aggregation, per_second};
use crate::{Contains, Sink, builtin};

/// Sections in their order.
const SECTIONS: [&str; 6] = [
    "CUSTOM",
    "HTTP",
    "EXECUTION",
    "NETWORK",
    "GRPC",
    "WEBSOCKET",
];

/// How often a check passed and failed, by name.
pub(super) type Check = (String, u64, u64);

/// A line of a table.
struct Row {
    label: String,
    cells: Cells,
}

enum Cells {
    /// A trend's, each under its statistic.
    Stats(Vec<String>),
    /// The first value, and what follows.
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

/// The checks and metrics, indented by so many columns.
pub(super) fn block(ended: &Ended<'_>, checks: &[Check], shown: &[Shown], indent: usize) -> String {
    let mut parts = Vec::new();
    if !checks.is_empty() {
        parts.push(lines(&table(&check_rows(ended, checks)), indent));
        // k6 indents this line by its block's indentation once more.
        let further = 2 * indent - 2;
        let all = checks
            .iter()
            .flat_map(|check| check_lines(check, indent, further));
        parts.push(all.collect());
    }
    let table = table_of(ended, shown);
    for section in SECTIONS {
        let of_section = shown.iter().zip(&table);
        let of_section = of_section.filter(|(shown, _)| section_of(shown) == section);
        let own: Vec<String> = of_section.map(|(_, line)| line.clone()).collect();
        if !own.is_empty() {
            let title = std::iter::once(section.to_owned());
            let all: Vec<String> = title.chain(own).collect();
            parts.push(lines(&all, indent));
        }
    }
    parts.join("\n")
}

/// Metrics in columns.
pub(super) fn table_of(ended: &Ended<'_>, shown: &[Shown]) -> Vec<String> {
    let rows: Vec<Row> = shown.iter().map(|shown| row(ended, shown)).collect();
    table(&rows)
}

fn lines(lines: &[String], indent: usize) -> String {
    let indented = lines.iter().map(|line| format!("{:indent$}{line}\n", ""));
    indented.collect()
}

/// A check, and how often it failed with this indentation, if it did.
pub(super) fn check_lines(
    (name, passes, fails): &Check,
    indent: usize,
    further: usize,
) -> Vec<String> {
    let mark = if *fails == 0 { '✓' } else { '✗' };
    let first = format!("{:indent$}{mark} {name}\n", "");
    if *fails == 0 {
        return vec![first];
    }
    let percent = 100 * passes / (passes + fails);
    let second = format!("{:further$}↳  {percent}% — ✓ {passes} / ✗ {fails}\n", "");
    vec![first, second]
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
        _ => format!("{stat}={}", value(found, contains, ended.time_unit)),
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

fn table(rows: &[Row]) -> Vec<String> {
    let widths = widths(rows);
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &Row, widths: &Widths) -> String {
    let label = format!("{:.<1$}", row.label, widths.label);
    let cells = match &row.cells {
        Cells::Stats(cells) => {
            let padded = cells.iter().zip(&widths.stats);
            let padded = padded.map(|(cell, width)| format!("{cell:width$}"));
            padded.collect::<Vec<_>>().join(" ")
        }
        Cells::Values(first, more) => values(first, more, widths),
    };
    format!("{label}: {cells}")
}

fn values(first: &str, more: &[String], widths: &Widths) -> String {
    let first = format!("{first:0$}", widths.first);
    match more {
        [min, max] => format!("{first} {min:0$} {max}", widths.second),
        _ => format!("{first} {}", more.join(" ")),
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
