//! The custom metrics of one worker: receives values, returns a set for each interval.

use super::{
    Counter, CustomMetric, CustomMetrics, Gauge, MetricKind, MetricUnit, Rate, Trend, Values,
};
use crate::Key;
use std::collections::HashMap;
use std::mem;

/// The index of a metric in the [`CustomRecorder`] that defined it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricId(u32);

impl MetricId {
    /// The id of metrics that have no room: their values are only counted as left out.
    const NO_ROOM: MetricId = MetricId(u32::MAX);
}

/// The error of a name that was defined before with another kind, which it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherKind(pub MetricKind);

/// Records the custom metrics of one worker.
#[derive(Clone, Debug)]
pub struct CustomRecorder {
    ids: HashMap<Key, MetricId>,
    /// The kind that each name was first defined with.
    kinds: HashMap<Box<str>, MetricKind>,
    live: Vec<(Key, LiveMetric)>,
    most: u32,
    left_out: u64,
    /// True after the end of the measured part.
    is_draining: bool,
}

/// A metric in the running interval.
#[derive(Clone, Debug)]
struct LiveMetric {
    unit: MetricUnit,
    values: LiveValues,
}

#[derive(Clone, Debug)]
enum LiveValues {
    Trend(Trend),
    Counter(Counter),
    Rate(Rate),
    /// Kept from one interval to the next, because the value stays valid.
    Gauge(Option<Gauge>),
}

impl CustomRecorder {
    /// Creates a recorder with room for `most` metrics.
    pub fn new(most: u32) -> CustomRecorder {
        CustomRecorder {
            ids: HashMap::new(),
            kinds: HashMap::new(),
            live: Vec::new(),
            most,
            left_out: 0,
            is_draining: false,
        }
    }

    /// True if no metric was defined.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Returns the metric of this key; a new one is defined. Costs a hash, so call it once for each
    /// key. All metrics of a name must be of one kind.
    pub fn define(
        &mut self,
        key: &Key,
        kind: MetricKind,
        unit: MetricUnit,
    ) -> Result<MetricId, OtherKind> {
        let first = *self.kinds.entry(key.name().into()).or_insert(kind);
        if first != kind {
            return Err(OtherKind(first));
        }
        if let Some(id) = self.ids.get(key) {
            return Ok(*id);
        }
        if self.live.len() >= self.most as usize {
            return Ok(MetricId::NO_ROOM);
        }
        let id = MetricId(self.live.len() as u32);
        self.live.push((key.clone(), LiveMetric::new(kind, unit)));
        self.ids.insert(key.clone(), id);
        Ok(id)
    }

    /// Adds a value, a finite number, at this time in nanoseconds since 1970.
    pub fn add(&mut self, id: MetricId, value: f64, at_ns: u64) {
        match self.live.get_mut(id.0 as usize) {
            Some((_, metric)) => metric.values.add(value, at_ns, !self.is_draining),
            None => self.left_out += 1,
        }
    }

    /// Begins a run: values recorded before belong to it.
    pub fn begin(&mut self) {
        self.is_draining = false;
    }

    /// Ends the measured part: later values belong to the drain.
    pub fn drain(&mut self) {
        self.is_draining = true;
    }

    /// Returns the values recorded since the last call. Metrics without a value are included.
    pub fn take(&mut self) -> CustomMetrics {
        let mut set = CustomMetrics::new(self.most);
        for (key, metric) in &mut self.live {
            set.add(key, &metric.take());
        }
        set.leave_out(mem::take(&mut self.left_out));
        set
    }
}

impl LiveMetric {
    fn new(kind: MetricKind, unit: MetricUnit) -> LiveMetric {
        let values = match kind {
            MetricKind::Trend => LiveValues::Trend(Trend::default()),
            MetricKind::Counter => LiveValues::Counter(Counter::default()),
            MetricKind::Rate => LiveValues::Rate(Rate::default()),
            MetricKind::Gauge => LiveValues::Gauge(None),
        };
        LiveMetric { unit, values }
    }

