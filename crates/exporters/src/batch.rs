//! What was measured in a time, on its way to a receiver.

use crate::{Labels, Measured};
use std::sync::Arc;

/// The most single values that wait for a receiver.
const MOST_POINTS: usize = 100_000;

/// What was measured in a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The end of the time, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The series.
    pub measured: Measured,
    /// Single values, for layouts that write each.
    pub points: Vec<Point>,
    /// The single values that found no room.
    pub points_left_out: u64,
}

/// A single value.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The metric.
    pub metric: Arc<str>,
    /// When it was measured, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The value, in the unit of its source.
    pub value: f64,
    /// The labels.
    pub labels: Labels,
    /// How many values it stands for, where only a share of them is sent; else 1.
    pub weight: f64,
}

impl Batch {
    /// Adds what was measured later.
    pub(crate) fn append(&mut self, later: &Batch) {
        self.at_ns = self.at_ns.max(later.at_ns);
        self.measured.merge(&later.measured);
        let room = MOST_POINTS.saturating_sub(self.points.len());
        let without = later.points.len().saturating_sub(room) as u64;
        self.points.extend(later.points.iter().take(room).cloned());
        self.points_left_out += later.points_left_out + without;
    }
}
