//! Scenarios with a tally: it is reported with the intervals.

use super::plans::{MS, SECOND, closed};
use super::world::World;
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::tally::{AnyTally, Tally};
use loadline_plan::Plan;
use loadline_reactor::Host;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;

/// The outcomes of iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counts {
    begun: u64,
    ended: u64,
    cut_off: u64,
}

impl Tally for Counts {
    fn merge(&mut self, other: Self) {
        self.begun += other.begun;
        self.ended += other.ended;
        self.cut_off += other.cut_off;
    }
}

/// Users that wait in each iteration and send nothing.
#[derive(Clone)]
struct Counting {
    pause_ns: u64,
    counts: Rc<RefCell<Counts>>,
}

impl<H: Host> Scenario<H> for Counting {
    const COUNTS: bool = true;
    type Behaviour = Counting;

    fn user(&mut self) -> Counting {
        self.clone()
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        let counts = self.counts.take();
        (counts != Counts::default()).then(|| AnyTally::new(counts))
    }
}

impl<H: Host> Behaviour<H> for Counting {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        self.counts.borrow_mut().begun += 1;
        let mut pass = Pass {
            counts: &self.counts,
            has_ended: false,
        };
        iteration.pause(self.pause_ns).await;
        pass.has_ended = true;
    }
}

/// An iteration that counts its outcome when it is dropped.
struct Pass<'a> {
    counts: &'a RefCell<Counts>,
    has_ended: bool,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut counts = self.counts.borrow_mut();
        counts.ended += u64::from(self.has_ended);
        counts.cut_off += u64::from(!self.has_ended);
    }
}

/// Returns the tallies of a run, each with the number of intervals before it.
fn run(plan: Plan, pause_ns: u64) -> Vec<(usize, Counts)> {
    let counts = Rc::default();
    let ran = World::new(plan).run_sending_nothing(Counting { pause_ns, counts });
    let tallies = ran.tallies.into_iter();
    let read = |bytes: Vec<u8>| postcard::from_bytes(&bytes).expect("what was counted");
    tallies.map(|(at, bytes)| (at, read(bytes))).collect()
}

#[test]
fn each_interval_comes_after_its_tally() {
    let tallies = run(closed(3, 2 * SECOND + 500 * MS), 400 * MS);
    let places: Vec<usize> = tallies.iter().map(|(before, _)| *before).collect();
    assert_eq!(places, [0, 1, 2]);
    let begun: Vec<u64> = tallies.iter().map(|(_, counts)| counts.begun).collect();
    assert_eq!(begun, [3 * 3, 3 * 2, 3 * 2]);
}

#[test]
fn users_that_are_cut_off_are_counted_before_the_end() {
    let plan = closed(4, SECOND + 500 * MS);
    let mut whole = Counts::default();
    run(plan, 400 * MS)
        .into_iter()
        .for_each(|(_, counts)| whole.merge(counts));
    let expected = Counts {
        begun: 16,
        ended: 12,
        cut_off: 4,
    };
    assert_eq!(whole, expected);
}
