//! A row of each kind.

use super::*;
use crate::figures::Figures;
use crate::meter::Averages;
use crate::saved::samples::{done, failed};

#[test]
fn every_run_is_a_row() {
    insta::assert_snapshot!(csv(&[
        done("wrk-c10", 1, 1_000.0),
        failed("ab, \"odd\"", 1)
    ]));
}

#[test]
fn the_names_of_the_published_comparison_are_there_in_their_order() {
    let names = COLUMNS.map(|(name, _)| name);
    let place = |name: &str| names.iter().position(|known| *known == name);
    let published = [
        "rps",
        "avg_cpu",
        "avg_memory",
        "avg_bandwidth",
        "avg_bandwidth_utilization",
        "avg_open_sockets",
    ];
    let places: Vec<_> = published.iter().map(|name| place(name).unwrap()).collect();
    assert!(places.is_sorted());
    assert_eq!((place("exp_name"), place("tool")), (Some(0), Some(2)));
}

#[test]
fn the_cost_of_a_request_needs_answers() {
    let run = done("wrk-c10", 1, 1_000.0);
    assert_eq!(run.cpu_us_per_request(), Some(50.0));
    let mut none = run;
    none.outcome.figures = Some(Figures {
        answers: Some(0),
        ..Figures::default()
    });
    assert_eq!(none.cpu_us_per_request(), None);
    none.outcome.averages = Averages::default();
    assert_eq!(none.cpu_us_per_request(), None);
}
