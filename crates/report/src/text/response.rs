//! Response time: percentiles with their intervals and moments on the left, the histogram on the
//! right.

use super::{Canvas, histogram};
use crate::confidence::ConfidenceInterval;
use crate::table::{Column, indented, line, widest};
use crate::{affected, layout, percentiles, quantity};
use loadline_record::{Bounded, Censored, ErrorKind, Model, Summary};
use loadline_units as units;
use loadline_verdict::RunResult;

/// Columns between the two halves.
const GAP: usize = 3;
/// The least lines of a histogram.
const FEWEST_LINES: usize = 10;

pub(super) fn lines(run: &RunResult, percentiles: &[f64], canvas: Canvas) -> Vec<String> {
    let summary = &run.summary;
    let (response, all) = (&summary.total.times.response, summary.response());
    let mut lines = vec![heading(summary.model, canvas)];
    if response.is_empty() {
        lines.extend(canvas.paragraph("No response arrived, so there is none."));
        return lines;
    }
    lines.push(String::new());
    let intervals = intervals(run, percentiles);
    let marks = affected::marks(run, percentiles);
    let statistics = statistics(all, percentiles, &intervals, &marks);
    let width = statistics
        .iter()
        .map(|line| layout::width(line))
        .max()
        .unwrap_or(0);
    let room = canvas.width - width - GAP;
    let diagram = histogram::lines(response, statistics.len().max(FEWEST_LINES), room, canvas);
    lines.extend(side_by_side(&statistics, &diagram, width + GAP));
    lines.extend(marked(run, percentiles, canvas));
    lines.extend(note(&intervals, canvas));
    lines.extend(unfinished(all, canvas));
    lines.extend(timeouts(summary, canvas));
    lines
}

/// The percentiles of a run, for a report that shows little more.
pub(super) struct Figures {
    /// A line for each, and one for the maximum.
    pub(super) lines: Vec<String>,
    /// True if any figure has an interval.
    pub(super) has_intervals: bool,
    /// True if an end of an interval is not known.
    pub(super) is_open: bool,
}

/// These percentiles with their intervals, and the maximum.
pub(super) fn figures(run: &RunResult, percentiles: &[f64]) -> Figures {
    let times = run.summary.response();
    let intervals = intervals(run, percentiles);
    let mut rows = percentile_rows(times, percentiles, &intervals);
    rows.push(moment("max", times.max_ns().map(|ns| ns as f64)));
    let mut known = intervals.iter().flatten().peekable();
    Figures {
        lines: table(&rows),
        has_intervals: known.peek().is_some(),
        is_open: known.any(is_open),
    }
}

/// From when a response time counts.
pub(super) fn counted_from(model: Model) -> &'static str {
    match model {
        Model::Open => "from the intended start",
        Model::Closed => "from the send",
    }
}

/// The interval of each percentile that is shown as a number and has one.
fn intervals(run: &RunResult, percentiles: &[f64]) -> Vec<Option<ConfidenceInterval>> {
    let times = run.summary.response();
    let interval = |percentile: &f64| {
        let shown = percentiles::missing(times, *percentile) == 0 && *percentile < 100.0;
        shown.then(|| run.response_interval(*percentile))
    };
    percentiles.iter().map(interval).collect()
}

fn heading(model: Model, canvas: Canvas) -> String {
    let from = match model {
        Model::Open => ", timed from the intended start of each request",
        Model::Closed => ", timed from each send: a closed loop has no schedule and no delay",
    };
    canvas.heading("Response time", from)
}

/// One line of the left half.
struct Row {
    name: String,
    /// The figure; empty where there is none.
    figure: String,
    /// The text after the figure, or in its place.
    comment: String,
}

fn statistics(
    times: Censored<'_>,
    percentiles: &[f64],
    intervals: &[Option<ConfidenceInterval>],
    marks: &[&str],
) -> Vec<String> {
    let mut rows = percentile_rows(times, percentiles, intervals);
    let moments = [
        ("mean", times.mean_ns()),
        ("stdev", times.stdev_ns()),
        ("min", Bounded::Exactly(times.times.min_ns() as f64)),
        ("max", times.max_ns().map(|ns| ns as f64)),
    ];
    rows.extend(moments.map(|(name, ns)| moment(name, ns)));
    for (row, mark) in rows
        .iter_mut()
        .zip(marks)
        .filter(|(_, mark)| !mark.is_empty())
    {
        row.comment = format!("{mark} {}", row.comment);
    }
    table(&rows)
}

fn percentile_rows(
    times: Censored<'_>,
    percentiles: &[f64],
    intervals: &[Option<ConfidenceInterval>],
) -> Vec<Row> {
    let each = percentiles.iter().zip(intervals);
    each.map(|(percentile, interval)| percentile_row(times, *percentile, interval.as_ref()))
        .collect()
}

