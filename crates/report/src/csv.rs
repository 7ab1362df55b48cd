//! One row a second, for spreadsheets and plots.
//!
//! RFC 4180 but for its line ends, which are plain line feeds. No field needs quotes. A time is
//! empty in a row without a response, and what was not watched is empty as well.

use crate::watch::{RUN_COLUMNS, run_fields};
use loadline_record::{Row, Summary};
use loadline_units::rounding;

/// The names of the columns, as in the first line.
const COLUMNS: [&str; 14] = [
    "time_s",
    "planned",
    "sent",
    "answered",
    "failed",
    "in_flight",
    "rate",
    "p50_us",
    "p90_us",
    "p99_us",
    "max_us",
    "bytes_in",
    "bytes_out",
    "reconnects",
];

/// The run as CSV: a line of names, then a row for each second. `time_s` is the row's end, in
/// seconds from the start of the measured part; percentiles are of response time.
pub fn csv(summary: &Summary) -> String {
    let names: Vec<&str> = COLUMNS.into_iter().chain(RUN_COLUMNS).collect();
    let mut csv = names.join(",");
    csv.push('\n');
    for row in &summary.rows {
        csv.push_str(&fields(row, summary.total.start_ns).join(","));
        csv.push(',');
        csv.push_str(&run_fields(&summary.watch, row.end_ns).join(","));
        csv.push('\n');
    }
    csv
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
        us(response.p99_ns),
        us(response.max_ns),
        counts.bytes_in.to_string(),
        counts.bytes_out.to_string(),
        counts.reconnects.to_string(),
    ]
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
    fn times_are_empty_where_nothing_was_answered() {
        let csv = csv(&samples::unanswered());
        let row = csv.lines().nth(1).unwrap();
        assert!(row.contains(",0,,,,,"), "{row}");
    }
}
