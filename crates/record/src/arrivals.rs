//! A comparison of the planned pattern of requests with the sent one.
//!
//! In an open load each request is counted twice: in the window of time in which it was due with a
//! free connection, and in the window in which it was sent. Differences come from the generator:
//! the wait for the target is in neither.

use crate::Snapshot;
use serde::{Deserialize, Serialize};

/// The length of a window, in nanoseconds.
pub const WINDOW_NS: u64 = 20_000_000;
/// A request that is less late was sent in the window in which it was due. A window may begin right
/// after the instant, as it does where instants are round.
const PROMPT_NS: u64 = WINDOW_NS / 20;
/// The maximum number of windows in one interval: 20 minutes.
const MOST_WINDOWS: usize = 60_000;

/// The requests of one interval, counted in windows from its begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// The counts by the time at which requests were due and could be sent.
    pub due: Vec<u64>,
    /// The counts by the time of the send.
    pub sent: Vec<u64>,
}

impl Arrivals {
    /// Counts `count` requests; both times are nanoseconds from the interval's begin.
    #[inline]
    pub fn count(&mut self, due_ns: u64, sent_ns: u64, count: u64) {
        let is_prompt = sent_ns.saturating_sub(due_ns) < PROMPT_NS;
        let sent_ns = if is_prompt { due_ns } else { sent_ns };
        count_in(&mut self.due, due_ns, count);
        count_in(&mut self.sent, sent_ns, count);
    }

    /// Adds the counts of another worker in the same interval.
    pub fn merge(&mut self, other: &Arrivals) {
        add(&mut self.due, &other.due);
        add(&mut self.sent, &other.sent);
    }

    /// Adds the counts of an interval that begins so many nanoseconds after this one.
    pub(crate) fn follow_with(&mut self, next: &Arrivals, offset_ns: u64) {
        let add_behind = |windows: &mut Vec<u64>, counts: &[u64]| {
            for (window, &count) in (0_u64..).zip(counts).filter(|(_, count)| **count > 0) {
                count_in(windows, offset_ns + window * WINDOW_NS, count);
            }
        };
        add_behind(&mut self.due, &next.due);
        add_behind(&mut self.sent, &next.sent);
    }

    /// True if no request was counted.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.sent.is_empty()
    }
}

#[inline]
fn count_in(windows: &mut Vec<u64>, at_ns: u64, count: u64) {
    let window = (at_ns / WINDOW_NS) as usize;
    if window >= windows.len() {
        windows.resize(window.min(MOST_WINDOWS - 1) + 1, 0);
    }
    windows[window.min(MOST_WINDOWS - 1)] += count;
}

fn add(windows: &mut Vec<u64>, others: &[u64]) {
    windows.resize(windows.len().max(others.len()), 0);
    for (sum, count) in windows.iter_mut().zip(others) {
        *sum = sum.saturating_add(*count);
    }
}

/// The pattern of a whole run's arrivals, in a few sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pattern {
    /// The number of windows.
    pub windows: u64,
    /// The requests that were counted.
    pub requests: u64,
    /// The requests sent in another window than the one in which they were due.
    pub displaced: u64,
    /// The sum of the squares of the windows' counts by due time.
    pub due_squares: f64,
    /// The sum of the squares of the windows' counts by time of the send.
    pub sent_squares: f64,
}

impl Pattern {
    /// Returns the pattern of a single interval.
    pub fn of(interval: &Snapshot) -> Pattern {
        let mut pattern = Pattern::default();
        pattern.observe(interval);
        pattern
    }

    /// Adds the pattern of the intervals that follow.
    pub fn append(&mut self, next: &Pattern) {
        self.windows += next.windows;
        self.requests += next.requests;
        self.displaced += next.displaced;
        self.due_squares += next.due_squares;
        self.sent_squares += next.sent_squares;
    }

    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Snapshot) {
        let Arrivals { due, sent } = &interval.arrivals;
        let counted = due.len().max(sent.len()) as u64;
        self.windows += counted.max(interval.length_ns() / WINDOW_NS);
        self.requests += sent.iter().sum::<u64>();
        let count = |windows: &[u64], index: u64| {
            let count = windows.get(index as usize);
            count.copied().unwrap_or(0)
        };
        // A request that is missing in one window is too many in another.
        let differences: u64 = (0..counted)
            .map(|index| count(due, index).abs_diff(count(sent, index)))
            .sum();
        self.displaced += differences / 2;
        self.due_squares += squares(due);
        self.sent_squares += squares(sent);
    }

    /// Returns the share of the requests that were sent in another window than planned.
    pub fn displaced_share(&self) -> f64 {
        self.displaced as f64 / self.requests.max(1) as f64
    }
}

