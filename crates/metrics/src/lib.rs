//! Series of requests by name and tags: counts and times, merged without loss.
//!
//! A [`SeriesTable`] assigns a [`SeriesId`] to each [`Key`] (a name and its tags) before the run. A
//! worker's [`SeriesRecorder`] records each request under its id, which is an index: no hashing. At
//! the end of an interval it returns a [`SeriesSet`], and the sets of workers, intervals and
//! processes merge.
//!
//! # Memory
//!
//! The number of series is bounded by the table ([`DEFAULT_MOST`]). Requests without room for their
//! own series share one more, [`Key::overflow`], so that the series always add up to the totals. A
//! worker counts the times of a series in pages that it allocates only for times that occur
//! ([`PagedCounts`]); all other code uses two or three bytes for each distinct time
//! ([`SparseCounts`]). The buckets of both are at most a hundredth of their times wide.
//!
//! ## To change
//!
//! - the counts and times of a series: `series.rs`, its key `key.rs`; the ids and the bound of
//!   their number `table.rs`
//! - what a worker records: `recorder.rs`, `paged.rs`; what is merged `set.rs`, `sparse.rs`
//! - metrics that scripts count by themselves: their kinds `custom.rs`; of a worker
//!   `custom/recorder.rs`, merged `custom/set.rs`; the distribution of a trend, of k6's as well,
//!   `custom/trend.rs`, `custom/trend/`; numbers for another process `bits.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod bits;
mod custom;
mod key;
mod paged;
mod recorder;
mod series;
mod set;
mod sparse;
mod table;

pub use custom::{
    Counter, CustomMetric, CustomMetrics, CustomRecorder, EXACT as EXACT_VALUES, ExactSum, Gauge,
    MetricId, MetricKind, MetricUnit, OtherKind, Rate, Trend, TrendParts, Values, is_metric_name,
};
pub use key::{InvalidName, Key, LONGEST_NAME};
pub use paged::PagedCounts;
pub use recorder::{RequestOutcome, SeriesRecorder};
pub use series::Series;
pub use set::SeriesSet;
pub use sparse::{LONGEST_NS, SparseCounts, bucket, highest_of};
pub use table::{DEFAULT_MOST, SeriesId, SeriesTable};

/// The number of bits after the leading one of a time that determine its bucket, in addition to the
/// exponent. So a bucket is at most a hundredth of its times wide.
pub const BITS: u32 = 7;
