//! The columns of a study's table.

use crate::figures::Percentiles;
use crate::meter::Mean;
use crate::saved::SavedRun;
use crate::table::time_in_steps;
use loadline_page::{Cell, Unit};
use loadline_plan::Rate;

/// The bytes of a kilobyte in saved runs.
pub(crate) const KB: f64 = 1024.0;

/// A column: its name, its heading, its unit, and the function that returns its cell.
pub(crate) type Source = (&'static str, &'static str, Unit, fn(&SavedRun) -> Cell);

/// The columns. Those that a reader compares first are on the left, where no scrollbar hides them.
pub(crate) const COLUMNS: [Source; 31] = [
    ("against", "against", Unit::Text, |run| {
        let against = run.header.settings.against.clone();
        against.map_or(Cell::Absent, Cell::Text)
    }),
    ("threads", "threads", Unit::Count, |run| {
        number(run.header.settings.threads.map(f64::from))
    }),
    ("connections", "connections", Unit::Count, |run| {
        number(run.header.settings.connections.map(f64::from))
    }),
    ("rate", "rate asked", Unit::PerSecond, |run| {
        number(run.header.settings.rate.map(Rate::per_second))
    }),
    ("duration_s", "duration", Unit::Seconds, |run| {
        number(
            run.header
                .settings
                .duration
                .map(|length| length.as_secs_f64()),
        )
    }),
    ("rps", "requests/s", Unit::PerSecond, |run| {
        figure(run, |figures| (figures.rps > 0.0).then_some(figures.rps))
    }),
    ("p50_us", "p50", Unit::Us, |run| {
        percentile(run, |percentiles| percentiles.p50_us)
    }),
    ("p99_us", "p99", Unit::Us, |run| {
        percentile(run, |percentiles| percentiles.p99_us)
    }),
    ("avg_cpu", "CPU", Unit::Percent, |run| {
        number(run.outcome.averages.tool.cpu_percent)
    }),
    ("avg_memory", "memory", Unit::Bytes, |run| {
        bytes(run.outcome.averages.tool.memory_kb)
    }),
    ("avg_bandwidth", "bandwidth", Unit::BytesPerSecond, |run| {
        bytes(run.outcome.averages.bandwidth_kb_per_s)
    }),
    (
        "avg_bandwidth_utilization",
        "of the link",
        Unit::Percent,
        |run| number(run.outcome.averages.bandwidth_percent),
    ),
    ("avg_open_sockets", "sockets", Unit::Count, |run| {
        number(run.outcome.averages.tool.sockets)
    }),
    ("cpu_us_per_request", "CPU per request", Unit::Us, |run| {
        number(run.cpu_us_per_request())
    }),
    ("total_time_s", "total time", Unit::Seconds, |run| {
        figure(run, |figures| figures.duration_s)
    }),
    ("mean_us", "mean", Unit::Us, |run| {
        figure(run, |figures| figures.mean_us)
    }),
    ("max_us", "max", Unit::Us, |run| {
        figure(run, |figures| figures.max_us)
    }),
    ("errors", "errors", Unit::Count, |run| {
        figure(run, |figures| figures.errors.map(|count| count as f64))
    }),
    ("timeouts", "timeouts", Unit::Count, |run| {
        figure(run, |figures| figures.timeouts.map(|count| count as f64))
    }),
    ("load_line_low", "at least", Unit::PerSecond, |run| {
        figure(run, |figures| figures.load_line?.low)
    }),
    ("load_line_high", "at most", Unit::PerSecond, |run| {
        figure(run, |figures| figures.load_line?.high)
    }),
    ("recovery_s", "recovers after", Unit::Seconds, |run| {
        figure(run, |figures| figures.load_line?.recovery_s)
    }),
    ("target_avg_cpu", "target's CPU", Unit::Percent, |run| {
        number(
            run.outcome
                .averages
                .target
                .and_then(|target| target.cpu_percent),
        )
    }),
    ("target_avg_memory", "target's memory", Unit::Bytes, |run| {
        bytes(
            run.outcome
                .averages
                .target
                .and_then(|target| target.memory_kb),
        )
    }),
    (
        "target_cpu_us_per_request",
        "target's CPU per request",
        Unit::Us,
        |run| number(run.target_cpu_us_per_request()),
    ),
    ("backends_avg_cpu", "backends' CPU", Unit::Percent, |run| {
        number(backends(run, |used| used.cpu_percent))
    }),
    (
        "backends_avg_memory",
        "backends' memory",
        Unit::Bytes,
        |run| bytes(backends(run, |used| used.memory_kb)),
    ),
    (
        "backends_cpu_us_per_request",
        "backends' CPU per request",
        Unit::Us,
        |run| number(run.backends_cpu_us_per_request()),
    ),
    ("warm_up_s", "warm-up", Unit::Seconds, |run| {
        number(run.header.warm_up.map(|warmed| warmed.length_s))
    }),
    ("verdict", "in words", Unit::Text, |run| {
        let figures = run.outcome.figures.as_ref();
        let verdict = figures.and_then(|figures| figures.verdict.clone());
        verdict.map_or(Cell::Absent, Cell::Text)
    }),
    ("validity", "validity", Unit::Text, |run| {
        let figures = run.outcome.figures.as_ref();
        let grade = figures.and_then(|figures| figures.validity.clone());
        grade.map_or(Cell::Absent, Cell::Text)
    }),
];

/// The names of the columns that have numbers.
pub(crate) fn numeric_columns() -> Vec<&'static str> {
    let columns = COLUMNS.iter();
    let numeric = columns.filter(|(_, _, unit, _)| *unit != Unit::Text);
    numeric.map(|(name, ..)| *name).collect()
}

fn number(number: Option<f64>) -> Cell {
    number.map_or(Cell::Absent, Cell::Number)
}

fn backends(run: &SavedRun, of: fn(&Mean) -> Option<f64>) -> Option<f64> {
    of(run.outcome.averages.backends.as_ref()?)
}

fn bytes(kb: Option<f64>) -> Cell {
    number(kb.map(|kb| kb * KB))
}

fn figure(run: &SavedRun, of: fn(&crate::Figures) -> Option<f64>) -> Cell {
    number(run.outcome.figures.as_ref().and_then(of))
}

/// Returns a percentile; if it is below the resolution of the tool's report, a text that says so.
fn percentile(run: &SavedRun, of: fn(&Percentiles) -> Option<f64>) -> Cell {
    let Some(figures) = &run.outcome.figures else {
        return Cell::Absent;
    };
    let step_us = figures.resolution_us.unwrap_or(0.0);
    match of(&figures.percentiles) {
        Some(us) if us < step_us => Cell::Text(time_in_steps(us, step_us)),
        us => number(us),
    }
}
