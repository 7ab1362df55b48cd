//! Removes the beginning of a run after the fact.
//!
//! The end of the transient is known only at the end of the run. Earlier records must then be
//! removed from every figure, and a histogram for each second would take too much memory: so an
//! [`IntervalArchive`] stores the run in at most 128 stretches, whose histograms are packed.

use crate::carried::PackedCounts;
use crate::distribution::PackedDistribution;
use crate::{
    Arrivals, Busiest, Halving, Header, Pattern, Segment, Snapshot, SparseDistribution, Summary,
    Times, Transient, Uncut, WorkerTimes,
};
use std::collections::BTreeMap;

/// The maximum number of stretches.
const MOST: usize = 128;

/// A run in at most 128 stretches, from which its beginning can be removed after the fact.
#[derive(Debug, Default)]
pub struct IntervalArchive(Halving<Archived, MOST>);

impl IntervalArchive {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Snapshot) {
        match interval.drain {
            true => self.0.observe_rest(interval),
            false => self.0.observe(interval),
        }
    }

    /// Returns the first cut between two stretches that is at or after this many intervals.
    pub fn cut_after(&self, intervals: usize) -> usize {
        intervals.next_multiple_of(self.0.intervals_each())
    }

    /// Returns the summary of the stretches that have a part of this span, in nanoseconds from the
    /// begin of the measured part; `None` if none has. Exchanges that were in flight at its begin
    /// count as sent in it, as in any interval.
    pub fn span(&self, header: &Header, from_ns: u64, to_ns: u64) -> Option<Summary> {
        let mut summary = Summary::new(header.clone());
        let mut in_flight = 0;
        for stretch in self.0.segments() {
            if stretch.rest.end_ns <= from_ns {
                in_flight = stretch.rest.counts.in_flight;
            } else if stretch.rest.start_ns < to_ns {
                summary.observe(&stretch.snapshot());
            }
        }
        summary.total.counts.sent += in_flight;
        summary.total.counts.planned += in_flight;
        (!summary.rows.is_empty()).then_some(summary)
    }

    /// Returns the summary of the run without its transient, which must be a cut returned by
    /// [`IntervalArchive::cut_after`].
    pub fn cut(&self, summary: Summary) -> Summary {
        let intervals = summary.transient.map_or(0, Transient::intervals);
        let stretches = self.0.segments().iter();
        let rest = stretches.skip(intervals / self.0.intervals_each());
        without_first(
            summary,
            intervals,
            rest.map(|stretch| (stretch.snapshot(), stretch.pattern)),
        )
    }
}

/// Some consecutive intervals; packed, except for the stretch to which intervals are added.
#[derive(Debug)]
struct Archived {
    /// The snapshot of the stretch, without the distributions that are packed.
    rest: Snapshot,
    /// The distributions, if they are packed.
    packed: Option<Packed>,
    pattern: Pattern,
}

/// The distributions of a stretch.
#[derive(Debug)]
struct Packed {
    /// The times, in the order of [`Times::each`].
    times: [PackedDistribution; Times::KINDS],
    /// The loop iterations of each worker.
    loop_iterations: BTreeMap<u32, PackedCounts>,
}

impl Archived {
    fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.rest.clone();
        if let Some(packed) = &self.packed {
            packed.put_into(&mut snapshot);
        }
        snapshot
    }
}

impl Segment for Archived {
    type Interval = Snapshot;

    fn of(interval: &Snapshot) -> Archived {
        Archived {
            rest: without_distributions(interval),
            packed: Some(Packed::of(interval)),
            pattern: Pattern::of(interval),
        }
    }

    fn add(&mut self, interval: &Snapshot) {
        if let Some(packed) = self.packed.take() {
            packed.put_into(&mut self.rest);
        }
        self.rest.append(interval);
        self.pattern.observe(interval);
    }

    fn join(&mut self, next: &Archived) {
        let pattern = self.pattern;
        self.add(&next.snapshot());
        self.pattern = pattern;
        self.pattern.append(&next.pattern);
    }

    fn pack(&mut self) {
        if self.packed.is_none() {
            self.packed = Some(Packed::of(&self.rest));
            self.rest = without_distributions(&self.rest);
        }
    }
}

impl Packed {
    fn of(interval: &Snapshot) -> Packed {
        let workers = interval.workers.iter();
        Packed {
            times: interval.times.each().map(|(_, times)| times.packed()),
            loop_iterations: workers
                .map(|(worker, times)| (*worker, times.loop_iterations.packed()))
                .collect(),
        }
    }

