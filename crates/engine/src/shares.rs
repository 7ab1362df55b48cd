//! The shares of all workers in the arrivals of an open load, or in the users of a closed one, as
//! the shares of lost workers are handed on: every worker follows all of it, so that each knows its
//! own share by itself.

use crate::control::TakeOver;
use loadline_schedule::{Stripe, Stripes};

/// The shares of all workers of a run, by their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Shares(Vec<Stripes>);

impl Shares {
    /// Creates the shares with which a run of so many workers begins.
    pub(crate) fn new(workers: u32) -> Self {
        let of = workers;
        let share = |index| Stripes::from(Stripe { index, of });
        Shares((0..of).map(share).collect())
    }

    /// Hands the shares of lost workers on to their heirs, in equal parts. Returns what they were.
    pub(crate) fn hand_on(&mut self, takeover: &TakeOver) -> Stripes {
        if !takeover.joined.is_empty() {
            self.deal_anew(takeover);
            return Stripes::default();
        }
        let mut lost = Stripes::default();
        for worker in takeover.lost.clone() {
            if let Some(share) = self.0.get_mut(worker as usize) {
                lost.add(std::mem::take(share));
            }
        }
        let parts = lost.divide(takeover.heirs.len() as u32);
        for (heir, part) in takeover.heirs.iter().zip(parts) {
            if let Some(share) = self.0.get_mut(*heir as usize) {
                share.add(part);
            }
        }
        lost
    }

    /// Gives those who are there after others joined equal shares of all.
    fn deal_anew(&mut self, takeover: &TakeOver) {
        let workers = self.0.len().max(takeover.joined.end as usize);
        self.0 = vec![Stripes::default(); workers];
        let of = takeover.heirs.len() as u32;
        for (index, heir) in (0..).zip(&takeover.heirs) {
            if let Some(share) = self.0.get_mut(*heir as usize) {
                *share = Stripe { index, of }.into();
            }
        }
    }

    /// Returns the share of a worker.
    pub(crate) fn of(&self, worker: u32) -> Stripes {
        self.0.get(worker as usize).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_join_have_as_much_as_the_others() {
        let mut shares = Shares::new(2);
        let event = |lost, joined, heirs| TakeOver {
            at_ns: 0,
            lost,
            joined,
            heirs,
            left: Vec::new(),
        };
        shares.hand_on(&event(0..0, 2..4, vec![0, 1, 2, 3]));
        let counts = |shares: &Shares| -> Vec<u64> {
            (0..5)
                .map(|worker| shares.of(worker).count(1_200))
                .collect()
        };
        assert_eq!(counts(&shares), [300, 300, 300, 300, 0]);
        shares.hand_on(&event(1..2, 0..0, vec![0, 2, 3]));
        assert_eq!(counts(&shares), [400, 0, 400, 400, 0]);
        shares.hand_on(&event(0..0, 4..5, vec![0, 2, 3, 4]));
        assert_eq!(counts(&shares), [300, 0, 300, 300, 300]);
    }

    #[test]
    fn shares_are_handed_on_and_on_without_a_gap() {
        let mut shares = Shares::new(4);
        for (lost, heirs) in [(1..2, vec![0, 2, 3]), (2..4, vec![0])] {
            shares.hand_on(&TakeOver {
                at_ns: 0,
                lost,
                joined: 0..0,
                heirs,
                left: Vec::new(),
            });
            let counted: u64 = (0..4).map(|worker| shares.of(worker).count(1_200)).sum();
            assert_eq!(counted, 1_200);
        }
        assert_eq!(shares.of(0).count(1_200), 1_200);
        assert!((1..5).all(|worker| shares.of(worker).is_empty()));
    }
}
