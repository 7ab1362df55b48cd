//! All that was measured in a run so far.

use crate::recorder::RecorderSetup;
use crate::tally::{Portion, Tally};
use crate::{MetricId, Sink};
use std::sync::Arc;

/// All that was measured in a run so far.
#[derive(Debug)]
pub struct Totals {
    pub(crate) setup: Arc<RecorderSetup>,
    /// The values by metric, and the checks.
    pub tally: Tally,
}

impl Totals {
    /// Nothing yet.
    pub fn new(setup: Arc<RecorderSetup>) -> Self {
        Totals {
            setup,
            tally: Tally::default(),
        }
    }

    /// Adds what a worker measured; its samples are for the outputs.
    pub fn add(&mut self, portion: Portion) {
        self.tally.merge(&portion.tally);
    }

    /// What the run records, and how.
    pub fn setup(&self) -> &Arc<RecorderSetup> {
        &self.setup
    }

    /// The sink of a metric; `None` without a value.
    pub fn sink(&self, metric: MetricId) -> Option<&Sink> {
        self.tally.sinks.get(metric)
    }

    /// The sink of the metric or submetric of this name, as thresholds name it; `None` without a
    /// value.
    pub fn by_name(&self, name: &str) -> Option<&Sink> {
        match self.setup.submetrics.by_name(name) {
            Some(index) => self.tally.submetric(index),
            None => self.sink(self.setup.registry.by_name(name)?),
        }
    }
}
