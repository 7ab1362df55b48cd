//! Values in buckets whose width is 2^-10 of their magnitude, with either sign.

use crate::SparseCounts;
use crate::bits::number;
use crate::custom::ExactSum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The number of low bits that a bucket ignores: all but sign, exponent and 10 bits.
const SHIFT: u32 = 42;
/// The last bucket.
const LAST: u32 = (u64::MAX >> SHIFT) as u32;
/// The number of buckets in a page, as a power of two.
const PAGE_BITS: u32 = 6;

type Page = [u64; 1 << PAGE_BITS];

/// Folded values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Folded {
    pub(super) count: u64,
    /// The sum, rounded in the order in which values were added.
    #[serde(with = "number")]
    pub(super) sum: f64,
    pub(super) exact_sum: ExactSum,
    #[serde(with = "number")]
    pub(super) min: f64,
    #[serde(with = "number")]
    pub(super) max: f64,
    /// The counts by bucket; pages without a count are absent.
    #[serde(serialize_with = "to_counts", deserialize_with = "of_counts")]
    pages: BTreeMap<u32, Box<Page>>,
}

impl Default for Folded {
    fn default() -> Self {
        Folded {
            count: 0,
            sum: 0.0,
            exact_sum: ExactSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            pages: BTreeMap::new(),
        }
    }
}

/// Two are equal if they have the same counts and extremes, whatever came first.
impl PartialEq for Folded {
    fn eq(&self, other: &Folded) -> bool {
        let figures = |one: &Folded| (one.count, one.exact_sum, one.min, one.max);
        figures(self) == figures(other) && self.pages == other.pages
    }
}

impl Folded {
    pub(super) fn add(&mut self, value: f64, count: u64) {
        self.count += count;
        self.sum += value * count as f64;
        self.exact_sum.add_often(value, count);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        *self.bucket(bucket_of(value)) += count;
    }

    /// Adds these values. Times that are 0 in most requests, as those of a handshake, take one step
    /// together.
    pub(super) fn add_all(&mut self, values: &[f64]) {
        for same in values.chunk_by(|one, other| one.to_bits() == other.to_bits()) {
            self.add(same[0], same.len() as u64);
        }
    }

    fn bucket(&mut self, bucket: u32) -> &mut u64 {
        let page = self.pages.entry(bucket >> PAGE_BITS);
        let page = page.or_insert_with(|| Box::new([0; 1 << PAGE_BITS]));
        &mut page[(bucket & ((1 << PAGE_BITS) - 1)) as usize]
    }

    pub(super) fn merge(&mut self, other: &Folded) {
        self.count += other.count;
        self.sum += other.sum;
        self.exact_sum.merge(other.exact_sum);
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
    pub(super) fn at(&self, rank: u64) -> f64 {
        let mut passed = 0;
        for (bucket, count) in self.buckets() {
            passed += count;
            if passed > rank {
                return self.middle(bucket);
            }
        }
        self.max
    }

    /// Returns the number of values in the buckets above that of this value.
    pub(super) fn beyond(&self, value: f64) -> u64 {
        let own = bucket_of(value);
        let above = self.buckets().filter(|(bucket, _)| *bucket > own);
        above.map(|(_, count)| count).sum()
    }

    /// Returns the middle of each bucket with its count, rising.
    pub(super) fn steps(&self) -> Vec<(f64, u64)> {
        let steps = self.buckets();
        steps
            .map(|(bucket, count)| (self.middle(bucket), count))
            .collect()
    }

    /// Returns the counts by bucket.
    pub(super) fn counts(&self) -> SparseCounts {
        SparseCounts::from_counts(self.buckets())
    }

    /// Returns the values with these counts by bucket, as bytes; `None` if they are invalid.
    pub(super) fn from_counts(
        counts: &[u8],
        sum: ExactSum,
        (min, max): (f64, f64),
    ) -> Option<Folded> {
        let counts = SparseCounts::from_bytes(counts, LAST)?;
        let is_range = min.is_finite() && max.is_finite() && min <= max;
        let mut folded = Folded {
            count: counts.len(),
            sum: sum.value(),
            exact_sum: sum,
            min,
            max,
            pages: BTreeMap::new(),
        };
        for (bucket, count) in counts.counts() {
            *folded.bucket(bucket) += count;
        }
        is_range.then_some(folded)
    }

    /// Returns the number in the middle of a bucket, limited to the range of the values.
    fn middle(&self, bucket: u32) -> f64 {
        middle_of(bucket).clamp(self.min, self.max)
    }

    /// Returns all buckets that have a count, in rising order.
    fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = self.pages.iter().flat_map(|(page, counts)| {
            let first = page << PAGE_BITS;
            let numbered = (first..).zip(counts.iter());
            numbered.map(|(bucket, count)| (bucket, *count))
        });
        all.filter(|(_, count)| *count > 0)
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
