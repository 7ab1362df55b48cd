//! The percentiles of the response time over time, on a logarithmic axis. The lines never cross:
//! p50 is the lowest and p99 the highest, so that they can be distinguished without colours.

use super::plot::{self, Course, round_above};
use super::{BAD, DOUBTFUL, GOOD, headed};
use crate::state::State;
use loadline_units as units;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Response time", "p50, p90, p99", area, frame);
    let log = |ns: u64| (ns > 0).then(|| (ns as f64).log10());
    let courses = [
        Course::of(state, GOOD, |point| log(point.p50_ns)),
        Course::of(state, DOUBTFUL, |point| log(point.p90_ns)),
        Course::of(state, BAD, |point| log(point.p99_ns)),
    ];
    let values = || {
        courses
            .iter()
            .flat_map(|course| &course.values)
            .map(|(_, value)| *value)
    };
    let (least, most) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    let (low, high) = match least.is_finite() {
        true => (
            round_below(10_f64.powf(least)),
            round_above(10_f64.powf(most) * 1.02),
        ),
        false => (1e6, 1e7),
    };
    let middle = (low * high).sqrt();
    let labels = [low, middle, high].map(units::time).to_vec();
    plot::draw(
        state,
        &courses,
        [low.log10(), high.log10()],
        labels,
        area,
        frame,
    );
}

/// Returns the largest round number that is not above this value.
fn round_below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * decade);
    let fits = |step: &&f64| **step <= value;
    steps.iter().find(fits).copied().unwrap_or(decade)
}
