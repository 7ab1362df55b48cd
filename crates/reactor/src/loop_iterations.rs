//! The durations of a loop's iterations: the generator measures itself.
//!
//! A *loop iteration* lasts from the instant at which the loop can go on (it was woken, or should
//! have been woken and was not) to the next one at which it polls for events or waits for them.
//! Anything that arrives meanwhile waits in the kernel, so long iterations delay all tasks of the
//! loop; a loop whose process was stopped, or had no core, has one iteration of that length.
//!
//! The measurement needs only the clock readings that the loop makes anyway, and costs a few
//! additions per iteration: durations are counted in buckets whose width is at most a sixteenth of
//! their value.

/// The number of buckets for every doubling of the duration, as a power of two.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
/// The longest counted duration: longer ones count as this, about a quarter of an hour.
const LONGEST_NS: u64 = (1 << 40) - 1;
const BUCKETS: usize = bucket_of(LONGEST_NS) + 1;

/// The iterations of a loop, by duration.
#[derive(Debug)]
pub(crate) struct LoopIterations {
    counts: Box<[u64; BUCKETS]>,
    /// The longest duration.
    max_ns: u64,
}

impl Default for LoopIterations {
    fn default() -> Self {
        LoopIterations {
            counts: Box::new([0; BUCKETS]),
            max_ns: 0,
        }
    }
}

impl LoopIterations {
    #[inline]
    pub(crate) fn record(&mut self, length_ns: u64) {
        self.counts[bucket_of(length_ns.min(LONGEST_NS))] += 1;
        self.max_ns = self.max_ns.max(length_ns);
    }

    /// Reports each duration in nanoseconds, in rising order, with its number of iterations, and
    /// resets the counts. Durations are those of the middle of their buckets; the longest is exact.
    pub(crate) fn take(&mut self, each: &mut dyn FnMut(u64, u64)) {
        let longest = bucket_of(self.max_ns.min(LONGEST_NS));
        for (bucket, count) in self.counts[..=longest].iter_mut().enumerate() {
            let count = std::mem::take(count);
            let others = count - u64::from(bucket == longest && count > 0);
            if others > 0 {
                each(middle_of(bucket).min(self.max_ns), others);
            }
            if others < count {
                each(self.max_ns, 1);
            }
        }
        self.max_ns = 0;
    }
}

/// Returns the bucket of a duration. Short ones have a bucket each; above that each doubling has
/// [`STEPS`].
const fn bucket_of(length_ns: u64) -> usize {
    if length_ns < STEPS as u64 {
        return length_ns as usize;
    }
    let doubling = length_ns.ilog2() - STEP_BITS;
    let step = (length_ns >> doubling) as usize - STEPS;
    (doubling as usize + 1) * STEPS + step
}

fn middle_of(bucket: usize) -> u64 {
    if bucket < STEPS {
        return bucket as u64;
    }
    let doubling = bucket / STEPS - 1;
    let low = ((bucket % STEPS + STEPS) as u64) << doubling;
    low + (1 << doubling) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(lengths: &[u64]) -> Vec<(u64, u64)> {
        let mut loop_iterations = LoopIterations::default();
        lengths
            .iter()
            .for_each(|length| loop_iterations.record(*length));
        let mut told = Vec::new();
        loop_iterations.take(&mut |length_ns, count| told.push((length_ns, count)));
        loop_iterations.take(&mut |_, _| panic!("they are forgotten"));
        told
    }

    #[test]
    fn a_length_is_told_to_a_sixteenth_and_the_longest_exactly() {
        for length in (0..200).chain((8..39).map(|bit| (1 << bit) + 12_345)) {
            let told = taken(&[length, length, 1 << 39]);
            assert_eq!(told.len(), 2);
            let (middle, count) = told[0];
            assert!(
                middle.abs_diff(length) <= length / 16,
                "{length} as {middle}"
            );
            assert_eq!((count, told[1]), (2, (1 << 39, 1)));
        }
        assert_eq!(taken(&[1_000_003]), [(1_000_003, 1)]);
        assert_eq!(taken(&[0]), [(0, 1)]);
    }

    #[test]
    fn an_iteration_of_hours_counts_as_the_longest() {
        let told = taken(&[7, u64::MAX]);
        assert_eq!(told, [(7, 1), (u64::MAX, 1)]);
    }

    #[test]
    fn all_are_told_once_and_in_order() {
        let lengths: Vec<u64> = (0..10_000).map(|n| n * n).collect();
        let told = taken(&lengths);
        assert_eq!(told.iter().map(|(_, count)| count).sum::<u64>(), 10_000);
        assert!(told.is_sorted_by_key(|(length, _)| *length));
    }
}
