//! A distribution of times: an HDR histogram that holds no memory until its first value.
//!
//! The histogram is that of the `hdrhistogram` crate with the bounds of [`LONGEST_NS`] and
//! [`DIGITS`]: three significant digits mean that a value is known to within 0.1 %.
//!
//! **Memory.** A histogram made for the whole range is 270 KB, ten of them a second and worker.
//! Such blocks are only cheap while the allocator maps fresh zero pages for each; glibc stops doing
//! so after the first one was freed (its mmap threshold then rises above their size). So a
//! distribution starts with no histogram at all, makes a small one at its first value and lets it
//! grow with the largest value seen: 8 KB for every doubling above 2 µs, some 120 KB where the
//! slowest answer took 16 ms. [`Distribution::reset`] keeps the block, so that a recorder that is
//! given its used-up snapshots back ([`Recorder::recycle`](crate::Recorder::recycle)) allocates
//! nothing once the largest values have been seen.

use hdrhistogram::Histogram;

/// The longest time that is told apart, in nanoseconds: an hour. Longer ones count as this.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The significant decimal digits that are kept of a time.
pub const DIGITS: u8 = 3;

/// A distribution of times in nanoseconds.
///
/// Statistics of an empty distribution are 0: ask [`is_empty`](Distribution::is_empty) first where
/// it matters.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    histogram: Option<Histogram<u64>>,
}

impl Distribution {
    /// Adds one time, in nanoseconds.
    #[inline]
    pub fn record_ns(&mut self, value_ns: u64) {
        self.record_many_ns(value_ns, 1);
    }

    /// Adds the same time `count` times, in nanoseconds.
    #[inline]
    pub fn record_many_ns(&mut self, value_ns: u64, count: u64) {
        let value_ns = value_ns.min(LONGEST_NS);
        let histogram = self.histogram.get_or_insert_with(|| growing(value_ns));
        histogram
            .record_n(value_ns, count)
            .expect("a growing histogram takes every value up to an hour");
    }

    /// Adds all that the other one holds, without loss.
    pub fn merge(&mut self, other: &Distribution) {
        let Some(source) = other.recorded() else {
            return;
        };
        let histogram = self.histogram.get_or_insert_with(|| growing(source.max()));
        histogram
            .add(source)
            .expect("a growing histogram takes every value of another one");
    }

    /// Forgets all values and keeps the memory for the next ones.
    pub fn reset(&mut self) {
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
        }
    }

    /// How many times were recorded.
    pub fn len(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arithmetic mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.recorded().map_or(0.0, Histogram::mean)
    }

    /// The standard deviation (of the population) in nanoseconds.
    pub fn stdev_ns(&self) -> f64 {
        self.recorded().map_or(0.0, Histogram::stdev)
    }

    /// The smallest time in nanoseconds, to three digits, rounded down.
    pub fn min_ns(&self) -> u64 {
        self.recorded().map_or(0, Histogram::min)
    }

    /// The largest time in nanoseconds, to three digits, rounded up.
    pub fn max_ns(&self) -> u64 {
        self.recorded().map_or(0, Histogram::max)
    }

    /// The time in nanoseconds that `percentile` (0 to 100) of all times do not exceed, to three
    /// digits, rounded up.
    pub fn percentile_ns(&self, percentile: f64) -> u64 {
        self.recorded()
            .map_or(0, |histogram| histogram.value_at_percentile(percentile))
    }

    /// How many times were at most `value_ns` nanoseconds, to three digits.
    pub fn count_up_to_ns(&self, value_ns: u64) -> u64 {
        self.recorded()
            .map_or(0, |histogram| histogram.count_between(0, value_ns))
    }

    /// The histogram, if it holds anything.
    pub fn recorded(&self) -> Option<&Histogram<u64>> {
        self.histogram
            .as_ref()
            .filter(|histogram| !histogram.is_empty())
    }

    /// Each distinct value in nanoseconds (to three digits, rounded up) with its count, rising.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.recorded()
            .into_iter()
            .flat_map(Histogram::iter_recorded)
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
    }
}

/// Equal when the same values were recorded, whatever memory each holds.
impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        self.steps().eq(other.steps())
    }
}

/// An empty histogram with room for `value_ns`, which grows when a larger value comes.
#[cold]
fn growing(value_ns: u64) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, value_ns.max(2), DIGITS)
        .expect("1 to at least 2 with three digits are valid bounds");
    histogram.auto(true);
    histogram
}
