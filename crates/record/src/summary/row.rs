//! One interval of a run, reduced to the few numbers that a summary stores.

use crate::{Counts, Distribution, Snapshot};
use loadline_metrics::{CustomMetrics, Key, Values};

/// One interval in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The begin of the interval, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// The end of the interval, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// The counts.
    pub counts: Counts,
    /// The response time.
    pub response: Quantiles,
    /// The 95th percentile of response time, in nanoseconds; 0 without a response.
    pub response_p95_ns: u64,
    /// The service time.
    pub service: Quantiles,
    /// The most virtual users of a script that were active at once, if it counts them.
    pub users: Option<u32>,
    /// The iterations of a script that ended, if it counts them and any did.
    pub iterations: Option<u64>,
}

/// The gauge of active users among the metrics of a script.
const USERS: &str = "vus";
/// The counter of iterations among the metrics of a script.
const ITERATIONS: &str = "iterations";

/// A distribution in four numbers, each in nanoseconds; 0 if it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The maximum.
    pub max_ns: u64,
}

impl Row {
    /// Returns the row of this interval.
    pub fn of(interval: &Snapshot) -> Row {
        Row {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            counts: interval.counts,
            response: Quantiles::of(&interval.times.response),
            response_p95_ns: interval.times.response.percentile_ns(95.0),
            service: Quantiles::of(&interval.times.service),
            users: users(&interval.metrics),
            iterations: iterations(&interval.metrics),
        }
    }
}

fn users(metrics: &CustomMetrics) -> Option<u32> {
    match values(metrics, USERS)? {
        Values::Gauge(gauge) => gauge.as_ref().map(|gauge| gauge.max as u32),
        Values::Trend(_) | Values::Counter(_) | Values::Rate(_) => None,
    }
}

fn iterations(metrics: &CustomMetrics) -> Option<u64> {
    match values(metrics, ITERATIONS)? {
        Values::Counter(counter) => Some(counter.sum.value() as u64),
        Values::Trend(_) | Values::Gauge(_) | Values::Rate(_) => None,
    }
}

/// The values of the metric of this name without tags.
fn values<'a>(metrics: &'a CustomMetrics, name: &str) -> Option<&'a Values> {
    if metrics.is_empty() {
        return None;
    }
    let metric = metrics.get(&Key::new(name).ok()?)?;
    Some(&metric.values)
}

impl Quantiles {
    /// Returns the four numbers of this distribution.
    pub fn of(distribution: &Distribution) -> Quantiles {
        Quantiles {
            p50_ns: distribution.percentile_ns(50.0),
            p90_ns: distribution.percentile_ns(90.0),
            p99_ns: distribution.percentile_ns(99.0),
            max_ns: distribution.max_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{CustomRecorder, MetricKind, MetricUnit};

    #[test]
    fn users_and_iterations_are_those_that_a_script_counts() {
        let mut interval = Snapshot::empty(0);
        let row = Row::of(&interval);
        assert_eq!((row.users, row.iterations), (None, None));
        let mut recorder = CustomRecorder::new(10);
        let mut add = |name: &str, kind, values: &[f64]| {
            let key = Key::new(name).unwrap();
            let id = recorder.define(&key, kind, MetricUnit::None).unwrap();
            values.iter().for_each(|value| recorder.add(id, *value, 1));
        };
        add(USERS, MetricKind::Gauge, &[3.0, 7.0, 5.0]);
        add(ITERATIONS, MetricKind::Counter, &[1.0, 1.0]);
        interval.metrics = recorder.take();
        let row = Row::of(&interval);
        assert_eq!((row.users, row.iterations), (Some(7), Some(2)));
    }

    #[test]
    fn metrics_of_these_names_and_of_another_kind_are_none_of_them() {
        let mut recorder = CustomRecorder::new(10);
        for name in [USERS, ITERATIONS] {
            let key = Key::new(name).unwrap();
            let id = recorder.define(&key, MetricKind::Rate, MetricUnit::None);
            recorder.add(id.unwrap(), 1.0, 1);
        }
        let mut interval = Snapshot::empty(0);
        interval.metrics = recorder.take();
        let row = Row::of(&interval);
        assert_eq!((row.users, row.iterations), (None, None));
    }
}
