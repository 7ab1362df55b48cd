//! A worker's share of the arrivals.

use std::iter::StepBy;
use std::ops::RangeInclusive;

/// Every `of`-th arrival from `index` on: arrivals i with `i % of == index`.
///
/// The stripes 0 … `of - 1` of a schedule have no arrival in common and together contain all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The number of the stripe, from 0 to less than `of`.
    pub index: u32,
    /// The number of stripes, at least 1.
    pub of: u32,
}

impl Stripe {
    /// The only stripe of an undivided schedule.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns the indices of the stripe's arrivals, ascending.
    ///
    /// # Panics
    ///
    /// When there is no such stripe.
    pub(crate) fn indices(self) -> Indices {
        self.indices_from(0)
    }

    /// Returns the indices of the stripe's arrivals that are not less than `first`, ascending.
    ///
    /// # Panics
    ///
    /// When there is no such stripe.
    pub(crate) fn indices_from(self, first: u64) -> Indices {
        assert!(
            self.index < self.of,
            "stripe {} of {} does not exist",
            self.index,
            self.of
        );
        let of = u64::from(self.of);
        let behind = (first % of + of - u64::from(self.index)) % of;
        let ahead = (of - behind) % of;
        let from = first.saturating_add(ahead);
        (from..=u64::MAX).step_by(self.of as usize)
    }
}

/// The indices of a stripe's arrivals.
pub(crate) type Indices = StepBy<RangeInclusive<u64>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_divide_the_indices() {
        let of_three = |index| {
            let indices = Stripe { index, of: 3 }.indices();
            indices.take(3).collect::<Vec<_>>()
        };
        assert_eq!(of_three(0), [0, 3, 6]);
        assert_eq!(of_three(1), [1, 4, 7]);
        assert_eq!(of_three(2), [2, 5, 8]);
        assert!(Stripe::WHOLE.indices().take(4).eq(0..4));
    }

    #[test]
    fn indices_may_begin_anywhere() {
        let of_three = |index, first| {
            let indices = Stripe { index, of: 3 }.indices_from(first);
            indices.take(2).collect::<Vec<_>>()
        };
        assert_eq!([of_three(0, 6), of_three(0, 7)], [[6, 9], [9, 12]]);
        assert_eq!([of_three(2, 5), of_three(2, 6)], [[5, 8], [8, 11]]);
        assert_eq!(of_three(1, 8), [10, 13]);
    }

    #[test]
    #[should_panic(expected = "stripe 2 of 2 does not exist")]
    fn a_stripe_beyond_the_last_is_refused() {
        let _ = Stripe { index: 2, of: 2 }.indices();
    }

    #[test]
    #[should_panic(expected = "stripe 0 of 0 does not exist")]
    fn a_division_into_none_is_refused() {
        let _ = Stripe { index: 0, of: 0 }.indices();
    }
}
