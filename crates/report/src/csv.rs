//! One row a second, for spreadsheets and plots.
//!
//! RFC 4180 but for its line ends, which are plain line feeds. A time is empty in a row without a
//! response, and what was not watched is empty as well. Where requests have several names, there is
//! a column `name`, which is empty in the rows of seconds, and a row for each name follows them.
//! Where a script counts its users and iterations, there are columns for these.
//! Where there are checks, thresholds of k6 among them, there are columns for a check, and a row
//! for each of them. Where a script counts metrics, `metric` and `value` are the last columns, and
//! a row for each figure of a metric, named as in a check, is the last of all. Names, checks and
//! figures are in quotes where they have to be; no other field needs them.

use crate::measured_quantity::measured;
use crate::metrics;
use crate::watch::{RUN_COLUMNS, run_fields};
use loadline_json::{Number, Unit};
use loadline_metrics::Series;
use loadline_record::{Row, Summary};
use loadline_units::rounding;
use loadline_verdict::{CheckResult, RunResult};
use std::slice;

/// The names of the columns, as in the first line.
const COLUMNS: [&str; 19] = [
    "time_s",
    "planned",
    "sent",
    "answered",
    "failed",
    "in_flight",
    "rate",
    "p50_us",
    "p90_us",
    "p95_us",
    "p99_us",
    "max_us",
    "bytes_in",
    "bytes_out",
    "reconnects",
    "resent",
    "in_flight_mean",
    "in_flight_max",
    "rejected",
];

/// The columns of a run whose script counts its users and iterations.
const COURSE_COLUMNS: [&str; 2] = ["users", "iterations"];

/// The columns of a run with checks: their keys in the JSON, `text` is `check`.
const CHECK_COLUMNS: [&str; 7] = [
    "check", "outcome", "actual", "at_least", "bound", "unit", "samples",
];

/// The columns of a run whose script counts metrics.
const METRIC_COLUMNS: [&str; 2] = ["metric", "value"];

/// The columns of some runs in addition to those that every run has.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    has_course: bool,
    has_names: bool,
    has_checks: bool,
    has_metrics: bool,
}

/// The fields of a row; those that it lacks are empty.
#[derive(Default)]
struct Fields {
    counts: [String; COLUMNS.len()],
    watched: [String; RUN_COLUMNS.len()],
    course: [String; COURSE_COLUMNS.len()],
    name: String,
    check: [String; CHECK_COLUMNS.len()],
    metric: [String; METRIC_COLUMNS.len()],
}

impl Columns {
    /// Returns the columns that at least one of these runs needs.
    pub(crate) fn of(runs: &[RunResult]) -> Columns {
        let any = |needs: fn(&RunResult) -> bool| runs.iter().any(needs);
        Columns {
            has_course: any(|run| has_course(&run.summary)),
            has_names: any(|run| !run.summary.total.series.is_empty()),
            has_checks: any(|run| !run.checks.is_empty()),
            has_metrics: any(|run| !metrics::numbers(&run.summary).is_empty()),
        }
    }

    /// Returns the line of names.
    pub(crate) fn names(self) -> String {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.joined([
            names(&COLUMNS),
            names(&RUN_COLUMNS),
            names(&COURSE_COLUMNS),
            names(&["name"]),
            names(&CHECK_COLUMNS),
            names(&METRIC_COLUMNS),
        ])
    }

    /// Returns the rows of a run: of its seconds, then of its names, checks and metrics.
    pub(crate) fn rows(self, run: &RunResult) -> Vec<String> {
        let summary = &run.summary;
        let seconds = summary.rows.iter().map(|row| Fields {
            counts: fields(row, summary.total.start_ns),
            watched: run_fields(&summary.watch, row.end_ns),
            course: [maybe(row.users), maybe(row.iterations)],
            ..Fields::default()
        });
        let series = crate::names::with_scenarios(&summary.total.series);
        let names = series.busiest().into_iter().map(|(key, series)| Fields {
            counts: fields_of_name(series, summary),
            name: quoted(&key.to_string()),
            ..Fields::default()
        });
        let checks = run.checks.iter().map(|check| Fields {
            check: fields_of_check(check),
            ..Fields::default()
        });
        let figures = metrics::numbers(summary).into_iter();
        let metrics = figures.map(|(figure, value)| Fields {
            metric: [quoted(&figure), value.to_string()],
            ..Fields::default()
        });
        let rows = seconds.chain(names).chain(checks).chain(metrics);
        rows.map(|row| self.row(row)).collect()
    }

    fn row(self, row: Fields) -> String {
        self.joined([
            row.counts.into(),
            row.watched.into(),
            row.course.into(),
            vec![row.name],
            row.check.into(),
            row.metric.into(),
        ])
    }

    /// Joins the groups of fields that the runs have.
    fn joined(self, groups: [Vec<String>; 6]) -> String {
        let has = [
            true,
            true,
            self.has_course,
            self.has_names,
            self.has_checks,
            self.has_metrics,
        ];
        let groups = groups.into_iter().zip(has).filter(|(_, has)| *has);
        let fields: Vec<String> = groups.flat_map(|(group, _)| group).collect();
        fields.join(",")
    }
}

