//! Positions in the integral of a rate, in fixed point: whole arrivals and 2^-64 of one.
//!
//! They are as fine at the 10^10th arrival as at the first, unlike a sum in floating point. Curves
//! have their own unit, the tick (see [`crate::grid`]); positions can be converted from one curve
//! to another.

/// A position, in 2^-64 arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point(pub(crate) u128);

impl Point {
    /// Returns the position of an arrival of the even law.
    pub(crate) fn of_index(index: u64) -> Self {
        Point(u128::from(index) << 64)
    }

    /// Returns the position in ticks, rounded down.
    pub(crate) fn in_ticks(self, ticks_per_arrival: u64) -> u128 {
        let (whole, fraction) = (self.0 >> 64, self.0 & u128::from(u64::MAX));
        let ticks = u128::from(ticks_per_arrival);
        whole * ticks + ((fraction * ticks) >> 64)
    }

    /// Returns the position of this many ticks, rounded down; at most the last position.
    pub(crate) fn of_ticks(ticks: u128, ticks_per_arrival: u64) -> Self {
        let tick = u128::from(ticks_per_arrival);
        let (whole, rest) = (ticks / tick, ticks % tick);
        match u64::try_from(whole) {
            Ok(whole) => Point((u128::from(whole) << 64) + (rest << 64) / tick),
            Err(_) => Point(u128::MAX),
        }
    }

    /// Returns the position of this many ticks, rounded up; at most the last position.
    pub(crate) fn of_ticks_rounded_up(ticks: u128, ticks_per_arrival: u64) -> Self {
        let tick = u128::from(ticks_per_arrival);
        let (whole, rest) = (ticks / tick, ticks % tick);
        match u64::try_from(whole) {
            Ok(whole) => Point((u128::from(whole) << 64) + (rest << 64).div_ceil(tick)),
            Err(_) => Point(u128::MAX),
        }
    }

    /// Returns the distance from an earlier position to this one.
    pub(crate) fn since(self, earlier: Point) -> Point {
        Point(self.0.saturating_sub(earlier.0))
    }

    /// Returns the position at this distance after this one.
    pub(crate) fn plus(self, way: Point) -> Point {
        Point(self.0.saturating_add(way.0))
    }
}
