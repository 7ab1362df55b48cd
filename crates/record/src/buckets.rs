//! The buckets of a distribution, by number: those of the `hdrhistogram` crate for [`DIGITS`] and a
//! lowest value of 1, which are 2048 buckets of 1 ns, then 1024 for each power of two above.

use crate::{DIGITS, LONGEST_NS};

/// The value from which buckets are wider than 1: the power of two from which three digits are
/// known to within half a unit.
const EXACT: usize = 2048;
const EXACT_BITS: u32 = EXACT.ilog2();
const _: () = assert!(DIGITS == 3, "the buckets are those of three digits");

/// Returns the number of the bucket of a value, from 0.
#[inline]
pub(crate) fn bucket_of(value_ns: u64) -> usize {
    let doublings = (value_ns | (EXACT as u64 - 1)).ilog2() + 1 - EXACT_BITS;
    (EXACT / 2) * doublings as usize + (value_ns >> doublings) as usize
}

/// Returns the shortest time of a bucket, in nanoseconds.
pub(crate) fn lowest_of(bucket: usize) -> u64 {
    let doublings = (bucket / (EXACT / 2)).saturating_sub(1);
    ((bucket - doublings * (EXACT / 2)) as u64) << doublings
}

/// Returns the number of the last bucket, that of [`LONGEST_NS`].
pub(crate) fn last_bucket() -> usize {
    bucket_of(LONGEST_NS)
}
