//! The tables of the page, in the words of the text report.

use crate::closed_loop::ClosedLoop;
use crate::confidence::ConfidenceInterval;
use crate::error_responses::{self, Example};
use crate::{
    PERCENTILES, affected, exceptions, layout, metrics, names, percentiles as samples, quantity,
    text, undecided,
};
use loadline_findings::failure_advice;
use loadline_page::{
    CheckRow, ErrorResponseRow, ErrorRow, ExceptionRow, Fact, MetricRow, Outcome, PercentileRow,
    StatusRow, TimeRow, TimedFigure,
};
use loadline_plan::Statistic;
use loadline_record::{Bounded, Censored, Exception, Model, Snapshot, Summary};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, CheckResult, RunResult};
use std::cmp::Reverse;

/// The percentiles that every result of some length should have.
pub(super) const NEAR: [f64; 5] = [50.0, 75.0, 90.0, 95.0, 99.0];

/// The confidence interval of a percentile of one kind of time.
type Interval<'a> = &'a dyn Fn(f64) -> ConfidenceInterval;

/// Returns a sentence on the start of the response times.
pub(super) fn timed_from(summary: &Summary) -> String {
    let from = match summary.model {
        Model::Open => "Timed from the intended start of each request.",
        Model::Closed => "Timed from each send: a closed loop has no schedule and no delay.",
    };
    from.to_owned()
}

/// Percentiles and moments of response and service time; none if there was no response. In a closed
/// loop both are the same, and only the first is shown.
pub(super) fn percentiles(run: &RunResult) -> Vec<PercentileRow> {
    let summary = &run.summary;
    if summary.total.times.response.is_empty() {
        return Vec::new();
    }
    let open = summary.model == Model::Open;
    let row =
        |name: String, of: &dyn Fn(Censored<'_>, Interval<'_>) -> TimedFigure| PercentileRow {
            name,
            response: of(summary.response(), &|p| run.response_interval(p)),
            service: match open {
                true => of(summary.service(), &|p| run.service_interval(p)),
                false => TimedFigure::default(),
            },
        };
    let ranks = PERCENTILES.map(|p| {
        let mut row = row(quantity::percentile(p), &|times, interval| {
            percentile(times, interval, p)
        });
        let without = affected::without_delay(run, Statistic::Percentile(p));
        if let (Some(without), Some(interval)) = (without, &mut row.response.interval) {
            interval.push_str(&format!("; {without}"));
        }
        row
    });
    let moments = [
        row("max".to_owned(), &|times, _| {
            moment(times.max_ns().map(|ns| ns as f64))
        }),
        row("mean".to_owned(), &|times, _| moment(times.mean_ns())),
    ];
    ranks.into_iter().chain(moments).collect()
}

fn percentile(times: Censored<'_>, interval: Interval<'_>, percentile: f64) -> TimedFigure {
    let missing = samples::missing(times, percentile);
    if missing > 0 {
        return TimedFigure {
            text: format!("needs {} more responses", units::count(missing)),
            ..TimedFigure::default()
        };
    }
    let found = interval(percentile);
    TimedFigure {
        interval: Some(quantity::interval(found.lower_ns, found.upper_ns)),
        ..moment(times.percentile(percentile).map(|ns| ns as f64))
    }
}

fn moment(ns: Bounded<f64>) -> TimedFigure {
    TimedFigure {
        us: Some(ns.value() / 1e3),
        at_least: ns.is_at_least(),
        text: quantity::bounded_time(ns),
        interval: None,
    }
}

/// A check, and what was measured.
pub(super) fn check(check: &CheckResult) -> CheckRow {
    CheckRow {
        text: check.text.clone(),
        outcome: match check.outcome {
            CheckOutcome::Passed => Outcome::Passed,
            CheckOutcome::Failed => Outcome::Failed,
            CheckOutcome::Undecided => Outcome::Undecided,
        },
        actual: quantity::actual(check).unwrap_or_else(|| "no samples".to_owned()),
        why: undecided(check),
    }
}

