//! What a figure shows, as plain data.

/// A figure: a title, two axes and what is drawn between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title, above the plot.
    pub title: String,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// The ground that series are drawn on, as in a heatmap; mostly none.
    pub tiles: Vec<Tile>,
    /// Places on the axis from left to right that are pointed out; mostly none.
    pub rules: Vec<Rule>,
}

/// A place on the axis from left to right: a dashed line from bottom to top, with words above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands. It is left out if that is on no axis.
    pub at: f64,
    /// What is there.
    pub label: String,
}

/// A rectangle of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Its left and its right side.
    pub x: (f64, f64),
    /// Its lower and its upper side. A tile is left out if a side is on no axis.
    pub y: (f64, f64),
    /// How much is in it, from 0 (a light yellow) to 1 (a dark blue).
    pub depth: f64,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it counts or measures.
    pub title: String,
    /// The unit of its numbers; empty for plain counts.
    pub unit: String,
    /// Where a number stands on it.
    pub scale: Scale,
    /// Its lower end; `None` takes it from the points (a linear axis of no negative number starts
    /// at 0).
    pub from: Option<f64>,
    /// Its upper end; `None` takes it from the points.
    pub to: Option<f64>,
}

/// Where a number stands on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal room.
    Linear,
    /// Equal ratios take equal room. Numbers that are not above 0 are left out.
    Log,
    /// Percentiles from 0 to below 100, each further nine with the same room: `log10(1/(1 − p/100))`,
    /// the axis of the plots of HdrHistogram. Numbers outside are left out.
    Percentile,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, `(x, y)`. One that is not finite, or not on an axis, is left out and interrupts
    /// the line.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub mark: Mark,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points.
    Line,
    /// A dot at each point.
    Dots,
    /// Both.
    DottedLine,
}

impl Axis {
    /// An axis on which equal differences take equal room.
    pub fn linear(title: &str, unit: &str) -> Axis {
        Axis::new(title, unit, Scale::Linear)
    }

    /// An axis on which equal ratios take equal room.
    pub fn log(title: &str, unit: &str) -> Axis {
        Axis::new(title, unit, Scale::Log)
    }

    /// An axis of percentiles.
    pub fn percentile(title: &str) -> Axis {
        Axis::new(title, "%", Scale::Percentile)
    }

    fn new(title: &str, unit: &str, scale: Scale) -> Axis {
        Axis {
            title: title.to_owned(),
            unit: unit.to_owned(),
            scale,
            from: None,
            to: None,
        }
    }

    /// The axis's words: its title, and its unit in brackets.
    pub(crate) fn words(&self) -> String {
        if self.unit.is_empty() {
            return self.title.clone();
        }
        format!("{} ({})", self.title, self.unit)
    }
}

impl Series {
    /// A line through these points.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series::new(name, points, Mark::Line)
    }

    /// A dot at each of these points.
    pub fn dots(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series::new(name, points, Mark::Dots)
    }

    /// A line with a dot at each of these points.
    pub fn dotted_line(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series::new(name, points, Mark::DottedLine)
    }

    fn new(name: &str, points: Vec<(f64, f64)>, mark: Mark) -> Series {
        Series {
            name: name.to_owned(),
            points,
            mark,
        }
    }
}