    fn put_into(&self, snapshot: &mut Snapshot) {
        for ((_, times), packed) in snapshot.times.each_mut().into_iter().zip(&self.times) {
            *times = packed.unpacked();
        }
        for (worker, packed) in &self.loop_iterations {
            let own = snapshot.workers.entry(*worker).or_default();
            own.loop_iterations = packed.sparse().expect("what was packed can be unpacked");
        }
    }
}

fn without_distributions(interval: &Snapshot) -> Snapshot {
    let bare = |times: &WorkerTimes| WorkerTimes {
        loop_iterations: SparseDistribution::default(),
        cores: times.cores.clone(),
        ..*times
    };
    let workers = interval.workers.iter();
    Snapshot {
        times: Times::default(),
        statuses: interval.statuses.clone(),
        rejected: interval.rejected.clone(),
        errors: interval.errors.clone(),
        series: interval.series.clone(),
        metrics: interval.metrics.clone(),
        traced: interval.traced.clone(),
        error_responses: interval.error_responses.clone(),
        exceptions: interval.exceptions.clone(),
        workers: workers
            .map(|(worker, times)| (*worker, bare(times)))
            .collect(),
        arrivals: Arrivals::default(),
        ..*interval
    }
}

/// Returns the summary of a run without this many intervals at its beginning; `rest` are the other
/// intervals, single or joined, with the pattern of their arrivals. The counters of the machine
/// (`host`) still cover all of the run, as they are read at its ends only. Exchanges that were in
/// flight at the cut count as sent after it, as in any interval. If no interval would be left, the
/// summary does not change.
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
    summary.names.leave_out_until(before.end_ns);
    (summary.busiest, summary.arrivals) = (Busiest::default(), Pattern::default());
    for (stretch, arrivals) in rest {
        summary.arrivals.append(&arrivals);
        summary.total.append(&stretch);
        summary.response_blocks.observe(&stretch.times.response);
        summary.service_blocks.observe(&stretch.times.service);
        summary.busiest.observe(&stretch);
    }
    if let Some(outside) = &summary.outside {
        summary.total.metrics.merge(&outside.metrics);
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

    /// Returns a run of this many seconds, and its archive.
    fn recorded(seconds: u64) -> (Summary, IntervalArchive) {
        let mut summary = Summary::new(header());
        let mut archive = IntervalArchive::default();
        for index in 0..seconds {
            summary.observe(&second(index));
            archive.observe(&second(index));
        }
        summary.finish(Ended::Duration, Unfinished::default());
        (summary, archive)
    }

    fn cut(seconds: u64, intervals: usize) -> Summary {
        let (mut summary, archive) = recorded(seconds);
        summary.transient = Some(Transient::Cut { intervals });
        archive.cut(summary)
    }

    #[test]
    fn a_span_is_the_sum_of_its_stretches() {
        let (_, archive) = recorded(10);
        let span = |from_s: u64, to_s: u64| {
            archive.span(&header(), from_s * 1_000_000_000, to_s * 1_000_000_000)
        };
        let part = span(3, 6).expect("it was measured");
        let mut expected = Summary::new(header());
        (3..6).for_each(|index| expected.observe(&second(index)));
        assert_eq!(part.rows, expected.rows);
        assert_eq!(part.total.times, expected.total.times);
        assert_eq!(part.duration_ns, 3_000_000_000);
        assert_eq!(part.total.start_ns, 3_000_000_000);
        let all = span(0, 99).expect("it was measured");
        assert_eq!(all.rows.len(), 10);
        assert_eq!(span(10, 99), None);
        assert_eq!(IntervalArchive::default().span(&header(), 0, 9), None);
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
        let (_, archive) = recorded(300);
        assert!(archive.0.segments().len() <= MOST);
        assert_eq!(
            (
                archive.0.intervals_each(),
                archive.cut_after(9),
                archive.cut_after(12)
            ),
            (4, 12, 12)
        );
        let left = cut(300, 12);
        assert_eq!(left.rows.len(), 288);
        let answered: u64 = left.rows.iter().map(|row| row.counts.answered).sum();
        assert_eq!(left.total.counts.answered, answered);
        assert_eq!(left.duration_ns, 288_000_000_000);
    }
}
