//! What a run measured, by the tool's own account.

use serde::{Deserialize, Serialize};

/// What a run measured, by the tool's own account. What a tool does not tell is `None`. Times are
/// in microseconds: from the intended start where a tool knows it, else from the send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Answers a second.
    pub rps: f64,
    /// How long the load lasted, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<u64>,
    /// Requests without a whole response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Responses with a status of 400 or above; for some tools all but 2xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_statuses: Option<u64>,
    /// The mean time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Percentiles of the times.
    pub percentiles: Percentiles,
    /// The step in which the tool tells percentiles, where it is a coarse one: 1 000 for whole
    /// milliseconds. A smaller value is only known to be smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution_us: Option<f64>,
    /// The longest time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// Whether the tool believes itself: `valid`, `suspect` or `invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<String>,
    /// The gravest reason why it does not.
    #[serde(default, rename = "doubt", skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// How the run went, moment by moment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
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

/// What a tool told of one stretch of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Its end, in seconds from the begin of the load.
    pub at_s: f64,
    /// Answers a second in it.
    pub rps: f64,
    /// The 99th percentile in it, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
}

impl Percentiles {
    /// The percentiles that a tool tells, by asking for each.
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
