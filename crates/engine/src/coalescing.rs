//! Interrupt coalescing: the time for which a worker's loop sleeps before it polls its sockets.
//!
//! In a closed load with a busy server, responses arrive one by one, and a loop that waits for each
//! pays a system call and a wake-up for each, on both sides. A loop that sleeps briefly first finds
//! several. If the kernel timestamps responses, the sleep is in no response time; it only delays
//! the next requests of the users. Without kernel timestamps the sleep is part of the delay added
//! by our clock. Therefore it is a small part of the mean response time, and changes the rate by
//! less than half of that part. If many workers share a core, a loop waits for the core anyway, and
//! finds several responses: a sleep would only yield the core once more.
//!
//! If several streams share a connection of HTTP/2, a longer sleep is worthwhile: requests that
//! arrive together are answered together, so that the server also reads and writes once for several
//! requests. The kernel stamps the last packet of a receive, so that an early response in it reads
//! late, by the sleep at most. Therefore the loop sleeps only if several responses are expected
//! meanwhile.
//!
//! In an open load the loop must wake for the next arrival anyway. A response for which no user
//! waits can be read then, because the kernel has timestamped it.

use loadline_reactor::Coalescing;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// The sleep of the loop in a closed load.
#[derive(Clone, Copy, Debug)]
struct Sleep {
    /// The divisor of the mean response time.
    part: u64,
    /// The longest sleep, in nanoseconds: a longer one saves nothing more.
    most_ns: u64,
    /// The minimum number of iterations expected to end during the sleep.
    least_iterations: u64,
}

const OF_CONNECTIONS: Sleep = Sleep {
    part: 128,
    most_ns: 50_000,
    least_iterations: 0,
};
const OF_STREAMS: Sleep = Sleep {
    part: 4,
    most_ns: 200_000,
    least_iterations: 8,
};
/// The shortest sleep, in nanoseconds: a shorter one costs more than it saves.
const LEAST_NS: u64 = 4_000;

/// With this many workers per core, or more, no loop sleeps: the sleep would cost a tenth of the
/// rate, and half of it with fifteen.
const CROWDED_WORKERS_ON_A_CORE: usize = 2;

/// The loop sleeps until the next arrival if that is at most this far away, in nanoseconds: from 4
/// 000 arrivals per second and worker on, a wake-up costs more than an exchange; below, it hardly
/// matters.
const MOST_BETWEEN_ARRIVALS_NS: u64 = 250_000;

/// Coalescing for a closed load, which follows its mean response time.
#[derive(Debug)]
pub(crate) struct ClosedLoadCoalescing {
    is_crowded: bool,
    sleep: Sleep,
    seen_ns: u64,
    seen_iterations: u64,
}

impl ClosedLoadCoalescing {
    /// Creates the coalescing of a load with this many workers, and streams per connection, that
    /// begins now.
    pub(crate) fn new(begin_ns: u64, workers: u32, streams: u32) -> Self {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        let sleep = if streams > 1 {
            OF_STREAMS
        } else {
            OF_CONNECTIONS
        };
        ClosedLoadCoalescing {
            sleep,
            ..Self::on(cores, begin_ns, workers)
        }
    }

    fn on(cores: usize, begin_ns: u64, workers: u32) -> Self {
        ClosedLoadCoalescing {
            is_crowded: workers as usize >= cores * CROWDED_WORKERS_ON_A_CORE,
            sleep: OF_CONNECTIONS,
            seen_ns: begin_ns,
            seen_iterations: 0,
        }
    }

    /// Returns the coalescing from now on, from the number of users and of iterations begun so far.
    /// Little's law gives the mean response time: users divided by the rate of iterations.
    pub(crate) fn observe(&mut self, now_ns: u64, users: u32, iterations: u64) -> Coalescing {
        let passed_ns = now_ns.saturating_sub(self.seen_ns);
        let begun = iterations - self.seen_iterations;
        (self.seen_ns, self.seen_iterations) = (now_ns, iterations);
        if begun == 0 || self.is_crowded {
            return Coalescing::Off;
        }
        let mean_ns = u64::from(users).saturating_mul(passed_ns) / begun;
        let sleep_ns = (mean_ns / self.sleep.part).min(self.sleep.most_ns);
        let meanwhile = sleep_ns.saturating_mul(begun) / passed_ns.max(1);
        if sleep_ns < LEAST_NS || meanwhile < self.sleep.least_iterations {
            return Coalescing::Off;
        }
        Coalescing::For(sleep_ns)
    }
}