/// True if the script of a run counts its users or iterations.
fn has_course(summary: &Summary) -> bool {
    let mut rows = summary.rows.iter();
    rows.any(|row| row.users.is_some() || row.iterations.is_some())
}

/// The run as CSV: a line of names, then a row for each second. `time_s` is the row's end, in
/// seconds from the start of the measured part; percentiles are of response time.
pub fn csv(run: &RunResult) -> String {
    let columns = Columns::of(slice::from_ref(run));
    let mut lines = vec![columns.names()];
    lines.extend(columns.rows(run));
    lines.join("\n") + "\n"
}

/// The fields of a check, with the numbers that the JSON has.
fn fields_of_check(check: &CheckResult) -> [String; CHECK_COLUMNS.len()] {
    let (bound, unit) = measured(check.bound);
    let actual = check.actual.map(|actual| measured(actual).0);
    [
        quoted(&check.text),
        check.outcome.word().to_owned(),
        maybe(actual.map(number)),
        check.is_at_least.to_string(),
        number(bound),
        unit_name(unit).to_owned(),
        check.samples.to_string(),
    ]
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Us => "us",
        Unit::Share => "share",
        Unit::Count => "count",
        Unit::PerSecond => "per_second",
        Unit::Number => "number",
    }
}

fn number(number: Number) -> String {
    match number {
        Number::Count(count) => count.to_string(),
        Number::Measured(measured) => measured.to_string(),
    }
}

/// The fields of a name: `time_s` is the length of the run, and what is not counted by name is
/// empty, as is a percentile of too few samples.
fn fields_of_name(series: &Series, summary: &Summary) -> [String; COLUMNS.len()] {
    let us = |percentile: f64| {
        let found = crate::names::percentile_ns(series, percentile);
        found.map_or_else(String::new, |ns| rounding::us(ns as f64).to_string())
    };
    let rate = rounding::per_second(series.completed, summary.rated_ns());
    let mut fields: [String; COLUMNS.len()] = Default::default();
    for (column, field) in [
        ("time_s", rounding::seconds(summary.duration_ns).to_string()),
        ("answered", series.answered.to_string()),
        ("failed", series.failed.to_string()),
        ("rejected", series.rejected.to_string()),
        ("rate", rate.to_string()),
        ("p50_us", us(50.0)),
        ("p90_us", us(90.0)),
        ("p95_us", us(95.0)),
        ("p99_us", us(99.0)),
        ("max_us", us(100.0)),
    ] {
        let at = COLUMNS.iter().position(|name| *name == column);
        fields[at.expect("each is a column")] = field;
    }
    fields
}

/// A text as a field: in quotes if it has to be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn fields(row: &Row, start_ns: u64) -> [String; COLUMNS.len()] {
    let counts = &row.counts;
    let response = &row.response;
    let length_ns = row.end_ns.saturating_sub(row.start_ns);
    let timed = response.max_ns > 0;
    let us = |ns: u64| {
        if timed {
            rounding::us(ns as f64).to_string()
        } else {
            String::new()
        }
    };
    [
        rounding::seconds(row.end_ns.saturating_sub(start_ns)).to_string(),
        counts.planned.to_string(),
        counts.sent.to_string(),
        counts.answered.to_string(),
        counts.failed.to_string(),
        counts.in_flight.to_string(),
        rounding::per_second(counts.completed, length_ns).to_string(),
        us(response.p50_ns),
        us(response.p90_ns),
        us(row.response_p95_ns),
        us(response.p99_ns),
        us(response.max_ns),
        counts.bytes_in.to_string(),
        counts.bytes_out.to_string(),
        counts.reconnects.to_string(),
        counts.resent.to_string(),
        maybe(counts.in_flight_mean(length_ns).map(rounding::rate)),
        maybe(counts.most_in_flight()),
        counts.rejected.to_string(),
    ]
}

