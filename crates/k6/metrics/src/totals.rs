//! The measurements of a run so far.

use crate::recorder::RecorderSetup;
use crate::tally::{Portion, Tally};
use crate::{Contains, MetricId, Sink};
use std::sync::Arc;

/// The measurements of a run so far.
#[derive(Debug)]
pub struct Totals {
    pub(crate) setup: Arc<RecorderSetup>,
    /// The values by metric, and the checks.
    pub tally: Tally,
}

/// A metric or submetric that has values.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The name; the name of a submetric has its tags in braces.
    pub name: String,
    /// The unit of its values.
    pub contains: Contains,
    /// The aggregated values.
    pub sink: &'a Sink,
}

impl Totals {
    /// Creates totals without values.
    pub fn new(setup: Arc<RecorderSetup>) -> Self {
        Totals {
            setup,
            tally: Tally::default(),
        }
    }

    /// Adds the measurements of a worker, without its samples, which are for the outputs.
    pub fn add(&mut self, portion: &Portion) {
        self.tally.merge(&portion.tally);
    }

    /// Returns the setup of the run's recorders.
    pub fn setup(&self) -> &Arc<RecorderSetup> {
        &self.setup
    }

    /// Returns the sink of a metric; `None` without a value.
    pub fn sink(&self, metric: MetricId) -> Option<&Sink> {
        self.tally.sinks.get(metric)
    }

    /// Returns all metrics and submetrics that have values, each metric before its submetrics.
    pub fn observed(&self) -> Vec<Observed<'_>> {
        let mut found = Vec::new();
        for (index, metric) in self.setup.registry.all().into_iter().enumerate() {
            let id = MetricId::of_index(index);
            let own = self.sink(id).map(|sink| (metric.name.clone(), sink));
            let submetrics = self.setup.submetrics.of(id).iter().filter_map(|index| {
                let name = self.setup.submetrics.all()[*index].name.clone();
                Some((name, self.tally.submetric(*index)?))
            });
            found.extend(
                own.into_iter()
                    .chain(submetrics)
                    .map(|(name, sink)| Observed {
                        name,
                        contains: metric.contains,
                        sink,
                    }),
            );
        }
        found
    }

    /// Returns the sink of the metric or submetric with this name, as thresholds write it; `None`
    /// without a value.
    pub fn by_name(&self, name: &str) -> Option<&Sink> {
        match self.setup.submetrics.by_name(name) {
            Some(index) => self.tally.submetric(index),
            None => self.sink(self.setup.registry.by_name(name)?),
        }
    }
}