fn squares(windows: &[u64]) -> f64 {
    windows.iter().map(|count| (*count as f64).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn interval(arrivals: Arrivals) -> Snapshot {
        Snapshot {
            end_ns: 1_000 * MS,
            arrivals,
            ..Snapshot::default()
        }
    }

    #[test]
    fn requests_due_right_before_a_window_are_not_displaced() {
        let mut arrivals = Arrivals::default();
        for window in 1..=50 {
            arrivals.count(window * WINDOW_NS - 1, window * WINDOW_NS + 20_000, 1);
        }
        let pattern = Pattern::of(&interval(arrivals));
        assert_eq!((pattern.requests, pattern.displaced), (50, 0));
    }

    #[test]
    fn a_lengthened_interval_has_the_pattern_of_both() {
        let mut long = interval(Arrivals::default());
        let mut next = long.clone();
        long.arrivals.count(0, 40 * MS, 1);
        next.arrivals.count(20 * MS, 20 * MS, 2);
        (next.start_ns, next.end_ns) = (1_000 * MS, 2_000 * MS);
        let mut apart = Pattern::of(&long);
        apart.observe(&next);
        long.lengthen(&next);
        assert_eq!((long.start_ns, long.end_ns), (0, 2_000 * MS));
        assert_eq!(Pattern::of(&long), apart);
    }

    #[test]
    fn requests_that_go_out_when_due_are_not_displaced() {
        let mut arrivals = Arrivals::default();
        for at_ms in 0..1_000 {
            arrivals.count(at_ms * MS, at_ms * MS + 10_000, 1);
        }
        let mut pattern = Pattern::default();
        pattern.observe(&interval(arrivals));
        assert_eq!((pattern.windows, pattern.requests), (50, 1_000));
        assert_eq!(pattern.displaced, 0);
        assert_eq!(pattern.due_squares, 50.0 * 400.0);
        assert_eq!(pattern.due_squares, pattern.sent_squares);
    }

    #[test]
    fn what_is_held_back_is_displaced() {
        let mut arrivals = Arrivals::default();
        for at_ms in 0..1_000 {
            // The worker stalls from 300 to 500 ms.
            let sent_ms = if (300..500).contains(&at_ms) {
                500
            } else {
                at_ms
            };
            arrivals.count(at_ms * MS, sent_ms * MS, 1);
        }
        let mut pattern = Pattern::default();
        pattern.observe(&interval(arrivals));
        assert_eq!(pattern.displaced, 200);
        assert_eq!(pattern.displaced_share(), 0.2);
        assert!(pattern.sent_squares > pattern.due_squares);
    }

    #[test]
    fn windows_without_arrivals_are_windows_too() {
        let mut pattern = Pattern::default();
        let mut arrivals = Arrivals::default();
        arrivals.count(0, 0, 3);
        pattern.observe(&interval(arrivals));
        pattern.observe(&interval(Arrivals::default()));
        assert_eq!((pattern.windows, pattern.requests), (100, 3));
    }

    #[test]
    fn workers_add_up() {
        let (mut one, mut two) = (Arrivals::default(), Arrivals::default());
        one.count(0, 25 * MS, 2);
        two.count(70 * MS, 70 * MS, 1);
        one.merge(&two);
        assert_eq!(one.due, [2, 0, 0, 1]);
        assert_eq!(one.sent, [0, 2, 0, 1]);
        assert!(!one.is_empty() && Arrivals::default().is_empty());
    }

    #[test]
    fn an_absurd_time_costs_no_memory() {
        let mut arrivals = Arrivals::default();
        arrivals.count(u64::MAX, u64::MAX, 1);
        assert_eq!(arrivals.due.len(), MOST_WINDOWS);
    }
}
