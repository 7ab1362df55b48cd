//! Trends of files of earlier versions: counts by coarse buckets, of either sign apart.
//!
//! The bucket of a value consisted of its exponent and the [`BITS`] bits after it, as an `f64`
//! holds them, so that the value is known to within a hundredth.

use super::{Folded, Trend};
use crate::custom::ExactSum;
use crate::{BITS, SparseCounts};

/// The low bits of an `f64` that do not affect the bucket.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
/// The last bucket, that of the largest number.
const LAST: u32 = (f64::MAX.to_bits() >> SHIFT) as u32;

impl Trend {
    /// Returns the trend of a file of an earlier version, from the bytes of its counts: of values
    /// from 0 on, and of those below 0 by the bucket of their magnitude; `None` if they are
    /// invalid.
    pub fn of_coarse(
        sum: ExactSum,
        (min, max): (f64, f64),
        positive: &[u8],
        negative: &[u8],
    ) -> Option<Trend> {
        let counts = |bytes| SparseCounts::from_bytes(bytes, LAST);
        let (positive, negative) = (counts(positive)?, counts(negative)?);
        if positive.is_empty() && negative.is_empty() {
            return Some(Trend::default());
        }
        if !(min.is_finite() && max.is_finite() && min <= max) {
            return None;
        }
        let mut folded = Folded::default();
        let below = negative.counts();
        let below = below.map(|(bucket, count)| (-lowest_of(bucket), count));
        let above = positive.counts();
        let above = above.map(|(bucket, count)| (highest_of(bucket), count));
        for (value, count) in below.chain(above) {
            folded.add(value.clamp(min, max), count);
        }
        (folded.sum, folded.exact_sum) = (sum.value(), sum);
        (folded.min, folded.max) = (min, max);
        Some(Trend {
            raw: Vec::new(),
            folded: Some(Box::new(folded)),
        })
    }
}

fn lowest_of(bucket: u32) -> f64 {
    f64::from_bits(u64::from(bucket) << SHIFT)
}

fn highest_of(bucket: u32) -> f64 {
    f64::from_bits(((u64::from(bucket) + 1) << SHIFT) - 1)
}
