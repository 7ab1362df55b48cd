//! Numbers with their unit: what a check measured and what it was compared with.

use loadline_plan::Bound;
use std::cmp::Ordering;

/// Two floats nearer than this share of the larger are one number. Far below what a count of
/// exchanges can resolve, far above the rounding of a bound typed in decimals: `0.7%` becomes
/// 0.006 999 999 999 999 999, and 7 of 1 000 must not lie above it.
const ROUNDING: f64 = 1e-12;

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A time in nanoseconds.
    TimeNs(f64),
    /// A share, 0 to 1.
    Share(f64),
    /// A count.
    Count(u64),
    /// A rate per second.
    PerSecond(f64),
    /// A number without a unit, or in that of a custom metric.
    Number(f64),
}

impl Quantity {
    /// Compares the two; `None` if their units differ or one is not a number.
    pub fn compare(self, other: Quantity) -> Option<Ordering> {
        match (self, other) {
            (Quantity::Count(a), Quantity::Count(b)) => Some(a.cmp(&b)),
            (Quantity::TimeNs(a), Quantity::TimeNs(b))
            | (Quantity::Share(a), Quantity::Share(b))
            | (Quantity::PerSecond(a), Quantity::PerSecond(b))
            | (Quantity::Number(a), Quantity::Number(b)) => compare_floats(a, b),
            _ => None,
        }
    }
}

impl From<Bound> for Quantity {
    fn from(bound: Bound) -> Quantity {
        match bound {
            Bound::TimeNs(ns) => Quantity::TimeNs(ns as f64),
            Bound::Share(share) => Quantity::Share(share),
            Bound::Count(count) => Quantity::Count(count),
            Bound::PerSecond(rate) => Quantity::PerSecond(rate),
            Bound::Number(number) => Quantity::Number(number),
        }
    }
}

fn compare_floats(a: f64, b: f64) -> Option<Ordering> {
    if (a - b).abs() <= ROUNDING * a.abs().max(b.abs()) {
        return Some(Ordering::Equal);
    }
    a.partial_cmp(&b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_that_binary_cannot_hold_are_equal() {
        let bound = Quantity::Share(0.7 / 100.0);
        assert_ne!(0.7 / 100.0, 7.0 / 1000.0);
        assert_eq!(
            Quantity::Share(7.0 / 1000.0).compare(bound),
            Some(Ordering::Equal)
        );
    }

    #[test]
    fn one_in_a_billion_is_still_a_difference() {
        let a = Quantity::Share(1e-3);
        let b = Quantity::Share(1e-3 + 1e-12);
        assert_eq!(a.compare(b), Some(Ordering::Less));
    }

    #[test]
    fn quantities_of_different_units_do_not_compare() {
        assert_eq!(Quantity::Count(1).compare(Quantity::PerSecond(1.0)), None);
        assert_eq!(
            Quantity::TimeNs(f64::NAN).compare(Quantity::TimeNs(1.0)),
            None
        );
    }
}
