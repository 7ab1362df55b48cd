//! The users of a closed load over time.
//!
//! The number of users follows a curve through the stages, linear between their targets. User k
//! (from 0) is *active* while the curve is above k: in each nanosecond [t, t + 1) within which the
//! curve is above k anywhere between t and t + 1. So 0 → 100 over 10 s starts a user every 100 ms,
//! the first at 0; 100 → 0 over 10 s stops one every 100 ms, the last at the end; if the curve
//! touches k and rises again no user stops; and a level that a jump leaves in the same instant
//! starts no user.

use crate::stage::{self, Span, spans};
use crate::{Level, Share, Stage};

/// A closed load's users over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Users {
    course: Course,
    /// The levels set by changes, each with its instant in nanoseconds, ascending in time.
    changes: Vec<(u64, Level<u32>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Course {
    Constant(u32),
    Ramps { spans: Vec<Span<u32>>, end_ns: u64 },
}

/// A time in which a user is active: from `from_ns` up to but not including `to_ns`, both in
/// nanoseconds from the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first nanosecond.
    pub from_ns: u64,
    /// The first nanosecond after it; `None` if it lasts for all time.
    pub to_ns: Option<u64>,
}

impl Users {
    /// Creates the same `n` users for all time.
    pub fn constant(n: u32) -> Self {
        Self {
            course: Course::Constant(n),
            changes: Vec::new(),
        }
    }

    /// Creates a number of users that moves linearly from `start` through the stages' targets;
    /// there are no users from their end on.
    pub fn ramps(start: u32, stages: &[Stage<u32>]) -> Self {
        Self {
            course: Course::Ramps {
                spans: spans(start, stages),
                end_ns: stage::end_ns(stages),
            },
            changes: Vec::new(),
        }
    }

    /// Changes the number of users from `at_ns` on. A fixed number continues for all time. A share
    /// of a constant number is the nearest whole number above 0; a share of ramps multiplies the
    /// curve.
    ///
    /// # Panics
    ///
    /// When the instant lies before that of the last change.
    pub fn change(&mut self, at_ns: u64, level: Level<u32>) {
        let last_ns = self.changes.last().map(|(last_ns, _)| *last_ns);
        assert!(last_ns <= Some(at_ns), "changes come in the order of time");
        self.changes.retain(|(earlier_ns, _)| *earlier_ns < at_ns);
        self.changes.push((at_ns, level));
    }

    /// Returns an upper bound of the users that are active at once, exact without changes. Users
    /// with this index or a higher one are never active.
    pub fn most(&self) -> u32 {
        let planned = match &self.course {
            Course::Constant(n) => *n,
            Course::Ramps { spans, .. } => {
                let peaks = spans.iter().map(|span| span.start.max(span.end));
                peaks.max().unwrap_or(0)
            }
        };
        let changed = self.changes.iter().map(|(_, level)| match level {
            Level::Share(share) => match &self.course {
                Course::Constant(n) => at_share(*n, *share),
                // The line may exceed the rounded number between two whole numbers.
                Course::Ramps { .. } => at_share(planned, *share).saturating_add(1),
            },
            Level::Fixed(n) => *n,
            Level::Paused => 0,
        });
        changed.fold(planned, u32::max)
    }

    /// Returns the windows in which user `user` (from 0) is active: ascending, with time between
    /// one window and the next.
    pub fn windows(&self, user: u32) -> Vec<Window> {
        let ends = self.changes.iter().map(|(at_ns, _)| Some(*at_ns));
        let begins = self.changes.iter().map(|(at_ns, level)| (*at_ns, *level));
        let segments = std::iter::once((0, Level::Share(Share::WHOLE))).chain(begins);
        let windows = segments
            .zip(ends.chain([None]))
            .flat_map(|((from_ns, level), to_ns)| {
                let segment = Window { from_ns, to_ns };
                let windows = self.windows_at(level, user).into_iter();
                windows.filter_map(move |window| window.within(segment))
            });
        join(windows)
    }

    /// Returns the windows in which the user is active if the level applies for all time.
    fn windows_at(&self, level: Level<u32>, user: u32) -> Vec<Window> {
        let share = match (level, &self.course) {
            (Level::Paused, _) => return Vec::new(),
            (Level::Fixed(n), _) => return always(user < n),
            (Level::Share(share), Course::Constant(n)) => {
                return always(user < at_share(*n, share));
            }
            (Level::Share(share), Course::Ramps { .. }) => share,
        };
        match &self.course {
            Course::Ramps { spans, .. } => {
                join(spans.iter().filter_map(|span| span.window(user, share)))
            }
            Course::Constant(_) => Vec::new(),
        }
    }

