//! The time scale of the plots: their unit of time.
//!
//! A plot shows the last ten units, in points of a tenth of a unit, but of at least a second: no
//! interval is shorter. The automatic scale is the largest unit below the elapsed time, so that a
//! plot shows all of a run that lasts less than ten hours.

use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// A unit of time of the plots, from the finest to the coarsest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeScale {
    /// A second.
    #[default]
    Second,
    /// Ten seconds.
    TenSeconds,
    /// A minute.
    Minute,
    /// Ten minutes.
    TenMinutes,
    /// An hour.
    Hour,
}

impl TimeScale {
    /// All time scales, from the finest to the coarsest.
    pub const ALL: [TimeScale; 5] = [
        TimeScale::Second,
        TimeScale::TenSeconds,
        TimeScale::Minute,
        TimeScale::TenMinutes,
        TimeScale::Hour,
    ];

    /// Returns the largest unit below the elapsed time; at the beginning the finest.
    pub fn automatic(elapsed: Duration) -> TimeScale {
        let mut below = TimeScale::ALL.into_iter().rev();
        below
            .find(|scale| u128::from(scale.unit_ns()) < elapsed.as_nanos())
            .unwrap_or_default()
    }

    /// Returns the next finer time scale; for the finest, itself.
    #[must_use]
    pub fn finer(self) -> TimeScale {
        let before = TimeScale::ALL.into_iter().rev().find(|scale| *scale < self);
        before.unwrap_or(self)
    }

    /// Returns the next coarser time scale; for the coarsest, itself.
    #[must_use]
    pub fn coarser(self) -> TimeScale {
        let behind = TimeScale::ALL.into_iter().find(|scale| *scale > self);
        behind.unwrap_or(self)
    }

    /// Returns the name of the time scale: `10 sec`.
    pub fn name(self) -> &'static str {
        match self {
            TimeScale::Second => "1 sec",
            TimeScale::TenSeconds => "10 sec",
            TimeScale::Minute => "1 min",
            TimeScale::TenMinutes => "10 min",
            TimeScale::Hour => "1 hr",
        }
    }

    /// Returns the time that a plot shows, in nanoseconds.
    pub(crate) fn window_ns(self) -> u64 {
        10 * self.unit_ns()
    }

    /// Returns the time of a point, in nanoseconds.
    pub(crate) fn point_ns(self) -> u64 {
        (self.unit_ns() / 10).max(SECOND_NS)
    }

    fn unit_ns(self) -> u64 {
        let seconds = match self {
            TimeScale::Second => 1,
            TimeScale::TenSeconds => 10,
            TimeScale::Minute => 60,
            TimeScale::TenMinutes => 600,
            TimeScale::Hour => 3_600,
        };
        seconds * SECOND_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_scale_is_the_largest_below_the_elapsed_time() {
        for (seconds, scale) in [
            (0, TimeScale::Second),
            (1, TimeScale::Second),
            (10, TimeScale::Second),
            (11, TimeScale::TenSeconds),
            (60, TimeScale::TenSeconds),
            (61, TimeScale::Minute),
            (601, TimeScale::TenMinutes),
            (3_601, TimeScale::Hour),
            (1_000_000, TimeScale::Hour),
        ] {
            assert_eq!(TimeScale::automatic(Duration::from_secs(seconds)), scale);
        }
    }

    #[test]
    fn an_automatic_plot_shows_all_of_a_run_below_ten_hours() {
        for seconds in (1..36_000).step_by(7) {
            let elapsed = Duration::from_secs(seconds);
            let window = u128::from(TimeScale::automatic(elapsed).window_ns());
            assert!(window >= elapsed.as_nanos(), "{seconds} s");
        }
    }

    #[test]
    fn there_is_an_end_to_finer_and_to_coarser() {
        assert_eq!(TimeScale::Second.finer(), TimeScale::Second);
        assert_eq!(TimeScale::Hour.coarser(), TimeScale::Hour);
        for pair in TimeScale::ALL.windows(2) {
            assert_eq!((pair[0].coarser(), pair[1].finer()), (pair[1], pair[0]));
        }
    }
}
