//! The metrics that a script counts by itself.

use super::error::CarryError;
use super::names::{KnownNames, SentNames};
use loadline_metrics::{
    Counter, CustomMetric, CustomMetrics, ExactSum, Gauge, MetricUnit, Rate, Trend, Values,
};
use serde::{Deserialize, Serialize};

/// The custom metrics of an interval.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CarriedMetrics {
    metrics: Vec<CarriedMetric>,
    left_out: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct CarriedMetric {
    name: u32,
    /// The name of the unit.
    unit: String,
    values: CarriedValues,
}

/// The values of a custom metric; sums are steps of [`ExactSum`].
#[derive(Debug, Serialize, Deserialize)]
enum CarriedValues {
    Trend(Trend),
    Counter {
        count: u64,
        sum: i128,
        in_window: i128,
    },
    Rate {
        nonzero: u64,
        count: u64,
    },
    /// The last value, the time at which it was set, the minimum and the maximum.
    Gauge(Option<(f64, u64, f64, f64)>),
}

impl CarriedMetrics {
    pub(super) fn of(set: &CustomMetrics, names: &mut SentNames) -> Self {
        let metrics = set.iter().map(|(key, metric)| CarriedMetric {
            name: names.number(key),
            unit: metric.unit.name().to_owned(),
            values: CarriedValues::of(&metric.values),
        });
        CarriedMetrics {
            metrics: metrics.collect(),
            left_out: set.left_out(),
        }
    }

    /// Returns the metrics that were sent.
    ///
    /// # Errors
    /// If they are invalid.
    pub(super) fn set(self, names: &KnownNames) -> Result<CustomMetrics, CarryError> {
        let mut set = CustomMetrics::default();
        set.leave_out(self.left_out);
        for carried in self.metrics {
            let metric = CustomMetric {
                unit: MetricUnit::named(&carried.unit).ok_or(CarryError::Metrics)?,
                values: carried.values.values(),
            };
            set.add(names.name(carried.name)?, &metric);
        }
        Ok(set)
    }
}

impl CarriedValues {
    fn of(values: &Values) -> Self {
        match values {
            Values::Trend(trend) => CarriedValues::Trend(trend.clone()),
            Values::Counter(counter) => CarriedValues::Counter {
                count: counter.count,
                sum: counter.sum.steps(),
                in_window: counter.in_window.steps(),
            },
            Values::Rate(rate) => CarriedValues::Rate {
                nonzero: rate.nonzero,
                count: rate.count,
            },
            Values::Gauge(gauge) => CarriedValues::Gauge(
                gauge.map(|gauge| (gauge.last, gauge.at_ns, gauge.min, gauge.max)),
            ),
        }
    }

    fn values(self) -> Values {
        match self {
            CarriedValues::Trend(trend) => Values::Trend(trend),
            CarriedValues::Counter {
                count,
                sum,
                in_window,
            } => Values::Counter(Counter {
                count,
                sum: ExactSum::of_steps(sum),
                in_window: ExactSum::of_steps(in_window),
            }),
            CarriedValues::Rate { nonzero, count } => Values::Rate(Rate { nonzero, count }),
            CarriedValues::Gauge(state) => {
                let gauge = |(last, at_ns, min, max)| Gauge {
                    last,
                    at_ns,
                    min,
                    max,
                };
                Values::Gauge(state.map(gauge))
            }
        }
    }
}
