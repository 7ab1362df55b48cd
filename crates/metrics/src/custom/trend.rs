//! The distribution of a trend's values in bounded memory.
//!
//! Up to [`EXACT`] values are stored individually, so that percentiles are exact. Further values
//! are *folded* into buckets whose width is 2^-10 of their magnitude: the middle of a bucket is
//! within 0.05 % of each value in it. Adding a value is a push, except when values are folded: sums
//! and extremes of the individual values are computed on demand.

mod coarse;
mod folded;

use super::ExactSum;
use crate::SparseCounts;
use crate::bits::numbers;
use folded::Folded;
use serde::{Deserialize, Serialize};
use std::iter::repeat_n;

/// The maximum number of values that are stored individually.
pub const EXACT: usize = 8192;

/// The values of a trend.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trend {
    #[serde(with = "numbers")]
    raw: Vec<f64>,
    folded: Option<Box<Folded>>,
}

/// The contents of a trend, as files hold them: either values or buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendParts {
    /// The sum of the values.
    pub sum: ExactSum,
    /// The smallest and the largest value.
    pub range: (f64, f64),
    /// The values, if all are stored individually; rising.
    pub exact: Vec<f64>,
    /// The counts of folded values by bucket, as bytes.
    pub folded: Vec<u8>,
}

/// Two trends are equal if they have the same values, whatever came first.
impl PartialEq for Trend {
    fn eq(&self, other: &Trend) -> bool {
        match (self.is_exact(), other.is_exact()) {
            (true, true) => self.sorted() == other.sorted(),
            (false, false) => *self.all_folded() == *other.all_folded(),
            _ => false,
        }
    }
}

impl Trend {
    /// Returns the distribution of these values, each with how often it occurs. Those that are no
    /// finite numbers are left out.
    pub fn of_values(values: impl IntoIterator<Item = (f64, u64)>) -> Trend {
        let mut trend = Trend::default();
        let values = values.into_iter();
        for (value, count) in values.filter(|(value, count)| value.is_finite() && *count > 0) {
            trend.add_often(value, count);
        }
        trend
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if self.raw.len() == EXACT {
            self.fold();
        }
        self.raw.push(value);
    }

    fn add_often(&mut self, value: f64, count: u64) {
        let room = (EXACT - self.raw.len()) as u64;
        match self.folded.is_none() && count <= room {
            true => self.raw.extend(repeat_n(value, count as usize)),
            false => {
                self.fold();
                self.folded.get_or_insert_default().add(value, count);
            }
        }
    }

    /// Adds all values of another trend without loss.
    pub fn merge(&mut self, other: &Trend) {
        self.raw.extend_from_slice(&other.raw);
        if let Some(theirs) = &other.folded {
            self.folded.get_or_insert_default().merge(theirs);
        }
        if self.raw.len() > EXACT {
            self.fold();
        }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        let folded = self.folded.as_ref();
        folded.map_or(0, |folded| folded.count) + self.raw.len() as u64
    }

    /// True if each value is stored.
    pub fn is_exact(&self) -> bool {
        self.folded.is_none()
    }

    /// Returns the sum of the values; rounded in the order in which they were added.
    pub fn sum(&self) -> f64 {
        let kept: f64 = self.raw.iter().sum();
        kept + self.folded.as_ref().map_or(0.0, |folded| folded.sum)
    }

    /// Returns the sum of the values, whatever their order.
    pub fn exact_sum(&self) -> ExactSum {
        let folded = self.folded.as_ref();
        let mut sum = folded.map_or(ExactSum::default(), |folded| folded.exact_sum);
        self.raw.iter().for_each(|value| sum.add(*value));
        sum
    }

