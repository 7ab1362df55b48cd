//! Response time: percentiles with their intervals and moments on the left, the histogram on the
//! right.

use super::{Canvas, histogram};
use crate::confidence::ConfidenceInterval;
use crate::table::{Column, indented, line, widest};
use crate::{affected, layout, percentiles, quantity};
use loadline_record::{Bounded, Censored, ErrorKind, Model, Summary, Unfinished};
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
    lines.extend(unfinished(all, &summary.unfinished, canvas));
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

/// Returns a note on requests that had no response when the run ended: each takes longer than it
/// had waited, which is not known of all.
fn unfinished(times: Censored<'_>, left: &Unfinished, canvas: Canvas) -> Vec<String> {
    // Those that no worker has reported are among the ages, with none.
    let unknown = left.unreported().min(times.ages.len());
    let waited = times.ages.len() - unknown;
    let sentences = [
        (waited > 0).then(|| aged(waited, times.oldest_ns())),
        (times.ageless > 0).then(|| ageless(times.ageless)),
        (unknown > 0).then(|| unreported(unknown, left.by_stop > 0)),
        times
            .max_ns()
            .is_at_least()
            .then(|| "A > is a lower bound.".to_owned()),
    ];
    let note: Vec<String> = sentences.into_iter().flatten().collect();
    match note.is_empty() {
        true => Vec::new(),
        false => below_a_line(&note.join(" "), canvas),
    }
}

fn aged(waited: u64, oldest_ns: u64) -> String {
    format!(
        "With {} that had no response at the end, each counted with the time that it had waited, \
         up to {}.",
        units::counted(waited, "request"),
        units::time(oldest_ns as f64),
    )
}

/// Returns the sentence about a run that broke off, that an older version saved, or one of whose
/// workers was lost: it lacks the ages of requests without a response.
fn ageless(count: u64) -> String {
    format!(
        "Without {} that had no response at the end: the record does not say how long they had \
         waited.",
        units::counted(count, "request"),
    )
}

/// Returns the sentence about planned requests of which nobody has reported anything: `is_stopped`
/// if the script had ended before they fell due.
fn unreported(count: u64, is_stopped: bool) -> String {
    let requests = units::counted(count, "request");
    if is_stopped {
        return format!("Without {requests} that fell due after the script had ended.");
    }
    let verb = if count == 1 { "was" } else { "were" };
    format!("Without {requests} that {verb} planned for a worker after its last report.")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextOptions;
    use loadline_record::{Ages, Distribution};

    fn times(each_ns: &[u64]) -> Distribution {
        let mut times = Distribution::default();
        each_ns.iter().for_each(|ns| times.record_ns(*ns));
        times
    }

    /// The note on one response, and what has none.
    fn note(left: &Unfinished) -> String {
        let response = times(&[4_000_000]);
        let lines = unfinished(
            left.beside_response(&response),
            left,
            Canvas::new(&TextOptions::default()),
        );
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        lines.join(" ").trim().to_owned()
    }

    /// Unsent arrivals of these ages, of which so many were lost.
    fn left(ages_ns: &[u64], lost: u64) -> Unfinished {
        Unfinished {
            unsent: ages_ns.len() as u64,
            by_loadline: lost,
            lost,
            oldest_ns: ages_ns.iter().copied().max().unwrap_or(0),
            ages: Ages {
                response: times(ages_ns),
                ..Ages::default()
            },
            ..Unfinished::default()
        }
    }

    #[test]
    fn requests_that_were_lost_are_not_among_those_that_waited() {
        assert_eq!(note(&left(&[], 0)), "");
        let lost = "Without 2 requests that were planned for a worker after its last report.";
        assert_eq!(note(&left(&[0, 0], 2)), lost);
        let both = note(&left(&[0, 0, 5_000_000], 2));
        let waited = "With 1 request that had no response at the end, each counted with the time \
                      that it had waited, up to 5.00 ms.";
        assert_eq!(both, format!("{waited} {lost} A > is a lower bound."));
        let stopped = Unfinished {
            by_stop: 2,
            ..left(&[0, 0], 0)
        };
        let after_end = "Without 2 requests that fell due after the script had ended.";
        assert_eq!(note(&stopped), after_end);
        let aborted = Unfinished {
            in_flight: 3,
            ..left(&[0], 1)
        };
        assert_eq!(
            note(&aborted),
            "Without 3 requests that had no response at the end: the record does not say how long \
             they had waited. Without 1 request that was planned for a worker after its last \
             report. A > is a lower bound."
        );
    }
}
