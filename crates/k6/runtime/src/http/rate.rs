//! The maximum rate of all requests of a run's users.
//!
//! It is a token bucket of one token: each request takes the next free instant, and waits for it.
//! This wait is in no time of the request.

use std::sync::{Mutex, PoisonError};

const NS_PER_S: u64 = 1_000_000_000;

/// Limits the rate of the requests of all users of a run.
#[derive(Debug)]
pub(crate) struct RateLimit {
    /// The time from one request to the next.
    interval_ns: u64,
    /// The next free instant.
    free_ns: Mutex<u64>,
}

impl RateLimit {
    /// Creates a limit of `count` requests per second, at least one.
    pub(crate) fn each_second(count: u64) -> Self {
        RateLimit {
            interval_ns: NS_PER_S / count.max(1),
            free_ns: Mutex::default(),
        }
    }

    /// Takes the next free instant, and returns the time until then in nanoseconds.
    pub(crate) fn take(&self, now_ns: u64) -> u64 {
        // The value is consistent even if a thread panicked while it held the lock.
        let mut free_ns = self.free_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ns = now_ns.max(*free_ns);
        *free_ns = at_ns + self.interval_ns;
        at_ns - now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_take_turns_and_unused_turns_are_lost() {
        let limit = RateLimit::each_second(10);
        let tenth_ns = NS_PER_S / 10;
        assert_eq!(
            [limit.take(5), limit.take(5), limit.take(6)],
            [0, tenth_ns, 2 * tenth_ns - 1]
        );
        let later_ns = 50 * tenth_ns;
        assert_eq!([limit.take(later_ns), limit.take(later_ns)], [0, tenth_ns]);
    }
}
