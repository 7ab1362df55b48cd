//! The rate over time: asked, as dots, and achieved, as a line.

use super::plot::{self, Course, round_above};
use super::{DOUBTFUL, MARK, headed};
use crate::state::State;
use loadline_units as units;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Rate", &state.report.rate, area, frame);
    let is_open = state.report.rate.contains("asked");
    let mut courses = Vec::new();
    if is_open {
        let arrivals = Course::of(state, DOUBTFUL, |point| Some(point.asked_per_s()));
        courses.push(arrivals.dotted());
    }
    courses.push(Course::of(state, MARK, |point| {
        Some(point.achieved_per_s())
    }));
    let values = courses.iter().flat_map(|course| &course.values);
    let highest = round_above(values.map(|(_, value)| *value).fold(0.0, f64::max) * 1.02);
    let labels = vec!["0".to_owned(), units::rate(highest)];
    plot::draw(state, &courses, [0.0, highest], labels, area, frame);
}
