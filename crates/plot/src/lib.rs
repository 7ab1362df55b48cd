//! Figures as SVG and PNG, from plain data.
//!
//! A [`Figure`] says what is shown: two [axes](Axis) with titles, units and a [`Scale`], and
//! [`Series`] of points, [`Tile`]s of a heatmap, or [`Rule`]s that point a place out. [`svg`] and [`png`] draw
//! it: white ground, thin grid, a legend above the plot, colours that print and that the colour-blind tell apart. Numbers on the axes are round and
//! grouped by threes; a figure without a point says so. Nothing here knows what is measured.
//!
//! ```
//! use loadline_plot::{Axis, Figure, Series, svg};
//!
//! let figure = Figure {
//!     title: "Response time by rate".to_owned(),
//!     x: Axis::linear("rate", "requests/s"),
//!     y: Axis::log("response time", "ms"),
//!     series: vec![Series::dotted_line("p99", vec![(1_000.0, 1.2), (2_000.0, 1.9), (4_000.0, 31.0)])],
//!     tiles: Vec::new(),
//!     rules: Vec::new(),
//! };
//! assert!(svg(&figure).starts_with("<svg"));
//! ```

mod draw;
mod figure;
mod marks;
mod png;
mod ruler;

pub use draw::{HEIGHT, WIDTH, svg};
pub use figure::{Axis, Figure, Mark, Rule, Scale, Series, Tile};
pub use marks::PALETTE;
pub use png::{PNG_SCALE, png};
