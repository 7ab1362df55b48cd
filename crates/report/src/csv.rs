//! One row a second, for spreadsheets and plots.
//!
//! RFC 4180 but for its line ends, which are plain line feeds. A time is empty in a row without a
//! response, and what was not watched is empty as well. Where requests have several names, there is
//! a column `name`, which is empty in the rows of seconds, and a row for each name follows them.
//! Where a script counts its users and iterations, there are columns for these.
//! Where a script counts metrics, `metric` and `value` are the last columns, and a row for each
//! figure of a metric, named as in a check, is the last of all. No other field needs quotes.

use crate::metrics;
use crate::watch::{RUN_COLUMNS, run_fields};
use loadline_metrics::Series;
use loadline_record::{Row, Summary};
use loadline_units::rounding;

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

/// True if the script of a run counts its users or iterations.
fn has_course(summary: &Summary) -> bool {
    let mut rows = summary.rows.iter();
    rows.any(|row| row.users.is_some() || row.iterations.is_some())
}

/// The run as CSV: a line of names, then a row for each second. `time_s` is the row's end, in
/// seconds from the start of the measured part; percentiles are of response time.
pub fn csv(summary: &Summary) -> String {
    let has_names = !summary.total.series.is_empty();
    let mut names: Vec<&str> = COLUMNS.into_iter().chain(RUN_COLUMNS).collect();
    let has_course = has_course(summary);
    if has_course {
        names.extend(COURSE_COLUMNS);
    }
    names.extend(has_names.then_some("name"));
    let figures = metrics::numbers(summary);
    if !figures.is_empty() {
        names.extend(["metric", "value"]);
    }
    let behind = ",".repeat(2 * usize::from(!figures.is_empty()));
    let mut csv = names.join(",");
    csv.push('\n');
    for row in &summary.rows {
        csv.push_str(&fields(row, summary.total.start_ns).join(","));
        csv.push(',');
        csv.push_str(&run_fields(&summary.watch, row.end_ns).join(","));
        if has_course {
            csv.push_str(&format!(",{},{}", maybe(row.users), maybe(row.iterations)));
        }
        csv.push_str(if has_names { "," } else { "" });
        csv.push_str(&behind);
        csv.push('\n');
    }
    for (key, series) in crate::names::with_scenarios(&summary.total.series).busiest() {
        csv.push_str(&fields_of_name(series, summary).join(","));
        let course = COURSE_COLUMNS.len() * usize::from(has_course);
        csv.push_str(&",".repeat(RUN_COLUMNS.len() + course + 1));
        csv.push_str(&quoted(&key.to_string()));
        csv.push_str(&behind);
        csv.push('\n');
    }
    let empty = ",".repeat(names.len().saturating_sub(2));
    for (figure, value) in figures {
        csv.push_str(&format!("{empty}{},{value}\n", quoted(&figure)));
    }
    csv
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

    #[test]
    fn a_row_for_each_second_with_every_column() {
        let csv = csv(&samples::stalled());
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
        let csv = csv(&summary);
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
        let csv = csv(&samples::counted());
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
    fn users_and_iterations_have_columns_where_a_script_counts_them() {
        let mut summary = samples::counted();
        assert!(!csv(&summary).contains("iterations"));
        summary.rows[0].users = Some(4);
        summary.rows[1].iterations = Some(17);
        let csv = csv(&summary);
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
        let csv = csv(&samples::unanswered());
        let row = csv.lines().nth(1).unwrap();
        assert!(row.contains(",0,,,,,,"), "{row}");
    }
}
