//! Conditions on a result: `p99<50ms`, `service.mean<=2ms`, `errors<0.1%`, `5xx<1%`, `rate>=990`,
//! `metric:logins.count>100`.

mod custom;
mod grammar;
mod statuses;

pub use custom::CustomFigure;
pub use grammar::CheckProblem;
pub use statuses::Statuses;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A condition the user set on the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The condition as typed.
    pub text: String,
    /// The name of the requests that the check covers; `None` for all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of the custom metric, where `metric` is [`Metric::Custom`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<String>,
    /// Tags of the requests that the check covers, with their values; empty for all requests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The figure that is compared.
    pub metric: Metric,
    /// The comparison with the bound.
    pub comparison: Comparison,
    /// The bound.
    pub bound: Bound,
}

impl Check {
    /// True if the check covers some requests only, selected by name or tags.
    pub fn is_of_part(&self) -> bool {
        self.custom.is_none() && (self.name.is_some() || !self.tags.is_empty())
    }

    /// True if the check covers requests of this name with these tags.
    pub fn looks_at<'a>(&self, name: &str, tags: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
        let has_name = self.name.as_deref().is_none_or(|own| own == name);
        let is_equal =
            |(tag, value): &(&str, &str)| self.tags.get(*tag).is_some_and(|own| own == value);
        has_name && tags.filter(is_equal).count() == self.tags.len()
    }
}

/// The figure that a check compares with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// A statistic of one of the times of an exchange.
    Time(Clocked, Statistic),
    /// Failed exchanges and rejected responses, as a share of the exchanges that ended or as a
    /// count (the bound's unit decides).
    Errors,
    /// Responses with a status other than 2xx, as a share of all responses or as a count.
    Non2xx,
    /// Responses with one of these statuses, as a share of all responses or as a count.
    Statuses(Statuses),
    /// Answered exchanges a second.
    Rate,
    /// A figure of a metric that a script counts by itself.
    Custom(CustomFigure),
}

impl Metric {
    /// Returns true if the metric counts responses of this status; `None` for a metric that does
    /// not depend on statuses.
    pub fn counts_status(self, status: u16) -> Option<bool> {
        match self {
            Metric::Non2xx => Some(status / 100 != 2),
            Metric::Statuses(statuses) => Some(statuses.includes(status)),
            Metric::Time(..) | Metric::Errors | Metric::Rate | Metric::Custom(_) => None,
        }
    }
}

/// A time of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clocked {
    /// From the intended start.
    #[default]
    Response,
    /// From the send.
    Service,
    /// From the intended start to the send, the part spent waiting for a connection.
    Blocked,
    /// The part of the time from the intended start to the send that Loadline added.
    Lateness,
}

/// A statistic of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The standard deviation.
    Stdev,
    /// The percentile, above 0 and at most 100.
    Percentile(f64),
}

/// The comparison of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The bound of a check, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A time in nanoseconds.
    TimeNs(u64),
    /// A share, 0 to 1 (`0.1%` is 0.001).
    Share(f64),
    /// A count.
    Count(u64),
    /// A rate per second.
    PerSecond(f64),
    /// A number without a unit, or in that of a custom metric.
    Number(f64),
}
