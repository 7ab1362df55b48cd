//! How long a worker's loop lingers before it waits.
//!
//! In a closed load behind a busy server answers come one by one, and a loop that waits for each
//! pays a system call and a wake-up for each, on both sides. A loop that lingers a little first finds
//! several. Where the kernel stamps answers as they come, lingering is in no response time; all that
//! it delays is what the users send next. Elsewhere it is part of what our clock adds. So it is a
//! small part of the mean response time, and the rate changes by less than half of that part.

/// The part of the mean response time that is lingered away.
const PART: u64 = 128;
/// Longer than this saves nothing more.
const MOST_NS: u64 = 50_000;
/// Shorter than this costs more than it saves.
const LEAST_NS: u64 = 4_000;

/// Follows the mean response time of a closed load.
#[derive(Debug)]
pub(crate) struct Linger {
    seen_ns: u64,
    seen_iterations: u64,
}

impl Linger {
    /// A load that begins now.
    pub(crate) fn new(begin_ns: u64) -> Self {
        Linger {
            seen_ns: begin_ns,
            seen_iterations: 0,
        }
    }

    /// How long to linger from now on, given how many users have begun how many iterations by now. Little's
    /// law gives the mean response time: users by the rate of iterations.
    pub(crate) fn observe(&mut self, now_ns: u64, users: u32, iterations: u64) -> u64 {
        let passed_ns = now_ns.saturating_sub(self.seen_ns);
        let begun = iterations - self.seen_iterations;
        (self.seen_ns, self.seen_iterations) = (now_ns, iterations);
        if begun == 0 {
            return 0;
        }
        match u64::from(users).saturating_mul(passed_ns) / begun / PART {
            0..LEAST_NS => 0,
            linger_ns => linger_ns.min(MOST_NS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn is_a_part_of_the_mean_response_time() {
        let mut linger = Linger::new(0);
        assert_eq!(linger.observe(100 * MS, 100, 10_000), 7_812);
        assert_eq!(linger.observe(200 * MS, 100, 12_000), 39_062);
    }

    #[test]
    fn is_nothing_where_answers_come_fast_or_not_at_all() {
        let mut linger = Linger::new(0);
        assert_eq!(linger.observe(100 * MS, 10, 10_000), 0);
        assert_eq!(linger.observe(200 * MS, 10, 10_000), 0);
    }

    #[test]
    fn has_a_bound() {
        let mut linger = Linger::new(0);
        assert_eq!(linger.observe(100 * MS, 10_000, 10), MOST_NS);
    }
}
