//! The report as CSV: a row for each success, sorted by start.

use super::super::distribution::seconds;
use super::super::spool::Spool;
use std::io::{self, Write};

/// The names of the columns.
const COLUMNS: &str = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";

/// Writes all successes; times are in seconds.
pub(in super::super) fn csv(spool: &mut Spool, output: &mut dyn Write) -> io::Result<()> {
    let mut output = io::BufWriter::new(output);
    writeln!(output, "{COLUMNS}")?;
    for row in spool.sorted()? {
        let success = row?.success;
        writeln!(
            output,
            "{},{},{},{},{},{},{}",
            seconds(success.start_ns),
            seconds(success.lookup_ns),
            seconds(success.dial_ns.unwrap_or(0)),
            seconds(success.first_byte_ns.unwrap_or(0)),
            seconds(success.latency_ns),
            success.bytes,
            success.status
        )?;
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::super::super::spool::Row;
    use super::super::super::tally::Success;
    use super::*;

    #[test]
    fn a_row_has_decimals_and_zero_where_there_is_no_time() {
        let mut spool = Spool::new().expect("a file");
        let first = Success {
            start_ns: 1_500,
            latency_ns: 250_000,
            first_byte_ns: Some(200_000),
            dial_ns: Some(100_000),
            lookup_ns: 1_000,
            status: 200,
            bytes: 60,
            ..Success::default()
        };
        let second = Success {
            start_ns: 2_000_000_000,
            latency_ns: 1,
            status: 404,
            ..Success::default()
        };
        for success in [second, first] {
            let target = "/".to_owned();
            spool.add(Row { success, target }).expect("room");
        }
        let mut output = Vec::new();
        csv(&mut spool, &mut output).expect("room");
        let text = String::from_utf8(output).expect("text");
        assert_eq!(
            text,
            format!(
                "{COLUMNS}\n0.0000015,0.000001,0.0001,0.0002,0.00025,60,200\n\
                     2,0,0,0,0.000000001,0,404\n"
            )
        );
    }
}
