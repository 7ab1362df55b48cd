//! The transient at the beginning of a run, and leaving it out after the fact.
//!
//! Where a run settles is known at its end. What was recorded before must then come out of every figure
//! again, and a histogram for each second would take too much memory: so a [`Tape`] keeps the run
//! encoded as in the saved run, in at most 128 stretches, of which neighbours are joined when one more
//! comes.

use crate::saved::{Encoder, StoredSnapshot};
use crate::{Blocks, Busiest, Pattern, Snapshot, Summary};
use serde::{Deserialize, Serialize};

/// At most so many stretches are kept.
const MOST: usize = 128;

/// What was found of a run's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transient {
    /// So many intervals at the beginning are left out of every figure; none if it was steady at once.
    Cut {
        /// Their number.
        intervals: usize,
    },
    /// The run never settled; all of it is in the figures.
    Never,
    /// The run was too short to tell; all of it is in the figures.
    TooShort,
}

impl Transient {
    /// How many intervals are left out.
    pub fn intervals(self) -> usize {
        match self {
            Transient::Cut { intervals } => intervals,
            Transient::Never | Transient::TooShort => 0,
        }
    }
}

/// A run before its transient was left out, as far as checks look at it: they must hold on all of it, or
/// leaving out the beginning would be a way to keep them.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncut {
    /// All intervals together.
    pub total: Snapshot,
    /// The time over which rates are taken, in nanoseconds.
    pub rated_ns: u64,
    /// The response times in stretches of the run.
    pub response_blocks: Blocks,
    /// The service times in stretches of the run.
    pub service_blocks: Blocks,
}

/// A run in at most 128 stretches, encoded.
#[derive(Default)]
pub struct Tape {
    stretches: Vec<StoredSnapshot>,
    /// The arrivals of each stretch.
    arrivals: Vec<Pattern>,
    /// How many intervals a stretch holds, a power of two; 0 before the first one.
    each: usize,
    /// How many intervals the last stretch holds.
    in_last: usize,
    encoder: Encoder,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stretches = self.stretches.len();
        f.debug_struct("Tape")
            .field("stretches", &stretches)
            .field("each", &self.each)
            .finish_non_exhaustive()
    }
}

impl Tape {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Snapshot) {
        self.each = self.each.max(1);
        if (self.in_last < self.each || interval.drain)
            && let Some(last) = self.stretches.last_mut()
            && let Some(arrivals) = self.arrivals.last_mut()
        {
            arrivals.observe(interval);
            let mut sum = last.decoded();
            sum.append(interval);
            *last = StoredSnapshot::encode(&sum, &mut self.encoder);
            self.in_last += 1;
            return;
        }
        self.make_room();
        self.arrivals.push(Pattern::of(interval));
        self.stretches
            .push(StoredSnapshot::encode(interval, &mut self.encoder));
        self.in_last = 1;
    }

    /// The first cut at or after so many intervals that falls between two stretches.
    pub fn cut_after(&self, intervals: usize) -> usize {
        intervals.next_multiple_of(self.each.max(1))
    }

    /// The summary of the run without its transient, which must be a cut as [`Tape::cut_after`] gives it.
    pub fn cut(&self, summary: Summary) -> Summary {
        let intervals = summary.transient.map_or(0, Transient::intervals);
        let decoded = self.stretches.iter().map(StoredSnapshot::decoded);
        let rest = decoded.zip(self.arrivals.iter().copied());
        without_first(summary, intervals, rest.skip(intervals / self.each.max(1)))
    }

    /// Joins each two neighbours if there are as many stretches as may be.
    fn make_room(&mut self) {
        if self.stretches.len() < MOST {
            return;
        }
        let encoder = &mut self.encoder;
        let mut join = |pair: &[StoredSnapshot]| {
            let mut sum = pair[0].decoded();
            pair[1..]
                .iter()
                .for_each(|next| sum.append(&next.decoded()));
            StoredSnapshot::encode(&sum, encoder)
        };
        self.stretches = self.stretches.chunks(2).map(&mut join).collect();
        let join = |pair: &[Pattern]| {
            let mut sum = pair[0];
            pair[1..].iter().for_each(|next| sum.append(next));
            sum
        };
        self.arrivals = self.arrivals.chunks(2).map(join).collect();
        self.each *= 2;
    }
}

