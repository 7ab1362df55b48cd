//! The custom metrics of an interval or a run, by key.

use super::CustomMetric;
use crate::Key;
use std::collections::BTreeMap;

/// Custom metrics by key. Sets merge without loss; values whose metric has no room are counted.
#[derive(Clone, Debug, Default)]
pub struct CustomMetrics {
    metrics: BTreeMap<Key, CustomMetric>,
    /// The highest number of metrics; `None` in a set without a bound.
    most: Option<u32>,
    /// The number of values that were left out, because there was no room for their metric, or
    /// because the metric is of another kind elsewhere.
    left_out: u64,
}

/// Two sets are equal if they hold the same metrics, whatever their bounds.
impl PartialEq for CustomMetrics {
    fn eq(&self, other: &CustomMetrics) -> bool {
        self.metrics == other.metrics && self.left_out == other.left_out
    }
}

impl CustomMetrics {
    /// Creates a set with room for `most` metrics.
    pub fn new(most: u32) -> CustomMetrics {
        CustomMetrics {
            most: Some(most),
            ..CustomMetrics::default()
        }
    }

    /// True if there is no metric, and no value was left out.
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty() && self.left_out == 0
    }

    /// Returns the metric of this key.
    pub fn get(&self, key: &Key) -> Option<&CustomMetric> {
        self.metrics.get(key)
    }

    /// Returns every metric, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &CustomMetric)> {
        self.metrics.iter()
    }

    /// Returns the number of values that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds to the number of values that were left out.
    pub fn leave_out(&mut self, values: u64) {
        self.left_out = self.left_out.saturating_add(values);
    }

    /// Adds a metric; if there is no room, or a metric of another kind, its values are left out.
    pub fn add(&mut self, key: &Key, metric: &CustomMetric) {
        let has_room = self.has_room();
        let is_added = match self.metrics.get_mut(key) {
            Some(own) => own.merge(metric),
            None if has_room => {
                self.metrics.insert(key.clone(), metric.clone());
                true
            }
            None => false,
        };
        if !is_added {
            self.leave_out(metric.count());
        }
    }

    /// Adds all metrics of another set. The larger bound applies to the result.
    pub fn merge(&mut self, other: &CustomMetrics) {
        self.most = self.most.max(other.most);
        self.leave_out(other.left_out);
        for (key, metric) in &other.metrics {
            self.add(key, metric);
        }
    }

    fn has_room(&self) -> bool {
        let most = self.most;
        most.is_none_or(|most| self.metrics.len() < most as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CustomRecorder, MetricKind, MetricUnit};
    use proptest::prelude::*;

    const METRICS: [(&str, MetricKind); 4] = [
        ("a", MetricKind::Trend),
        ("b", MetricKind::Counter),
        ("c", MetricKind::Rate),
        ("d", MetricKind::Gauge),
    ];

    /// Records values of the four metrics, each at an instant, as one worker.
    fn recorded(values: &[(usize, f64, u64)]) -> CustomMetrics {
        let mut recorder = CustomRecorder::new(10);
        for (metric, value, at_ns) in values {
            let (name, kind) = METRICS[*metric];
            let key = Key::new(name).unwrap();
            let id = recorder.define(&key, kind, MetricUnit::None).unwrap();
            recorder.add(id, *value, *at_ns);
        }
        recorder.take()
    }

    fn values() -> impl Strategy<Value = Vec<(usize, f64, u64)>> {
        let value = prop_oneof![Just(0.0), -1e6..1e6_f64];
        prop::collection::vec((0..4_usize, value, 0..1_000_u64), 0..30)
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative_and_nothing_is_its_identity(
            [a, b, c] in [values(), values(), values()]
        ) {
            let [a, b, c] = [a, b, c].map(|values| recorded(&values));
            let sum = |parts: &[&CustomMetrics]| {
                let mut sum = CustomMetrics::default();
                parts.iter().for_each(|part| sum.merge(part));
                sum
            };
            prop_assert_eq!(sum(&[&a, &b, &c]), sum(&[&c, &a, &b]));
            prop_assert_eq!(sum(&[&sum(&[&a, &b]), &c]), sum(&[&a, &sum(&[&b, &c])]));
            prop_assert_eq!(sum(&[&a, &CustomMetrics::default()]), a);
        }

        #[test]
        fn workers_together_saw_what_one_would_have_seen(mut all in values(), at in 0..30_usize) {
            all.sort_by_key(|(_, _, at_ns)| *at_ns);
            all.dedup_by_key(|(_, _, at_ns)| *at_ns);
            let (one, other) = all.split_at(at.min(all.len()));
            let mut sum = recorded(other);
            sum.merge(&recorded(one));
            prop_assert_eq!(sum, recorded(&all));
        }
    }

    #[test]
    fn what_has_no_room_or_another_kind_is_counted() {
        let mut set = CustomMetrics::new(1);
        let both = recorded(&[(1, 2.0, 0), (0, 1.0, 0), (0, 1.0, 0)]);
        both.iter().for_each(|(key, metric)| set.add(key, metric));
        assert_eq!((set.iter().count(), set.left_out()), (1, 1));
        let mut as_trend = CustomMetrics::default();
        let counter = recorded(&[(1, 2.0, 0)]);
        let counter = counter.get(&Key::new("b").unwrap()).unwrap();
        as_trend.add(&Key::new("a").unwrap(), counter);
        as_trend.merge(&recorded(&[(0, 1.0, 0), (0, 1.0, 0)]));
        assert_eq!(as_trend.left_out(), 2);
    }
}
