//! The charts of a report's page as SVG and PNG files.
//!
//! [`FileFormat`] names the file formats of a chart; [`svg`] and `png` draw a
//! [`Chart`](loadline_page::Chart), the description that the page draws too: white background, thin
//! grid, a legend above the plot, colours that print well and that colour-blind readers can
//! distinguish. A file is not interactive, so the numbers of an axis are in one unit: times are
//! milliseconds, memory is megabytes. A chart without a point shows `no data`.
//!
//! ```
//! use loadline_page::{Page, RunNumbers, RunPage, RunPlots, Measure, Timeline, Track, charts};
//! use loadline_plot::svg;
//!
//! let timeline = Timeline {
//!     time_s: vec![0.5, 1.5],
//!     tracks: vec![Track { measure: Measure::Rate, values: vec![Some(900.0), Some(910.0)] }],
//! };
//! let plots = RunPlots::new(RunNumbers { timeline, ..RunNumbers::default() });
//! let page = Page::Run(Box::new(RunPage { plots, ..RunPage::default() }));
//! for file in charts(&page) {
//!     assert!(svg(file.chart, file.shared_x).starts_with("<svg"));
//! }
//! ```
//!
//! ## To change
//!
//! - a mark, a legend, an axis: `marks.rs`, `legend.rs`, `axis_scale.rs`; the whole chart `draw.rs`
//! - the units of an axis: `unit.rs`
//! - a file format: `file_format.rs`; PNG `png.rs`, its shapes `paint.rs`, its font `letters.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod axis_scale;
mod draw;
mod file_format;
mod legend;
#[cfg(feature = "png")]
mod letters;
mod marks;
#[cfg(feature = "png")]
mod paint;
#[cfg(feature = "png")]
mod png;
mod unit;

pub use draw::{HEIGHT, WIDTH, svg};
pub use file_format::FileFormat;
pub use marks::PALETTE;
#[cfg(feature = "png")]
pub use png::{PNG_SCALE, png};
