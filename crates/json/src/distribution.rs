//! Times: their distribution, their percentiles, and how sure these are.

use crate::{Share, Us};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Times in microseconds, exact to three significant digits; null without a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Distribution {
    /// The number of times.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: Option<Us>,
    /// The standard deviation.
    pub stdev: Option<Us>,
    /// The shortest.
    pub min: Option<Us>,
    /// The longest.
    pub max: Option<Us>,
    /// The percentiles.
    #[serde(flatten)]
    pub percentiles: Percentiles<Option<Us>>,
    /// The confidence intervals of the percentiles; of response and service times alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub confidence_intervals: Option<ConfidenceIntervals>,
    /// Of response and service times: the number of requests without a response at the end, each
    /// included with its age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub unfinished: Option<u64>,
    /// Of response and service times: the figures that are lower bounds, because unfinished
    /// requests are older than every response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub at_least: Option<Vec<Statistic>>,
}

/// One value for each percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Percentiles<T> {
    /// The median.
    pub p50: T,
    /// The 75th percentile.
    pub p75: T,
    /// The 90th percentile.
    pub p90: T,
    /// The 95th percentile.
    pub p95: T,
    /// The 99th percentile.
    pub p99: T,
    /// The 99.9th percentile.
    #[serde(rename = "p99.9")]
    pub p99_9: T,
    /// The 99.99th percentile.
    #[serde(rename = "p99.99")]
    pub p99_99: T,
}

impl<T> Percentiles<T> {
    /// Returns the value of `of` for each percentile (50 is the median).
    pub fn each(mut of: impl FnMut(f64) -> T) -> Percentiles<T> {
        Percentiles {
            p50: of(50.0),
            p75: of(75.0),
            p90: of(90.0),
            p95: of(95.0),
            p99: of(99.0),
            p99_9: of(99.9),
            p99_99: of(99.99),
        }
    }

    /// Applies `of` to the value of each percentile.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> Percentiles<U> {
        Percentiles {
            p50: of(self.p50),
            p75: of(self.p75),
            p90: of(self.p90),
            p95: of(self.p95),
            p99: of(self.p99),
            p99_9: of(self.p99_9),
            p99_99: of(self.p99_99),
        }
    }
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Statistic {
    Mean,
    Stdev,
    Max,
    P50,
    P75,
    P90,
    P95,
    P99,
    #[serde(rename = "p99.9")]
    P99_9,
    #[serde(rename = "p99.99")]
    P99_99,
}

impl Statistic {
    /// The percentiles, each with its number (50 is the median).
    pub const PERCENTILES: [(f64, Statistic); 7] = [
        (50.0, Statistic::P50),
        (75.0, Statistic::P75),
        (90.0, Statistic::P90),
        (95.0, Statistic::P95),
        (99.0, Statistic::P99),
        (99.9, Statistic::P99_9),
        (99.99, Statistic::P99_99),
    ];
}

/// Some percentiles of the requests that ended in an interval, in microseconds; null without a
/// sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Quantiles {
    /// The median.
    pub p50: Option<Us>,
    /// The 90th percentile.
    pub p90: Option<Us>,
    /// The 99th percentile.
    pub p99: Option<Us>,
    /// The longest.
    pub max: Option<Us>,
}

/// The confidence intervals of the percentiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConfidenceIntervals {
    /// The confidence level of each interval.
    pub level: Share,
    /// True if the dependence between successive times is accounted for; false in a run too short
    /// to show it.
    pub adjusted: bool,
    /// The intervals.
    #[serde(flatten)]
    pub percentiles: Percentiles<ConfidenceInterval>,
}

/// The confidence interval of a percentile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConfidenceInterval {
    /// The lower end; null where there are too few samples for one.
    pub lower: Option<Us>,
    /// The upper end; null where there are too few samples for one.
    pub upper: Option<Us>,
    /// The ends that are lower bounds themselves.
    #[serde(default)]
    pub at_least: Vec<End>,
    /// The number of independent samples with the same information as the samples, which may depend
    /// on each other.
    pub independent: u64,
    /// The number of further samples such as these that an upper end needs; 0 if there is one.
    pub still_needed: u64,
}

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum End {
    Lower,
    Upper,
}
