//! A chart as data: title, axes, and the series between them.
//!
//! This is the only description of a plot. The page draws it and lets the reader zoom, hover and
//! toggle series in the legend; `loadline-plot` draws it to files. Numbers are in the base unit of
//! their axis; each renderer chooses the unit that it shows.

use crate::{Heatmap, number};
use serde::Serialize;

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Chart {
    /// The name of the chart's files, without an ending: `response-time`. Unique on a page.
    pub name: String,
    /// The title above the plot.
    pub title: String,
    /// A sentence on what the chart shows; may be empty.
    pub note: String,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The series. Later series lie above earlier ones.
    pub series: Vec<Series>,
    /// A heatmap below the series.
    pub heatmap: Option<Heatmap>,
    /// Marked positions on the x axis, in rising order; drawn below the series.
    pub reference_lines: Vec<ReferenceLine>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Axis {
    /// The label of the axis.
    pub title: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The mapping from numbers to positions.
    pub scale: Scale,
    /// True if the axis counts whole things, so that ticks stand at whole numbers.
    pub is_whole: bool,
    /// The lower and the upper end; `None` takes them from the data.
    pub ends: Option<(f64, f64)>,
}

/// The mapping from numbers to positions on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences have equal lengths. An axis without a negative number starts at 0.
    Linear,
    /// Equal ratios have equal lengths. Numbers that are not above 0 are left out.
    Log,
    /// Percentiles from 0 to below 100, with the same length for each further nine:
    /// `log10(1/(1 − p/100))`, the axis of HdrHistogram's plots. Numbers outside are left out.
    Percentile,
}

/// The unit of numbers. Renderers scale it: 1500 µs may be shown as 1.5 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Words; any text.
    Text,
    /// A count.
    Count,
    /// A rate per second.
    PerSecond,
    /// Percent.
    Percent,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Microseconds.
    Us,
    /// Seconds.
    Seconds,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Series {
    /// The name in the legend, unique in its chart.
    pub name: String,
    /// The x values of the points, as an index into the page's [`SharedX`].
    pub x: usize,
    /// The y value for each x value; `None` interrupts a line.
    #[serde(serialize_with = "number::gaps")]
    pub y: Vec<Option<f64>>,
    /// The mark that the series is drawn with.
    pub mark: Mark,
    /// The colour, as an index into the palette of seven. Higher indices reuse the colours with
    /// other marks: dashed lines, rings instead of dots.
    pub colour: usize,
    /// True if the series is left out until the reader selects it; files leave it out.
    pub is_hidden: bool,
}

/// The mark of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A line through the points.
    Line,
    /// A dashed line: a goal, not a measurement.
    Dashed,
    /// A dot at each point.
    Dots,
}

/// A marked position on the x axis: a dashed line from bottom to top.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReferenceLine {
    /// The position.
    pub at: f64,
    /// The confidence interval of the position: its lower and upper end.
    pub band: Option<(f64, f64)>,
    /// The text next to the line.
    pub label: String,
}

/// The x values of one or more series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct XValues {
    /// The values, rising.
    #[serde(serialize_with = "number::exact")]
    pub values: Vec<f64>,
    /// The name of each value; empty if the values have no names.
    pub names: Vec<String>,
}

/// The x values of a page's charts. Series with equal x values share one entry, so that a page
/// holds the times of a run once.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct SharedX(Vec<XValues>);

/// The last colour of the palette, nearly black or white: for series that do not belong to a set.
pub(crate) const INK: usize = 6;

impl Axis {
    /// Creates an axis on this scale whose ends come from the data.
    pub fn new(title: &str, unit: Unit, scale: Scale) -> Axis {
        Axis {
            title: title.to_owned(),
            unit,
            scale,
            is_whole: false,
            ends: None,
        }
    }

    /// Creates an axis on which equal differences have equal lengths.
    pub fn linear(title: &str, unit: Unit) -> Axis {
        Axis::new(title, unit, Scale::Linear)
    }

    /// Creates an axis on which equal ratios have equal lengths.
    pub fn log(title: &str, unit: Unit) -> Axis {
        Axis::new(title, unit, Scale::Log)
    }

    /// Creates an axis that counts whole things, such as users.
    pub fn whole(title: &str) -> Axis {
        Axis {
            is_whole: true,
            ..Axis::linear(title, Unit::Count)
        }
    }

    /// Sets the ends of the axis to `low` and `high`.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Axis {
        self.ends = Some((low, high));
        self
    }
}

impl Chart {
    /// Creates a chart of the series that have a number; `None` if there is no such series.
    pub(crate) fn of_series(
        (name, title, note): (&str, &str, &str),
        x: Axis,
        y: Axis,
        mut series: Vec<Series>,
    ) -> Option<Chart> {
        series.retain(|series| series.y.iter().any(Option::is_some));
        (!series.is_empty()).then(|| Chart {
            name: name.to_owned(),
            title: title.to_owned(),
            note: note.to_owned(),
            x,
            y,
            series,
            heatmap: None,
            reference_lines: Vec::new(),
        })
    }

    /// True if the chart shows something before a reader selects series.
    pub(crate) fn is_shown(&self) -> bool {
        self.heatmap.is_some() || self.series.iter().any(|series| !series.is_hidden)
    }
}

impl Series {
    /// Creates a series that is shown at first.
    pub fn new(name: &str, x: usize, y: Vec<Option<f64>>, mark: Mark, colour: usize) -> Series {
        Series {
            name: name.to_owned(),
            x,
            y,
            mark,
            colour,
            is_hidden: false,
        }
    }
}

impl SharedX {
    /// Adds x values and returns their index; equal values are kept once.
    pub fn add(&mut self, values: Vec<f64>, names: Vec<String>) -> usize {
        let new = XValues { values, names };
        let known = self.0.iter().position(|known| *known == new);
        known.unwrap_or_else(|| {
            self.0.push(new);
            self.0.len() - 1
        })
    }

    /// Returns the points of a series; `NaN` stands for an interrupted line.
    ///
    /// # Panics
    /// If the series belongs to another page.
    pub fn points<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = (f64, f64)> + 'a {
        let x = self.0[series.x].values.iter().copied();
        let y = series.y.iter().map(|y| y.unwrap_or(f64::NAN));
        x.zip(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_places_are_kept_once() {
        let mut shared = SharedX::default();
        let first = shared.add(vec![0.5, 1.5], Vec::new());
        assert_eq!(shared.add(vec![0.5, 1.5], Vec::new()), first);
        let named = shared.add(vec![0.5, 1.5], vec!["a".to_owned(), "b".to_owned()]);
        assert_ne!(named, first);
        let series = Series::new("", named, vec![Some(1.0), None], Mark::Line, 0);
        let points: Vec<_> = shared.points(&series).collect();
        assert_eq!(points[0], (0.5, 1.0));
        assert!(points[1].1.is_nan());
    }

    #[test]
    fn a_chart_without_a_number_is_none() {
        let axis = || Axis::linear("", Unit::Count);
        let series = Series::new("", 0, vec![None, None], Mark::Line, 0);
        let names = ("", "", "");
        assert_eq!(Chart::of_series(names, axis(), axis(), vec![series]), None);
    }
}
