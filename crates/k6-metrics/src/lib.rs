//! k6's metrics.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// The index of a metric in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The metrics of every run.
pub mod builtin {
    use super::MetricId;
    /// Iterations.
    pub const ITERATIONS: MetricId = MetricId(0);
    /// Their durations.
    pub const ITERATION_DURATION: MetricId = MetricId(1);
    /// Groups.
    pub const GROUP_DURATION: MetricId = MetricId(2);
    /// Bytes out.
    pub const DATA_SENT: MetricId = MetricId(3);
    /// Iterations that had no user.
    pub const DROPPED_ITERATIONS: MetricId = MetricId(5);
    /// Bytes in.
    pub const DATA_RECEIVED: MetricId = MetricId(4);
}

/// A metric of this name is another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metric '{0}' already exists but with another type")]
pub struct RegisterError(String);

/// The metrics by name.
#[derive(Debug, Default)]
pub struct Registry(Mutex<Vec<(String, MetricType, Contains)>>);

impl Registry {
    /// Registers.
    ///
    /// # Errors
    /// If it is another one.
    pub fn register(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = all.iter().position(|one| one.0 == name) {
            return match all[index].1 == kind {
                true => Ok(MetricId(100 + index as u32)),
                false => Err(RegisterError(name.to_owned())),
            };
        }
        all.push((name.to_owned(), kind, contains));
        Ok(MetricId(99 + all.len() as u32))
    }
}

/// What recorders are made of.
#[derive(Debug, Default)]
pub struct RecorderSetup {
    /// The metrics.
    pub registry: Registry,
}

/// Tags of a sample.
pub trait Tags {
    /// One.
    fn get(&self, key: &str) -> Option<Cow<'_, str>>;
    /// All.
    fn for_each(&self, visit: &mut dyn FnMut(&str, &str));
    /// Metadata.
    fn metadata(&self, _visit: &mut dyn FnMut(&str, &str)) {}
}

/// What was recorded.
#[derive(Debug, Default)]
pub struct Portion {
    /// Values by metric.
    pub values: Vec<(MetricId, f64)>,
    /// Checks.
    pub checks: Vec<(String, bool)>,
}

/// Records.
#[derive(Debug)]
pub struct Recorder(Portion);

impl Recorder {
    /// A new one.
    pub fn new(_setup: Arc<RecorderSetup>) -> Self {
        Recorder(Portion::default())
    }
    /// Adds.
    pub fn add(&mut self, metric: MetricId, value: f64, _at_ns: u64, _tags: &impl Tags) {
        self.0.values.push((metric, value));
    }
    /// A check.
    pub fn check(&mut self, name: &str, passed: bool, _at_ns: u64, _tags: &impl Tags) {
        self.0.checks.push((name.to_owned(), passed));
    }
    /// Takes.
    pub fn take(&mut self) -> Portion {
        std::mem::take(&mut self.0)
    }
}
