//! Where the time went: delay, service and the phases of a service time, one row each.

use super::Canvas;
use crate::{layout, percentiles, quantity};
use loadline_record::{Censored, Distribution, Model, Summary, Times};
use loadline_units as units;

/// The percentiles of every row.
const PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];
/// Columns of a row's name.
const NAMES: usize = 15;
/// Columns of a time, where there is room.
const TIMES: usize = 10;
/// The fewest columns of a count.
const COUNTS: usize = 9;

/// How wide the columns of numbers are.
#[derive(Clone, Copy)]
struct Columns {
    counts: usize,
    times: usize,
}

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let times = &summary.total.times;
    let rows = rows(summary);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = table("Time spent", &rows, canvas);
    lines.extend(notes(summary.model, times, canvas));
    lines
}

/// A heading with the names of the columns, and a row for each of these.
pub(super) fn table(title: &str, rows: &[(&str, Censored<'_>)], canvas: Canvas) -> Vec<String> {
    let counts = rows
        .iter()
        .map(|(_, times)| layout::width(&units::count(times.times.len())));
    let counts = counts.max().unwrap_or(0).max(COUNTS);
    let room = (canvas.width.saturating_sub(NAMES + counts)) / (PERCENTILES.len() + 2);
    let columns = Columns {
        counts,
        times: room.min(TIMES),
    };
    let mut lines = vec![header(title, columns, canvas)];
    lines.extend(rows.iter().map(|(name, times)| row(name, *times, columns)));
    lines
}

/// The rows that hold anything. Delay is that of open loads: in a closed one it is zero by
/// definition, which the heading of the response times says.
pub(crate) fn rows<'a>(summary: &'a Summary) -> Vec<(&'static str, Censored<'a>)> {
    let times = &summary.total.times;
    let delay = [("blocked", &times.blocked), ("lateness", &times.lateness)];
    let phases = [
        ("  resolve", &times.resolve),
        ("  connect", &times.connect),
        ("  TLS", &times.tls),
        ("  first byte", &times.first_byte),
        ("  rest", &times.rest),
        ("own wake-up", &times.wakeup),
    ];
    let ended = |(name, times): (&'static str, &'a Distribution)| (name, times.into());
    let delay = delay.into_iter().filter(|_| summary.model == Model::Open);
    delay
        .map(ended)
        .chain([("service", summary.service())])
        .chain(phases.map(ended))
        .filter(|(_, times)| !times.times.is_empty())
        .collect()
}

fn header(title: &str, columns: Columns, canvas: Canvas) -> String {
    let title = layout::left(title, NAMES);
    let names = PERCENTILES.map(quantity::percentile);
    let names = ["mean".to_owned()]
        .into_iter()
        .chain(names)
        .chain(["max".to_owned()]);
    let names: String = names
        .map(|name| layout::right(&name, columns.times))
        .collect();
    canvas.heading(&title, &(layout::right("count", columns.counts) + &names))
}

fn row(name: &str, times: Censored<'_>, columns: Columns) -> String {
    let mut cells = vec![quantity::bounded_cell(times.mean_ns())];
    cells.extend(PERCENTILES.map(|percentile| percentiles::cell(times, percentile)));
    cells.push(quantity::bounded_cell(times.max_ns().map(|ns| ns as f64)));
    let cells: String = cells
        .iter()
        .map(|cell| layout::right(cell, columns.times))
        .collect();
    let count = layout::right(&units::count(times.times.len()), columns.counts);
    format!(
        "{}{count}{cells}",
        layout::left(&format!("  {name}"), NAMES)
    )
}

fn notes(model: Model, times: &Times, canvas: Canvas) -> Vec<String> {
    explanations(model, times)
        .iter()
        .flat_map(|note| canvas.paragraph(note))
        .collect()
}

/// What explains the rows.
pub(crate) fn explanations(model: Model, times: &Times) -> Vec<&'static str> {
    let mut notes = Vec::new();
    if model == Model::Open && !times.response.is_empty() {
        notes.push("Blocked is waiting for a free connection, lateness our own tardiness.");
    }
    if times.wakeup.is_empty() && !times.first_byte.is_empty() {
        notes.push("Own wake-up delay was not measured: it is within these times.");
    }
    if !times.wakeup.is_empty() {
        notes.push(
            "Own wake-up (from the kernel's receive to our read) is not in these times. Tools that \
             read their own clock, such as wrk, have it in theirs; so has --clock user.",
        );
    }
    notes
}
