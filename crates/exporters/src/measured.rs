//! Series by name and labels: the neutral form of what was measured, before any format.
//!
//! The values of an interval merge with those of the next one without loss, so that an interval, a
//! longer time and the whole run are the same type. The number of series is bounded: values of
//! series without room are added to one more series of their metric, named `(other)`.

use crate::Histogram;
use loadline_reactor::let_workers_run;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most series of an exporter, in addition to those of values without room.
pub const MOST_SERIES: usize = 10_000;

/// Names with values, in the order of the names.
pub type Labels = Arc<[(String, String)]>;

/// What identifies a series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// The metric, without a prefix.
    pub metric: Arc<str>,
    /// The unit of its values.
    pub unit: Unit,
    /// The labels.
    pub labels: Labels,
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Numbers.
    None,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
}

/// What was measured of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The sum of what was added.
    Counter(f64),
    /// The last value, and when it was set, in nanoseconds since 1970.
    Gauge(f64, u64),
    /// How many values were not zero, and how many there are.
    Rate(u64, u64),
    /// A distribution.
    Histogram(Box<Histogram>),
}

impl Value {
    /// Adds what was measured later; a value of another kind is left out.
    fn merge(&mut self, other: &Value) {
        match (self, other) {
            (Value::Counter(own), Value::Counter(other)) => *own += other,
            (Value::Gauge(own, own_ns), Value::Gauge(other, other_ns)) if other_ns >= own_ns => {
                (*own, *own_ns) = (*other, *other_ns);
            }
            (Value::Rate(own, own_all), Value::Rate(other, other_all)) => {
                *own = own.saturating_add(*other);
                *own_all = own_all.saturating_add(*other_all);
            }
            (Value::Histogram(own), Value::Histogram(other)) => own.merge(other),
            _ => {}
        }
    }
}

/// Series with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    series: BTreeMap<SeriesKey, Value>,
    /// True if values were added to the series `(other)` for lack of room.
    overflowed: bool,
}

impl Measured {
    /// True if there is no series.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Returns each series, in the order of the metrics and labels.
    pub fn iter(&self) -> impl Iterator<Item = (&SeriesKey, &Value)> {
        self.series.iter().inspect(|_| let_workers_run())
    }

    /// True if values were added to a series `(other)` for lack of room.
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds a value to its series.
    pub fn add(&mut self, key: SeriesKey, value: Value) {
        if let Some(own) = self.series.get_mut(&key) {
            return own.merge(&value);
        }
        if self.series.len() < MOST_SERIES {
            self.series.insert(key, value);
            return;
        }
        self.overflowed = true;
        let key = SeriesKey {
            labels: Arc::new([("name".to_owned(), "(other)".to_owned())]),
            ..key
        };
        match self.series.get_mut(&key) {
            Some(own) => own.merge(&value),
            None => drop(self.series.insert(key, value)),
        }
    }

    /// Removes the exemplars, which belong to one message.
    pub(crate) fn forget_exemplars(&mut self) {
        for value in self.series.values_mut() {
            if let Value::Histogram(histogram) = value {
                histogram.forget_exemplars();
            }
        }
    }

    /// Adds all that was measured later.
    pub fn merge(&mut self, other: &Measured) {
        self.overflowed |= other.overflowed;
        for (key, value) in other.iter() {
            match self.series.get_mut(key) {
                Some(own) => own.merge(value),
                None => self.add(key.clone(), value.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(metric: &str, name: &str) -> SeriesKey {
        SeriesKey {
            metric: metric.into(),
            unit: Unit::None,
            labels: Arc::new([("name".to_owned(), name.to_owned())]),
        }
    }

    fn only(measured: &Measured, key: &SeriesKey) -> Value {
        let found = measured.iter().find(|(one, _)| *one == key);
        found.expect("a series").1.clone()
    }

    #[test]
    fn values_of_a_series_merge_by_their_kind() {
        let mut sum = Measured::default();
        let distribution = |value| {
            let mut histogram = Histogram::default();
            histogram.add(value, 1);
            Value::Histogram(Box::new(histogram))
        };
        for value in [1.0, 2.0] {
            let mut next = Measured::default();
            next.add(key("counter", "a"), Value::Counter(value));
            next.add(key("gauge", "a"), Value::Gauge(value, 5));
            next.add(key("rate", "a"), Value::Rate(1, 2));
            next.add(key("trend", "a"), distribution(value));
            sum.merge(&next);
        }
        assert_eq!(only(&sum, &key("counter", "a")), Value::Counter(3.0));
        assert_eq!(only(&sum, &key("gauge", "a")), Value::Gauge(2.0, 5));
        assert_eq!(only(&sum, &key("rate", "a")), Value::Rate(2, 4));
        let Value::Histogram(histogram) = only(&sum, &key("trend", "a")) else {
            panic!("a distribution");
        };
        assert_eq!((histogram.count(), histogram.sum()), (2, 3.0));
    }

    #[test]
    fn an_older_value_does_not_replace_a_gauge() {
        let mut sum = Measured::default();
        for (value, at_ns) in [(1.0, 9), (2.0, 3)] {
            sum.add(key("gauge", "a"), Value::Gauge(value, at_ns));
        }
        assert_eq!(only(&sum, &key("gauge", "a")), Value::Gauge(1.0, 9));
    }

    #[test]
    fn what_has_no_room_is_added_to_one_more_series() {
        let mut sum = Measured::default();
        for index in 0..MOST_SERIES + 7 {
            sum.add(key("requests", &index.to_string()), Value::Counter(1.0));
        }
        sum.add(key("requests", "3"), Value::Counter(1.0));
        assert!(sum.has_overflowed());
        assert_eq!(sum.iter().count(), MOST_SERIES + 1);
        assert_eq!(only(&sum, &key("requests", "(other)")), Value::Counter(7.0));
        assert_eq!(only(&sum, &key("requests", "3")), Value::Counter(2.0));
    }
}
