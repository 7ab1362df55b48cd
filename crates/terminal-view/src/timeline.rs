//! A run over time, as points of the plots.
//!
//! For each length of points there is a *track*: the latest points, as many as its widest window
//! has. A point's percentiles are computed from all its responses, not from other percentiles; so a
//! track keeps the distribution of the point that is still filled, and of no other point.

use crate::time_scale::TimeScale;
use loadline_record::{Distribution, Snapshot};
use std::collections::VecDeque;

/// The number of points in the widest window of a track, and one more at its edge.
const MOST_POINTS: usize = 101;

/// A part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The end of the point, in nanoseconds from the beginning of the measured part.
    pub end_ns: u64,
    /// The length of the point so far, in nanoseconds.
    pub length_ns: u64,
    /// Arrivals that fell due in it.
    pub planned: u64,
    /// Responses that ended in it.
    pub completed: u64,
    /// The median of the response time, in nanoseconds; 0 without a response, as the other
    /// percentiles.
    pub p50_ns: u64,
    /// The 90th percentile of the response time, in nanoseconds.
    pub p90_ns: u64,
    /// The 99th percentile of the response time, in nanoseconds.
    pub p99_ns: u64,
}

/// The rates and percentiles of a run over time.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// A track for each length of points, the shortest first.
    tracks: Vec<Track>,
    elapsed_ns: u64,
}

#[derive(Clone, Debug)]
struct Track {
    point_ns: u64,
    points: VecDeque<Point>,
    /// The number of the point that is filled.
    index: u64,
    /// The response times of that point.
    times: Distribution,
}

impl Timeline {
    /// Adds an interval of a run whose measured part began at this instant, in nanoseconds from the
    /// run's start.
    pub fn observe(&mut self, interval: &Snapshot, start_ns: u64) {
        if self.tracks.is_empty() {
            self.tracks = tracks();
        }
        self.elapsed_ns = interval.end_ns.saturating_sub(start_ns);
        for track in &mut self.tracks {
            track.observe(interval, start_ns);
        }
    }

    /// Returns the observed time, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    /// Returns the points in the window of this time scale, the oldest first.
    pub fn points(&self, scale: TimeScale) -> impl Iterator<Item = &Point> + Clone {
        let begin_ns = self.begin_ns(scale);
        let track = self
            .tracks
            .iter()
            .find(|one| one.point_ns == scale.point_ns());
        let points = track.into_iter().flat_map(|track| &track.points);
        points.filter(move |point| point.end_ns > begin_ns)
    }

    /// Returns the beginning of the window of this time scale, in nanoseconds.
    pub fn begin_ns(&self, scale: TimeScale) -> u64 {
        self.elapsed_ns.saturating_sub(scale.window_ns())
    }
}

fn tracks() -> Vec<Track> {
    let mut lengths = TimeScale::ALL.map(TimeScale::point_ns).to_vec();
    lengths.dedup();
    let track = |point_ns| Track {
        point_ns,
        points: VecDeque::with_capacity(MOST_POINTS),
        index: 0,
        times: Distribution::default(),
    };
    lengths.into_iter().map(track).collect()
}

impl Track {
    fn observe(&mut self, interval: &Snapshot, start_ns: u64) {
        // Intervals end a little before or after their second.
        let middle_ns = interval.start_ns / 2 + interval.end_ns / 2;
        let index = middle_ns.saturating_sub(start_ns) / self.point_ns;
        if self.points.is_empty() || index > self.index {
            self.begin(index);
        }
        self.times.merge(&interval.times.response);
        let Some(point) = self.points.back_mut() else {
            return;
        };
        point.end_ns = interval.end_ns.saturating_sub(start_ns);
        point.length_ns += interval.length_ns();
        point.planned += interval.counts.planned;
        point.completed += interval.counts.completed;
        point.p50_ns = self.times.percentile_ns(50.0);
        point.p90_ns = self.times.percentile_ns(90.0);
        point.p99_ns = self.times.percentile_ns(99.0);
    }

    fn begin(&mut self, index: u64) {
        self.index = index;
        self.times.reset();
        if self.points.len() == MOST_POINTS {
            self.points.pop_front();
        }
        self.points.push_back(Point::default());
    }
}

impl Point {
    /// Returns the arrivals per second.
    pub fn asked_per_s(&self) -> f64 {
        loadline_units::rounding::per_second(self.planned, self.length_ns)
    }

    /// Returns the responses per second.
    pub fn achieved_per_s(&self) -> f64 {
        loadline_units::rounding::per_second(self.completed, self.length_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::second;

    #[test]
    fn a_point_has_the_percentiles_of_all_its_responses() {
        let mut timeline = Timeline::default();
        for index in 0..6 {
            timeline.observe(&second(index, 100, if index == 5 { 9 } else { 1 }), 0);
        }
        let points: Vec<&Point> = timeline.points(TimeScale::Minute).collect();
        assert_eq!(points.len(), 1);
        assert_eq!(
            (points[0].completed, points[0].achieved_per_s()),
            (600, 100.0)
        );
        let near = |ns: u64, ms: u64| ns.abs_diff(ms * 1_000_000) < ms * 10_000;
        assert!(
            near(points[0].p50_ns, 1) && near(points[0].p90_ns, 9),
            "{points:?}"
        );
        assert_eq!(timeline.points(TimeScale::Second).count(), 6);
    }

    #[test]
    fn memory_is_bounded_however_long_the_run_lasts() {
        let mut timeline = Timeline::default();
        for index in 0..100_000 {
            timeline.observe(&second(index, 10, 1), 0);
        }
        for track in &timeline.tracks {
            assert_eq!(track.points.len(), MOST_POINTS, "{} ns", track.point_ns);
        }
        for scale in TimeScale::ALL {
            let shown = timeline.points(scale).count() as u64;
            let whole = scale.window_ns() / scale.point_ns();
            assert!((whole..=whole + 1).contains(&shown), "{scale:?}: {shown}");
        }
    }
}
