//! Tables as they are printed.

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
