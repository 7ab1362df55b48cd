//! The even law at a constant rate: arrival k at ⌊k · period / count⌋.
//!
//! The closed form needs a 128-bit division. A worker walks its stripe by carrying the division's
//! remainder from one arrival to the next instead, which costs a few additions and gives the same
//! result.

use crate::arrival::Arrival;
use crate::point::Point;
use crate::rate::in_lowest_terms;
use crate::{Rate, Stripe};

/// Arrivals at a constant rate, evenly spread, without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    /// The rate in lowest terms, so that remainders stay small.
    rate: Rate,
}

impl Constant {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            rate: in_lowest_terms(rate),
        }
    }

    pub(crate) fn walk(self, stripe: Stripe) -> ConstantWalk {
        let first = stripe.indices().next();
        let start = first.and_then(|index| self.quotient(index).map(|at| (index, at)));
        // At a rate of zero there is no start, and the walk never uses its step.
        let step = self.quotient(u64::from(stripe.of)).unwrap_or_default();
        ConstantWalk {
            upcoming: start.and_then(|(index, at)| {
                let at_ns = u64::try_from(at.whole_ns).ok()?;
                Some(Arrival { index, at_ns })
            }),
            remainder: start.map_or(0, |(_, at)| at.remainder),
            step_index: u64::from(stripe.of),
            step_ns: u64::try_from(step.whole_ns).ok(),
            step_remainder: step.remainder,
            step_to_carry: self.rate.count - step.remainder,
        }
    }

    pub(crate) fn due_before(self, t_ns: u64) -> u64 {
        let integral = u128::from(t_ns) * u128::from(self.rate.count);
        let due = integral.div_ceil(u128::from(self.rate.per_ns));
        u64::try_from(due).unwrap_or(u64::MAX)
    }

    /// Returns the integral up to an instant, rounded down.
    pub(crate) fn position_at(self, t_ns: u64) -> Point {
        let integral = u128::from(t_ns) * u128::from(self.rate.count);
        Point::of_ticks(integral, self.rate.per_ns)
    }

    pub(crate) fn rate(self) -> Rate {
        self.rate
    }

    /// Returns `arrivals` · period / count; `None` at a rate of zero.
    fn quotient(self, arrivals: u64) -> Option<Quotient> {
        let count = u128::from(self.rate.count);
        let product = u128::from(arrivals) * u128::from(self.rate.per_ns);
        Some(Quotient {
            whole_ns: product.checked_div(count)?,
            remainder: (product % count) as u64,
        })
    }
}

/// A time as whole nanoseconds and the remainder in `1 / count` nanoseconds.
#[derive(Clone, Copy, Default)]
struct Quotient {
    whole_ns: u128,
    remainder: u64,
}

/// One stripe of a [`Constant`].
#[derive(Clone, Debug)]
pub(crate) struct ConstantWalk {
    /// The next arrival; `None` when time or indices are used up, or at a rate of zero.
    upcoming: Option<Arrival>,
    /// The part of the next arrival's instant beyond `at_ns`, in `1 / count` nanoseconds.
    remainder: u64,
    step_index: u64,
    /// The whole nanoseconds of one step; `None` when a step is longer than all time.
    step_ns: Option<u64>,
    /// The part of a step beyond `step_ns`, in `1 / count` nanoseconds.
    step_remainder: u64,
    /// The remainder from which on a step carries a nanosecond: `count - step_remainder`.
    step_to_carry: u64,
}

impl ConstantWalk {
    /// Returns the arrival one step after `last`, and advances the remainder.
    #[inline]
    fn after(&mut self, last: Arrival) -> Option<Arrival> {
        let carry = self.remainder >= self.step_to_carry;
        if carry {
            self.remainder -= self.step_to_carry;
        } else {
            self.remainder += self.step_remainder;
        }
        let at_ns = last.at_ns.checked_add(self.step_ns?)?;
        Some(Arrival {
            index: last.index.checked_add(self.step_index)?,
            at_ns: at_ns.checked_add(u64::from(carry))?,
        })
    }
}