/// Coalescing for an open load: on while everything that its users wait for can be read when the
/// next arrival is due, which is true for whole responses that the kernel timestamps. Waiting for
/// anything else (a connection, the rest of a long response, a response within an iteration)
/// suspends it until the supervisor's next call.
#[derive(Debug)]
pub(crate) struct OpenLoadCoalescing {
    are_stamped: bool,
    suspended: Cell<bool>,
}

impl OpenLoadCoalescing {
    /// Creates the coalescing of a load; `are_stamped` is true if the kernel timestamps its
    /// responses.
    pub(crate) fn new(are_stamped: bool) -> Self {
        OpenLoadCoalescing {
            are_stamped,
            suspended: Cell::new(false),
        }
    }

    /// Suspends coalescing, because a user waits for something else. Returns true if it was on
    /// until now.
    #[inline]
    pub(crate) fn suspend(&self) -> bool {
        !self.suspended.replace(true)
    }

    /// Returns the coalescing from now on: off if it was suspended since the last call.
    pub(crate) fn next(&self) -> Coalescing {
        if self.suspended.replace(false) || !self.are_stamped {
            return Coalescing::Off;
        }
        Coalescing::UntilTimer(MOST_BETWEEN_ARRIVALS_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn is_a_part_of_the_mean_response_time() {
        let mut coalescing = ClosedLoadCoalescing::on(2, 0, 1);
        let first = coalescing.observe(100 * MS, 100, 10_000);
        assert_eq!(first, Coalescing::For(7_812));
        let second = coalescing.observe(200 * MS, 100, 12_000);
        assert_eq!(second, Coalescing::For(39_062));
    }

    #[test]
    fn is_nothing_where_answers_come_fast_or_not_at_all() {
        let mut coalescing = ClosedLoadCoalescing::on(2, 0, 1);
        assert_eq!(coalescing.observe(100 * MS, 10, 10_000), Coalescing::Off);
        assert_eq!(coalescing.observe(200 * MS, 10, 10_000), Coalescing::Off);
    }

    #[test]
    fn is_nothing_where_many_workers_share_a_core() {
        for (workers, expected) in [(3, Coalescing::For(7_812)), (4, Coalescing::Off)] {
            let mut coalescing = ClosedLoadCoalescing::on(2, 0, workers);
            assert_eq!(coalescing.observe(100 * MS, 100, 10_000), expected);
        }
    }

    #[test]
    fn streams_that_share_connections_wait_longer_for_each_other() {
        let mut coalescing = ClosedLoadCoalescing {
            sleep: OF_STREAMS,
            ..ClosedLoadCoalescing::on(2, 0, 1)
        };
        let first = coalescing.observe(100 * MS, 100, 25_000);
        assert_eq!(first, Coalescing::For(100_000));
        let slower = coalescing.observe(200 * MS, 100, 30_000);
        assert_eq!(slower, Coalescing::For(OF_STREAMS.most_ns));
        let slow = coalescing.observe(300 * MS, 100, 33_900);
        assert_eq!(
            slow,
            Coalescing::Off,
            "fewer than eight would come meanwhile"
        );
    }

    #[test]
    fn has_a_bound() {
        let mut coalescing = ClosedLoadCoalescing::on(2, 0, 1);
        let first = coalescing.observe(100 * MS, 10_000, 10);
        assert_eq!(first, Coalescing::For(OF_CONNECTIONS.most_ns));
    }

    #[test]
    fn coalescing_is_suspended_until_it_is_next_asked_for() {
        let coalescing = OpenLoadCoalescing::new(true);
        let on = Coalescing::UntilTimer(MOST_BETWEEN_ARRIVALS_NS);
        assert_eq!(coalescing.next(), on);
        assert!(coalescing.suspend(), "it was on");
        assert!(!coalescing.suspend(), "it is suspended already");
        assert_eq!(coalescing.next(), Coalescing::Off);
        assert_eq!(coalescing.next(), on);
    }

    #[test]
    fn answers_without_a_stamp_are_read_at_once() {
        assert_eq!(OpenLoadCoalescing::new(false).next(), Coalescing::Off);
    }
}
