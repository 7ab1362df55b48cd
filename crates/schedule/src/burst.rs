//! Bursts: several arrivals at once, at regular intervals.

use crate::Stripe;
use crate::arrival::Arrival;
use crate::stripe::Indices;

/// `size` arrivals at 0, `every_ns`, 2 · `every_ns` …, without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    size: u64,
    every_ns: u64,
}

impl Burst {
    /// Creates bursts.
    ///
    /// # Panics
    ///
    /// When the interval is zero.
    pub(crate) fn new(size: u64, every_ns: u64) -> Self {
        assert!(every_ns > 0, "bursts must be more than no time apart");
        Self { size, every_ns }
    }

    pub(crate) fn size(self) -> u64 {
        self.size
    }

    pub(crate) fn every_ns(self) -> u64 {
        self.every_ns
    }

    pub(crate) fn walk(self, stripe: Stripe) -> BurstWalk {
        BurstWalk {
            burst: self,
            indices: stripe.indices(),
        }
    }

    pub(crate) fn due_before(self, t_ns: u64) -> u64 {
        t_ns.div_ceil(self.every_ns).saturating_mul(self.size)
    }

    /// Returns the instant of an arrival in nanoseconds; `None` for bursts without size, and beyond
    /// the end of time.
    fn at_ns(self, index: u64) -> Option<u64> {
        index.checked_div(self.size)?.checked_mul(self.every_ns)
    }
}

/// One stripe of a [`Burst`].
#[derive(Clone, Debug)]
pub(crate) struct BurstWalk {
    burst: Burst,
    indices: Indices,
}

impl Iterator for BurstWalk {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.indices.next()?;
        let at_ns = self.burst.at_ns(index)?;
        Some(Arrival { index, at_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_burst_arrives_at_once() {
        let walk = Burst::new(3, 500).walk(Stripe::WHOLE);
        let instants: Vec<_> = walk.take(8).map(|arrival| arrival.at_ns).collect();
        assert_eq!(instants, [0, 0, 0, 500, 500, 500, 1_000, 1_000]);
    }

    #[test]
    fn stripes_share_a_burst() {
        let walk = Burst::new(3, 500).walk(Stripe { index: 1, of: 2 });
        let arrivals: Vec<_> = walk.take(4).map(|a| (a.index, a.at_ns)).collect();
        assert_eq!(arrivals, [(1, 0), (3, 500), (5, 500), (7, 1_000)]);
    }

    #[test]
    fn a_burst_is_due_just_after_its_instant() {
        let burst = Burst::new(20, 500);
        let due = [0, 1, 500, 501, 1_000, 1_001].map(|t_ns| burst.due_before(t_ns));
        assert_eq!(due, [0, 20, 20, 40, 40, 60]);
    }

    #[test]
    fn bursts_of_none_never_arrive() {
        assert_eq!(Burst::new(0, 500).walk(Stripe::WHOLE).next(), None);
        assert_eq!(Burst::new(0, 500).due_before(u64::MAX), 0);
    }

    #[test]
    fn bursts_end_with_time() {
        let walk = Burst::new(2, u64::MAX).walk(Stripe::WHOLE);
        let instants: Vec<_> = walk.map(|arrival| arrival.at_ns).collect();
        assert_eq!(instants, [0, 0, u64::MAX, u64::MAX]);
        assert_eq!(Burst::new(u64::MAX, 1).due_before(u64::MAX), u64::MAX);
    }

    #[test]
    #[should_panic(expected = "no time apart")]
    fn bursts_without_interval_are_refused() {
        Burst::new(1, 0);
    }
}
