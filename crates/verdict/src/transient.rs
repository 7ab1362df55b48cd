//! The end of a run's initial transient, by its seconds.
//!
//! Of rate, median and 99th percentile each may have a beginning on another level (see [`steady`]),
//! and the longest is taken: what has settled in one figure may still move in another. Less than
//! eight seconds are not judged.

use loadline_record::{Row, Transient};
use loadline_stats::steady::{self, InitialTransient};

/// Seconds that were cut short by more than half are not looked at.
const SHORTEST_NS: u64 = 500_000_000;

/// Finds the transient at the beginning of a run by its intervals.
pub fn transient(rows: &[Row]) -> Transient {
    let length_ns = |row: &Row| row.end_ns.saturating_sub(row.start_ns);
    let whole: Vec<&Row> = rows
        .iter()
        .filter(|row| length_ns(row) >= SHORTEST_NS)
        .collect();
    let series: [Vec<f64>; 3] = [
        whole
            .iter()
            .map(|row| row.counts.completed as f64 / length_ns(row) as f64)
            .collect(),
        whole.iter().map(|row| row.response.p50_ns as f64).collect(),
        whole.iter().map(|row| row.response.p99_ns as f64).collect(),
    ];
    let settled = series.map(|series| steady::initial_transient(&series));
    let cuts = settled.map(|found| match found {
        None => Err(Transient::TooShort),
        Some(InitialTransient::Never) => Err(Transient::Never),
        Some(InitialTransient::After(intervals)) => Ok(intervals),
    });
    let cuts: Result<Vec<usize>, Transient> = cuts.into_iter().collect();
    match cuts {
        Err(found) => found,
        Ok(cuts) => Transient::Cut {
            intervals: cuts.into_iter().max().unwrap_or(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::plan;
    use crate::simulated::{Target, begun, repetitions};
    use loadline_record::{Counts, Quantiles};

    const SECOND: u64 = 1_000_000_000;

    /// Seconds with this rate and this p99 in milliseconds.
    fn rows(seconds: u64, course: impl Fn(u64) -> (u64, u64)) -> Vec<Row> {
        let row = |index: u64| {
            let (answered, p99_ms) = course(index);
            let response = Quantiles {
                p50_ns: 1_000_000,
                p99_ns: p99_ms * 1_000_000,
                ..Quantiles::default()
            };
            Row {
                start_ns: index * SECOND,
                end_ns: (index + 1) * SECOND,
                counts: Counts {
                    answered,
                    completed: answered,
                    ..Counts::default()
                },
                response,
                service: response,
                response_p95_ns: 0,
                users: None,
                iterations: None,
            }
        };
        (0..seconds).map(row).collect()
    }

    #[test]
    fn the_longest_transient_of_the_three_is_cut() {
        let course = |second| {
            let rate = if second < 5 { 100 } else { 1_000 };
            (rate, if second < 15 { 80 } else { 20 })
        };
        let found = transient(&rows(60, course));
        assert_eq!(found, Transient::Cut { intervals: 15 });
    }

    #[test]
    fn short_runs_are_cut_to_the_second() {
        let course = |second| (1_000, if second < 3 { 80 } else { 20 });
        assert_eq!(
            transient(&rows(14, course)),
            Transient::Cut { intervals: 3 }
        );
        assert_eq!(transient(&rows(7, course)), Transient::TooShort);
        assert_eq!(transient(&[]), Transient::TooShort);
    }

    #[test]
    fn what_climbs_to_the_end_never_settles() {
        let found = transient(&rows(60, |second| (1_000, 20 + second)));
        assert_eq!(found, Transient::Never);
    }

    /// Returns the transient that is found in each of this many runs.
    fn found(target: Target, seconds: u64, runs: u64) -> Vec<Transient> {
        let run = |seed| {
            let mut summary = begun(&plan(500, 50));
            let recorded = target.seconds(seconds, seed);
            recorded.iter().for_each(|second| summary.observe(second));
            transient(&summary.rows)
        };
        let found: Vec<Transient> = (0..runs).map(run).collect();
        let cut = found.iter().filter(|found| found.intervals() > 0).count();
        let never = found.iter().filter(|found| **found == Transient::Never);
        let never = never.count();
        println!("{target:?}, {seconds} s: cut {cut}, never settled {never} of {runs}");
        found
    }

    fn assert_distinguished_from_noise(runs: u64) {
        let nothing = Transient::Cut { intervals: 0 };
        for seconds in [10, 20, 30, 60] {
            for target in [
                Target::Independent,
                Target::Queue(0.8),
                Target::Queue(0.9),
                Target::Carried(0.99),
                Target::Stalling(0.3, 10.0),
                Target::Lapsing(1.0, 10.0),
                Target::Lapsing(1.0, 30.0),
            ] {
                let found = found(target, seconds, runs);
                let wrong = found.iter().filter(|found| **found != nothing).count();
                assert!(
                    wrong as u64 * 20 <= runs.max(20),
                    "{target:?}: {wrong} of {runs}"
                );
            }
        }
        let frozen = found(Target::Frozen(5.0, 1.0), 20, runs);
        assert!(
            frozen.iter().all(|found| found.intervals() == 0),
            "{frozen:?}"
        );
        for seconds in [12, 20, 60] {
            let warming = found(Target::Warming(10.0, 4.0), seconds, runs);
            let right = warming
                .iter()
                .filter(|found| (4..=10).contains(&found.intervals()));
            let right = right.count() as u64;
            assert!(10 * right >= 9 * runs, "{right} of {runs}: {warming:?}");
        }
    }

    #[test]
    fn a_transient_is_told_from_noise_and_from_stalls() {
        assert_distinguished_from_noise(repetitions(false));
    }

    #[test]
    #[ignore = "two hundred runs of each row take minutes; make soak runs it"]
    fn stationary_runs_are_cut_in_at_most_five_of_a_hundred() {
        assert_distinguished_from_noise(repetitions(true));
    }
}
