//! The summary at the end of a run, in k6's form.
//!
//! `text` prints it, compact or full, and `legacy` as older versions do; `data` creates the JSON
//! for `handleSummary` and for `--summary-export`, and `machine` the newer form of both. All use
//! the same [`Ended`] run.

mod block;
mod data;
mod format;
mod legacy;
mod machine;
mod paint;
mod text;

pub use data::{SummaryContext, export, handle_summary_data, root_group};
pub use format::TimeUnit;
pub use legacy::legacy;
pub use machine::{Described, check_results, machine_readable};
pub use text::text;

use crate::{Contains, Metric, MetricId, Outcome, Sink, Totals};

/// A run that has ended, with the options of its summary.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// The measurements.
    pub totals: &'a Totals,
    /// The results of the thresholds.
    pub outcomes: &'a [Outcome],
    /// The duration of the run, in nanoseconds.
    pub elapsed_ns: u64,
    /// The statistics of a trend to show, such as `avg` and `p(95)`.
    pub trend_stats: &'a [String],
    /// The unit of times; `None` for a suitable unit for each time.
    pub time_unit: Option<TimeUnit>,
    /// True if the text has colours, for a terminal.
    pub has_colours: bool,
}

/// A metric or submetric that the summary shows.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) id: MetricId,
    pub(crate) parent: String,
    /// The tags of a submetric, as in its name.
    pub(crate) suffix: Option<String>,
    pub(crate) contains: Contains,
    pub(crate) sink: Sink,
}

impl Shown {
    /// Returns the whole name.
    pub(crate) fn name(&self) -> String {
        match &self.suffix {
            Some(suffix) => format!("{}{{{suffix}}}", self.parent),
            None => self.parent.clone(),
        }
    }
}

impl Ended<'_> {
    /// Returns the shown metrics by name, each followed by its submetrics: all with values, all
    /// with thresholds or an empty list of them, and the metrics of such submetrics.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let mut shown = Vec::new();
        for (index, metric) in self.totals.setup.registry.all().into_iter().enumerate() {
            self.show(MetricId::of_index(index), &metric, &mut shown);
        }
        shown.sort_by(|a, b| (&a.parent, &a.suffix).cmp(&(&b.parent, &b.suffix)));
        shown
    }

    fn show(&self, id: MetricId, metric: &Metric, shown: &mut Vec<Shown>) {
        let entry = |suffix: Option<&str>, sink: Option<&Sink>| Shown {
            id,
            parent: metric.name.clone(),
            suffix: suffix.map(str::to_owned),
            contains: metric.contains,
            sink: sink.cloned().unwrap_or_else(|| Sink::new(metric.kind)),
        };
        let before = shown.len();
        for index in self.totals.setup.submetrics.of(id) {
            let submetric = &self.totals.setup.submetrics.all()[*index];
            let sink = self.totals.tally.submetric(*index);
            if sink.is_some() || self.is_requested(&submetric.name) {
                shown.push(entry(Some(&submetric.suffix), sink));
            }
        }
        let sink = self.totals.sink(id);
        if sink.is_some() || shown.len() > before || self.is_requested(&metric.name) {
            shown.push(entry(None, sink));
        }
    }

    fn is_requested(&self, name: &str) -> bool {
        self.totals.setup.submetrics.is_requested(name) || self.has_thresholds(name)
    }

    pub(crate) fn has_thresholds(&self, name: &str) -> bool {
        self.outcomes.iter().any(|outcome| outcome.metric == name)
    }
}

#[cfg(test)]
mod tests;
