//! The arrivals of a share of several stripes.

use crate::{Arrival, Stripes};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The arrivals of a share, ascending in time.
#[derive(Clone, Debug)]
pub(crate) enum SharedWalk<W> {
    /// Those of each stripe, merged.
    Merged(Merged<W>),
    /// Those of the whole that are in the share: for schedules whose stripes all draw the whole.
    Filtered { whole: W, share: Stripes },
}

/// The arrivals of several stripes.
#[derive(Clone, Debug)]
pub(crate) struct Merged<W> {
    stripes: Vec<W>,
    /// The next arrival of each stripe, by its instant, its index and the number of the stripe.
    next: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl<W: Iterator<Item = Arrival>> SharedWalk<W> {
    /// Creates the walk over the arrivals of these stripes.
    pub(crate) fn merged(stripes: impl IntoIterator<Item = W>) -> Self {
        let mut merged = Merged {
            stripes: stripes.into_iter().collect(),
            next: BinaryHeap::new(),
        };
        (0..merged.stripes.len()).for_each(|stripe| merged.await_next(stripe));
        SharedWalk::Merged(merged)
    }

    /// Creates the walk over those of the whole arrivals that are in a share.
    pub(crate) fn filtered(whole: W, share: Stripes) -> Self {
        SharedWalk::Filtered { whole, share }
    }

    pub(crate) fn next(&mut self) -> Option<Arrival> {
        match self {
            SharedWalk::Merged(merged) => merged.next(),
            // No stripe has no arrivals, however many the whole has.
            SharedWalk::Filtered { share, .. } if share.is_empty() => None,
            SharedWalk::Filtered { whole, share } => {
                whole.find(|arrival| share.contains(arrival.index))
            }
        }
    }
}

impl<W: Iterator<Item = Arrival>> Merged<W> {
    fn next(&mut self) -> Option<Arrival> {
        let Reverse((at_ns, index, stripe)) = self.next.pop()?;
        self.await_next(stripe);
        Some(Arrival { index, at_ns })
    }

    fn await_next(&mut self, stripe: usize) {
        if let Some(arrival) = self.stripes[stripe].next() {
            let next = (arrival.at_ns, arrival.index, stripe);
            self.next.push(Reverse(next));
        }
    }
}
