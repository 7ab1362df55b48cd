//! The users of a closed load over time.
//!
//! The number of users follows a curve through the stages, linear between their targets. User k
//! (from 0) is *active* while the curve is above k: in each nanosecond [t, t + 1) within which the
//! curve is above k anywhere between t and t + 1. So 0 → 100 over 10 s starts a user every 100 ms,
//! the first at 0; 100 → 0 over 10 s stops one every 100 ms, the last at the end; where the curve
//! touches k and rises again nobody stops; and a level that is left in the same instant by a jump
//! starts nobody.

use crate::Stage;
use crate::stage::{self, Span, spans};

/// A closed load's users over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Users {
    course: Course,
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
    /// The first nanosecond after it; none when it lasts for all time.
    pub to_ns: Option<u64>,
}

impl Users {
    /// The same `n` users for all time.
    pub fn constant(n: u32) -> Self {
        Self {
            course: Course::Constant(n),
        }
    }

    /// A number that moves linearly from `start` through the stages' targets; no users from their
    /// end on.
    pub fn ramps(start: u32, stages: &[Stage<u32>]) -> Self {
        Self {
            course: Course::Ramps {
                spans: spans(start, stages),
                end_ns: stage::end_ns(stages),
            },
        }
    }

    /// The users that are active at the peak. Users with this index or a higher one never are.
    pub fn most(&self) -> u32 {
        match &self.course {
            Course::Constant(n) => *n,
            Course::Ramps { spans, .. } => {
                let peaks = spans.iter().map(|span| span.start.max(span.end));
                peaks.max().unwrap_or(0)
            }
        }
    }

    /// When user `user` (from 0) is active: ascending, with time between one window and the next.
    pub fn windows(&self, user: u32) -> Vec<Window> {
        match &self.course {
            Course::Constant(n) if user < *n => vec![Window {
                from_ns: 0,
                to_ns: None,
            }],
            Course::Constant(_) => Vec::new(),
            Course::Ramps { spans, .. } => join(spans.iter().filter_map(|span| span.window(user))),
        }
    }

    /// How many users are active in the nanosecond that starts at `t_ns`: those with an index less
    /// than this number, exactly those with a window around `t_ns`.
    pub fn active_at(&self, t_ns: u64) -> u32 {
        match &self.course {
            Course::Constant(n) => *n,
            Course::Ramps { spans, .. } => {
                let begun = spans.partition_point(|span| span.from_ns <= t_ns);
                let current = begun.checked_sub(1).map(|last| &spans[last]);
                current.map_or(0, |span| span.active_at(t_ns))
            }
        }
    }

    /// When the stages of ramps end, in nanoseconds from the run's start. None for a constant
    /// number, which has no end of its own.
    pub fn end_ns(&self) -> Option<u64> {
        match &self.course {
            Course::Constant(_) => None,
            Course::Ramps { end_ns, .. } => Some(*end_ns),
        }
    }
}

/// The windows with those that touch made one.
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

impl Span<u32> {
    /// When the user is active within the span: a line is above k in one stretch at most.
    fn window(&self, user: u32) -> Option<Window> {
        if user >= self.start.max(self.end) {
            return None;
        }
        let starts_ns = if self.start <= user {
            self.crossing_ns(user).0
        } else {
            0
        };
        let stops_ns = if self.end <= user {
            self.crossing_ns(user).1
        } else {
            self.duration_ns
        };
        Some(Window {
            from_ns: self.from_ns + starts_ns,
            to_ns: Some(self.from_ns + stops_ns),
        })
    }

    /// The time from the span's start to the line's crossing of a level between its two ends,
    /// rounded down and rounded up.
    fn crossing_ns(&self, level: u32) -> (u64, u64) {
        let way = u128::from(self.start.abs_diff(level)) * u128::from(self.duration_ns);
        let height = u128::from(self.start.abs_diff(self.end));
        // No more than the duration, since the level lies between the ends.
        ((way / height) as u64, way.div_ceil(height) as u64)
    }

    /// The highest value of the line within the nanosecond, rounded up; none after the span.
    fn active_at(&self, t_ns: u64) -> u32 {
        let since_ns = t_ns - self.from_ns;
        if since_ns >= self.duration_ns {
            return 0;
        }
        let (low, x_ns) = if self.start <= self.end {
            (self.start, since_ns + 1)
        } else {
            (self.end, self.duration_ns - since_ns)
        };
        let height = u128::from(self.start.abs_diff(self.end));
        let above = (height * u128::from(x_ns)).div_ceil(u128::from(self.duration_ns));
        // No more than the height, since x is no more than the duration.
        low + above as u32
    }
}

#[cfg(test)]
mod tests;
