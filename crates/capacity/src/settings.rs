//! Where a search looks, how long and how closely.

use crate::measure::OwnLimit;
use loadline_stats::search::{Goal, Range};
use serde::{Deserialize, Serialize};

/// At a low rate a trial may last so many times as long as at others, to have its requests.
const LONGEST: f64 = 5.0;
/// Any trial of an open load is to have so many requests, however long that takes.
const FEWEST_REQUESTS: f64 = 10.0;
/// The rate of the warm-up, at most: a target that carries less has little to catch up with.
const WARM_UP_RATE: f64 = 10.0;
/// A trial on the way up to the load line measures at least this many seconds, if others do.
const SHORTEST_S: f64 = 1.0;
/// Trials on the ladder, the first of the descent included.
const RUNGS: f64 = 5.0;
/// A load line that differs from the floor by no more than this share of it is this machine's end.
const NEAR_FLOOR: f64 = 0.1;
/// Half of the trials at the load line may break: it is where that many do.
const EXCEED_RATIO: f64 = 0.5;

/// The largest share of a search's time for trials that are discarded and made again.
const RETRY_SHARE: f64 = 0.25;
/// If this many trials at the beginning would all be discarded, disturbance is normal here.
pub(crate) const TELLING: usize = 10;

/// The longest that a target is left alone between two trials, in seconds.
const LONGEST_PAUSE_S: f64 = 60.0;
/// A pause takes at most this part of the time that is left, for there may be others.
const PAUSE_PART: f64 = 0.25;

/// Where a search looks, how long and how closely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The lowest level that is tried, above zero.
    pub lowest: f64,
    /// The highest level that is tried.
    pub highest: f64,
    /// The level that is tried first.
    pub first: f64,
    /// Whether levels are whole numbers, as where users are counted.
    pub whole: bool,
    /// Whether a target keeps up only if users who wait between their requests keep their pace.
    #[serde(default)]
    pub users_keep_pace: bool,
    /// How many checks there are.
    pub checks: usize,
    /// So many requests a trial must have for the highest percentile that a check asks for.
    pub samples: f64,
    /// Seconds of each trial that are measured.
    pub trial_s: f64,
    /// Seconds that each trial takes besides.
    #[serde(alias = "settling_s")]
    pub overhead_s: f64,
    /// Seconds that the target has to recover, at 90 % of the load line.
    pub recovery_s: f64,
    /// Seconds of the warm-up before the search.
    pub warm_up_s: f64,
    /// Seconds of the budget that were spent before the warm-up.
    #[serde(rename = "gone_s")]
    pub spent_s: f64,
    /// How close the load line is to be enclosed, as a share of it.
    pub width: f64,
    /// This many trials decide on a level, where they disagree.
    pub trials: u32,
    /// Seconds that all of it may take.
    pub budget_s: f64,
    /// Answers a second that the generator gets on its machine from a server that does nothing, if
    /// that was measured and rates are searched.
    pub floor_per_s: Option<f64>,
}

impl Settings {
    /// Seconds of a trial where nothing else is said.
    pub const TRIAL_S: f64 = 2.0;
    /// How close the load line is enclosed where nothing else is said.
    pub const WIDTH: f64 = 0.05;
    /// Trials that decide on a level where nothing else is said.
    pub const TRIALS: u32 = 5;
    /// Seconds that all of it may take where nothing else is said.
    pub const BUDGET_S: f64 = 120.0;
    /// The run that confirms a level lasts this many trials (MLPerf v0.5 asks for five runs).
    pub const CONFIRMATION_TRIALS: f64 = 5.0;
    /// Of the trials that decide on a level this many may break, as a share.
    pub const EXCEED_RATIO: f64 = EXCEED_RATIO;

    /// Seconds of a trial on the way up, where others measure this many.
    pub fn short_s(trial_s: f64) -> f64 {
        (trial_s / 2.0).max(SHORTEST_S).min(trial_s)
    }

    /// How many seconds something takes in all if this many of them are measured.
    pub(crate) fn whole_s(&self, seconds: f64) -> f64 {
        seconds + self.overhead_s
    }

    /// The level at which the target is warmed up.
    pub fn warm_up_level(&self) -> f64 {
        self.first.min(WARM_UP_RATE).max(self.lowest)
    }

    /// Seconds that a trial of the search measures at this level: more at low rates, so that the
    /// highest percentile has its requests.
    pub(crate) fn length_s(&self, level: f64) -> f64 {
        if self.whole {
            return self.trial_s;
        }
        let wanted_s = (self.samples / level).min(LONGEST * self.trial_s);
        self.trial_s.max(wanted_s).max(FEWEST_REQUESTS / level)
    }

    /// Seconds that the run measures which confirms this level.
    pub fn confirmation_s(&self, level: f64) -> f64 {
        Self::CONFIRMATION_TRIALS * self.length_s(level)
    }

    /// Seconds of trials that decide on a level: the RFC's *Goal Duration Sum*.
    pub fn required_s(&self) -> f64 {
        self.trial_s * f64::from(self.trials)
    }

    /// Seconds that the ladder takes, if each of its trials takes so many besides what it measures.
    pub(crate) fn ladder_s(&self, overhead_s: f64) -> f64 {
        RUNGS * (self.trial_s + overhead_s) + self.recovery_s
    }

    /// Seconds that confirmation, ladder and warm-up take.
    pub fn reserved_s(&self) -> f64 {
        let confirmation_s = self.whole_s(Self::CONFIRMATION_TRIALS * self.trial_s);
        confirmation_s + self.ladder_s(self.overhead_s) + self.warm_up_s + self.spent_s
    }

    /// The fewest seconds with which a search can find anything: those that are reserved, and two
    /// trials.
    pub fn least_budget_s(&self) -> f64 {
        self.reserved_s() + 2.0 * self.whole_s(self.trial_s)
    }

    /// The range of the search. Whether there is time for a trial is not for it to say.
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

    /// The floor, if this level is about as much as the generator gets from a server that does
    /// nothing. A level clearly above shows that it was that server's end, not the generator's: a
    /// target on another machine leaves more of this one.
    pub(crate) fn floor_at(&self, level: f64) -> Option<OwnLimit> {
        let near = |floor: &f64| (level - floor).abs() <= floor * NEAR_FLOOR;
        let answers_per_s = self.floor_per_s.filter(near)?;
        Some(OwnLimit::Floor { answers_per_s })
    }

    /// The longest pause while there are yet this many seconds left.
    pub(crate) fn longest_pause_s(&self, left_s: f64) -> f64 {
        (left_s * PAUSE_PART).clamp(0.0, LONGEST_PAUSE_S)
    }

    /// Seconds for trials that are discarded and made again.
    pub(crate) fn retry_s(&self) -> f64 {
        (self.budget_s - self.reserved_s()).max(0.0) * RETRY_SHARE
    }

    /// What is searched for, the same for each check.
    pub(crate) fn goal(&self) -> Goal {
        Goal {
            exceed_ratio: EXCEED_RATIO,
            full_s: self.trial_s,
            required_s: self.required_s(),
            width: self.width,
        }
    }
}