/// A number, or nothing where it is not known.
fn maybe(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_verdict::{CheckOutcome, Quantity};
    use std::collections::BTreeMap;

    /// Returns the CSV of a run without checks.
    fn rows_of(summary: &Summary) -> String {
        csv(&samples::result(summary, Vec::new()))
    }

    /// Returns the fields of a line by the names of their columns. No field has a comma.
    fn by_name<'a>(csv: &'a str, line: &'a str) -> BTreeMap<&'a str, &'a str> {
        let names = csv.lines().next().unwrap().split(',');
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(names.clone().count(), fields.len(), "{line}");
        names.zip(fields).collect()
    }

    #[test]
    fn a_row_for_each_second_with_every_column() {
        let csv = rows_of(&samples::stalled());
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 10);
        assert!(
            lines
                .iter()
                .all(|line| line.split(',').count() == COLUMNS.len() + RUN_COLUMNS.len())
        );
        insta::assert_snapshot!(csv);
    }

    #[test]
    fn the_columns_add_up_to_the_run() {
        let summary = samples::stalled();
        let csv = rows_of(&summary);
        let sum = |name: &str| -> u64 {
            let column = COLUMNS.iter().position(|column| *column == name).unwrap();
            let field = |line: &str| line.split(',').nth(column).unwrap().parse::<u64>().unwrap();
            csv.lines().skip(1).map(field).sum()
        };
        let counts = &summary.total.counts;
        assert_eq!(sum("planned"), counts.planned);
        assert_eq!(sum("sent"), counts.sent);
        assert_eq!(sum("answered"), counts.answered);
        assert_eq!(sum("bytes_in"), counts.bytes_in);
    }

    #[test]
    fn each_figure_of_a_metric_has_a_row_named_as_in_a_check() {
        let csv = rows_of(&samples::counted());
        let mut lines = csv.lines();
        let columns = lines.next().unwrap();
        assert!(columns.ends_with(",metric,value"), "{columns}");
        let width = columns.split(',').count();
        assert!(lines.all(|line| line.split(',').count() == width), "{csv}");
        for row in [
            ",logins.sum,120",
            ",logins.rate,60",
            ",cache_hits.share,0.75",
            ",queue_ms.last,3.25",
            ",payload.max{size:big},40000",
        ] {
            assert!(csv.lines().any(|line| line.ends_with(row)), "{row}: {csv}");
        }
    }

    #[test]
    fn each_check_has_a_row_behind_those_of_names_and_before_those_of_metrics() {
        let check = |text: &str, outcome, actual, bound| CheckResult {
            text: text.to_owned(),
            outcome,
            undecided: None,
            actual,
            is_at_least: false,
            estimate_holds: outcome == CheckOutcome::Passed,
            bound,
            samples: 7,
        };
        let time = Some(Quantity::TimeNs(1_500_250.0));
        let late = CheckResult {
            is_at_least: true,
            ..check("p99<1ms", CheckOutcome::Failed, time, Quantity::TimeNs(1e6))
        };
        let none = check(
            "p50<1s",
            CheckOutcome::Undecided,
            None,
            Quantity::TimeNs(1e9),
        );
        let share = check(
            "checks: rate>0.9",
            CheckOutcome::Passed,
            Some(Quantity::Number(0.95)),
            Quantity::Number(0.9),
        );
        let summary = samples::counted();
        let csv = csv(&samples::result(&summary, vec![late, none, share]));
        let metrics = metrics::numbers(&summary).len();
        let lines: Vec<&str> = csv.lines().collect();
        let rows = &lines[lines.len() - metrics - 3..];
        assert!(rows[3].contains(",cache_hits."), "{csv}");
        let fields = |line| {
            let by_name = by_name(&csv, line);
            assert_eq!((by_name["time_s"], by_name["metric"]), ("", ""));
            CHECK_COLUMNS.map(|name| by_name[name].to_owned()).join(" ")
        };
        assert_eq!(fields(rows[0]), "p99<1ms failed 1500.25 true 1000 us 7");
        assert_eq!(fields(rows[1]), "p50<1s undecided  false 1000000 us 7");
        assert_eq!(
            fields(rows[2]),
            "checks: rate>0.9 passed 0.95 false 0.9 number 7"
        );
    }

    #[test]
    fn the_rows_of_seconds_begin_with_the_same_fields_where_there_are_checks() {
        let summary = samples::stalled();
        let before = rows_of(&summary);
        let mut plan = summary.clone();
        plan.plan.checks = vec!["p99<10ms".parse().unwrap()];
        let run = RunResult::new(plan);
        let csv = csv(&run);
        let rows = before.lines().zip(csv.lines());
        assert!(
            rows.clone().all(|(before, now)| now.starts_with(before)),
            "{csv}"
        );
        assert_eq!(csv.lines().count(), before.lines().count() + 1);
        let last = by_name(&csv, csv.lines().last().unwrap());
        let outcome = run.checks[0].outcome.word();
        assert_eq!((last["check"], last["outcome"]), ("p99<10ms", outcome));
    }

    #[test]
    fn users_and_iterations_have_columns_where_a_script_counts_them() {
        let mut summary = samples::counted();
        assert!(!rows_of(&summary).contains("iterations"));
        summary.rows[0].users = Some(4);
        summary.rows[1].iterations = Some(17);
        let csv = rows_of(&summary);
        let mut lines = csv.lines();
        let columns = lines.next().unwrap();
        let at = |name: &str| {
            columns
                .split(',')
                .position(|column| column == name)
                .unwrap()
        };
        let field = |line: &str, name: &str| line.split(',').nth(at(name)).unwrap().to_owned();
        let lines: Vec<&str> = lines.collect();
        let course = |line: &str| (field(line, "users"), field(line, "iterations"));
        assert_eq!(course(lines[0]), ("4".to_owned(), String::new()));
        assert_eq!(course(lines[1]), (String::new(), "17".to_owned()));
        let width = columns.split(',').count();
        assert!(
            lines.iter().all(|line| line.split(',').count() == width),
            "{csv}"
        );
    }

    #[test]
    fn times_are_empty_where_nothing_was_answered() {
        let csv = rows_of(&samples::unanswered());
        let row = csv.lines().nth(1).unwrap();
        assert!(row.contains(",0,,,,,,"), "{row}");
    }
}