    /// Returns the number of users that are active in the nanosecond that starts at `t_ns`: the
    /// users with an index less than this number, exactly those with a window around `t_ns`.
    pub fn active_at(&self, t_ns: u64) -> u32 {
        let begun = self.changes.partition_point(|(at_ns, _)| *at_ns <= t_ns);
        let change = begun.checked_sub(1).map(|last| self.changes[last].1);
        let share = match change.unwrap_or(Level::Share(Share::WHOLE)) {
            Level::Paused => return 0,
            Level::Fixed(n) => return n,
            Level::Share(share) => share,
        };
        match &self.course {
            Course::Constant(n) => at_share(*n, share),
            Course::Ramps { spans, .. } => {
                let begun = spans.partition_point(|span| span.from_ns <= t_ns);
                let current = begun.checked_sub(1).map(|last| &spans[last]);
                current.map_or(0, |span| span.active_at(t_ns, share))
            }
        }
    }

    /// Returns the end of the stages of ramps, in nanoseconds from the run's start. `None` for a
    /// constant number, which has no end of its own.
    pub fn end_ns(&self) -> Option<u64> {
        match &self.course {
            Course::Constant(_) => None,
            Course::Ramps { end_ns, .. } => Some(*end_ns),
        }
    }
}

/// Joins windows that touch.
fn join(windows: impl Iterator<Item = Window>) -> Vec<Window> {
    let mut joined: Vec<Window> = Vec::new();
    for window in windows {
        match joined.last_mut() {
            Some(last) if last.to_ns == Some(window.from_ns) => last.to_ns = window.to_ns,
            _ => joined.push(window),
        }
    }
    joined
}

/// Returns a window of all time, or no window.
fn always(is_active: bool) -> Vec<Window> {
    let always = Window {
        from_ns: 0,
        to_ns: None,
    };
    is_active.then_some(always).into_iter().collect()
}

/// Returns the share of a number of users.
fn at_share(users: u32, share: Share) -> u32 {
    u32::try_from(share.of_count(u64::from(users))).unwrap_or(u32::MAX)
}

impl Window {
    /// Returns the part of the window within another one.
    fn within(self, other: Window) -> Option<Window> {
        let from_ns = self.from_ns.max(other.from_ns);
        let to_ns = match (self.to_ns, other.to_ns) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let is_empty = to_ns.is_some_and(|to_ns| to_ns <= from_ns);
        (!is_empty).then_some(Window { from_ns, to_ns })
    }
}

/// A share of a line between two numbers of users, in thousandths of a user.
struct Line {
    start: u64,
    end: u64,
    duration_ns: u64,
}

/// Thousandths of a user.
const USER: u64 = 1_000;

impl Span<u32> {
    fn line(&self, share: Share) -> Line {
        Line {
            start: u64::from(self.start) * u64::from(share.per_mille),
            end: u64::from(self.end) * u64::from(share.per_mille),
            duration_ns: self.duration_ns,
        }
    }

    /// Returns the window in which the user is active within the span: a line is above k in one
    /// stretch at most.
    fn window(&self, user: u32, share: Share) -> Option<Window> {
        let line = self.line(share);
        let level = u64::from(user) * USER;
        if level >= line.start.max(line.end) {
            return None;
        }
        let starts_ns = match line.start <= level {
            true => line.crossing_ns(level).0,
            false => 0,
        };
        let stops_ns = match line.end <= level {
            true => line.crossing_ns(level).1,
            false => self.duration_ns,
        };
        Some(Window {
            from_ns: self.from_ns + starts_ns,
            to_ns: Some(self.from_ns + stops_ns),
        })
    }

    /// Returns the highest value of the line within the nanosecond, rounded up to a user; 0 after
    /// the span.
    fn active_at(&self, t_ns: u64, share: Share) -> u32 {
        let since_ns = t_ns - self.from_ns;
        if since_ns >= self.duration_ns {
            return 0;
        }
        let line = self.line(share);
        let (low, x_ns) = if line.start <= line.end {
            (line.start, since_ns + 1)
        } else {
            (line.end, self.duration_ns - since_ns)
        };
        let height = u128::from(line.start.abs_diff(line.end));
        let whole = u128::from(low) * u128::from(self.duration_ns) + height * u128::from(x_ns);
        let users = whole.div_ceil(u128::from(USER) * u128::from(self.duration_ns));
        u32::try_from(users).unwrap_or(u32::MAX)
    }
}

impl Line {
    /// Returns the time from the line's start to its crossing of a level between its two ends,
    /// rounded down and rounded up.
    fn crossing_ns(&self, level: u64) -> (u64, u64) {
        let way = u128::from(self.start.abs_diff(level)) * u128::from(self.duration_ns);
        let height = u128::from(self.start.abs_diff(self.end));
        // At most the duration, since the level lies between the ends.
        ((way / height) as u64, way.div_ceil(height) as u64)
    }
}

#[cfg(test)]
mod tests;
