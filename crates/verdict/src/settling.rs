//! Where a run settled, by its seconds.
//!
//! Rate, median and 99th percentile are each cut by MSER-5 (see [`steady`]), and the longest cut is
//! taken: what has settled in one figure may still move in another. A run of less than forty seconds has
//! shorter batches than five seconds, down to one; less than eight seconds are not judged.

use loadline_record::{Row, Transient};
use loadline_stats::steady::{self, BATCH, FEWEST_BATCHES, Settling};

/// Seconds that were cut short by more than half are not looked at.
const SHORTEST_NS: u64 = 500_000_000;

/// What the intervals of a run say of its beginning.
pub fn transient(rows: &[Row]) -> Transient {
    let length_ns = |row: &Row| row.end_ns.saturating_sub(row.start_ns);
    let whole: Vec<&Row> = rows
        .iter()
        .filter(|row| length_ns(row) >= SHORTEST_NS)
        .collect();
    let series: [Vec<f64>; 3] = [
        whole
            .iter()
            .map(|row| row.counts.answered as f64 / length_ns(row) as f64)
            .collect(),
        whole.iter().map(|row| row.response.p50_ns as f64).collect(),
        whole.iter().map(|row| row.response.p99_ns as f64).collect(),
    ];
    let batch = (whole.len() / FEWEST_BATCHES).clamp(1, BATCH);
    let settled = series.map(|series| steady::mser(&series, batch));
    let cuts = settled.map(|settling| match settling {
        None => Err(Transient::TooShort),
        Some(Settling::Never) => Err(Transient::Never),
        Some(Settling::After(intervals)) => Ok(intervals),
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
                    ..Counts::default()
                },
                response,
                service: response,
                errors: 0,
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
}
