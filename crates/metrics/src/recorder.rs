//! The series of one worker: receives requests, returns a set for each interval.

use crate::{Key, PagedCounts, Series, SeriesId, SeriesSet, SeriesTable};
use std::mem;

/// The outcome of a request, as far as its series records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// A whole response with this status.
    Answered {
        /// The status code.
        status: u16,
    },
    /// The response was not complete within the time allowed: its time is a lower bound.
    TimedOut,
    /// The request failed otherwise, and has no time.
    Failed,
}

/// Records the requests of one worker by series.
#[derive(Clone, Debug)]
pub struct SeriesRecorder {
    table: SeriesTable,
    /// The series by index; the overflow's series is the last.
    live: Vec<LiveSeries>,
}

/// A series in the running interval.
#[derive(Clone, Debug, Default)]
struct LiveSeries {
    failed: u64,
    rejected: u64,
    completed: u64,
    statuses: Vec<(u16, u64)>,
    times: PagedCounts,
    sum_ns: u64,
    max_ns: u64,
}

impl SeriesRecorder {
    /// Creates a recorder of these series.
    pub fn new(table: SeriesTable) -> SeriesRecorder {
        let live = (0..=table.len()).map(|_| LiveSeries::default()).collect();
        SeriesRecorder { table, live }
    }

    /// Returns the series of this key. Costs a hash, so call it before the run or once for each
    /// name.
    pub fn intern(&mut self, key: &Key) -> SeriesId {
        let id = self.table.intern(key);
        if self.live.len() <= self.table.len() {
            let overflow = self.live.len() - 1;
            self.live.push(LiveSeries::default());
            self.live.swap(overflow, overflow + 1);
        }
        id
    }

    /// Returns the key of a series.
    pub fn key(&self, id: SeriesId) -> Key {
        let key = self.table.keys().get(id.0 as usize);
        key.cloned().unwrap_or_else(Key::overflow)
    }

    /// Records the end of a request of this series with its response time; `is_in_window` is false
    /// in the drain.
    #[inline]
    pub fn record(
        &mut self,
        id: SeriesId,
        ending: RequestOutcome,
        response_ns: u64,
        is_in_window: bool,
    ) {
        let index = (id.0 as usize).min(self.live.len() - 1);
        let live = &mut self.live[index];
        match ending {
            RequestOutcome::Answered { status } => {
                live.completed += u64::from(is_in_window);
                live.count_status(status);
            }
            RequestOutcome::TimedOut => live.failed += 1,
            RequestOutcome::Failed => {
                live.failed += 1;
                return;
            }
        }
        live.time(response_ns);
    }

    /// Records that a script rejects a response of this series.
    pub fn reject(&mut self, id: SeriesId) {
        let index = (id.0 as usize).min(self.live.len() - 1);
        self.live[index].rejected += 1;
    }

    /// Records a request of this series that was not sent, with the response time that it would
    /// have had.
    pub fn record_missed(&mut self, id: SeriesId, response_ns: u64) {
        let index = (id.0 as usize).min(self.live.len() - 1);
        self.live[index].time(response_ns);
    }

    /// Returns the requests recorded since the last call.
    pub fn take(&mut self) -> SeriesSet {
        let mut set = SeriesSet::new(self.table.most());
        let overflow = Key::overflow();
        let keys = self.table.keys().iter().chain([&overflow]);
        for (key, live) in keys.zip(&mut self.live) {
            if live.has_any() {
                set.add(key, &live.take());
            }
        }
        set
    }
}

impl LiveSeries {
    #[inline]
    fn count_status(&mut self, status: u16) {
        match self.statuses.iter_mut().find(|entry| entry.0 == status) {
            Some(entry) => entry.1 += 1,
            None => self.statuses.push((status, 1)),
        }
    }

    #[inline]
    fn time(&mut self, response_ns: u64) {
        self.times.record_ns(response_ns);
        self.sum_ns = self.sum_ns.saturating_add(response_ns);
        self.max_ns = self.max_ns.max(response_ns);
    }

