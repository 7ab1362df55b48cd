//! The metrics that a script counts by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A metric that a script counted by itself, in its own unit. Figures that its kind does not have
/// are absent, and so are all figures of a metric without a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CustomMetric {
    /// The name of the metric.
    pub name: String,
    /// The tags of the metric.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// The kind of the metric, which decides the figures that it has.
    pub kind: MetricKind,
    /// The unit of the values: `ms` or `bytes`; absent for plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub unit: Option<String>,
    /// The number of values that were added; of a gauge 1 if it was set.
    pub count: u64,
    /// The sum of a counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub sum: Option<f64>,
    /// The values added to a counter in the window, per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub rate: Option<f64>,
    /// The share of a rate's values that are not zero: 1 is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub share: Option<f64>,
    /// The last value of a gauge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub last: Option<f64>,
    /// The smallest value of a gauge or a trend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub min: Option<f64>,
    /// The largest value of a gauge or a trend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub max: Option<f64>,
    /// The arithmetic mean of a trend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub mean: Option<f64>,
    /// Percentiles of a trend, by the nearest rank: `p50`, `p90`, `p95`, `p99`. Exact up to 8 192
    /// values, to within 0.05 % beyond.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, f64>>"))]
    pub percentiles: BTreeMap<String, f64>,
}

/// The kind of a metric: the figures that are computed from its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// The distribution of the values.
    Trend,
    /// The sum of the values.
    Counter,
    /// The share of the values that are not zero.
    Rate,
    /// The last value.
    Gauge,
}
