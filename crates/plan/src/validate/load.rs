//! Loads that can't be run, and checks that no run of a load can pass or fail.

use super::Rule;
use crate::{Arrivals, Check, Contradiction, Load, Rate, Shape, Stage};

impl Load {
    pub(super) fn rules(&self) -> [Rule; 3] {
        let (most, connections) = (self.max_users, self.users);
        [
            self.shape.rule(),
            (connections == 0, Contradiction::NoConnections),
            (
                most < connections,
                Contradiction::MaxConnectionsBelow { most, connections },
            ),
        ]
    }
}

impl Shape {
    /// Returns the reason why no run of this load can pass, or fail, the condition.
    pub(super) fn problem(&self, check: &Check) -> Option<Contradiction> {
        let text = || check.text.clone();
        if self.is_closed() && check.looks_at_delay() {
            return Some(Contradiction::CheckOnDelayWhenClosed(text()));
        }
        let rate = self.constant_rate()?;
        let is_above = check.needs_more_than(rate.per_second());
        is_above.then(|| Contradiction::CheckAboveRate {
            check: text(),
            rate,
        })
    }

    /// True if requests start after responses, and not by a schedule.
    fn is_closed(&self) -> bool {
        !self.is_open()
    }

    /// Returns the rate of evenly spread arrivals, if it is constant; any other load may exceed its
    /// mean rate for a time.
    fn constant_rate(&self) -> Option<Rate> {
        match self {
            Shape::Rate {
                rate,
                arrivals: Arrivals::Constant,
            } => Some(*rate),
            Shape::Closed
            | Shape::ClosedStages { .. }
            | Shape::Rate { .. }
            | Shape::RateStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => None,
        }
    }

    /// Returns the target of the last stage, as typed.
    pub(super) fn last_target(&self) -> Option<String> {
        match self {
            Shape::ClosedStages { stages, .. } => Some(stages.last()?.target.to_string()),
            Shape::RateStages { stages, .. } => Some(stages.last()?.target.to_string()),
            Shape::Closed
            | Shape::Rate { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => None,
        }
    }

    fn rule(&self) -> Rule {
        match self {
            Shape::Closed | Shape::Paced | Shape::Scenarios { .. } => {
                (false, Contradiction::NoConnections)
            }
            Shape::ClosedStages { start, stages } => (
                *start == 0 && all(stages, |&target| target == 0),
                Contradiction::NoStageAboveZero,
            ),
            Shape::Rate { rate, .. } => (rate.is_zero(), Contradiction::NoRate(*rate)),
            Shape::RateStages { start, stages, .. } => (
                start.is_zero() && all(stages, |target| target.is_zero()),
                Contradiction::NoStageAboveZero,
            ),
            Shape::Burst { size, every } => (
                *size == 0 || every.is_zero(),
                Contradiction::NoTime("burst"),
            ),
        }
    }
}

fn all<T>(stages: &[Stage<T>], holds: impl Fn(&T) -> bool) -> bool {
    stages.iter().all(|stage| holds(&stage.target))
}
