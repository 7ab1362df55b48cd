//! The target's behaviour below and above its load line.

use crate::measure::{Descent, Part, Trial};
use serde::{Deserialize, Serialize};

/// The target's behaviour below and above its load line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// The rungs, in the order in which they were measured.
    pub rungs: Vec<Rung>,
    /// The recovery after the highest rung; `None` if that was not reached.
    pub recovery: Option<Recovery>,
}

/// One rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The part of the load line.
    pub part: Part,
    /// The trial that represents the rung: the last one.
    pub trial: Trial,
}

/// The recovery of the target from an overload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// All checks passed from here on, this many seconds after the step down; 0 if they passed at
    /// once.
    After {
        /// The seconds, in whole intervals.
        seconds: f64,
    },
    /// The target did not recover within this many seconds.
    NotWithin {
        /// The seconds.
        seconds: f64,
    },
}

impl Recovery {
    /// Evaluates the intervals after the step down. `None` without an interval.
    pub(crate) fn of(descent: &Descent) -> Option<Recovery> {
        let intervals = &descent.intervals;
        let (end_s, _) = *intervals.last()?;
        let last_broken = intervals.iter().rposition(|(_, held)| !held);
        Some(match last_broken {
            None => Recovery::After { seconds: 0.0 },
            Some(index) if index + 1 == intervals.len() => Recovery::NotWithin { seconds: end_s },
            Some(index) => Recovery::After {
                seconds: intervals[index].0,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Observation;

    fn recovery(intervals: &[(f64, bool)]) -> Option<Recovery> {
        Recovery::of(&Descent {
            over: Observation::default(),
            back: Observation::default(),
            intervals: intervals.to_vec(),
        })
    }

    #[test]
    fn is_from_where_on_every_interval_holds() {
        let at_once = recovery(&[(1.0, true), (2.0, true)]);
        assert_eq!(at_once, Some(Recovery::After { seconds: 0.0 }));
        let soon = recovery(&[(1.0, false), (2.0, true)]);
        assert_eq!(soon, Some(Recovery::After { seconds: 1.0 }));
        let relapsed = recovery(&[(1.0, true), (2.0, false), (3.0, true)]);
        assert_eq!(relapsed, Some(Recovery::After { seconds: 2.0 }));
        let never = recovery(&[(1.0, true), (2.0, false)]);
        assert_eq!(never, Some(Recovery::NotWithin { seconds: 2.0 }));
        assert_eq!(recovery(&[]), None);
    }
}