/// The metrics that a script counted by itself.
pub(super) fn metrics(summary: &Summary) -> Vec<MetricRow> {
    let lines = metrics::lines(summary).into_iter();
    let fact = |(name, text)| Fact { name, text };
    let row = |line: metrics::MetricLine| MetricRow {
        name: line.label,
        kind: line.kind.to_owned(),
        figures: line.figures.into_iter().map(fact).collect(),
    };
    lines.map(row).collect()
}

/// Responses by status.
pub(super) fn statuses(total: &Snapshot) -> Vec<StatusRow> {
    let statuses = total.statuses.iter();
    let row = |(status, count): (&u16, &u64)| StatusRow {
        status: *status,
        count: *count,
    };
    statuses.map(row).collect()
}

/// Failures by kind, the most frequent first.
pub(super) fn errors(summary: &Summary) -> Vec<ErrorRow> {
    let mut errors: Vec<_> = summary.total.errors.iter().collect();
    errors.sort_by_key(|(_, failures)| Reverse(failures.count));
    let row =
        |(kind, failures): (&loadline_record::ErrorKind, &loadline_record::Failures)| ErrorRow {
            kind: kind.name().to_owned(),
            count: failures.count,
            example: layout::harmless(&failures.example),
            advice: failure_advice(*kind, &failures.example, summary.plan.connection.timeout),
        };
    errors.into_iter().map(row).collect()
}

/// Responses that report errors, the most severe statuses first.
pub(super) fn error_responses(summary: &Summary) -> Vec<ErrorResponseRow> {
    let row = |example: Example<'_>| ErrorResponseRow {
        status: example.response.status,
        is_rejected: example.is_rejected,
        name: example.label,
        count: example.count,
        at: units::time(example.after_ns as f64),
        body: example.response.body.clone(),
        is_cut: example.response.is_cut,
    };
    error_responses::examples(summary)
        .into_iter()
        .map(row)
        .collect()
}

/// Exceptions that nothing in a script handled, the earliest first.
pub(super) fn exceptions(summary: &Summary) -> Vec<ExceptionRow> {
    let row = |exception: &Exception| ExceptionRow {
        kind: exception.kind.clone(),
        message: exception.message.clone(),
        count: exception.count,
        at: units::time(exceptions::after_ns(exception, summary) as f64),
        parts: exceptions::parts(exception),
        trace: exception.trace.clone(),
    };
    summary.total.exceptions.iter().map(row).collect()
}

/// Returns the rows of the time spent.
pub(super) fn times(summary: &Summary) -> Vec<TimeRow> {
    let parts = text::parts(summary).into_iter();
    parts.map(|(name, times)| time_row(name, times)).collect()
}

/// The names of their columns.
pub(super) fn time_columns() -> Vec<String> {
    text::PART_COLUMNS.map(|(name, _)| name.to_owned()).to_vec()
}

fn time_row(name: &str, times: Censored<'_>) -> TimeRow {
    let mean = times.mean_ns();
    TimeRow {
        name: name.trim().to_owned(),
        within_service: name.starts_with(' '),
        count: times.times.len(),
        cells: text::part_cells(times, mean).map(time_or_dash).collect(),
        mean_us: mean.value() / 1e3,
    }
}

/// In a table of times a count of missing samples is none.
fn time_or_dash(cell: String) -> String {
    match cell.trim().ends_with(" more") {
        true => names::TOO_FEW.to_owned(),
        false => cell.trim().to_owned(),
    }
}

/// Returns the explanations of these rows.
pub(super) fn time_notes(summary: &Summary, rows: &[TimeRow]) -> Vec<String> {
    let notes = text::part_notes(summary);
    let closed_loop = ClosedLoop::of(summary).and_then(|found| found.note());
    let notes = notes.into_iter().map(str::to_owned);
    let has_dash = rows
        .iter()
        .any(|row| row.cells.iter().any(|cell| cell == names::TOO_FEW));
    let dash = has_dash.then(|| format!("{}: too few samples.", names::TOO_FEW));
    notes.chain(closed_loop).chain(dash).collect()
}
