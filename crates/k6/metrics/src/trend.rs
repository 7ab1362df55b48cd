//! The distribution of a trend's values in bounded memory.
//!
//! Up to [`EXACT`] values are stored individually; percentiles are then k6's: linear between the
//! two values around rank (n - 1) · p. Further values are folded into buckets whose width is 2^-10
//! of their magnitude, so that the middle of a bucket is within 0.05 % of each value in it. Adding
//! a value is a push, except when values are folded: sums and extremes of the individual values are
//! computed on demand.

use crate::exact::{number, numbers};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The maximum number of values that are stored individually.
pub(crate) const EXACT: usize = 8192;
/// The number of low bits that a bucket ignores: all but sign, exponent and 10 bits.
const SHIFT: u32 = 42;
/// The number of buckets in a page, as a power of two.
const PAGE_BITS: u32 = 6;

type Page = [u64; 1 << PAGE_BITS];

/// The values of a trend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    #[serde(with = "numbers")]
    raw: Vec<f64>,
    folded: Option<Box<Folded>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Folded {
    count: u64,
    #[serde(with = "number")]
    sum: f64,
    #[serde(with = "number")]
    min: f64,
    #[serde(with = "number")]
    max: f64,
    /// The counts by bucket; pages without a count are absent.
    #[serde(serialize_with = "to_counts", deserialize_with = "of_counts")]
    pages: BTreeMap<u32, Box<Page>>,
}

impl Default for Folded {
    fn default() -> Self {
        Folded {
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            pages: BTreeMap::new(),
        }
    }
}

impl Trend {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        if self.raw.len() == EXACT {
            self.fold();
        }
        self.raw.push(value);
    }

    /// Adds all values of another trend.
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
        self.raw.len() as u64 + self.folded.as_ref().map_or(0, |folded| folded.count)
    }

    /// Returns the values, each with its count: folded values as the middle of their buckets.
    pub fn values(&self) -> impl Iterator<Item = (f64, u64)> {
        let folded = self.folded.iter().flat_map(|folded| {
            let buckets = folded.buckets().filter(|(_, count)| *count > 0);
            buckets.map(|(bucket, count)| (folded.middle(bucket), count))
        });
        self.raw.iter().map(|value| (*value, 1)).chain(folded)
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> f64 {
        let kept: f64 = self.raw.iter().sum();
        kept + self.folded.as_ref().map_or(0.0, |folded| folded.sum)
    }

    /// Returns the mean of the values; 0 without a value.
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum() / count as f64,
        }
    }

    /// Returns the smallest value; 0 without a value.
    pub fn min(&self) -> f64 {
        let first = self
            .folded
            .as_ref()
            .map_or(f64::INFINITY, |folded| folded.min);
        self.or_zero(self.raw.iter().copied().fold(first, f64::min))
    }

    /// Returns the largest value; 0 without a value.
    pub fn max(&self) -> f64 {
        let first = self
            .folded
            .as_ref()
            .map_or(f64::NEG_INFINITY, |folded| folded.max);
        self.or_zero(self.raw.iter().copied().fold(first, f64::max))
    }

    /// True if percentiles are exact, as in k6.
    pub fn is_exact(&self) -> bool {
        self.folded.is_none()
    }

    /// Returns the percentiles at these shares (0 to 1), in their order; 0 without a value.
    pub fn percentiles(&self, shares: &[f64]) -> Vec<f64> {
        match &self.folded {
            None => {
                let mut sorted = self.raw.clone();
                sorted.sort_by(f64::total_cmp);
                let at = |rank: u64| sorted[rank as usize];
                self.interpolate(shares, at)
            }
            Some(folded) => {
                let mut all = (**folded).clone();
                self.raw.iter().for_each(|value| all.add(*value));
                self.interpolate(shares, |rank| all.at(rank))
            }
        }
    }

    fn interpolate(&self, shares: &[f64], at: impl Fn(u64) -> f64) -> Vec<f64> {
        let count = self.count();
        let of = |share: &f64| match count {
            0 => 0.0,
            _ => {
                let rank = share.clamp(0.0, 1.0) * (count - 1) as f64;
                let (below, part) = (rank.floor(), rank.fract());
                let low = at(below as u64);
                low + part * (at(rank.ceil() as u64) - low)
            }
        };
        shares.iter().map(of).collect()
    }

    fn or_zero(&self, value: f64) -> f64 {
        if self.count() == 0 { 0.0 } else { value }
    }

    fn fold(&mut self) {
        let folded = self.folded.get_or_insert_default();
        self.raw.drain(..).for_each(|value| folded.add(value));
    }
}

