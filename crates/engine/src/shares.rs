//! The shares of all workers in the arrivals of an open load, as the shares of lost workers are
//! handed on: every worker follows all of it, so that each knows its own share without being told.

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

    /// Hands the shares of lost workers on to their heirs, in equal parts.
    pub(crate) fn hand_on(&mut self, takeover: &TakeOver) {
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
    fn shares_are_handed_on_and_on_without_a_gap() {
        let mut shares = Shares::new(4);
        for (lost, heirs) in [(1..2, vec![0, 2, 3]), (2..4, vec![0])] {
            shares.hand_on(&TakeOver {
                at_ns: 0,
                lost,
                heirs,
            });
            let counted: u64 = (0..4).map(|worker| shares.of(worker).count(1_200)).sum();
            assert_eq!(counted, 1_200);
        }
        assert_eq!(shares.of(0).count(1_200), 1_200);
        assert!((1..5).all(|worker| shares.of(worker).is_empty()));
    }
}