fn moment(name: &str, ns: Bounded<f64>) -> Row {
    Row {
        name: name.to_owned(),
        figure: quantity::bounded_cell(ns),
        comment: String::new(),
    }
}

fn percentile_row(
    times: Censored<'_>,
    percentile: f64,
    interval: Option<&ConfidenceInterval>,
) -> Row {
    let name = quantity::percentile(percentile);
    let missing = percentiles::missing(times, percentile);
    if missing > 0 {
        return Row {
            name,
            figure: String::new(),
            comment: format!("needs {} more", units::count(missing)),
        };
    }
    let ends = |interval: &ConfidenceInterval| {
        let ends = quantity::interval(interval.lower_ns, interval.upper_ns);
        format!("({ends})")
    };
    Row {
        name,
        figure: quantity::bounded_cell(times.percentile(percentile).map(|ns| ns as f64)),
        comment: interval.map(ends).unwrap_or_default(),
    }
}

fn table(rows: &[Row]) -> Vec<String> {
    let names = widest(rows.iter().map(|row| indented(&row.name))) + 2;
    let figures = widest(rows.iter().map(|row| &row.figure));
    let columns = [Column::Left(names), Column::Right(figures)];
    let show = |row: &Row| {
        let name = indented(&row.name);
        if row.figure.is_empty() {
            return line(columns, [&name]) + &row.comment;
        }
        let line = line(columns, [&name, &row.figure]);
        format!("{line} {}", row.comment).trim_end().to_owned()
    };
    rows.iter().map(show).collect()
}

/// Returns the meaning of the marks.
fn marked(run: &RunResult, percentiles: &[f64], canvas: Canvas) -> Vec<String> {
    let notes = affected::notes(run, percentiles);
    let lines = notes.iter().flat_map(|note| canvas.paragraph(note));
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => [vec![String::new()], lines].concat(),
    }
}

/// Returns the meaning of the brackets.
fn note(intervals: &[Option<ConfidenceInterval>], canvas: Canvas) -> Vec<String> {
    let shown: Vec<&ConfidenceInterval> = intervals.iter().flatten().collect();
    let Some(first) = shown.first() else {
        return Vec::new();
    };
    let mut note = "In brackets the 95 % interval".to_owned();
    note.push_str(if first.adjusted {
        ", which takes dependence between response times into account."
    } else {
        ", as if response times were independent: the run is too short to estimate their \
         dependence."
    });
    if shown.iter().any(|interval| is_open(interval)) {
        note.push_str(" ? = bound unknown (too few independent samples): run longer.");
    }
    let mut lines = vec![String::new()];
    lines.extend(canvas.paragraph(&note));
    lines
}

/// True if one of its ends is not known.
fn is_open(interval: &ConfidenceInterval) -> bool {
    interval.lower_ns.is_none() || interval.upper_ns.is_none()
}

/// The lines of both beside each other, those on the right from this column on.
pub(super) fn side_by_side(left: &[String], right: &[String], columns: usize) -> Vec<String> {
    let line = |lines: &[String], index: usize| lines.get(index).cloned().unwrap_or_default();
    let both = |index| layout::left(&line(left, index), columns) + &line(right, index);
    (0..left.len().max(right.len())).map(both).collect()
}

/// A request that had no response when the run ended takes longer than it had waited.
fn unfinished(times: Censored<'_>, canvas: Canvas) -> Vec<String> {
    let ages = times.ages.len();
    if ages == 0 {
        return ageless(times, canvas);
    }
    let oldest = units::time(times.oldest_ns() as f64);
    let mut note = format!(
        "With {} that had no response at the end, each counted with the time that it had waited, \
         up to {oldest}.",
        units::counted(ages, "request"),
    );
    if times.max_ns().is_at_least() {
        note.push_str(" A > is a lower bound.");
    }
    below_a_line(&note, canvas)
}

/// Returns a note for a run that broke off, or that an older version saved: it lacks the ages of
/// the requests without a response.
fn ageless(times: Censored<'_>, canvas: Canvas) -> Vec<String> {
    if times.ageless == 0 {
        return Vec::new();
    }
    let note = format!(
        "Without {} that had no response at the end: the record does not say how long they had \
         waited. A > is a lower bound.",
        units::counted(times.ageless, "request"),
    );
    below_a_line(&note, canvas)
}

fn below_a_line(note: &str, canvas: Canvas) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(canvas.paragraph(note));
    lines
}

/// A response that did not come in time would have taken longer than it was waited for.
fn timeouts(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let Some(timeouts) = summary.total.errors.get(&ErrorKind::Timeout) else {
        return Vec::new();
    };
    let mut lines = vec![String::new()];
    lines.extend(canvas.paragraph(&format!(
        "With {}, each counted with the timeout, as a lower bound.",
        units::counted(timeouts.count, "timeout")
    )));
    lines
}