    fn take(&mut self) -> CustomMetric {
        let values = match &mut self.values {
            LiveValues::Trend(trend) => Values::Trend(mem::take(trend)),
            LiveValues::Counter(counter) => Values::Counter(mem::take(counter)),
            LiveValues::Rate(rate) => Values::Rate(mem::take(rate)),
            LiveValues::Gauge(gauge) => {
                let taken = *gauge;
                if let Some(gauge) = gauge {
                    (gauge.min, gauge.max) = (gauge.last, gauge.last);
                }
                Values::Gauge(taken)
            }
        };
        CustomMetric {
            unit: self.unit,
            values,
        }
    }
}

impl LiveValues {
    fn add(&mut self, value: f64, at_ns: u64, is_in_window: bool) {
        match self {
            LiveValues::Trend(trend) => trend.add(value),
            LiveValues::Counter(counter) => {
                counter.count += 1;
                counter.sum.add(value);
                if is_in_window {
                    counter.in_window.add(value);
                }
            }
            LiveValues::Rate(rate) => {
                rate.count += 1;
                rate.nonzero += u64::from(value != 0.0);
            }
            LiveValues::Gauge(gauge) => {
                let (min, max) = gauge.map_or((value, value), |gauge| (gauge.min, gauge.max));
                *gauge = Some(Gauge {
                    last: value,
                    at_ns,
                    min: min.min(value),
                    max: max.max(value),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    fn define(recorder: &mut CustomRecorder, name: &str, kind: MetricKind) -> MetricId {
        let id = recorder.define(&key(name), kind, MetricUnit::None);
        id.unwrap()
    }

    #[test]
    fn a_name_has_one_kind() {
        let mut recorder = CustomRecorder::new(5);
        let id = define(&mut recorder, "hits", MetricKind::Counter);
        assert_eq!(id, define(&mut recorder, "hits", MetricKind::Counter));
        let other = recorder.define(&key("hits"), MetricKind::Gauge, MetricUnit::None);
        assert_eq!(other, Err(OtherKind(MetricKind::Counter)));
    }

    #[test]
    fn values_without_room_are_counted() {
        let mut recorder = CustomRecorder::new(1);
        define(&mut recorder, "hits", MetricKind::Counter);
        let none = define(&mut recorder, "misses", MetricKind::Counter);
        recorder.add(none, 1.0, 0);
        recorder.add(none, 1.0, 0);
        assert_eq!(recorder.take().left_out(), 2);
        assert_eq!(recorder.take().left_out(), 0);
    }

    #[test]
    fn a_counter_begins_anew_and_a_gauge_stays() {
        let mut recorder = CustomRecorder::new(5);
        let hits = define(&mut recorder, "hits", MetricKind::Counter);
        let queue = define(&mut recorder, "queue", MetricKind::Gauge);
        recorder.add(hits, 2.5, 10);
        recorder.add(queue, 7.0, 10);
        recorder.add(queue, 3.0, 20);
        recorder.take();
        recorder.drain();
        recorder.add(hits, 4.0, 30);
        let set = recorder.take();
        let Values::Counter(hits) = set.get(&key("hits")).unwrap().values else {
            panic!("{set:?}");
        };
        assert_eq!((hits.sum.value(), hits.in_window.value()), (4.0, 0.0));
        let queue = &set.get(&key("queue")).unwrap().values;
        let stays = Gauge {
            last: 3.0,
            at_ns: 20,
            min: 3.0,
            max: 3.0,
        };
        assert_eq!(*queue, Values::Gauge(Some(stays)));
    }

    #[test]
    fn a_rate_counts_what_is_not_zero() {
        let mut recorder = CustomRecorder::new(5);
        let ok = define(&mut recorder, "ok", MetricKind::Rate);
        for value in [1.0, 0.0, 1.0, -2.0] {
            recorder.add(ok, value, 0);
        }
        let set = recorder.take();
        let Values::Rate(ok) = set.get(&key("ok")).unwrap().values else {
            panic!("{set:?}");
        };
        assert_eq!(ok.share(), Some(0.75));
    }
}
