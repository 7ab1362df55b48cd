//! Series of requests by name and tags: counts and times, merged without loss.
//!
//! A [`SeriesTable`] gives each [`Key`] (a name and its tags) a [`SeriesId`] before the run. A
//! worker's [`SeriesRecorder`] takes each request under its id, which is an index: no hashing. At
//! the end of an interval it hands over a [`SeriesSet`], and the sets of workers, intervals and
//! processes merge.
//!
//! # Memory
//!
//! There are at most so many series as the table was made for ([`DEFAULT_MOST`]). What has no room
//! is counted together in one series more, [`Key::overflow`], so that the series always add up to
//! the totals. A worker counts the times of a series in pages that it holds only where times fall
//! ([`PagedCounts`]), everybody else in two or three bytes for each time that differs
//! ([`SparseCounts`]). Both tell times apart to within a hundredth.

mod custom;
mod key;
mod paged;
mod recorder;
mod series;
mod set;
mod sparse;
mod table;

pub use custom::{
    Counter, CustomMetric, CustomMetrics, CustomRecorder, ExactSum, Gauge, MetricId, MetricKind,
    MetricUnit, OtherKind, Rate, Trend, TrendParts, Values, is_metric_name,
};
pub use key::{InvalidName, Key, LONGEST_NAME};
pub use paged::PagedCounts;
pub use recorder::{RequestOutcome, SeriesRecorder};
pub use series::Series;
pub use set::SeriesSet;
pub use sparse::{LONGEST_NS, SparseCounts, bucket, highest_of};
pub use table::{DEFAULT_MOST, SeriesId, SeriesTable};

/// Times that share their exponent and the first bits after it share a bucket of a series, which
/// is therefore at most a hundredth of its times wide.
pub const BITS: u32 = 7;
