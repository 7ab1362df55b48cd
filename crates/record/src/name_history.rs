//! The course of the busiest names over a run.
//!
//! Every name is recorded in each interval while there is room. After that the names with the
//! fewest requests are dropped, except for the busiest ones, and then neighbouring moments are
//! joined: so the memory is bounded, and the remaining moments cover all of the run. A name that
//! became one of the busiest late may lack its first moments.

use crate::Snapshot;
use loadline_metrics::{Key, Series, SeriesSet};
use std::collections::BTreeMap;
use std::mem::size_of;

/// The number of busiest names that are never dropped.
pub const BUSIEST_NAMES: usize = 50;
/// The approximate maximum size of a history, in bytes.
const MOST_BYTES: usize = 12_000_000;

/// A stretch of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The begin, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// The end, in nanoseconds from the run's start.
    pub end_ns: u64,
}

/// The course of the busiest names over a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameHistory {
    /// The stretches, of one interval each or of several joined ones.
    moments: Vec<Moment>,
    /// The number of intervals that are joined to a moment.
    joined: usize,
    /// The number of intervals in the last moment.
    in_last: usize,
    /// For each name the moments in which it had requests, in order.
    names: BTreeMap<Key, Vec<(usize, Series)>>,
    /// The approximate size of all series, in bytes.
    bytes: usize,
}

impl NameHistory {
    /// Adds the next interval of a run; `total` is the sum of all intervals up to this one.
    pub fn observe(&mut self, interval: &Snapshot, total: &SeriesSet) {
        if interval.series.is_empty() && self.moments.is_empty() {
            return;
        }
        self.begin_moment(interval);
        let index = self.moments.len() - 1;
        for (key, series) in interval.series.iter() {
            let moments = self.names.entry(key.clone()).or_default();
            match moments.last_mut() {
                Some((last, own)) if *last == index => {
                    let before = bytes_of(own);
                    own.merge(series);
                    self.bytes += bytes_of(own) - before;
                }
                _ => {
                    self.bytes += bytes_of(series);
                    moments.push((index, series.clone()));
                }
            }
        }
        if self.bytes > MOST_BYTES {
            self.give_up_names(total);
        }
        while self.bytes > MOST_BYTES && self.moments.len() > 1 {
            self.join_neighbours();
        }
    }

    /// Returns the stretches of the run, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Returns the busiest names of a run, the busiest first, each with the moments (by index) in
    /// which it had requests. The series of names without room for one of their own is not among
    /// them.
    pub fn busiest(&self, total: &SeriesSet) -> Vec<(&Key, &[(usize, Series)])> {
        let busiest = busiest(total).into_iter();
        let found = busiest.filter_map(|key| self.names.get_key_value(key));
        found.map(|(key, moments)| (key, &moments[..])).collect()
    }

    /// Returns the moments (by index) in which the name of this key had requests; `None` if they
    /// are not kept.
    pub fn of(&self, key: &Key) -> Option<&[(usize, Series)]> {
        self.names.get(key).map(Vec::as_slice)
    }

    /// Removes the moments that ended by this instant, in nanoseconds from the run's start.
    pub fn leave_out_until(&mut self, end_ns: u64) {
        let gone = self
            .moments
            .partition_point(|moment| moment.end_ns <= end_ns);
        self.moments.drain(..gone);
        for moments in self.names.values_mut() {
            moments.retain(|(index, _)| *index >= gone);
            moments.iter_mut().for_each(|(index, _)| *index -= gone);
        }
        self.count_bytes();
    }

    fn begin_moment(&mut self, interval: &Snapshot) {
        match self.moments.last_mut() {
            Some(last) if self.in_last < self.joined => {
                last.end_ns = interval.end_ns;
                self.in_last += 1;
            }
            _ => {
                self.moments.push(Moment {
                    start_ns: interval.start_ns,
                    end_ns: interval.end_ns,
                });
                self.in_last = 1;
            }
        }
    }

    fn give_up_names(&mut self, total: &SeriesSet) {
        let kept = busiest(total);
        self.names.retain(|key, _| kept.contains(&key));
        self.count_bytes();
    }

    /// Joins each moment with the next one.
    fn join_neighbours(&mut self) {
        let is_odd = self.moments.len() % 2 == 1;
        let before = self.joined.max(1);
        let pairs = self.moments.chunks(2);
        self.moments = pairs
            .map(|pair| Moment {
                start_ns: pair[0].start_ns,
                end_ns: pair[pair.len() - 1].end_ns,
            })
            .collect();
        self.in_last += if is_odd { 0 } else { before };
        self.joined = 2 * before;
        for moments in self.names.values_mut() {
            let mut joined: Vec<(usize, Series)> = Vec::with_capacity(moments.len() / 2 + 1);
            for (index, series) in moments.drain(..) {
                match joined.last_mut() {
                    Some((last, own)) if *last == index / 2 => own.merge(&series),
                    _ => joined.push((index / 2, series)),
                }
            }
            *moments = joined;
        }
        self.count_bytes();
    }

