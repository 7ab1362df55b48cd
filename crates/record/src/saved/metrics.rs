//! The custom metrics in a saved run's lines.

use crate::error::LineError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_metrics::{
    Counter, CustomMetric, CustomMetrics, EXACT_VALUES, ExactSum, Gauge, Key, MetricUnit, Rate,
    Trend, TrendParts, Values,
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

/// The numbers of values of trends in the intervals of a run so far. An interval has each value
/// only as long as a trend stores the values of all of them: so a file does not grow with the
/// values, and whoever reads it knows what was known when it was written.
#[derive(Debug, Default)]
pub(crate) struct WrittenTrends(BTreeMap<Key, u64>);

impl WrittenTrends {
    /// Adds the values of a metric in an interval; true if a reader stores each value up to there.
    fn add(&mut self, key: &Key, metric: &CustomMetric) -> bool {
        let Values::Trend(trend) = &metric.values else {
            return true;
        };
        let written = self.0.entry(key.clone()).or_default();
        *written = written.saturating_add(trend.count());
        *written <= EXACT_VALUES as u64
    }
}

/// The values of a custom metric. Sums are steps of [`ExactSum`] as text, since they have more
/// digits than a reader of JSON preserves. The values of a trend are 64-bit floats in little
/// endian, the counts of its buckets the bytes of
/// [`SparseCounts`](loadline_metrics::SparseCounts), both in base64. Earlier versions wrote coarser
/// buckets, of values from 0 on and of those below apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredValues {
    Trend {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sum: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<(f64, f64)>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        exact: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        folded: String,
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
    /// Encodes every metric of a run, in the order of the keys.
    pub(crate) fn encode(set: &CustomMetrics) -> StoredMetrics {
        let custom = set.iter();
        StoredMetrics {
            custom: custom
                .map(|(key, metric)| StoredMetric::encode(key, metric, true))
                .collect(),
            left_out: set.left_out(),
        }
    }

    /// Encodes every metric of an interval, after those that were written.
    pub(crate) fn encode_next(set: &CustomMetrics, written: &mut WrittenTrends) -> StoredMetrics {
        let encode = |(key, metric): (&Key, &CustomMetric)| {
            let is_exact = written.add(key, metric);
            StoredMetric::encode(key, metric, is_exact)
        };
        StoredMetrics {
            custom: set.iter().map(encode).collect(),
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
    fn encode(key: &Key, metric: &CustomMetric, is_exact: bool) -> StoredMetric {
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        StoredMetric {
            name: key.name().to_owned(),
            tags: key.tags().map(owned).collect(),
            unit: metric.unit.name().to_owned(),
            values: StoredValues::encode(&metric.values, is_exact),
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
    fn encode(values: &Values, is_exact: bool) -> StoredValues {
        match values {
            Values::Trend(trend) => StoredValues::of_trend(trend, is_exact),
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

    fn of_trend(trend: &Trend, is_exact: bool) -> StoredValues {
        let parts = trend.parts(is_exact);
        let is_empty = trend.count() == 0;
        let floats = parts.exact.iter().flat_map(|value| value.to_le_bytes());
        StoredValues::Trend {
            sum: if is_empty {
                String::new()
            } else {
                text(parts.sum)
            },
            range: (!is_empty).then_some(parts.range),
            exact: STANDARD.encode(floats.collect::<Vec<u8>>()),
            folded: STANDARD.encode(parts.folded),
            positive: String::new(),
            negative: String::new(),
        }
    }

    fn decode(&self) -> Option<Values> {
        Some(match self {
            StoredValues::Trend { range: None, .. } => Values::Trend(Trend::default()),
            StoredValues::Trend {
                sum,
                range: Some(range),
                exact,
                folded,
                positive,
                negative,
            } => Values::Trend(if exact.is_empty() && folded.is_empty() {
                let (positive, negative) = (bytes(positive)?, bytes(negative)?);
                Trend::of_coarse(sum_of(sum)?, *range, &positive, &negative)?
            } else {
                Trend::from_parts(&TrendParts {
                    sum: sum_of(sum)?,
                    range: *range,
                    exact: floats(exact)?,
                    folded: bytes(folded)?,
                })?
            }),
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

fn floats(text: &str) -> Option<Vec<f64>> {
    let bytes = bytes(text)?;
    let (floats, rest) = bytes.as_chunks::<8>();
    let floats = floats.iter().map(|bytes| f64::from_le_bytes(*bytes));
    rest.is_empty().then(|| floats.collect())
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
    fn a_trend_is_exact_in_a_file_as_long_as_in_the_run() {
        let key = Key::new("size").unwrap();
        let second = |number: u32| {
            let mut recorder = CustomRecorder::new(1);
            let id = recorder.define(&key, MetricKind::Trend, MetricUnit::None);
            let values = (0..3_000).map(|value| f64::from(value * 3 + number));
            values.for_each(|value| recorder.add(id.unwrap(), value, 1));
            recorder.take()
        };
        let (mut written, mut run) = (WrittenTrends::default(), CustomMetrics::default());
        let mut read = CustomMetrics::default();
        for (number, is_exact) in [(0, true), (1, true), (2, false), (0, false)] {
            let interval = second(number);
            run.merge(&interval);
            let text = StoredMetrics::encode_next(&interval, &mut written);
            let text = serde_json::to_string(&text).unwrap();
            assert_eq!(text.contains("exact"), is_exact, "{number}");
            let stored: StoredMetrics = serde_json::from_str(&text).unwrap();
            read.merge(&stored.decode().unwrap());
            assert_eq!(read, run);
            let total = serde_json::to_string(&StoredMetrics::encode(&run)).unwrap();
            let total: StoredMetrics = serde_json::from_str(&total).unwrap();
            assert_eq!(total.decode().unwrap(), run);
        }
    }

    #[test]
    fn a_trend_of_an_earlier_version_is_read() {
        let stored = r#"{"custom":[{"name":"size","kind":"trend","sum":"1099511627776",
            "range":[1.0,1.0],"positive":"gP8HAQ=="}]}"#;
        let stored: StoredMetrics = serde_json::from_str(stored).unwrap();
        let set = stored.decode().unwrap();
        let size = set.get(&Key::new("size").unwrap()).unwrap();
        let Values::Trend(size) = &size.values else {
            panic!("{size:?}");
        };
        assert_eq!((size.count(), size.percentile(50.0)), (1, Some(1.0)));
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
