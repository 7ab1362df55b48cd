//! The metrics that the scripts of two sides counted by themselves.

use loadline_metrics::{CustomMetric, CustomMetrics, Key};
use loadline_record::Summary;

/// The metrics of two sides. They have no intervals: what a script counts may depend on anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedMetrics {
    /// The metrics of all runs of A.
    pub base: SideMetrics,
    /// The metrics of all runs of B.
    pub with: SideMetrics,
}

/// The metrics of all runs of a side together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideMetrics {
    /// The metrics.
    pub metrics: CustomMetrics,
    /// The time over which rates are taken, in nanoseconds: that of all runs.
    pub rated_ns: u64,
}

impl ComparedMetrics {
    pub(super) fn of<'a>(
        base: impl Iterator<Item = &'a Summary>,
        with: impl Iterator<Item = &'a Summary>,
    ) -> ComparedMetrics {
        ComparedMetrics {
            base: SideMetrics::of(base),
            with: SideMetrics::of(with),
        }
    }

    /// The metrics that both sides have, of the same kind, with A's and B's.
    pub fn common(&self) -> impl Iterator<Item = (&Key, &CustomMetric, &CustomMetric)> {
        let both = self.base.metrics.iter().filter_map(|(key, base)| {
            let with = self.with.metrics.get(key)?;
            Some((key, base, with))
        });
        both.filter(|(_, base, with)| base.kind() == with.kind())
    }

    /// The metrics that B does not have, or has of another kind.
    pub fn only_base(&self) -> Vec<&Key> {
        only(&self.base, &self.with)
    }

    /// The metrics that A does not have, or has of another kind.
    pub fn only_with(&self) -> Vec<&Key> {
        only(&self.with, &self.base)
    }
}

fn only<'a>(side: &'a SideMetrics, other: &SideMetrics) -> Vec<&'a Key> {
    let is_only = |(key, metric): &(&Key, &CustomMetric)| {
        let theirs = other.metrics.get(key);
        theirs.is_none_or(|theirs| theirs.kind() != metric.kind())
    };
    let only = side.metrics.iter().filter(is_only);
    only.map(|(key, _)| key).collect()
}

impl SideMetrics {
    fn of<'a>(runs: impl Iterator<Item = &'a Summary>) -> SideMetrics {
        let mut side = SideMetrics::default();
        for run in runs {
            side.metrics.merge(&run.total.metrics);
            side.rated_ns = side.rated_ns.saturating_add(run.rated_ns());
        }
        side
    }
}
