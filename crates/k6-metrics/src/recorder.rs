//! The recorder of a worker: takes values in, hands them over in portions.

use crate::registry::{MetricId, Registry};
use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

/// What the recorders of a run are made of.
#[derive(Debug, Default)]
pub struct RecorderSetup {
    /// Its metrics.
    pub registry: Registry,
}

/// The tags of a value.
pub trait Tags {
    /// The value of the tag of this name.
    fn get(&self, key: &str) -> Option<Cow<'_, str>>;

    /// Shows all tags, by name and value.
    fn for_each(&self, visit: &mut dyn FnMut(&str, &str));

    /// Shows what goes with the value and is no tag.
    fn metadata(&self, _visit: &mut dyn FnMut(&str, &str)) {}
}

/// What a worker recorded in a while.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portion {
    /// Values of metrics, in their order.
    pub values: Vec<(MetricId, f64)>,
    /// Checks by name, and whether each has passed, in their order.
    pub checks: Vec<(String, bool)>,
}

/// Records what the users of a worker measure.
#[derive(Debug)]
pub struct Recorder {
    portion: Portion,
}

impl Recorder {
    /// A recorder of this run.
    pub fn new(_setup: Arc<RecorderSetup>) -> Self {
        Recorder {
            portion: Portion::default(),
        }
    }

    /// Adds a value that was measured at this instant, in nanoseconds since 1970.
    pub fn add(&mut self, metric: MetricId, value: f64, _at_ns: u64, _tags: &impl Tags) {
        self.portion.values.push((metric, value));
    }

    /// Adds a check that was made at this instant, in nanoseconds since 1970.
    pub fn check(&mut self, name: &str, has_passed: bool, _at_ns: u64, _tags: &impl Tags) {
        self.portion.checks.push((name.to_owned(), has_passed));
    }

    /// What was recorded since the last call.
    pub fn take(&mut self) -> Portion {
        mem::take(&mut self.portion)
    }
}
