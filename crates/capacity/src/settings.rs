//! Settings of a search: its range, durations and precision.

use crate::measure::OwnLimit;
use loadline_stats::search::{Goal, Range};
use serde::{Deserialize, Serialize};

/// The factor by which a trial at a low rate may be longer than others, to have enough requests.
const LONGEST: f64 = 5.0;
/// The fewest requests of any trial of an open load, however long that takes.
const FEWEST_REQUESTS: f64 = 10.0;
/// The highest rate of the warm-up: a target with a lower capacity then has little backlog.
const WARM_UP_RATE: f64 = 10.0;
/// The shortest measured part of a trial on the way up to the load line in seconds, unless all
/// trials are shorter.
const SHORTEST_S: f64 = 1.0;
/// The number of trials on the ladder, including the first of the descent.
const RUNGS: f64 = 5.0;
/// The largest difference between a load line and the floor, as a share of the floor, at which the
/// machine counts as the limit.
const NEAR_FLOOR: f64 = 0.1;
/// The share of the trials at the load line that may fail: the load line is where that many do.
const EXCEED_RATIO: f64 = 0.5;

/// The largest share of a search's time for trials that are discarded and repeated.
const RETRY_SHARE: f64 = 0.25;
/// If this many trials at the beginning would all be discarded, disturbance is normal on this
/// machine.
pub(crate) const FIRST_TRIALS: usize = 10;

/// The longest pause between two trials, in seconds.
const LONGEST_PAUSE_S: f64 = 60.0;
/// The largest share of the remaining time for one pause, because others may follow.
const PAUSE_PART: f64 = 0.25;

/// Settings of a search: its range, durations and precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The lowest level that is tried, above zero.
    pub lowest: f64,
    /// The highest level that is tried.
    pub highest: f64,
    /// The level that is tried first.
    pub first: f64,
    /// True if levels are whole numbers: numbers of users.
    pub whole: bool,
    /// True if, in order to keep up, the users who wait between their requests must keep their
    /// pace.
    #[serde(default)]
    pub users_keep_pace: bool,
    /// The number of checks.
    pub checks: usize,
    /// The number of requests that a trial needs for the highest percentile of the checks.
    pub samples: f64,
    /// The duration of each trial's measured part, in seconds.
    pub trial_s: f64,
    /// The overhead of each trial, in seconds.
    #[serde(alias = "settling_s")]
    pub overhead_s: f64,
    /// The time for the target to recover, at 90 % of the load line, in seconds.
    pub recovery_s: f64,
    /// The duration of the warm-up before the search, in seconds.
    pub warm_up_s: f64,
    /// Seconds of the budget that were spent before the warm-up.
    #[serde(rename = "gone_s")]
    pub spent_s: f64,
    /// The width to which the load line is enclosed, as a share of it.
    pub width: f64,
    /// The number of trials that decide on a level if they disagree.
    pub trials: u32,
    /// The duration of the whole search, in seconds.
    pub budget_s: f64,
    /// The responses per second that the generator receives on its machine from a server that does
    /// nothing, if that was measured and rates are searched.
    pub floor_per_s: Option<f64>,
}

impl Settings {
    /// The default duration of a trial's measured part, in seconds.
    pub const TRIAL_S: f64 = 2.0;
    /// The default width to which the load line is enclosed.
    pub const WIDTH: f64 = 0.05;
    /// The default number of trials that decide on a level.
    pub const TRIALS: u32 = 5;
    /// The default duration of the whole search, in seconds.
    pub const BUDGET_S: f64 = 120.0;
    /// The length of the confirming run, in trials (MLPerf v0.5 requires five runs).
    pub const CONFIRMATION_TRIALS: f64 = 5.0;
    /// The share of the trials that decide on a level that may fail.
    pub const EXCEED_RATIO: f64 = EXCEED_RATIO;

