//! The metrics of a run, by their names.

use std::sync::{Mutex, PoisonError};

/// The index of a metric in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(u32);

/// What is made of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// Their sum.
    Counter,
    /// The last one.
    Gauge,
    /// The share of those that are not zero.
    Rate,
    /// Their distribution.
    Trend,
}

impl MetricType {
    /// Its word in reports.
    pub fn name(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Rate => "rate",
            MetricType::Trend => "trend",
        }
    }
}

/// What a metric's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contains {
    /// Numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

/// The metrics that every run has.
pub mod builtin {
    use super::Contains::{Data, Default, Time};
    use super::MetricType::{Counter, Trend};
    use super::{Contains, MetricId, MetricType};

    /// Iterations that came to their end.
    pub const ITERATIONS: MetricId = MetricId(0);
    /// From the call of the function to the end of all that it began.
    pub const ITERATION_DURATION: MetricId = MetricId(1);
    /// Iterations that no user was free for.
    pub const DROPPED_ITERATIONS: MetricId = MetricId(2);
    /// From the begin to the end of a group.
    pub const GROUP_DURATION: MetricId = MetricId(3);
    /// Bytes that were sent.
    pub const DATA_SENT: MetricId = MetricId(4);
    /// Bytes that were received.
    pub const DATA_RECEIVED: MetricId = MetricId(5);

    /// All of them, in the order of their indices.
    pub(super) const ALL: [(&str, MetricType, Contains); 6] = [
        ("iterations", Counter, Default),
        ("iteration_duration", Trend, Time),
        ("dropped_iterations", Counter, Default),
        ("group_duration", Trend, Time),
        ("data_sent", Counter, Data),
        ("data_received", Counter, Data),
    ];
}

/// A metric of this name is there already, as something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metric '{name}' already exists but with type {}", kind.name())]
pub struct RegisterError {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: MetricType,
}

/// The metrics by name. All users register theirs, and get the same index for the same name.
#[derive(Debug)]
pub struct Registry(Mutex<Vec<(String, MetricType, Contains)>>);

impl Default for Registry {
    /// Has the metrics that are built in.
    fn default() -> Self {
        let all = builtin::ALL.map(|(name, kind, contains)| (name.to_owned(), kind, contains));
        Registry(Mutex::new(all.into()))
    }
}

impl Registry {
    /// The metric of this name, which is made if it is new.
    ///
    /// # Errors
    /// If it is there already, as something else.
    pub fn register(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        // What it guards is whole whoever panicked meanwhile.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = all.iter().position(|(known, ..)| known == name) else {
            all.push((name.to_owned(), kind, contains));
            return Ok(MetricId(all.len() as u32 - 1));
        };
        let (_, known_kind, known_contains) = &all[index];
        match (*known_kind, *known_contains) == (kind, contains) {
            true => Ok(MetricId(index as u32)),
            false => Err(RegisterError {
                name: name.to_owned(),
                kind: *known_kind,
            }),
        }
    }

    /// The name of a metric.
    pub fn name(&self, metric: MetricId) -> Option<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(all.get(metric.0 as usize)?.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_metric() {
        let registry = Registry::default();
        let register = |kind, contains| registry.register("mine", kind, contains);
        let first = register(MetricType::Trend, Contains::Time);
        assert_eq!(register(MetricType::Trend, Contains::Time), first);
        let other = register(MetricType::Rate, Contains::Default).unwrap_err();
        assert_eq!(
            other.to_string(),
            "metric 'mine' already exists but with type trend"
        );
        assert!(register(MetricType::Trend, Contains::Default).is_err());
        assert_eq!(registry.name(first.unwrap()).as_deref(), Some("mine"));
    }

    #[test]
    fn built_in_metrics_have_their_indices() {
        let registry = Registry::default();
        let name = |metric| registry.name(metric).unwrap();
        assert_eq!(name(builtin::ITERATIONS), "iterations");
        assert_eq!(name(builtin::DATA_RECEIVED), "data_received");
    }
}
