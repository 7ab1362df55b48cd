//! How long a worker's loop lingers before it waits.
//!
//! In a closed load behind a busy server answers come one by one, and a loop that waits for each
//! pays a system call and a wake-up for each, on both sides. A loop that lingers a little first
//! finds several. Where the kernel stamps answers as they come, lingering is in no response time;
//! all that it delays is what the users send next. Elsewhere it is part of what our clock adds. So
//! it is a small part of the mean response time, and the rate changes by less than half of that
//! part.
//!
//! In an open load the loop must wake for the next arrival anyway, and an answer that stands alone
//! can be read then: nobody waits for it, and its time is the kernel's.

use loadline_reactor::Linger;
use std::cell::Cell;

/// The part of the mean response time that is lingered away.
const PART: u64 = 128;
/// Longer than this saves nothing more.
const MOST_NS: u64 = 50_000;
/// Shorter than this costs more than it saves.
const LEAST_NS: u64 = 4_000;

/// The furthest that an arrival may be away to be lingered for: at 4 000 a second and more for each
/// worker a wake-up costs more than an exchange, below it hardly matters.
const MOST_BETWEEN_ARRIVALS_NS: u64 = 250_000;

/// Follows the mean response time of a closed load.
#[derive(Debug)]
pub(crate) struct Moderation {
    seen_ns: u64,
    seen_iterations: u64,
}

impl Moderation {
    /// A load that begins now.
    pub(crate) fn new(begin_ns: u64) -> Self {
        Moderation {
            seen_ns: begin_ns,
            seen_iterations: 0,
        }
    }

    /// How long to linger from now on, given how many users have begun how many iterations by now.
    /// Little's law gives the mean response time: users by the rate of iterations.
    pub(crate) fn observe(&mut self, now_ns: u64, users: u32, iterations: u64) -> Linger {
        let passed_ns = now_ns.saturating_sub(self.seen_ns);
        let begun = iterations - self.seen_iterations;
        (self.seen_ns, self.seen_iterations) = (now_ns, iterations);
        if begun == 0 {
            return Linger::No;
        }
        match u64::from(users).saturating_mul(passed_ns) / begun / PART {
            0..LEAST_NS => Linger::No,
            linger_ns => Linger::For(linger_ns.min(MOST_NS)),
        }
    }
}

/// Whether all that an open load waits for can be read when its next arrival is due: answers, whole
/// and stamped as they come. What else users wait for (a connection, the rest of a long answer, an
/// answer that the same iteration goes on after) ends the patience until it is next asked for.
#[derive(Debug)]
pub(crate) struct Patience {
    are_stamped: bool,
    ended: Cell<bool>,
}

impl Patience {
    /// Of a load whose answers are stamped by the kernel, or are not.
    pub(crate) fn new(are_stamped: bool) -> Self {
        Patience {
            are_stamped,
            ended: Cell::new(false),
        }
    }

    /// Somebody waits for something else. Returns whether that is news.
    #[inline]
    pub(crate) fn end(&self) -> bool {
        !self.ended.replace(true)
    }

    /// How to linger from now on, given whether the patience has ended since the last call.
    pub(crate) fn linger(&self) -> Linger {
        if self.ended.replace(false) || !self.are_stamped {
            return Linger::No;
        }
        Linger::UntilTimer(MOST_BETWEEN_ARRIVALS_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn is_a_part_of_the_mean_response_time() {
        let mut moderation = Moderation::new(0);
        let first = moderation.observe(100 * MS, 100, 10_000);
        assert_eq!(first, Linger::For(7_812));
        let second = moderation.observe(200 * MS, 100, 12_000);
        assert_eq!(second, Linger::For(39_062));
    }

    #[test]
    fn is_nothing_where_answers_come_fast_or_not_at_all() {
        let mut moderation = Moderation::new(0);
        assert_eq!(moderation.observe(100 * MS, 10, 10_000), Linger::No);
        assert_eq!(moderation.observe(200 * MS, 10, 10_000), Linger::No);
    }

    #[test]
    fn has_a_bound() {
        let mut moderation = Moderation::new(0);
        let first = moderation.observe(100 * MS, 10_000, 10);
        assert_eq!(first, Linger::For(MOST_NS));
    }

    #[test]
    fn patience_ends_until_it_is_next_asked_for() {
        let patience = Patience::new(true);
        let lingers = Linger::UntilTimer(MOST_BETWEEN_ARRIVALS_NS);
        assert_eq!(patience.linger(), lingers);
        assert!(patience.end(), "it is news");
        assert!(!patience.end(), "it is none any more");
        assert_eq!(patience.linger(), Linger::No);
        assert_eq!(patience.linger(), lingers);
    }

    #[test]
    fn answers_without_a_stamp_are_read_at_once() {
        assert_eq!(Patience::new(false).linger(), Linger::No);
    }
}
