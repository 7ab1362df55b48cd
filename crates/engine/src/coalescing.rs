//! Interrupt coalescing: how long a worker's loop sleeps before it waits for its sockets.
//!
//! In a closed load behind a busy server answers come one by one, and a loop that waits for each
//! pays a system call and a wake-up for each, on both sides. A loop that sleeps a little first
//! finds several. Where the kernel timestamps answers, the sleep is in no response time; it only
//! delays what the users send next. Without kernel timestamps it is part of the time that our
//! clock adds. So it is a small part of the mean response time, and the rate changes by less than
//! half of that part. Where many workers share a core a loop waits for it as it is, and finds
//! several: a sleep would give the core away once more.
//!
//! Where several streams share a connection of HTTP/2, a longer sleep pays: what comes together is
//! answered together, so that the server as well reads and writes once for several requests. The
//! kernel stamps the last packet of a receive, so that an early response of it reads late by the
//! sleep at most. So the loop sleeps only if several responses are expected meanwhile.
//!
//! In an open load the loop must wake for the next arrival anyway. A response that no user waits
//! for can be read then, as the kernel has timestamped it.

use loadline_reactor::Coalescing;
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// How long the loop sleeps in a closed load.
#[derive(Clone, Copy, Debug)]
struct Sleep {
    /// The mean response time divided by this.
    part: u64,
    /// The longest sleep: a longer one saves nothing more.
    most_ns: u64,
    /// How many iterations must be expected to end during the sleep.
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
/// The shortest sleep: a shorter one costs more than it saves.
const LEAST_NS: u64 = 4_000;

/// With so many workers for each core, or more, no loop sleeps: the sleep costs a tenth of the rate
/// then, and half of it with fifteen.
const CROWDED_WORKERS_ON_A_CORE: usize = 2;

/// The loop sleeps until the next arrival if that is at most so far away: from 4 000 arrivals a
/// second and worker on a wake-up costs more than an exchange, below it hardly matters.
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
    /// A load of so many workers, with so many streams on a connection, that begins now.
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

    /// How to coalesce from now on, given how many users have begun how many iterations by now.
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
/// next arrival is due, which holds for whole responses that the kernel timestamps. Waiting for
/// anything else (a connection, the rest of a long response, a response within an iteration)
/// suspends it until the supervisor next asks.
#[derive(Debug)]
pub(crate) struct OpenLoadCoalescing {
    are_stamped: bool,
    suspended: Cell<bool>,
}

impl OpenLoadCoalescing {
    /// For a load whose answers the kernel timestamps, or does not.
    pub(crate) fn new(are_stamped: bool) -> Self {
        OpenLoadCoalescing {
            are_stamped,
            suspended: Cell::new(false),
        }
    }

    /// A user waits for something else. Returns whether coalescing was on until now.
    #[inline]
    pub(crate) fn suspend(&self) -> bool {
        !self.suspended.replace(true)
    }

    /// How to coalesce from now on: off if it was suspended since the last call.
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
