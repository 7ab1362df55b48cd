//! Receiving the responses of a pipelined batch at once.
//!
//! A server sends the responses of a batch one by one, and each receive costs a wake-up and an
//! acknowledgement. If only the whole batch is measured, the kernel wakes the loop when as many
//! bytes have arrived as each of the last batches had. If fewer arrive, the batch is read after a
//! while, and its connection gathers no more. This changes no time, because the kernel timestamps
//! the bytes that it receives; only the next batch is sent later.

/// The number of consecutive batches of one size after which the next one is expected to have it
/// too.
const SURE_AFTER: u32 = 8;
/// The time that a batch may take beyond four times the duration of the previous one, in
/// nanoseconds.
const EXTRA_NS: u64 = 50_000_000;
/// The grid of the deadlines of batches, in nanoseconds, so that those of all connections wake the
/// loop together.
const GRID_NS: u64 = 50_000_000;
/// The most bytes that are gathered: those that fit in one receive.
const MOST_BYTES: u64 = 32 * 1024;

/// The prediction of the size of a connection's next batch, from the previous ones.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// Bytes received of the current batch.
    bytes: u64,
    /// Bytes of the last batch.
    last: u64,
    /// The number of batches before the last one that had the same size.
    repeated: u32,
    /// The duration of the last batch, in nanoseconds.
    took_ns: u64,
    /// The number of bytes from which the kernel wakes the loop; 0 or 1 if it wakes for any.
    low_water: u32,
    /// True if the current batch was not complete in time.
    is_slow: bool,
    /// True if a batch was shorter than predicted, which ends gathering.
    is_over: bool,
}

impl Gathering {
    /// Begins a batch. Returns the number of bytes from which the loop is to be woken, if that
    /// changes.
    pub(crate) fn begin(&mut self, is_whole: bool) -> Option<u32> {
        self.bytes = 0;
        let is_sure = self.repeated + 1 >= SURE_AFTER && (2..=MOST_BYTES).contains(&self.last);
        let next = match is_whole && is_sure && !self.is_over {
            true => self.last as u32,
            false => 1,
        };
        let low_water = std::mem::replace(&mut self.low_water, next);
        (next != low_water.max(1)).then_some(next)
    }

    /// Returns the deadline for a whole batch that began at this instant; `None` if it is read as
    /// it arrives.
    pub(crate) fn until_ns(&self, begun_ns: u64) -> Option<u64> {
        let allowed_ns = self.took_ns.saturating_mul(4).saturating_add(EXTRA_NS);
        let until_ns = begun_ns.saturating_add(allowed_ns);
        (self.low_water > 1).then(|| (until_ns / GRID_NS + 1).saturating_mul(GRID_NS))
    }

    /// Counts received bytes of the batch.
    pub(crate) fn received(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Gives up waiting for the whole batch, which is read as it arrives. Returns true if that
    /// changes anything.
    pub(crate) fn give_up(&mut self) -> bool {
        self.is_slow = std::mem::replace(&mut self.low_water, 1) > 1;
        self.is_slow
    }

    /// Ends the batch, whose responses have all been read.
    pub(crate) fn end(&mut self, took_ns: u64) {
        let is_same = self.bytes == self.last;
        self.is_over |= std::mem::take(&mut self.is_slow) && !is_same;
        self.repeated = if is_same { self.repeated + 1 } else { 0 };
        self.last = self.bytes;
        self.took_ns = took_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn batch(gathering: &mut Gathering, bytes: usize) -> Option<u32> {
        let low_water = gathering.begin(true);
        gathering.received(bytes);
        gathering.end(3 * MS);
        low_water
    }

    /// Returns a gathering that predicts this size.
    fn sure_of(bytes: usize) -> Gathering {
        let mut gathering = Gathering::default();
        for _ in 0..SURE_AFTER {
            assert_eq!(batch(&mut gathering, bytes), None);
        }
        gathering
    }

    #[test]
    fn batches_of_a_size_tell_that_of_the_next() {
        let mut gathering = sure_of(800);
        assert_eq!(gathering.until_ns(0), None);
        assert_eq!(batch(&mut gathering, 800), Some(800));
        assert_eq!(gathering.until_ns(1_000 * MS), Some(1_100 * MS));
        assert_eq!(batch(&mut gathering, 801), None, "it stays at 800");
        assert_eq!(batch(&mut gathering, 801), Some(1));
    }

    #[test]
    fn part_of_a_batch_and_a_long_one_are_read_as_they_come() {
        let mut gathering = sure_of(40_000);
        assert_eq!(gathering.begin(true), None);
        let mut gathering = sure_of(500);
        assert_eq!(gathering.begin(true), Some(500));
        assert_eq!(gathering.begin(false), Some(1));
    }

    #[test]
    fn a_slow_batch_is_the_last_only_if_it_was_short() {
        let after_a_slow_one_of = |bytes: usize| {
            let mut gathering = sure_of(500);
            assert_eq!(gathering.begin(true), Some(500));
            assert!(gathering.give_up(), "it was waited for");
            gathering.received(bytes);
            gathering.end(90 * MS);
            (0..SURE_AFTER).find_map(|_| batch(&mut gathering, bytes))
        };
        assert_eq!(after_a_slow_one_of(500), Some(500));
        assert_eq!(after_a_slow_one_of(499), None);
    }
}