impl Folded {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        *self.bucket(bucket_of(value)) += 1;
    }

    fn bucket(&mut self, bucket: u32) -> &mut u64 {
        let page = self.pages.entry(bucket >> PAGE_BITS);
        let page = page.or_insert_with(|| Box::new([0; 1 << PAGE_BITS]));
        &mut page[(bucket & ((1 << PAGE_BITS) - 1)) as usize]
    }

    fn merge(&mut self, other: &Folded) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (number, theirs) in &other.pages {
            let ours = self.pages.entry(*number);
            let ours = ours.or_insert_with(|| Box::new([0; 1 << PAGE_BITS]));
            ours.iter_mut()
                .zip(theirs.iter())
                .for_each(|(our, their)| *our += their);
        }
    }

    /// Returns the value of this rank, from 0, with an error of at most 0.05 %.
    fn at(&self, rank: u64) -> f64 {
        let mut passed = 0;
        for (bucket, count) in self.buckets() {
            passed += count;
            if passed > rank {
                return self.middle(bucket);
            }
        }
        self.max
    }

    /// Returns the number in the middle of a bucket, limited to the range of the values.
    fn middle(&self, bucket: u32) -> f64 {
        middle_of(bucket).clamp(self.min, self.max)
    }

    /// Returns all buckets of the existing pages with their counts, in rising order.
    fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.pages.iter().flat_map(|(page, counts)| {
            let first = page << PAGE_BITS;
            counts
                .iter()
                .enumerate()
                .map(move |(index, count)| (first + index as u32, *count))
        })
    }
}

/// Serialises pages for another process: buckets with their counts.
fn to_counts<S: Serializer>(pages: &BTreeMap<u32, Box<Page>>, to: S) -> Result<S::Ok, S::Error> {
    let buckets = pages.iter().flat_map(|(page, counts)| {
        let numbered = (page << PAGE_BITS..).zip(counts.iter());
        numbered.filter(|(_, count)| **count > 0)
    });
    // A format without names needs the length first.
    to.collect_seq(buckets.collect::<Vec<_>>())
}

fn of_counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<u32, Box<Page>>, D::Error> {
    let mut folded = Folded::default();
    for (bucket, count) in Vec::<(u32, u64)>::deserialize(from)? {
        *folded.bucket(bucket) += count;
    }
    Ok(folded.pages)
}

/// Returns the bucket of a number; buckets are in the order of their numbers.
fn bucket_of(value: f64) -> u32 {
    let bits = value.to_bits();
    let ordered = match value.is_sign_negative() {
        true => !bits,
        false => bits | 1 << 63,
    };
    (ordered >> SHIFT) as u32
}

/// Returns the number in the middle of a bucket; 0 for the bucket of 0.
fn middle_of(bucket: u32) -> f64 {
    if bucket == bucket_of(0.0) || bucket == bucket_of(-0.0) {
        return 0.0;
    }
    let ordered = (u64::from(bucket) << SHIFT) + (1 << (SHIFT - 1));
    let bits = match ordered >> 63 {
        1 => ordered & !(1 << 63),
        _ => !ordered,
    };
    f64::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(values: impl IntoIterator<Item = f64>) -> Trend {
        let mut trend = Trend::default();
        values.into_iter().for_each(|value| trend.add(value));
        trend
    }

    #[test]
    fn nothing_is_zero() {
        let nothing = Trend::default();
        assert_eq!(
            (nothing.mean(), nothing.min(), nothing.max()),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(nothing.percentiles(&[0.5]), [0.0]);
    }

    #[test]
    fn percentiles_of_few_values_lie_between_the_two_around_their_rank() {
        let some = trend([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(
            some.percentiles(&[0.0, 0.5, 0.9, 1.0]),
            [1.0, 2.5, 3.7, 4.0]
        );
    }

    #[test]
    fn many_values_are_known_to_a_thousandth() {
        let many = trend((1..=50_000).map(|n| f64::from(n) / 7.0 - 100.0));
        assert!(!many.is_exact() && many.count() == 50_000);
        for share in [0.0, 0.001, 0.01, 0.5, 0.9, 0.999, 1.0] {
            let exact = (1.0 + share * 49_999.0) / 7.0 - 100.0;
            let found = many.percentiles(&[share])[0];
            assert!(
                (found - exact).abs() <= exact.abs() * 1e-3 + 1e-9,
                "{found} {exact}"
            );
        }
    }

    #[test]
    fn a_trend_comes_back_from_another_process_as_it_was() {
        let few = [f64::INFINITY, -0.0, 1.0 / 3.0];
        for own in [trend(few), trend((0..20_000).map(|n| f64::from(n) - 99.5))] {
            let sent = postcard::to_stdvec(&own).unwrap();
            assert_eq!(postcard::from_bytes::<Trend>(&sent).unwrap(), own);
        }
    }

    #[test]
    fn merging_loses_nothing() {
        let values = |part: u32| (0..30_000).filter(move |n| n % 3 == part).map(f64::from);
        let mut merged = trend(values(0));
        merged.merge(&trend(values(1)));
        merged.merge(&trend(values(2)));
        let all = trend((0..30_000).map(f64::from));
        assert_eq!((merged.count(), merged.sum()), (all.count(), all.sum()));
        let shares = [0.1, 0.5, 0.99];
        assert_eq!(merged.percentiles(&shares), all.percentiles(&shares));
    }
}