    fn count_bytes(&mut self) {
        let all = self.names.values().flatten();
        self.bytes = all.map(|(_, series)| bytes_of(series)).sum();
    }
}

/// Returns the names with the most requests, the busiest first.
fn busiest(total: &SeriesSet) -> Vec<&Key> {
    let busiest = total.busiest().into_iter().map(|(key, _)| key);
    let named = busiest.filter(|key| !key.is_overflow());
    named.take(BUSIEST_NAMES).collect()
}

/// Returns the approximate size in bytes of a moment of a name, including its allocations.
fn bytes_of(series: &Series) -> usize {
    const OF_STATUSES: usize = 256;
    size_of::<(usize, Series)>() + OF_STATUSES + series.times.bytes().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{RequestOutcome, SeriesRecorder, SeriesTable};

    const SECOND: u64 = 1_000_000_000;

    /// Returns a run of this many seconds, in which the names from 0 on have `requests` in each.
    fn ran(seconds: u64, names: u32, requests: impl Fn(u32) -> u64) -> (NameHistory, SeriesSet) {
        let mut table = SeriesTable::new(5_000);
        let ids: Vec<_> = (0..names)
            .map(|name| table.intern(&Key::new(&format!("name {name}")).unwrap()))
            .collect();
        let mut recorder = SeriesRecorder::new(table);
        let (mut history, mut total) = (NameHistory::default(), SeriesSet::new(5_000));
        for second in 0..seconds {
            for (name, id) in ids.iter().enumerate() {
                for request in 0..requests(name as u32) {
                    let ok = RequestOutcome::Answered { status: 200 };
                    recorder.record(*id, ok, 100_000 + request * 7_919_000, true);
                }
            }
            let interval = Snapshot {
                start_ns: second * SECOND,
                end_ns: (second + 1) * SECOND,
                series: recorder.take(),
                ..Snapshot::default()
            };
            total.merge(&interval.series);
            history.observe(&interval, &total);
        }
        (history, total)
    }

    fn answered(moments: &[(usize, Series)]) -> u64 {
        moments.iter().map(|(_, series)| series.answered).sum()
    }

    #[test]
    fn a_short_run_has_every_second_of_its_names() {
        let (history, total) = ran(5, 3, |name| u64::from(3 - name));
        assert_eq!(history.moments().len(), 5);
        let busiest = history.busiest(&total);
        let names: Vec<_> = busiest.iter().map(|(key, _)| key.name()).collect();
        assert_eq!(names, ["name 0", "name 1", "name 2"]);
        assert_eq!(busiest[0].1.len(), 5);
        assert_eq!(busiest[0].1[4].1.answered, 3);
        let key = |name: &str| Key::new(name).unwrap();
        assert_eq!(history.of(&key("name 2")), Some(busiest[2].1));
        assert_eq!(history.of(&key("name 3")), None);
    }

    #[test]
    fn a_run_of_one_name_has_none() {
        let (history, total) = ran(0, 0, |_| 0);
        let mut history = history;
        history.observe(&Snapshot::empty(0), &total);
        assert!(history.moments().is_empty());
    }

    #[test]
    fn of_many_names_the_busiest_are_kept_and_the_memory_has_a_bound() {
        let (history, total) = ran(60, 2_000, |name| 1 + u64::from(name < 50));
        assert!(history.bytes <= MOST_BYTES, "{}", history.bytes);
        assert_eq!(history.moments().len(), 60);
        let busiest = history.busiest(&total);
        assert_eq!(busiest.len(), BUSIEST_NAMES);
        for (key, moments) in busiest {
            assert_eq!(answered(moments), 120, "{key}");
        }
    }

    #[test]
    fn a_long_run_joins_its_moments_without_losing_a_request() {
        let (history, total) = ran(2_001, 50, |_| 30);
        assert!(history.bytes <= MOST_BYTES, "{}", history.bytes);
        let moments = history.moments();
        assert!(moments.len() < 2_001, "{}", moments.len());
        assert_eq!(moments[0].start_ns, 0);
        assert_eq!(moments.last().unwrap().end_ns, 2_001 * SECOND);
        let is_next = |pair: &[Moment]| pair[0].end_ns == pair[1].start_ns;
        assert!(moments.windows(2).all(is_next));
        for (key, moments) in history.busiest(&total) {
            assert_eq!(answered(moments), 2_001 * 30, "{key}");
        }
        let lengths = moments
            .iter()
            .map(|one| (one.end_ns - one.start_ns) / SECOND);
        let lengths: Vec<_> = lengths.collect();
        let (last, whole) = lengths.split_last().unwrap();
        assert!(whole.iter().all(|length| *length == whole[0]) && *last <= whole[0]);
    }

    #[test]
    fn what_is_left_out_at_the_beginning_is_gone() {
        let (mut history, total) = ran(5, 2, |_| 1);
        history.leave_out_until(2 * SECOND);
        assert_eq!(history.moments().len(), 3);
        let busiest = history.busiest(&total);
        assert_eq!(busiest[0].1[0].0, 0);
        assert_eq!(answered(busiest[0].1), 3);
    }
}