/// The summary of a run of which so many intervals at the beginning are left out; `rest` are the others,
/// each or several together, with the pattern of their arrivals. The counters of the machine
/// (`host`) go on covering all of the run, as they are read at its ends alone. Exchanges that were in
/// flight at the cut count as sent after it, as in any interval. Nothing is left out if nothing would
/// be left.
pub(crate) fn without_first(
    mut summary: Summary,
    intervals: usize,
    rest: impl Iterator<Item = (Snapshot, Pattern)>,
) -> Summary {
    if intervals == 0 || intervals >= summary.rows.len() {
        return summary;
    }
    summary.uncut = Some(Box::new(Uncut {
        rated_ns: summary.rated_ns(),
        total: std::mem::take(&mut summary.total),
        response_blocks: std::mem::take(&mut summary.response_blocks),
        service_blocks: std::mem::take(&mut summary.service_blocks),
    }));
    let before = summary.rows[intervals - 1];
    summary.rows.drain(..intervals);
    summary.watch.rows.retain(|row| row.at_ns > before.end_ns);
    summary.total = Snapshot::empty(before.end_ns);
    (summary.busiest, summary.arrivals) = (Busiest::default(), Pattern::default());
    for (stretch, arrivals) in rest {
        summary.arrivals.append(&arrivals);
        summary.total.append(&stretch);
        summary.response_blocks.observe(&stretch.times.response);
        summary.service_blocks.observe(&stretch.times.service);
        summary.busiest.observe(&stretch);
    }
    summary.total.counts.sent += before.counts.in_flight;
    summary.total.counts.planned += before.counts.in_flight;
    summary.duration_ns = summary.total.length_ns();
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{header, second};
    use crate::{Ended, Unfinished};

    /// A run of so many seconds, and its tape.
    fn recorded(seconds: u64) -> (Summary, Tape) {
        let mut summary = Summary::new(header());
        let mut tape = Tape::default();
        for index in 0..seconds {
            summary.observe(&second(index));
            tape.observe(&second(index));
        }
        summary.finish(Ended::Duration, Unfinished::default());
        (summary, tape)
    }

    fn cut(seconds: u64, intervals: usize) -> Summary {
        let (mut summary, tape) = recorded(seconds);
        summary.transient = Some(Transient::Cut { intervals });
        tape.cut(summary)
    }

    #[test]
    fn what_is_left_is_what_came_after() {
        let left = cut(10, 3);
        let mut expected = Summary::new(header());
        (3..10).for_each(|index| expected.observe(&second(index)));
        assert_eq!(left.rows, expected.rows);
        assert_eq!(left.total.times, expected.total.times);
        assert_eq!(left.total.start_ns, 3_000_000_000);
        assert_eq!(left.duration_ns, 7_000_000_000);
        assert_eq!(left.response_blocks, expected.response_blocks);
        assert_eq!(left.arrivals, expected.arrivals);
        let (whole, _) = recorded(10);
        let uncut = left.uncut.as_ref().expect("something was left out");
        assert_eq!(uncut.total, whole.total);
        assert_eq!(uncut.rated_ns, whole.rated_ns());
        let in_flight = second(2).counts.in_flight;
        assert!(in_flight > 0);
        assert_eq!(
            left.total.counts.sent,
            expected.total.counts.sent + in_flight
        );
        assert!(left.total.balanced(0) || expected.total.balanced(in_flight));
    }

    #[test]
    fn nothing_is_cut_where_nothing_would_be_left() {
        let (whole, _) = recorded(4);
        for intervals in [0, 4, 9] {
            assert_eq!(cut(4, intervals).total, whole.total, "{intervals}");
        }
    }

    #[test]
    fn long_runs_are_cut_between_stretches() {
        let (_, tape) = recorded(300);
        assert!(tape.stretches.len() <= MOST);
        assert_eq!(
            (tape.each, tape.cut_after(9), tape.cut_after(12)),
            (4, 12, 12)
        );
        let left = cut(300, 12);
        assert_eq!(left.rows.len(), 288);
        let answered: u64 = left.rows.iter().map(|row| row.counts.answered).sum();
        assert_eq!(left.total.counts.answered, answered);
        assert_eq!(left.duration_ns, 288_000_000_000);
    }
}
