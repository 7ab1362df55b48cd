//! Printed tables.

use super::*;
use crate::saved::samples::{done, failed};

#[test]
fn a_line_for_each_run_and_a_column_for_what_is_known() {
    insta::assert_snapshot!(table(&[done("wrk-c10", 1, 123_456.0), failed("ab-c10", 1)]));
}

#[test]
fn repeats_stand_together_in_their_medians() {
    let runs = [
        done("wrk-c10", 1, 1_000.0),
        done("wrk-c10", 2, 1_500.0),
        failed("ab-c10", 1),
        done("ab-c10", 2, 90.5),
    ];
    insta::assert_snapshot!(table(&runs));
}

#[test]
fn nothing_is_a_table_of_nothing() {
    assert_eq!(table(&[]), "\n");
}

#[test]
fn numbers_have_their_thousands_apart() {
    for (value, text) in [
        (0.0, "0"),
        (9.25, "9.2"),
        (99.5, "99.5"),
        (1_234.5, "1 234"),
        (1_234_567.0, "1 234 567"),
    ] {
        assert_eq!(number(value), text);
    }
}

#[test]
fn times_have_no_digit_that_the_tool_does_not_tell() {
    for (us, step_us, text) in [
        (0.0, 1e3, "< 1 ms"),
        (999.0, 1e3, "< 1 ms"),
        (1e3, 1e3, "1 ms"),
        (34e3, 1e3, "34 ms"),
        (1.23e6, 1e3, "1.23 s"),
        (0.0, 100.0, "< 100 µs"),
        (400.0, 100.0, "400 µs"),
        (1_700.0, 100.0, "1.7 ms"),
        (11_900.0, 100.0, "11.9 ms"),
    ] {
        assert_eq!(time_in_steps(us, step_us), text);
    }
}

#[test]
fn a_percentile_below_the_step_of_its_tool_is_no_zero() {
    let mut run = done("ab-c10", 1, 1_000.0);
    let figures = run.outcome.figures.as_mut().unwrap();
    figures.resolution_us = Some(1e3);
    figures.percentiles.p50_us = Some(0.0);
    figures.percentiles.p99_us = Some(3e3);
    let text = table(&[run]);
    assert!(text.contains("< 1 ms"), "{text}");
    assert!(text.contains("  3 ms"), "{text}");
}

#[test]
fn every_column_is_in_the_table_or_named_as_left_out() {
    let mut run = done("wrk-c10", 1, 123_456.0);
    run.outcome.averages.bandwidth_percent = Some(0.563);
    let text = table(std::slice::from_ref(&run));
    for (title, cell) in COLUMNS {
        let is_known = cell(&[&run]).is_some();
        assert!(!is_known || text.contains(title), "{title}: {text}");
    }
    assert!(text.contains("of the link, bandwidth"), "{text}");
}

#[test]
fn a_share_of_a_fast_link_keeps_its_digits() {
    for (percent, text) in [(0.563, "0.56 %"), (5.63, "5.6 %"), (56.3, "56 %")] {
        assert_eq!(share(percent), text);
    }
}

#[test]
fn a_mean_that_is_missing_for_want_of_looks_has_its_reason() {
    let mut run = done("wrk-c10", 1, 1_000.0);
    run.outcome.averages = crate::Averages {
        seen_too_briefly: true,
        ..crate::Averages::default()
    };
    assert!(table(&[run]).replace("\n ", "").contains(SEEN_TOO_BRIEFLY));
}

#[test]
fn times_have_three_digits() {
    for (us, text) in [
        (0.0, "0.00 µs"),
        (49.94, "49.9 µs"),
        (999.0, "999 µs"),
        (1_489.0, "1.49 ms"),
        (2.5e6, "2.50 s"),
    ] {
        assert_eq!(time(us), text);
    }
}
