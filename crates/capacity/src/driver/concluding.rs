//! Conclusions about the load line from the trials made so far, whenever the search ends.

use super::{ALL, Driver};
use crate::conclusion::{self, Conclusion, Inconclusive, LoadLine, Why};
use crate::measure::{Measure, OwnLimit, Purpose, Trial};

/// If the requests in flight grow by no more than this during a trial, there is no backlog: the
/// difference depends only on when the trial began and ended.
const ENDS: f64 = 2.0;

impl<M: Measure> Driver<'_, M> {
    /// Returns the trials that count for the search, at this level or at all levels.
    fn counting(&self, level: Option<f64>) -> Vec<&Trial> {
        let counts =
            |trial: &&Trial| trial.counts() && level.is_none_or(|level| trial.level == level);
        self.trials.iter().filter(counts).collect()
    }

    /// Returns the limit of the generator that was reached between these bounds, if the upper bound
    /// is not the target's.
    pub(super) fn own_limit(&self, lower: f64, upper: f64) -> Option<OwnLimit> {
        let in_trials = conclusion::own_limit(&self.counting(Some(upper)));
        in_trials.or_else(|| self.settings.floor_at(lower))
    }

    pub(super) fn conclusion(&self) -> Conclusion {
        if let Some((lower, upper)) = self.enclosed() {
            return match self.own_limit(lower, upper) {
                Some(limit) => Conclusion::AtLeast {
                    level: lower,
                    why: Why::Generator { limit, at: upper },
                },
                None => Conclusion::Found(self.load_line(lower, upper)),
            };
        }
        match (self.confirmed, self.search.bounds(ALL).1) {
            (Some(level), None) if level >= self.settings.highest => Conclusion::AtLeast {
                level,
                why: Why::Highest,
            },
            (None, Some(upper)) if upper <= self.settings.lowest => {
                let at_lowest = self.counting(Some(upper));
                Conclusion::NothingHolds {
                    level: self.settings.lowest,
                    breaks: conclusion::breaks(&at_lowest),
                    own_limit: conclusion::other_cause(&at_lowest),
                }
            }
            (Some(level), _) => Conclusion::AtLeast {
                level,
                why: Why::TimeOver {
                    confirmed_s: self.confirmed_s(level),
                    known: self.inconclusive(),
                },
            },
            _ => Conclusion::Inconclusive(self.inconclusive()),
        }
    }

    /// Returns the duration of the run that confirmed this level, in seconds.
    fn confirmed_s(&self, level: f64) -> f64 {
        let at_level = self.counting(Some(level)).into_iter();
        let confirming = at_level.filter(|trial| trial.purpose == Purpose::Confirmation);
        confirming.map(|trial| trial.seconds).fold(0.0, f64::max)
    }

    fn inconclusive(&self) -> Inconclusive {
        let own_limit = conclusion::other_cause(&self.counting(None));
        let (lower, upper) = match self.search.apparent_bounds(ALL) {
            (Some(good), Some(bad)) => {
                let threshold = conclusion::threshold(&self.counting(None), good, bad);
                (Some(threshold.low), Some(threshold.high))
            }
            apparent => apparent,
        };
        // One or two long runs may fail by chance; three at different levels hardly do.
        let (lower, upper) = match self.refuted[..] {
            [] => (lower, upper),
            [_] | [_, _] => (self.confirmed, upper),
            [_, _, third, ..] => (self.confirmed, Some(third)),
        };
        Inconclusive {
            lower,
            upper,
            refuted: self.refuted.first().copied(),
            own_limit,
        }
    }

    fn load_line(&self, lower: f64, upper: f64) -> LoadLine {
        let threshold = conclusion::threshold(&self.counting(None), lower, upper);
        let (at_lower, at_upper) = (self.counting(Some(lower)), self.counting(Some(upper)));
        let throughput = conclusion::throughput(&at_lower).unwrap_or(lower);
        let longest_s = at_lower
            .iter()
            .map(|trial| trial.seconds)
            .fold(0.0, f64::max);
        let growth_per_s = conclusion::growth_per_s(&at_lower, self.mean_at_ease_s);
        let piles_up = growth_per_s * longest_s > ENDS;
        let carried = if piles_up {
            lower - growth_per_s
        } else {
            lower
        };
        let piled_up = conclusion::piled_up(&at_lower, self.mean_at_ease_s);
        LoadLine {
            level: lower,
            upper,
            throughput,
            carried,
            low: (threshold.low.min(lower) * (1.0 - piled_up)).min(carried),
            high: threshold.high.max(lower),
            breaks: conclusion::breaks(&at_upper),
            disturbance: conclusion::other_cause(&at_upper),
            confirmed_s: self.confirmed_s(lower),
            target_cores: conclusion::target_cores(&at_lower),
        }
    }
}
