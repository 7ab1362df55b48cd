//! How long before a deadline the loop asks to be woken.
//!
//! A sleeping thread comes back some microseconds after its timer: the core leaves its idle state,
//! the scheduler switches. The loop learns how long that usually takes here, asks for its wake-up
//! by so much earlier, and polls away what is left until the deadline. What is left is short,
//! because it is the spread of the delay and not the delay.

use std::cell::Cell;

/// The most that a wake-up is asked for ahead: delays beyond are somebody else's work on the core,
/// which no foresight mends.
const MOST_NS: u64 = 50_000;
/// How far one observation moves the estimate.
const STEP_NS: u64 = 250;

/// The usual delay of a wake-up on this thread.
#[derive(Debug, Default)]
pub(crate) struct Lead(Cell<u64>);

impl Lead {
    /// How long before a deadline to be woken.
    pub(crate) fn ns(&self) -> u64 {
        self.0.get()
    }

    /// A timer woke the thread so late. Steps of one size up and down settle at the median, which
    /// a few very late wake-ups do not move.
    pub(crate) fn learn(&self, late_ns: u64) {
        let lead_ns = self.0.get();
        let next_ns = if late_ns > lead_ns {
            (lead_ns + STEP_NS).min(MOST_NS)
        } else {
            lead_ns.saturating_sub(STEP_NS)
        };
        self.0.set(next_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_at_the_median_whatever_the_tail() {
        let lead = Lead::default();
        for round in 0..2_000_u64 {
            lead.learn(match round % 10 {
                0 => 4_000_000,
                1..=4 => 17_000,
                _ => 12_000,
            });
        }
        assert!((11_500..=17_500).contains(&lead.ns()), "{}", lead.ns());
    }

    #[test]
    fn stays_between_nothing_and_its_bound() {
        let lead = Lead::default();
        lead.learn(0);
        assert_eq!(lead.ns(), 0);
        (0..1_000).for_each(|_| lead.learn(1_000_000));
        assert_eq!(lead.ns(), MOST_NS);
    }
}
