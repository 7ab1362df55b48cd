//! The records of the requests that a check applies to.

use crate::{Counts, Distribution, Snapshot, Times};
use loadline_metrics::{BITS, Series, highest_of};
use loadline_plan::Check;
use std::borrow::Cow;

impl Snapshot {
    /// Returns the records of the requests that a check applies to: the numbers of responses and
    /// failures, statuses, and response times with an error of at most 1 %, rounded up. If all
    /// requests have one name there are no series, and the whole snapshot is returned.
    pub fn of_check(&self, check: &Check) -> Cow<'_, Snapshot> {
        if self.series.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut sum = Series::default();
        let series = self.series.iter();
        let series = series.filter(|(key, _)| check.looks_at(key.name(), key.tags()));
        series.for_each(|(_, series)| sum.merge(series));
        Cow::Owned(Snapshot {
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            counts: Counts {
                answered: sum.answered,
                completed: sum.completed,
                failed: sum.failed,
                rejected: sum.rejected,
                ..Counts::default()
            },
            times: Times {
                response: response(&sum),
                ..Times::default()
            },
            statuses: sum.statuses,
            ..Snapshot::default()
        })
    }
}

fn response(series: &Series) -> Distribution {
    let mut times = Distribution::default();
    for (bucket, count) in series.times.counts() {
        times.record_many_ns(highest_of(bucket, BITS).min(series.max_ns), count);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};

    /// Returns a check of this name.
    fn of(name: &str) -> Check {
        format!("p99{{name:{name}}}<1s").parse().expect("a check")
    }

    fn recorded() -> Snapshot {
        let mut table = SeriesTable::new(2);
        for name in ["a", "b"] {
            table.intern(&Key::new(name).expect("a name"));
        }
        let mut recorder = SeriesRecorder::new(table);
        let answered = RequestOutcome::Answered { status: 200 };
        for ms in 1..=100 {
            recorder.record(SeriesId(0), answered, ms * 1_000_000, true);
        }
        recorder.record(SeriesId(0), RequestOutcome::Failed, 7, true);
        recorder.record(SeriesId(1), answered, 5_000_000_000, true);
        Snapshot {
            series: recorder.take(),
            ..Snapshot::default()
        }
    }

    #[test]
    fn the_requests_of_a_name_are_counted_alone() {
        let snapshot = recorded();
        let named = snapshot.of_check(&of("a"));
        assert_eq!((named.counts.answered, named.counts.failed), (100, 1));
        assert_eq!(named.statuses[&200], 100);
        let p99_ns = named.times.response.percentile_ns(99.0);
        assert!((99_000_000..100_000_000).contains(&p99_ns), "{p99_ns}");
        assert!(snapshot.of_check(&of("c")).times.response.is_empty());
    }

    #[test]
    fn without_series_the_only_name_has_all_requests() {
        let mut snapshot = Snapshot::default();
        snapshot.counts.answered = 3;
        assert_eq!(snapshot.of_check(&of("a")).counts.answered, 3);
    }
}