    /// Returns the arithmetic mean of the values; `None` without a value.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.exact_sum().value() / count as f64)
    }

    /// True if all values are finite numbers.
    pub fn is_finite(&self) -> bool {
        let folded = self.folded.as_ref();
        let range = folded
            .into_iter()
            .flat_map(|all| [all.min, all.max, all.sum]);
        self.raw.iter().copied().chain(range).all(f64::is_finite)
    }

    /// Returns the smallest value; `None` without a value.
    pub fn min(&self) -> Option<f64> {
        let folded = self.folded.as_ref().map(|folded| folded.min);
        self.raw.iter().copied().chain(folded).reduce(f64::min)
    }

    /// Returns the largest value; `None` without a value.
    pub fn max(&self) -> Option<f64> {
        let folded = self.folded.as_ref().map(|folded| folded.max);
        self.raw.iter().copied().chain(folded).reduce(f64::max)
    }

    /// Returns the percentiles at these shares (0 to 1) as k6 computes them, in their order: linear
    /// between the two values around rank (n - 1) · p; 0 without a value.
    pub fn interpolated(&self, shares: &[f64]) -> Vec<f64> {
        let by_rank = self.by_rank();
        let of = |share: &f64| match self.count() {
            0 => 0.0,
            count => {
                let rank = share.clamp(0.0, 1.0) * (count - 1) as f64;
                let (below, part) = (rank.floor(), rank.fract());
                let low = by_rank(below as u64);
                low + part * (by_rank(rank.ceil() as u64) - low)
            }
        };
        shares.iter().map(of).collect()
    }

    /// Returns the value that `percentile` (0 to 100) percent of all values do not exceed, by the
    /// nearest rank; `None` without a value.
    pub fn percentile(&self, percentile: f64) -> Option<f64> {
        let count = self.count();
        let rank = || SparseCounts::rank(percentile, count) - 1;
        (count > 0).then(|| self.by_rank()(rank()))
    }

    /// Returns the number of values that are greater than this one.
    pub fn beyond(&self, value: f64) -> u64 {
        let kept = self.raw.iter().filter(|own| **own > value).count() as u64;
        kept + self
            .folded
            .as_ref()
            .map_or(0, |folded| folded.beyond(value))
    }

    /// Returns each distinct value with its count, rising; folded values as the middle of their
    /// buckets.
    pub fn steps(&self) -> Vec<(f64, u64)> {
        if !self.is_exact() {
            return self.all_folded().steps();
        }
        let mut steps: Vec<(f64, u64)> = Vec::new();
        for value in self.sorted() {
            match steps.last_mut() {
                Some((last, count)) if *last == value => *count += 1,
                _ => steps.push((value, 1)),
            }
        }
        steps
    }

    /// Returns the contents for a file: the values if each is stored and `exact` are wanted,
    /// otherwise buckets.
    pub fn parts(&self, exact: bool) -> TrendParts {
        let is_exact = exact && self.is_exact();
        TrendParts {
            sum: self.exact_sum(),
            range: (self.min().unwrap_or(0.0), self.max().unwrap_or(0.0)),
            exact: if is_exact { self.sorted() } else { Vec::new() },
            folded: match is_exact {
                true => Vec::new(),
                false => self.all_folded().counts().bytes().to_vec(),
            },
        }
    }

    /// Returns the trend with the contents of a file; `None` if they are invalid.
    pub fn from_parts(parts: &TrendParts) -> Option<Trend> {
        let mut trend = Trend::default();
        if !parts.folded.is_empty() {
            let folded = Folded::from_counts(&parts.folded, parts.sum, parts.range)?;
            trend.folded = Some(Box::new(folded));
        }
        for value in &parts.exact {
            value.is_finite().then(|| trend.add(*value))?;
        }
        Some(trend)
    }

    /// Returns the values in rising order, if each is stored.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.raw.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// Returns the function that finds the value of a rank, from 0.
    fn by_rank(&self) -> Box<dyn Fn(u64) -> f64> {
        if self.is_exact() {
            let sorted = self.sorted();
            return Box::new(move |rank| sorted[rank as usize]);
        }
        let all = self.all_folded();
        Box::new(move |rank| all.at(rank))
    }

    fn all_folded(&self) -> Box<Folded> {
        let mut all = self.folded.clone().unwrap_or_default();
        all.add_all(&self.raw);
        all
    }

    fn fold(&mut self) {
        let folded = self.folded.get_or_insert_default();
        folded.add_all(&self.raw);
        self.raw.clear();
    }
}

#[cfg(test)]
mod tests;
