//! The figures of a run, as the tool reports them.

use crate::meter::Mean;
use serde::{Deserialize, Serialize};

/// The figures of a run, as the tool reports them. Figures that a tool does not report are `None`.
/// Times are in microseconds: from the intended start if a tool knows it, else from the send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Responses per second.
    pub rps: f64,
    /// The duration of the load, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// The number of responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<u64>,
    /// The number of requests without a whole response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Requests among those that had no response in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Responses with a status of 400 or above; for some tools all but 2xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_statuses: Option<u64>,
    /// The mean time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Percentiles of the times.
    pub percentiles: Percentiles,
    /// The resolution of the percentiles in the tool's report, if it is coarse: 1 000 for whole
    /// milliseconds. A smaller value is only known to be below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution_us: Option<f64>,
    /// The longest time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// The result of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_line: Option<LoadLine>,
    /// The tool's verdict in words: the result of a search, or the differences of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The validity of the result according to the tool: `valid`, `suspect` or `invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<String>,
    /// The most severe reason for doubt according to the tool.
    #[serde(default, rename = "doubt", skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The usage of a target on another machine, where the tool reports it.
    #[serde(skip)]
    pub target: Option<Mean>,
    /// The course of the run, period by period.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
}

/// The result of a search for the load line, in requests per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadLine {
    /// The highest rate that passes, or the highest that did where what lies above is not known.
    pub rate: f64,
    /// With a confidence of 95 % it lies above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// With a confidence of 95 % it lies below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// From so many seconds after an overload all checks passed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_s: Option<f64>,
}

/// Percentiles of the times, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Percentiles {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p75_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_us: Option<f64>,
}

/// The figures of one period of a run, as the tool reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The end of the period, in seconds from the beginning of the load.
    pub at_s: f64,
    /// Responses per second in the period.
    pub rps: f64,
    /// The 99th percentile in the period, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
}

impl Figures {
    /// Answers a second; `None` of a search that found no rate at all.
    pub fn known_rps(&self) -> Option<f64> {
        let is_search = self.verdict.is_some();
        Some(self.rps).filter(|rps| !is_search || *rps > 0.0)
    }
}

impl Percentiles {
    /// Collects the percentiles of a tool by calling `us` for each.
    pub(crate) fn each(mut us: impl FnMut(f64) -> Option<f64>) -> Percentiles {
        Percentiles {
            p50_us: us(50.0),
            p75_us: us(75.0),
            p90_us: us(90.0),
            p95_us: us(95.0),
            p99_us: us(99.0),
            p99_9_us: us(99.9),
        }
    }
}
