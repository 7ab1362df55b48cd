//! The files of `-e` and `-g`.

use super::ledger::Times;
use super::times::{by_total, csv_percentile_us, ms};
use chrono::{DateTime, Local};
use std::time::{Duration, SystemTime};

/// Formats the file of `-e`: each percentage, and the time in milliseconds within which this share
/// was served.
pub(super) fn csv(times: &[Times]) -> String {
    let sorted = by_total(times);
    let mut text = String::from("Percentage served,Time in ms\n");
    for percentage in 0..=100 {
        let within_ms = csv_percentile_us(&sorted, percentage) as f64 / 1000.0;
        text.push_str(&format!("{percentage},{within_ms:.3}\n"));
    }
    text
}

/// Formats the file of `-g`: the times of each request in milliseconds, the fastest first, for
/// gnuplot. `began` is the begin of the run.
pub(super) fn gnuplot(times: &[Times], began: SystemTime) -> String {
    let mut text = String::from("starttime\tseconds\tctime\tdtime\tttime\twait\n");
    for times in by_total(times) {
        let start: DateTime<Local> = (began + Duration::from_micros(times.start_us)).into();
        text.push_str(&format!(
            "{}\t{}\t{}\t{}\t{}\t{}\n",
            start.format("%a %b %d %H:%M:%S %Y"),
            start.timestamp(),
            ms(times.connect_us),
            ms(times.processing_us()),
            ms(times.total_us),
            ms(times.wait_us),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> Vec<Times> {
        let time = |start_us, total_us| Times {
            start_us,
            connect_us: 1_600,
            total_us,
            wait_us: 4_400,
        };
        vec![time(0, 20_123), time(2_000_000, 10_000)]
    }

    #[test]
    fn the_csv_has_a_line_for_each_percentage() {
        let text = csv(&times());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 102);
        assert_eq!(lines[0], "Percentage served,Time in ms");
        assert_eq!((lines[1], lines[101]), ("0,10.000", "100,20.123"));
    }

    #[test]
    fn the_plot_has_a_line_for_each_request_the_fastest_first() {
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_266_558);
        let text = gnuplot(&times(), began);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split('\t').collect())
            .collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1][1..], ["1795266560", "2", "8", "10", "4"]);
        assert_eq!(rows[2][1..], ["1795266558", "2", "19", "20", "4"]);
        assert!(rows[1][0].ends_with(" 2026"), "{}", rows[1][0]);
    }
}
