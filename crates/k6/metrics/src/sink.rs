//! The aggregated values of one metric.

use crate::{MetricType, Trend};
use loadline_metrics::bits::number;
use serde::{Deserialize, Serialize};

/// A sum of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The sum.
    #[serde(with = "number")]
    pub count: f64,
    /// The number of values.
    pub values: u64,
}

/// The last value, the minimum and the maximum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// The last value.
    #[serde(with = "number")]
    pub value: f64,
    /// The minimum.
    #[serde(with = "number")]
    pub min: f64,
    /// The maximum.
    #[serde(with = "number")]
    pub max: f64,
    /// The time of the last value; 0 without a value.
    at_ns: u64,
}

impl Gauge {
    /// Returns the time of the last value, in nanoseconds since 1970.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }
}

/// The number of values that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The number of values that are not zero.
    pub passes: u64,
    /// The number of all values.
    pub total: u64,
}

impl Rate {
    /// Returns the share of values that are not zero; 0 without a value.
    pub fn share(&self) -> f64 {
        if self.total == 0 {
            0.0
        } else {
            self.passes as f64 / self.total as f64
        }
    }
}

/// The aggregated values of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sink {
    /// The sum of the values.
    Counter(Counter),
    /// The last value.
    Gauge(Gauge),
    /// The share of values that are not zero.
    Rate(Rate),
    /// The distribution of the values.
    Trend(Trend),
}

impl Sink {
    /// Creates a sink without a value.
    pub fn new(kind: MetricType) -> Sink {
        match kind {
            MetricType::Counter => Sink::Counter(Counter::default()),
            MetricType::Gauge => Sink::Gauge(Gauge {
                value: 0.0,
                min: 0.0,
                max: 0.0,
                at_ns: 0,
            }),
            MetricType::Rate => Sink::Rate(Rate::default()),
            MetricType::Trend => Sink::Trend(Trend::default()),
        }
    }

    /// Adds a value measured at this instant, in nanoseconds since 1970.
    #[inline]
    pub fn add(&mut self, value: f64, at_ns: u64) {
        match self {
            Sink::Counter(counter) => {
                counter.count += value;
                counter.values += 1;
            }
            Sink::Gauge(gauge) => gauge.merge(&Gauge {
                value,
                min: value,
                max: value,
                at_ns: at_ns.max(1),
            }),
            Sink::Rate(rate) => {
                rate.total += 1;
                rate.passes += u64::from(value != 0.0);
            }
            Sink::Trend(trend) => trend.add(value),
        }
    }

    /// Adds all values of another sink of the same type.
    pub fn merge(&mut self, other: &Sink) {
        match (self, other) {
            (Sink::Counter(ours), Sink::Counter(theirs)) => {
                ours.count += theirs.count;
                ours.values += theirs.values;
            }
            (Sink::Gauge(ours), Sink::Gauge(theirs)) => ours.merge(theirs),
            (Sink::Rate(ours), Sink::Rate(theirs)) => {
                ours.passes += theirs.passes;
                ours.total += theirs.total;
            }
            (Sink::Trend(ours), Sink::Trend(theirs)) => ours.merge(theirs),
            // The registry ensures that a metric has one type.
            _ => {}
        }
    }

    /// Returns the number of values; 1 for a gauge.
    pub fn values(&self) -> u64 {
        match self {
            Sink::Counter(counter) => counter.values,
            Sink::Gauge(_) => 1,
            Sink::Rate(rate) => rate.total,
            Sink::Trend(trend) => trend.count(),
        }
    }

    /// Returns the type of the metric.
    pub fn kind(&self) -> MetricType {
        match self {
            Sink::Counter(_) => MetricType::Counter,
            Sink::Gauge(_) => MetricType::Gauge,
            Sink::Rate(_) => MetricType::Rate,
            Sink::Trend(_) => MetricType::Trend,
        }
    }
}

/// Returns the mean of a trend's values as k6 computes it, which adds them up in their order; 0
/// without a value.
pub fn average(trend: &Trend) -> f64 {
    match trend.count() {
        0 => 0.0,
        count => trend.sum() / count as f64,
    }
}

impl Gauge {
    fn merge(&mut self, other: &Gauge) {
        match (self.at_ns, other.at_ns) {
            (_, 0) => {}
            (0, _) => self.clone_from(other),
            (ours, theirs) => {
                self.min = self.min.min(other.min);
                self.max = self.max.max(other.max);
                if theirs >= ours {
                    (self.value, self.at_ns) = (other.value, theirs);
                }
            }
        }
    }
}
