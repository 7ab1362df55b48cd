//! The counts of a series that receives times.
//!
//! The buckets lie in pages of 32, a quarter of a doubling of time each, and a page is allocated
//! when the first time falls into it. A series whose times spread over a factor of a hundred has
//! about 30 pages, 2 KB. Adding a time is two look-ups by index. A count has 16 bits; higher counts
//! are moved to a map.

use crate::sparse::{LONGEST_NS, SparseCounts, bucket};
use crate::{BITS, highest_of};
use std::collections::BTreeMap;
use std::mem;

/// The number of buckets in a page.
const PAGE: usize = 32;
/// The number of pages for times up to an hour.
const PAGES: usize = 144;

/// The number of times in each bucket.
#[derive(Clone, Debug)]
pub struct PagedCounts {
    /// For each page its index in `counts` plus 1; 0 if it is not allocated.
    places: [u8; PAGES],
    counts: Vec<[u16; PAGE]>,
    /// The sums of counts that reached the limit of 16 bits, by bucket.
    aside: BTreeMap<u32, u64>,
}

impl Default for PagedCounts {
    fn default() -> PagedCounts {
        PagedCounts {
            places: [0; PAGES],
            counts: Vec::new(),
            aside: BTreeMap::new(),
        }
    }
}

impl PagedCounts {
    /// Counts a time; a time above an hour counts as an hour.
    #[inline]
    pub fn record_ns(&mut self, value_ns: u64) {
        let bucket = bucket(value_ns.min(LONGEST_NS), BITS) as usize;
        let page = bucket / PAGE;
        let place = match self.places[page] {
            0 => self.add_page(page),
            place => usize::from(place) - 1,
        };
        let count = &mut self.counts[place][bucket % PAGE];
        if *count == u16::MAX {
            *count = 0;
            self.put_aside(bucket as u32);
        }
        self.counts[place][bucket % PAGE] += 1;
    }

    /// Returns the times counted since the last call. The memory is kept for the next interval.
    pub fn take(&mut self) -> SparseCounts {
        let counts = (0..PAGES).filter_map(|page| {
            let place = usize::from(self.places[page].checked_sub(1)?);
            Some((page * PAGE, &self.counts[place]))
        });
        let buckets = counts.flat_map(|(first, page)| {
            let buckets = page.iter().enumerate();
            buckets.map(move |(index, count)| ((first + index) as u32, u64::from(*count)))
        });
        let mut taken = SparseCounts::from_counts(buckets.filter(|(_, count)| *count > 0));
        taken.merge(&SparseCounts::from_counts(
            mem::take(&mut self.aside).into_iter(),
        ));
        self.counts.iter_mut().for_each(|page| page.fill(0));
        taken
    }

    #[cold]
    fn put_aside(&mut self, bucket: u32) {
        *self.aside.entry(bucket).or_default() += u64::from(u16::MAX);
    }

    #[cold]
    fn add_page(&mut self, page: usize) -> usize {
        let place = self.counts.len();
        self.counts.push([0; PAGE]);
        self.places[page] = place as u8 + 1;
        place
    }
}

const _: () =
    assert!(PAGES < u8::MAX as usize && highest_of((PAGES * PAGE) as u32 - 1, BITS) >= LONGEST_NS);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_hour_has_a_page_and_so_has_nothing() {
        let mut counts = PagedCounts::default();
        for value_ns in [0, 1, LONGEST_NS, u64::MAX] {
            counts.record_ns(value_ns);
        }
        let taken: Vec<_> = counts.take().counts().collect();
        assert_eq!(taken, [(0, 1), (1, 1), (bucket(LONGEST_NS, BITS), 2)]);
    }

    #[test]
    fn a_bucket_counts_beyond_sixteen_bits() {
        let mut counts = PagedCounts::default();
        (0..200_000).for_each(|_| counts.record_ns(1_000));
        counts.record_ns(5);
        let taken: Vec<_> = counts.take().counts().collect();
        assert_eq!(taken, [(5, 1), (bucket(1_000, BITS), 200_000)]);
        assert!(counts.take().is_empty());
    }

    proptest! {
        #[test]
        fn pages_and_sparse_counts_hold_the_same(
            values in prop::collection::vec(0..2 * LONGEST_NS, 0..200),
            later in prop::collection::vec(0..100_000_u64, 0..50),
        ) {
            let sparse = |values: &[u64]| {
                let bucket = |value: &u64| bucket((*value).min(LONGEST_NS), BITS);
                let mut buckets: Vec<u32> = values.iter().map(bucket).collect();
                buckets.sort_unstable();
                SparseCounts::from_counts(buckets.into_iter().map(|bucket| (bucket, 1)))
            };
            let mut counts = PagedCounts::default();
            values.iter().for_each(|value| counts.record_ns(*value));
            prop_assert_eq!(counts.take(), sparse(&values));
            later.iter().for_each(|value| counts.record_ns(*value));
            prop_assert_eq!(counts.take(), sparse(&later));
            prop_assert_eq!(counts.take(), SparseCounts::default());
        }
    }
}
