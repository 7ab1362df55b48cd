//! The lead before a deadline at which the loop requests its wake-up.
//!
//! A sleeping thread wakes up some microseconds after its timer: the core leaves its idle state,
//! the scheduler switches. The loop learns how long that usually takes on this machine and how long
//! in the worst case, requests its wake-up that much earlier, and polls for the rest of the time
//! until the deadline. The usual delay is always allowed for. The worst case is allowed for if the
//! deadline is far enough away that polling stays a small part of the time.

use std::cell::Cell;

/// The upper limit of the usual delay.
const MOST_USUAL_NS: u64 = 50_000;
/// The step by which one observation moves the usual delay.
const USUAL_STEP_NS: u64 = 250;

/// The upper limit of the rare delay: longer delays are caused by other work on the core, which no
/// lead can compensate.
const MOST_RARE_NS: u64 = 300_000;
/// The rare delay before the first observation. A value that is too long costs some polling; one
/// that is too short makes the first requests late.
const FIRST_RARE_NS: u64 = 100_000;
/// The steps by which a longer delay moves the rare one up, and a shorter one down. Their ratio is
/// the share of wake-ups that are later than it: one in a hundred.
const RARE_STEP_UP_NS: u64 = 20_000;
const RARE_STEP_DOWN_NS: u64 = 200;
/// The inverse of the share of the time until a deadline that may be spent polling.
const POLLED_PART: u64 = 4;

/// The delays of this thread's wake-ups.
#[derive(Debug)]
pub(crate) struct Lead {
    /// The median.
    usual_ns: Cell<u64>,
    /// The 99th percentile.
    rare_ns: Cell<u64>,
    /// The deadline of the last request, and its wake-up time.
    last: Cell<(u64, u64)>,
}

impl Default for Lead {
    fn default() -> Self {
        Lead {
            usual_ns: Cell::new(0),
            rare_ns: Cell::new(FIRST_RARE_NS),
            last: Cell::new((0, 0)),
        }
    }
}

impl Lead {
    /// Returns the wake-up time for a deadline. A deadline that is requested again keeps its
    /// wake-up time, however near it is.
    pub(crate) fn wake_ns(&self, due_ns: u64, now_ns: u64) -> u64 {
        let (last_due_ns, last_wake_ns) = self.last.get();
        if due_ns == last_due_ns {
            return last_wake_ns;
        }
        let most_ns = due_ns.saturating_sub(now_ns) / POLLED_PART;
        let lead_ns = self.usual_ns.get().max(self.rare_ns.get().min(most_ns));
        let wake_ns = due_ns.saturating_sub(lead_ns);
        self.last.set((due_ns, wake_ns));
        wake_ns
    }

    /// Records the delay of a wake-up by a timer. Steps of equal size up and down converge to the
    /// median, which a few very late wake-ups do not move; steps of different size to a higher
    /// percentile.
    pub(crate) fn learn(&self, late_ns: u64) {
        let usual_ns = self.usual_ns.get();
        self.usual_ns.set(if late_ns > usual_ns {
            (usual_ns + USUAL_STEP_NS).min(MOST_USUAL_NS)
        } else {
            usual_ns.saturating_sub(USUAL_STEP_NS)
        });
        let rare_ns = self.rare_ns.get();
        self.rare_ns.set(if late_ns > rare_ns {
            (rare_ns + RARE_STEP_UP_NS).min(MOST_RARE_NS)
        } else {
            rare_ns.saturating_sub(RARE_STEP_DOWN_NS)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns the lead before a deadline that is `away_ns` ahead.
    fn lead_ns(lead: &Lead, away_ns: u64) -> u64 {
        let due_ns = 1_000 * MS + away_ns;
        due_ns - lead.wake_ns(due_ns, 1_000 * MS)
    }

    #[test]
    fn of_a_near_deadline_is_the_median_whatever_the_tail() {
        let lead = Lead::default();
        for round in 0..2_000_u64 {
            lead.learn(match round % 10 {
                0 => 4_000_000,
                1..=4 => 17_000,
                _ => 12_000,
            });
        }
        let near_ns = lead_ns(&lead, 20_000);
        assert!((11_500..=17_500).contains(&near_ns), "{near_ns}");
    }

    #[test]
    fn of_a_far_deadline_covers_all_but_one_wake_up_in_a_hundred() {
        let lead = Lead::default();
        let delays_ns = (0..100_000_u64).map(|round| match round % 1_000 {
            0..5 => 900_000,
            5..15 => 140_000,
            _ => 30_000,
        });
        let later = delays_ns.filter(|late_ns| {
            let is_later = *late_ns > lead.rare_ns.get();
            lead.learn(*late_ns);
            is_later
        });
        let later = later.count();
        assert!((900..=1_100).contains(&later), "{later} of 100 000");
    }

    #[test]
    fn is_at_most_a_quarter_of_the_time_left_or_the_median() {
        let lead = Lead::default();
        (0..1_000).for_each(|_| lead.learn(200_000));
        let requested_ns = [100_000, 400_000, MS, 10 * MS].map(|away_ns| lead_ns(&lead, away_ns));
        let rare_ns = lead.rare_ns.get();
        assert_eq!(requested_ns, [MOST_USUAL_NS, 100_000, rare_ns, rare_ns]);
    }

    #[test]
    fn keeps_its_instant_as_the_deadline_comes_near() {
        let lead = Lead::default();
        let wake_ns = lead.wake_ns(2 * MS, MS);
        assert_eq!(wake_ns, 2 * MS - FIRST_RARE_NS);
        assert_eq!(lead.wake_ns(2 * MS, wake_ns), wake_ns);
        assert!(lead.wake_ns(3 * MS, wake_ns) > wake_ns);
    }

    #[test]
    fn stays_within_its_bounds() {
        let lead = Lead::default();
        (0..1_000).for_each(|_| lead.learn(0));
        assert_eq!(lead_ns(&lead, 10 * MS), 0);
        (0..1_000).for_each(|_| lead.learn(MS));
        assert_eq!(lead_ns(&lead, 10 * MS + 1), MOST_RARE_NS);
    }
}
