//! A known capacity: this many requests a second, and no more.
//!
//! A fixed number of *counters*, as in a shop, serve one request each at a time, in the order of
//! arrival; serving takes counters ÷ rate. A request that finds none free queues for the next, so
//! waits grow with the load as in a real service, and without end beyond the rate (an M/D/c queue
//! if arrivals are random). No thread waits meanwhile: the queue is stored as the instants at which
//! the counters become free.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A capacity: a rate, and the number of counters that serve it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The rate, in requests per second, above zero.
    pub rate_per_s: f64,
    /// The number of requests that are served at the same time, at least 1.
    pub counters: u32,
}

impl Limit {
    pub(crate) fn is_possible(&self) -> bool {
        self.rate_per_s.is_finite() && self.rate_per_s > 0.0 && self.counters > 0
    }

    /// Returns the time for which one request is served.
    fn service(&self) -> Duration {
        Duration::from_secs_f64(f64::from(self.counters) / self.rate_per_s)
    }
}

/// The counters of a server.
#[derive(Debug)]
pub(crate) struct Counters {
    service: Duration,
    /// The instant at which each counter is free; in the past if it serves no request.
    free_at: Mutex<Vec<Instant>>,
}

impl Counters {
    pub(crate) fn new(limit: Limit, now: Instant) -> Self {
        Self {
            service: limit.service(),
            free_at: Mutex::new(vec![now; limit.counters as usize]),
        }
    }

    /// Returns the instant at which a request that arrives now will have been served.
    pub(crate) fn serve(&self, now: Instant) -> Instant {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let first = free_at
            .iter_mut()
            .min()
            .expect("a limit has at least one counter");
        *first = now.max(*first) + self.service;
        *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn requests_queue_for_the_next_counter_in_order() {
        let now = Instant::now();
        let limit = Limit {
            rate_per_s: 200.0,
            counters: 2,
        };
        let counters = Counters::new(limit, now);
        let served: Vec<Duration> = (0..5).map(|_| counters.serve(now) - now).collect();
        assert_eq!(served, [10, 10, 20, 20, 30].map(|n| n * MS));
    }

    #[test]
    fn idle_counters_save_up_nothing() {
        let now = Instant::now();
        let limit = Limit {
            rate_per_s: 100.0,
            counters: 1,
        };
        let counters = Counters::new(limit, now);
        let late = now + 500 * MS;
        assert_eq!(counters.serve(late) - late, 10 * MS);
        assert_eq!(counters.serve(late) - late, 20 * MS);
    }

    #[test]
    fn no_more_than_the_rate_is_served() {
        let now = Instant::now();
        let limit = Limit {
            rate_per_s: 5_000.0,
            counters: 4,
        };
        let counters = Counters::new(limit, now);
        let arrivals = (0..10_000).map(|n| now + n * MS / 10);
        let last = arrivals.map(|at| counters.serve(at)).max().expect("an end");
        let seconds = (last - now).as_secs_f64();
        assert!((seconds - 2.0).abs() < 0.002, "{seconds} s for 10 000");
    }
}
