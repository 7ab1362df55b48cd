//! Figures of one name, as Locust keeps them: counts and rounded times.

use pyo3::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::hash::Hash;
use std::time::SystemTime;

/// A key of the response times: a whole number if Locust's own rounding produced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Bucket {
    /// Milliseconds.
    Whole(i64),
    /// The bits of a number that a user's function returned.
    Real(u64),
}

impl Bucket {
    /// Rounds a time in milliseconds as Locust does: to 1 ms below 100 ms, to 10 ms below 1 s, to
    /// 100 ms below 10 s, and to 1 s from there on. Ties are rounded to even, as in Python.
    pub(crate) fn of(ms: f64) -> Bucket {
        let step = match ms {
            ms if ms < 100.0 => 1.0,
            ms if ms < 1_000.0 => 10.0,
            ms if ms < 10_000.0 => 100.0,
            _ => 1_000.0,
        };
        Bucket::Whole((round_to_even(ms, step) * step) as i64)
    }

    /// Returns the bucket for a value that a user's function returned.
    pub(crate) fn given(value: &Bound<'_, PyAny>) -> PyResult<Bucket> {
        match value.extract::<i64>() {
            Ok(whole) => Ok(Bucket::Whole(whole)),
            Err(_) => Ok(Bucket::Real(value.extract::<f64>()?.to_bits())),
        }
    }
}

/// Returns a number divided by `step`, rounded to a whole number, ties to even. The comparison with
/// half a step is exact, because the remainder after whole steps is a floating-point number; a
/// quotient such as a tenth is not.
fn round_to_even(number: f64, step: f64) -> f64 {
    let mut whole = (number / step).floor();
    let mut left = number - whole * step;
    if left < 0.0 {
        whole -= 1.0;
        left += step;
    }
    let half = step / 2.0;
    let is_odd = whole % 2.0 != 0.0;
    if left > half || (left == half && is_odd) {
        return whole + 1.0;
    }
    whole
}

/// Counts by key, in the order of first occurrence.
#[derive(Clone, Debug)]
pub(crate) struct Counts<K> {
    pub(crate) pairs: Vec<(K, u64)>,
    places: HashMap<K, usize>,
}

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Counts {
            pairs: Vec::new(),
            places: HashMap::new(),
        }
    }
}

/// Two counts are equal if each key has the same, whatever came first.
impl<K: Eq + Hash> PartialEq for Counts<K> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(key, count): &(K, u64)| {
            let place = other.places.get(key);
            place.is_some_and(|place| other.pairs[*place].1 == *count)
        };
        self.pairs.len() == other.pairs.len() && self.pairs.iter().all(is_same)
    }
}

impl<K: Serialize> Serialize for Counts<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.pairs.serialize(serializer)
    }
}

impl<'de, K: Deserialize<'de> + Copy + Eq + Hash> Deserialize<'de> for Counts<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Counts::default();
        for (key, count) in Vec::<(K, u64)>::deserialize(deserializer)? {
            counts.count(key, count);
        }
        Ok(counts)
    }
}

impl<K: Copy + Eq + Hash> Counts<K> {
    fn add(&mut self, other: &Counts<K>) {
        let pairs = other.pairs.iter();
        pairs.for_each(|(key, count)| self.count(*key, *count));
    }

    pub(crate) fn count(&mut self, key: K, count: u64) {
        if let Some((last, counted)) = self.pairs.last_mut()
            && *last == key
        {
            *counted += count;
            return;
        }
        let place = *self.places.entry(key).or_insert(self.pairs.len());
        match self.pairs.get_mut(place) {
            Some((_, counted)) => *counted += count,
            None => self.pairs.push((key, count)),
        }
    }
}

/// The statistics of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) without_time: u64,
    pub(crate) failures: u64,
    pub(crate) total_ms: f64,
    pub(crate) least_ms: Option<f64>,
    pub(crate) most_ms: f64,
    pub(crate) bytes: u64,
    pub(crate) times: Counts<Bucket>,
    pub(crate) each_second: Counts<i64>,
    pub(crate) failures_each_second: Counts<i64>,
    pub(crate) started: f64,
    pub(crate) last: Option<f64>,
}

impl Figures {
    /// Creates figures without a request, which begin now.
    pub(crate) fn new() -> Self {
        Figures {
            started: epoch(),
            ..Figures::default()
        }
    }

    /// Counts a request.
    pub(crate) fn log(&mut self, at: f64, time: Option<(f64, Bucket)>, bytes: i64) {
        self.requests += 1;
        self.last = Some(at);
        self.each_second.count(at as i64, 1);
        match time {
            None => self.without_time += 1,
            Some((ms, bucket)) => {
                self.total_ms += ms;
                self.least_ms = Some(self.least_ms.map_or(ms, |least| least.min(ms)));
                self.most_ms = self.most_ms.max(ms);
                self.times.count(bucket, 1);
            }
        }
        self.bytes = self.bytes.saturating_add_signed(bytes);
    }

    /// Adds other figures.
    pub(crate) fn add(&mut self, other: &Figures) {
        self.requests += other.requests;
        self.without_time += other.without_time;
        self.failures += other.failures;
        self.total_ms += other.total_ms;
        let least_ms = [self.least_ms, other.least_ms].into_iter().flatten();
        self.least_ms = least_ms.reduce(f64::min);
        self.most_ms = self.most_ms.max(other.most_ms);
        self.bytes += other.bytes;
        self.times.add(&other.times);
        self.each_second.add(&other.each_second);
        self.failures_each_second.add(&other.failures_each_second);
        self.started = self.started.min(other.started);
        let last = [self.last, other.last].into_iter().flatten();
        self.last = last.reduce(f64::max);
    }

    /// Counts a failure.
    pub(crate) fn log_failure(&mut self, at: f64) {
        self.failures += 1;
        self.failures_each_second.count(at as i64, 1);
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn epoch() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
