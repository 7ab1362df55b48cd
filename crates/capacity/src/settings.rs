//! Where a search looks, how long and how closely.

use crate::measure::OwnLimit;
use loadline_stats::search::{Goal, Range};
use serde::{Deserialize, Serialize};

/// How often the level that was found is measured again (MLPerf v0.5 asks for five runs).
pub(crate) const CONFIRMATIONS: u32 = 5;
/// Trials on the ladder, the first of the descent included.
const RUNGS: f64 = 5.0;
/// A load line that differs from the floor by no more than this share of it is this machine's end.
const NEAR_FLOOR: f64 = 0.1;
/// Half of the trials at the load line may break: it is where that many do.
const EXCEED_RATIO: f64 = 0.5;

/// The most of a search's time that trials may take which are set aside.
const SET_ASIDE: f64 = 0.25;
/// If the first so many would all be set aside, the machine is like that.
pub(crate) const TELLING: usize = 10;

/// The longest that a target is left alone between two trials, in seconds.
const LONGEST_PAUSE_S: f64 = 60.0;
/// So long it may be even when the time of the search is over, in seconds.
const LAST_PAUSE_S: f64 = 5.0;

/// Where a search looks, how long and how closely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The lowest level that is tried, above zero.
    pub lowest: f64,
    /// The highest level that is tried.
    pub highest: f64,
    /// The level that is tried first.
    pub first: f64,
    /// Levels are multiples of this: 1 where users are counted.
    pub step: f64,
    /// How many checks there are.
    pub checks: usize,
    /// Seconds of each trial that are measured.
    pub trial_s: f64,
    /// Seconds that each trial takes besides.
    pub settling_s: f64,
    /// Seconds that the target has to recover, at 90 % of the load line.
    pub recovery_s: f64,
    /// Seconds of the warm-up before the search.
    pub warm_up_s: f64,
    /// How close the load line is to be enclosed, as a share of it.
    pub width: f64,
    /// So many trials decide on a level, where they disagree.
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
    pub const WIDTH: f64 = 0.01;
    /// Trials that decide on a level where nothing else is said: with a target whose capacity varies by
    /// 5 % from trial to trial the search is within 2 % in 95 of 100 cases.
    pub const TRIALS: u32 = 41;

    /// Seconds that a trial takes in all.
    fn whole_trial_s(&self) -> f64 {
        self.trial_s + self.settling_s
    }

    /// Seconds that confirmation, ladder and warm-up take.
    pub fn reserved_s(&self) -> f64 {
        let trials = f64::from(CONFIRMATIONS) + RUNGS;
        trials * self.whole_trial_s() + self.recovery_s + self.warm_up_s
    }

    /// The fewest seconds with which a search can find anything: those that are reserved, and two
    /// trials.
    pub fn least_budget_s(&self) -> f64 {
        self.reserved_s() + 2.0 * self.whole_trial_s()
    }

    /// The range of the search, whose budget counts only what is measured, and with the trials of
    /// the confirmation, which count as the search's.
    pub(crate) fn range(&self) -> Range {
        let confirmation_s = f64::from(CONFIRMATIONS) * self.whole_trial_s();
        let left_s = (self.budget_s - self.reserved_s() + confirmation_s).max(0.0);
        Range {
            lowest: self.lowest,
            highest: self.highest,
            first: self.first,
            step: self.step,
            budget_s: self.measured_s(left_s),
        }
    }

    /// How much of this time trials would measure.
    pub(crate) fn measured_s(&self, whole_s: f64) -> f64 {
        whole_s * self.trial_s / self.whole_trial_s()
    }

    /// The floor, if this level is about as much as the generator gets from a server that does
    /// nothing. A level clearly above shows that it was that server's end, not the generator's: a
    /// target on another machine leaves more of this one.
    pub(crate) fn floor_at(&self, level: f64) -> Option<OwnLimit> {
        let near = |floor: &f64| (level - floor).abs() <= floor * NEAR_FLOOR;
        let answers_per_s = self.floor_per_s.filter(near)?;
        Some(OwnLimit::Floor { answers_per_s })
    }

    /// The longest pause while trials may yet measure for so many seconds.
    pub(crate) fn longest_pause_s(&self, left_s: f64) -> f64 {
        let whole_left_s = left_s * self.whole_trial_s() / self.trial_s;
        whole_left_s.clamp(LAST_PAUSE_S, LONGEST_PAUSE_S)
    }

    /// Seconds that trials may take which are set aside.
    pub(crate) fn aside_s(&self) -> f64 {
        self.range().budget_s * SET_ASIDE
    }

    /// What is searched for, the same for each check.
    pub(crate) fn goal(&self) -> Goal {
        Goal {
            exceed_ratio: EXCEED_RATIO,
            full_s: self.trial_s,
            required_s: self.trial_s * f64::from(self.trials),
            width: self.width,
        }
    }
}
