//! Positions in the integral of a rate, in fixed point: whole arrivals and 2^-64 of one.
//!
//! As fine at the 10^10th arrival as at the first, which a floating point sum would not be. Curves
//! have their own unit, the tick (see [`crate::grid`]); positions carry over from one to another.

/// A position, in 2^-64 arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point(pub(crate) u128);

impl Point {
    /// The position of an arrival of the even law.
    pub(crate) fn of_index(index: u64) -> Self {
        Point(u128::from(index) << 64)
    }

    /// The position in ticks, rounded down.
    pub(crate) fn in_ticks(self, ticks_per_arrival: u64) -> u128 {
        let (whole, fraction) = (self.0 >> 64, self.0 & u128::from(u64::MAX));
        let ticks = u128::from(ticks_per_arrival);
        whole * ticks + ((fraction * ticks) >> 64)
    }

    /// The position of so many ticks, rounded down; the last position if that is beyond it.
    pub(crate) fn of_ticks(ticks: u128, ticks_per_arrival: u64) -> Self {
        let tick = u128::from(ticks_per_arrival);
        let (whole, rest) = (ticks / tick, ticks % tick);
        match u64::try_from(whole) {
            Ok(whole) => Point((u128::from(whole) << 64) + (rest << 64) / tick),
            Err(_) => Point(u128::MAX),
        }
    }

    /// The position of so many ticks, rounded up; the last position if that is beyond it.
    pub(crate) fn of_ticks_rounded_up(ticks: u128, ticks_per_arrival: u64) -> Self {
        let tick = u128::from(ticks_per_arrival);
        let (whole, rest) = (ticks / tick, ticks % tick);
        match u64::try_from(whole) {
            Ok(whole) => Point((u128::from(whole) << 64) + (rest << 64).div_ceil(tick)),
            Err(_) => Point(u128::MAX),
        }
    }

    /// How far this position lies behind an earlier one.
    pub(crate) fn since(self, earlier: Point) -> Point {
        Point(self.0.saturating_sub(earlier.0))
    }

    /// The position this far behind.
    pub(crate) fn plus(self, way: Point) -> Point {
        Point(self.0.saturating_add(way.0))
    }
}