    /// Returns the seconds of a trial on the way up, if other trials measure this many.
    pub fn short_s(trial_s: f64) -> f64 {
        (trial_s / 2.0).max(SHORTEST_S).min(trial_s)
    }

    /// Returns the whole duration of a trial with this many measured seconds.
    pub(crate) fn whole_s(&self, seconds: f64) -> f64 {
        seconds + self.overhead_s
    }

    /// Returns the level at which the target is warmed up.
    pub fn warm_up_level(&self) -> f64 {
        self.first.min(WARM_UP_RATE).max(self.lowest)
    }

    /// Returns the seconds that a trial of the search measures at this level: more at low rates, so
    /// that there are enough requests for the highest percentile.
    pub(crate) fn length_s(&self, level: f64) -> f64 {
        if self.whole {
            return self.trial_s;
        }
        let sampling_s = (self.samples / level).min(LONGEST * self.trial_s);
        self.trial_s.max(sampling_s).max(FEWEST_REQUESTS / level)
    }

    /// Returns the seconds that the run confirming this level measures.
    pub fn confirmation_s(&self, level: f64) -> f64 {
        Self::CONFIRMATION_TRIALS * self.length_s(level)
    }

    /// Returns the seconds of trials that decide on a level: the RFC's *Goal Duration Sum*.
    pub fn required_s(&self) -> f64 {
        self.trial_s * f64::from(self.trials)
    }

    /// Returns the seconds that the ladder takes, if each of its trials has this overhead.
    pub(crate) fn ladder_s(&self, overhead_s: f64) -> f64 {
        RUNGS * (self.trial_s + overhead_s) + self.recovery_s
    }

    /// Returns the seconds that confirmation, ladder and warm-up take, and those spent before.
    pub fn reserved_s(&self) -> f64 {
        let confirmation_s = self.whole_s(Self::CONFIRMATION_TRIALS * self.trial_s);
        confirmation_s + self.ladder_s(self.overhead_s) + self.warm_up_s + self.spent_s
    }

    /// Returns the shortest budget with which a search can find anything: the reserved seconds, and
    /// two trials.
    pub fn least_budget_s(&self) -> f64 {
        self.reserved_s() + 2.0 * self.whole_s(self.trial_s)
    }

    /// Returns the range of the search. Its budget is unlimited, because the driver decides whether
    /// there is time for a trial.
    pub(crate) fn range(&self) -> Range {
        Range {
            lowest: self.lowest,
            highest: self.highest,
            first: self.first,
            whole: self.whole,
            short_s: Self::short_s(self.trial_s),
            budget_s: f64::INFINITY,
        }
    }

    /// Returns the floor, if this level is about as high as the rate that the generator reaches
    /// with a server that does nothing. A level clearly above the floor shows that the floor was
    /// that server's limit, not the generator's: a target on another machine leaves more of this
    /// one to the generator.
    pub(crate) fn floor_at(&self, level: f64) -> Option<OwnLimit> {
        let near = |floor: &f64| (level - floor).abs() <= floor * NEAR_FLOOR;
        let answers_per_s = self.floor_per_s.filter(near)?;
        Some(OwnLimit::Floor { answers_per_s })
    }

    /// Returns the longest pause if this many seconds are left.
    pub(crate) fn longest_pause_s(&self, left_s: f64) -> f64 {
        (left_s * PAUSE_PART).clamp(0.0, LONGEST_PAUSE_S)
    }

    /// Returns the seconds for trials that are discarded and repeated.
    pub(crate) fn retry_s(&self) -> f64 {
        (self.budget_s - self.reserved_s()).max(0.0) * RETRY_SHARE
    }

    /// Returns the goal of the search, the same for each check.
    pub(crate) fn goal(&self) -> Goal {
        Goal {
            exceed_ratio: EXCEED_RATIO,
            full_s: self.trial_s,
            required_s: self.required_s(),
            width: self.width,
        }
    }
}