impl Iterator for ConstantWalk {
    type Item = Arrival;

    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        let arrival = self.upcoming?;
        self.upcoming = self.after(arrival);
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn constant(count: u64, per_ns: u64) -> Constant {
        Constant::new(Rate { count, per_ns })
    }

    /// Returns the instants of the first `n` arrivals of the whole schedule.
    fn instants(constant: Constant, n: usize) -> Vec<u64> {
        let walk = constant.walk(Stripe::WHOLE);
        walk.take(n).map(|arrival| arrival.at_ns).collect()
    }

    /// Computes ⌊k · period / count⌋ directly, the reference for the walk.
    fn closed_form(rate: Rate, k: u64) -> u128 {
        u128::from(k) * u128::from(rate.per_ns) / u128::from(rate.count)
    }

    #[test]
    fn small_rates_arrive_exactly() {
        let per_second = |count| Constant::new(Rate::each_second(count));
        assert_eq!(
            instants(per_second(1), 3),
            [0, 1_000_000_000, 2_000_000_000]
        );
        assert_eq!(
            instants(per_second(3), 5),
            [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333]
        );
        assert_eq!(instants(constant(7, 10), 9), [0, 1, 2, 4, 5, 7, 8, 10, 11]);
    }

    #[test]
    fn several_arrivals_may_share_a_nanosecond() {
        assert_eq!(instants(constant(3, 1), 7), [0, 0, 0, 1, 1, 1, 2]);
        assert_eq!(constant(3, 1).due_before(0), 0);
        assert_eq!(constant(3, 1).due_before(1), 3);
        assert_eq!(constant(3, 1).due_before(2), 6);
    }

    #[test]
    fn a_rate_of_zero_never_arrives() {
        assert_eq!(instants(constant(0, 1_000), 3), []);
        assert_eq!(constant(0, 1_000).due_before(u64::MAX), 0);
    }

    #[test]
    fn a_walk_ends_with_time() {
        let walk = constant(1, u64::MAX).walk(Stripe::WHOLE);
        assert_eq!(walk.map(|a| a.at_ns).collect::<Vec<_>>(), [0, u64::MAX]);
        let stride = Stripe { index: 0, of: 3 };
        assert_eq!(constant(1, u64::MAX).walk(stride).count(), 1);
        let late = Stripe { index: 2, of: 3 };
        assert_eq!(constant(1, u64::MAX).walk(late).count(), 0);
    }

    #[test]
    fn more_due_than_a_u64_holds_is_cut_off() {
        assert_eq!(constant(u64::MAX, 1).due_before(u64::MAX), u64::MAX);
        assert_eq!(instants(constant(u64::MAX, 1), 3), [0, 0, 0]);
    }

    /// With the widest stripe, k = 10^15 is reached in a quarter of a million steps.
    #[test]
    fn nothing_has_drifted_at_ten_to_the_fifteenth() {
        let rates = [
            Rate::each_second(2_999_999_999),
            Rate {
                count: 7,
                per_ns: 3,
            },
            Rate {
                count: 1_000_003,
                per_ns: 60_000_000,
            },
        ];
        let stripe = Stripe {
            index: 5,
            of: u32::MAX,
        };
        for rate in rates {
            let mut reached = 0;
            for arrival in Constant::new(rate).walk(stripe).take(250_000) {
                assert_eq!(u128::from(arrival.at_ns), closed_form(rate, arrival.index));
                reached = arrival.index;
            }
            assert!(reached > 1_000_000_000_000_000);
        }
    }

    proptest! {
        #[test]
        fn the_walk_equals_the_closed_form(
            count in prop_oneof![1..100u64, 1..=u64::MAX],
            per_ns in prop_oneof![1..100u64, 1..100_000_000_000u64, 1..=u64::MAX],
            index in 0..64u32,
            more in 1..1_000u32,
        ) {
            let rate = Rate { count, per_ns };
            let stripe = Stripe { index, of: index + more };
            let expected = stripe
                .indices()
                .map(|k| (k, closed_form(rate, k)))
                .take_while(|(_, at)| *at <= u128::from(u64::MAX));
            let walked = Constant::new(rate).walk(stripe).map(|a| (a.index, u128::from(a.at_ns)));
            prop_assert!(walked.take(200).eq(expected.take(200)));
        }
    }
}
