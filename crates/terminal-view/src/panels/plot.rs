//! The common parts of the two plots over time: their window of time, their axes and their lines.

use crate::state::State;
use crate::timeline::Point;
use loadline_units as units;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Chart, Dataset, GraphType};
use std::time::Duration;

/// A line of a plot: its values at the points of the timeline.
pub(crate) struct Course {
    /// Pairs of the seconds from the beginning of the measured part and the value.
    pub(crate) values: Vec<(f64, f64)>,
    pub(crate) color: Color,
    /// True if it is dotted, so that it can be distinguished without colours.
    pub(crate) dotted: bool,
}

impl Course {
    /// Creates a line of the value at each point; a point without a value is left out.
    pub(crate) fn of(state: &State, color: Color, value: impl Fn(&Point) -> Option<f64>) -> Course {
        let points = state.timeline.points(state.time_scale());
        let values = points.filter_map(|point| Some((point.end_ns as f64 / 1e9, value(point)?)));
        Course {
            values: values.collect(),
            color,
            dotted: false,
        }
    }

    pub(crate) fn dotted(self) -> Course {
        Course {
            dotted: true,
            ..self
        }
    }
}

/// Draws the lines over the window of the time scale, between two values with their labels.
pub(crate) fn draw(
    state: &State,
    courses: &[Course],
    bounds: [f64; 2],
    labels: Vec<String>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let scale = state.time_scale();
    let (begin_ns, end_ns) = (state.timeline.begin_ns(scale), state.timeline.elapsed_ns());
    let seconds = |ns: u64| ns as f64 / 1e9;
    let time = |ns: u64| units::duration(Duration::from_secs((ns + 500_000_000) / 1_000_000_000));
    let faint = Style::new().add_modifier(Modifier::DIM);
    // A line begins at the first point, which is the end of an interval.
    let first = courses
        .iter()
        .filter_map(|course| Some(course.values.first()?.0));
    let begin = first.fold(seconds(end_ns), f64::min).max(seconds(begin_ns));
    let x = Axis::default()
        .bounds([begin, seconds(end_ns).max(begin + 1e-3)])
        .labels([time((begin * 1e9) as u64), time(end_ns)])
        .style(faint);
    let y = Axis::default().bounds(bounds).labels(labels).style(faint);
    let datasets = courses.iter().map(dataset).collect();
    let chart = Chart::new(datasets)
        .x_axis(x)
        .y_axis(y)
        .legend_position(None);
    frame.render_widget(chart, area);
}

fn dataset(course: &Course) -> Dataset<'_> {
    let (marker, kind) = match course {
        Course { dotted: true, .. } => (Marker::Dot, GraphType::Scatter),
        // A line needs two points.
        Course { values, .. } if values.len() < 2 => (Marker::Dot, GraphType::Scatter),
        _ => (Marker::Braille, GraphType::Line),
    };
    Dataset::default()
        .data(&course.values)
        .marker(marker)
        .graph_type(kind)
        .style(Style::new().fg(course.color))
}

/// Returns the smallest round number (1, 1.5, 2, 2.5, 3, 5 or 7.5, times a power of ten) that is
/// not below this value.
pub(crate) fn round_above(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 7.5, 10.0].map(|step| step * decade);
    let fits = |step: &&f64| **step >= value * (1.0 - 1e-9);
    steps.iter().find(fits).copied().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_that_is_not_below_the_values() {
        for (value, end) in [
            (0.0, 1.0),
            (0.7, 0.75),
            (1.0, 1.0),
            (1_001.0, 1_500.0),
            (99.0, 100.0),
        ] {
            let found = round_above(value);
            assert!((found - end).abs() < 1e-9, "{value}: {found}");
        }
        assert_eq!(round_above(f64::NAN), 1.0);
        assert_eq!(round_above(f64::INFINITY), 1.0);
    }
}