    fn has_any(&self) -> bool {
        self.failed + self.rejected > 0
            || self.sum_ns > 0
            || self.statuses.iter().any(|(_, count)| *count > 0)
    }

    fn take(&mut self) -> Series {
        let statuses = self.statuses.iter_mut().filter(|(_, count)| *count > 0);
        let statuses = statuses.map(|(status, count)| (*status, mem::take(count)));
        let mut series = Series {
            statuses: statuses.collect(),
            completed: mem::take(&mut self.completed),
            failed: mem::take(&mut self.failed),
            rejected: mem::take(&mut self.rejected),
            times: self.times.take(),
            sum_ns: mem::take(&mut self.sum_ns),
            max_ns: mem::take(&mut self.max_ns),
            ..Series::default()
        };
        series.answered = series.statuses.values().sum();
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorder(most: u32, names: &[&str]) -> SeriesRecorder {
        let mut table = SeriesTable::new(most);
        for name in names {
            table.intern(&Key::new(name).unwrap());
        }
        SeriesRecorder::new(table)
    }

    const OK: RequestOutcome = RequestOutcome::Answered { status: 200 };

    #[test]
    fn each_ending_counts_where_it_belongs() {
        let mut recorder = recorder(2, &["a", "b"]);
        recorder.record(SeriesId(0), OK, 10, true);
        recorder.record(SeriesId(0), OK, 20, false);
        recorder.record(SeriesId(0), RequestOutcome::TimedOut, 300, true);
        recorder.record(SeriesId(1), RequestOutcome::Failed, 7, true);
        let set = recorder.take();
        let [a, b] = ["a", "b"].map(|name| set.get(&Key::new(name).unwrap()).unwrap().clone());
        assert_eq!((a.answered, a.completed, a.failed), (2, 1, 1));
        assert_eq!((a.times.len(), a.sum_ns, a.max_ns), (3, 330, 300));
        assert_eq!((b.answered, b.failed, b.times.len()), (0, 1, 0));
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn a_request_that_was_missed_has_a_time_and_no_ending() {
        let mut recorder = recorder(2, &["a"]);
        recorder.record_missed(SeriesId(0), 40);
        let set = recorder.take();
        let a = set.get(&Key::new("a").unwrap()).unwrap();
        assert_eq!(
            (a.answered, a.failed, a.times.len(), a.sum_ns),
            (0, 0, 1, 40)
        );
    }

    #[test]
    fn a_name_that_comes_later_has_a_series_while_there_is_room() {
        let mut recorder = recorder(2, &["a"]);
        recorder.record(SeriesId::OVERFLOW, OK, 5, true);
        let b = recorder.intern(&Key::new("b").unwrap());
        let c = recorder.intern(&Key::new("c").unwrap());
        assert_eq!((b, c), (SeriesId(1), SeriesId::OVERFLOW));
        recorder.record(b, OK, 6, true);
        recorder.record(c, OK, 7, true);
        let set = recorder.take();
        assert_eq!(set.overflow().unwrap().sum_ns, 12);
        assert_eq!(set.get(&Key::new("b").unwrap()).unwrap().sum_ns, 6);
    }

    proptest! {
        #[test]
        fn workers_together_saw_what_one_would_have_seen(
            requests in prop::collection::vec((0..4_u32, 0..10_000_000_u64), 0..60),
            workers in 1..5_usize,
        ) {
            let seen = |requests: &mut dyn Iterator<Item = &(u32, u64)>| {
                let mut recorder = recorder(3, &["a", "b", "c"]);
                requests.for_each(|(id, ns)| recorder.record(SeriesId(*id), OK, *ns, true));
                recorder.take()
            };
            let mut sum = SeriesSet::new(3);
            for worker in 0..workers {
                sum.merge(&seen(&mut requests.iter().skip(worker).step_by(workers)));
            }
            prop_assert_eq!(sum, seen(&mut requests.iter()));
        }
    }
}
