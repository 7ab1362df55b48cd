//! The time spent: delay, service and the phases of a service time, one row each.

use super::Canvas;
use crate::table::{Column, indented, line, widest};
use crate::{layout, percentiles, quantity};
use loadline_record::{Bounded, Censored, Distribution, Model, Summary};
use loadline_units as units;

/// The content of one cell, made from these times and their mean.
type Cell = fn(Censored<'_>, Bounded<f64>) -> String;

/// The columns of times, with their names: here and on the page.
pub(crate) const COLUMNS: [(&str, Cell); 5] = [
    ("mean", |_, mean| quantity::bounded_cell(mean)),
    ("p50", |times, _| percentiles::cell(times, 50.0)),
    ("p90", |times, _| percentiles::cell(times, 90.0)),
    ("p99", |times, _| percentiles::cell(times, 99.0)),
    ("max", |times, _| {
        quantity::bounded_cell(times.max_ns().map(|ns| ns as f64))
    }),
];
/// Columns of a row's name.
const NAMES: usize = 15;
/// Columns of a time, where there is room.
const TIMES: usize = 10;
/// The fewest columns of a count.
const COUNTS: usize = 9;

/// The cells of a row, in the order of [`COLUMNS`].
pub(crate) fn cells(times: Censored<'_>, mean: Bounded<f64>) -> impl Iterator<Item = String> {
    let columns = COLUMNS.into_iter();
    columns.map(move |(_, cell)| cell(times, mean))
}

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let rows = rows(summary);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = table("Time spent", &rows, canvas);
    lines.extend(notes(summary, canvas));
    lines
}

/// A heading with the names of the columns, and a row for each of these.
pub(super) fn table(title: &str, rows: &[(&str, Censored<'_>)], canvas: Canvas) -> Vec<String> {
    let counts = rows
        .iter()
        .map(|(_, times)| units::count(times.times.len()));
    let counts = widest(counts).max(COUNTS);
    let room = (canvas.width.saturating_sub(NAMES + counts)) / COLUMNS.len();
    let numbers = [Column::Right(counts)].into_iter();
    let numbers = numbers.chain([Column::Right(room.min(TIMES)); COLUMNS.len()]);
    let names = std::iter::once("count").chain(COLUMNS.map(|(name, _)| name));
    let heading = canvas.heading(&layout::left(title, NAMES), &line(numbers.clone(), names));
    let row = |(name, times): &(&str, Censored<'_>)| {
        let count = units::count(times.times.len());
        let cells = std::iter::once(count).chain(cells(*times, times.mean_ns()));
        layout::left(&indented(name), NAMES) + &line(numbers.clone(), cells)
    };
    std::iter::once(heading)
        .chain(rows.iter().map(row))
        .collect()
}

/// Returns the rows that have a value. Delay is that of open loads: in a closed one it is zero by
/// definition, as the heading of the response times states.
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
        ("iteration", &times.iteration),
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

fn notes(summary: &Summary, canvas: Canvas) -> Vec<String> {
    explanations(summary)
        .iter()
        .flat_map(|note| canvas.paragraph(note))
        .collect()
}

/// Returns the explanations of the rows.
pub(crate) fn explanations(summary: &Summary) -> Vec<&'static str> {
    let (model, times) = (summary.model, &summary.total.times);
    let mut notes = Vec::new();
    if model == Model::Open && !times.response.is_empty() {
        notes.push(
            "Blocked is the wait for a free connection, lateness is delay added by Loadline.",
        );
    }
    if times.wakeup.is_empty() && !times.first_byte.is_empty() {
        notes.push("Own wake-up delay was not measured: these times include it.");
    }
    if !times.wakeup.is_empty() {
        notes.push(
            "Own wake-up (from the kernel's receive to Loadline's read) is not in these times. \
             Tools that read a user-space clock, such as wrk, include it; so does --clock user.",
        );
    }
    if !times.iteration.is_empty() {
        notes.push("An iteration lasts from its intended start to its last response.");
    }
    if summary.plan.connection.streams > 1 && model == Model::Closed {
        notes.push(
            "While many responses come, Loadline waits between two receives for a quarter of the \
             mean response time, at most 200 µs, so that one brings those of several streams. They \
             end with the last packet of the receive: an early one ends up to that much late.",
        );
    }
    notes
}
