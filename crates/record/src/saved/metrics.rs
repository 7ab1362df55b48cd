//! The custom metrics in a saved run's lines.

use crate::error::LineError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_metrics::{
    Counter, CustomMetric, CustomMetrics, ExactSum, Gauge, Key, MetricUnit, Rate, Trend,
    TrendParts, Values,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The custom metrics of an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredMetrics {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    custom: Vec<StoredMetric>,
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A custom metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredMetric {
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unit: String,
    #[serde(flatten)]
    values: StoredValues,
}

/// The values of a custom metric. Sums are steps of [`ExactSum`] as text, since they have more
/// digits than a reader of JSON preserves; the counts of a trend are the bytes of
/// [`SparseCounts`](loadline_metrics::SparseCounts) in base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredValues {
    Trend {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sum: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<(f64, f64)>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        positive: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        negative: String,
    },
    Counter {
        count: u64,
        sum: String,
        in_window: String,
    },
    Rate {
        nonzero: u64,
        count: u64,
    },
    Gauge {
        /// The last value, the time at which it was set, the minimum and the maximum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<(f64, u64, f64, f64)>,
    },
}

impl StoredMetrics {
    /// Encodes every metric of a set, in the order of the keys.
    pub(crate) fn encode(set: &CustomMetrics) -> StoredMetrics {
        StoredMetrics {
            custom: set.iter().map(StoredMetric::encode).collect(),
            left_out: set.left_out(),
        }
    }

    /// True if there is no data to store.
    pub(crate) fn is_empty(&self) -> bool {
        *self == StoredMetrics::default()
    }

    /// Decodes the set of these metrics.
    pub(crate) fn decode(&self) -> Result<CustomMetrics, LineError> {
        let mut set = CustomMetrics::default();
        set.leave_out(self.left_out);
        for stored in &self.custom {
            let (key, metric) = stored.decode().ok_or_else(|| LineError::CustomMetric {
                name: stored.name.clone(),
            })?;
            set.add(&key, &metric);
        }
        Ok(set)
    }
}

impl StoredMetric {
    fn encode((key, metric): (&Key, &CustomMetric)) -> StoredMetric {
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        StoredMetric {
            name: key.name().to_owned(),
            tags: key.tags().map(owned).collect(),
            unit: metric.unit.name().to_owned(),
            values: StoredValues::encode(&metric.values),
        }
    }

    fn decode(&self) -> Option<(Key, CustomMetric)> {
        let metric = CustomMetric {
            unit: MetricUnit::named(&self.unit)?,
            values: self.values.decode()?,
        };
        Some((Key::tagged(&self.name, self.tags.clone()).ok()?, metric))
    }
}

impl StoredValues {
    fn encode(values: &Values) -> StoredValues {
        match values {
            Values::Trend(trend) if trend.count() == 0 => StoredValues::Trend {
                sum: String::new(),
                range: None,
                positive: String::new(),
                negative: String::new(),
            },
            Values::Trend(trend) => {
                let parts = trend.parts();
                StoredValues::Trend {
                    sum: text(parts.sum),
                    range: Some(parts.range),
                    positive: STANDARD.encode(parts.positive),
                    negative: STANDARD.encode(parts.negative),
                }
            }
            Values::Counter(counter) => StoredValues::Counter {
                count: counter.count,
                sum: text(counter.sum),
                in_window: text(counter.in_window),
            },
            Values::Rate(rate) => StoredValues::Rate {
                nonzero: rate.nonzero,
                count: rate.count,
            },
            Values::Gauge(gauge) => StoredValues::Gauge {
                state: gauge.map(|gauge| (gauge.last, gauge.at_ns, gauge.min, gauge.max)),
            },
        }
    }

    fn decode(&self) -> Option<Values> {
        Some(match self {
            StoredValues::Trend { range: None, .. } => Values::Trend(Trend::default()),
            StoredValues::Trend {
                sum,
                range: Some(range),
                positive,
                negative,
            } => {
                let (positive, negative) = (bytes(positive)?, bytes(negative)?);
                Values::Trend(Trend::from_parts(&TrendParts {
                    sum: sum_of(sum)?,
                    range: *range,
                    positive: &positive,
                    negative: &negative,
                })?)
            }
            StoredValues::Counter {
                count,
                sum,
                in_window,
            } => Values::Counter(Counter {
                count: *count,
                sum: sum_of(sum)?,
                in_window: sum_of(in_window)?,
            }),
            StoredValues::Rate { nonzero, count } => Values::Rate(Rate {
                nonzero: *nonzero,
                count: *count,
            }),
            StoredValues::Gauge { state } => {
                let gauge = |(last, at_ns, min, max)| Gauge {
                    last,
                    at_ns,
                    min,
                    max,
                };
                Values::Gauge(state.map(gauge))
            }
        })
    }
}

fn text(sum: ExactSum) -> String {
    sum.steps().to_string()
}

fn sum_of(text: &str) -> Option<ExactSum> {
    text.parse().ok().map(ExactSum::of_steps)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{CustomRecorder, MetricKind};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn metrics_come_back_as_they_went_in(
            values in prop::collection::vec((0..6_usize, -1e9..1e9_f64, 0..1_000_u64), 0..40),
        ) {
            let mut recorder = CustomRecorder::new(5);
            for (metric, value, at_ns) in values {
                let kind = MetricKind::ALL[metric % 4];
                let tags = BTreeMap::from([("size".to_owned(), metric.to_string())]);
                let key = Key::tagged(kind.name(), tags).unwrap();
                let id = recorder.define(&key, kind, MetricUnit::Milliseconds).unwrap();
                recorder.add(id, value, at_ns);
            }
            let set = recorder.take();
            let text = serde_json::to_string(&StoredMetrics::encode(&set)).unwrap();
            let read: StoredMetrics = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.decode().unwrap(), set);
        }
    }

    #[test]
    fn what_is_no_metric_is_refused_by_its_name() {
        let stored =
            r#"{"custom":[{"name":"hits","kind":"counter","count":1,"sum":"x","in_window":"0"}]}"#;
        let stored: StoredMetrics = serde_json::from_str(stored).unwrap();
        let refusal = stored.decode().unwrap_err().to_string();
        assert!(refusal.contains("`hits`"), "{refusal}");
    }
}
