//! A worker's share of the arrivals.

use std::iter::StepBy;
use std::ops::RangeInclusive;

/// Every `of`-th arrival from `index` on: arrivals i with `i % of == index`.
///
/// The stripes 0 … `of - 1` of a schedule have no arrival in common and together contain all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stripe {
    /// The number of the stripe, from 0 to less than `of`.
    pub index: u32,
    /// The number of stripes, at least 1.
    pub of: u32,
}

impl Stripe {
    /// The only stripe of an undivided schedule.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns the number of arrivals that the stripe has among the first `total` ones.
    ///
    /// # Panics
    ///
    /// When there are no stripes.
    pub fn count(self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of));
        total / of + u64::from(index < total % of)
    }

    /// True if an arrival with this index is the stripe's.
    ///
    /// # Panics
    ///
    /// When there are no stripes.
    pub fn contains(self, index: u64) -> bool {
        index % u64::from(self.of) == u64::from(self.index)
    }

    /// Returns every `of`-th of the stripe's arrivals, from the `index`-th on, which is a stripe of
    /// the whole schedule as well; `None` if the whole can't be divided so finely.
    pub fn part(self, index: u32, of: u32) -> Option<Stripe> {
        // Arrival j of the stripe has index + j · of; those with j = part.index + k · part.of are
        // (index + part.index · of) + k · (of · part.of).
        Some(Stripe {
            index: self.of.checked_mul(index)?.checked_add(self.index)?,
            of: self.of.checked_mul(of)?,
        })
    }

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
    fn the_parts_of_a_stripe_are_stripes() {
        let second = Stripe { index: 1, of: 3 };
        let parts = [0, 1].map(|index| second.part(index, 2).expect("a stripe"));
        assert_eq!(
            parts,
            [Stripe { index: 1, of: 6 }, Stripe { index: 4, of: 6 }]
        );
        let fine = Stripe {
            index: 0,
            of: 1 << 31,
        };
        assert_eq!(fine.part(0, 2), None);
    }

    #[test]
    fn a_stripe_counts_and_contains_its_own_indices() {
        for index in 0..3 {
            let stripe = Stripe { index, of: 3 };
            for total in 0..10 {
                let own = (0..total).filter(|index| stripe.contains(*index)).count() as u64;
                assert_eq!(stripe.count(total), own);
                assert!(stripe.indices().take(own as usize).all(|at| at < total));
            }
        }
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
