//! Targets of known capacity, in virtual time and from a seed.

mod freezing;
mod lasting;
mod queue;
mod thinking;
mod wavering;

pub(crate) use freezing::Freezing;
pub(crate) use lasting::Lasting;
pub(crate) use queue::Queue;
pub(crate) use thinking::Thinking;
pub(crate) use wavering::Wavering;

use crate::measure::Trial;
use crate::settings::Settings;
use std::collections::BTreeMap;

/// The command's default settings, with unlimited time.
pub(crate) fn settings() -> Settings {
    Settings {
        lowest: 1.0,
        highest: 1e6,
        first: 100.0,
        whole: false,
        users_keep_pace: false,
        checks: 1,
        samples: 100.0,
        trial_s: Settings::TRIAL_S,
        overhead_s: SETTLING_S,
        warm_up_s: 5.0,
        spent_s: 2.5,
        recovery_s: 5.0,
        width: Settings::WIDTH,
        trials: Settings::TRIALS,
        budget_s: 1e9,
        floor_per_s: None,
    }
}

/// The command's default settings.
pub(crate) fn usual() -> Settings {
    Settings {
        budget_s: Settings::BUDGET_S,
        ..settings()
    }
}

/// The overhead of a trial, in seconds.
pub(crate) const SETTLING_S: f64 = 0.4;
/// The share of the responses that take too long in a failing stretch, as long as a trial.
const OVER: f64 = 0.03;
/// The share of responses that may take too long.
const ALLOWED: f64 = 0.01;

/// The number of responses at a level, and how many of them took too long.
#[derive(Clone, Copy, Default)]
struct Answers {
    all: f64,
    over: f64,
}

impl Answers {
    fn hold(self) -> bool {
        self.over <= ALLOWED * self.all
    }
}

/// The responses of all trials that count, for each level.
#[derive(Default)]
pub(crate) struct Kept {
    last: Answers,
    levels: BTreeMap<u64, Answers>,
}

impl Kept {
    fn ended(&mut self, trial: &Trial) {
        if trial.counts() {
            let level = self.levels.entry(trial.level.to_bits()).or_default();
            level.all += self.last.all;
            level.over += self.last.over;
        }
    }

    fn together(&self, level: f64) -> Vec<bool> {
        let answers = self.levels.get(&level.to_bits());
        vec![answers.is_none_or(|answers| answers.hold())]
    }
}
