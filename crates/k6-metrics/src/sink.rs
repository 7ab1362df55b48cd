//! What is made of the values of one metric.

use crate::exact::number;
use crate::{MetricType, Trend};
use serde::{Deserialize, Serialize};

/// A sum of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// The sum.
    #[serde(with = "number")]
    pub count: f64,
    /// How many values there are.
    pub values: u64,
}

/// The last value, and the extremes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// The last value.
    #[serde(with = "number")]
    pub value: f64,
    /// The smallest value.
    #[serde(with = "number")]
    pub min: f64,
    /// The largest value.
    #[serde(with = "number")]
    pub max: f64,
    /// When the last one was measured; 0 without a value.
    at_ns: u64,
}

impl Gauge {
    /// When the last value was measured, in nanoseconds since 1970.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }
}

/// How many values are not zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Values that are not zero.
    pub passes: u64,
    /// All values.
    pub total: u64,
}

impl Rate {
    /// The share that passed; 0 without a value.
    pub fn share(&self) -> f64 {
        if self.total == 0 {
            0.0
        } else {
            self.passes as f64 / self.total as f64
        }
    }
}

/// What is made of the values of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sink {
    /// Their sum.
    Counter(Counter),
    /// The last one.
    Gauge(Gauge),
    /// The share that is not zero.
    Rate(Rate),
    /// Their distribution.
    Trend(Trend),
}

impl Sink {
    /// One without a value.
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

    /// Adds a value that was measured at this instant, in nanoseconds since 1970.
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

    /// Adds all that another one of the same type holds.
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
            // A metric has one type: the registry sees to that.
            _ => {}
        }
    }

    /// How many values there are; of a gauge 1.
    pub fn values(&self) -> u64 {
        match self {
            Sink::Counter(counter) => counter.values,
            Sink::Gauge(_) => 1,
            Sink::Rate(rate) => rate.total,
            Sink::Trend(trend) => trend.count(),
        }
    }

    /// Its metric's type.
    pub fn kind(&self) -> MetricType {
        match self {
            Sink::Counter(_) => MetricType::Counter,
            Sink::Gauge(_) => MetricType::Gauge,
            Sink::Rate(_) => MetricType::Rate,
            Sink::Trend(_) => MetricType::Trend,
        }
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
